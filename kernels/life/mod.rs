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
//! | `resident.rs` | a bit for each cell, rows in shared memory for many generations |
//! | `census.rs` | the number of living cells, and the sums of the hash |
//! | `tally.rs` | censuses of all generations of `blocked.rs` |
//! | `hash.rs` | the sums of a board's hash, for host and device |
//! | `host.rs` | what only the host has: grid, block and shared memory for a board's size, arguments, and the hash of the sums |

mod blocked;
mod board;
mod census;
mod global;
mod hash;
#[cfg(not(target_os = "cuda"))]
mod host;
mod packed;
mod place;
mod resident;
mod rule;
mod tally;
mod tile;

pub use blocked::GENERATIONS;
pub use board::{Board, Ends};
pub use hash::{SUMS, column_keys, hash_terms, row_keys};
#[cfg(not(target_os = "cuda"))]
pub use host::{Band, Censuses, Geometry, PassTuning, hash, time_of_pass};
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
        /// Bit `t` is set if a census of generation `t + 1` of the pass is taken, by the kernels that can.
        pub counted: u32,
        /// Receives the sums of the censuses.
        pub counts: Counts<'l>,
    }
}

arguments! {
    /// Arguments of the kernels that keep rows in shared memory.
    pub struct ResidentArgs<'l> {
        /// The cells, in rows of words.
        pub input: GlobalIn2<'l, u32>,
        /// Receives the generation after the last one that is computed.
        pub output: GlobalOut2<'l, u32>,
        /// Sizes and topology.
        pub board: Board,
        /// Rows of a block.
        pub rows: u32,
        /// Rows above and below them that the block has too. 0 if it has the whole board.
        pub halo: u32,
        /// Rows of a thread's strip: 1, 2, 4 or 8.
        pub strip: u32,
        /// Lanes that access shared memory together: the number of its banks.
        pub lanes: u32,
        /// Generations that are computed, at least 1. No more than the rows of the halo, if there is one.
        pub generations: u32,
        /// Generations until the first census, or 0 without a census.
        pub until: u32,
        /// Generations from one census to the next one, or 0 without a census.
        pub every: u32,
        /// Receives the sums of the censuses.
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
        blocked::step::<false, false>(&args, conway);
    }
}

kernel! {
    /// Computes eight generations of Conway's rule with a bit for each cell, with dead cells above and below the board.
    pub fn life_blocked_conway_bounded<'l>(_arena, args: BlockedArgs<'l>) in "life_blocked_conway_bounded" {
        blocked::step::<true, false>(&args, conway);
    }
}

kernel! {
    /// Computes eight generations of any rule with a bit for each cell. Columns and rows wrap.
    pub fn life_blocked<'l>(_arena, args: BlockedArgs<'l>, masks: Constants<u32, { 2 * MASKS }>) in "life_blocked" {
        blocked::step::<false, false>(&args, |sum, cells| minterms(sum, cells, |n| masks.pack::<2>(n)));
    }
}

kernel! {
    /// Computes eight generations of any rule with a bit for each cell, with dead cells above and below the board.
    pub fn life_blocked_bounded<'l>(_arena, args: BlockedArgs<'l>, masks: Constants<u32, { 2 * MASKS }>) in "life_blocked_bounded" {
        blocked::step::<true, false>(&args, |sum, cells| minterms(sum, cells, |n| masks.pack::<2>(n)));
    }
}

kernel! {
    /// Computes eight generations of Conway's rule with a bit for each cell. Columns and rows wrap. Takes censuses of them.
    pub fn life_blocked_conway_census<'l>(_arena, args: BlockedArgs<'l>) in "life_blocked_conway_census" {
        blocked::step::<false, true>(&args, conway);
    }
}

kernel! {
    /// Computes eight generations of Conway's rule with a bit for each cell, with dead cells above and below the board. Takes censuses of them.
    pub fn life_blocked_conway_bounded_census<'l>(_arena, args: BlockedArgs<'l>) in "life_blocked_conway_bounded_census" {
        blocked::step::<true, true>(&args, conway);
    }
}

kernel! {
    /// Computes eight generations of any rule with a bit for each cell. Columns and rows wrap. Takes censuses of them.
    pub fn life_blocked_census<'l>(_arena, args: BlockedArgs<'l>, masks: Constants<u32, { 2 * MASKS }>) in "life_blocked_census" {
        blocked::step::<false, true>(&args, |sum, cells| minterms(sum, cells, |n| masks.pack::<2>(n)));
    }
}

kernel! {
    /// Computes eight generations of any rule with a bit for each cell, with dead cells above and below the board. Takes censuses of them.
    pub fn life_blocked_bounded_census<'l>(_arena, args: BlockedArgs<'l>, masks: Constants<u32, { 2 * MASKS }>) in "life_blocked_bounded_census" {
        blocked::step::<true, true>(&args, |sum, cells| minterms(sum, cells, |n| masks.pack::<2>(n)));
    }
}

kernel! {
    /// Computes any number of generations of Conway's rule with a bit for each cell, in shared memory.
    pub fn life_resident_conway<'l>(arena, args: ResidentArgs<'l>) in "life_resident_conway" where registers <= 120 {
        resident::run(arena, &args, conway);
    }
}

kernel! {
    /// Computes any number of generations of any rule with a bit for each cell, in shared memory.
    pub fn life_resident<'l>(arena, args: ResidentArgs<'l>, masks: Constants<u32, { 2 * MASKS }>) in "life_resident" where registers <= 120 {
        resident::run(arena, &args, |sum, cells| minterms(sum, cells, |n| masks.pack::<2>(n)));
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
