//! Transposing matrices.
//!
//! Elements are moved as *units* of 1, 2 or 4 bytes. An element has one or several units: no kernel knows what its
//! elements mean.
//!
//! | file | what |
//! |---|---|
//! | `tile.rs` | the part of a matrix that a block transposes, and the way of its threads through it |
//! | `naive.rs` | the kernel without shared memory |
//! | `shared.rs` | the kernel with a tile in shared memory, for all matrices |
//! | `packed.rs` | kernels with a tile in shared memory that move 16 bytes at a time where they can |
//! | `skewed/` | kernels with a tile in shared memory that move whole words, wherever rows begin |
//! | `swap.rs` | the kernel that transposes square matrices in place |
//! | `permutation.rs` | the kernel that transposes all others in place, step by step; on the host as well |
//! | `geometry/` | from a problem's size to grid, block and shared memory |
//! | `visit.rs` | from a kernel that was chosen to its entry point and arguments, on the host |

#[cfg(not(target_os = "cuda"))]
mod geometry;
mod naive;
mod packed;
mod permutation;
mod shared;
mod skewed;
mod swap;
mod tile;
#[cfg(not(target_os = "cuda"))]
mod visit;

#[cfg(not(target_os = "cuda"))]
pub use geometry::{Geometry, Kernel, Packed, Part, Problem, Skewed, Tuning};
pub use permutation::{Permutation, Step};
pub use skewed::Unit;
#[cfg(not(target_os = "cuda"))]
pub use visit::{Visitor, Work};

#[cfg(not(target_os = "cuda"))]
use cuda_std::Entry;
use cuda_std::{GlobalIn, GlobalInOut, GlobalOut, Value, arguments, kernel};
use packed::Shape;
#[cfg(not(target_os = "cuda"))]
use skewed::Skew;

/// Threads of a block of the kernels for all matrices.
pub(crate) const THREADS: u32 = 256;

arguments! {
    /// What the kernels are launched with that write another matrix.
    pub struct Args<U: Value> {
        /// The matrices.
        pub input: GlobalIn<U>,
        /// Receives the transposed ones.
        pub output: GlobalOut<U>,
        /// Where they are.
        pub layout: Layout,
    }
}

arguments! {
    /// What the kernels are launched with that do not need rows to be aligned.
    pub struct SkewedArgs<U: Unit> {
        /// The matrices.
        pub input: GlobalIn<U>,
        /// Receives the transposed ones.
        pub output: GlobalOut<U>,
        /// The input, whole words of it.
        pub input_words: GlobalIn<U::Joined>,
        /// The output, whole words of it.
        pub output_words: GlobalOut<U::Joined>,
        /// Where the matrices are; the tile's pitch is the distance in words between rows
        /// `PER_WORD` apart.
        pub layout: Layout,
        /// Where the tile's rows are in shared memory.
        pub places: Places,
    }
}

arguments! {
    /// Where rows that begin anywhere lie in shared memory, and which threads have to do with them.
    #[derive(Default, PartialEq, Eq)]
    pub struct Places {
        /// The words of the tile.
        pub words: u32,
        /// Units from a row to the next one, among the first `PER_WORD` rows.
        pub row_pitch: u32,
        /// Rows loaded at a time; 0 if the tile is loaded as one run.
        pub rows: u32,
        /// Neighbouring threads that load one row; all threads for a run.
        pub threads_per_row: u32,
        /// Passes in which a thread loads as many words as it can.
        pub passes: u32,
        /// The binary logarithm of how many words of a column are written by neighbouring threads.
        pub lanes_log2: u32,
    }
}

arguments! {
    /// What the kernel is launched with that works in place.
    pub struct SwapArgs<U: Value> {
        /// The matrices.
        pub matrices: GlobalInOut<U>,
        /// Where they are.
        pub layout: Layout,
    }
}

arguments! {
    /// What a step of the permutations is launched with.
    pub struct PermuteArgs<U: Value> {
        /// The matrices.
        pub matrices: GlobalInOut<U>,
        /// The part of one that is permuted, its rows one after another.
        pub part: GlobalInOut<U>,
        /// Which part that is.
        pub region: Region,
    }
}

arguments! {
    /// A part of a matrix, and what is done with it.
    pub struct Region {
        /// The matrix's first unit.
        pub first: u64,
        /// Its rows of elements.
        pub rows: u64,
        /// Its columns of elements.
        pub columns: u64,
        /// The greatest common divisor of both numbers.
        pub divisor: u64,
        /// The part's first row.
        pub first_row: u64,
        /// The part's first column.
        pub first_column: u64,
        /// The part's rows.
        pub part_rows: u64,
        /// The part's columns: all of them if rows are shuffled.
        pub part_columns: u64,
        /// Units of an element.
        pub units: u32,
        /// What is done: a [`Step`].
        pub step: u32,
    }
}

