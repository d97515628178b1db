//! Transposing matrices.
//!
//! Kernels move *units* of 1, 2, 4 or 8 bytes, without interpreting them. An element has one or several units; only packed
//! kernels have units of several elements.
//!
//! | file | contents |
//! |---|---|
//! | `tile.rs` | the tile of a block, and the positions of its threads in the tile |
//! | `naive.rs` | the kernel without shared memory |
//! | `shared.rs` | the kernel with a tile in shared memory, for all matrices |
//! | `packed.rs` | kernels with a tile in shared memory that move 4 or 16 bytes at a time, for aligned rows |
//! | `skewed/` | kernels with a tile in shared memory that move whole words, for rows with any alignment |
//! | `whole.rs` | kernels whose blocks transpose whole matrices, for many small ones |
//! | `in_place.rs` | the arguments of all kernels that work in place |
//! | `swap.rs` | the kernels that transpose square matrices in place |
//! | `cycles.rs` | the kernels that permute chunks of rows in place |
//! | `permutation.rs` | permutations of rows and columns that transpose any matrix in place |
//! | `rotate.rs`, `gather.rs` | the kernels that permute columns, through other memory |
//! | `shuffle.rs` | the kernel that permutes rows in shared memory |
//! | `permute.rs` | the kernel that permutes rows, through other memory |
//! | `host/` | what only the host has: grid, block, shared memory and arguments for a problem's size |

mod cycles;
mod gather;
#[cfg(not(target_os = "cuda"))]
mod host;
mod in_place;
mod naive;
mod packed;
mod permutation;
mod permute;
mod rotate;
mod shared;
mod shuffle;
mod skewed;
mod swap;
mod tile;
mod whole;

pub use cycles::LAST;
#[cfg(not(target_os = "cuda"))]
pub use host::{
    Geometry, LaunchConstants, MatrixPart, Packed, Skewed, SwapVisitor, SwapWork, TransposeKernel, TransposeProblem,
    Visitor, Whole, Work,
};
pub use in_place::{
    Cycles, CyclesArgs, Panel, PanelArgs, PermuteArgs, Region, ShuffleArgs, Shuffled, Squares, SwapArgs,
};
pub use permutation::Permutation;
pub use permute::PartCopy;
pub use skewed::Unit;
pub use whole::{Divisor, Group};

use cuda_std::{GlobalIn, GlobalOut, Value, arguments, kernel};
use packed::Shape;

/// Threads per block, except for packed kernels.
pub(crate) const THREADS: u32 = 256;

arguments! {
    /// Arguments of the naive, shared and packed kernels.
    pub struct Args<'l, U: Value> {
        /// The matrices.
        pub input: GlobalIn<'l, U>,
        /// Receives the transposed matrices.
        pub output: GlobalOut<'l, U>,
        /// Sizes, pitches and tiles.
        pub layout: Layout,
    }
}

arguments! {
    /// Arguments of the skewed kernels.
    pub struct SkewedArgs<'l, U: Unit> {
        /// The matrices.
        pub input: GlobalIn<'l, U>,
        /// Receives the transposed matrices.
        pub output: GlobalOut<'l, U>,
        /// The whole words of the input.
        pub input_words: GlobalIn<'l, U::Joined>,
        /// The whole words of the output.
        pub output_words: GlobalOut<'l, U::Joined>,
        /// Sizes, pitches and tiles. `tile_pitch` is the distance in words between rows `PER_WORD` apart.
        pub layout: Layout,
        /// The tile's rows in shared memory, and the threads for them.
        pub places: Places,
    }
}

arguments! {
    /// Arguments of the kernels for whole matrices.
    pub struct WholeArgs<'l, U: Unit> {
        /// The matrices.
        pub input: GlobalIn<'l, U>,
        /// Receives the transposed matrices.
        pub output: GlobalOut<'l, U>,
        /// The whole words of the input.
        pub input_words: GlobalIn<'l, U::Joined>,
        /// The whole words of the output.
        pub output_words: GlobalOut<'l, U::Joined>,
        /// Sizes, and the matrices of a block.
        pub group: Group,
    }
}

