//! Barriers and warp operations in functions and macros: threads that reach the same line from two places do not wait at the
//! same barrier, and lanes do not take part in the same operation.

// Equal calls in both arms are intended.
#![allow(clippy::if_same_then_else)]

use crate::Args;
use crate::case::cases;
use cuda_std::{kernel, thread, warp};

#[inline(never)]
fn meet() {
    thread::sync_threads();
}

#[track_caller]
fn told() {
    thread::sync_threads();
}

#[inline(always)]
fn inlined() {
    meet();
}

fn generic<const N: u32>() {
    for _ in 0..N {
        meet();
    }
}

fn recursive(depth: u32) {
    if depth == 0 {
        meet();
    } else {
        recursive(depth - 1);
    }
}

fn call(closure: impl Fn()) {
    closure();
}

/// Waits at the block's barrier after it has done something with `number`.
#[inline(never)]
fn meet_with(number: u32) -> u32 {
    thread::sync_threads();
    number + 1
}

/// Returns the sum of the numbers of two neighbouring lanes.
#[inline(never)]
fn sum_of_two(number: u32) -> u32 {
    number + warp::shuffle_xor(warp::FULL, number, 1)
}

/// Returns the number of lanes with an odd number.
fn odd_lanes(number: u32) -> u32 {
    warp::ballot(warp::FULL, number % 2 == 1).count_ones()
}

fn meet_in_warp() {
    warp::sync_warp(warp::FULL);
}

macro_rules! either {
    ($condition:expr) => {
        if $condition {
            thread::sync_threads(); // planted
        } else {
            thread::sync_threads(); // planted
        }
    };
}

/// Returns whether a thread takes the first arm: some threads do, and in the twin all.
fn first(args: &Args) -> bool {
    args.right != 0 || thread::thread_idx_x() < 20
}

kernel! {
    /// Both arms of a branch call a function with the barrier.
    pub fn helper_in_two_arms<'l>(_arena, args: Args<'l>) {
        if first(&args) {
            meet(); // planted
        } else {
            meet(); // planted
        }
    }
}

kernel! {
    /// Both arms call a function that is inlined. It calls the function with the barrier.
    pub fn inlined_in_two_arms<'l>(_arena, args: Args<'l>) {
        if first(&args) {
            inlined(); // planted
        } else {
            inlined(); // planted
        }
    }
}

kernel! {
    /// A macro has a barrier in both arms. Both have the line of the macro's call.
    pub fn macro_with_two_arms<'l>(_arena, args: Args<'l>) {
        either!(first(&args)); // planted
    }
}

kernel! {
    /// Both arms call a recursive function with the barrier, with the same depth.
    pub fn recursive_helper<'l>(_arena, args: Args<'l>) {
        match first(&args) {
            true => recursive(2), // planted
            false => recursive(2), // planted
        }
    }
}

kernel! {
    /// Both arms call a generic function with the barrier in a loop.
    pub fn generic_helpers<'l>(_arena, args: Args<'l>) {
        if first(&args) {
            generic::<2>(); // planted
        } else {
            generic::<2>(); // planted
        }
    }
}

kernel! {
    /// Both arms call a closure with the barrier.
    pub fn closures_in_two_arms<'l>(_arena, args: Args<'l>) {
        let closure = || meet();
        if first(&args) {
            call(closure); // planted
        } else {
            call(closure); // planted
        }
    }
}

kernel! {
    /// Both arms call the function with the barrier through a pointer.
    pub fn pointers_in_two_arms<'l>(_arena, args: Args<'l>) {
        let function: &dyn Fn() = &meet;
        if first(&args) {
            function(); // planted
        } else {
            function(); // planted
        }
    }
}

kernel! {
    /// Some threads execute the last barrier in the loop, the others the one after it.
    pub fn helper_in_and_behind_a_loop<'l>(_arena, args: Args<'l>) {
        let turns = if first(&args) { 3 } else { 2 };
        for _ in 0..turns {
            meet(); // planted
        }
        if !first(&args) {
            meet(); // planted
        }
    }
}

kernel! {
    /// The function has `#[track_caller]`, so its barrier has the caller's line.
    pub fn told_barriers<'l>(_arena, args: Args<'l>) {
        if first(&args) {
            told();
        } else {
            told();
        }
    }
}

kernel! {
    /// Both arms call the function with the barrier with other arguments, and use its result.
    pub fn helper_with_other_arguments<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let number = if first(&args) {
            meet_with(t) // planted
        } else {
            meet_with(7) // planted
        };
        args.output.set(t.into(), number);
    }
}

kernel! {
    /// Both arms call a function with a shuffle. Each arm has some of the lanes of a warp.
    pub fn shuffles_in_two_arms<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let sum = if first(&args) {
            sum_of_two(t) // planted
        } else {
            sum_of_two(t + 1) // planted
        };
        args.output.set(t.into(), sum);
    }
}

kernel! {
    /// Both arms call a function with a vote.
    pub fn votes_in_two_arms<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let count = match first(&args) {
            true => odd_lanes(t), // planted
            false => odd_lanes(t / 2), // planted
        };
        args.output.set(t.into(), count);
    }
}

kernel! {
    /// Both arms call a function in which the lanes of a warp wait for each other.
    pub fn warp_barriers_in_two_arms<'l>(_arena, args: Args<'l>) {
        if first(&args) {
            meet_in_warp(); // planted
        } else {
            meet_in_warp(); // planted
        }
    }
}

cases! {
    helper_in_two_arms: 1 of 64, BarrierDivergence, "from two places";
    inlined_in_two_arms: 1 of 64, BarrierDivergence, "from two places";
    macro_with_two_arms: 1 of 64, BarrierDivergence, "from two places";
    recursive_helper: 1 of 64, BarrierDivergence, "from two places";
    generic_helpers: 1 of 64, BarrierDivergence, "from two places";
    closures_in_two_arms: 1 of 64, BarrierDivergence, "from two places";
    pointers_in_two_arms: 1 of 64, BarrierDivergence, "from two places";
    helper_in_and_behind_a_loop: 1 of 64, BarrierDivergence, "from two places";
    helper_with_other_arguments: 1 of 64, BarrierDivergence, "from two places";
    shuffles_in_two_arms: 1 of 64, Lanes, "the lanes reach one warp exchange from two places, 0 to 19 at ";
    votes_in_two_arms: 1 of 64, Lanes, "the lanes reach one warp exchange from two places";
    warp_barriers_in_two_arms: 1 of 64, Lanes, "the lanes reach one warp barrier from two places";
}
