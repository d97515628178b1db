//! The number of living cells, and the hash of the board. Every word is read once.
//!
//! Words of 64 cells are counted, as the host has them. Each thread adds up every `n`-th load, where `n` is the number of threads,
//! and the first lane of each warp adds the warp's sums to those of the board. A load has two words if a cell has a bit, and one
//! word in four parts if it has a byte.

use super::{CensusArgs, hash_term};
use cuda_std::{GlobalIn, Ordering, thread, warp};

/// Threads of a block: whole warps, because all lanes exchange their sums.
pub(super) const THREADS: u32 = 256;

/// Counts a board with a bit for each cell.
#[inline(always)]
pub(super) fn of_bits(args: &CensusArgs) {
    count(args, args.cells.len().div_ceil(4), |cells, load| {
        let [a, b, c, d] = cells.get_pack_or::<4>(4 * load, 0);
        [a as u64 | (b as u64) << 32, c as u64 | (d as u64) << 32]
    });
}

/// Counts a board with a byte for each cell.
#[inline(always)]
pub(super) fn of_bytes(args: &CensusArgs) {
    count(args, args.cells.len() / 16, |cells, load| {
        let (mut word, mut part) = (0, 0);
        while part < 4 {
            let [a, b, c, d] = cells.get_pack::<4>(16 * load + 4 * part);
            word |= (four(a) | four(b) << 4 | four(c) << 8 | four(d) << 12) << (16 * part);
            part += 1;
        }
        [word]
    });
}

/// Returns the cells of four bytes as bits.
#[inline(always)]
fn four(bytes: u32) -> u64 {
    ((bytes | bytes >> 7 | bytes >> 14 | bytes >> 21) & 15) as u64
}

/// Adds the sums of `loads` loads of `N` words to those of the board.
#[inline(always)]
fn count<const N: usize>(args: &CensusArgs, loads: u64, load: impl Fn(&GlobalIn<u32>, u64) -> [u64; N]) {
    let (mut population, mut hash, mut at) = (0, 0u64, thread::global_x());
    while at < loads {
        let words = load(&args.cells, at);
        let mut k = 0;
        while k < N {
            population += words[k].count_ones() as u64;
            hash = hash.wrapping_add(hash_term(words[k], at * N as u64 + k as u64));
            k += 1;
        }
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
