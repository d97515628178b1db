//! A tile of words, from which a block computes the outputs of one channel, with strides of 1.
//!
//! A word has the key of one sample, or the keys of two that are [`upper`](Form::upper) rows apart ([`Packing`]): then the tile has twice as
//! many rows of outputs as rows of words with outputs.
//!
//! Shared memory: rows of words, whose pitch is a multiple of four. The lanes of a warp store neighbouring words, or neighbouring packs of
//! four, and load neighbouring packs of two, so there are no bank conflicts. Where a warp stores the last columns of several rows, the rows
//! are 4 or 8 words more than a multiple of 32 words apart, and have at most as many columns.
//!
//! Most tiles lie within the plane. Their offsets have 32 bits, and no division is needed: a warp loads a row. Bytes in aligned rows are
//! loaded four at a time: a thread takes two neighbouring words of samples from each of its rows, moves the bytes together to where the row
//! begins, and stores four words. Two neighbouring lanes, which have two columns of two rows each, exchange bytes and store four columns of
//! one row each.

use super::Args;
use super::key::{Extreme, Ranked};
use super::packing::Packing;
use cuda_std::{Arena, GlobalIn, GlobalOut, Shared, thread};

/// Threads along a row.
pub(super) const LANES: u32 = 32;

/// Columns of samples that a warp loads together, of several rows: at least as many as there are beyond [`COLUMNS`].
const BEYOND: u32 = 8;

/// Columns that warps load row by row.
const COLUMNS: u32 = 64;

/// The sizes of a tile.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// Rows and columns of outputs.
    pub(super) outputs: [u32; 2],
    /// Rows of words.
    pub(super) rows: u32,
    /// Columns of samples, at least [`COLUMNS`].
    pub(super) columns: u32,
    /// Words from one row to the next.
    pub(super) pitch: u32,
    /// Rows from the first sample of a word to the second one, if it has two.
    pub(super) upper: u32,
    /// Warps of the block.
    pub(super) warps: u32,
}

/// The block's tile. `P` are the keys of the samples.
pub(super) struct Tile<'a, 'l, 's, P: Packing> {
    args: &'a Args<'l, P::Sample>,
    words: Shared<'s, P::Word>,
    form: Form,
    extreme: Option<Extreme>,
    plane: u64,
    /// First output: row and column.
    first: [u64; 2],
    channel: u64,
}

/// The outputs of a tile, if all exist and are stored together.
pub(super) type Whole<'l, T> = Option<GlobalOut<'l, T, u32>>;

impl<'a, 'l, 's, P: Packing> Tile<'a, 'l, 's, P> {
    /// Returns the tile, which is not loaded yet.
    #[inline(always)]
    pub(super) fn new(
        arena: Arena<'s>,
        args: &'a Args<'l, P::Sample>,
        form: Form,
        extreme: Option<Extreme>,
    ) -> (Self, Arena<'s>) {
        let [height, width] = form.outputs.map(u64::from);
        let (block, tile_rows) = (thread::block_idx_x(), args.rows.outputs.div_ceil(height));
        let (group, part) = (args.first_group + (block / args.tiles) as u64, block % args.tiles);
        let (words, arena) = arena.split::<P::Word>(form.rows * form.pitch);
        let first = [group % tile_rows * height, (part / args.channels) as u64 * width];
        let channel = (part % args.channels) as u64;
        (Tile { args, words, form, extreme, plane: group / tile_rows, first, channel }, arena)
    }

    /// Stores the thread's words, and returns whether one is that of a NaN. All threads take part.
    #[inline(always)]
    pub(super) fn load(&self) -> bool {
        if P::COLUMNS == 4
            && let Some((samples, shift)) = self.samples_in_packs()
        {
            self.load_columns(samples.cast(), shift);
            return false;
        }
        match self.start_inside() {
            Some(start) => self.load_samples(start),
            None => self.load_outside(),
        }
    }

