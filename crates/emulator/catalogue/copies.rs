//! Asynchronous copies without a correct wait. With `right`, the kernel is correct.

use crate::Args;
use crate::case::cases;
use cuda_std::{copy, kernel, thread};

kernel! {
    /// Reads its own element before it has waited for the copy.
    pub fn no_wait<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.array::<u32, 64>();
        let t = thread::thread_idx_x();
        args.input.copy_async::<1>(t.into(), &tile, t); // planted
        copy::commit();
        if args.right != 0 {
            copy::wait_group::<0>();
        }
        args.output.set(t.into(), tile.get(t)); // planted
    }
}

kernel! {
    /// A barrier instead of a wait: it orders the threads' accesses, but not their copies.
    pub fn barrier_for_a_wait<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.array::<u32, 64>();
        let t = thread::thread_idx_x();
        args.input.copy_async::<1>(t.into(), &tile, t); // planted
        if args.right != 0 {
            copy::wait_all();
        }
        thread::sync_threads();
        args.output.set(t.into(), tile.get(63 - t)); // planted
    }
}

kernel! {
    /// Copies that were not committed belong to no group, so the wait does not include them.
    pub fn not_committed<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.array::<u32, 64>();
        let t = thread::thread_idx_x();
        args.input.copy_async::<1>(t.into(), &tile, t); // planted
        if args.right != 0 {
            copy::commit();
        }
        copy::wait_group::<0>();
        thread::sync_threads();
        args.output.set(t.into(), tile.get(63 - t)); // planted
    }
}

kernel! {
    /// Two alternating tiles. The kernel reads the one that is still being copied.
    pub fn wrong_group<'l>(arena, args: Args<'l>) {
        let (tiles, _) = arena.array::<u32, 128>();
        let t = thread::thread_idx_x();
        args.input.copy_async::<1>(t.into(), &tiles, t);
        copy::commit();
        args.input.copy_async::<1>(u64::from(64 + t), &tiles, 64 + t); // planted
        copy::commit();
        copy::wait_group::<1>();
        thread::sync_threads();
        let first = tiles.get(if args.right != 0 { 63 - t } else { 127 - t }); // planted
        copy::wait_group::<0>();
        thread::sync_threads();
        args.output.set(t.into(), first.wrapping_add(tiles.get(64 + t)));
    }
}

kernel! {
    /// Each thread has waited for its own copies, but not for other threads' copies.
    pub fn no_barrier_after_the_wait<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.array::<u32, 64>();
        let t = thread::thread_idx_x();
        tile.set(t, 0);
        thread::sync_threads();
        args.input.copy_async::<1>(t.into(), &tile, t); // planted
        copy::commit();
        copy::wait_group::<0>();
        if args.right != 0 {
            thread::sync_threads();
        }
        args.output.set(t.into(), tile.get(63 - t)); // planted
    }
}

kernel! {
    /// Overwrites an element that a copy may still write.
    pub fn overwritten_target<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.array::<u32, 256>();
        let t = thread::thread_idx_x();
        args.input.copy_async::<4>(u64::from(4 * t), &tile, 4 * t); // planted
        copy::commit();
        if args.right != 0 {
            copy::wait_group::<0>();
        }
        tile.set(4 * t, t); // planted
        copy::wait_group::<0>();
        thread::sync_threads();
        args.output.set(t.into(), tile.get(4 * (63 - t)));
    }
}

kernel! {
    /// Overwrites an element that a copy may still read.
    pub fn overwritten_source<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.array::<u32, 64>();
        let t = thread::thread_idx_x();
        args.zeros.copy_async::<1>(t.into(), &tile, t); // planted
        copy::commit();
        if args.right != 0 {
            copy::wait_group::<0>();
        }
        args.zeros.set(t.into(), t); // planted
        copy::wait_group::<0>();
        args.output.set(t.into(), tile.get(t));
    }
}

kernel! {
    /// Copies of the next iteration overwrite elements that other threads are still reading.
    pub fn copied_too_early<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.array::<u32, 64>();
        let t = thread::thread_idx_x();
        let mut sum = 0;
        for turn in 0..4 {
            args.input.copy_async::<1>(u64::from(64 * turn + t), &tile, t); // planted
            copy::commit();
            copy::wait_group::<0>();
            thread::sync_threads();
            sum += tile.get(63 - t); // planted
            if args.right != 0 {
                thread::sync_threads();
            }
        }
        args.output.set(t.into(), sum);
    }
}

kernel! {
    /// The last copy exceeds the window.
    pub fn copied_beyond<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.array::<u32, 128>();
        let t = thread::thread_idx_x();
        let part = args.input.at(0).first(if args.right != 0 { 128 } else { 126 });
        part.copy_async::<4>(4 * t, &tile, 4 * t); // planted
        copy::wait_all();
        args.output.set(t.into(), tile.get(4 * t));
    }
}

cases! {
    no_wait: 1 of 64, Copy, "copy under way: load of element";
    barrier_for_a_wait: 1 of 64, Copy, "has not waited for its asynchronous copy from";
    not_committed: 1 of 64, Copy, "copy under way: load of element";
    wrong_group: 1 of 64, Copy + Race, "of a window of 128 on shared memory";
    no_barrier_after_the_wait: 1 of 64, Race + Copy, "data race: load of element";
    overwritten_target: 1 of 64, Copy, "copy under way: store of element";
    overwritten_source: 1 of 64, Copy, "of a window of 256 on global memory";
    copied_too_early: 1 of 64, Race + Copy, "on shared memory";
    copied_beyond: 1 of 32, OutOfRange, "load of 4 from element 124 of a window of 126", bypassed;
}
