//! Extremes down columns. Block `b` has strip `b % tiles` of a tile of rows: number `first_group + b / tiles` of those of all planes.
//!
//! A strip has as many neighbouring elements of a row as there are lines of words, or twice as many: then the second half has the second keys.
//! Bytes of whole strips in aligned rows are loaded and stored four of each half at a time, by the thread that has their four lines.

use super::super::PassArgs;
use super::super::key::Extreme;
use super::super::packing::Packing;
use super::{BATCH, BYTES, Pack, RUN, Tile, both, inside};
use core::array::from_fn;
use cuda_std::{Arena, thread};

#[inline(always)]
pub(in super::super) fn down<P: Packing>(arena: Arena, args: &PassArgs<P::Sample>) {
    let strip = Strip::<P>::new(args);
    if P::COLUMNS == BYTES && strip.has_words() { strip.find_bytes(arena) } else { strip.find_samples(arena) }
}

/// The block's part of the picture.
struct Strip<'a, 'l, P: Packing> {
    args: &'a PassArgs<'l, P::Sample>,
    extreme: Extreme,
    plane: u64,
    /// First output of the plane, and the number of outputs down from there.
    first: u64,
    count: u32,
    /// Position of the first sample.
    start: i64,
    /// First element of the row.
    element: u64,
    /// Whether all elements exist, and offsets within the strip have 32 bits.
    is_whole: bool,
}

impl<'a, 'l, P: Packing> Strip<'a, 'l, P> {
    #[inline(always)]
    fn new(args: &'a PassArgs<'l, P::Sample>) -> Self {
        let PassArgs { axis, runs, lines, input_pitch, output_pitch, width, .. } = *args;
        let (block, height) = (thread::block_idx_x(), (runs * RUN) as u64);
        let (group, tiles) = (args.first_group + (block / args.tiles) as u64, axis.outputs.div_ceil(height));
        let (first, elements) = (group % tiles * height, (lines * P::KEYS) as u64);
        let element = (block % args.tiles) as u64 * elements;
        let pitch = input_pitch.max(output_pitch);
        let is_near = pitch < 1 << 32 && (height + axis.taps as u64) * pitch < 1 << 32;
        Strip {
            args,
            extreme: args.extreme(),
            plane: group / tiles,
            first,
            count: (axis.outputs - first).min(height) as u32,
            start: axis.first(first),
            element,
            is_whole: is_near && element + elements <= width,
        }
    }

    /// Returns whether the rows of the strip consist of words of memory.
    #[inline(always)]
    fn has_words(&self) -> bool {
        let PassArgs { input, output, input_pitch, output_pitch, .. } = *self.args;
        let is_aligned = input.is_aligned(BYTES) && output.is_aligned(BYTES);
        self.is_whole && is_aligned && (input_pitch | output_pitch).is_multiple_of(BYTES as u64)
    }

    /// Returns the place of a row's first element in the input.
    #[inline(always)]
    fn place(&self, row: u64) -> u64 {
        (self.plane * self.args.axis.samples + row) * self.args.input_pitch + self.element
    }

    /// Returns the place of the first output.
    #[inline(always)]
    fn output_place(&self) -> u64 {
        (self.plane * self.args.axis.outputs + self.first) * self.args.output_pitch + self.element
    }

    /// Finds the outputs, four lines per thread. All threads take part.
    #[inline(always)]
    fn find_bytes(&self, arena: Arena) {
        let PassArgs { input, output, input_pitch, output_pitch, axis, lines, outside, .. } = *self.args;
        let (tile, _) = Tile::<P, 4>::new(arena, self.args, lines);
        let ([input_pitch, output_pitch], half) =
            ([input_pitch, output_pitch].map(|it| it as u32 / BYTES), lines / BYTES);
        let positions = tile.sizes.positions;
        let [from, to] = inside(&axis, self.start, positions);
        let samples = input.at(self.place((self.start + from as i64).max(0) as u64)).cast::<u32>().anchored();
        let of_halves = |halves: [u32; 2]| P::of_columns(halves.map(|half| [half, 0]), 0, Some(self.extreme));
        let within = |position: u32, number: u32| {
            let word = (position - from) * input_pitch + number;
            [samples.get(word), samples.get(word + half)]
        };
        self.load_packs(&tile, [from, to], of_halves, within);
        let beyond = |position: u32, number: u32| match axis.source(self.start + position as i64) {
            Some(row) => {
                let samples = input.at(self.place(row)).cast::<u32>();
                of_halves([samples.get(number), samples.get(number + half)])
            }
            None => [P::word([outside; 2], Some(self.extreme)); 4],
        };
        self.load_packs(&tile, [0, from], |pack| pack, beyond);
        self.load_packs(&tile, [to, positions], |pack| pack, beyond);

        let outputs = output.at(self.output_place()).cast::<u32>().anchored();
        tile.find_outputs(
            #[inline(always)]
            |position, number, pack| {
                let (word, bytes) = (position * output_pitch + number, P::columns(pack, Some(self.extreme)));
                if position < self.count {
                    outputs.set(word, bytes[0]);
                    outputs.set(word + half, bytes[1]);
                }
            },
        );
    }

