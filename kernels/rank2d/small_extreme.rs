//! Minima and maxima of small rectangles, with strides of 1: along the rows first, then down the columns.
//!
//! A block of 32 x 8 threads loads a square of [`SIDE`] columns, and of as many rows or half of them, with the keys of one channel. It computes
//! the outputs whose windows lie in the square: for windows of `h x w` samples, that many rows less `h - 1`, and an even number of columns.
//! After the barrier, thread `(x, y)` finds the least keys of the windows' columns `2 x` and `2 x + 1` in rows `y`, `y + 8`, …, and stores
//! them in a second window of shared memory. After another barrier, it finds the least of these in the windows of rows `2 y` and `2 y + 1`,
//! `2 y + 16`, …: two rows have `h - 1` rows in common. Maxima are minima of inverted keys.
//!
//! Shared memory: two squares of keys. The lanes of a warp store neighbouring keys, and load and store neighbouring packs of two, so there
//! are no bank conflicts.

use super::key::{Extreme, Key, Ranked};
use super::{Args, BLOCK};
use cuda_std::{Arena, Shared, thread};

/// Columns of the square of keys.
pub(super) const SIDE: u32 = 64;

/// Returns the rows of the square: all types take the same shared memory.
#[inline(always)]
pub(super) const fn rows<T: Ranked>() -> u32 {
    SIDE * 4 / size_of::<T::Key>() as u32
}

/// Returns the rows and columns of outputs of a block.
#[inline(always)]
pub(super) const fn outputs<T: Ranked>(taps: [u32; 2]) -> [u32; 2] {
    [rows::<T>() + 1 - taps[0], (SIDE + 1 - taps[1]) / 2 * 2]
}

/// The block's outputs, all in one channel of a plane.
struct Place {
    plane: u64,
    channel: u64,
    /// First row and pixel.
    first: [u64; 2],
    /// Rows and pixels.
    count: [u32; 2],
}

impl Place {
    #[inline(always)]
    fn new<T: Ranked>(args: &Args<T>) -> Self {
        let Args { rows, columns, .. } = args;
        let [height, width] = outputs::<T>([rows.taps, columns.taps]);
        let (block, tile_rows) = (thread::block_idx_x(), rows.outputs.div_ceil(height as u64));
        let (group, part) = (args.first_group + (block / args.tiles) as u64, block % args.tiles);
        let first = [group % tile_rows * height as u64, (part / args.channels) as u64 * width as u64];
        let rest = [rows.outputs - first[0], columns.outputs - first[1]];
        Place {
            plane: group / tile_rows,
            channel: (part % args.channels) as u64,
            first,
            count: [rest[0].min(height as u64) as u32, rest[1].min(width as u64) as u32],
        }
    }

    /// Loads the square of keys; all threads of the block take part.
    #[inline(always)]
    fn load<T: Ranked>(&self, args: &Args<T>, square: &Shared<T::Key>, key: impl Fn(T) -> T::Key) {
        let first = [args.rows.first(self.first[0]), args.columns.first(self.first[1])];
        let is_inside = args.rows.has(first[0], rows::<T>()) && args.columns.has(first[1], SIDE);
        let [x, y] = [thread::thread_idx_x(), thread::thread_idx_y()];
        if is_inside {
            let channels = args.channels as u64;
            let line = (self.plane * args.rows.samples + first[0] as u64) * args.input_pitch;
            let start = line + first[1] as u64 * channels + self.channel;
            let mut row = y;
            while row < rows::<T>() {
                let source = start + row as u64 * args.input_pitch;
                let [left, right] = [x, x + BLOCK[0]].map(|pixel| args.input.get(source + pixel as u64 * channels));
                square.set(row * SIDE + x, key(left));
                square.set(row * SIDE + x + BLOCK[0], key(right));
                row += BLOCK[1];
            }
            return;
        }
        // Samples that no output needs are those of the nearest needed ones, which exist.
        let last = [self.count[0] + args.rows.taps - 1, self.count[1] + args.columns.taps - 1];
        let mut row = y;
        while row < rows::<T>() {
            let line = args.line(self.plane, args.rows.source(first[0] + row.min(last[0] - 1) as i64));
            let mut column = x;
            while column < SIDE {
                let pixel = args.columns.source(first[1] + column.min(last[1] - 1) as i64);
                square.set(row * SIDE + column, key(args.sample_at(line, pixel, self.channel)));
                column += BLOCK[0];
            }
            row += BLOCK[1];
        }
    }

