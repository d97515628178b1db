//! Planted waits that go wrong: barriers and warp operations that not all come to, and waits without end. With `right`
//! the same kernel is correct.

mod cases;

use cases::{Case, block, blocks, check, run};
use cuda_std::{Ordering, kernel, thread, warp};
use emulator::Problem;

kernel! {
    /// A barrier that some threads go round.
    pub fn barrier_in_a_branch(_arena, args: Case) {
        let t = thread::thread_idx_x();
        if args.right != 0 || t < 40 {
            thread::sync_threads();
        }
        args.output.set(t.into(), t);
    }
}

kernel! {
    /// Threads without an element leave before the barrier.
    pub fn early_return(_arena, args: Case) {
        let t = thread::thread_idx_x();
        if args.right == 0 && t >= 50 {
            return;
        }
        thread::sync_threads();
        args.output.set(t.into(), t);
    }
}

kernel! {
    /// Two barriers in two branches are not the same one.
    pub fn two_barriers(_arena, args: Case) {
        let t = thread::thread_idx_x();
        if args.right == 0 && t < 32 {
            args.output.set(t.into(), 1);
            thread::sync_threads();
        } else {
            args.output.set(t.into(), 2);
            thread::sync_threads();
        }
    }
}

kernel! {
    /// A loop with a barrier that some threads run more often.
    pub fn turns_of_a_loop(_arena, args: Case) {
        let t = thread::thread_idx_x();
        for _ in 0..if args.right != 0 { 3 } else { 2 + t / 32 } {
            thread::sync_threads();
        }
        args.output.set(t.into(), t);
    }
}

