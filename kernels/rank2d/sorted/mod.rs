//! Any rank of rectangles with strides of 1: a block sorts the samples of its tile once, and each output is the member of that rank of the
//! sorted samples.
//!
//! A block of 32 x 16 threads computes a tile of outputs of one channel. It loads the keys of the tile and its halo, and sorts their
//! positions (`order.rs`). Then the samples of a window are those of some rows and some columns, and so is a mask of the sorted samples with
//! a bit for each: the mask of the window's rows and the mask of its columns, in common (`masks.rs`). The output of rank `k` is the sample of
//! bit `k` that is set in both (`members.rs`, `member.rs`).
//!
//! ```text
//! sorted samples        3  3  4  7  7  8  9  …
//! in the window's rows     1  1     1     1         masks of each row of outputs
//! in its columns           1     1  1     1         masks of each column of outputs
//! members                  0        1     2         of rank 0, 1, 2
//! ```
//!
//! A warp finds the members of 32 neighbouring outputs of two rows. So an output takes a pass over the digits of a few samples of its own,
//! and 1 bit for each sample of the tile up to the output: the type of the samples matters only for sorting, and the window only for the size
//! of the halo.
//!
//! With 64 registers a thread, the 65,536 registers of a multiprocessor are enough for two blocks. Fewer would not do without memory for them.
//!
//! Shared memory: the keys, positions twice and numbers, counters for sorting, and the masks. Those are in quads of four words, and the quads of
//! neighbouring columns or rows are neighbours. So the lanes of a warp load neighbouring packs of four words, or one together, and there
//! are no bank conflicts. From one quad of words to the next one there are four words more than a multiple of 32, so that threads which go
//! along the masks with one word each have no conflicts either. Only what depends on the order of the samples has conflicts: sorting, marking
//! a sample in the masks, and the last step to a member.

mod masks;
mod member;
mod members;
mod order;

use super::key::Ranked;
use super::select::NO_RANK;
use super::{Args, Key};
use cuda_std::{Arena, Shared, thread, warp};
use masks::Masks;
use member::member;
use members::Members;
use order::{DIGITS, Sorting};

/// Warps of a block.
pub(super) const WARPS: u32 = 16;

/// Threads of a block.
const THREADS: u32 = WARPS * warp::WARP;

/// Rows of outputs that a warp computes together.
const ROWS: usize = 2;

/// Bits of a mask that are counted together.
const GROUP: u32 = 256;

/// The sizes of a tile.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// Rows and columns of outputs.
    pub(super) outputs: [u32; 2],
    /// Rows and columns of a window.
    taps: [u32; 2],
    /// Rows and columns of samples.
    samples: [u32; 2],
    /// Bits of a column in a position.
    column_bits: u32,
}

impl Sizes {
    /// Returns the sizes. A launch has shared memory for them, so positions have at most 16 bits.
    #[inline(always)]
    pub(super) const fn new(outputs: [u32; 2], taps: [u32; 2]) -> Self {
        let samples = [outputs[0] + taps[0] - 1, outputs[1] + taps[1] - 1];
        Sizes { outputs, taps, samples, column_bits: u32::BITS - (samples[1] - 1).leading_zeros() }
    }

    /// Returns the number of samples.
    #[inline(always)]
    pub(super) const fn len(&self) -> u32 {
        self.samples[0] * self.samples[1]
    }

    /// Returns the number of quads of words of a mask.
    #[inline(always)]
    pub(super) const fn quads(&self) -> u32 {
        self.len().div_ceil(GROUP) * (GROUP / 128)
    }

    /// Returns the position of a row and column.
    #[inline(always)]
    fn position(&self, [row, column]: [u32; 2]) -> u16 {
        (row << self.column_bits | column) as u16
    }

    /// Returns the row and column of a position.
    #[inline(always)]
    fn row_and_column(&self, position: u16) -> [u32; 2] {
        [position as u32 >> self.column_bits, position as u32 & ((1 << self.column_bits) - 1)]
    }

    /// Returns the place of a position's key.
    #[inline(always)]
    fn place(&self, position: u16) -> u32 {
        let [row, column] = self.row_and_column(position);
        row * self.samples[1] + column
    }
}

