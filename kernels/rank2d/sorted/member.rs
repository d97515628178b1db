//! The member of a rank of a window, in the group where it is.
//!
//! Each lane goes through the words of its own group. Lanes whose groups differ load from different places, so bank conflicts depend on the
//! samples; neighbouring windows mostly have the same group.

use super::GROUP;
use super::members::{Members, Place};
use crate::rank2d::Key;

/// Returns the key of a member.
#[inline(always)]
pub(super) fn member<K: Key>(members: &Members<K>, row: u32, column: u32, place: Place) -> K {
    let words = members.words(place.group, row, members.column(place.group, column));
    let (mut word, mut number, mut rank, mut is_found, mut k) = (0, 0, place.rank, false, 0);
    while k < 8 {
        let (next, ones) = (words[k / 4][k % 4], words[k / 4][k % 4].count_ones());
        if !is_found {
            (word, number) = (next, k as u32);
            is_found = rank < ones;
            rank -= if is_found { 0 } else { ones };
        }
        k += 1;
    }
    let sorted = place.group * GROUP + number * 32 + bit(word, rank);
    // A window without members has none of any rank.
    let position = members.order.get(sorted.min(members.sizes.len() - 1));
    members.keys.get(members.sizes.place(position))
}

/// Returns the number of the set bit of a word of which `rank` set bits are below.
#[inline(always)]
fn bit(word: u32, mut rank: u32) -> u32 {
    let (mut bit, mut width) = (0, 16);
    while width > 0 {
        let ones = (word >> bit & ((1 << width) - 1)).count_ones();
        if rank >= ones {
            (bit, rank) = (bit + width, rank - ones);
        }
        width /= 2;
    }
    bit
}
