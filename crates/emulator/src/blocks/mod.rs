//! The blocks of a grid: when they begin, whose turn it is, and the barriers of their threads.
//!
//! * `grid`: the order in which the blocks begin, and how many are in progress at a time
//! * `block`: the state of one block in progress
//! * `schedule`: the thread of a block that runs next
//! * `barriers`: threads that wait at a barrier, and its end

mod barriers;
mod block;
mod grid;
mod schedule;

pub(crate) use block::{Block, SplitOff};
pub(crate) use grid::{Blocks, resident_blocks};
