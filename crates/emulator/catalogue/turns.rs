//! Kernels whose lanes go different ways: loops with a last turn for some lanes only, turns that lanes leave out, loops that
//! they leave early.
//!
//! Each access is one instruction in the compiled code, and each turn one of the source's, except in the kernels whose names
//! end with `_unrolled` or `_continued`. Loops that lanes leave at different turns step by an argument: no compiler counts
//! such turns in advance, so none unrolls them. Which lanes go together is told in the comments, and computed turn by turn
//! in the emulator's tests.

use crate::case::{Args, SHARED_BYTES};
#[cfg(not(target_os = "cuda"))]
use crate::probes::{Probe, ProbeVisitor};
use cuda_std::math::opaque;
use cuda_std::{Arena, Ordering, Shared, kernel, thread};

/// All of the block's shared memory.
#[inline(always)]
fn words(arena: Arena) -> Shared<u32> {
    arena.split(SHARED_BYTES / 4).0
}

/// The first warp writes this number of rows of 32 words.
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

/// The turns `0..end`, by a step of 1 that compilers do not know.
#[inline(always)]
fn each_turn(args: Args, end: u32, mut turn: impl FnMut(u32)) {
    let mut k = 0;
    while k < end {
        turn(k);
        k += args.right + 1;
    }
}

/// A number that lanes and turns do not have in common.
#[inline(always)]
fn scattered(turn: u32, lane: u32) -> u32 {
    (32 * turn + lane).wrapping_mul(0x9e37_79b9) >> 28
}

kernel! {
    /// A tile of 170 elements is loaded; 5 of them are before the first one of the buffer. The last turn is for 74 of 96
    /// threads.
    pub fn clamped_tile(arena, args: Args) {
        let tile = words(arena);
        for j in (thread::thread_idx_x()..opaque(170)).step_by(96) {
            tile.set(j, args.input.get(j.saturating_sub(5).into()));
        }
        thread::sync_threads();
        output(args, tile.get(thread::thread_idx_x() + 10));
    }
}

kernel! {
    /// The same at the end of the buffer, beyond which the last element stands for all; the tile is half as long again.
    pub fn clamped_tile_at_the_end(arena, args: Args) {
        let tile = words(arena);
        for j in (thread::thread_idx_x()..opaque(170)).step_by(64) {
            tile.set(j, args.input.get((j + 110).min(255).into()));
        }
        thread::sync_threads();
        output(args, tile.get(thread::thread_idx_x() + 10));
    }
}

kernel! {
    /// The same, and behind the last element comes the first one again.
    pub fn wrapped_tile(arena, args: Args) {
        let tile = words(arena);
        for j in (thread::thread_idx_x()..opaque(170)).step_by(64) {
            tile.set(j, args.input.get(((j + 150) % 256).into()));
        }
        thread::sync_threads();
        output(args, tile.get(thread::thread_idx_x() + 10));
    }
}

kernel! {
    /// A tile of 18 by 18 cells of a world of 16 by 16 that wraps around, in rows 19 words apart.
    pub fn torus_tile(arena, args: Args) {
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
    /// Four elements at a time, the first ones again for lanes before them. The last turn is for 8 lanes.
    pub fn clamped_fours(arena, args: Args) {
        let tile = words(arena);
        for j in (thread::thread_idx_x()..opaque(40)).step_by(32) {
            tile.set_pack(4 * j, args.input.get_pack::<4>((4 * j.saturating_sub(3)).into()));
        }
        thread::sync_threads();
        output(args, tile.get_pack::<4>(4 * thread::thread_idx_x()).into_iter().fold(0, u32::wrapping_add));
    }
}

kernel! {
    /// In even turns the odd lanes load, and in odd turns the even ones.
    pub fn red_black(arena, args: Args) {
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
    /// The same in seven turns, so that odd lanes have one more.
    pub fn red_black_of_seven(arena, args: Args) {
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
    /// The turns of `red_black`. Compilers make two loops of this one: in an inner one a lane looks for its next turn, and
    /// then it loads together with the other lanes, whose turn is another one.
    pub fn red_black_continued(arena, args: Args) {
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
    /// All lanes load what tells whether a lane loads once more. In the loop that compilers make to look for the next turn,
    /// the first load is that of a lane at a time of its own.
    pub fn chosen_turns_continued(arena, args: Args) {
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
    /// Each cell of one colour becomes the sum of its neighbours of the other one. Lanes at the border stay out.
    pub fn red_black_update(arena, args: Args) {
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
    /// A third of the lanes in each turn.
    pub fn three_colours(arena, args: Args) {
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
    /// All lanes load in each turn, and half of them once more.
    pub fn colours_beside_all(arena, args: Args) {
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
    /// Turns that lanes leave out as it comes.
    pub fn scattered_turns(arena, args: Args) {
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
    /// Lane `t` makes `t` turns.
    pub fn triangle(arena, args: Args) {
        let tile = words(arena);
        fill(&tile, args, 32);
        let (t, mut sum) = (thread::thread_idx_x(), 0);
        each_turn(args, t, |k| sum += tile.get(t * 31 + k));
        output(args, sum);
    }
}

kernel! {
    /// The same, in a loop that compilers unroll: four turns at a time, then two, then one, each for the lanes that still have
    /// as many.
    pub fn triangle_unrolled(arena, args: Args) {
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
    /// An inner loop that lanes leave early, at another turn each time, and come back to.
    pub fn early_exits(arena, args: Args) {
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
    /// The same, but what is loaded is anywhere.
    pub fn early_exits_anywhere(arena, args: Args) {
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
    /// A loop that lanes leave in the middle of a turn.
    pub fn breaks(arena, args: Args) {
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
    /// Lanes that have nothing to do end early, the others make up to three turns.
    pub fn early_returns(arena, args: Args) {
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
    /// Rows of 0 to 4 elements, whose places in a table are loaded.
    pub fn ragged_rows(arena, args: Args) {
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
    pub fn ragged_rows_unrolled(arena, args: Args) {
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
    /// The threads go over 230 elements together. The last turn is for some.
    pub fn grid_stride(_arena, args: Args) {
        for i in (thread::thread_idx_x()..opaque(230)).step_by(64) {
            args.output.set(i.into(), args.input.get(i.into()) + args.right);
        }
    }
}

kernel! {
    /// Four elements in a turn, as long as there are that many, and then one in each.
    pub fn fours_and_a_rest(_arena, args: Args) {
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
    /// Rows of 16 lanes: a warp has two of them, and in the last turn one.
    pub fn rows_of_sixteen(arena, args: Args) {
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
    /// A ring of 100 words, which the lanes go round at their own time.
    pub fn ring(arena, args: Args) {
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
    /// A histogram of 17 bins; no two lanes of a request update the same bin. The last turn is for some lanes.
    pub fn histogram_of_data(arena, args: Args) {
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
    /// Each lane keeps what it chooses of its elements, one behind the other.
    pub fn chosen(arena, args: Args) {
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

/// The list of the kernels, and the threads of each one's block.
macro_rules! turns {
    ($($name:ident: $threads:literal;)*) => {
        /// Shows a visitor every kernel.
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
