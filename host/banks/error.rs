//! Errors of the model of banks.

/// Invalid banks, accesses, tiles or layouts.
///
/// Functions return it in [`Error::Banks`](crate::Error::Banks).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BankError {
    /// Invalid number or width of banks.
    #[error(
        "shared memory cannot have {banks} banks of {bank_bytes} bytes: use 1 to 32 banks of 1 to 16 bytes, both powers of \
         two, and at least 16 bytes in all"
    )]
    Banks {
        /// Number of banks.
        banks: u32,
        /// Bytes per word of a bank.
        bank_bytes: u32,
    },
    /// Invalid number of bytes per lane.
    #[error("a lane cannot move {bytes} bytes at a time: use 1, 2, 4, 8 or 16")]
    AccessWidth {
        /// Bytes per lane.
        bytes: usize,
    },
    /// Invalid number of bytes of an atomic operation.
    #[error("an atomic operation cannot update {bytes} bytes: use 4 or 8")]
    AtomicWidth {
        /// Bytes per lane.
        bytes: u32,
    },
    /// An access without lanes cannot be measured.
    #[error("an access must have at least 1 lane to be measured")]
    NoLanes,
    /// An access is narrower than an element.
    #[error("an access of {bytes} bytes is too narrow for elements of {element_bytes}")]
    NarrowAccess {
        /// Bytes per lane.
        bytes: u32,
        /// Bytes per element.
        element_bytes: u32,
    },
    /// An access to several elements does not begin at a multiple of their number.
    #[error("an access to {elements} elements cannot begin at column {column}, which is not a multiple of {elements}")]
    TileAlignment {
        /// Column of the first element, numbered from 0.
        column: u32,
        /// Elements per lane.
        elements: u32,
    },
    /// An access leaves the tile.
    #[error(
        "an access to {elements} elements from row {row}, column {column} leaves the tile of {rows} x {columns} (rows x \
         columns)"
    )]
    OutsideTile {
        /// Row, numbered from 0.
        row: u32,
        /// Column of the first element, numbered from 0.
        column: u32,
        /// Elements per lane.
        elements: u32,
        /// Rows of the tile.
        rows: u32,
        /// Columns of the tile.
        columns: u32,
    },
    /// A swizzle would move elements out of their rows, or its shifts exceed 31 bits.
    #[error(
        "a swizzle with bits {bits}, base {base} and shift {shift} cannot permute rows of {stride} elements: rows must be a \
         multiple of 2^(bits + base), and bits + base and shift less than 32"
    )]
    Swizzle {
        /// Elements of a row.
        stride: u32,
        /// Number of column bits that change.
        bits: u32,
        /// Lowest of these bits.
        base: u32,
        /// Lowest row bit that they depend on.
        shift: u32,
    },
    /// A layout separates or misaligns elements that a lane accesses together.
    #[error("the layout {layout} does not keep groups of {elements} elements together and aligned")]
    LayoutAlignment {
        /// Formula of the layout.
        layout: String,
        /// Elements per lane.
        elements: u32,
    },
}
