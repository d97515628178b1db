//! Bugs between blocks that run at the same time, or in an unexpected order. With `right`, the kernel is
//! correct.

use crate::Args;
use crate::case::cases;
use cuda_std::{Ordering, fence, kernel, thread};

kernel! {
    /// A thread that finds the lock taken continues without it.
    pub fn try_lock_fallback<'l>(_arena, args: Args<'l>) {
        for _ in 0..8 {
            let mut locked = args.zeros.compare_exchange(0, 0, 1, Ordering::SeqCst) == 0;
            while args.right != 0 && !locked {
                locked = args.zeros.compare_exchange(0, 0, 1, Ordering::SeqCst) == 0;
            }
            args.zeros.set(1, args.zeros.get(1) + 1); // planted
            if locked {
                args.zeros.exchange(0, 0, Ordering::SeqCst);
            }
        }
    }
}

kernel! {
    /// A thread that finds the lock taken skips its work.
    pub fn try_lock_drops_work<'l>(_arena, args: Args<'l>) {
        for k in 0..4 {
            let mut locked = args.zeros.compare_exchange(0, 0, 1, Ordering::SeqCst) == 0;
            while args.right != 0 && !locked {
                locked = args.zeros.compare_exchange(0, 0, 1, Ordering::SeqCst) == 0;
            }
            args.result.set_if(locked, 4 * thread::global_x() + k, 1); // planted
            if locked {
                args.zeros.exchange(0, 0, Ordering::SeqCst);
            }
        }
    }
}

kernel! {
    /// Passes a number to other blocks by a flag. The writer has no fence.
    pub fn flag_without_release<'l>(_arena, args: Args<'l>) {
        let ticket = args.zeros.fetch_add(0, 1, Ordering::Relaxed);
        if ticket == 0 {
            args.output.set(0, 42); // planted
            if args.right != 0 {
                fence::fence_device();
            }
            args.zeros.exchange(1, 1, Ordering::Relaxed);
        } else {
            while args.zeros.fetch_add(1, 0, Ordering::Relaxed) == 0 {}
            fence::fence_device();
            args.output.set(ticket.into(), args.output.get(0)); // planted
        }
    }
}

kernel! {
    /// The same, but the readers have fences for their block only.
    pub fn flag_acquired_for_the_block<'l>(_arena, args: Args<'l>) {
        let ticket = args.zeros.fetch_add(0, 1, Ordering::Relaxed);
        if ticket == 0 {
            args.output.set(0, 42); // planted
            fence::fence_device();
            args.zeros.exchange(1, 1, Ordering::Relaxed);
        } else {
            while args.zeros.fetch_add(1, 0, Ordering::Relaxed) == 0 {}
            if args.right != 0 { fence::fence_device() } else { fence::fence_block() }
            args.output.set(ticket.into(), args.output.get(0)); // planted
        }
    }
}

kernel! {
    /// Other blocks wait for a flag with plain loads.
    pub fn flag_waited_for_by_loads<'l>(_arena, args: Args<'l>) {
        let ticket = args.zeros.fetch_add(0, 1, Ordering::Relaxed);
        if ticket == 0 {
            args.zeros.exchange(1, 1, Ordering::SeqCst); // planted
        } else if args.right != 0 {
            while args.zeros.fetch_add(1, 0, Ordering::SeqCst) == 0 {}
        } else {
            while args.zeros.get(1) == 0 {} // planted
        }
    }
}

kernel! {
    /// Sets a flag before the second of two numbers is stored.
    pub fn flag_before_the_last_store<'l>(_arena, args: Args<'l>) {
        let ticket = args.zeros.fetch_add(0, 1, Ordering::Relaxed);
        if ticket == 0 {
            if args.right != 0 {
                args.output.set(1, 43);
            }
            args.output.set(0, 42);
            args.zeros.exchange(1, 1, Ordering::SeqCst);
            if args.right == 0 {
                args.output.set(1, 43); // planted
            }
        } else {
            while args.zeros.fetch_add(1, 0, Ordering::SeqCst) == 0 {}
            let sum = args.output.get(0).wrapping_add(args.output.get(1)); // planted
            args.output.set(u64::from(ticket) + 1, sum);
        }
    }
}

kernel! {
    /// Prefix sums over the blocks. A block waits for the previous one, but loads its sum without a fence.
    pub fn look_back_without_acquire<'l>(_arena, args: Args<'l>) {
        let ticket = u64::from(args.zeros.fetch_add(0, 1, Ordering::Relaxed));
        let mut sum = 0;
        if ticket > 0 {
            while args.zeros.fetch_add(ticket, 0, Ordering::Relaxed) == 0 {}
            if args.right != 0 {
                fence::fence_device();
            }
            sum = args.output.get(ticket - 1); // planted
        }
        args.output.set(ticket, sum + 1); // planted
        fence::fence_device();
        args.zeros.exchange(ticket + 1, 1, Ordering::Relaxed);
    }
}

