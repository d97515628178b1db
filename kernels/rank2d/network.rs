//! Networks of comparisons, which are lists of constants: each comparison puts the lesser one of two keys first.
//!
//! Keys are in registers only if all indices are constants, so loops over a network are unrolled, and comparisons whose result nobody needs
//! are left out by the compiler. Merging is the odd-even merge of K. E. Batcher, *Sorting networks and their applications* (1968), for
//! lists of any lengths.

use super::packing::Packing;
use cuda_std::Value;

/// Most keys of a network.
const KEYS: usize = 49;

/// Most comparisons of a network.
const COMPARISONS: usize = 420;

/// Indices of keys.
#[derive(Clone, Copy)]
pub(super) struct Places {
    places: [u8; KEYS],
    len: usize,
}

impl Places {
    const NONE: Self = Places { places: [0; KEYS], len: 0 };

    /// Returns neighbouring places.
    pub(super) const fn from(first: usize, len: usize) -> Self {
        let mut places = Self::NONE;
        while places.len < len {
            places = places.and((first + places.len) as u8);
        }
        places
    }

    const fn and(mut self, place: u8) -> Self {
        self.places[self.len] = place;
        self.len += 1;
        self
    }

    /// Returns every `stride`-th place of a range.
    const fn part(&self, first: usize, end: usize, stride: usize) -> Self {
        let (mut part, mut i) = (Self::NONE, first);
        while i < end {
            part = part.and(self.places[i]);
            i += stride;
        }
        part
    }
}

/// Comparisons, and the places of the keys in ascending order after them.
#[derive(Clone, Copy)]
pub(super) struct Network {
    comparisons: [[u8; 2]; COMPARISONS],
    count: usize,
    pub(super) ascending: Places,
}

impl Network {
    /// Returns a network that sorts the keys at these places.
    pub(super) const fn sorting(places: Places) -> Self {
        Self::EMPTY.sort(places)
    }

    /// Returns a network that merges two ascending lists.
    pub(super) const fn merging(a: Places, b: Places) -> Self {
        Self::EMPTY.merge(a, b)
    }

    const EMPTY: Self = Network { comparisons: [[0; 2]; COMPARISONS], count: 0, ascending: Places::NONE };

    const fn sort(self, places: Places) -> Self {
        if places.len < 2 {
            return Network { ascending: places, ..self };
        }
        let lower = self.sort(places.part(0, places.len / 2, 1));
        let upper = lower.sort(places.part(places.len / 2, places.len, 1));
        upper.merge(lower.ascending, upper.ascending)
    }

    const fn merge(self, a: Places, b: Places) -> Self {
        if a.len == 0 || b.len == 0 {
            return Network { ascending: if a.len == 0 { b } else { a }, ..self };
        }
        if a.len == 1 && b.len == 1 {
            let ascending = a.and(b.places[0]);
            return Network { ascending, ..self.compare([a.places[0], b.places[0]]) };
        }
        let even = self.merge(a.part(0, a.len, 2), b.part(0, b.len, 2));
        let mut network = even.merge(a.part(1, a.len, 2), b.part(1, b.len, 2));
        // Between the least and the greatest key, each odd one is next to the even one after it.
        let (even, odd) = (even.ascending, network.ascending);
        let (mut ascending, mut i) = (even.part(0, 1, 1), 0);
        while i < odd.len {
            ascending = ascending.and(odd.places[i]);
            if i + 1 < even.len {
                network = network.compare([odd.places[i], even.places[i + 1]]);
                ascending = ascending.and(even.places[i + 1]);
            }
            i += 1;
        }
        if even.len == odd.len + 2 {
            ascending = ascending.and(even.places[even.len - 1]);
        }
        Network { ascending, ..network }
    }

    const fn compare(mut self, places: [u8; 2]) -> Self {
        self.comparisons[self.count] = places;
        self.count += 1;
        self
    }

    /// Compares keys.
    #[inline(always)]
    pub(super) fn run<P: Packing, const N: usize>(&self, mut keys: [P::Word; N]) -> [P::Word; N] {
        let mut i = 0;
        while i < self.count {
            let [first, second] = self.comparisons[i];
            let [a, b] = [keys[first as usize], keys[second as usize]];
            keys[first as usize] = P::least(a, b);
            keys[second as usize] = P::greatest(a, b);
            i += 1;
        }
        keys
    }

