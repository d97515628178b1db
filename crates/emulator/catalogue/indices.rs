//! Where an index into shared memory leads that is far beyond its window: the device does not check it.

use crate::Args;
use cuda_std::{Ordering, kernel, thread};

/// Elements of the window, which is all of the block's shared memory.
pub const WINDOW: u32 = 1024;

/// What the first thread of the first block does at the index.
pub const ACTIONS: [&str; 3] = ["load", "store", "add"];

/// What the first thread stores or adds.
pub const STORED: u32 = 0xdead_beef;

kernel! {
    /// Blocks of 256 threads. The first thread of the first block makes the access, at the index that is element 0 of the input
    /// and in the way that is element 1. Elements of the output: 0 receives what was loaded, 1 counts the elements of all
    /// blocks, but for those at the index in the first one's window, that are not what their block has stored.
    pub fn beyond_the_window(arena, args: Args) {
        let (tile, _) = arena.split::<u32>(WINDOW);
        let (t, block) = (thread::thread_idx_x(), thread::block_idx_x());
        for k in 0..4 {
            tile.set(t + 256 * k, block + 256 * k);
        }
        thread::sync_threads();
        let [index, action] = [args.input.get(0), args.input.get(1)];
        if block == 0 && t == 0 {
            match action {
                0 => args.output.set(0, tile.get(index)),
                1 => tile.set(index, STORED),
                _ => args.output.set(0, tile.fetch_add(index, STORED, Ordering::Relaxed)),
            }
        }
        // Long enough for the other blocks to be there.
        for _ in 0..100 {
            thread::sync_threads();
        }
        for k in 0..4 {
            let i = t + 256 * k;
            // The address is computed with 32 bits.
            let is_the_index = block == 0 && index.wrapping_sub(i).is_multiple_of(1 << 30);
            if tile.get(i) != block + 256 * k && !is_the_index {
                args.output.fetch_add(1, 1, Ordering::Relaxed);
            }
        }
    }
}