    /// Stores two neighbouring outputs of a row.
    #[inline(always)]
    fn store<T: Ranked>(&self, args: &Args<T>, row: u32, pixel: u32, outputs: [T; 2]) {
        let line = (self.plane * args.rows.outputs + self.first[0] + row as u64) * args.output_pitch;
        let place = |pixel: u32| line + (self.first[1] + pixel as u64) * args.channels as u64 + self.channel;
        let has_two = pixel + 1 < self.count[1];
        if has_two && args.channels == 1 && args.output_pitch.is_multiple_of(2) && args.output.is_aligned(2) {
            args.output.set_pack(place(pixel), outputs);
        } else {
            args.output.set(place(pixel), outputs[0]);
            args.output.set_if(has_two, place(pixel + 1), outputs[1]);
        }
    }
}

#[inline(always)]
pub(super) fn extreme<T: Ranked>(arena: Arena, args: &Args<T>) {
    let place = Place::new(args);
    let extreme = Extreme { greatest: args.greatest != 0, omit: args.omit != 0 };
    let (square, arena) = arena.split::<T::Key>(rows::<T>() * SIDE);
    let (lines, _) = arena.split::<T::Key>(rows::<T>() * SIDE);
    place.load(
        args,
        &square,
        #[inline(always)]
        |sample| extreme.key(sample),
    );
    thread::sync_threads();

    let [_, width] = outputs::<T>([args.rows.taps, args.columns.taps]);
    let column = thread::thread_idx_x() * 2;
    let mut row = thread::thread_idx_y();
    while row < rows::<T>() {
        if column < width {
            lines.set_pack(row * SIDE + column, least_along(&square, row * SIDE + column, args.columns.taps));
        }
        row += BLOCK[1];
    }
    thread::sync_threads();

    let mut row = thread::thread_idx_y() * 2;
    while row < place.count[0] && column < place.count[1] {
        let start = row * SIDE + column;
        let [first, second] = least_down(&lines, start, args.rows.taps, row + 1 < place.count[0]);
        place.store(args, row, column, first.map(|key| extreme.sample(key)));
        if row + 1 < place.count[0] {
            place.store(args, row + 1, column, second.map(|key| extreme.sample(key)));
        }
        row += BLOCK[1] * 2;
    }
}

/// Returns the least of `taps` keys from `start` on, and from the next one on.
#[inline(always)]
fn least_along<K: Key>(keys: &Shared<K>, start: u32, taps: u32) -> [K; 2] {
    let mut pair: [K; 2] = keys.get_pack(start);
    let (mut least, mut k) = (pair, 1);
    // `pair` has key `k`, and the next one has keys `k + 1` and `k + 2`.
    while k < taps {
        let next: [K; 2] = keys.get_pack(start + k + 1);
        least = [least[0].min(pair[1]), least[1].min(next[0])];
        if k + 1 < taps {
            least = [least[0].min(next[0]), least[1].min(next[1])];
        }
        (pair, k) = (next, k + 2);
    }
    least
}

/// Returns the least of `taps` rows of two keys from `start` on, and from the next row on, if it has an output.
#[inline(always)]
fn least_down<K: Key>(keys: &Shared<K>, start: u32, taps: u32, has_second: bool) -> [[K; 2]; 2] {
    let least = |a: [K; 2], b: [K; 2]| [a[0].min(b[0]), a[1].min(b[1])];
    let (first, mut common, mut k) = (keys.get_pack(start), [K::MAX; 2], 1);
    while k < taps {
        common = least(common, keys.get_pack(start + k * SIDE));
        k += 1;
    }
    let last = if has_second { keys.get_pack(start + taps * SIDE) } else { common };
    [least(first, common), least(common, last)]
}
