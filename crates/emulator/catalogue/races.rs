//! Conflicting accesses that nothing orders. With `right`, the kernel orders them.

use crate::Args;
use crate::case::cases;
use cuda_std::{Ordering, fence, kernel, thread, warp};

kernel! {
    /// Reads an element that another thread wrote, without a barrier.
    pub fn missing_barrier<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        tile.set(t, args.input.get(t.into())); // planted
        if args.right != 0 {
            thread::sync_threads();
        }
        args.output.set(t.into(), tile.get(63 - t)); // planted
    }
}

kernel! {
    /// Overwrites elements that other threads are still reading: the loop's second barrier is missing.
    pub fn missing_second_barrier<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        let mut sum = 0;
        for k in 0..4 {
            tile.set(t, t + k); // planted
            thread::sync_threads();
            sum += tile.get((t + 32) % 64); // planted
            if args.right != 0 {
                thread::sync_threads();
            }
        }
        args.output.set(t.into(), sum);
    }
}

kernel! {
    /// Two alternating buffers. The kernel reads the wrong one.
    pub fn wrong_buffer<'l>(arena, args: Args<'l>) {
        let (tiles, _) = arena.split::<u32>(128);
        let t = thread::thread_idx_x();
        tiles.set(t, t);
        thread::sync_threads();
        for k in 0..3 {
            let (from, to) = (k % 2 * 64, (k + 1) % 2 * 64);
            let tile = if args.right != 0 { from } else { to * u32::from(k > 0) };
            let neighbour = tiles.get(tile + (t + 33) % 64); // planted
            tiles.set(to + t, neighbour + 1); // planted
            thread::sync_threads();
        }
        args.output.set(t.into(), tiles.get(64 + t));
    }
}

kernel! {
    /// A histogram whose threads add to the same bins without atomic operations.
    pub fn racing_merge<'l>(arena, args: Args<'l>) {
        let (bins, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        bins.set(t, 0);
        thread::sync_threads();
        if args.right != 0 {
            bins.fetch_add(t % 8, 1, Ordering::Relaxed);
        } else {
            bins.set(t % 8, bins.get(t % 8) + 1); // planted
        }
        thread::sync_threads();
        args.output.set(t.into(), bins.get(t));
    }
}

kernel! {
    /// Threads add to bins while others set them to zero.
    pub fn atomic_before_zero<'l>(arena, args: Args<'l>) {
        let (bins, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        bins.set(t, 0); // planted
        if args.right != 0 {
            thread::sync_threads();
        } else {
            warp::sync_warp(warp::FULL);
        }
        bins.fetch_add(63 - t, 1, Ordering::Relaxed); // planted
        thread::sync_threads();
        args.output.set(t.into(), bins.get(t));
    }
}

kernel! {
    /// A sum over a warp that assumes that lanes run in lockstep.
    pub fn lanes_in_step<'l>(arena, args: Args<'l>) {
        let (sums, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        sums.set(t, args.input.get(t.into()));
        sums.set(t + 32, 0);
        warp::sync_warp(warp::FULL);
        for distance in [16, 8, 4, 2, 1] {
            let sum = sums.get(t) + sums.get(t + distance); // planted
            if args.right != 0 {
                warp::sync_warp(warp::FULL);
            }
            sums.set(t, sum); // planted
            if args.right != 0 {
                warp::sync_warp(warp::FULL);
            }
        }
        args.output.set_if(t == 0, 0, sums.get(t));
    }
}

kernel! {
    /// Each half of a warp synchronises on its own, but reads elements of the other half.
    pub fn half_a_mask<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.split::<u32>(32);
        let t = thread::thread_idx_x();
        tile.set(t, t); // planted
        warp::sync_warp(if args.right != 0 { warp::FULL } else if t < 16 { 0xffff } else { 0xffff_0000 });
        args.output.set(t.into(), tile.get(31 - t)); // planted
    }
}

kernel! {
    /// Relies on a shuffle to order memory accesses.
    pub fn shuffle_orders_nothing<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.split::<u32>(32);
        let t = thread::thread_idx_x();
        tile.set(t, t); // planted
        let from = warp::shuffle_xor(warp::FULL, t, 1);
        if args.right != 0 {
            warp::sync_warp(warp::FULL);
        }
        args.output.set(t.into(), tile.get(from)); // planted
    }
}

