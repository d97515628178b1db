//! Work on all cores, compiled for each element type and not for each use.
//!
//! Rayon compiles some ten functions for every closure that it is given, and operations give it many, for each of the
//! element types. Here it gets a few closures, which call what they are given through a pointer. A piece of work takes far
//! longer than such a call.

use crate::Result;
use rayon::prelude::*;

/// Calls `work` with each of the first `count` chunks of so many elements, the last of which may be shorter, and its
/// number. The first error ends it, some chunks done or none.
pub(super) fn try_for_chunks<T: Send>(
    data: &mut [T],
    size: usize,
    count: usize,
    work: &(dyn Fn(usize, &mut [T]) -> Result<()> + Sync),
) -> Result<()> {
    data.par_chunks_mut(size).take(count).enumerate().try_for_each(|(number, chunk)| work(number, chunk))
}

/// What `make` gives for each number below `count`, in order, or one of its errors.
pub(super) fn try_collect<T: Send>(count: usize, make: &(dyn Fn(usize) -> Result<T> + Sync)) -> Result<Vec<T>> {
    (0..count).into_par_iter().map(make).collect()
}