arguments! {
    /// Layout of a skewed tile in shared memory, and the threads that load and write it.
    #[derive(Default, PartialEq, Eq)]
    pub struct Places {
        /// Words of shared memory for the tile.
        pub words: u32,
        /// Distance in units between neighbouring rows, among the first `PER_WORD` rows.
        pub row_pitch: u32,
        /// Rows loaded at a time; 0 if the tile is loaded as one run.
        pub rows: u32,
        /// Neighbouring threads that load one row; all threads for a run.
        pub threads_per_row: u32,
        /// Number of passes. In each, a thread loads as many words as it can have in flight.
        pub passes: u32,
        /// Binary logarithm of the number of neighbouring threads that write neighbouring words of a column.
        pub lanes_log2: u32,
    }
}

arguments! {
    /// Sizes, pitches and tiles of matrices. Rows and columns are the input's; pitches are in units.
    pub struct Layout {
        /// Number of rows.
        pub rows: u64,
        /// Number of columns, in elements.
        pub columns: u64,
        /// Row pitch of the input.
        pub input_pitch: u64,
        /// Row pitch of the output.
        pub output_pitch: u64,
        /// Distance between matrices of the input.
        pub input_matrix: u64,
        /// Distance between matrices of the output.
        pub output_matrix: u64,
        /// Index of the launch's first matrix.
        pub first_matrix: u64,
        /// Units per element; 0 if an element is smaller than a unit.
        pub units: u32,
        /// Rows of a tile.
        pub tile_rows: u32,
        /// Columns of a tile, in elements.
        pub tile_columns: u32,
        /// Row pitch of a tile in shared memory.
        pub tile_pitch: u32,
        /// Binary logarithm of the number of tile columns that are side by side along x of the grid.
        pub across_log2: u32,
    }
}

kernel! {
    for<U: Value> {
        "transpose_u8" { u8 => u8; }
        "transpose_u16" { u16 => u16; }
        "transpose_u32" { u32 => u32; }
    }

    /// Transposes matrices without shared memory.
    pub fn transpose_naive<'l>(_arena, args: Args<'l, U>) {
        naive::transpose(&args);
    }

    /// Transposes matrices with a tile in shared memory.
    pub fn transpose_shared<'l>(arena, args: Args<'l, U>) {
        shared::transpose(arena, &args);
    }

    /// Transposes square matrices in place, with two tiles in shared memory.
    pub fn transpose_swap<'l>(arena, args: SwapArgs<'l, U>) {
        swap::transpose(arena, &args);
    }
}

kernel! {
    for<U: Value> {
        "transpose_permute_u8" { u8 => u8; }
        "transpose_permute_u16" { u16 => u16; }
        "transpose_permute_u32" { u32 => u32; }
    }

    /// Copies a panel of columns into other memory, and rotates its columns.
    pub fn transpose_rotate<'l>(arena, args: PanelArgs<'l, U>) {
        rotate::rotate(arena, &args);
    }

    /// Copies a panel of columns from other memory to the matrix, and permutes its rows.
    pub fn transpose_gather<'l>(_arena, args: PanelArgs<'l, U>) {
        gather::gather(&args.panel, |i| args.part.get(i), |i, value| args.matrices.set(i, value));
    }

    /// Permutes rows in shared memory.
    pub fn transpose_shuffle<'l>(arena, args: ShuffleArgs<'l, U>) {
        shuffle::shuffle(arena, &args);
    }

    /// Copies a part of a matrix into other memory or back, and permutes its rows.
    pub fn transpose_permute<'l>(_arena, args: PermuteArgs<'l, U>) {
        permute::permute(&args);
    }
}

kernel! {
    /// Copies a panel of columns from other memory to the matrix in packs of 16 bytes, and permutes its rows.
    pub fn transpose_gather_packs<'l>(_arena, args: PanelArgs<'l, u32>) in "transpose_gather_packs" {
        let get = |i| args.part.get_pack::<4>(4 * i);
        gather::gather(&args.panel, get, |i, pack| args.matrices.set_pack(4 * i, pack));
    }
}

kernel! {
    /// Saves the chunks that segments of cycles need from each other.
    pub fn transpose_save_chunks<'l>(_arena, args: CyclesArgs<'l>) in "transpose_cycles" {
        cycles::save(&args);
    }
}

kernel! {
    /// Moves chunks along the cycles of a permutation.
    pub fn transpose_rotate_chunks<'l>(_arena, args: CyclesArgs<'l>) in "transpose_cycles" {
        cycles::rotate(&args);
    }
}

