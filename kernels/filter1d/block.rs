//! What a block works on, and the taps in its shared memory.

use super::Args;
use crate::signal::Types;
use cuda_std::{Shared, thread};

/// The taps in shared memory, and zeros in what is left of the last pack; all threads of the block take part.
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

/// Returns the line and the tile of a block: `(first line, first output)`, for blocks that take `lines` lines and
/// `outputs` outputs of each.
#[inline(always)]
pub(super) fn tile_of_block<F: Types>(args: &Args<F>, lines: u32, outputs: u32) -> (u64, u64) {
    let block = thread::block_idx_x();
    let (group, tile) = (block / args.tiles, block % args.tiles);
    (group as u64 * lines as u64, tile as u64 * outputs as u64)
}