kernel! {
    /// Taking a window back is a barrier, too.
    pub fn reuse_by_some(arena, args: Case) {
        let (window, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        if args.right != 0 || t != 11 {
            let (again, _) = window.reuse().split::<u32>(64);
            again.set(t, t);
        }
    }
}

kernel! {
    /// A shuffle among all lanes that only half of them come to.
    pub fn shuffle_in_a_branch(_arena, args: Case) {
        let t = thread::thread_idx_x();
        let mut sum = t;
        if args.right != 0 || t < 16 {
            sum += warp::shuffle_xor(warp::FULL, t, 1);
        }
        args.output.set(t.into(), sum);
    }
}

kernel! {
    /// The whole mask in a warp that has 16 lanes.
    pub fn partial_warp(_arena, args: Case) {
        let t = thread::thread_idx_x();
        let mask = if args.right != 0 && t >= 32 { 0xffff } else { warp::FULL };
        args.output.set(t.into(), warp::ballot(mask, true));
    }
}

kernel! {
    /// Lanes that do not agree who takes part.
    pub fn different_masks(_arena, args: Case) {
        let t = thread::thread_idx_x();
        warp::sync_warp(if args.right != 0 || t != 3 { warp::FULL } else { 0xff });
        args.output.set(t.into(), t);
    }
}

kernel! {
    /// Some lanes wait for their warp, the others for the block.
    pub fn warp_or_block(_arena, args: Case) {
        let t = thread::thread_idx_x();
        if args.right == 0 && t < 8 {
            warp::sync_warp(warp::FULL);
        }
        thread::sync_threads();
        args.output.set(t.into(), t);
    }
}

catalogue! {
    barrier_in_a_branch: block(64), BarrierDivergence, "24 have ended";
    early_return: block(64), BarrierDivergence, "barrier divergence: 50 threads wait at ";
    two_barriers: block(64), BarrierDivergence, ", 32 threads wait at ";
    turns_of_a_loop: block(64), BarrierDivergence, "32 have ended";
    reuse_by_some: block(64), BarrierDivergence, "barrier divergence: 63 threads wait at ";
    shuffle_in_a_branch: block(32), MissingLanes, "missing lanes: 0xffff0000 of the mask 0xffffffff do not come";
    partial_warp: block(48), MissingLanes, "missing lanes: 0xffff0000";
    different_masks: block(32), MissingLanes, "missing lanes: ";
    warp_or_block: block(32), MissingLanes, "missing lanes: 0xffffff00";
}

kernel! {
    /// A lane that takes part in what is for others.
    pub fn not_in_the_mask(_arena, args: Case) {
        let t = thread::thread_idx_x();
        let mask = if args.right != 0 { warp::FULL } else { 0xffff_fffe };
        args.output.set(t.into(), warp::reduce_add(mask, 1));
    }
}

kernel! {
    /// A shuffle within half a warp that asks the other half.
    pub fn foreign_lane(_arena, args: Case) {
        let t = thread::thread_idx_x();
        let half = if t < 16 { 0xffff } else { 0xffff_0000 };
        let distance = if args.right != 0 { 8 } else { 16 };
        args.output.set(t.into(), warp::shuffle_xor(half, t, distance));
    }
}

#[test]
fn masks_and_lanes() {
    let own = |problem: &Problem| matches!(problem, Problem::NotInMask { mask: 0xffff_fffe, lane: 0 });
    check::<not_in_the_mask>(block(32), own, "lane 0 is not in its own mask 0xfffffffe");
    let foreign = |problem: &Problem| matches!(problem, Problem::ForeignLane { .. });
    check::<foreign_lane>(block(32), foreign, "which is not in the mask 0x");
}

kernel! {
    /// A lock that its last owner keeps.
    pub fn kept_lock(arena, args: Case) {
        let (lock, _) = arena.split::<u32>(1);
        let t = thread::thread_idx_x();
        if t == 0 {
            lock.set(0, 0);
        }
        thread::sync_threads();
        while lock.compare_exchange(0, 0, 1, Ordering::SeqCst) != 0 {}
        args.output.set(t.into(), t);
        if args.right != 0 {
            lock.exchange(0, 0, Ordering::SeqCst);
        }
    }
}

kernel! {
    /// Blocks that wait until all blocks are there: they need not run at the same time.
    pub fn barrier_of_the_grid(_arena, args: Case) {
        let come = args.zeros.fetch_add(0, 1, Ordering::Relaxed) + 1;
        let all = if args.right != 0 { come } else { thread::grid_dim_x() };
        while args.zeros.fetch_add(0, 0, Ordering::Relaxed) < all {}
    }
}

kernel! {
    /// A loop of plain loads that nobody ends.
    pub fn endless_loads(_arena, args: Case) {
        while args.zeros.get(7) == args.right {}
    }
}

kernel! {
    /// A loop of barriers that nobody ends.
    pub fn endless_barriers(_arena, args: Case) {
        loop {
            thread::sync_threads();
            if args.right != 0 {
                break;
            }
        }
    }
}

#[test]
fn waits_without_end() {
    let end = |problem: &Problem| matches!(problem, Problem::OutOfSteps { budget: 100_000 });
    let text = "the block has not ended after 100000 steps";
    check::<kept_lock>(block(64).budget(100_000), end, text);
    check::<barrier_of_the_grid>(blocks(3, 1).budget(100_000), end, text);
    check::<endless_loads>(block(32).budget(100_000), end, text);
    check::<endless_barriers>(block(32).budget(100_000), end, text);
}

kernel! {
    /// Every operation of a warp, in turn: thread `t` writes the result number `right` of its lane.
    pub fn exchanges(_arena, args: Case) {
        let t = thread::thread_idx_x();
        let value = t * t;
        let result = match args.right {
            0 => warp::shuffle(warp::FULL, value, t + 5),
            _ => {
                let up = warp::shuffle_up(warp::FULL, value, 3);
                let down = warp::shuffle_down(warp::FULL, value, 30);
                let odd = warp::ballot(warp::FULL, t % 2 == 1);
                up + down + odd + warp::reduce_add(warp::FULL, t) + warp::shuffle_xor(warp::FULL, value, 31)
            }
        };
        args.output.set(t.into(), result);
    }
}

#[test]
fn warp_operations_give_what_they_promise() {
    let square = |t: u32| t * t;
    for seed in 0..10 {
        let (report, shuffled) = run::<exchanges>(block(32).seed(seed), false);
        assert!(report.is_clean(), "{report}");
        let expected: Vec<u32> = (0..32).map(|t| square((t + 5) % 32)).collect();
        assert_eq!(shuffled[..32], expected);
        let (report, sums) = run::<exchanges>(block(32).seed(seed), true);
        assert!(report.is_clean(), "{report}");
        for t in 0..32u32 {
            let up = square(if t < 3 { t } else { t - 3 });
            let down = square(if t < 2 { t + 30 } else { t });
            assert_eq!(sums[t as usize], up + down + 0xaaaa_aaaa + 31 * 16 + square(31 - t), "lane {t}");
        }
    }
}
