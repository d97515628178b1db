//! Kernels whose lanes diverge: loops whose last iteration is for some lanes only, iterations that some lanes skip, and
//! loops that lanes leave early.
//!
//! Each access is one instruction in the compiled code, and each iteration is one of the source's, except in kernels whose
//! names end with `_unrolled` or `_continued`. Loops that lanes leave at different iterations have a step that is an
//! argument: compilers cannot count their iterations in advance, so they do not unroll them. The comments say which lanes
//! execute an iteration together; the emulator's tests compute it in lockstep.

use crate::case::{Args, SHARED_BYTES};
#[cfg(not(target_os = "cuda"))]
use crate::probes::{Probe, ProbeVisitor};
use cuda_std::math::opaque;
use cuda_std::{Arena, Ordering, Shared, kernel, thread};

/// Returns a window on all of the block's shared memory.
#[inline(always)]
fn words(arena: Arena) -> Shared<u32> {
    arena.split(SHARED_BYTES / 4).0
}

/// Each thread writes its word of `rows` rows, which are 32 words apart, and waits at a barrier.
#[inline(always)]
fn fill(tile: &Shared<u32>, args: Args, rows: u32) {
    for row in 0..opaque(rows) {
        tile.set(32 * row + thread::thread_idx_x(), args.right + row);
    }
    thread::sync_threads();
}

#[inline(always)]
fn output(args: Args, value: u32) {
    args.output.set(thread::thread_idx_x().into(), value);
}

/// Executes the iterations `0..end`, with a step of 1 that compilers do not know.
#[inline(always)]
fn each_turn(args: Args, end: u32, mut turn: impl FnMut(u32)) {
    let mut k = 0;
    while k < end {
        turn(k);
        k += args.right + 1;
    }
}

/// Returns a pseudo-random number below 16 that depends on the iteration and the lane.
#[inline(always)]
fn scattered(turn: u32, lane: u32) -> u32 {
    (32 * turn + lane).wrapping_mul(0x9e37_79b9) >> 28
}

kernel! {
    /// Loads a tile of 170 elements. The first 5 are before the start of the buffer. In the last iteration 74 of 96 threads
    /// load an element.
    pub fn clamped_tile<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        for j in (thread::thread_idx_x()..opaque(170)).step_by(96) {
            tile.set(j, args.input.get(j.saturating_sub(5).into()));
        }
        thread::sync_threads();
        output(args, tile.get(thread::thread_idx_x() + 10));
    }
}

kernel! {
    /// The same at the end of the buffer, with the last element for all elements beyond it, and with blocks of 64 threads.
    pub fn clamped_tile_at_the_end<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        for j in (thread::thread_idx_x()..opaque(170)).step_by(64) {
            tile.set(j, args.input.get((j + 110).min(255).into()));
        }
        thread::sync_threads();
        output(args, tile.get(thread::thread_idx_x() + 10));
    }
}

kernel! {
    /// The same, but the buffer wraps around: its first element follows the last one.
    pub fn wrapped_tile<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        for j in (thread::thread_idx_x()..opaque(170)).step_by(64) {
            tile.set(j, args.input.get(((j + 150) % 256).into()));
        }
        thread::sync_threads();
        output(args, tile.get(thread::thread_idx_x() + 10));
    }
}

kernel! {
    /// A tile of 18 × 18 cells, from a world of 16 × 16 cells that wraps around, in rows 19 words apart.
    pub fn torus_tile<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        for j in (thread::thread_idx_x()..opaque(324)).step_by(256) {
            let [row, column] = [j / 18, j % 18];
            let cell = args.input.get((16 * ((row + 15) % 16) + (column + 15) % 16).into());
            tile.set(19 * row + column, cell);
        }
        thread::sync_threads();
        let t = thread::thread_idx_x();
        output(args, tile.get(19 * (t / 16 + 1) + t % 16 + 1));
    }
}

kernel! {
    /// Loads four elements at a time, clamped to the first four. The last iteration is for 8 lanes.
    pub fn clamped_fours<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        for j in (thread::thread_idx_x()..opaque(40)).step_by(32) {
            tile.set_pack(4 * j, args.input.get_pack::<4>((4 * j.saturating_sub(3)).into()));
        }
        thread::sync_threads();
        output(args, tile.get_pack::<4>(4 * thread::thread_idx_x()).into_iter().fold(0, u32::wrapping_add));
    }
}

kernel! {
    /// In even iterations the odd lanes load, in odd iterations the even lanes.
    pub fn red_black<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        fill(&tile, args, 9);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        each_turn(args, 8, |k| {
            if !(t + k).is_multiple_of(2) {
                sum += tile.get(t + 33 * k);
            }
        });
        output(args, sum);
    }
}

