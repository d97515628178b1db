//! Minima and maxima along one axis, at a cost that hardly depends on the window. Two launches make those of rectangles.
//!
//! A block computes a tile: [`RUN`] times `runs` neighbouring positions along the axis, of each of `lines` lines. [`along`] has one line, a
//! channel of a row. [`down`] has up to 32 lines, neighbouring elements of a row, a power of two. The block loads the keys of the tile and its
//! halo, and cuts each line into runs of [`RUN`] keys. With a barrier after each step, it finds
//!
//! 1. the least key of each run: thread `t` has line `t % lines` of run `t / lines`, and so on by the threads of the block;
//! 2. the least keys of 2, 4, 8, … neighbouring runs, up to the number of runs that all windows of a run contain;
//! 3. the outputs, a run of each line per thread.
//!
//! A window of `w = 9 a + b + 1` keys consists of the end of a run, `a - 1` or `a` whole ones, and the beginning of another:
//!
//! ```text
//! runs      | . . . x x x x x x | x x x x x x x x x | x x . . . . . . . |
//! window            suffix            whole            prefix
//! ```
//!
//! A thread has the suffixes of its run in registers, and takes the prefixes from the run that is `a` behind it, one key more for each
//! output. The least key of the runs between is that of two groups of step 2, which may overlap. So an output takes about four comparisons,
//! and a position `log2 (a) / 9` for step 2.
//!
//! Shared memory: the keys, line by line within a position; twice the least keys of runs, which the steps of 2 read and write in turn; and the
//! outputs of [`along`], from where the block stores neighbours together. In steps 1 and 3, the lanes of a warp access `lines` neighbouring
//! words of runs `9 lines` words apart. Since 9 is odd, these are different banks. Everywhere else they access consecutive words.
//!
//! Segments that windows divide into suffixes and prefixes are the method of M. van Herk, *A fast algorithm for local minimum and maximum
//! filters on rectangular and octagonal kernels* (1992), and J. Gil and M. Werman, *Computing 2-D min, median, and max filters* (1993). Here
//! segments are short, so that each is a thread's.

use super::PassArgs;
use super::key::{Extreme, Ranked};
use core::array::from_fn;
use cuda_std::{Arena, Shared, thread};

/// Positions of a run: odd, because of the banks.
pub(super) const RUN: u32 = 9;

/// Samples of a thread that are loaded at the same time.
const BATCH: u32 = 4;

/// The sizes of a tile.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// Runs with outputs.
    pub(super) runs: u32,
    /// Positions with keys.
    pub(super) positions: u32,
    /// Runs from the first one of a window to the last one of the first window of a run.
    ahead: u32,
    /// Positions of that last run, without its first one.
    rest: u32,
    /// Runs whose least keys are needed.
    pub(super) totals: u32,
}

impl Sizes {
    /// Returns the sizes for windows of more than [`RUN`] keys.
    #[inline(always)]
    pub(super) fn new(runs: u32, taps: u32) -> Self {
        let (ahead, rest) = ((taps - 1) / RUN, (taps - 1) % RUN);
        Sizes { runs, positions: runs * RUN + taps - 1, ahead, rest, totals: runs + ahead - 1 }
    }
}

/// A tile in shared memory.
struct Tile<'l, T: Ranked> {
    sizes: Sizes,
    /// Lines, and its logarithm.
    lines: u32,
    shift: u32,
    extreme: Extreme,
    keys: Shared<'l, T::Key>,
    /// Least keys of groups of runs, twice.
    totals: Shared<'l, T::Key>,
}

/// The groups of runs that are the last ones found.
struct Groups {
    /// Runs of a group.
    span: u32,
    /// Where the groups are.
    place: u32,
}

impl<'l, T: Ranked> Tile<'l, T> {
    #[inline(always)]
    fn new(arena: Arena<'l>, args: &PassArgs<T>) -> (Self, Arena<'l>) {
        let (sizes, lines) = (Sizes::new(args.runs, args.axis.taps), args.lines);
        let extreme = Extreme { greatest: args.greatest != 0, omit: args.omit != 0 };
        let (keys, arena) = arena.split::<T::Key>(sizes.positions * lines);
        let (totals, arena) = arena.split::<T::Key>(2 * sizes.totals * lines);
        (Tile { sizes, lines, shift: lines.trailing_zeros(), extreme, keys, totals }, arena)
    }

    /// Returns the position or the run, and the line, of an element of the tile.
    #[inline(always)]
    fn place(&self, element: u32) -> [u32; 2] {
        [element >> self.shift, element & (self.lines - 1)]
    }

    /// Loads the keys of the samples that `sample` returns for each position and line.
    #[inline(always)]
    fn load(&self, sample: impl Fn(u32, u32) -> T) {
        let (len, threads) = (self.sizes.positions * self.lines, thread::block_dim_x());
        let mut first = thread::thread_idx_x();
        while first < len {
            let samples: [T; BATCH as usize] = from_fn(
                #[inline(always)]
                |k| {
                    // Those beyond the end are not kept.
                    let [position, line] = self.place((first + k as u32 * threads).min(len - 1));
                    sample(position, line)
                },
            );
            for k in 0..BATCH {
                let element = first + k * threads;
                if element < len {
                    self.keys.set(element, self.extreme.key(samples[k as usize]));
                }
            }
            first += BATCH * threads;
        }
        thread::sync_threads();
    }

