//! A guide: a table in shared memory that shortens the search for the bin of a number.
//!
//! A monotonic [`Map`] divides the numbers into *entries*. For each entry the guide has the last bin that begins in an earlier entry. No number of the entry is in a bin before it, and each is in one of the next
//! *candidates*: one bin, and as many more as edges are in the entry with the most of them. Only those are searched.
//!
//! ```text
//!  bins         0    |  1  |2|3|4 |        5         | 6
//!  entries   0   |   1   |   2   |   3   |   4   |   5
//!  guide     0       0       1       4       5       5     4 candidates, because three bins begin in entry 2
//! ```
//!
//! The entries have equal widths: of values, or for floats, of [digits](Searchable::digits), which divide each power of two into
//! equally many, for edges whose distances grow with them. A block takes the map with fewer candidates. They divide the numbers between
//! the outer bins of the block, so that these may be as wide as they like. In the worst case, for example if half of the inner edges are
//! close to each other and the rest is far away, a search takes about as many steps as without a guide.
//!
//! Shared memory: a thread computes neighbouring entries, twice an odd number of them, so that 32 lanes have an odd number of words
//! between them and no conflicts. Those of a search, and of the first mark in each entry, depend on the edges and the samples.
//!
//! Source: Chen and Asau, *On generating random variates from an empirical distribution* (AIIE Transactions 6, 1974).

use super::bins::search;
use super::{ByDigits, Map, Searchable};
use core::array;
use cuda_std::{Ordering, Shared, thread, warp};

/// Number of candidates that are few enough: with two comparisons for a number, no other map is tried.
const FEW: u32 = 4;

/// Number of candidates from which strides are odd: half of them is as many as there are banks.
const ODD_FROM: u32 = 64;

/// The edges of a block's bins, and the memory of their guide.
#[derive(Clone, Copy)]
pub(super) struct Guide<'a, N> {
    /// The numbers with which the bins begin.
    pub(super) edges: &'a Shared<'a, N>,
    /// Number of bins, from 1 to 2^16.
    pub(super) bins: u32,
    /// The first candidate of each entry.
    pub(super) entries: &'a Shared<'a, u16>,
    /// One word, for the number of candidates minus 1.
    pub(super) most: &'a Shared<'a, u32>,
}

impl<N: Searchable> Guide<'_, N> {
    /// Makes the guide for the better map. Returns the number of candidates, and whether the map is that of digits. All threads of
    /// the block must call this.
    #[inline(always)]
    pub(super) fn make(&self, values: &N::Values, digits: &ByDigits) -> (u32, bool) {
        let (mut round, mut before) = (0, 0);
        loop {
            // The values, then the digits, and if these were not better, the values again.
            let by_digits = N::HAS_DIGITS && round == 1;
            let candidates = self.fill(|number| if by_digits { digits.entry(number) } else { values.entry(number) });
            if !N::HAS_DIGITS || candidates <= FEW || round == 2 || round == 1 && candidates < before {
                self.limit(candidates);
                return (candidates, by_digits);
            }
            before = candidates;
            round += 1;
        }
    }

    /// Fills the entries, and returns the number of candidates.
    #[inline(always)]
    fn fill(&self, entry: impl Fn(N) -> u32) -> u32 {
        let (t, entries) = (thread::thread_idx_x(), self.entries.len());
        each(entries, |i| self.entries.set(i, 0));
        thread::sync_threads();

        if t == 0 {
            self.most.set(0, 0);
        }
        // The entry after that of an edge gets the last bin that begins there.
        each(self.bins, |k| {
            let next = entry(self.edges.get(k)) + 1;
            if next < entries && (k + 1 == self.bins || entry(self.edges.get(k + 1)) >= next) {
                self.entries.set(next, k as u16);
            }
        });
        thread::sync_threads();

        // Each other entry gets the bin of the one before it.
        let share = 2 * (entries.div_ceil(2 * thread::block_dim_x().max(1)) | 1);
        let (mut i, end) = (t * share, (t * share + share).min(entries));
        if i < end {
            let mut bin = search(self.bins, |k| entry(self.edges.get(k)) < i);
            while i < end {
                bin = bin.max(self.entries.get(i) as u32);
                self.entries.set(i, bin as u16);
                i += 1;
            }
        }
        thread::sync_threads();

        let mut most = 0;
        each(entries, |i| {
            let next = if i + 1 < entries { self.entries.get(i + 1) as u32 } else { self.bins - 1 };
            most = next.wrapping_sub(self.entries.get(i) as u32).max(most);
        });
        // Not `reduce_max`, which needs too many registers in modules for GPUs before sm_80.
        let mut distance = warp::WARP / 2;
        while distance > 0 {
            most = most.max(warp::shuffle_xor(warp::FULL, most, distance));
            distance /= 2;
        }
        if warp::lane() == 0 {
            self.most.fetch_max(0, most, Ordering::Relaxed);
        }
        thread::sync_threads();
        self.most.get(0) + 1
    }

    /// Lets the candidates of all entries be bins.
    #[inline(always)]
    fn limit(&self, candidates: u32) {
        let last = self.bins - candidates;
        each(self.entries.len(), |i| {
            let bin = self.entries.get(i) as u32;
            if bin > last {
                self.entries.set(i, last as u16);
            }
        });
        thread::sync_threads();
    }

    /// Returns the bins of numbers, with the map and the number of candidates for which the guide was made. Numbers before the first bin
    /// or behind the last one have any bin.
    #[inline(always)]
    pub(super) fn bins<const K: usize>(&self, map: &impl Map<N>, candidates: u32, numbers: [N; K]) -> [u32; K] {
        let mut bins = numbers.map(|number| self.entries.get(map.entry(number)) as u32);
        let mut len = candidates;
        while len > 1 {
            // Strides of powers of two would lead many lanes to one bank.
            let half = if len < ODD_FROM { len / 2 } else { (len / 2 - 1) | 1 };
            bins = array::from_fn(|k| {
                let middle = bins[k] + half;
                if self.edges.get(middle) <= numbers[k] { middle } else { bins[k] }
            });
            len -= half;
        }
        bins
    }
}

/// Calls `each` with the thread's share of the numbers before `len`.
#[inline(always)]
fn each(len: u32, mut each: impl FnMut(u32)) {
    let mut i = thread::thread_idx_x();
    while i < len {
        each(i);
        i += thread::block_dim_x();
    }
}