    /// Returns the element of the input that is the first sample, if the tile lies within the plane and its offsets have 32 bits.
    #[inline(always)]
    fn start_inside(&self) -> Option<u64> {
        let Args { rows, columns, input_pitch, channels, .. } = self.args;
        let first = self.first_sample();
        let is_inside = rows.has(first[0], self.last_row() + 1) && columns.has(first[1], self.form.columns);
        let is_near = *input_pitch < (1 << 24) && *channels < (1 << 24);
        (is_inside && is_near).then(|| {
            let line = (self.plane * rows.samples + first[0] as u64) * input_pitch;
            line + first[1] as u64 * *channels as u64 + self.channel
        })
    }

    /// Returns the samples from the first one on, or from up to three before it, so that four neighbours are loaded together; and the number of
    /// those before it. `None` if the tile does not lie within the plane, or rows do not begin at multiples of four samples.
    #[inline(always)]
    pub(super) fn samples_in_packs(&self) -> Option<(GlobalIn<'l, P::Sample, u32>, u32)> {
        let Args { input, input_pitch, channels, .. } = self.args;
        let start = self.start_inside()?;
        let shift = start as u32 % 4;
        let end = start - shift as u64 + self.last_row() as u64 * input_pitch + self.form.pitch as u64 + 4;
        let has_packs = *channels == 1 && input_pitch.is_multiple_of(4) && input.is_aligned(4) && end <= input.len();
        has_packs.then(|| (input.at(start - shift as u64), shift))
    }

    /// Returns the row and the column of the first sample.
    #[inline(always)]
    fn first_sample(&self) -> [i64; 2] {
        [self.args.rows.first(self.first[0]), self.args.columns.first(self.first[1])]
    }

    /// Returns the last row of samples.
    #[inline(always)]
    fn last_row(&self) -> u32 {
        self.form.rows - 1 + (P::KEYS - 1) * self.form.upper
    }

    /// Stores the thread's words, each one of which may depend on the border.
    #[inline(always)]
    fn load_outside(&self) -> bool {
        let (Args { rows, columns, .. }, first) = (self.args, self.first_sample());
        // Samples that no output needs are those of the nearest needed ones, which exist.
        let last = [self.count(0) + rows.taps - 2, self.count(1) + columns.taps - 2];
        let (mut row, mut is_nan) = (thread::thread_idx_y(), false);
        while row < self.form.rows {
            let lines = [row, row + self.form.upper]
                .map(|row| self.args.line(self.plane, rows.source(first[0] + row.min(last[0]) as i64)));
            let mut column = thread::thread_idx_x();
            while column < self.form.columns {
                let source = columns.source(first[1] + column.min(last[1]) as i64);
                let sample = |line| self.args.sample_at(line, source, self.channel);
                let upper = if P::KEYS == 2 { sample(lines[1]) } else { P::Sample::NONE };
                is_nan |= self.set_word([row, column], [sample(lines[0]), upper]);
                column += LANES;
            }
            row += self.form.warps;
        }
        is_nan
    }

    /// Stores the thread's words of a tile within the plane, whose first sample is element `start` of the input.
    #[inline(always)]
    fn load_samples(&self, start: u64) -> bool {
        let (samples, warps) = (self.args.input.at(start), self.form.warps);
        let ([x, y], mut is_nan) = ([thread::thread_idx_x(), thread::thread_idx_y()], false);
        let mut first = y;
        while first < self.form.rows {
            let places = [[0, 0], [0, 1], [1, 0], [1, 1]].map(|[i, k]| [first + i * warps, x + k * LANES]);
            let several = places.map(|place| self.samples(&samples, place));
            for k in 0..4 {
                is_nan |= self.set_word(places[k], several[k]);
            }
            first += 2 * warps;
        }
        let (mut row, column) = (y * (LANES / BEYOND) + x / BEYOND, COLUMNS + x % BEYOND);
        while row < self.form.rows && column < self.form.columns {
            is_nan |= self.set_word([row, column], self.samples(&samples, [row, column]));
            row += warps * (LANES / BEYOND);
        }
        is_nan
    }

