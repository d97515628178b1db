//! A guide: a table in shared memory that shortens the search for the bin of a number.
//!
//! A monotonic [`Map`] divides the numbers into *entries*. For each entry, the guide has the last bin that begins in an earlier entry. No
//! number of the entry is in a bin before it, and each is in one of the next *candidates*: one bin, and as many more as begin in the
//! entry in which most of them begin. Only those are searched.
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
//! A thread clears each entry whose number is its own plus a multiple of the block's threads. Then it *marks* for its edges in the same
//! way: the entry behind that of an edge gets the bin that begins there. After that it fills its share of neighbouring entries, each
//! with its mark or with the bin of the entry before it. `lookup.rs` has the accesses whose addresses depend on edges and samples.
//!
//! Shared memory: a share is twice an odd number of entries, so that 32 lanes have an odd number of words between them and no conflicts.
//! The other passes here access consecutive entries.
//!
//! Source: Chen and Asau, *On generating random variates from an empirical distribution* (AIIE Transactions 6, 1974).

use super::{DigitMap, Map, Searchable};
use cuda_std::{Ordering, Shared, thread, warp};

/// With at most this many candidates, which take two comparisons, the second map is not tried.
const FEW: u32 = 4;

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
    pub(super) fn make(&self, values: &N::Values, digits: &DigitMap) -> (u32, bool) {
        let (mut round, mut of_values) = (0, 0);
        loop {
            // The values, then the digits, and if these were not better, the values again.
            let by_digits = N::HAS_TWO_MAPS && round == 1;
            let candidates = self.fill(|number| if by_digits { digits.entry(number) } else { values.entry(number) });
            if !N::HAS_TWO_MAPS || candidates <= FEW || round == 2 || round == 1 && candidates < of_values {
                self.limit(candidates);
                return (candidates, by_digits);
            }
            of_values = candidates;
            round += 1;
        }
    }

    /// Fills the entries, and returns the number of candidates.
    #[inline(always)]
    fn fill(&self, entry: impl Fn(N) -> u32) -> u32 {
        let (t, entries) = (thread::thread_idx_x(), self.entries.len());
        for_each(entries, |i| self.entries.set(i, 0));
        thread::sync_threads();

        // All threads have read it before the barrier.
        if t == 0 {
            self.most.set(0, 0);
        }
        for_each(self.bins, |k| self.mark(k, &entry));
        thread::sync_threads();

        let share = 2 * (entries.div_ceil(2 * thread::block_dim_x().max(1)) | 1);
        let (mut i, end) = (t * share, (t * share + share).min(entries));
        if i < end {
            let mut bin = self.last_before(i, &entry);
            while i < end {
                bin = bin.max(self.entries.get(i) as u32);
                self.entries.set(i, bin as u16);
                i += 1;
            }
        }
        thread::sync_threads();

        let mut most = 0;
        for_each(entries, |i| {
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
        for_each(self.entries.len(), |i| {
            let bin = self.entries.get(i) as u32;
            if bin > last {
                self.entries.set(i, last as u16);
            }
        });
        thread::sync_threads();
    }
}

/// Calls `each` with the thread's numbers before `len`.
#[inline(always)]
fn for_each(len: u32, mut each: impl FnMut(u32)) {
    let mut i = thread::thread_idx_x();
    while i < len {
        each(i);
        i += thread::block_dim_x();
    }
}
