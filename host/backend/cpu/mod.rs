//! Operations on the CPU's cores.
//!
//! Results do not depend on the number of threads: a filter's output is computed by one thread in a fixed order, and
//! a histogram's counts are whole numbers.

mod filter1d;
mod histogram;
mod parallel;
mod transpose;
mod transpose_in_place;

pub(crate) use filter1d::{Filter1d, MultiplyAdd};
pub(crate) use histogram::{Histogram, Tally};
pub(crate) use transpose::Transpose;
pub(crate) use transpose_in_place::TransposeInPlace;
