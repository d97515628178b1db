//! Which accesses of a warp's lanes are one request: those that the lanes of a device make together, wherever loops and
//! branches lead them.

use super::{Numbers, run, shared};
use cuda_std::host::Space;
use cuda_std::{Shared, kernel, thread, warp};
use emulator::{Action, Profile};

kernel! {
    /// Some lanes make a turn more than others in each inner loop, as at the end of a line.
    pub fn uneven_turns(arena, args: Numbers) {
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

/// 2 turns of all lanes and 1 of some, ten times; the device's lanes wait at the end of the inner loop.
#[test]
fn uneven_turns_do_not_shift_the_lanes() {
    let report = run::<uneven_turns>(Profile::SM_80, 32, 5);
    assert_eq!(shared(&report, Action::Store), [30, 10 * 69, 30, 0], "{report}");
}

kernel! {
    /// Two strides in one warp, whose lanes never diverge.
    pub fn two_strides(arena, args: Numbers) {
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

/// In every turn but the first, two lanes of different halves meet in a bank.
#[test]
fn lanes_that_move_differently_stay_together() {
    for (turns, counts) in [(8, [8, 256, 15, 7]), (32, [32, 1024, 63, 31])] {
        let report = run::<two_strides>(Profile::SM_80, 32, turns);
        assert_eq!(shared(&report, Action::Load), counts, "{report}");
    }
}

/// Has every thread write all of a tile's elements that are its own.
fn fill(tile: &Shared<u32>) {
    for k in 0..tile.len() / 32 {
        tile.set(32 * k + thread::thread_idx_x(), k);
    }
    thread::sync_threads();
}

kernel! {
    /// Inner loops of 1 to 4 turns, with lanes next to each other, or with all in one bank.
    pub fn uneven_loops(arena, args: Numbers) {
        let (tile, _) = arena.split::<u32>(2048);
        fill(&tile);
        let t = thread::thread_idx_x();
        let [of_lane, of_turn] = if args.choice == 0 { [1, 33] } else { [32, 1] };
        for o in 0..4 {
            for k in 0..t % 4 + 1 {
                args.output.set(t.into(), tile.get(of_lane * t + of_turn * (4 * o + k)));
            }
        }
    }
}

kernel! {
    /// Inner loops of 1 to 4 turns after which the warp meets. The banks of a lane depend on the outer turn.
    pub fn meetings(arena, args: Numbers) {
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

/// In each outer turn, requests of 32, 24, 16 and 8 lanes.
#[test]
fn lanes_wait_at_the_end_of_an_inner_loop() {
    for (choice, counts) in [(0, [16, 320, 16, 0]), (1, [16, 320, 320, 304])] {
        let report = run::<uneven_loops>(Profile::SM_80, 32, choice);
        assert_eq!(shared(&report, Action::Load), counts, "{report}");
    }
}

kernel! {
    /// All lanes look at a number in each turn, and at another one where that says so: `choice` numbers of 32 do.
    pub fn some_turns(arena, args: Numbers) {
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

/// A number below 32 that the lanes of a turn do not have in common.
fn scattered(turn: u32, lane: u32) -> u32 {
    (turn * 32 + lane).wrapping_mul(0x9e37_79b9) >> 27
}

/// A line of its own.
#[inline(never)]
fn other(tile: &Shared<u32>, i: u32) -> u32 {
    tile.get(i)
}

/// The device's lanes come together in each turn, so that those of different ones make no request together.
#[test]
fn lanes_of_different_turns_stay_apart() {
    for choice in [1, 3, 16, 31, 32] {
        let turns = |turn: &u32| (0..32).any(|lane| scattered(*turn, lane) < choice);
        let requests = (0..32).filter(turns).count() as u64;
        let report = run::<some_turns>(Profile::SM_80, 32, choice);
        let loads = report.counts(Action::Load, Some(Space::Shared));
        assert_eq!((loads.requests, loads.bank_conflicts()), (32 + requests, 0), "{choice}: {report}");
    }
}

kernel! {
    /// Inner loops of 1 to 4 turns that look at scattered numbers. All lanes come by as often in the end.
    pub fn turns_within_turns(arena, args: Numbers) {
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

/// In each outer turn there are four requests, of ever fewer lanes.
#[test]
fn inner_loops_end_with_the_outer_turn() {
    let report = run::<turns_within_turns>(Profile::SM_80, 32, 0);
    assert_eq!(shared(&report, Action::Load), [4 + 16, 4 * 32 + 320, 4 + 16, 0], "{report}");
}

kernel! {
    /// Each lane makes six turns in inner loops, one and then one and four or four and one, whose accesses go on alike.
    pub fn loops_that_look_even(arena, args: Numbers) {
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

/// The two lines contradict each other about what is before what. The rarer one is taken to be in the outer loop: so there
/// are 9 requests in the loops, as on the device, and 3 behind them. Both are marked: lanes go different ways between them.
#[test]
fn of_two_lines_that_contradict_each_other_the_rarer_one_is_believed() {
    let report = run::<loops_that_look_even>(Profile::SM_80, 32, 0);
    assert_eq!(shared(&report, Action::Load), [9 + 3, 9 * 32, 9 + 3, 0], "{report}");
    let loads = report.sites.iter().filter(|site| site.action == Action::Load);
    let mut loads: Vec<_> = loads.map(|site| (site.counts.requests, site.counts.approximate)).collect();
    loads.sort_unstable();
    assert_eq!(loads, [(3, true), (9, true)], "{report}");
}

kernel! {
    /// In each turn even lanes load from one row and odd ones from the next one, without diverging.
    pub fn two_rows_at_a_time(arena, args: Numbers) {
        let (tile, _) = arena.split::<u32>(2048);
        fill(&tile);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        for k in 0..args.choice {
            sum += tile.get(t + 33 * (2 * k + t % 2));
        }
        args.output.set(t.into(), sum);
    }
}

/// The same accesses are made by lanes that take turns, for which they are taken. The report says that it is not sure.
#[test]
fn what_looks_like_turns_is_marked() {
    let report = run::<two_rows_at_a_time>(Profile::SM_80, 32, 4);
    let loads = report.counts(Action::Load, Some(Space::Shared));
    assert_eq!((loads.requests, loads.wavefronts, loads.approximate), (8, 8, true), "{report}");
    assert!(report.to_string().contains(" ~8 "), "{report}");
    // A single turn tells nothing, and nothing speaks against it.
    let loads = run::<two_rows_at_a_time>(Profile::SM_80, 32, 1).counts(Action::Load, Some(Space::Shared));
    assert_eq!((loads.requests, loads.wavefronts, loads.approximate), (1, 2, false));
}

kernel! {
    /// Loops of 1 to 4 turns whose loads are anywhere, between meetings.
    pub fn turns_anywhere(arena, args: Numbers) {
        let (tile, _) = arena.split::<u32>(2048);
        fill(&tile);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        for k in 0..args.choice.min(t % 4 + 1) {
            sum += tile.get(scattered(k, t) * 64 + scattered(t, k));
        }
        args.output.set(t.into(), sum);
    }
}

/// What could be one loop or several of them is marked; what all lanes do equally often is not.
#[test]
fn uneven_loops_with_loads_anywhere_are_marked() {
    for (most, approximate) in [(1, false), (4, true)] {
        let loads = run::<turns_anywhere>(Profile::SM_80, 32, most).counts(Action::Load, Some(Space::Shared));
        assert_eq!((loads.requests, loads.approximate), (most.into(), approximate));
    }
}

#[test]
fn counting_begins_anew_where_a_warp_meets() {
    for choice in [0, 1] {
        let report = run::<meetings>(Profile::SM_80, 32, choice);
        assert_eq!(shared(&report, Action::Load), [16, 320, 16, 0], "{report}");
    }
}

kernel! {
    /// One lane makes many accesses while the others have none to make.
    pub fn one_lane(arena, args: Numbers) {
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
    /// Lanes go different ways before a loop. Those below `choice` make all of its turns, the other ones none.
    pub fn turns_of_some(arena, args: Numbers) {
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

/// However a compiler unrolls it, these lanes go together.
#[test]
fn a_loop_whose_lanes_make_all_turns_is_not_marked() {
    for lanes in [11, 32] {
        let report = run::<turns_of_some>(Profile::SM_80, 32, lanes);
        assert_eq!(shared(&report, Action::Load), [1 + 7, 11 + 7 * u64::from(lanes), 1 + 7, 0], "{report}");
        assert!(report.sites.iter().all(|site| !site.counts.approximate), "{report}");
    }
}

kernel! {
    /// A last turn for some lanes: the others end the loop, or stay in it and leave the accesses out.
    pub fn last_turn(_arena, args: Numbers) {
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

/// A compiler that unrolls the loop has the last turns of the lanes that end it early apart from those of the others.
#[test]
fn a_last_turn_of_some_lanes_is_marked_unless_masked() {
    for (choice, approximate) in [(0, true), (1, false)] {
        let report = run::<last_turn>(Profile::SM_80, 32, choice);
        for (action, space) in [(Action::Load, Space::GlobalConstant), (Action::Store, Space::Global)] {
            let counts = report.counts(action, Some(space));
            assert_eq!((counts.requests, counts.sectors, counts.approximate), (4, 14, approximate), "{report}");
        }
    }
}

kernel! {
    /// All lanes load in each of `choice` turns, and some of them store then.
    pub fn ways_within_turns(arena, args: Numbers) {
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

/// A compiler may have lanes go to their next store by themselves, with the loads on the way. What one turn has does not
/// depend on that.
#[test]
fn loads_of_all_lanes_between_different_ways_are_marked() {
    for (turns, approximate) in [(1, false), (8, true), (1500, true)] {
        let report = run::<ways_within_turns>(Profile::SM_80, 32, turns);
        let loads = report.counts(Action::Load, Some(Space::Shared));
        let stores = report.counts(Action::Store, Some(Space::Global));
        assert_eq!((loads.requests, loads.approximate), (turns.into(), approximate), "{report}");
        assert_eq!(stores.approximate, approximate, "{report}");
    }
}
