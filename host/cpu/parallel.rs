//! Work on all cores, compiled once per element type instead of once per use.
//!
//! Work is called through pointers. Rayon instantiates about fifteen functions for each closure, so it gets pointers too. A piece of
//! work takes far longer than such a call.
//!
//! Small work is done by the calling thread. To hand it to Rayon's threads, which are not the caller's, takes about 10 µs.

use crate::Result;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes that are copied in about the time that it takes to wake a thread.
pub(crate) const COPIED: usize = 1 << 16;

/// Minimum number of pieces of work per thread, if there are enough chunks, so that all threads have work until the end.
const PIECES: usize = 8;

/// Maximum number of results that are combined, so that they take little memory.
const RESULTS: usize = 1024;

/// Calls `work` with the index and the elements of each of the first `count` chunks of `size` elements. The last chunk may be
/// shorter.
pub(crate) fn for_chunks<T: Send>(data: &mut [T], size: usize, count: usize, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    for_rows(data, size, count, 1, work);
}

/// As [`for_chunks`], for chunks of little work: a thread gets at least `bytes` bytes of them.
pub(crate) fn for_rows<T: Send>(
    data: &mut [T],
    size: usize,
    count: usize,
    bytes: usize,
    work: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    let count = count.min(data.len().div_ceil(size));
    // The second slice is empty.
    let work = |number, [chunk, _]: [&mut [T]; 2]| work(number, chunk);
    Chunks { slices: [data, &mut []], sizes: [size, 0], first: 0, count }.run(share::<T>(size, bytes), &work);
}

/// As [`for_rows`], with each pair of chunks at the same index in both slices, which are copied. `sizes` are the numbers of
/// elements per chunk. Chunks without a counterpart are omitted.
pub(crate) fn for_pairs<T: Send>(slices: [&mut [T]; 2], sizes: [usize; 2], work: &(dyn Fn(&mut [T], &mut [T]) + Sync)) {
    let count = slices[0].len().div_ceil(sizes[0]).min(slices[1].len().div_ceil(sizes[1]));
    let work = |_, [first, second]: [&mut [T]; 2]| work(first, second);
    Chunks { slices, sizes, first: 0, count }.run(share::<T>(sizes[1], COPIED), &work);
}

/// As [`for_chunks`], with work that can fail. Returns one of the errors. After an error, `work` may have been called for some
/// chunks.
pub(crate) fn try_for_chunks<T: Send>(
    data: &mut [T],
    size: usize,
    count: usize,
    work: &(dyn Fn(usize, &mut [T]) -> Result<()> + Sync),
) -> Result<()> {
    let failure = OnceLock::new();
    for_chunks(data, size, count, &|number, chunk| {
        if failure.get().is_none()
            && let Err(error) = work(number, chunk)
        {
            // Another thread may have failed at the same time.
            let _ = failure.set(error);
        }
    });
    failure.into_inner().map_or(Ok(()), Err)
}

/// Returns the results of `make` for each index below `count`, in order, or one of its errors.
pub(crate) fn try_collect<T: Send>(count: usize, make: &(dyn Fn(usize) -> Result<T> + Sync)) -> Result<Vec<T>> {
    let mut made: Vec<Option<T>> = (0..count).map(|_| None).collect();
    try_for_chunks(&mut made, 1, count, &|number, place| {
        place[0] = Some(make(number)?);
        Ok(())
    })?;
    Ok(made.into_iter().map(|made| made.expect("it was made without an error")).collect())
}

/// Calls `set` with the index of each element, for at least `share` elements per thread.
pub(crate) fn for_elements<T: Send>(data: &mut [T], share: usize, set: impl Fn(usize, &mut T) + Sync) {
    for_chunks(data, share, usize::MAX, &|number, chunk| {
        chunk.iter_mut().enumerate().for_each(|(k, element)| set(number * share + k, element));
    });
}

/// Returns whether `holds` is true for all numbers below `count`, with at least `share` numbers per thread.
pub(crate) fn all(count: usize, share: usize, holds: &(dyn Fn(usize) -> bool + Sync)) -> bool {
    let fails = AtomicBool::new(false);
    // Elements without a size take no memory.
    for_chunks(&mut vec![(); count.div_ceil(share)], 1, usize::MAX, &|number, _| {
        let first = number * share;
        if !fails.load(Ordering::Relaxed) && !(first..count.min(first + share)).all(holds) {
            fails.store(true, Ordering::Relaxed);
        }
    });
    !fails.into_inner()
}

