//! Waits with bugs: barriers and warp operations that not all threads reach, and endless waits. With `right`, the kernel is
//! correct.

use crate::Args;
use crate::case::cases;
use cuda_std::{Ordering, kernel, thread, warp};

kernel! {
    /// A barrier that some threads skip.
    pub fn barrier_in_a_branch<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        if args.right != 0 || t < 40 {
            thread::sync_threads(); // planted
        }
        args.output.set(t.into(), t);
    }
}

kernel! {
    /// Threads without an element return before the barrier.
    pub fn early_return<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        if args.right == 0 && t >= 50 {
            return;
        }
        thread::sync_threads(); // planted
        args.output.set(t.into(), t);
    }
}

kernel! {
    /// Barriers in the two arms of a branch are different barriers.
    pub fn two_barriers<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        if args.right == 0 && t < 32 {
            args.output.set(t.into(), 1);
            thread::sync_threads(); // planted
        } else {
            args.output.set(t.into(), 2);
            thread::sync_threads(); // planted
        }
    }
}

kernel! {
    /// A loop with a barrier. Some threads execute more iterations than others.
    pub fn turns_of_a_loop<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        for _ in 0..if args.right != 0 { 3 } else { 2 + t / 32 } {
            thread::sync_threads(); // planted
        }
        args.output.set(t.into(), t);
    }
}

kernel! {
    /// `reuse` of a window is a barrier too, and one thread skips it.
    pub fn reuse_by_some<'l>(arena, args: Args<'l>) {
        let (window, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        if args.right != 0 || t != 11 {
            let (again, _) = window.reuse().split::<u32>(64); // planted
            again.set(t, t);
        }
    }
}

kernel! {
    /// A shuffle of all lanes that only half of them reach.
    pub fn shuffle_in_a_branch<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let mut sum = t;
        if args.right != 0 || t < 16 {
            sum += warp::shuffle_xor(warp::FULL, t, 1); // planted
        }
        args.output.set(t.into(), sum);
    }
}

kernel! {
    /// The full mask in a warp that has only 16 lanes.
    pub fn partial_warp<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let mask = if args.right != 0 && t >= 32 { 0xffff } else { warp::FULL };
        args.output.set(t.into(), warp::ballot(mask, true)); // planted
    }
}

kernel! {
    /// Lanes with different masks.
    pub fn different_masks<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        warp::sync_warp(if args.right != 0 || t != 3 { warp::FULL } else { 0xff }); // planted
        args.output.set(t.into(), t);
    }
}

kernel! {
    /// Some lanes wait for their warp, the others at the block's barrier.
    pub fn warp_or_block<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        if args.right == 0 && t < 8 {
            warp::sync_warp(warp::FULL); // planted
        }
        thread::sync_threads();
        args.output.set(t.into(), t);
    }
}

kernel! {
    /// A lane executes a warp operation whose mask does not contain it.
    pub fn not_in_the_mask<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let mask = if args.right != 0 { warp::FULL } else { 0xffff_fffe };
        args.output.set(t.into(), warp::reduce_add(mask, 1)); // planted
    }
}

kernel! {
    /// A shuffle within half a warp, from lanes of the other half.
    pub fn foreign_lane<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let half = if t < 16 { 0xffff } else { 0xffff_0000 };
        let distance = if args.right != 0 { 8 } else { 16 };
        args.output.set(t.into(), warp::shuffle_xor(half, t, distance)); // planted
    }
}

kernel! {
    /// The lower half of a warp adds up its numbers. The upper lanes of the half read from lanes that are not in the mask, and
    /// only the sum of lane 0 is used.
    pub fn half_a_warp_shuffles_down<'l>(_arena, args: Args<'l>) {
        let (t, half) = (thread::thread_idx_x(), 0xffff);
        if t < 16 {
            let mut sum = t;
            for n in [8, 4, 2, 1] {
                sum += if args.right != 0 { warp::shuffle_xor(half, sum, n) } else { warp::shuffle_down(half, sum, n) }; // planted
            }
            args.output.set_if(t == 0, 0, sum);
        }
    }
}

kernel! {
    /// A warp's matrix product that only half of the warp reaches.
    pub fn mma_in_a_branch<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let (a, b) = (args.input.get(t.into()), args.input.get(u64::from(t) + 128));
        let mut c = [0, 0];
        if args.right != 0 || t < 16 {
            c = warp::mma_m8n8k16_s8(a, b, c); // planted
        }
        args.output.set_pack(u64::from(2 * t), c.map(|element| element as u32));
    }
}

kernel! {
    /// A lock that its owner never releases.
    pub fn kept_lock<'l>(arena, args: Args<'l>) {
        let (lock, _) = arena.split::<u32>(1);
        let t = thread::thread_idx_x();
        if t == 0 {
            lock.set(0, 0);
        }
        thread::sync_threads();
        while lock.compare_exchange(0, 0, 1, Ordering::SeqCst) != 0 {} // planted
        args.output.set(t.into(), t);
        if args.right != 0 {
            lock.exchange(0, 0, Ordering::SeqCst);
        }
    }
}

kernel! {
    /// Blocks wait until all blocks have begun, but not all of them run at the same time.
    pub fn barrier_of_the_grid<'l>(_arena, args: Args<'l>) {
        let come = args.zeros.fetch_add(0, 1, Ordering::Relaxed) + 1;
        let all = if args.right != 0 { come } else { thread::grid_dim_x() };
        while args.zeros.fetch_add(0, 0, Ordering::Relaxed) < all {} // planted
    }
}

kernel! {
    /// An endless loop of plain loads.
    pub fn endless_loads<'l>(_arena, args: Args<'l>) {
        while args.zeros.get(7) == args.right {} // planted
    }
}

kernel! {
    /// An endless loop of barriers.
    pub fn endless_barriers<'l>(_arena, args: Args<'l>) {
        loop {
            thread::sync_threads(); // planted
            if args.right != 0 {
                break;
            }
        }
    }
}

cases! {
    barrier_in_a_branch: 1 of 64, BarrierDivergence, "24 have ended";
    early_return: 1 of 64, BarrierDivergence, "barrier divergence: 50 threads wait at ";
    two_barriers: 1 of 64, BarrierDivergence, ", 32 threads wait at ";
    turns_of_a_loop: 1 of 64, BarrierDivergence, "32 have ended";
    reuse_by_some: 1 of 64, BarrierDivergence, "barrier divergence: 63 threads wait at ";
    shuffle_in_a_branch: 1 of 32, Lanes, "missing lanes: 0xffff0000 of the mask 0xffffffff do not arrive";
    partial_warp: 1 of 48, Lanes, "missing lanes: 0xffff0000";
    different_masks: 1 of 32, Lanes, "missing lanes: ";
    warp_or_block: 1 of 32, Lanes, "missing lanes: 0xffffff00";
    not_in_the_mask: 1 of 32, Lanes, "lane 0 is not in its own mask 0xfffffffe";
    half_a_warp_shuffles_down: 1 of 32, Lanes, "a shuffle from lane 16, which is not in the mask 0x0000ffff";
    foreign_lane: 1 of 32, Lanes, "which is not in the mask 0x";
    mma_in_a_branch: 1 of 32, Lanes, "missing lanes: 0xffff0000 of the mask 0xffffffff do not arrive";
    kept_lock: 1 of 64, Endless, "the block has not ended after";
    barrier_of_the_grid: 3 of 1, Endless, "a block may wait only for blocks that have begun";
    endless_loads: 1 of 32, Endless, "the block has not ended after";
    endless_barriers: 1 of 32, Endless, "the block has not ended after";
}