arguments! {
    /// Where matrices are, and how they are cut into tiles. Rows and columns are the input's.
    pub struct Layout {
        /// Rows of elements.
        pub rows: u64,
        /// Columns of elements.
        pub columns: u64,
        /// Units from row to row of the input.
        pub input_pitch: u64,
        /// Units from row to row of the output.
        pub output_pitch: u64,
        /// Units from matrix to matrix of the input.
        pub input_matrix: u64,
        /// Units from matrix to matrix of the output.
        pub output_matrix: u64,
        /// The first matrix of the launch.
        pub first_matrix: u64,
        /// Units of an element; 0 where several make one.
        pub units: u32,
        /// Rows of a tile.
        pub tile_rows: u32,
        /// Columns of a tile.
        pub tile_columns: u32,
        /// Units from row to row of a tile in shared memory.
        pub tile_pitch: u32,
        /// The binary logarithm of how many columns of tiles stand side by side along x of the grid.
        pub across_log2: u32,
    }
}

kernel! {
    for<U: Value> {
        "transpose_u8" { u8 => u8; }
        "transpose_u16" { u16 => u16; }
        "transpose_u32" { u32 => u32; }
    }

    /// Without shared memory.
    pub fn transpose_naive(_arena, args: Args<U>) {
        naive::transpose(&args);
    }

    /// A tile in shared memory.
    pub fn transpose_shared(arena, args: Args<U>) {
        shared::transpose(arena, &args);
    }

    /// Two tiles in shared memory, which change places.
    pub fn transpose_swap(arena, args: SwapArgs<U>) {
        swap::transpose(arena, &args);
    }

    /// A step of the permutations.
    pub fn transpose_permute(_arena, args: PermuteArgs<U>) {
        permutation::permute(&args);
    }
}

/// Entry points for elements of certain sizes: the bytes of a pack, the packs and the elements of a group; the tile's
/// squares across and down, and those of a thread.
macro_rules! packed {
    ($($name:ident: [$pack:literal, $packs:literal, $elements:literal], [$across:literal, $down:literal, $squares:literal];)*) => {
        $(
            kernel! {
                /// A tile in shared memory, packs on both sides.
                pub fn $name(arena, args: Args<u32>) in "transpose_packed" {
                    const SHAPE: Shape = Shape { across: $across, down: $down, squares: $squares };
                    packed::transpose::<{ $pack / 4 }, $packs, $elements, $squares>(arena, &args, SHAPE);
                }
            }
        )*

        /// The kernels that move packs, those with the widest ones first.
        #[cfg(not(target_os = "cuda"))]
        pub const PACKED: &[Packed] = &[$(
            Packed {
                name: <$name as Entry>::NAME,
                pack_bytes: $pack,
                packs: $packs,
                elements: $elements,
                shape: Shape { across: $across, down: $down, squares: $squares },
            },
        )*];

        /// Shows `visitor` the entry point of one of them.
        #[cfg(not(target_os = "cuda"))]
        fn visit_packed<V: Visitor>(packed: &Packed, visitor: V) -> V::Output {
            $(
                if packed.name == <$name as Entry>::NAME {
                    return visitor.visit::<$name>();
                }
            )*
            unreachable!("there is no kernel {}", packed.name)
        }
    };
}
packed! {
    transpose_packed_1: [16, 1, 16], [8, 8, 1];
    transpose_packed_2: [16, 1, 8], [16, 16, 1];
    transpose_packed_4: [16, 1, 4], [16, 16, 1];
    transpose_packed_8: [16, 1, 2], [16, 32, 2];
    transpose_packed_16: [16, 1, 1], [32, 32, 4];
    transpose_packed_12: [16, 3, 4], [8, 8, 1];
    transpose_packed_3: [4, 3, 4], [32, 16, 2];
}

/// Entry points for elements of certain sizes: the unit, and the units of an element.
macro_rules! skewed {
    ($($name:ident: $unit:ty, $units:literal;)*) => {
        $(
            kernel! {
                /// A tile in shared memory, for rows that begin anywhere.
                pub fn $name(arena, args: SkewedArgs<$unit>) in "transpose_skewed" where registers <= 64 {
                    skewed::transpose::<$unit, $units>(arena, &args);
                }
            }
        )*

        /// The kernels that do not need rows to be aligned; of those for elements of one size first the one with the longest
        /// units.
        #[cfg(not(target_os = "cuda"))]
        pub const SKEWED: &[Skewed] = &[$(
            Skewed {
                name: <$name as Entry>::NAME,
                unit: size_of::<$unit>() as u32,
                skew: Skew {
                    units: $units,
                    per_word: <$unit as Unit>::PER_WORD,
                    bytes: size_of::<<$unit as Unit>::Joined>() as u32,
                },
            },
        )*];

        /// Shows `visitor` the entry point of one of them.
        #[cfg(not(target_os = "cuda"))]
        fn visit_skewed<V: Visitor>(skewed: &Skewed, visitor: V) -> V::Output {
            $(
                if skewed.name == <$name as Entry>::NAME {
                    return visitor.visit::<$name>();
                }
            )*
            unreachable!("there is no kernel {}", skewed.name)
        }
    };
}
skewed! {
    transpose_skewed_1: u8, 1;
    transpose_skewed_2: u16, 1;
    transpose_skewed_3: u8, 3;
    transpose_skewed_4: u32, 1;
    transpose_skewed_6: u16, 3;
    transpose_skewed_8: u64, 1;
    transpose_skewed_8_by_4: u32, 2;
    transpose_skewed_12: u32, 3;
    transpose_skewed_16: u64, 2;
    transpose_skewed_16_by_4: u32, 4;
}
