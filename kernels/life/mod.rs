//! Generations of the Game of Life.
//!
//! Kernels read one board and write a later generation to another one: the next, or the eighth in `blocked.rs`. A thread adds up
//! the cell and its eight neighbours. The rule is a table of this sum, with a part for dead cells and a part for living ones.
//!
//! | file | contents |
//! |---|---|
//! | `board.rs` | sizes and topology of a board, and the words of its rows, extended beyond their ends |
//! | `place.rs` | the words that a thread computes |
//! | `rule.rs` | sums of neighbours and the rule for all cells of a word at once, for host and device |
//! | `global.rs` | a byte for each cell, nine reads |
//! | `tile.rs` | a byte for each cell, four cells to a word, and a tile in shared memory |
//! | `packed.rs` | a bit for each cell, 32 cells to a word |
//! | `blocked.rs` | a bit for each cell, eight generations at a time |
//! | `census.rs` | the number of living cells, and the sums of the hash |
//! | `hash.rs` | the hash of a board, for host and device |
//! | `geometry.rs` | grid, block and shared memory for a board's size |

mod blocked;
mod board;
mod census;
#[cfg(not(target_os = "cuda"))]
mod geometry;
mod global;
mod hash;
mod packed;
mod place;
mod rule;
mod tile;

pub use blocked::GENERATIONS;
pub use board::{Board, Ends};
#[cfg(not(target_os = "cuda"))]
pub use geometry::{Geometry, PassTuning};
#[cfg(not(target_os = "cuda"))]
pub use hash::hash;
pub use hash::{SUMS, column_keys, hash_terms, row_keys};
pub use rule::{MASKS, Sum, Word, conway, full_sum, masks, minterms, rule_table, sum_of_rows};

use cuda_std::{GlobalIn, GlobalIn2, GlobalOut, GlobalOut2, arguments, kernel};

arguments! {
    /// Arguments of the kernels that compute a generation.
    pub struct Args<'l> {
        /// The cells, in words.
        pub input: GlobalIn<'l, u32>,
        /// Receives the next generation.
        pub output: GlobalOut<'l, u32>,
        /// Sizes and topology. The row pitch is in words.
        pub board: Board,
        /// The [table](rule_table) of the rule.
        pub table: u32,
    }
}

arguments! {
    /// Arguments of the kernel with a byte for each cell.
    pub struct ByteArgs<'l> {
        /// The cells.
        pub input: GlobalIn<'l, u8>,
        /// Receives the next generation.
        pub output: GlobalOut<'l, u8>,
        /// Sizes and topology. The row pitch is in bytes.
        pub board: Board,
        /// The [table](rule_table) of the rule.
        pub table: u32,
    }
}

arguments! {
    /// Arguments of the kernels that compute several generations.
    pub struct BlockedArgs<'l> {
        /// The cells, in rows of words.
        pub input: GlobalIn2<'l, u32>,
        /// Receives the generation after the last one that is computed.
        pub output: GlobalOut2<'l, u32>,
        /// Sizes and topology.
        pub board: Board,
        /// Warps of each block, the last ones, that take a census of the input. All others compute generations.
        pub census_warps: u32,
        /// Receives the sums of the census.
        pub counts: Counts<'l>,
    }
}

arguments! {
    /// Where the sums of a census are added: the number of living cells, and the [two sums](hash) of the hash.
    pub struct Counts<'l> {
        /// The sums of several censuses.
        pub sums: GlobalOut<'l, u64>,
        /// Index of the first of the three sums.
        pub first: u64,
    }
}

arguments! {
    /// Arguments of the census.
    pub struct CensusArgs<'l> {
        /// The cells: rows of whole words of 64. Those behind the end of a row are dead.
        pub cells: GlobalIn2<'l, u32>,
        /// Receives the sums.
        pub counts: Counts<'l>,
    }
}

#[cfg(not(target_os = "cuda"))]
impl<'l> TryFrom<Args<'l>> for ByteArgs<'l> {
    type Error = crate::Misaligned;

    fn try_from(Args { input, output, board, table }: Args<'l>) -> Result<Self, crate::Misaligned> {
        let board = Board { pitch: board.pitch * size_of::<u32>() as u64, ..board };
        Ok(ByteArgs { input: crate::cast(input, 1)?, output: crate::cast(output, 1)?, board, table })
    }
}