/// Returns the results of `of` for chunks of at least `size` elements and the index of their first one, combined in order; `None`
/// if there are no elements.
pub(crate) fn combined<T: Sync, R: Send>(
    data: &[T],
    size: usize,
    of: &(dyn Fn(usize, &[T]) -> R + Sync),
    combine: fn(R, R) -> R,
) -> Option<R> {
    if data.len() <= size {
        return (!data.is_empty()).then(|| of(0, data));
    }
    let size = size.max(data.len().div_ceil(RESULTS));
    let mut results: Vec<Option<R>> = data.chunks(size).map(|_| None).collect();
    for_chunks(&mut results, 1, usize::MAX, &|number, result| {
        let elements = data.chunks(size).nth(number).unwrap_or_default();
        result[0] = Some(of(number * size, elements));
    });
    results.into_iter().flatten().reduce(combine)
}

/// Returns how many chunks of `size` elements have this number of bytes, at least 1.
fn share<T>(size: usize, bytes: usize) -> usize {
    bytes.div_ceil(size.saturating_mul(size_of::<T>()).max(1)).max(1)
}

/// Consecutive chunks of two slices.
struct Chunks<'a, T> {
    slices: [&'a mut [T]; 2],
    /// Numbers of elements per chunk.
    sizes: [usize; 2],
    /// Index of the first chunk.
    first: usize,
    count: usize,
}

/// Work on a chunk of each slice, with their index.
type Work<'a, T> = &'a (dyn Fn(usize, [&mut [T]; 2]) + Sync);

impl<T: Send> Chunks<'_, T> {
    /// Calls `work` with all chunks, on several threads if each gets at least `share` of them.
    fn run(&mut self, share: usize, work: Work<'_, T>) {
        if self.count < 2 * share {
            return self.run_here(work);
        }
        self.run_in_pieces(share.max(self.count / (PIECES * rayon::current_num_threads())), work);
    }

    /// Calls `work` with all chunks, in pieces of at least `least` chunks and less than twice as many.
    fn run_in_pieces(&mut self, least: usize, work: Work<'_, T>) {
        if self.count < 2 * least {
            return self.run_here(work);
        }
        let [mut one, mut other] = self.halves();
        both(&mut || one.run_in_pieces(least, work), &mut || other.run_in_pieces(least, work));
    }

    fn run_here(&mut self, work: Work<'_, T>) {
        let (mut rest, sizes) = (self.slices.each_mut().map(|slice| &mut **slice), self.sizes);
        for number in self.first..self.first + self.count {
            let [first, second] = &mut rest;
            work(number, [next(first, sizes[0]), next(second, sizes[1])]);
        }
    }

    fn halves(&mut self) -> [Chunks<'_, T>; 2] {
        let (sizes, half) = (self.sizes, self.count / 2);
        let [first, second] = &mut self.slices;
        let (first, second) = (first.split_at_mut(half * sizes[0]), second.split_at_mut(half * sizes[1]));
        [
            Chunks { slices: [first.0, second.0], sizes, first: self.first, count: half },
            Chunks { slices: [first.1, second.1], sizes, first: self.first + half, count: self.count - half },
        ]
    }
}

/// Returns the size of chunks of about the same size, and of at most `most` of `count` things; both are at least 1.
pub(crate) fn even(count: usize, most: usize) -> usize {
    count.div_ceil(count.div_ceil(most))
}

/// Removes the next chunk of a slice and returns it. The last one may be shorter.
pub(crate) fn next<'a, T>(rest: &mut &'a mut [T], size: usize) -> &'a mut [T] {
    let size = size.min(rest.len());
    rest.split_off_mut(..size).unwrap_or_default()
}

/// Calls both functions, on two threads if another one is idle.
fn both(one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send)) {
    rayon::join(one, other);
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
    fn all_numbers_are_examined() {
        for count in LENGTHS {
            assert!(all(count, 8, &|k| k < count));
            assert!((0..count).all(|wrong| !all(count, 8, &|k| k != wrong)));
        }
    }

    #[test]
    fn many_elements_have_few_results() {
        let data = vec![1; 3 * RESULTS + 1];
        let sizes = combined(&data, 1, &|_, data| vec![data.len()], |a, b| [a, b].concat()).unwrap();
        assert_eq!((sizes.len(), sizes.iter().sum()), (data.len().div_ceil(4), data.len()));
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
    fn results_are_in_order_unless_one_is_an_error() {
        use crate::Error;
        for count in [0, 1, 2, 1000] {
            assert_eq!(try_collect(count, &Ok), Ok((0..count).collect()));
            let error = |k| Error::OutOfHostMemory { requested: k as u64 };
            let fails = |k| if k + 1 == count { Err(error(k)) } else { Ok(k) };
            let expected = if count == 0 { Ok(Vec::new()) } else { Err(error(count - 1)) };
            assert_eq!(try_collect(count, &fails), expected);
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