kernel! {
    /// The same in seven iterations, so that odd lanes load once more than even lanes.
    pub fn red_black_of_seven<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        fill(&tile, args, 9);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        each_turn(args, 7, |k| {
            if !(t + k).is_multiple_of(2) {
                sum += tile.get(t + 33 * k);
            }
        });
        output(args, sum);
    }
}

kernel! {
    /// The iterations of `red_black`. Compilers split this loop in two: in an inner loop, each lane searches for its next
    /// iteration. Then it loads together with the other lanes, which are in other iterations.
    pub fn red_black_continued<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        fill(&tile, args, 9);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        for k in 0..opaque(8) {
            if (t + k).is_multiple_of(2) {
                continue;
            }
            sum += tile.get(t + 33 * k);
        }
        output(args, sum);
    }
}

kernel! {
    /// All lanes load a number that decides whether a lane loads again. In the inner loop that compilers make to search for
    /// the next iteration, lanes make the first load at different times.
    pub fn chosen_turns_continued<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        fill(&tile, args, 9);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        for k in 0..opaque(8) {
            let element = args.input.get((t + 32 * k).into());
            if scattered(element, 0) >= 9 {
                continue;
            }
            sum += tile.get(t + 33 * k);
        }
        output(args, sum);
    }
}

kernel! {
    /// Each cell of one colour becomes the sum of its neighbours of the other colour. Lanes at the border return early.
    pub fn red_black_update<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        fill(&tile, args, 10);
        let t = thread::thread_idx_x();
        if t == 0 || t == 31 {
            return;
        }
        for k in 0..opaque(8) {
            if (t + k).is_multiple_of(2) {
                continue;
            }
            let cell = t + 33 * k;
            let left = tile.get(cell - 1);
            let right = tile.get(cell + 1);
            tile.set(cell, left + right);
        }
    }
}

kernel! {
    /// A third of the lanes load in each iteration.
    pub fn three_colours<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        fill(&tile, args, 9);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        for k in 0..opaque(8) {
            if (t + k).is_multiple_of(3) {
                sum += tile.get(t + 33 * k);
            }
        }
        output(args, sum);
    }
}

kernel! {
    /// All lanes load in each iteration, and half of them load again.
    pub fn colours_beside_all<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        fill(&tile, args, 9);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        for k in 0..opaque(8) {
            sum += tile.get(32 * k + t);
            if (t + k).is_multiple_of(2) {
                sum += args.input.get((t + 16 * k).into());
            }
        }
        output(args, sum);
    }
}

kernel! {
    /// Iterations that lanes skip pseudo-randomly.
    pub fn scattered_turns<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        fill(&tile, args, 9);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        each_turn(args, 8, |k| {
            if scattered(k, t) < 9 {
                sum += tile.get(t + 33 * k);
            }
        });
        output(args, sum);
    }
}

kernel! {
    /// Lane `t` executes `t` iterations.
    pub fn triangle<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        fill(&tile, args, 32);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        each_turn(args, t, |k| sum += tile.get(t * 31 + k));
        output(args, sum);
    }
}

kernel! {
    /// The same, in a loop that compilers unroll: four iterations at a time, then two, then one, each for the lanes that
    /// have that number of iterations left.
    pub fn triangle_unrolled<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        fill(&tile, args, 32);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        for k in 0..opaque(t) {
            sum += tile.get(t * 31 + k);
        }
        output(args, sum);
    }
}

kernel! {
    /// An inner loop that lanes leave early, at a different iteration in each outer iteration.
    pub fn early_exits<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        fill(&tile, args, 32);
        let t = thread::thread_idx_x();
        for row in 0..opaque(4) {
            let mut sum = 0;
            each_turn(args, 1 + (t + row) % 4, |k| sum += tile.get(t + 33 * (4 * row + k)));
            args.output.set((32 * row + t).into(), sum);
        }
    }
}

kernel! {
    /// The same, with scattered loads.
    pub fn early_exits_anywhere<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        fill(&tile, args, 32);
        let t = thread::thread_idx_x();
        for row in 0..opaque(4) {
            let mut sum = 0;
            each_turn(args, 1 + (t + row) % 4, |k| {
                sum += tile.get(t.wrapping_mul(scattered(4 * row + k, t)) % 1024);
            });
            args.output.set((32 * row + t).into(), sum);
        }
    }
}

kernel! {
    /// A loop that lanes leave in the middle of an iteration.
    pub fn breaks<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        fill(&tile, args, 9);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        for k in 0..opaque(8) {
            sum += tile.get(t + 32 * k);
            if scattered(k, t) == 0 {
                break;
            }
            sum += args.input.get((2 * t + 16 * k).into());
        }
        output(args, sum);
    }
}

