//! The hash of a board, for host and device: a sum over its words, so the order does not matter.

/// Returns the part of a word of 64 cells in the hash. `index` is its number in row-major order. Words without living cells have
/// no part in it.
///
/// The sequence and its finaliser are those of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014).
#[inline(always)]
#[must_use]
pub fn hash_term(word: u64, index: u64) -> u64 {
    let z = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(word);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    if word == 0 { 0 } else { z ^ (z >> 31) }
}