kernel! {
    /// All threads set a flag to the same value.
    pub fn same_value<'l>(arena, args: Args<'l>) {
        let (flag, _) = arena.split::<u32>(1);
        let t = thread::thread_idx_x();
        if args.right == 0 || t == 5 {
            flag.set(0, 1); // planted
        }
        thread::sync_threads();
        args.output.set(t.into(), flag.get(0));
    }
}

kernel! {
    /// One thread's wide store overlaps the elements of other threads.
    pub fn wide_store<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        if args.right == 0 || t < 60 {
            tile.set(t, t); // planted
        }
        if t == 7 {
            tile.set_pack(60, [1, 2, 3, 4]); // planted
        }
        thread::sync_threads();
        args.output.set(t.into(), tile.get(t));
    }
}

kernel! {
    /// Stores to adjacent bytes do not race, stores to the same byte do.
    pub fn same_byte<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.split::<u8>(64);
        let t = thread::thread_idx_x();
        tile.set(if args.right != 0 { t } else { t / 2 }, 1); // planted
        thread::sync_threads();
        args.output.set(t.into(), tile.get(if args.right != 0 { t } else { t / 2 }).into());
    }
}

kernel! {
    /// Reads an element of global memory that another thread of the block wrote, without a barrier.
    pub fn global_neighbour<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        args.output.set(t.into(), t); // planted
        if args.right != 0 {
            thread::sync_threads();
        }
        let neighbour = args.output.get(u64::from(63 - t)); // planted
        args.zeros.set(t.into(), neighbour);
    }
}

kernel! {
    /// Blocks also write their halo, which belongs to their neighbours.
    pub fn written_halo<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let i = thread::global_x();
        args.output.set(i, 1); // planted
        args.output.set_if(args.right == 0 && t == 31, i + 1, 2); // planted
    }
}

kernel! {
    /// A filter in place: blocks read elements that their neighbours overwrite.
    pub fn in_place<'l>(_arena, args: Args<'l>) {
        let i = thread::global_x();
        let next = if args.right != 0 { args.input.get_or(i + 1, 0) } else { args.zeros.get_or(i + 1, 0) }; // planted
        thread::sync_threads();
        args.zeros.set(i, next + 1); // planted
    }
}

kernel! {
    /// The last block to finish adds up the numbers of all blocks, which store them without a fence.
    pub fn last_block<'l>(_arena, args: Args<'l>) {
        let (t, block) = (thread::thread_idx_x(), thread::block_idx_x());
        if t != 0 {
            return;
        }
        args.output.set(block.into(), block + 1); // planted
        if args.right != 0 {
            fence::fence_device();
        }
        let finished = args.zeros.fetch_add(0, 1, Ordering::Relaxed);
        if finished + 1 == thread::grid_dim_x() {
            fence::fence_device();
            let sum = (0..thread::grid_dim_x()).map(|block| args.output.get(block.into())).sum(); // planted
            args.output.set(100, sum);
        }
    }
}

kernel! {
    /// A block passes a number to another block, with a fence for the block only.
    pub fn fence_too_narrow<'l>(_arena, args: Args<'l>) {
        if args.zeros.fetch_add(0, 1, Ordering::Relaxed) == 0 {
            args.output.set(0, 42); // planted
            if args.right != 0 { fence::fence_device() } else { fence::fence_block() }
            args.zeros.fetch_add(1, 1, Ordering::Relaxed);
        } else {
            while args.zeros.fetch_add(1, 0, Ordering::Relaxed) == 0 {}
            fence::fence_device();
            args.zeros.set(2, args.output.get(0)); // planted
        }
    }
}

kernel! {
    /// A thread passes a number to another thread. The reader has no fence.
    pub fn fence_on_one_side<'l>(arena, args: Args<'l>) {
        let (shared, _) = arena.split::<u32>(2);
        let t = thread::thread_idx_x();
        shared.set(t, 0);
        thread::sync_threads();
        if t == 0 {
            shared.set(0, 42); // planted
            fence::fence_block();
            shared.exchange(1, 1, Ordering::Relaxed);
        } else {
            while shared.fetch_add(1, 0, Ordering::Relaxed) == 0 {}
            if args.right != 0 {
                fence::fence_block();
            }
            args.output.set(0, shared.get(0)); // planted
        }
    }
}