kernel! {
    /// The same, but each block waits for the block with the previous index, which need not have begun.
    pub fn look_back_by_index<'l>(_arena, args: Args<'l>) {
        let ticket = args.zeros.fetch_add(0, 1, Ordering::Relaxed);
        let place = u64::from(if args.right != 0 { ticket } else { thread::block_idx_x() });
        if place > 0 {
            while args.zeros.fetch_add(place, 0, Ordering::SeqCst) == 0 {} // planted
        }
        args.zeros.exchange(place + 1, 1, Ordering::SeqCst);
    }
}

kernel! {
    /// All blocks wait for block 0, wherever it is in the order.
    pub fn wait_for_the_first_block<'l>(_arena, args: Args<'l>) {
        let first = if args.right != 0 { args.zeros.fetch_add(0, 1, Ordering::Relaxed) } else { thread::block_idx_x() };
        if first == 0 {
            args.zeros.exchange(1, 1, Ordering::SeqCst);
        }
        while args.zeros.fetch_add(1, 0, Ordering::SeqCst) == 0 {} // planted
    }
}

kernel! {
    /// The last block loads the elements that all threads of all blocks have written. One thread reports its block as done
    /// before the other threads of the block have written.
    pub fn done_before_all_threads<'l>(arena, args: Args<'l>) {
        let (is_last, _) = arena.split::<u32>(1);
        let t = thread::thread_idx_x();
        args.output.set(thread::global_x(), 1); // planted
        if args.right != 0 {
            thread::sync_threads();
        }
        if t == 0 {
            fence::fence_device();
            let done = args.zeros.fetch_add(0, 1, Ordering::Relaxed);
            fence::fence_device();
            is_last.set(0, u32::from(done + 1 == thread::grid_dim_x()));
        }
        thread::sync_threads();
        if is_last.get(0) != 0 {
            let block = u64::from(thread::block_dim_x());
            for k in 0..u64::from(thread::grid_dim_x()) {
                args.zeros.set(u64::from(t) + 64, args.output.get(k * block + (u64::from(t) + 1) % block)); // planted
            }
        }
    }
}

kernel! {
    /// Blocks take their work from a queue whose head is read and written without atomic operations.
    pub fn queue_without_atomics<'l>(_arena, args: Args<'l>) {
        for _ in 0..4 {
            if args.right != 0 {
                args.zeros.fetch_add(0, 1, Ordering::Relaxed);
            } else {
                let next = args.zeros.get(0); // planted
                args.zeros.set(0, next + 1); // planted
            }
        }
    }
}

kernel! {
    /// A lock between blocks, with fences for the block only.
    pub fn lock_for_the_block<'l>(_arena, args: Args<'l>) {
        let fence = || if args.right != 0 { fence::fence_device() } else { fence::fence_block() };
        while args.zeros.compare_exchange(0, 0, 1, Ordering::Relaxed) != 0 {}
        fence();
        args.zeros.set(1, args.zeros.get(1) + 1); // planted
        fence();
        args.zeros.exchange(0, 0, Ordering::Relaxed);
    }
}

kernel! {
    /// Releases the lock before the sum is stored.
    pub fn unlocked_too_early<'l>(_arena, args: Args<'l>) {
        while args.zeros.compare_exchange(0, 0, 1, Ordering::SeqCst) != 0 {}
        let sum = args.zeros.get(1); // planted
        if args.right == 0 {
            args.zeros.exchange(0, 0, Ordering::SeqCst);
        }
        args.zeros.set(1, sum + 1); // planted
        if args.right != 0 {
            args.zeros.exchange(0, 0, Ordering::SeqCst);
        }
    }
}

kernel! {
    /// Two locks protect the same sum.
    pub fn two_locks_for_one_sum<'l>(_arena, args: Args<'l>) {
        let lock = u64::from(if args.right != 0 { 0 } else { thread::block_idx_x() % 2 });
        while args.zeros.compare_exchange(lock, 0, 1, Ordering::SeqCst) != 0 {}
        args.zeros.set(2, args.zeros.get(2) + 1); // planted
        args.zeros.exchange(lock, 0, Ordering::SeqCst);
    }
}

cases! {
    try_lock_fallback: 16 of 1, Race, "on global memory";
    try_lock_drops_work: 64 of 1, Unwritten, "which the masked store at ";
    flag_without_release: 6 of 1, Race, "data race: load of element 0";
    flag_acquired_for_the_block: 6 of 1, Race, "data race: load of element 0";
    flag_waited_for_by_loads: 6 of 1, Race, "data race: ";
    flag_before_the_last_store: 6 of 1, Race + Uninitialised, "data race: ";
    look_back_without_acquire: 20 of 1, Race, "data race: load of element";
    look_back_by_index: 32 of 1, Endless, "a block may wait only for blocks that have begun";
    wait_for_the_first_block: 250 of 1, Endless, "a block may wait only for blocks that have begun";
    done_before_all_threads: 4 of 32, Race + Uninitialised, "data race: load of element";
    queue_without_atomics: 8 of 1, Race, "element 0 of a window of 256 on global memory";
    lock_for_the_block: 8 of 1, Race, "element 1 of a window of 256 on global memory";
    unlocked_too_early: 8 of 1, Race, "element 1 of a window of 256 on global memory";
    two_locks_for_one_sum: 8 of 1, Race, "element 2 of a window of 256 on global memory";
}
