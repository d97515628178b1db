//! Grouping of lanes' accesses into requests. A request has the accesses that a GPU's lanes make together, through loops and
//! branches.

use super::{Numbers, run, shared};
use cuda_std::host::Space;
use cuda_std::{Shared, kernel, thread, warp};
use emulator::{Action, Profile};

kernel! {
    /// Some lanes execute one more iteration than others in each inner loop, as at the end of a row.
    pub fn uneven_turns<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(4096);
        let t = thread::thread_idx_x();
        for line in 0..10 {
            let mut s = t;
            while s < 64 + args.choice {
                tile.set(line * (64 + args.choice) + s, s);
                s += 32;
            }
        }
    }
}

/// Two iterations of all lanes and one of some, ten times. On a GPU, lanes wait at the end of the inner loop.
#[test]
fn uneven_iterations_do_not_shift_the_lanes() {
    let report = run::<uneven_turns>(Profile::SM_80, 32, 5);
    assert_eq!(shared(&report, Action::Store), [30, 10 * 69, 30, 0], "{report}");
}

kernel! {
    /// The lanes of a warp have two strides, and never diverge.
    pub fn two_strides<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(4096);
        fill(&tile);
        let t = thread::thread_idx_x();
        let mut sum = 0;
        for k in 0..args.choice {
            sum += tile.get(t + 33 * k * (1 + t / 16));
        }
        args.output.set(t.into(), sum);
    }
}

/// In every iteration but the first, two lanes of different halves access the same bank.
#[test]
fn lanes_that_move_differently_stay_together() {
    for (iterations, counts) in [(8, [8, 256, 15, 7]), (32, [32, 1024, 63, 31])] {
        let report = run::<two_strides>(Profile::SM_80, 32, iterations);
        assert_eq!(shared(&report, Action::Load), counts, "{report}");
    }
}

/// Each thread writes its column of a tile.
fn fill(tile: &Shared<u32>) {
    for k in 0..tile.len() / 32 {
        tile.set(32 * k + thread::thread_idx_x(), k);
    }
    thread::sync_threads();
}

kernel! {
    /// Inner loops of 1 to 4 iterations. Lanes access adjacent words, or all lanes the same bank.
    pub fn uneven_loops<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(2048);
        fill(&tile);
        let t = thread::thread_idx_x();
        let [of_lane, of_iteration] = if args.choice == 0 { [1, 33] } else { [32, 1] };
        for o in 0..4 {
            for k in 0..t % 4 + 1 {
                args.output.set(t.into(), tile.get(of_lane * t + of_iteration * (4 * o + k)));
            }
        }
    }
}

kernel! {
    /// Inner loops of 1 to 4 iterations, after which the warp synchronises. The banks of a lane depend on the outer
    /// iteration.
    pub fn meetings<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(2048);
        fill(&tile);
        let t = thread::thread_idx_x();
        for o in 0..4 {
            let mut sum = 0;
            for k in 0..t % 4 + 1 {
                sum += tile.get((t ^ (5 * o)) + 32 * k);
            }
            match args.choice {
                0 => warp::sync_warp(warp::FULL),
                _ => drop(warp::reduce_add(warp::FULL, sum)),
            }
        }
    }
}

/// In each outer iteration, there are requests of 32, 24, 16 and 8 lanes.
#[test]
fn lanes_wait_at_the_end_of_an_inner_loop() {
    for (choice, counts) in [(0, [16, 320, 16, 0]), (1, [16, 320, 320, 304])] {
        let report = run::<uneven_loops>(Profile::SM_80, 32, choice);
        assert_eq!(shared(&report, Action::Load), counts, "{report}");
    }
}

kernel! {
    /// In each iteration, all lanes load a number. Depending on it, `choice` of 32 lanes on average load another one.
    pub fn some_turns<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(2048);
        fill(&tile);
        let t = thread::thread_idx_x();
        let mut sum = 0;
        for k in 0..32 {
            let number = tile.get(32 * k + t);
            if scattered(number, t) < args.choice {
                sum += other(&tile, 1024 + 32 * k + t);
            }
        }
        args.output.set(t.into(), sum);
    }
}

/// Returns a pseudo-random number below 32 that depends on the iteration and the lane.
fn scattered(iteration: u32, lane: u32) -> u32 {
    (iteration * 32 + lane).wrapping_mul(0x9e37_79b9) >> 27
}

/// Loads an element at a source line of its own.
#[inline(never)]
fn other(tile: &Shared<u32>, i: u32) -> u32 {
    tile.get(i)
}