    /// Returns the samples of the word at a row and column of the tile, or others for rows beyond it.
    #[inline(always)]
    fn samples(&self, samples: &GlobalIn<'_, P::Sample, u32>, [row, column]: [u32; 2]) -> [P::Sample; 2] {
        let pitch = self.args.input_pitch as u32;
        let place = row.min(self.form.rows - 1) * pitch + column * self.args.channels;
        let upper = if P::KEYS == 2 { samples.get(place + self.form.upper * pitch) } else { P::Sample::NONE };
        [samples.get(place), upper]
    }

    /// Stores a word, unless the row is beyond the tile. Returns whether it is that of a NaN.
    #[inline(always)]
    fn set_word(&self, [row, column]: [u32; 2], samples: [P::Sample; 2]) -> bool {
        let word = P::word(samples, self.extreme);
        if row < self.form.rows {
            self.words.set(row * self.form.pitch + column, word);
        }
        P::is_nan(word)
    }

    /// Stores the thread's words, likewise, four columns at a time. Rows begin at multiples of four elements.
    #[inline(always)]
    fn load_columns(&self, samples: GlobalIn<'_, u32, u32>, shift: u32) {
        let number = thread::thread_idx_y() * LANES + thread::thread_idx_x();
        let (threads, packs) = (self.form.warps * LANES, COLUMNS / 4);
        let mut first = number / packs;
        while first < self.form.rows {
            let places = [0, 1, 2].map(|i| [first + i * (threads / packs), number % packs * 4]);
            let columns = places.map(|place| self.columns(&samples, place));
            for k in 0..3 {
                self.set_columns(places[k], columns[k], shift);
            }
            first += 3 * (threads / packs);
        }
        let beyond = (self.form.pitch - COLUMNS) / 4;
        let mut number = number;
        while number < self.form.rows * beyond {
            let place = [number / beyond, COLUMNS + number % beyond * 4];
            self.set_columns(place, self.columns(&samples, place), shift);
            number += threads;
        }
    }

    /// Returns two words of samples of both rows of a row of words, from a column on; or others for rows beyond the tile.
    #[inline(always)]
    fn columns(&self, samples: &GlobalIn<'_, u32, u32>, [row, column]: [u32; 2]) -> [[u32; 2]; 2] {
        let pitch = self.args.input_pitch as u32 / 4;
        let place = row.min(self.form.rows - 1) * pitch + column / 4;
        [place, place + self.form.upper * pitch].map(|place| [samples.get(place), samples.get(place + 1)])
    }

    /// Stores the words of four columns, unless the row is beyond the tile.
    #[inline(always)]
    fn set_columns(&self, [row, column]: [u32; 2], rows: [[u32; 2]; 2], shift: u32) {
        if row < self.form.rows {
            P::set_pack(&self.words, row * self.form.pitch + column, P::of_columns(rows, shift, self.extreme));
        }
    }

    /// Returns the number of rows of words with outputs.
    #[inline(always)]
    pub(super) fn rows(&self) -> u32 {
        if P::KEYS == 2 { self.count(0).min(self.form.upper) } else { self.count(0) }
    }

    /// Returns the number of columns with outputs.
    #[inline(always)]
    pub(super) fn width(&self) -> u32 {
        self.count(1)
    }

    /// Returns the number of rows or of columns with outputs.
    #[inline(always)]
    fn count(&self, axis: usize) -> u32 {
        let outputs = [self.args.rows.outputs, self.args.columns.outputs][axis];
        (outputs - self.first[axis]).min(self.form.outputs[axis] as u64) as u32
    }

