//! The hash of a board, for host and device: sums over its words, so the order does not matter.
//!
//! A word is divided into two halves, a key is added to each, and the results are multiplied: the function NH of Black, Halevi,
//! Krawczyk, Krovetz and Rogaway ("UMAC: fast and secure message authentication", 1999). With random keys, the sums of two different
//! boards are equal with a probability of 2^-32. Two sums with different keys are kept. The keys of a word are the halves of the
//! product of a key of its row and a key of its column.

/// Sums of a census: the number of living cells, and those of the hash.
pub const SUMS: usize = 3;

/// Rows whose keys are multiples of the same number. Computing that number takes most of the time for a key.
pub(super) const GROUP: u32 = 8;

/// Returns the two keys of a row. They are not 0.
#[inline(always)]
#[must_use]
pub fn row_keys(row: u32) -> [u32; 2] {
    both_keys(mixed(row / GROUP + 1).wrapping_mul(mixed(row % GROUP + 1) | 1))
}

/// Returns the two keys of a row for the first one.
#[inline(always)]
pub(super) fn both_keys(key: u32) -> [u32; 2] {
    [key, key.wrapping_mul(0x9e37_79b1)]
}

/// Returns the two keys of a column of words. They are not 0.
#[inline(always)]
#[must_use]
pub fn column_keys(column: u32) -> [u32; 2] {
    [mixed(!column.wrapping_mul(2)), mixed(!(column.wrapping_mul(2) | 1))]
}

/// Returns the parts of a word of 64 cells in the sums of a hash.
#[inline(always)]
#[must_use]
pub fn hash_terms([low, high]: [u32; 2], row: [u32; 2], column: [u32; 2]) -> [u64; 2] {
    let term = |k: usize| {
        let keys = row[k] as u64 * column[k] as u64;
        low.wrapping_add(keys as u32) as u64 * high.wrapping_add((keys >> 32) as u32) as u64
    };
    [term(0), term(1)]
}

/// Mixes the bits of a number. Numbers have different results, and 0 remains 0. Wellons found this function ("hash prospector",
/// `lowbias32`, 2018).
#[inline(always)]
fn mixed(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}
