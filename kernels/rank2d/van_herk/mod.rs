//! Minima and maxima along one axis, at a cost that hardly depends on the window. Two launches make those of rectangles.
//!
//! A block computes a tile: [`RUN`] times `runs` neighbouring positions along the axis, of each of `lines` lines. Words have the keys of one
//! line, or of two ([`Packing`]). `along.rs` has one line of words, which are a channel of one row or of two. `down.rs` has up to 32 lines,
//! a power of two, which are neighbouring elements of a row; words of two keys have twice as many elements. The block loads the words of the
//! tile and its halo, and cuts each line into runs of [`RUN`] words. With a barrier after each step, it finds
//!
//! 1. the least word of each run: a thread has a run of one line, or of `W` neighbouring ones that are loaded and stored together;
//! 2. the least words of 2, 4, 8, … neighbouring runs, up to the number of runs that all windows of a run contain;
//! 3. the outputs of a run, likewise.
//!
//! A window of `w = 9 a + b + 1` keys consists of the end of a run, `a - 1` or `a` whole ones, and the beginning of another:
//!
//! ```text
//! runs      | . . . x x x x x x | x x x x x x x x x | x x . . . . . . . |
//! window            suffix            whole            prefix
//! ```
//!
//! A thread has the suffixes of its run in registers, and takes the prefixes from the run that is `a` behind it and the next one, one word
//! more for each output. The least word of the runs between is that of two groups of step 2, which may overlap. So an output takes about
//! four comparisons, and a position `log2 (a) / 9` for step 2.
//!
//! Shared memory: the words, line by line within a position; twice the least words of runs, which the steps of 2 read and write in turn; and
//! the outputs of `along.rs`, from where the block stores neighbours together. In steps 1 and 3, the lanes of a warp access `lines`
//! neighbouring words of runs `9 lines` words apart. Since 9 is odd, these are different banks. Everywhere else they access consecutive words.
//!
//! Segments that windows divide into suffixes and prefixes are the method of M. van Herk, *A fast algorithm for local minimum and maximum
//! filters on rectangular and octagonal kernels* (1992), and J. Gil and M. Werman, *Computing 2-D min, median, and max filters* (1993). Here
//! segments are short, so that each is a thread's.

mod along;
mod down;

pub(super) use along::along;
pub(super) use down::down;

use super::key::{Extreme, Ranked};
use super::packing::Packing;
use super::{Axis, PassArgs};
use core::array::from_fn;
use cuda_std::{Arena, Shared, thread};

/// Positions of a run: odd, because of the banks.
pub(super) const RUN: u32 = 9;

/// Samples, or packs of these, that a thread loads at the same time.
const BATCH: u32 = 4;

/// Bytes in a word of memory.
const BYTES: u32 = 4;

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

    /// Returns the words of a tile, which are stored four at a time.
    #[inline(always)]
    pub(super) fn words(&self, lines: u32) -> u32 {
        (self.positions * lines).next_multiple_of(4)
    }

    /// Returns the words with outputs of a line, likewise.
    #[inline(always)]
    pub(super) fn outputs(&self) -> u32 {
        (self.runs * RUN).next_multiple_of(4)
    }
}

impl<T: Ranked> PassArgs<'_, T> {
    #[inline(always)]
    fn extreme(&self) -> Extreme {
        Extreme { greatest: self.greatest != 0, omit: self.omit != 0 }
    }
}

/// Returns the positions of a tile that are samples of the picture, from the first one to the end, if position 0 is at `start` of the axis.
#[inline(always)]
fn inside(axis: &Axis, start: i64, positions: u32) -> [u32; 2] {
    let before = if start < 0 { start.unsigned_abs() } else { 0 }.min(positions as u64);
    let end = (axis.samples as i64 - start).clamp(before as i64, positions as i64);
    [before as u32, end as u32]
}

/// Returns the samples of both keys of a word, or one twice.
#[inline(always)]
fn both<P: Packing>(sample: impl Fn(u32) -> P::Sample) -> [P::Sample; 2] {
    let first = sample(0);
    [first, if P::KEYS == 2 { sample(1) } else { first }]
}

/// The words of `W` neighbouring lines at a position.
type Pack<P, const W: usize> = [<P as Packing>::Word; W];

/// A tile in shared memory, whose words are accessed in packs.
struct Tile<'l, P: Packing, const W: usize> {
    sizes: Sizes,
    /// Packs of a position, and its logarithm.
    packs: u32,
    shift: u32,
    words: Shared<'l, P::Word>,
    /// Least words of groups of runs, twice.
    totals: Shared<'l, P::Word>,
}

/// The groups of runs that are the last ones found.
struct Groups {
    /// Runs of a group.
    span: u32,
    /// The pack with which they begin.
    place: u32,
}

