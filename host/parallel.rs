//! Work on all cores, compiled once per element type instead of once per use.
//!
//! Rayon instantiates about ten functions for every closure, and the operations have many closures for each element type. The
//! few closures here call the work through a pointer instead. A piece of work takes far longer than such a call.
//!
//! Small work is done by the calling thread. To hand it to Rayon's threads, which are not the caller's, takes about 10 µs.

use crate::Result;
use rayon::prelude::*;

/// Bytes that are copied in about the time that it takes to wake a thread.
pub(crate) const COPIED: usize = 1 << 16;

/// Calls `work` with the index and the elements of each of the first `count` chunks of `size` elements. The last chunk may be
/// shorter.
pub(crate) fn for_chunks<T: Send>(data: &mut [T], size: usize, count: usize, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    if count <= 1 || data.len() <= size {
        return data.chunks_mut(size).take(count).for_each(|chunk| work(0, chunk));
    }
    data.par_chunks_mut(size).take(count).enumerate().for_each(|(number, chunk)| work(number, chunk));
}

/// As [`for_chunks`], for chunks of little work: a thread gets at least `bytes` bytes of them.
pub(crate) fn for_rows<T: Send>(
    data: &mut [T],
    size: usize,
    count: usize,
    bytes: usize,
    work: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    let share = share::<T>(size, bytes);
    if count <= share || data.len() / size < share {
        return data.chunks_mut(size).take(count).enumerate().for_each(|(number, chunk)| work(number, chunk));
    }
    let chunks = data.par_chunks_mut(size).take(count).enumerate().with_min_len(share);
    chunks.for_each(|(number, chunk)| work(number, chunk));
}

/// As [`for_rows`], with each pair of chunks at the same index in both slices, which are copied. `sizes` are the numbers of
/// elements per chunk. Chunks without a counterpart are omitted.
pub(crate) fn for_pairs<T: Send>(
    [first, second]: [&mut [T]; 2],
    sizes: [usize; 2],
    work: &(dyn Fn(&mut [T], &mut [T]) + Sync),
) {
    let share = share::<T>(sizes[1], COPIED);
    if second.len() / sizes[1] < share {
        let pairs = first.chunks_mut(sizes[0]).zip(second.chunks_mut(sizes[1]));
        return pairs.for_each(|(first, second)| work(first, second));
    }
    let pairs = first.par_chunks_mut(sizes[0]).zip(second.par_chunks_mut(sizes[1])).with_min_len(share);
    pairs.for_each(|(first, second)| work(first, second));
}

/// Returns how many chunks of `size` elements have this number of bytes.
fn share<T>(size: usize, bytes: usize) -> usize {
    bytes.div_ceil(size.saturating_mul(size_of::<T>()))
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
    of: &(dyn Fn(usize, &[T]) -> R + Sync),
    combine: fn(R, R) -> R,
) -> Option<R> {
    if data.len() <= size {
        return (!data.is_empty()).then(|| of(0, data));
    }
    let chunks = data.par_chunks(size).enumerate();
    chunks.map(|(number, chunk)| of(number * size, chunk)).reduce_with(combine)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths around one piece and around several.
    const LENGTHS: [usize; 9] = [0, 1, 7, 8, 9, 16, 17, 1000, 4096];

    #[test]
    fn elements_get_their_own_indices() {
        for len in LENGTHS {
            let mut data = vec![usize::MAX; len];
            for_elements(&mut data, 8, |k, element| *element = k);
            assert_eq!(data, (0..len).collect::<Vec<_>>());
        }
    }

    #[test]
    fn results_are_combined_in_order() {
        for len in LENGTHS {
            let data: Vec<usize> = (0..len).collect();
            let concatenated =
                combined(&data, 8, &|first, data| (first, data.to_vec()), |a, b| (a.0, [a.1, b.1].concat()));
            assert_eq!(concatenated, (len > 0).then_some((0, data)));
        }
        let first_above = |limit| {
            let data: Vec<usize> = (0..100).collect();
            let first = |first, data: &[usize]| Some(first + data.iter().position(|x| *x > limit)?);
            combined(&data, 8, &first, Option::or).flatten()
        };
        assert_eq!([0, 6, 7, 50, 98, 99].map(first_above), [Some(1), Some(7), Some(8), Some(51), Some(99), None]);
    }

    #[test]
    fn rows_get_their_own_numbers() {
        for (len, count) in LENGTHS.into_iter().flat_map(|len| [0, 1, 2, 5, 1000, usize::MAX].map(|count| (len, count)))
        {
            for bytes in [1, 16, 24, 1 << 16] {
                let mut data = vec![usize::MAX; len];
                for_rows(&mut data, 3, count, bytes, &|number, row| row.fill(number));
                let expected = |k: usize| if k / 3 < count { k / 3 } else { usize::MAX };
                assert_eq!(data, (0..len).map(expected).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn pairs_are_at_the_same_index() {
        // Few pairs, and enough for several threads.
        for pairs in [0, 1, 3, 10_000] {
            let mut first: Vec<usize> = (0..2 * pairs + 1).collect();
            let mut second = vec![0; 3 * pairs];
            for_pairs([&mut first, &mut second], [2, 3], &|first, second| second.fill(first[0]));
            assert_eq!(second, (0..3 * pairs).map(|k| k / 3 * 2).collect::<Vec<_>>());
        }
    }
}