kernel! {
    /// A lock whose operations are atomic but order nothing.
    pub fn relaxed_lock<'l>(arena, args: Args<'l>) {
        let (shared, _) = arena.split::<u32>(2);
        let t = thread::thread_idx_x();
        if t < 2 {
            shared.set(t, 0);
        }
        thread::sync_threads();
        let ordering = if args.right != 0 { Ordering::SeqCst } else { Ordering::Relaxed };
        while shared.compare_exchange(0, 0, 1, ordering) != 0 {}
        shared.set(1, shared.get(1) + 1); // planted
        shared.exchange(0, 0, ordering);
        thread::sync_threads();
        args.output.set(t.into(), shared.get(1));
    }
}

kernel! {
    /// Waits for a flag with plain loads.
    pub fn plain_flag<'l>(arena, args: Args<'l>) {
        let (shared, _) = arena.split::<u32>(2);
        let t = thread::thread_idx_x();
        if t < 2 {
            shared.set(t, 0);
        }
        thread::sync_threads();
        if t == 0 {
            shared.exchange(1, 1, Ordering::SeqCst); // planted
        } else if t == 32 && args.right == 0 {
            while shared.get(1) == 0 {} // planted
        } else if t == 32 {
            while shared.fetch_add(1, 0, Ordering::SeqCst) == 0 {}
        }
        thread::sync_threads();
        args.output.set(t.into(), shared.get(1));
    }
}

kernel! {
    /// All threads of a block have a fence before the barrier. Then one of them sets the flag, without a fence of its own. Its
    /// fence before the barrier does not release what the other threads have stored.
    pub fn fence_before_the_barrier<'l>(arena, args: Args<'l>) {
        let (ticket, _) = arena.split::<u32>(1);
        let t = thread::thread_idx_x();
        if t == 0 {
            ticket.set(0, args.zeros.fetch_add(0, 1, Ordering::Relaxed));
        }
        thread::sync_threads();
        if ticket.get(0) == 0 {
            args.output.set(t.into(), t); // planted
            fence::fence_device();
            thread::sync_threads();
            if t == 0 {
                if args.right != 0 {
                    fence::fence_device();
                }
                args.zeros.exchange(1, 1, Ordering::Relaxed);
            }
        } else {
            if t == 0 {
                while args.zeros.fetch_add(1, 0, Ordering::Relaxed) == 0 {}
                fence::fence_device();
            }
            thread::sync_threads();
            args.result.set(t.into(), args.output.get((63 - t).into())); // planted
        }
    }
}

cases! {
    missing_barrier: 1 of 64, Race + Uninitialised, "data race: load of element";
    missing_second_barrier: 1 of 64, Race, "unordered with the load of thread";
    wrong_buffer: 1 of 64, Race, "on shared memory";
    racing_merge: 1 of 64, Race, "unordered with the store of thread";
    atomic_before_zero: 1 of 64, Race + Uninitialised, "data race: ";
    lanes_in_step: 1 of 32, Race, "on shared memory";
    half_a_mask: 1 of 32, Race + Uninitialised, "data race: load";
    shuffle_orders_nothing: 1 of 32, Race, "data race: load";
    same_value: 1 of 64, Race, "data race: store of element 0";
    wide_store: 1 of 64, Race, "data race: store";
    same_byte: 1 of 64, Race, "data race: store";
    global_neighbour: 1 of 64, Race + Uninitialised, "on global memory";
    written_halo: 4 of 32, Race, "on global memory";
    in_place: 4 of 32, Race, "on global memory";
    last_block: 5 of 32, Race, "data race: load";
    fence_too_narrow: 2 of 1, Race, "data race: load of element 0";
    fence_on_one_side: 1 of 2, Race, "data race: load of element 0";
    relaxed_lock: 1 of 64, Race, "element 1 of a window of 2 on shared memory";
    plain_flag: 1 of 64, Race, "data race: ";
    fence_before_the_barrier: 2 of 64, Race, "data race: load of element";
}