    /// Returns the keys that have the numbers from `first` on in ascending order, after [`run`](Self::run).
    #[inline(always)]
    pub(super) fn middle<K: Value, const N: usize, const M: usize>(&self, keys: &[K; N], first: usize) -> [K; M] {
        let (mut middle, mut i) = ([K::default(); M], 0);
        while i < M {
            middle[i] = keys[self.ascending.places[first + i] as usize];
            i += 1;
        }
        middle
    }
}

/// Returns the keys of two lists as one.
#[inline(always)]
pub(super) fn joined<K: Value, const N: usize, const M: usize, const L: usize>(a: &[K; N], b: &[K; M]) -> [K; L] {
    const { assert!(N + M == L) };
    let (mut joined, mut i) = ([K::default(); L], 0);
    while i < L {
        joined[i] = if i < N { a[i] } else { b[i - N] };
        i += 1;
    }
    joined
}

/// Returns the median of the keys of two ascending lists. The first list has one key more than the second one.
#[inline(always)]
pub(super) fn median_of_lists<P: Packing, const N: usize, const M: usize>(
    a: &[P::Word; N],
    b: &[P::Word; M],
) -> P::Word {
    const { assert!(N == M + 1) };
    // It is the least of what can be the greatest of `N` keys: the first ones of both lists.
    let (mut median, mut i) = (a[M], 0);
    while i < M {
        median = P::least(median, P::greatest(a[i], b[M - 1 - i]));
        i += 1;
    }
    median
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank2d::packing::Single;

    type One = Single<i32>;

    /// Whatever keys of 0 and 1 two ascending lists have, they are merged: so any keys are (Knuth, *Sorting and Searching*, 5.3.4).
    #[test]
    fn lists_are_merged() {
        let of_medians = [(0, 3), (1, 1), (2, 1), (3, 3), (4, 1), (5, 5), (10, 10), (14, 14), (22, 14), (7, 12)];
        // Those of 16, 25, 36 and 49 keys that are sorted.
        let of_sorting = [(1, 2), (2, 2), (3, 4), (4, 4), (6, 6), (6, 7), (8, 8), (12, 13)];
        let of_more = [(2, 3), (4, 5), (9, 9), (18, 18), (12, 12), (24, 25)];
        for (n, m) in of_medians.into_iter().chain(of_sorting).chain(of_more) {
            let network = Network::merging(Places::from(0, n), Places::from(n, m));
            for (zeros, of_second) in (0..=n).flat_map(|zeros| (0..=m).map(move |of_second| (zeros, of_second))) {
                let mut keys = [0u32; KEYS];
                keys[zeros..n].fill(1);
                keys[n + of_second..n + m].fill(1);
                check(&network, keys, n + m - zeros - of_second);
            }
        }
    }

    #[test]
    fn keys_are_sorted() {
        for count in 0..=9 {
            let network = Network::sorting(Places::from(1, count));
            for bits in 0..1u32 << count {
                let keys = core::array::from_fn(|i| if (1..=count).contains(&i) { bits >> (i - 1) & 1 } else { 7 });
                check(&network, keys, bits.count_ones() as usize);
            }
        }
    }

    fn check(network: &Network, keys: [u32; KEYS], ones: usize) {
        let sorted = network.run::<One, _>(keys);
        let (places, len) = (network.ascending.places, network.ascending.len);
        for (i, place) in places[..len].iter().enumerate() {
            assert_eq!(sorted[*place as usize], (i >= len - ones) as u32);
        }
    }

    #[test]
    fn medians_of_lists() {
        for bits in 0..1u32 << 7 {
            let mut lists = [[0; 4], [9; 4]];
            for i in 0..7 {
                lists[i / 4][i % 4] = bits >> i & 1;
            }
            lists.iter_mut().for_each(|list| list.sort());
            let second = [lists[1][0], lists[1][1], lists[1][2]];
            assert_eq!(median_of_lists::<One, _, _>(&lists[0], &second), (bits.count_ones() >= 4) as u32);
        }
    }
}