kernel! {
    /// Lanes without work return early, the others execute up to three iterations.
    pub fn early_returns<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        fill(&tile, args, 9);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        if t >= 27 {
            return;
        }
        each_turn(args, 1 + t / 10, |k| sum += tile.get(2 * t + 32 * k));
        output(args, sum);
    }
}

kernel! {
    /// Rows of 0 to 4 elements, whose positions in a table are loaded.
    pub fn ragged_rows<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        fill(&tile, args, 9);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        each_turn(args, 7 * t % 5, |k| {
            let place = args.input.get((6 * t + k).into());
            sum += tile.get(5 * place % 97);
        });
        output(args, sum);
    }
}

kernel! {
    /// The same, in a loop that compilers unroll.
    pub fn ragged_rows_unrolled<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        fill(&tile, args, 9);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        for k in 0..opaque(7 * t % 5) {
            let place = args.input.get((6 * t + k).into());
            sum += tile.get(5 * place % 97);
        }
        output(args, sum);
    }
}

kernel! {
    /// The threads process 230 elements together. The last iteration is for some threads only.
    pub fn grid_stride<'l>(_arena, args: Args<'l>) {
        for i in (thread::thread_idx_x()..opaque(230)).step_by(64) {
            args.output.set(i.into(), args.input.get(i.into()) + args.right);
        }
    }
}

kernel! {
    /// Four elements per iteration while four are left, then one per iteration.
    pub fn fours_and_a_rest<'l>(_arena, args: Args<'l>) {
        let (mut i, mut sum) = (thread::thread_idx_x(), 0);
        while i + 96 < opaque(230) {
            sum += args.input.get(i.into());
            sum += args.input.get((i + 32).into());
            sum += args.input.get((i + 64).into());
            sum += args.input.get((i + 96).into());
            i += 128;
        }
        while i < opaque(230) {
            sum += args.input.get(i.into());
            i += 32;
        }
        output(args, sum);
    }
}

kernel! {
    /// Rows of 16 lanes. A warp has two of them, and in the last iteration only one.
    pub fn rows_of_sixteen<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        let t = thread::thread_idx_x();
        for row in (t / 16..opaque(13)).step_by(4) {
            tile.set(17 * row + t % 16, args.input.get((16 * row + t % 16).into()));
        }
        thread::sync_threads();
        let t = thread::thread_idx_x();
        output(args, tile.get(17 * (t / 16) + t % 16));
    }
}

kernel! {
    /// A ring of 100 words, around which lanes wrap at different iterations.
    pub fn ring<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        fill(&tile, args, 9);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        for k in 0..opaque(6) {
            sum += tile.get((5 * t + 32 * k) % 100);
        }
        output(args, sum);
    }
}

kernel! {
    /// A histogram. No two lanes of a request update the same bin. The last iteration is for some lanes only.
    pub fn histogram_of_data<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        fill(&tile, args, 1);
        for i in (thread::thread_idx_x()..opaque(200)).step_by(32) {
            let sample = args.input.get(i.into());
            tile.fetch_add(7 * sample % 32, 1, Ordering::Relaxed);
        }
        thread::sync_threads();
        output(args, tile.get(thread::thread_idx_x()));
    }
}

kernel! {
    /// Each lane stores those of its elements that it selects, one after the other.
    pub fn chosen<'l>(arena, args: Args<'l>) {
        let tile = words(arena);
        let (t, mut kept) = (thread::thread_idx_x(), 0);
        for k in 0..opaque(8) {
            let element = args.input.get((32 * k + t).into());
            if scattered(element, 0) < 5 {
                tile.set(33 * kept + t, element);
                kept += 1;
            }
        }
        output(args, kept);
    }
}

/// The list of the kernels, and the number of threads of each one's block.
macro_rules! turns {
    ($($name:ident: $threads:literal;)*) => {
        /// Calls the visitor for every kernel.
        #[cfg(not(target_os = "cuda"))]
        pub fn visit(visitor: &mut impl ProbeVisitor) {
            $(visitor.visit::<$name>(&Probe { name: stringify!($name), threads: $threads });)*
        }
    };
}

turns! {
    clamped_tile: 96;
    clamped_tile_at_the_end: 64;
    wrapped_tile: 64;
    torus_tile: 256;
    clamped_fours: 32;
    red_black: 32;
    red_black_of_seven: 32;
    red_black_continued: 32;
    chosen_turns_continued: 32;
    red_black_update: 32;
    three_colours: 32;
    colours_beside_all: 32;
    scattered_turns: 32;
    triangle: 32;
    triangle_unrolled: 32;
    early_exits: 32;
    early_exits_anywhere: 32;
    breaks: 32;
    early_returns: 32;
    ragged_rows: 32;
    ragged_rows_unrolled: 32;
    grid_stride: 64;
    fours_and_a_rest: 32;
    rows_of_sixteen: 64;
    ring: 32;
    histogram_of_data: 32;
    chosen: 32;
}