/// Numbers of 32 bits of the windows of shared memory, in order: what each warp knows of its keys (later totals for sorting), and the masks of
/// each axis.
#[cfg(not(target_os = "cuda"))]
pub(super) fn words(sizes: &Sizes) -> [u64; 3] {
    let masks = sizes.outputs.map(|outputs| u64::from(sizes.quads()) * u64::from(Masks::pitch(outputs)));
    [u64::from(2 * WARPS), masks[0], masks[1]]
}

/// Numbers of 16 bits of the windows of shared memory, in order: positions twice, their numbers in a warp, and counters.
#[cfg(not(target_os = "cuda"))]
pub(super) fn halves(sizes: &Sizes) -> [u64; 3] {
    let len = u64::from(sizes.len());
    [2 * len, len, u64::from(WARPS * DIGITS)]
}

/// The block's tile.
struct Tile<'a, 'l, 's, T: Ranked> {
    args: &'a Args<'l, T>,
    sizes: Sizes,
    keys: Shared<'s, T::Key>,
    plane: u64,
    /// First output: row and column.
    first: [u64; 2],
    channel: u64,
}

impl<'a, 'l, 's, T: Ranked> Tile<'a, 'l, 's, T> {
    #[inline(always)]
    fn new(arena: Arena<'s>, args: &'a Args<'l, T>) -> (Self, Arena<'s>) {
        let sizes = Sizes::new([args.tile_rows, args.tile_columns], [args.rows.taps, args.columns.taps]);
        let [height, width] = sizes.outputs.map(u64::from);
        let (block, tile_rows) = (thread::block_idx_x(), args.rows.outputs.div_ceil(height));
        let (group, part) = (args.first_group + (block / args.tiles) as u64, block % args.tiles);
        let (keys, arena) = arena.split::<T::Key>(sizes.len());
        let first = [group % tile_rows * height, (part / args.channels) as u64 * width];
        let channel = (part % args.channels) as u64;
        (Tile { args, sizes, keys, plane: group / tile_rows, first, channel }, arena)
    }

    /// Stores the thread's keys and their positions; and for each warp, which digits of its keys differ, and the number of NaNs. All threads take
    /// part.
    #[inline(always)]
    fn load(&self, positions: &Shared<u16>, parts: &Shared<u32>) {
        let Args { input, rows, columns, input_pitch, channels, .. } = self.args;
        let [height, width] = self.sizes.samples;
        let first = [rows.first(self.first[0]), columns.first(self.first[1])];
        let is_inside = rows.has(first[0], height) && columns.has(first[1], width);
        // Then offsets within the tile have 32 bits: it has at most 2^11 rows, because a position has 16 bits, and a row at least 32 columns.
        if is_inside && *input_pitch < (1 << 20) && *channels < (1 << 14) {
            let line = (self.plane * rows.samples + first[0] as u64) * input_pitch;
            let samples = input.at(line + first[1] as u64 * *channels as u64 + self.channel);
            let pitch = *input_pitch as u32;
            self.load_from(positions, parts, |[row, column]| samples.get(row * pitch + column * channels));
        } else {
            self.load_from(positions, parts, |[row, column]| {
                let line = self.args.line(self.plane, rows.source(first[0] + row as i64));
                self.args.sample_at(line, columns.source(first[1] + column as i64), self.channel)
            });
        }
    }

    /// Likewise, with the sample at each row and column of the tile.
    #[inline(always)]
    fn load_from(&self, positions: &Shared<u16>, parts: &Shared<u32>, sample: impl Fn([u32; 2]) -> T) {
        let ([x, y], width) = (thread(), self.sizes.samples[1]);
        let some = sample([0, 0]).key();
        let (mut different, mut nans, mut place) = (T::Key::ZERO, 0, y * warp::WARP + x);
        let (mut row, mut column) = (place / width, place % width);
        let [rows, columns] = [THREADS / width, THREADS % width];
        while place < self.sizes.len() {
            let key = sample([row, column]).key();
            self.keys.set(place, key);
            positions.set(place, self.sizes.position([row, column]));
            different = different | (key ^ some);
            nans += (T::IS_FLOAT && key == T::Key::MAX) as u32;
            place += THREADS;
            let is_next = column + columns >= width;
            row += rows + is_next as u32;
            column = column + columns - if is_next { width } else { 0 };
        }
        let (mut digits, mut digit) = (0, 0);
        while digit < T::BITS / 8 {
            digits |= (warp::any(warp::FULL, different.digit(digit) != 0) as u32) << digit;
            digit += 1;
        }
        let nans = if T::IS_FLOAT { warp::reduce_add(warp::FULL, nans) } else { 0 };
        if x == 0 {
            parts.set(y, digits);
            parts.set(WARPS + y, nans);
        }
    }