#[cfg(not(target_os = "cuda"))]
impl<'l> BlockedArgs<'l> {
    /// Returns the arguments for blocks with `census_warps` warps for the census. The windows must contain all rows of the board.
    #[must_use]
    pub fn new(Args { input, output, board, .. }: Args<'l>, census_warps: u32, counts: Counts<'l>) -> Self {
        let (rows, pitch) = (board.rows.into(), board.pitch);
        let output = GlobalOut2::new(output, rows, pitch, pitch).expect("the window has all rows");
        BlockedArgs { input: rows_of(input, &board), output, board, census_warps, counts }
    }
}

#[cfg(not(target_os = "cuda"))]
impl<'l> CensusArgs<'l> {
    /// Returns the arguments for a board. The window must contain all its rows.
    #[must_use]
    pub fn new(cells: GlobalIn<'l, u32>, board: &Board, counts: Counts<'l>) -> Self {
        CensusArgs { cells: rows_of(cells, board), counts }
    }
}

#[cfg(not(target_os = "cuda"))]
fn rows_of<'l>(cells: GlobalIn<'l, u32>, board: &Board) -> GlobalIn2<'l, u32> {
    GlobalIn2::new(cells, board.rows.into(), board.pitch, board.pitch).expect("the window has all rows")
}

kernel! {
    /// Computes a generation with a byte for each cell and nine reads.
    pub fn life_global<'l>(_arena, args: ByteArgs<'l>) in "life_bytes" {
        global::step(&args);
    }
}

kernel! {
    /// Computes a generation with a byte for each cell and a tile in shared memory.
    pub fn life_tile<'l>(arena, args: Args<'l>) in "life_bytes" {
        tile::step(arena, &args);
    }
}

kernel! {
    /// Computes a generation of Conway's rule with a bit for each cell.
    pub fn life_packed_conway<'l>(_arena, args: Args<'l>) in "life" {
        packed::step(&args, conway);
    }
}

kernel! {
    /// Computes a generation of any rule with a bit for each cell.
    pub fn life_packed<'l>(_arena, args: Args<'l>, masks: Constants<u32, { 2 * MASKS }>) in "life" {
        packed::step(&args, |sum, cells| minterms(sum, cells, |n| masks.pack::<2>(n)));
    }
}

kernel! {
    /// Computes eight generations of Conway's rule with a bit for each cell. Columns and rows wrap.
    pub fn life_blocked_conway<'l>(_arena, args: BlockedArgs<'l>) in "life_blocked_conway" {
        blocked::step::<false>(&args, conway);
    }
}

kernel! {
    /// Computes eight generations of Conway's rule with a bit for each cell, with dead cells above and below the board.
    pub fn life_blocked_conway_bounded<'l>(_arena, args: BlockedArgs<'l>) in "life_blocked_conway_bounded" {
        blocked::step::<true>(&args, conway);
    }
}

kernel! {
    /// Computes eight generations of any rule with a bit for each cell. Columns and rows wrap.
    pub fn life_blocked<'l>(_arena, args: BlockedArgs<'l>, masks: Constants<u32, { 2 * MASKS }>) in "life_blocked" {
        blocked::step::<false>(&args, |sum, cells| minterms(sum, cells, |n| masks.pack::<2>(n)));
    }
}

kernel! {
    /// Computes eight generations of any rule with a bit for each cell, with dead cells above and below the board.
    pub fn life_blocked_bounded<'l>(_arena, args: BlockedArgs<'l>, masks: Constants<u32, { 2 * MASKS }>) in "life_blocked_bounded" {
        blocked::step::<true>(&args, |sum, cells| minterms(sum, cells, |n| masks.pack::<2>(n)));
    }
}

kernel! {
    /// Counts the living cells and computes the hash of a board with a bit for each cell.
    pub fn life_census<'l>(_arena, args: CensusArgs<'l>) in "life" {
        census::of_bits(&args);
    }
}

kernel! {
    /// Counts the living cells and computes the hash of a board with a byte for each cell.
    pub fn life_census_bytes<'l>(_arena, args: CensusArgs<'l>) in "life_bytes" {
        census::of_bytes(&args);
    }
}
