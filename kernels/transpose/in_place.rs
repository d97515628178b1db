//! Arguments of the kernels that work in place.

use super::Layout;
use cuda_std::{GlobalIn, GlobalInOut, Value, arguments};

arguments! {
    /// Arguments of the kernel that transposes square matrices in place.
    pub struct SwapArgs<'l, U: Value> {
        /// The matrices.
        pub matrices: GlobalInOut<'l, U>,
        /// Sizes, pitches and tiles.
        pub layout: Layout,
        /// Positions of the matrices.
        pub squares: Squares,
    }
}

arguments! {
    /// Positions of square matrices, which may be parts of larger ones.
    #[derive(PartialEq, Eq)]
    pub struct Squares {
        /// Number of matrices side by side.
        pub across: u64,
        /// Distance in units between matrices side by side.
        pub beside: u64,
        /// Distance in units to the next matrices below.
        pub below: u64,
    }
}

arguments! {
    /// Arguments of the kernel that copies parts, and permutes their rows.
    pub struct PermuteArgs<'l, U: Value> {
        /// The matrices.
        pub matrices: GlobalInOut<'l, U>,
        /// Memory for the part of a matrix, row after row without gaps.
        pub part: GlobalInOut<'l, U>,
        /// The position of the part in its matrix, and the operation.
        pub region: Region,
    }
}

arguments! {
    /// A part of a matrix, and what a launch does with it.
    pub struct Region {
        /// Index of the part's first unit.
        pub first: u64,
        /// Rows of the matrix.
        pub rows: u64,
        /// Columns of the matrix, in elements.
        pub columns: u64,
        /// Greatest common divisor of `rows` and `columns`.
        pub divisor: u64,
        /// First row of the part.
        pub first_row: u64,
        /// Number of rows of the part.
        pub part_rows: u64,
        /// Number of columns of the part: all columns if rows are shuffled.
        pub part_columns: u64,
        /// Units per element.
        pub units: u32,
        /// A [`PartCopy`].
        pub copy: u32,
    }
}

arguments! {
    /// Arguments of the kernels that permute columns.
    pub struct PanelArgs<'l, U: Value> {
        /// The matrices.
        pub matrices: GlobalInOut<'l, U>,
        /// Memory for a panel, row after row without gaps.
        pub part: GlobalInOut<'l, U>,
        /// The panel and its permutation.
        pub panel: Panel,
    }
}

arguments! {
    /// Neighbouring columns of a matrix, and their permutation.
    pub struct Panel {
        /// Index of the matrix's first unit.
        pub first: u64,
        /// Rows of the matrix.
        pub rows: u64,
        /// Units per row of the matrix.
        pub pitch: u64,
        /// First unit of the panel in a row.
        pub first_unit: u64,
        /// Units per row of the panel.
        pub width: u64,
        /// Columns in sequence that are rotated by the same number of rows: column `j` by `j / alike`.
        pub alike: u64,
        /// After that, row `i` receives row `(i · factor - i / divisor) mod rows`.
        pub factor: u64,
        /// See `factor`.
        pub divisor: u64,
        /// Units per element.
        pub units: u32,
        /// Number of tiles side by side in the panel.
        pub tiles_across: u32,
        /// Binary logarithm of the number of threads that copy a row back.
        pub lanes_log2: u32,
    }
}

arguments! {
    /// Arguments of the kernel that permutes rows in shared memory.
    pub struct ShuffleArgs<'l, U: Value> {
        /// The matrices.
        pub matrices: GlobalInOut<'l, U>,
        /// Sizes, and the permutation of rows.
        pub shape: Shuffled,
    }
}

arguments! {
    /// Matrices whose rows fit into shared memory.
    pub struct Shuffled {
        /// Rows of all matrices.
        pub lines: u64,
        /// Rows of a matrix.
        pub rows: u64,
        /// Columns of a matrix, in elements.
        pub columns: u32,
        /// Rows, modulo the number of columns.
        pub rows_rest: u32,
        /// Columns in sequence that permutation 1 has rotated by the same number of rows: column `j` by `j / alike`.
        pub alike: u32,
        /// Units per element.
        pub units: u32,
        /// Distance between rows in shared memory, in units.
        pub pitch: u32,
        /// Binary logarithm of the number of threads that shuffle a row.
        pub lanes_log2: u32,
        /// Shift of the swizzle of rows in shared memory.
        pub swizzle: u32,
    }
}

arguments! {
    /// Arguments of the kernels that permute chunks.
    pub struct CyclesArgs<'l> {
        /// The matrix.
        pub matrix: GlobalInOut<'l, u32>,
        /// Two saved chunks for each segment.
        pub saved: GlobalInOut<'l, u32>,
        /// The chunks of all cycles.
        pub chunks: GlobalIn<'l, u32>,
        /// For each segment, the first chunk of the cycle that its first chunk belongs to.
        pub first_chunks: GlobalIn<'l, u32>,
        /// Sizes.
        pub cycles: Cycles,
    }
}

arguments! {
    /// Sizes of chunks and segments.
    #[derive(PartialEq, Eq)]
    pub struct Cycles {
        /// Number of chunks of all cycles.
        pub chunks: u32,
        /// Words per chunk.
        pub chunk: u32,
        /// Number of segments.
        pub segments: u32,
        /// Number of chunks of a segment; smaller for the last one.
        pub per_segment: u32,
        /// Binary logarithm of the number of threads that move a segment's chunks.
        pub lanes_log2: u32,
    }
}