impl<'l, P: Packing, const W: usize> Tile<'l, P, W> {
    /// Returns the tile of a number of lines, whose words are not loaded yet.
    #[inline(always)]
    fn new(arena: Arena<'l>, args: &PassArgs<P::Sample>, lines: u32) -> (Self, Arena<'l>) {
        let (sizes, packs) = (Sizes::new(args.runs, args.axis.taps), lines / W as u32);
        let (words, arena) = arena.split::<P::Word>(sizes.words(lines));
        let (totals, arena) = arena.split::<P::Word>(2 * sizes.totals * lines);
        (Tile { sizes, packs, shift: packs.trailing_zeros(), words, totals }, arena)
    }

    /// Returns the position or the run, and the number at this position, of a pack of the tile.
    #[inline(always)]
    fn place(&self, pack: u32) -> [u32; 2] {
        [pack >> self.shift, pack & (self.packs - 1)]
    }

    #[inline(always)]
    #[track_caller]
    fn word(&self, pack: u32) -> Pack<P, W> {
        P::pack(&self.words, pack * W as u32)
    }

    #[inline(always)]
    #[track_caller]
    fn total(&self, pack: u32) -> Pack<P, W> {
        P::pack(&self.totals, pack * W as u32)
    }

    /// Finds the least words of all windows, and calls `store` with the position of each pack, its number there, and the words. All threads
    /// take part.
    #[inline(always)]
    fn find_outputs(&self, store: impl Fn(u32, u32, Pack<P, W>)) {
        thread::sync_threads();
        let groups = self.find_groups();
        let (len, threads) = (self.sizes.runs * self.packs, thread::block_dim_x());
        let mut pack = thread::thread_idx_x();
        while pack < len {
            self.find_run(pack, &groups, &store);
            pack += threads;
        }
    }

    /// Finds the least words of runs, and of as many neighbouring ones as are in every window of a run.
    #[inline(always)]
    fn find_groups(&self) -> Groups {
        let (len, threads) = (self.sizes.totals * self.packs, thread::block_dim_x());
        let mut pack = thread::thread_idx_x();
        while pack < len {
            P::set_pack(&self.totals, pack * W as u32, suffixes::<P, W>(self.run(pack))[0]);
            pack += threads;
        }
        thread::sync_threads();

        let (mut groups, mut other) = (Groups { span: 1, place: 0 }, len);
        while 2 * groups.span < self.sizes.ahead {
            let (step, end) = (groups.span * self.packs, len + self.packs - 2 * groups.span * self.packs);
            let mut pack = thread::thread_idx_x();
            while pack < end {
                let (first, second) = (groups.place + pack, groups.place + pack + step);
                let least = least::<P, W>(self.total(first), self.total(second));
                P::set_pack(&self.totals, (other + pack) * W as u32, least);
                pack += threads;
            }
            (groups, other) = (Groups { span: 2 * groups.span, place: other }, groups.place);
            thread::sync_threads();
        }
        groups
    }

    /// Returns the words of a run.
    #[inline(always)]
    fn run(&self, pack: u32) -> [Pack<P, W>; RUN as usize] {
        let [run, number] = self.place(pack);
        let first = run * RUN * self.packs + number;
        from_fn(
            #[inline(always)]
            |k| self.word(first + k as u32 * self.packs),
        )
    }

    /// Finds the outputs of a run.
    #[inline(always)]
    fn find_run(&self, pack: u32, groups: &Groups, store: &impl Fn(u32, u32, Pack<P, W>)) {
        let (sizes, packs, [run, number]) = (self.sizes, self.packs, self.place(pack));
        let suffixes = suffixes::<P, W>(self.run(pack));
        let mut place = (run + sizes.ahead) * RUN * packs + number;
        let mut prefix = self.word(place);
        if sizes.ahead > 1 {
            let last = pack + (sizes.ahead - groups.span) * packs;
            prefix = least::<P, W>(prefix, self.total(groups.place + pack + packs));
            prefix = least::<P, W>(prefix, self.total(groups.place + last));
        }
        let mut rest = 0;
        while rest < sizes.rest {
            place += packs;
            prefix = least::<P, W>(prefix, self.word(place));
            rest += 1;
        }
        for k in 0..RUN {
            if k > 0 {
                place += packs;
                prefix = least::<P, W>(prefix, self.word(place));
            }
            store(run * RUN + k, number, least::<P, W>(suffixes[k as usize], prefix));
        }
    }
}

/// Returns the lesser words of each line.
#[inline(always)]
fn least<P: Packing, const W: usize>(a: Pack<P, W>, b: Pack<P, W>) -> Pack<P, W> {
    from_fn(
        #[inline(always)]
        |i| P::least(a[i], b[i]),
    )
}

/// Returns the least words of each position and those behind it.
#[inline(always)]
fn suffixes<P: Packing, const W: usize>(mut words: [Pack<P, W>; RUN as usize]) -> [Pack<P, W>; RUN as usize] {
    for k in 1..RUN as usize {
        let place = RUN as usize - 1 - k;
        words[place] = least::<P, W>(words[place], words[place + 1]);
    }
    words
}
