//! The members of windows among the sorted samples of a tile: those in its rows and in its columns. Groups of 256 samples are counted until a
//! rank is reached, by all lanes of a warp together.

use super::masks::Masks;
use super::order::Order;
use super::{GROUP, ROWS, Sizes};
use crate::rank2d::Key;
use cuda_std::math::lop3;
use cuda_std::warp::FULL;
use cuda_std::{Shared, warp};

/// The sorted samples of a tile.
pub(super) struct Members<'a, 's, K: Key> {
    pub(super) rows: &'a Masks<'s>,
    pub(super) columns: &'a Masks<'s>,
    pub(super) order: Order<'a, 's>,
    pub(super) keys: &'a Shared<'s, K>,
    pub(super) sizes: &'a Sizes,
}

/// Where a member is: its group, and its rank among the members there.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) group: u32,
    pub(super) rank: u32,
}

impl<K: Key> Members<'_, '_, K> {
    /// Returns the members of a window, of two quads of words.
    #[inline(always)]
    #[track_caller]
    pub(super) fn words(&self, group: u32, row: u32, column: [[u32; 4]; 2]) -> [[u32; 4]; 2] {
        let (mut words, mut i) = (column, 0);
        while i < 2 {
            let row = self.rows.quad(2 * group + i, row);
            let mut k = 0;
            while k < 4 {
                words[i as usize][k] &= row[k];
                k += 1;
            }
            i += 1;
        }
        words
    }

    #[inline(always)]
    #[track_caller]
    pub(super) fn column(&self, group: u32, column: u32) -> [[u32; 4]; 2] {
        [self.columns.quad(2 * group, column), self.columns.quad(2 * group + 1, column)]
    }

    /// Returns where the members of these ranks are, of windows in two rows and one column. All lanes of the warp call it, with the same rows.
    #[inline(always)]
    pub(super) fn groups(&self, rows: [u32; ROWS], column: u32, ranks: [u32; ROWS]) -> [Place; ROWS] {
        let (mut counts, mut group) = ([0; ROWS], 0);
        let mut places = ranks.map(|rank| Place { group: 0, rank });
        // The rank of a window without members is not found.
        while group < self.sizes.quads() / 2 && !warp::all(FULL, counts[0] > ranks[0] && counts[1] > ranks[1]) {
            let of_column = self.column(group, column);
            places = [0, 1].map(|i| match counts[i] <= ranks[i] {
                true => Place { group, rank: ranks[i] - counts[i] },
                false => places[i],
            });
            counts = [0, 1].map(|i| counts[i] + ones(self.words(group, rows[i], of_column)));
            group += 1;
        }
        places
    }

    /// Returns how many members there are from a number of the sorted samples on, likewise.
    #[inline(always)]
    pub(super) fn from(&self, first: u32, rows: [u32; ROWS], column: u32) -> [u32; ROWS] {
        let (mut counts, mut group) = ([0; ROWS], first / GROUP);
        while group < self.sizes.quads() / 2 {
            let (of_column, skipped) = (self.column(group, column), first.saturating_sub(group * GROUP));
            counts = [0, 1].map(|i| counts[i] + ones(from_bit(self.words(group, rows[i], of_column), skipped)));
            group += 1;
        }
        counts
    }
}

/// Returns the words without their first bits.
#[inline(always)]
fn from_bit(mut words: [[u32; 4]; 2], first: u32) -> [[u32; 4]; 2] {
    let mut k = 0;
    while k < 8 {
        let skipped = first.saturating_sub(32 * k as u32);
        words[k / 4][k % 4] &= if skipped < 32 { u32::MAX << skipped } else { 0 };
        k += 1;
    }
    words
}

/// Returns the number of bits of eight words, with four counts instead of eight.
#[inline(always)]
fn ones(words: [[u32; 4]; 2]) -> u32 {
    let [[a, b, c, d], [e, f, g, h]] = words;
    let ([first, twice], [second, more_twice]) = (added(a, b, c), added(d, e, f));
    let [once, yet_more_twice] = added(first, second, g);
    let [twice, four_times] = added(twice, more_twice, yet_more_twice);
    once.count_ones() + h.count_ones() + 2 * twice.count_ones() + 4 * four_times.count_ones()
}

/// Returns the sums of the bits at each place of three words: the lower bits, and the upper ones.
#[inline(always)]
fn added(a: u32, b: u32, c: u32) -> [u32; 2] {
    const ODD: u8 = 0x96;
    const MOST: u8 = 0xe8;
    [lop3::<ODD>(a, b, c), lop3::<MOST>(a, b, c)]
}
