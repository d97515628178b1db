//! The shape of a block, and the weights in its shared memory.

use super::Args;
use crate::signal::Accumulator;
use cuda_std::{Shared, thread};

/// Threads of a block along a row and along a column.
pub(super) const BLOCK: [u32; 2] = [32, 8];

/// Loads all weights, with rows that are `pitch` apart and zeros behind them; all threads of the block take part.
#[inline(always)]
pub(super) fn load_weights<A: Accumulator>(window: &Shared<A>, args: &Args<A>, pitch: u32) {
    let mut i = thread::thread_idx_y() * BLOCK[0] + thread::thread_idx_x();
    while i < window.len() {
        let (row, column) = (i / pitch, i % pitch);
        let weight = match column < args.columns.taps {
            true => args.weights.get((row * args.columns.taps + column) as u64),
            false => A::ZERO,
        };
        window.set(i, weight);
        i += BLOCK[0] * BLOCK[1];
    }
}
