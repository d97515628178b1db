//! Planted races. With `right` the same kernel has what it lacks.

mod cases;

use cases::{Case, block, blocks, check, check_twin, run};
use cuda_std::{Ordering, fence, kernel, thread, warp};
use emulator::{Launch, Problem};

kernel! {
    /// Reads what a neighbour wrote, without a barrier.
    pub fn missing_barrier(arena, args: Case) {
        let (tile, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        tile.set(t, args.input.get(t.into()));
        if args.right != 0 {
            thread::sync_threads();
        }
        args.output.set(t.into(), tile.get(63 - t));
    }
}

kernel! {
    /// Overwrites what others are still reading: the loop's second barrier is missing.
    pub fn missing_second_barrier(arena, args: Case) {
        let (tile, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        let mut sum = 0;
        for k in 0..4 {
            tile.set(t, t + k);
            thread::sync_threads();
            sum += tile.get((t + 32) % 64);
            if args.right != 0 {
                thread::sync_threads();
            }
        }
        args.output.set(t.into(), sum);
    }
}

kernel! {
    /// Two buffers in turns, of which the wrong one is read.
    pub fn wrong_buffer(arena, args: Case) {
        let (tiles, _) = arena.split::<u32>(128);
        let t = thread::thread_idx_x();
        tiles.set(t, t);
        thread::sync_threads();
        for k in 0..3 {
            let (from, to) = (k % 2 * 64, (k + 1) % 2 * 64);
            let neighbour = tiles.get((if args.right != 0 { from } else { to * u32::from(k > 0) }) + (t + 33) % 64);
            tiles.set(to + t, neighbour + 1);
            thread::sync_threads();
        }
        args.output.set(t.into(), tiles.get(64 + t));
    }
}

kernel! {
    /// A histogram whose threads add to the same bins without atomics.
    pub fn racing_merge(arena, args: Case) {
        let (bins, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        bins.set(t, 0);
        thread::sync_threads();
        if args.right != 0 {
            bins.fetch_add(t % 8, 1, Ordering::Relaxed);
        } else {
            bins.set(t % 8, bins.get(t % 8) + 1);
        }
        thread::sync_threads();
        args.output.set(t.into(), bins.get(t));
    }
}

kernel! {
    /// Bins are counted in while others set them to zero.
    pub fn atomic_before_zero(arena, args: Case) {
        let (bins, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        bins.set(t, 0);
        if args.right != 0 {
            thread::sync_threads();
        } else {
            warp::sync_warp(warp::FULL);
        }
        bins.fetch_add(63 - t, 1, Ordering::Relaxed);
        thread::sync_threads();
        args.output.set(t.into(), bins.get(t));
    }
}

kernel! {
    /// A sum within a warp, by somebody who thinks that lanes run in step.
    pub fn lanes_in_step(arena, args: Case) {
        let (sums, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        sums.set(t, args.input.get(t.into()));
        sums.set(t + 32, 0);
        warp::sync_warp(warp::FULL);
        for distance in [16, 8, 4, 2, 1] {
            let sum = sums.get(t) + sums.get(t + distance);
            if args.right != 0 {
                warp::sync_warp(warp::FULL);
            }
            sums.set(t, sum);
            if args.right != 0 {
                warp::sync_warp(warp::FULL);
            }
        }
        args.output.set_if(t == 0, 0, sums.get(t));
    }
}

kernel! {
    /// Each half of a warp waits for itself, but reads from the other one.
    pub fn half_a_mask(arena, args: Case) {
        let (tile, _) = arena.split::<u32>(32);
        let t = thread::thread_idx_x();
        tile.set(t, t);
        warp::sync_warp(if args.right != 0 { warp::FULL } else if t < 16 { 0xffff } else { 0xffff_0000 });
        args.output.set(t.into(), tile.get(31 - t));
    }
}

kernel! {
    /// A shuffle brings a number over, which is taken for order.
    pub fn shuffle_orders_nothing(arena, args: Case) {
        let (tile, _) = arena.split::<u32>(32);
        let t = thread::thread_idx_x();
        tile.set(t, t);
        let from = warp::shuffle_xor(warp::FULL, t, 1);
        if args.right != 0 {
            warp::sync_warp(warp::FULL);
        }
        args.output.set(t.into(), tile.get(from));
    }
}

kernel! {
    /// All threads set a flag to the same value.
    pub fn same_value(arena, args: Case) {
        let (flag, _) = arena.split::<u32>(1);
        let t = thread::thread_idx_x();
        if args.right == 0 || t == 5 {
            flag.set(0, 1);
        }
        thread::sync_threads();
        args.output.set(t.into(), flag.get(0));
    }
}

kernel! {
    /// One thread's wide store covers what others write.
    pub fn wide_store(arena, args: Case) {
        let (tile, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        if args.right == 0 || t < 60 {
            tile.set(t, t);
        }
        if t == 7 {
            tile.set4(60, [1, 2, 3, 4]);
        }
        thread::sync_threads();
        args.output.set(t.into(), tile.get(t));
    }
}

kernel! {
    /// Bytes next to each other are no conflict; the same bytes are.
    pub fn bytes(arena, args: Case) {
        let (tile, _) = arena.split::<u8>(64);
        let t = thread::thread_idx_x();
        tile.set(if args.right != 0 { t } else { t / 2 }, 1);
        thread::sync_threads();
        args.output.set(t.into(), tile.get(if args.right != 0 { t } else { t / 2 }).into());
    }
}

kernel! {
    /// Reads from global memory what another thread of the block wrote there.
    pub fn global_neighbour(_arena, args: Case) {
        let t = thread::thread_idx_x();
        args.output.set(t.into(), t);
        if args.right != 0 {
            thread::sync_threads();
        }
        let neighbour = args.output.get(u64::from(63 - t));
        args.zeros.set(t.into(), neighbour);
    }
}

kernel! {
    /// Blocks write their halo, too, which is their neighbours'.
    pub fn written_halo(_arena, args: Case) {
        let t = thread::thread_idx_x();
        let i = thread::global_x();
        args.output.set(i, 1);
        args.output.set_if(args.right == 0 && t == 31, i + 1, 2);
    }
}

kernel! {
    /// A filter in place: blocks read what their neighbours overwrite.
    pub fn in_place(_arena, args: Case) {
        let i = thread::global_x();
        let next = if args.right != 0 { args.input.get_or(i + 1, 0) } else { args.zeros.get_or(i + 1, 0) };
        thread::sync_threads();
        args.zeros.set(i, next + 1);
    }
}

kernel! {
    /// The last block to finish adds up what all have written; without a fence it need not see that.
    pub fn last_block(_arena, args: Case) {
        let (t, block) = (thread::thread_idx_x(), thread::block_idx_x());
        if t != 0 {
            return;
        }
        args.output.set(block.into(), block + 1);
        if args.right != 0 {
            fence::fence_device();
        }
        let finished = args.zeros.fetch_add(0, 1, Ordering::Relaxed);
        if finished + 1 == thread::grid_dim_x() {
            fence::fence_device();
            let sum = (0..thread::grid_dim_x()).map(|block| args.output.get(block.into())).sum();
            args.output.set(100, sum);
        }
    }
}

kernel! {
    /// One block hands a number to another one with a fence for the block alone.
    pub fn fence_too_narrow(_arena, args: Case) {
        if args.zeros.fetch_add(0, 1, Ordering::Relaxed) == 0 {
            args.output.set(0, 42);
            if args.right != 0 { fence::fence_device() } else { fence::fence_block() }
            args.zeros.fetch_add(1, 1, Ordering::Relaxed);
        } else if args.zeros.fetch_add(1, 0, Ordering::Relaxed) == 1 {
            fence::fence_device();
            args.zeros.set(2, args.output.get(0));
        }
    }
}

kernel! {
    /// The reader of a number that was handed over has no fence.
    pub fn fence_on_one_side(arena, args: Case) {
        let (shared, _) = arena.split::<u32>(2);
        let t = thread::thread_idx_x();
        shared.set(t, 0);
        thread::sync_threads();
        if t == 0 {
            shared.set(0, 42);
            fence::fence_block();
            shared.exchange(1, 1, Ordering::Relaxed);
        } else {
            while shared.fetch_add(1, 0, Ordering::Relaxed) == 0 {}
            if args.right != 0 {
                fence::fence_block();
            }
            args.output.set(0, shared.get(0));
        }
    }
}

kernel! {
    /// A lock whose operations are atomic but order nothing.
    pub fn relaxed_lock(arena, args: Case) {
        let (shared, _) = arena.split::<u32>(2);
        let t = thread::thread_idx_x();
        if t < 2 {
            shared.set(t, 0);
        }
        thread::sync_threads();
        let ordering = if args.right != 0 { Ordering::SeqCst } else { Ordering::Relaxed };
        while shared.compare_exchange(0, 0, 1, ordering) != 0 {}
        shared.set(1, shared.get(1) + 1);
        shared.exchange(0, 0, ordering);
        thread::sync_threads();
        args.output.set(t.into(), shared.get(1));
    }
}

kernel! {
    /// A flag that is waited for by plain loads.
    pub fn plain_flag(arena, args: Case) {
        let (shared, _) = arena.split::<u32>(2);
        let t = thread::thread_idx_x();
        shared.set(t / 32, 0);
        thread::sync_threads();
        if t == 0 {
            shared.exchange(1, 1, Ordering::SeqCst);
        } else if t == 32 && args.right == 0 {
            while shared.get(1) == 0 {}
        } else if t == 32 {
            while shared.fetch_add(1, 0, Ordering::SeqCst) == 0 {}
        }
        thread::sync_threads();
        args.output.set(t.into(), shared.get(1));
    }
}

catalogue! {
    missing_barrier: block(64), Race, "data race: load of element";
    missing_second_barrier: block(64), Race, "in no order with the load of thread";
    wrong_buffer: block(64), Race, "on shared memory";
    racing_merge: block(64), Race, "in no order with the store of thread";
    atomic_before_zero: block(64), Race, "data race: ";
    lanes_in_step: block(32), Race, "on shared memory";
    half_a_mask: block(32), Race, "data race: load";
    shuffle_orders_nothing: block(32), Race, "data race: load";
    wide_store: block(64), Race, "data race: store";
    global_neighbour: block(64), Race, "on global memory";
    written_halo: blocks(4, 32), Race, "on global memory";
    in_place: blocks(4, 32), Race, "on global memory";
    last_block: blocks(5, 32), Race, "data race: load";
    fence_too_narrow: blocks(2, 1), Race, "data race: load of element 0";
    fence_on_one_side: block(2), Race, "data race: load of element 0";
    relaxed_lock: block(64), Race, "element 1 of a window of 2 on shared memory";
}

/// Zeros are written by all threads in `plain_flag` too, and both halves of `bytes` are the same.
#[test]
fn writes_of_the_same_value_count_unless_allowed() {
    let race = |problem: &Problem| matches!(problem, Problem::Race { .. });
    check::<same_value>(block(64), race, "data race: store of element 0");
    check::<bytes>(block(64), race, "data race: store");
    let allowed = block(64).allow_same_value_writes();
    assert!(run::<same_value>(allowed, false).0.is_clean());
    assert!(run::<bytes>(allowed, false).0.is_clean());
    // Other values are none the less found.
    assert!(!run::<racing_merge>(allowed, false).0.is_clean());
}

#[test]
fn plain_loads_race_with_atomic_operations() {
    let launch = block(64).allow_same_value_writes();
    check::<plain_flag>(launch, |problem| matches!(problem, Problem::Race { .. }), "data race: ");
}

#[test]
fn correct_protocols_give_their_results() {
    for seed in 0..20 {
        assert_eq!(run::<relaxed_lock>(block(64).seed(seed), true).1[..64], [64; 64]);
        assert_eq!(run::<last_block>(blocks(5, 32).seed(seed), true).1[100], 15);
        assert_eq!(run::<fence_on_one_side>(block(2).seed(seed), true).1[0], 42);
        assert_eq!(run::<lanes_in_step>(block(32).seed(seed), true).1[0], 31 * 16);
    }
}

/// Both sides of a race are told: kernel, block, threads, element, and both lines.
#[test]
fn a_race_names_both_sides() {
    let (report, _) = run::<fence_too_narrow>(blocks(2, 1), false);
    let Problem::Race { place, other, .. } = &report.findings[0].problem else { panic!("{report}") };
    assert_eq!((place.index, place.len, place.byte), (0, cases::LEN.into(), 0));
    assert_ne!(other.block, report.findings[0].block);
    assert!(other.at.line < report.findings[0].at.line);
    assert!(other.at.file.ends_with("catalogue_races.rs"));
}

/// The same seed gives the same report, and different ones different orders.
#[test]
fn seeds_reproduce() {
    let outputs = |seed| run::<racing_merge>(block(64).seed(seed), false);
    for seed in 0..5 {
        assert_eq!(outputs(seed), outputs(seed));
    }
    let launch = |seed| Launch { seed, ..block(64) };
    let first = |seed| run::<missing_barrier>(launch(seed), false).0.findings[0].thread;
    assert!((1..20).any(|seed| first(seed) != first(0)));
    check_twin::<missing_barrier>(block(64));
}
