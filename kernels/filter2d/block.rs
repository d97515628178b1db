//! The shape of most blocks, and the weights in its shared memory.

use super::Args;
use crate::signal::Accumulator;
use cuda_std::{Shared, thread};

/// Threads of a block along a row and along a column.
pub(super) const BLOCK: [u32; 2] = [32, 8];

/// Loads the weights from row `first` on, with rows of `pitch` numbers that end with the weights and begin with zeros; all threads of
/// the block take part.
#[inline(always)]
pub(super) fn load_weights<A: Accumulator>(window: &Shared<A>, args: &Args<A>, first: u32, pitch: u32) {
    let (taps, width) = (args.columns.taps, thread::block_dim_x());
    let pad = pitch - taps;
    let mut i = thread::thread_idx_y() * width + thread::thread_idx_x();
    while i < window.len() {
        let (row, column) = (first + i / pitch, i % pitch);
        let weight = match column >= pad {
            true => args.weights.get((row * taps + column - pad) as u64),
            false => A::ZERO,
        };
        window.set(i, weight);
        i += width * thread::block_dim_y();
    }
}
