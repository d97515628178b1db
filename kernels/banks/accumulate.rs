//! The loop with which textbooks demonstrate bank conflicts.

use super::AccumulateArgs;
use cuda_std::{Arena, thread};

/// Runs the loop in one warp. In iteration `i`, lane `k` adds `i * factor` to word `stride * k` of shared memory and waits
/// at a barrier. The first lane records the clock before and after the loop.
///
/// Shared memory: one word per lane, `stride` words apart. Bank conflicts are intended.
#[inline(always)]
pub(super) fn accumulate(arena: Arena, args: &AccumulateArgs) {
    let t = thread::thread_idx_x();
    let place = args.stride * t;
    let (words, _) = arena.split::<u32>(args.stride * (thread::block_dim_x() - 1) + 1);
    words.set(place, 0);
    thread::sync_threads();
    let begin = thread::clock();
    let mut i = 0;
    while i < args.iterations {
        words.set(place, words.get(place).wrapping_add(args.factor.wrapping_mul(i)));
        thread::sync_threads();
        i += 1;
    }
    let end = thread::clock();
    if t == 0 {
        args.times.set(0, begin);
        args.times.set(1, end);
    }
    args.sums.set(t.into(), words.get(place));
}
