//! The Game of Life, and other rules of its kind.
//!
//! ```
//! use slm::life::{Pattern, Topology};
//! use slm::{Device, Life};
//!
//! # fn main() -> slm::Result<()> {
//! let mut board = Life::new(20, 30).topology(Topology::Torus).prepare(&Device::open()?)?;
//! let blinker: Pattern = "x = 3, y = 1, rule = B3/S23\n3o!".parse()?;
//! board.place(&blinker, 5, 7)?;
//! board.step(1)?;
//! assert!(board.get(4, 8)? && board.get(5, 8)? && board.get(6, 8)?);
//! assert_eq!(board.population()?, 3);
//! # Ok(())
//! # }
//! ```
//!
//! A board has cells in rows and columns, which are alive or dead. In each generation, all cells change at once. A [`Rule`]
//! determines the next state of a cell from its state and the number `n` of its living neighbours, which are the eight cells
//! around it:
//!
//! `next[r, c] = n ∈ S if cell[r, c] is alive, and n ∈ B otherwise`
//!
//! The [`Topology`] determines the neighbours of the cells at the ends of the board. All devices and algorithms compute the same
//! cells.
//!
//! A [`Pattern`] is a rectangle of cells to place on boards. It is read from and written to files of Golly and plain text, and read
//! from Life 1.05 and 1.06. A [`Grid`] is the board that it was made for.
//!
//! # Histories
//!
//! A [`Census`] is the population of a generation and a hash of its cells. [`Board::record`] takes censuses while the board runs.
//! [`Board::run_until_stable`] finds still lifes, oscillators with their periods, and extinction.
//!
//! # Speed
//!
//! The CPU and the algorithms `BitPacked`, `Blocked` and `Resident` compute many cells at once, with logic operations on words that have a bit
//! for each cell. So the time does not depend on what the cells are, and the rule matters little.
//!
//! `BitPacked` reads and writes the whole board for each generation, and takes as long as memory does if the board is larger than
//! the caches. `Blocked` does so for eight generations at a time, so computing steps of eight generations and more in one call of
//! [`Board::step`] is much faster than one by one. `Resident` reads and writes the board once for even more generations, because small
//! boards fit into shared memory. Both take the censuses of [`Board::record`] while they compute.

// | file | contents |
// |---|---|
// | `description.rs`, `rule.rs`, `topology.rs` | what a user asks for: plain data |
// | `choose.rs`, `tuning.rs` | the choice of the kernels, and its constants |
// | `kernels.rs` | what has been chosen |
// | `gpu.rs` | the cells on a GPU |
// | `cpu.rs` | the same on the CPU |
// | `board.rs` | a board on a device, and its uses |
// | `words.rs`, `row_access.rs` | the packed rows in which cells are exchanged with both |
// | `pattern/`, `grid.rs`, `placement.rs` | patterns, the boards that they were made for, and their places on a board |
// | `history.rs`, `search.rs`, `outcome.rs` | censuses, repetitions in them, and what becomes of a board |
// | `error.rs` | errors |
mod board;
mod choose;
mod cpu;
mod description;
mod distributed;
mod error;
mod gpu;
mod grid;
mod history;
mod kernels;
mod outcome;
mod pattern;
mod placement;
mod row_access;
mod rule;
mod search;
mod topology;
mod tuning;
mod words;

pub use board::{Board, Generations};
pub use description::{Life, LifeAlgorithm};
pub use distributed::DistributedBoard;
pub use error::LifeError;
pub use grid::Grid;
pub use history::Census;
pub use outcome::Outcome;
pub use pattern::Pattern;
pub use rule::Rule;
pub use topology::Topology;