/// On a GPU, lanes reconverge in each iteration, so lanes in different iterations never share a request.
#[test]
fn lanes_of_different_iterations_stay_apart() {
    for choice in [1, 3, 16, 31, 32] {
        let iterations = |iteration: &u32| (0..32).any(|lane| scattered(*iteration, lane) < choice);
        let requests = (0..32).filter(iterations).count() as u64;
        let report = run::<some_turns>(Profile::SM_80, 32, choice);
        let loads = report.counts(Action::Load, Some(Space::Shared));
        assert_eq!((loads.requests, loads.bank_conflicts()), (32 + requests, 0), "{choice}: {report}");
    }
}

kernel! {
    /// Inner loops of 1 to 4 iterations that load scattered numbers. In the end, all lanes have executed the same number of
    /// them.
    pub fn turns_within_turns<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(2048);
        fill(&tile);
        let t = thread::thread_idx_x();
        let mut sum = 0;
        for o in 0..4 {
            sum += tile.get(32 * o + t);
            for k in 0..(t + o) % 4 + 1 {
                sum += other(&tile, 32 * scattered(o + k, t) + t);
            }
        }
        args.output.set(t.into(), sum);
    }
}

/// Each outer iteration has four requests, each of fewer lanes than the one before.
#[test]
fn inner_loops_end_with_the_outer_iteration() {
    let report = run::<turns_within_turns>(Profile::SM_80, 32, 0);
    assert_eq!(shared(&report, Action::Load), [4 + 16, 4 * 32 + 320, 4 + 16, 0], "{report}");
}

kernel! {
    /// Each lane executes six iterations of inner loops: 1, 1 and 4, or 1, 4 and 1. Their accesses follow the same sequence.
    pub fn loops_that_look_even<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(2048);
        fill(&tile);
        let (t, mut k) = (thread::thread_idx_x(), 0);
        for o in 0..3 {
            let ends = [1, 2 + 3 * (t % 2), 6];
            while k < ends[o as usize] {
                args.output.set(t.into(), other(&tile, 32 * k + t));
                k += 1;
            }
            args.output.set((32 * (o + 1) + t).into(), tile.get(32 * (o + 8) + t));
        }
    }
}

/// The two lines contradict each other about the order of their accesses. The emulator assumes that the rarer one is in the
/// outer loop. So there are 9 requests in the inner loops, as on a GPU, and 3 after them. Both are marked, because lanes
/// take different paths between them.
#[test]
fn of_two_contradictory_lines_the_rarer_one_is_in_the_outer_loop() {
    let report = run::<loops_that_look_even>(Profile::SM_80, 32, 0);
    assert_eq!(shared(&report, Action::Load), [9 + 3, 9 * 32, 9 + 3, 0], "{report}");
    let loads = report.sites.iter().filter(|site| site.action == Action::Load);
    let mut loads: Vec<_> = loads.map(|site| (site.counts.requests, site.counts.approximate)).collect();
    loads.sort_unstable();
    assert_eq!(loads, [(3, true), (9, true)], "{report}");
}

kernel! {
    /// In each iteration, even lanes load from one row and odd lanes from the next, without diverging.
    pub fn two_rows_at_a_time<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(2048);
        fill(&tile);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        for k in 0..args.choice {
            sum += tile.get(t + 33 * (2 * k + t % 2));
        }
        args.output.set(t.into(), sum);
    }
}

/// Diverging lanes that alternate would make the same accesses. The emulator assumes this case, and marks the counts as
/// approximate.
#[test]
fn accesses_that_look_like_alternating_lanes_are_marked() {
    let report = run::<two_rows_at_a_time>(Profile::SM_80, 32, 4);
    let loads = report.counts(Action::Load, Some(Space::Shared));
    assert_eq!((loads.requests, loads.wavefronts, loads.approximate), (8, 8, true), "{report}");
    assert!(report.to_string().contains(" ~8 "), "{report}");
    // A single iteration has no such pattern, so its counts are exact.
    let loads = run::<two_rows_at_a_time>(Profile::SM_80, 32, 1).counts(Action::Load, Some(Space::Shared));
    assert_eq!((loads.requests, loads.wavefronts, loads.approximate), (1, 2, false));
}

kernel! {
    /// Loops of 1 to 4 iterations with scattered loads.
    pub fn turns_anywhere<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(2048);
        fill(&tile);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        for k in 0..args.choice.min(t % 4 + 1) {
            sum += tile.get(scattered(k, t) * 64 + scattered(t, k));
        }
        args.output.set(t.into(), sum);
    }
}

