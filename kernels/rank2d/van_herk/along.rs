//! Extremes along rows. Block `b` has tile `b % tiles` of a channel of `lines` lines of words, one after the other, which are neighbouring rows
//! or pairs of these: group `first_group + b / tiles`. So what is the same for all rows is computed once.
//!
//! Bytes in aligned rows are loaded and stored four at a time: from each of its two rows, a thread takes two neighbouring words of samples,
//! moves the bytes together to where its positions begin, and stores four words. Of other samples, the lanes of a warp load neighbouring
//! ones, and a thread several at the same time.

use super::super::PassArgs;
use super::super::key::Extreme;
use super::super::packing::Packing;
use super::{BATCH, BYTES, RUN, Tile, both, inside};
use core::array::from_fn;
use cuda_std::{Arena, GlobalIn, GlobalOut, Shared, thread};

/// The rows of a line of words, of one channel.
struct Rows<'a, 'l, P: Packing> {
    args: &'a PassArgs<'l, P::Sample>,
    extreme: Extreme,
    /// The rows. Without a second one, it is the first one again.
    rows: [u64; 2],
    channel: u64,
    /// Position of the first output.
    first: u64,
}

#[inline(always)]
pub(in super::super) fn along<P: Packing>(arena: Arena, args: &PassArgs<P::Sample>) {
    let (tile, arena) = Tile::<P, 1>::new(arena, args, 1);
    let (staged, _) = arena.split::<P::Word>(tile.sizes.outputs());
    let (block, channels) = (thread::block_idx_x(), args.channels as u64);
    let group = args.first_group + (block / args.tiles) as u64;
    let first = (block % args.tiles) as u64 * (args.runs * RUN) as u64;
    // A line of words of two keys has twice the outputs, and its kernel takes fewer registers without this loop.
    let lines = if P::KEYS == 2 { 1 } else { args.lines as u64 };
    let mut line = group / channels * lines;
    let end = (line + lines).min(args.rows);
    loop {
        let rows = Rows::<P>::new(args, line, group % channels, first);
        rows.load(&tile.words, tile.sizes.positions);
        tile.find_outputs(
            #[inline(always)]
            |position, _, [word]| staged.set(position, word),
        );
        thread::sync_threads();
        rows.store(&staged);
        line += 1;
        if P::KEYS == 2 || line >= end {
            return;
        }
        // The next words are read, and their outputs staged, behind the barriers of `find_outputs`.
    }
}

impl<'a, 'l, P: Packing> Rows<'a, 'l, P> {
    #[inline(always)]
    fn new(args: &'a PassArgs<'l, P::Sample>, line: u64, channel: u64, first: u64) -> Self {
        let row = line * P::KEYS as u64;
        let rows = [row, (row + P::KEYS as u64 - 1).min(args.rows - 1)];
        Rows { args, extreme: args.extreme(), rows, channel, first }
    }

    /// Stores the words of the tile. All threads take part.
    #[inline(always)]
    fn load(&self, words: &Shared<P::Word>, positions: u32) {
        let start = self.args.axis.first(self.first);
        let [from, to] = self.load_inside(words, positions, start);
        self.load_outside(words, [0, from], start);
        self.load_outside(words, [to, positions], start);
    }

    /// Stores the words of positions within the rows, and returns their range. Offsets have 32 bits: there are less than 2^16 channels, and shared
    /// memory has less than 2^16 words.
    #[inline(always)]
    fn load_inside(&self, words: &Shared<P::Word>, positions: u32, start: i64) -> [u32; 2] {
        let PassArgs { input, input_pitch, axis, channels, .. } = *self.args;
        let [from, to] = inside(&axis, start, positions);
        if P::COLUMNS == BYTES && self.has_words(input.is_aligned(BYTES), input_pitch) {
            // Of the last four bytes, those behind them are loaded, too.
            let [from, to] = [from.next_multiple_of(BYTES), to.saturating_sub(BYTES) / BYTES * BYTES];
            let first = (start + from as i64).max(0) as u64;
            let shift = first % BYTES as u64;
            let rows = self.rows.map(|row| input.at(row * input_pitch + first - shift).cast().anchored());
            self.load_bytes(words, [from, to], rows, shift as u32);
            return [from, to.max(from)];
        }
        let pixel = (start + from as i64).max(0) as u64 * channels as u64 + self.channel;
        let rows = self.rows.map(|row| input.at(row * input_pitch + pixel).anchored());
        self.load_samples(words, [from, to], rows);
        [from, to]
    }

    /// Returns whether rows consist of words of memory.
    #[inline(always)]
    fn has_words(&self, is_aligned: bool, pitch: u64) -> bool {
        is_aligned && pitch.is_multiple_of(BYTES as u64) && self.args.channels == 1
    }

