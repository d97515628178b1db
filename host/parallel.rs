//! Work on all cores, compiled once per element type instead of once per use.
//!
//! Rayon instantiates about ten functions for every closure, and the operations have many closures for each element type. The
//! few closures here call the work through a pointer instead. A piece of work takes far longer than such a call.

use crate::Result;
use rayon::prelude::*;

/// Calls `work` with the index and the elements of each of the first `count` chunks of `size` elements. The last chunk may be
/// shorter.
pub(crate) fn for_chunks<T: Send>(data: &mut [T], size: usize, count: usize, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    data.par_chunks_mut(size).take(count).enumerate().for_each(|(number, chunk)| work(number, chunk));
}

/// Calls `work` with each pair of chunks at the same index in both slices. `sizes` are the numbers of elements per chunk; the
/// last chunk may be shorter. Chunks without a counterpart are omitted.
pub(crate) fn for_pairs<T: Send>(
    [first, second]: [&mut [T]; 2],
    sizes: [usize; 2],
    work: &(dyn Fn(&mut [T], &mut [T]) + Sync),
) {
    let pairs = first.par_chunks_mut(sizes[0]).zip(second.par_chunks_mut(sizes[1]));
    pairs.for_each(|(first, second)| work(first, second));
}

/// As [`for_chunks`], with work that can fail. Returns one of the errors. After an error, `work` may have been called for some
/// chunks.
pub(crate) fn try_for_chunks<T: Send>(
    data: &mut [T],
    size: usize,
    count: usize,
    work: &(dyn Fn(usize, &mut [T]) -> Result<()> + Sync),
) -> Result<()> {
    data.par_chunks_mut(size).take(count).enumerate().try_for_each(|(number, chunk)| work(number, chunk))
}

/// Returns the results of `make` for each index below `count`, in order, or one of its errors.
pub(crate) fn try_collect<T: Send>(count: usize, make: &(dyn Fn(usize) -> Result<T> + Sync)) -> Result<Vec<T>> {
    (0..count).into_par_iter().map(make).collect()
}
