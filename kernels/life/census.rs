//! The number of living cells, and a hash of the board.
//!
//! Each thread adds up every `n`-th word, where `n` is the number of threads, and the first lane of each warp adds the warp's
//! sums to those of the board. The hash is a sum over all words that are not zero, so the order does not matter. A term is the
//! word and its index, mixed by the finaliser of SplitMix64 (Steele, Lea and Flood 2014).

use super::CensusArgs;
use cuda_std::{Ordering, thread, warp};

/// Threads of a block: whole warps, because all lanes exchange their sums.
pub(super) const THREADS: u32 = 256;

#[inline(always)]
pub(super) fn count(args: &CensusArgs) {
    let (mut population, mut hash, mut at) = (0, 0u64, thread::global_x());
    while at < args.cells.len() {
        let word = args.cells.get(at);
        population += word.count_ones() as u64;
        hash = hash.wrapping_add(term(word, at));
        at += thread::grid_dim_x() as u64 * thread::block_dim_x() as u64;
    }
    let mut lanes = 1;
    while lanes < warp::WARP {
        population += warp::shuffle_xor(warp::FULL, population, lanes);
        hash = hash.wrapping_add(warp::shuffle_xor(warp::FULL, hash, lanes));
        lanes *= 2;
    }
    let is_first = warp::lane() == 0;
    args.counts.add_if(is_first, args.first, population, Ordering::Relaxed);
    args.counts.add_if(is_first, args.first + 1, hash, Ordering::Relaxed);
}

/// Returns the part of a word in the hash.
#[inline(always)]
fn term(word: u32, at: u64) -> u64 {
    if word == 0 {
        return 0;
    }
    let z = (at << 32 ^ at >> 32 ^ word as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