    /// Finds the outputs, a line per thread. All threads take part.
    #[inline(always)]
    fn find_samples(&self, arena: Arena) {
        let PassArgs { input, output, input_pitch, output_pitch, axis, lines, width, .. } = *self.args;
        let (tile, _) = Tile::<P, 1>::new(arena, self.args, lines);
        let positions = tile.sizes.positions;
        let [from, to] = inside(&axis, self.start, positions);
        let to = if self.is_whole { to } else { from };
        let samples = input.at(self.place((self.start + from as i64).max(0) as u64)).anchored();
        let word = |samples| [P::word(samples, Some(self.extreme))];
        let within = |position: u32, line: u32| {
            both::<P>(|key| samples.get((position - from) * input_pitch as u32 + key * lines + line))
        };
        self.load_packs(&tile, [from, to], word, within);
        let beyond = |position: u32, line: u32| both::<P>(|key| self.sample(position, key * lines + line));
        self.load_packs(&tile, [0, from], word, beyond);
        self.load_packs(&tile, [to, positions], word, beyond);

        let first = self.output_place();
        let outputs = output.at(first).anchored();
        tile.find_outputs(
            #[inline(always)]
            |position, line, [word]| {
                for key in 0..P::KEYS {
                    let (element, sample) = (key * lines + line, P::samples([word; 2], key, Some(self.extreme))[0]);
                    if position >= self.count {
                        return;
                    }
                    if self.is_whole {
                        outputs.set(position * output_pitch as u32 + element, sample);
                    } else if self.element + (element as u64) < width {
                        output.set(first + position as u64 * output_pitch + element as u64, sample);
                    }
                }
            },
        );
    }

    /// Returns the sample at a position and an element of the strip, or the constant if the picture has no such sample.
    #[inline(always)]
    fn sample(&self, position: u32, element: u32) -> P::Sample {
        let PassArgs { input, axis, width, outside, .. } = *self.args;
        match axis.source(self.start + position as i64) {
            Some(row) if self.element + (element as u64) < width => input.get(self.place(row) + element as u64),
            _ => outside,
        }
    }

    /// Stores the packs of a range of positions, several at a time. `samples` is called with the position and the number of each, then `pack`
    /// with the result.
    #[inline(always)]
    #[track_caller]
    fn load_packs<L: Copy, const W: usize>(
        &self,
        tile: &Tile<P, W>,
        range: [u32; 2],
        pack: impl Fn(L) -> Pack<P, W>,
        samples: impl Fn(u32, u32) -> L,
    ) {
        let ([from, to], threads) = (range.map(|position| position * tile.packs), thread::block_dim_x());
        let mut first = from + thread::thread_idx_x();
        while first + (BATCH - 1) * threads < to {
            let several: [L; BATCH as usize] = from_fn(
                #[inline(always)]
                |k| {
                    let [position, number] = tile.place(first + k as u32 * threads);
                    samples(position, number)
                },
            );
            for k in 0..BATCH {
                P::set_pack(&tile.words, (first + k * threads) * W as u32, pack(several[k as usize]));
            }
            first += BATCH * threads;
        }
        while first < to {
            let [position, number] = tile.place(first);
            P::set_pack(&tile.words, first * W as u32, pack(samples(position, number)));
            first += threads;
        }
    }
}
