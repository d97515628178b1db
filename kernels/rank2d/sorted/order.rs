//! Sorts the samples of a tile: from digit to digit of 8 bits, the least one first, keeping the order of equal ones (LSD radix sort).
//!
//! Each warp has a part of the positions, and takes 32 at a time. First it counts its digits, and numbers those that are equal in their order:
//! lanes with the same digit find each other by a vote on each bit. Then all threads add up where the digits of each warp begin, and move the
//! positions there. Keys stay where they are.
//!
//! Counters and keys are found by digits and positions, so bank conflicts depend on the samples.

use super::{Sizes, WARPS, thread};
use crate::rank2d::Key;
use cuda_std::warp::{FULL, WARP};
use cuda_std::{Shared, thread as block, warp};

/// Number of digits.
pub(super) const DIGITS: u32 = 256;

/// What sorting needs.
pub(super) struct Sorting<'a, 's, K: Key> {
    pub(super) keys: &'a Shared<'s, K>,
    /// Twice as many as there are: at first in the first half.
    pub(super) positions: &'a Shared<'s, u16>,
    /// Of each warp, one for each digit.
    pub(super) counters: &'a Shared<'s, u16>,
    pub(super) totals: &'a Shared<'s, u32>,
    /// Of each position, its number among those of its warp with the same digit.
    pub(super) numbers: &'a Shared<'s, u16>,
    pub(super) sizes: &'a Sizes,
}

/// The sorted positions.
#[derive(Clone, Copy)]
pub(super) struct Order<'a, 's> {
    positions: &'a Shared<'s, u16>,
    /// Where they begin.
    first: u32,
}

impl Order<'_, '_> {
    /// Returns a position.
    #[inline(always)]
    #[track_caller]
    pub(super) fn get(&self, i: u32) -> u16 {
        self.positions.get(self.first + i)
    }
}

impl<'a, 's, K: Key> Sorting<'a, 's, K> {
    /// Sorts the positions. `different` are the digits that are not the same in all keys. All threads take part, and wait for each other at the
    /// end.
    #[inline(always)]
    pub(super) fn sort(&self, different: u32) -> Order<'a, 's> {
        let (mut from, mut to, mut digit) = (0, self.sizes.len(), 0);
        while different >> digit != 0 {
            if different >> digit & 1 != 0 {
                self.by_digit(from, to, digit);
                (from, to) = (to, from);
            }
            digit += 1;
        }
        Order { positions: self.positions, first: from }
    }

    /// Sorts by one digit, from one half to the other.
    #[inline(always)]
    fn by_digit(&self, from: u32, to: u32, digit: u32) {
        let [lane, warp] = thread();
        let own = warp * DIGITS;
        self.counters.set_pack(own + lane * (DIGITS / WARP), [0; (DIGITS / WARP) as usize]);
        warp::sync_warp(FULL);
        self.for_each(|i, is_sample| {
            let digit = if is_sample { self.digit(self.positions.get(from + i), digit) } else { 0 };
            let same = same(digit, is_sample);
            let before = (same & ((1 << lane) - 1)).count_ones();
            let count = if is_sample { self.counters.get(own + digit) as u32 } else { 0 };
            warp::sync_warp(FULL);
            if is_sample {
                self.numbers.set(i, (count + before) as u16);
                if before == 0 {
                    self.counters.set(own + digit, (count + same.count_ones()) as u16);
                }
            }
            warp::sync_warp(FULL);
        });
        block::sync_threads();
        self.add_up();
        block::sync_threads();
        self.for_each(|i, is_sample| {
            if is_sample {
                let position = self.positions.get(from + i);
                let start = self.counters.get(own + self.digit(position, digit));
                self.positions.set(to + start as u32 + self.numbers.get(i) as u32, position);
            }
        });
        block::sync_threads();
    }

    /// Returns a digit of a position's key.
    #[inline(always)]
    fn digit(&self, position: u16, digit: u32) -> u32 {
        self.keys.get(self.sizes.place(position)).digit(digit)
    }

    /// Calls `visit` with each number of the warp's positions, in order, and whether there is one. All lanes call it together.
    #[inline(always)]
    fn for_each(&self, visit: impl Fn(u32, bool)) {
        let ([lane, warp], len) = (thread(), self.sizes.len());
        let groups = len.div_ceil(WARP);
        let part = groups.div_ceil(WARPS);
        let (mut group, end) = (warp * part, groups.min((warp + 1) * part));
        while group < end {
            let i = group * WARP + lane;
            visit(i, i < len);
            group += 1;
        }
    }

    /// Replaces the counters by where the digits of the warps begin.
    #[inline(always)]
    fn add_up(&self) {
        let [lane, warp] = thread();
        let digit = warp * WARP + lane;
        let (mut total, mut other) = (0, 0);
        while digit < DIGITS && other < WARPS {
            total += self.counters.get(other * DIGITS + digit) as u32;
            other += 1;
        }
        let (mut sum, mut delta) = (total, 1);
        while delta < WARP {
            let below = warp::shuffle_up(FULL, sum, delta);
            sum += if lane >= delta { below } else { 0 };
            delta *= 2;
        }
        if lane == WARP - 1 {
            self.totals.set(warp, sum);
        }
        block::sync_threads();
        if digit < DIGITS {
            let (mut start, mut other) = (sum - total, 0);
            while other < warp {
                start += self.totals.get(other);
                other += 1;
            }
            other = 0;
            while other < WARPS {
                let place = other * DIGITS + digit;
                let count = self.counters.get(place);
                self.counters.set(place, start as u16);
                start += count as u32;
                other += 1;
            }
        }
    }
}

/// Returns the lanes with samples whose digit is that of the lane. All lanes call it together.
#[inline(always)]
fn same(digit: u32, is_sample: bool) -> u32 {
    let (mut same, mut bit) = (warp::ballot(FULL, is_sample), 0);
    while bit < DIGITS.ilog2() {
        let is_set = digit >> bit & 1 != 0;
        let set = warp::ballot(FULL, is_set);
        same &= if is_set { set } else { !set };
        bit += 1;
    }
    same
}