/// Declares packed kernels: the module, which is one for each kernel, because a program needs few of them and the driver
/// compiles whole modules; bytes per pack, packs and elements per group; squares of the tile across and down, and squares per
/// thread.
macro_rules! packed {
    ($($name:ident in $module:literal: [$pack:literal, $packs:literal, $elements:literal], [$across:literal, $down:literal, $squares:literal];)*) => {
        $(
            kernel! {
                /// Transposes matrices with a tile in shared memory, and packs in input and output.
                pub fn $name<'l>(arena, args: Args<'l, u32>) in $module {
                    const SHAPE: Shape = Shape { across: $across, down: $down, squares: $squares };
                    packed::transpose::<{ $pack / 4 }, $packs, $elements, $squares>(arena, &args, SHAPE);
                }
            }
        )*

        /// The packed kernels, with the widest packs first, and of those with equal elements the one with the largest tile.
        #[cfg(not(target_os = "cuda"))]
        pub const PACKED: &[Packed] = &[$(
            Packed {
                name: <$name as cuda_std::Entry>::NAME,
                pack_bytes: $pack,
                packs: $packs,
                elements: $elements,
                shape: Shape { across: $across, down: $down, squares: $squares },
            },
        )*];

        /// Calls `visitor` with the entry point of `packed`, and returns its result.
        #[cfg(not(target_os = "cuda"))]
        fn visit_packed<V: Visitor>(packed: &Packed, visitor: V) -> V::Output {
            $(
                if packed.name == <$name as cuda_std::Entry>::NAME {
                    return visitor.visit::<$name>();
                }
            )*
            unreachable!("there is no kernel {}", packed.name)
        }
    };
}
packed! {
    transpose_packed_1 in "transpose_packed_1": [16, 1, 16], [8, 8, 1];
    transpose_packed_1_small in "transpose_packed_1_small": [16, 1, 16], [4, 4, 1];
    transpose_packed_2 in "transpose_packed_2": [16, 1, 8], [16, 16, 1];
    transpose_packed_4 in "transpose_packed_4": [16, 1, 4], [16, 16, 1];
    transpose_packed_8 in "transpose_packed_8": [16, 1, 2], [16, 32, 2];
    transpose_packed_16 in "transpose_packed_16": [16, 1, 1], [32, 32, 4];
    transpose_packed_12 in "transpose_packed_12": [16, 3, 4], [8, 8, 1];
    transpose_packed_3 in "transpose_packed_3": [4, 3, 4], [32, 16, 2];
}

/// Declares kernels that transpose square matrices in place with packs: see `packed!`. Tiles are square.
macro_rules! swaps {
    ($($name:ident in $module:literal: [$pack:literal, $packs:literal, $elements:literal], [$side:literal, $squares:literal];)*) => {
        $(
            kernel! {
                /// Transposes square matrices in place, with two tiles in shared memory, and packs in rows.
                pub fn $name<'l>(arena, args: SwapArgs<'l, u32>) in $module {
                    const SHAPE: Shape = Shape { across: $side, down: $side, squares: $squares };
                    swap::transpose_packed::<{ $pack / 4 }, $packs, $elements, $squares>(arena, &args, SHAPE);
                }
            }
        )*

        /// The kernels that transpose square matrices in place with packs.
        #[cfg(not(target_os = "cuda"))]
        pub const SWAPS: &[Packed] = &[$(
            Packed {
                name: <$name as cuda_std::Entry>::NAME,
                pack_bytes: $pack,
                packs: $packs,
                elements: $elements,
                shape: Shape { across: $side, down: $side, squares: $squares },
            },
        )*];

        /// Calls `visitor` with the entry point of `packed`, and returns its result.
        #[cfg(not(target_os = "cuda"))]
        fn visit_swap<V: SwapVisitor>(packed: &Packed, visitor: V) -> V::Output {
            $(
                if packed.name == <$name as cuda_std::Entry>::NAME {
                    return visitor.visit::<$name>();
                }
            )*
            unreachable!("there is no kernel {}", packed.name)
        }
    };
}
swaps! {
    transpose_swap_packed_1 in "transpose_swap_packed_1": [16, 1, 16], [8, 1];
    transpose_swap_packed_2 in "transpose_swap_packed_2": [16, 1, 8], [16, 1];
    transpose_swap_packed_4 in "transpose_swap_packed_4": [16, 1, 4], [16, 1];
    transpose_swap_packed_8 in "transpose_swap_packed_8": [16, 1, 2], [16, 1];
    transpose_swap_packed_16 in "transpose_swap_packed_16": [16, 1, 1], [16, 1];
    transpose_swap_packed_12 in "transpose_swap_packed_12": [16, 3, 4], [8, 1];
    transpose_swap_packed_3 in "transpose_swap_packed_3": [4, 3, 4], [16, 1];
}

