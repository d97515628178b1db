//! Accesses to shared memory at indices far beyond the window, which the device does not check.

use crate::Args;
use cuda_std::{Ordering, kernel, thread};

/// Elements of the window, which has all of the block's shared memory.
pub const WINDOW: u32 = 1024;

/// Actions of the first thread of the first block at the index.
pub const ACTIONS: [&str; 3] = ["load", "store", "add"];

/// The number that it stores or adds.
pub const STORED: u32 = 0xdead_beef;

kernel! {
    /// A block has 256 threads. Thread 0 of block 0 makes the access: element 0 of the input is the index, element 1 the
    /// action. Element 0 of the output receives the loaded value. Element 1 counts the elements of all blocks that differ
    /// from what their block has stored, except those at the index in the window of block 0.
    pub fn beyond_the_window<'l>(arena, args: Args<'l>) {
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
        // Long enough for other blocks to begin.
        for _ in 0..100 {
            thread::sync_threads();
        }
        for k in 0..4 {
            let i = t + 256 * k;
            // Addresses have 32 bits, so such elements are the accessed one.
            let is_the_index = block == 0 && index.wrapping_sub(i).is_multiple_of(1 << 30);
            if tile.get(i) != block + 256 * k && !is_the_index {
                args.output.fetch_add(1, 1, Ordering::Relaxed);
            }
        }
    }
}
