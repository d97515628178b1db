//! Ends of blocks and threads: blocks that end while their copies are in progress, and recursion beyond the end of the stack.

use crate::Args;
use cuda_std::{GlobalInOut, Ordering, kernel, thread};

/// Elements of a block's shared memory.
pub const TILE: u32 = 1024;

/// Threads of a block.
pub const THREADS: u32 = 256;

kernel! {
    /// Each block with an even index copies `TILE` elements of the input and ends at once. The others store their index in
    /// their whole tile, wait, and check that it is unchanged. Element 0 of the output counts changed elements.
    pub fn copies_under_way<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.array::<u32, { TILE as usize }>();
        let (t, block) = (thread::thread_idx_x(), thread::block_idx_x());
        if block % 2 == 0 {
            let from = u64::from(block) * u64::from(TILE) + u64::from(4 * t);
            args.input.copy_async::<4>(from % args.input.len().max(1), &tile, 4 * t);
        } else {
            look_after(&args.output, |k| tile.set(t + THREADS * k, block), |k| tile.get(t + THREADS * k) == block);
        }
    }
}

kernel! {
    /// Threads with an odd index recurse to the depth in element 0 of the input, the others to depth 1. Each thread also has
    /// an array, and checks that it is unchanged. Element `i` of the result receives the number that thread `i` of the first
    /// block computed. Element 0 of the output counts changed elements.
    pub fn recursion<'l>(_arena, args: Args<'l>) {
        let (t, block) = (thread::thread_idx_x(), thread::block_idx_x());
        let depth = if t % 2 == 1 { args.input.get(0) } else { 1 };
        let numbers = core::cell::Cell::new([0u32; 4]);
        let place = |k: u32| ((k + args.right) % 4) as usize;
        let set = |k: u32| {
            let mut all = numbers.get();
            all[place(k)] = t + k;
            numbers.set(all);
        };
        look_after(&args.output, set, |k| numbers.get()[place(k)] == t + k);
        let result = descend(depth, t);
        look_after(&args.output, |_| (), |k| numbers.get()[place(k)] == t + k);
        if block == 0 {
            args.result.set(t.into(), result);
        }
    }
}

/// Sets four elements, waits, and counts those for which `same` does not hold.
#[inline(always)]
fn look_after(changed: &GlobalInOut<u32>, set: impl Fn(u32), same: impl Fn(u32) -> bool) {
    for k in 0..4 {
        set(k);
    }
    for _ in 0..100 {
        thread::sync_threads();
    }
    for k in 0..4 {
        if !same(k) {
            changed.fetch_add(0, 1, Ordering::Relaxed);
        }
    }
}

/// Returns a number that takes `depth` recursive calls, each with an array that is used after the inner call.
#[inline(never)]
pub fn descend(depth: u32, number: u32) -> u32 {
    if depth == 0 {
        return number;
    }
    let mut numbers = [depth; 16];
    numbers[(number % 16) as usize] = number;
    let below = descend(depth - 1, number.wrapping_mul(31).wrapping_add(depth));
    below.wrapping_add(numbers[(below % 16) as usize])
}
