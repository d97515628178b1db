//! Work on all cores, compiled once per element type instead of once per use.
//!
//! Rayon instantiates about ten functions for every closure, and the operations have many closures for each element type. The
//! few closures here call the work through a pointer instead. A piece of work takes far longer than such a call.
//!
//! A single piece is done by the calling thread: waking another one takes longer than small work.

use crate::Result;
use rayon::prelude::*;

/// Bytes that are copied in about the time that it takes to wake a thread.
const COPIED: usize = 1 << 16;

/// Calls `work` with the index and the elements of each of the first `count` chunks of `size` elements. The last chunk may be
/// shorter.
pub(crate) fn for_chunks<T: Send>(data: &mut [T], size: usize, count: usize, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    if count <= 1 || data.len() <= size {
        return data.chunks_mut(size).take(count).for_each(|chunk| work(0, chunk));
    }
    data.par_chunks_mut(size).take(count).enumerate().for_each(|(number, chunk)| work(number, chunk));
}

/// As [`for_chunks`], for work that takes about as long as copying the chunk: a thread gets at least [`COPIED`] bytes.
pub(crate) fn for_rows<T: Send>(data: &mut [T], size: usize, count: usize, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    let share = copied::<T>(size);
    if count <= share || data.len() / size < share {
        return data.chunks_mut(size).take(count).enumerate().for_each(|(number, chunk)| work(number, chunk));
    }
    let chunks = data.par_chunks_mut(size).take(count).enumerate().with_min_len(share);
    chunks.for_each(|(number, chunk)| work(number, chunk));
}

/// As [`for_rows`], with each pair of chunks at the same index in both slices. `sizes` are the numbers of elements per chunk.
/// Chunks without a counterpart are omitted.
pub(crate) fn for_pairs<T: Send>(
    [first, second]: [&mut [T]; 2],
    sizes: [usize; 2],
    work: &(dyn Fn(&mut [T], &mut [T]) + Sync),
) {
    let share = copied::<T>(sizes[1]);
    if second.len() / sizes[1] < share {
        let pairs = first.chunks_mut(sizes[0]).zip(second.chunks_mut(sizes[1]));
        return pairs.for_each(|(first, second)| work(first, second));
    }
    let pairs = first.par_chunks_mut(sizes[0]).zip(second.par_chunks_mut(sizes[1])).with_min_len(share);
    pairs.for_each(|(first, second)| work(first, second));
}

/// Returns how many chunks of `size` elements have [`COPIED`] bytes.
fn copied<T>(size: usize) -> usize {
    COPIED.div_ceil(size.saturating_mul(size_of::<T>()))
}

/// As [`for_chunks`], with work that can fail. Returns one of the errors. After an error, `work` may have been called for some
/// chunks.
pub(crate) fn try_for_chunks<T: Send>(
    data: &mut [T],
    size: usize,
    count: usize,
    work: &(dyn Fn(usize, &mut [T]) -> Result<()> + Sync),
) -> Result<()> {
    if count <= 1 || data.len() <= size {
        return data.chunks_mut(size).take(count).try_for_each(|chunk| work(0, chunk));
    }
    data.par_chunks_mut(size).take(count).enumerate().try_for_each(|(number, chunk)| work(number, chunk))
}

/// Returns the results of `make` for each index below `count`, in order, or one of its errors.
pub(crate) fn try_collect<T: Send>(count: usize, make: &(dyn Fn(usize) -> Result<T> + Sync)) -> Result<Vec<T>> {
    if count <= 1 {
        return (0..count).map(make).collect();
    }
    (0..count).into_par_iter().map(make).collect()
}

/// Calls `set` with the index of each element, for at least `share` elements per thread.
pub(crate) fn for_elements<T: Send>(data: &mut [T], share: usize, set: impl Fn(usize, &mut T) + Sync) {
    for_chunks(data, share, usize::MAX, &|number, chunk| {
        chunk.iter_mut().enumerate().for_each(|(k, element)| set(number * share + k, element));
    });
}

/// Returns the results of `of` for chunks of `size` elements and the index of their first one, combined in order; `None` if
/// there are no elements.
pub(crate) fn combined<T: Sync, R: Send>(
    data: &[T],
    size: usize,
    of: impl Fn(usize, &[T]) -> R + Sync,
    combine: fn(R, R) -> R,
) -> Option<R> {
    if data.len() <= size {
        return (!data.is_empty()).then(|| of(0, data));
    }
    let chunks = data.par_chunks(size).enumerate();
    chunks.map(|(number, chunk)| of(number * size, chunk)).reduce_with(combine)
}