    /// Finds the least keys of runs, and of as many neighbouring ones as are in every window of a run.
    #[inline(always)]
    fn find_groups(&self) -> Groups {
        let (len, threads) = (self.sizes.totals * self.lines, thread::block_dim_x());
        let mut element = thread::thread_idx_x();
        while element < len {
            let keys = self.run(element);
            self.totals.set(element, suffixes(keys)[0]);
            element += threads;
        }
        thread::sync_threads();

        let (mut groups, mut other) = (Groups { span: 1, place: 0 }, len);
        while 2 * groups.span < self.sizes.ahead {
            let (step, end) = (groups.span * self.lines, len + self.lines - 2 * groups.span * self.lines);
            let mut element = thread::thread_idx_x();
            while element < end {
                let (first, second) = (groups.place + element, groups.place + element + step);
                self.totals.set(other + element, self.totals.get(first).min(self.totals.get(second)));
                element += threads;
            }
            (groups, other) = (Groups { span: 2 * groups.span, place: other }, groups.place);
            thread::sync_threads();
        }
        groups
    }

    /// Returns the keys of a run and line.
    #[inline(always)]
    fn run(&self, element: u32) -> [T::Key; RUN as usize] {
        let [run, line] = self.place(element);
        let first = run * RUN * self.lines + line;
        from_fn(
            #[inline(always)]
            |k| self.keys.get(first + k as u32 * self.lines),
        )
    }

    /// Finds the least keys of all windows, and calls `store` with the first position of a run, its line, and the keys.
    #[inline(always)]
    fn find_outputs(&self, groups: &Groups, store: impl Fn(u32, u32, [T::Key; RUN as usize])) {
        let (len, threads, sizes) = (self.sizes.runs * self.lines, thread::block_dim_x(), self.sizes);
        let mut element = thread::thread_idx_x();
        while element < len {
            let [run, line] = self.place(element);
            let mut keys = suffixes(self.run(element));
            let mut key = (run + sizes.ahead) * RUN * self.lines + line;
            let mut least = self.keys.get(key);
            if sizes.ahead > 1 {
                let last = element + (sizes.ahead - groups.span) * self.lines;
                least = least.min(self.totals.get(groups.place + element + self.lines));
                least = least.min(self.totals.get(groups.place + last));
            }
            let mut rest = 0;
            while rest < sizes.rest {
                key += self.lines;
                least = least.min(self.keys.get(key));
                rest += 1;
            }
            for (k, output) in keys.iter_mut().enumerate() {
                if k > 0 {
                    key += self.lines;
                    least = least.min(self.keys.get(key));
                }
                *output = (*output).min(least);
            }
            store(run * RUN, line, keys);
            element += threads;
        }
    }
}

/// Returns the least one of each key and those behind it.
#[inline(always)]
fn suffixes<K: Copy + Ord>(mut keys: [K; RUN as usize]) -> [K; RUN as usize] {
    for k in 1..RUN as usize {
        let place = RUN as usize - 1 - k;
        keys[place] = keys[place].min(keys[place + 1]);
    }
    keys
}

/// The extremes along rows. Block `b` has tile `b % tiles` of a channel of a row: number `first_group + b / tiles`.
#[inline(always)]
pub(super) fn along<T: Ranked>(arena: Arena, args: &PassArgs<T>) {
    let (tile, arena) = Tile::new(arena, args);
    let (staged, _) = arena.split::<T::Key>(args.runs * RUN);
    let (block, channels) = (thread::block_idx_x(), args.channels as u64);
    let group = args.first_group + (block / args.tiles) as u64;
    let (row, channel) = (group / channels, group % channels);
    let first = (block % args.tiles) as u64 * (args.runs * RUN) as u64;
    tile.load(
        #[inline(always)]
        |position, _| match args.axis.source(args.axis.first(first) + position as i64) {
            Some(pixel) => args.input.get(row * args.input_pitch + pixel * channels + channel),
            None => args.outside,
        },
    );
    let groups = tile.find_groups();
    tile.find_outputs(
        &groups,
        #[inline(always)]
        |position, _, keys| {
            for k in 0..RUN {
                staged.set(position + k, keys[k as usize]);
            }
        },
    );
    thread::sync_threads();

    let count = (args.axis.outputs - first).min((args.runs * RUN) as u64) as u32;
    let line = row * args.output_pitch + first * channels + channel;
    let mut position = thread::thread_idx_x();
    while position < count {
        args.output.set(line + position as u64 * channels, tile.extreme.sample(staged.get(position)));
        position += thread::block_dim_x();
    }
}

/// The extremes down columns. Block `b` has strip `b % tiles` of a tile of rows: number `first_group + b / tiles` of those of all planes.
#[inline(always)]
pub(super) fn down<T: Ranked>(arena: Arena, args: &PassArgs<T>) {
    let (tile, _) = Tile::new(arena, args);
    let (block, height) = (thread::block_idx_x(), (args.runs * RUN) as u64);
    let (group, tiles) = (args.first_group + (block / args.tiles) as u64, args.axis.outputs.div_ceil(height));
    let (plane, first) = (group / tiles, group % tiles * height);
    let element = (block % args.tiles) as u64 * args.lines as u64;
    tile.load(
        #[inline(always)]
        |position, line| match args.axis.source(args.axis.first(first) + position as i64) {
            Some(row) if element + (line as u64) < args.width => {
                args.input.get((plane * args.axis.samples + row) * args.input_pitch + element + line as u64)
            }
            _ => args.outside,
        },
    );
    let groups = tile.find_groups();
    tile.find_outputs(
        &groups,
        #[inline(always)]
        |position, line, keys| {
            let (row, element) = (first + position as u64, element + line as u64);
            let place = (plane * args.axis.outputs + row) * args.output_pitch + element;
            for k in 0..RUN as u64 {
                if element < args.width && row + k < args.axis.outputs {
                    args.output.set(place + k * args.output_pitch, tile.extreme.sample(keys[k as usize]));
                }
            }
        },
    );
}