/// Accesses are marked if they could be in one loop or in several. They are not marked if all lanes make the same number of
/// them.
#[test]
fn uneven_loops_with_loads_anywhere_are_marked() {
    for (maximum, approximate) in [(1, false), (4, true)] {
        let loads = run::<turns_anywhere>(Profile::SM_80, 32, maximum).counts(Action::Load, Some(Space::Shared));
        assert_eq!((loads.requests, loads.approximate), (maximum.into(), approximate));
    }
}

#[test]
fn counting_restarts_where_a_warp_synchronises() {
    for choice in [0, 1] {
        let report = run::<meetings>(Profile::SM_80, 32, choice);
        assert_eq!(shared(&report, Action::Load), [16, 320, 16, 0], "{report}");
    }
}

kernel! {
    /// One lane makes many accesses, and the others none.
    pub fn one_lane<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(4096);
        let t = thread::thread_idx_x();
        if t == args.choice {
            for k in 0..3000 {
                tile.set(k, k);
            }
        }
    }
}

#[test]
fn one_lane_alone() {
    let report = run::<one_lane>(Profile::SM_80, 64, 33);
    assert_eq!(shared(&report, Action::Store), [3000, 3000, 3000, 0], "{report}");
}

kernel! {
    /// Lanes take different paths before a loop. Lanes below `choice` execute all of its iterations, the others none.
    pub fn turns_of_some<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(2048);
        fill(&tile);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        if t % 3 == 0 {
            sum += tile.get(t);
        }
        if t < args.choice {
            for k in 0..7 {
                sum += tile.get(32 * k + t);
            }
        }
        args.output.set(t.into(), sum);
    }
}

/// However a compiler unrolls the loop, these lanes stay together.
#[test]
fn a_loop_whose_lanes_execute_all_iterations_is_not_marked() {
    for lanes in [11, 32] {
        let report = run::<turns_of_some>(Profile::SM_80, 32, lanes);
        assert_eq!(shared(&report, Action::Load), [1 + 7, 11 + 7 * u64::from(lanes), 1 + 7, 0], "{report}");
        assert!(report.sites.iter().all(|site| !site.counts.approximate), "{report}");
    }
}

kernel! {
    /// The last iteration is for some lanes only. The others leave the loop, or stay in it and leave the accesses out.
    pub fn last_turn<'l>(_arena, args: Numbers<'l>) {
        let (t, end) = (thread::thread_idx_x(), 32 * 3 + 9);
        if args.choice == 0 {
            for i in (t..end).step_by(32) {
                args.output.set(i.into(), args.input.get(i.into()));
            }
        } else {
            for i in (t..128).step_by(32) {
                args.output.set_if(i < end, i.into(), args.input.get_if(i < end, i.into(), 0));
            }
        }
    }
}

/// A compiler that unrolls the loop may separate the last iterations of lanes that leave it early from those of the others.
#[test]
fn a_last_iteration_of_some_lanes_is_marked_unless_masked() {
    for (choice, approximate) in [(0, true), (1, false)] {
        let report = run::<last_turn>(Profile::SM_80, 32, choice);
        for (action, space) in [(Action::Load, Space::GlobalConstant), (Action::Store, Space::Global)] {
            let counts = report.counts(action, Some(space));
            assert_eq!((counts.requests, counts.sectors, counts.approximate), (4, 14, approximate), "{report}");
        }
    }
}

kernel! {
    /// All lanes load in each of `choice` iterations, and some of them then store.
    pub fn ways_within_turns<'l>(arena, args: Numbers<'l>) {
        let (tile, _) = arena.split::<u32>(2048);
        fill(&tile);
        let t = thread::thread_idx_x();
        for k in 0..args.choice {
            let word = tile.get((32 * k + t) % 2048);
            if scattered(k, t) < 5 {
                args.output.set(t.into(), word);
            }
        }
    }
}

/// A compiler may let lanes continue to their next store on their own, with the loads on the way. A single iteration does
/// not depend on that.
#[test]
fn loads_of_all_lanes_between_divergent_stores_are_marked() {
    for (iterations, approximate) in [(1, false), (8, true), (1500, true)] {
        let report = run::<ways_within_turns>(Profile::SM_80, 32, iterations);
        let loads = report.counts(Action::Load, Some(Space::Shared));
        let stores = report.counts(Action::Store, Some(Space::Global));
        assert_eq!((loads.requests, loads.approximate), (iterations.into(), approximate), "{report}");
        assert_eq!(stores.approximate, approximate, "{report}");
    }
}
