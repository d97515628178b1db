//! Shared parts of the benchmarks: deterministic data, medians, and the lines of a table.

mod random;
mod table;

pub(crate) use random::random;
pub(crate) use table::{Times, begin, columns, end, report};
