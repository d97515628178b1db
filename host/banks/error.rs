//! Errors of the model of banks.

/// Invalid banks, accesses, tiles or layouts.
///
/// Functions return it inside of [`Error`](crate::Error).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BankError {
    /// Banks of shared memory that there cannot be.
    #[error(
        "shared memory has 1 to 32 banks of 1 to 16 bytes, both powers of two and 16 bytes together at least, and not \
         {banks} of {bank_bytes}"
    )]
    Banks {
        /// The number of banks.
        banks: u32,
        /// The bytes of a bank's word.
        bank_bytes: u32,
    },
    /// A number of bytes that no lane moves at a time.
    #[error("a lane moves 1, 2, 4, 8 or 16 bytes at a time, and not {bytes}")]
    AccessWidth {
        /// The bytes.
        bytes: usize,
    },
    /// An atomic operation on a number of bytes that there is none for.
    #[error("an atomic operation takes 4 or 8 bytes, and not {bytes}")]
    AtomicWidth {
        /// The bytes that a lane would update.
        bytes: u32,
    },
    /// An access to measure that no lane makes.
    #[error("an access is measured with 1 to 32 lanes, and this one has 0")]
    NoLanes,
    /// An access to a part of an element.
    #[error("an access of {bytes} bytes is too narrow for elements of {element_bytes}")]
    NarrowAccess {
        /// The bytes that a lane moves.
        bytes: u32,
        /// The bytes of an element.
        element_bytes: u32,
    },
    /// An access to several elements that begins between two groups of so many.
    #[error("an access to {elements} elements cannot begin at column {column}, which is no multiple of {elements}")]
    TileAlignment {
        /// The first one's column, numbered from 0.
        column: u32,
        /// The elements that a lane accesses.
        elements: u32,
    },
    /// An access to elements that a tile does not have.
    #[error(
        "an access to {elements} elements from row {row}, column {column} on leaves the tile of {rows} x {columns} \
         (rows x columns)"
    )]
    OutsideTile {
        /// The row, numbered from 0.
        row: u32,
        /// The first one's column, numbered from 0.
        column: u32,
        /// The elements that a lane accesses.
        elements: u32,
        /// The tile's rows.
        rows: u32,
        /// The tile's columns.
        columns: u32,
    },
    /// A swizzle that would move elements out of their rows, or whose numbers have no meaning.
    #[error(
        "a swizzle with bits {bits}, base {base} and shift {shift} takes rows of a multiple of 2^(bits + base) elements, \
         and not of {stride}, with bits + base and shift below 32"
    )]
    Swizzle {
        /// The elements of a row.
        stride: u32,
        /// How many bits of the column are changed.
        bits: u32,
        /// The lowest one.
        base: u32,
        /// The lowest bit of the row that they depend on.
        shift: u32,
    },
    /// A layout that takes apart, or off their alignment, elements that are accessed together.
    #[error("the layout {layout} does not keep groups of {elements} elements together and aligned")]
    LayoutAlignment {
        /// The layout's formula.
        layout: String,
        /// The elements that a lane accesses.
        elements: u32,
    },
}
