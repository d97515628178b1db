//! A block's lines and outputs, and the taps in its shared memory.

use super::Args;
use crate::signal::Types;
use cuda_std::{Shared, thread};

/// Loads the taps into shared memory, and zeros into the rest of the last pack. All threads of the block share the work.
#[inline(always)]
pub(super) fn load_taps<F: Types>(window: &Shared<F::Weight>, args: &Args<F>) {
    let taps = args.taps.at(0);
    let step = thread::block_dim_x() * thread::block_dim_y();
    let mut j = thread::thread_idx_y() * thread::block_dim_x() + thread::thread_idx_x();
    while j < window.len() {
        window.set(j, taps.get_or(j, F::Weight::default()));
        j += step;
    }
}

/// Returns `(first line, first output)` of the block, if a block computes `outputs` outputs of each of `lines` lines.
#[inline(always)]
pub(super) fn tile_of_block<F: Types>(args: &Args<F>, lines: u32, outputs: u32) -> (u64, u64) {
    let block = thread::block_idx_x();
    let (group, tile) = (block / args.tiles, block % args.tiles);
    (group as u64 * lines as u64, tile as u64 * outputs as u64)
}