    /// Stores the words of a range of positions, several at a time. Rows begin with the first one.
    #[inline(always)]
    fn load_samples(&self, words: &Shared<P::Word>, [from, to]: [u32; 2], rows: [GlobalIn<'_, P::Sample, u32>; 2]) {
        let (threads, channels) = (thread::block_dim_x(), self.args.channels);
        let samples = |position: u32| both::<P>(|row| rows[row as usize].get((position - from) * channels));
        let mut first = from + thread::thread_idx_x();
        while first + (BATCH - 1) * threads < to {
            let several: [_; BATCH as usize] = from_fn(
                #[inline(always)]
                |k| samples(first + k as u32 * threads),
            );
            for k in 0..BATCH {
                words.set(first + k * threads, P::word(several[k as usize], Some(self.extreme)));
            }
            first += BATCH * threads;
        }
        while first < to {
            words.set(first, P::word(samples(first), Some(self.extreme)));
            first += threads;
        }
    }

    /// Stores the words of a range of positions, four at a time. The first byte is number `shift` of the rows.
    #[inline(always)]
    fn load_bytes(&self, words: &Shared<P::Word>, [from, to]: [u32; 2], rows: [GlobalIn<'_, u32, u32>; 2], shift: u32) {
        let mut position = from + thread::thread_idx_x() * BYTES;
        while position < to {
            let place = (position - from) / BYTES;
            let bytes = rows.map(|row| [row.get(place), row.get(place + 1)]);
            P::set_pack(words, position, P::of_columns(bytes, shift, Some(self.extreme)));
            position += thread::block_dim_x() * BYTES;
        }
    }

    /// Stores the words of a range of positions, which may be outside.
    #[inline(always)]
    #[track_caller]
    fn load_outside(&self, words: &Shared<P::Word>, [from, to]: [u32; 2], start: i64) {
        let mut position = from + thread::thread_idx_x();
        while position < to {
            let samples = both::<P>(|row| self.sample(row, start + position as i64));
            words.set(position, P::word(samples, Some(self.extreme)));
            position += thread::block_dim_x();
        }
    }

    /// Returns the sample of a row at a position, which may be outside.
    #[inline(always)]
    fn sample(&self, row: u32, position: i64) -> P::Sample {
        let PassArgs { input, input_pitch, axis, channels, outside, .. } = *self.args;
        match axis.source(position) {
            Some(pixel) => input.get(self.rows[row as usize] * input_pitch + pixel * channels as u64 + self.channel),
            None => outside,
        }
    }

    /// Stores the outputs. All threads take part.
    #[inline(always)]
    fn store(&self, staged: &Shared<P::Word>) {
        let PassArgs { output, output_pitch, axis, channels, runs, .. } = *self.args;
        let count = (axis.outputs - self.first).min((runs * RUN) as u64) as u32;
        let place = self.first * channels as u64 + self.channel;
        let rows = self.rows.map(|row| row * output_pitch + place);
        let rows = rows.map(|row| output.at(row).anchored());
        let mut from = 0;
        if P::COLUMNS == BYTES && self.has_words(rows[0].is_aligned(BYTES), output_pitch) {
            from = count / BYTES * BYTES;
            self.store_bytes(staged, from, rows.map(|row| row.cast()));
        }
        self.store_samples(staged, [from, count], |row, position, sample| rows[row].set(position * channels, sample));
    }

    /// Calls `store` with the number of each row, each position of a range, and the sample.
    #[inline(always)]
    fn store_samples(&self, staged: &Shared<P::Word>, [from, to]: [u32; 2], store: impl Fn(usize, u32, P::Sample)) {
        let mut position = from + thread::thread_idx_x();
        while position < to {
            let word = staged.get(position);
            for key in 0..self.keys() {
                store(key as usize, position, P::samples([word; 2], key, Some(self.extreme))[0]);
            }
            position += thread::block_dim_x();
        }
    }

    /// Stores the bytes of the first `count` positions, a multiple of four.
    #[inline(always)]
    fn store_bytes(&self, staged: &Shared<P::Word>, count: u32, rows: [GlobalOut<'_, u32, u32>; 2]) {
        let mut position = thread::thread_idx_x() * BYTES;
        while position < count {
            let samples = P::columns(P::pack(staged, position), Some(self.extreme));
            rows[0].set(position / BYTES, samples[0]);
            rows[1].set_if(self.keys() == 2, position / BYTES, samples[1]);
            position += thread::block_dim_x() * BYTES;
        }
    }

    /// Returns the number of rows.
    #[inline(always)]
    fn keys(&self) -> u32 {
        if P::KEYS == 2 && self.rows[1] > self.rows[0] { 2 } else { 1 }
    }
}
