//! Threads that split shared memory differently, loads of stale shared memory after reuse, and atomic operations of
//! different sizes on the same bytes. With `right`, the kernel is correct.

use crate::Args;
use crate::case::cases;
use cuda_std::{Arena, Ordering, Shared, kernel, thread};

kernel! {
    /// Loads the elements of a window after its memory has been reused.
    pub fn stale_after_reuse<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        tile.set(t, t);
        let (tile, _) = tile.reuse().split::<u32>(64);
        if args.right != 0 {
            tile.set(t, t);
        }
        args.output.set(t.into(), tile.get(t)); // planted
    }
}

kernel! {
    /// The second tile lacks its halo, in memory where the first tile had numbers.
    pub fn halo_of_the_tile_before<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.split::<u32>(68);
        let t = thread::thread_idx_x();
        tile.set(t, t);
        if t < 4 {
            tile.set(64 + t, 0);
        }
        let (tile, _) = tile.reuse().split::<u32>(68);
        tile.set(t, 2 * t);
        if args.right != 0 && t < 4 {
            tile.set(64 + t, 0);
        }
        thread::sync_threads();
        args.output.set(t.into(), tile.get(t + 4)); // planted
    }
}

kernel! {
    /// Adds to sums that an earlier window left in the memory.
    pub fn sums_not_zeroed_again<'l>(arena, args: Args<'l>) {
        let (sums, _) = arena.split::<u32>(16);
        let t = thread::thread_idx_x();
        if t < 16 {
            sums.set(t, 0);
        }
        let (sums, _) = sums.reuse().split::<u32>(16);
        if args.right != 0 && t < 16 {
            sums.set(t, 0);
        }
        thread::sync_threads();
        sums.fetch_add(t % 16, t, Ordering::Relaxed); // planted
    }
}

kernel! {
    /// 64 words reuse the memory of 256 bytes, but only a quarter of the words is written.
    pub fn words_in_place_of_bytes<'l>(arena, args: Args<'l>) {
        let (bytes, _) = arena.split::<u8>(256);
        let t = thread::thread_idx_x();
        for k in 0..4 {
            bytes.set(t + 64 * k, 1);
        }
        let (words, _) = bytes.reuse().split::<u32>(64);
        if args.right != 0 || t < 16 {
            words.set(t, t);
        }
        thread::sync_threads();
        args.output.set(t.into(), words.get(63 - t)); // planted
    }
}

kernel! {
    /// The halves of the block split windows of different sizes.
    pub fn split_of_another_size<'l>(arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let (tile, _) = arena.split::<u32>(if args.right != 0 || t < 32 { 64 } else { 128 }); // planted
        tile.set(t, t);
        args.output.set(t.into(), tile.get(t));
    }
}

kernel! {
    /// The halves of the block split windows of different element types.
    pub fn split_of_another_type<'l>(arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        if args.right == 0 && t >= 32 {
            let (tile, _) = arena.split::<u64>(64); // planted
            args.output.set(t.into(), tile.len());
        } else {
            let (tile, _) = arena.split::<u32>(64); // planted
            args.output.set(t.into(), tile.len());
        }
    }
}

kernel! {
    /// Some threads split two windows in another order.
    pub fn split_in_another_order<'l>(arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let small_first = args.right != 0 || t < 32;
        let (a, rest) = arena.split::<u32>(if small_first { 16 } else { 64 }); // planted
        let (b, _) = rest.split::<u32>(if small_first { 64 } else { 16 }); // planted
        args.output.set(t.into(), a.len() + b.len());
    }
}

kernel! {
    /// Some threads first split a window that only they use, and then the window that all use.
    pub fn split_by_some_first<'l>(arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let mut rest = arena;
        if args.right != 0 || t == 0 {
            (_, rest) = rest.split::<u32>(4); // planted
        }
        let (tile, _) = rest.split::<u32>(64); // planted
        args.output.set(t.into(), tile.len());
    }
}

kernel! {
    /// The first splits of all threads are equal, but the split after `reuse` is not.
    pub fn split_of_reused_memory<'l>(arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let (tile, _) = arena.split::<u32>(64);
        tile.set(t, t);
        let parts = if args.right != 0 { 2 } else { 1 + t / 32 };
        let (part, _) = tile.reuse().split::<u32>(64 / parts); // planted
        args.output.set(t.into(), part.len());
    }
}

/// The first window of the block: as `u64` for some threads, as `u32` for the others.
enum Counters<'l> {
    Wide(Shared<'l, u64>),
    Narrow(Shared<'l, u32>),
}

impl<'l> Counters<'l> {
    #[inline(always)]
    fn split(arena: Arena<'l>, wide: bool) -> Self {
        match wide {
            true => Counters::Wide(arena.split(8).0),
            false => Counters::Narrow(arena.split(16).0),
        }
    }
}

kernel! {
    /// One warp adds to counters of 64 bits, the other to counters of 32 bits.
    pub fn counters_of_two_sizes<'l>(arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let counters = Counters::split(arena, t < 32);
        if let Counters::Wide(wide) = &counters
            && t < 8
        {
            wide.set(t, 0);
        }
        thread::sync_threads();
        match counters {
            Counters::Wide(wide) => wide.add(t % 8, 1, Ordering::Relaxed), // planted
            Counters::Narrow(narrow) if args.right == 0 => narrow.add(t % 16, 1, Ordering::Relaxed), // planted
            Counters::Narrow(_) => {}
        }
    }
}

kernel! {
    /// One thread exchanges a pair of words, and another one half of it.
    pub fn half_of_a_pair_exchanged<'l>(arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let counters = Counters::split(arena, t == 0);
        if let Counters::Wide(wide) = &counters {
            wide.set(0, 0);
            wide.set(1, 0);
        }
        thread::sync_threads();
        // The upper half of the pair, or a half of the next pair.
        let half = if args.right != 0 { 2 } else { 1 };
        match counters {
            Counters::Wide(wide) => drop(wide.compare_exchange(0, 0, 1 << 32, Ordering::SeqCst)), // planted
            Counters::Narrow(narrow) if t == 40 => drop(narrow.exchange(half, 5, Ordering::SeqCst)), // planted
            Counters::Narrow(_) => {}
        }
    }
}

cases! {
    stale_after_reuse: 1 of 64, Uninitialised, "uninitialised: load of element";
    halo_of_the_tile_before: 1 of 64, Uninitialised, "of a window of 68 on shared memory";
    sums_not_zeroed_again: 1 of 64, Uninitialised, "uninitialised: atomic of element";
    words_in_place_of_bytes: 1 of 64, Uninitialised, "uninitialised: load of element";
    split_of_another_size: 1 of 64, Split, "256 bytes";
    split_of_another_type: 1 of 64, Split, "512 bytes";
    split_in_another_order: 1 of 64, Split, "64 bytes off at byte 0";
    split_by_some_first: 1 of 64, Split, "16 bytes off at byte 0";
    split_of_reused_memory: 1 of 64, Split, "all threads of a block must split alike";
    counters_of_two_sizes: 1 of 64, Race, "atomic operations of different sizes are not atomic to each other";
    half_of_a_pair_exchanged: 1 of 64, Race, "atomic operations of different sizes are not atomic to each other";
}