    /// Stores an output, if it exists.
    #[inline(always)]
    fn store(&self, [row, column]: [u32; 2], output: T) {
        let Args { rows, columns, output_pitch, channels, .. } = self.args;
        let (row, pixel) = (self.first[0] + row as u64, self.first[1] + column as u64);
        if row < rows.outputs && pixel < columns.outputs {
            let line = (self.plane * rows.outputs + row) * output_pitch;
            self.args.output.set(line + pixel * *channels as u64 + self.channel, output);
        }
    }

    /// Returns the rank of an output among those of its samples that are not left out, if there is one. Its window has `nans` NaNs.
    #[inline(always)]
    fn rank(&self, nans: u32) -> Option<u32> {
        let Args { ranks, count, omit, .. } = self.args;
        let rank = ranks.get((*count - nans) as u64);
        (rank != NO_RANK && (*omit != 0 || nans == 0)).then_some(rank)
    }
}

/// Returns the thread's numbers in the block.
#[inline(always)]
fn thread() -> [u32; 2] {
    [thread::thread_idx_x(), thread::thread_idx_y()]
}

/// Returns a bit for each digit that is not the same in all keys. Sorting writes over the parts of these.
#[inline(always)]
fn digits(parts: &Shared<u32>) -> u32 {
    (0..WARPS).fold(0, |digits, warp| digits | parts.get(warp))
}

/// Returns the number of NaNs. It is not found before the keys are sorted, because the compiler would keep the parts in registers until then.
#[inline(always)]
fn nans(parts: &Shared<u32>) -> u32 {
    (0..WARPS).map(|warp| parts.get(WARPS + warp)).sum()
}

#[inline(always)]
pub(super) fn outputs<T: Ranked>(arena: Arena, args: &Args<T>) {
    let (tile, arena) = Tile::new(arena, args);
    let sizes = &tile.sizes;
    let (positions, arena) = arena.split::<u16>(2 * sizes.len());
    let (numbers, arena) = arena.split::<u16>(sizes.len());
    let (counters, arena) = arena.split::<u16>(WARPS * DIGITS);
    let (parts, arena) = arena.split::<u32>(2 * WARPS);
    let (rows, arena) = Masks::new(arena, sizes, 0);
    let (columns, _) = Masks::new(arena, sizes, 1);
    tile.load(&positions, &parts);
    rows.clear();
    columns.clear();
    thread::sync_threads();

    let sorting = Sorting {
        keys: &tile.keys,
        positions: &positions,
        numbers: &numbers,
        counters: &counters,
        totals: &parts,
        sizes,
    };
    let order = sorting.sort(digits(&parts));
    masks::fill(&rows, &columns, order, sizes);
    let sorted = Members { rows: &rows, columns: &columns, order, keys: &tile.keys, sizes };
    let nans = if T::IS_FLOAT { nans(&parts) } else { 0 };
    find(&tile, &sorted, nans);
}

/// Finds the outputs of the thread, in columns 32 apart, of two rows at a time.
#[inline(always)]
fn find<T: Ranked>(tile: &Tile<T>, sorted: &Members<T::Key>, nans: u32) {
    let ([x, y], [height, width]) = (thread(), tile.sizes.outputs);
    let pairs = height.div_ceil(ROWS as u32);
    let mut task = y;
    while task < pairs * (width / warp::WARP) {
        let (first, column) = (task % pairs * ROWS as u32, task / pairs * warp::WARP + x);
        // A tile of one row has only the first one of a pair.
        let rows = [first, (first + 1).min(height - 1)];
        let mut ranks = [tile.rank(0); ROWS];
        if T::IS_FLOAT && nans > 0 {
            let missing = sorted.from(tile.sizes.len() - nans, rows, column);
            ranks = [tile.rank(missing[0]), tile.rank(missing[1])];
        }
        let places = sorted.groups(rows, column, ranks.map(|rank| rank.unwrap_or(0)));
        // Not a loop, which would keep its arrays in memory.
        let output = |i: usize| {
            let key = member(sorted, rows[i], column, places[i]);
            if ranks[i].is_some() { T::of_key(key) } else { T::NONE }
        };
        tile.store([first, column], output(0));
        if first + 1 < height {
            tile.store([first + 1, column], output(1));
        }
        task += WARPS;
    }
}