/// Declares skewed kernels: the module, as for packed kernels; the unit, and units per element.
macro_rules! skewed {
    ($($name:ident in $module:literal: $unit:ty, $units:literal;)*) => {
        $(
            kernel! {
                /// Transposes matrices with a tile in shared memory, for rows with any alignment.
                pub fn $name<'l>(arena, args: SkewedArgs<'l, $unit>) in $module where registers <= 64 {
                    skewed::transpose::<$unit, $units>(arena, &args);
                }
            }
        )*

        /// The skewed kernels. Of those for the same element size, the one with the longest units is first.
        #[cfg(not(target_os = "cuda"))]
        pub const SKEWED: &[Skewed] = &[$(
            Skewed {
                name: <$name as cuda_std::Entry>::NAME,
                unit: size_of::<$unit>() as u32,
                skew: skewed::Skew {
                    units: $units,
                    per_word: <$unit as Unit>::PER_WORD,
                    bytes: size_of::<<$unit as Unit>::Joined>() as u32,
                },
            },
        )*];

        /// Calls `visitor` with the entry point of `skewed`, and returns its result.
        #[cfg(not(target_os = "cuda"))]
        fn visit_skewed<V: Visitor>(skewed: &Skewed, visitor: V) -> V::Output {
            $(
                if skewed.name == <$name as cuda_std::Entry>::NAME {
                    return visitor.visit::<$name>();
                }
            )*
            unreachable!("there is no kernel {}", skewed.name)
        }
    };
}
skewed! {
    transpose_skewed_1 in "transpose_skewed_1": u8, 1;
    transpose_skewed_2 in "transpose_skewed_2": u16, 1;
    transpose_skewed_3 in "transpose_skewed_3": u8, 3;
    transpose_skewed_4 in "transpose_skewed_4": u32, 1;
    transpose_skewed_6 in "transpose_skewed_6": u16, 3;
    transpose_skewed_8 in "transpose_skewed_8": u64, 1;
    transpose_skewed_8_by_4 in "transpose_skewed_8_by_4": u32, 2;
    transpose_skewed_12 in "transpose_skewed_12": u32, 3;
    transpose_skewed_16 in "transpose_skewed_16": u64, 2;
    transpose_skewed_16_by_4 in "transpose_skewed_16_by_4": u32, 4;
}

/// Declares kernels for whole matrices: the module, as for packed kernels; the unit, and units per element.
macro_rules! whole {
    ($($name:ident in $module:literal: $unit:ty, $units:literal;)*) => {
        $(
            kernel! {
                /// Transposes whole matrices in shared memory, several in a block.
                pub fn $name<'l>(arena, args: WholeArgs<'l, $unit>) in $module {
                    whole::transpose::<$unit, $units>(arena, &args);
                }
            }
        )*

        /// The kernels for whole matrices.
        #[cfg(not(target_os = "cuda"))]
        pub const WHOLE: &[Whole] = &[$(
            Whole {
                name: <$name as cuda_std::Entry>::NAME,
                unit: size_of::<$unit>() as u32,
                units: $units,
                per_word: <$unit as Unit>::PER_WORD,
            },
        )*];

        /// Calls `visitor` with the entry point of `whole`, and returns its result.
        #[cfg(not(target_os = "cuda"))]
        fn visit_whole<V: Visitor>(whole: &Whole, visitor: V) -> V::Output {
            $(
                if whole.name == <$name as cuda_std::Entry>::NAME {
                    return visitor.visit::<$name>();
                }
            )*
            unreachable!("there is no kernel {}", whole.name)
        }
    };
}
whole! {
    transpose_whole_1 in "transpose_whole_1": u8, 1;
    transpose_whole_2 in "transpose_whole_2": u16, 1;
    transpose_whole_3 in "transpose_whole_3": u8, 3;
    transpose_whole_4 in "transpose_whole_4": u32, 1;
    transpose_whole_6 in "transpose_whole_6": u16, 3;
    transpose_whole_8 in "transpose_whole_8": u64, 1;
    transpose_whole_12 in "transpose_whole_12": u32, 3;
    transpose_whole_16 in "transpose_whole_16": u64, 2;
}