    /// Returns the word at a row, and `W` columns from an even one on.
    #[inline(always)]
    #[track_caller]
    pub(super) fn words<const W: usize>(&self, row: u32, column: u32) -> [P::Word; W] {
        const { assert!(W.is_multiple_of(2)) };
        let (mut words, mut i) = ([P::Word::default(); W], 0);
        while i < W {
            [words[i], words[i + 1]] = self.words.get_pack(row * self.form.pitch + column + i as u32);
            i += 2;
        }
        words
    }

    /// Returns the position of the output in a row and column of the tile.
    #[inline(always)]
    fn place(&self, row: u32, column: u32) -> u64 {
        let (line, pixel) = (self.plane * self.args.rows.outputs + self.first[0], self.first[1] + column as u64);
        (line + row as u64) * self.args.output_pitch + pixel * self.args.channels as u64 + self.channel
    }

    /// Returns the outputs from those of the first row on, if all exist and can be stored together.
    #[inline(always)]
    pub(super) fn whole_outputs(&self) -> Whole<'l, P::Sample> {
        self.outputs_in_packs(P::COLUMNS.max(2))
    }

    /// Returns the outputs from those of the first row on, if all exist and this number of columns, a power of two, can be stored together.
    #[inline(always)]
    pub(super) fn outputs_in_packs(&self, columns: u32) -> Whole<'l, P::Sample> {
        let Args { output, output_pitch, channels, .. } = self.args;
        let is_whole = [self.count(0), self.count(1)] == self.form.outputs;
        let is_aligned = output_pitch.is_multiple_of(columns as u64) && output.is_aligned(columns);
        (is_whole && is_aligned && *channels == 1 && *output_pitch < (1 << 24)).then(|| output.at(self.place(0, 0)))
    }

    /// Stores the outputs of two rows of words in two columns, those that exist. If the outputs are whole, all lanes with outputs take part.
    #[inline(always)]
    pub(super) fn store(&self, whole: &Whole<'_, P::Sample>, row: u32, column: u32, words: [[P::Word; 2]; 2]) {
        match whole {
            Some(outputs) if P::COLUMNS == 4 => self.store_exchanged(outputs, row, column, words),
            Some(outputs) => {
                let pitch = self.args.output_pitch as u32;
                self.for_each_row(row, words, |row, samples| outputs.set_pack(row * pitch + column, samples));
            }
            None => self.for_each_row(row, words, |row, samples| {
                let (place, has_two) = (self.place(row, column), column + 1 < self.count(1));
                if row < self.count(0) {
                    self.args.output.set(place, samples[0]);
                    self.args.output.set_if(has_two, place + self.args.channels as u64, samples[1]);
                }
            }),
        }
    }

    /// Calls `store` with each row of outputs, and the samples in two columns.
    #[inline(always)]
    fn for_each_row(&self, row: u32, words: [[P::Word; 2]; 2], store: impl Fn(u32, [P::Sample; 2])) {
        let mut i = 0;
        while i < 2 * P::KEYS {
            let samples = P::samples(words[i as usize % 2], i / 2, self.extreme);
            store(row + i % 2 + i / 2 * self.form.upper, samples);
            i += 1;
        }
    }

    /// Stores four columns of one row of each key.
    #[inline(always)]
    fn store_exchanged(
        &self,
        outputs: &GlobalOut<'_, P::Sample, u32>,
        row: u32,
        column: u32,
        words: [[P::Word; 2]; 2],
    ) {
        let (outputs, pitch, odd) = (outputs.cast(), self.args.output_pitch as u32, thread::thread_idx_x() % 2);
        let lanes = u32::MAX >> (LANES - self.form.outputs[1] / 2);
        let [first, second] = P::exchanged(lanes, words, self.extreme);
        let place = (row + odd) * (pitch / 4) + column / 4;
        outputs.set(place, first);
        outputs.set(place + self.form.upper * (pitch / 4), second);
    }
}
