//! Kernels that test how the emulator runs threads: they overflow the stack, or do not end.

use crate::Args;
use core::hint::{black_box, spin_loop};
use cuda_std::{Arena, GlobalIn, kernel, thread};

/// The thread of each block that behaves differently.
pub const ODD: u32 = 5;

kernel! {
    /// One thread has local variables of 4 MiB.
    pub fn large_locals<'l>(_arena, args: Args<'l>) {
        thread::sync_threads();
        if thread::thread_idx_x() == ODD && args.right == 0 {
            black_box(fill());
        }
        thread::sync_threads();
    }
}

#[inline(never)]
fn fill() -> u32 {
    let numbers = black_box([1u32; 1 << 20]);
    numbers[black_box(7)]
}

kernel! {
    /// One thread recurses forever, with a load in each call.
    pub fn deep_loads<'l>(_arena, args: Args<'l>) {
        if thread::thread_idx_x() == ODD && args.right == 0 {
            black_box(descend(args.input, 1));
        }
        thread::sync_threads();
    }
}

#[inline(never)]
fn descend(input: GlobalIn<u32>, depth: u32) -> u32 {
    let first = input.get(0);
    if black_box(depth) == 0 { first } else { 1 + descend(input, depth.wrapping_add(1)) }
}

kernel! {
    /// One thread recurses forever, without accesses.
    pub fn deep_calls<'l>(_arena, args: Args<'l>) {
        if thread::thread_idx_x() == ODD && args.right == 0 {
            black_box(dive(1));
        }
        thread::sync_threads();
    }
}

#[inline(never)]
fn dive(depth: u32) -> u32 {
    if black_box(depth) == 0 { 0 } else { 1 + dive(depth.wrapping_add(1)) }
}

kernel! {
    /// One thread loops forever.
    pub fn endless_circles<'l>(_arena, args: Args<'l>) {
        thread::sync_threads();
        while thread::thread_idx_x() == ODD && args.right == 0 {
            spin_loop();
        }
        thread::sync_threads();
    }
}

kernel! {
    /// One thread splits empty windows forever.
    pub fn endless_splits<'l>(arena, args: Args<'l>) {
        thread::sync_threads();
        let mut arena = arena;
        while thread::thread_idx_x() == ODD && args.right == 0 {
            arena = split_often(arena);
        }
        thread::sync_threads();
    }
}

/// Splits empty windows, so that most of the time is spent in the emulator.
fn split_often(mut arena: Arena) -> Arena {
    for _ in 0..1000 {
        (_, arena) = arena.split::<u32>(0);
    }
    arena
}

kernel! {
    /// One thread recurses forever, and splits an empty window in each call.
    pub fn deep_splits<'l>(arena, args: Args<'l>) {
        if thread::thread_idx_x() == ODD && args.right == 0 {
            black_box(split_deep(arena, 1));
        }
        thread::sync_threads();
    }
}

#[inline(never)]
fn split_deep(arena: Arena, depth: u32) -> u32 {
    let (_, arena) = arena.split::<u32>(0);
    if black_box(depth) == 0 { 0 } else { 1 + split_deep(arena, depth.wrapping_add(1)) }
}

kernel! {
    /// Every thread panics.
    pub fn all_panic<'l>(_arena, args: Args<'l>) {
        assert_eq!(args.right, 1, "a kernel's");
    }
}
