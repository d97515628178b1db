//! A tile of keys with its halo in shared memory.
//!
//! A block of 32 x 8 threads computes a tile of 32 pixels, with all of their channels, of 16 rows. It loads the samples that the tile
//! depends on (the tile and its halo), several at a time, and waits. Then thread `(x, y)` computes the outputs `x`, `x + 32`, … of rows `y`,
//! `y + 8`, ….
//!
//! Tiles are larger where the window is small, the strides are 1, and pixels have one channel: 32 rows of 64 pixels in planes with more than
//! 16 rows of outputs. Windows of one row have 8 rows of 256 pixels instead, in planes with at least 256 columns of outputs.
//!
//! Lines are planes of a single row with windows of a single row. Their tiles have 512 pixels, or 2,048 samples if pixels have one channel and
//! the stride is 1, and the block's threads are all in one row.
//!
//! Shared memory: rows of keys, a word or two each. A row is divided into one phase per column of the stride: pixel `p` of the row stands
//! in phase `p % stride` at place `p / stride`, with its channels side by side, as for `filter2d_tile`. So the samples that neighbouring
//! outputs compare at the same time are neighbours, and there are no bank conflicts: in every access the lanes of a warp have consecutive
//! addresses.

use super::key::Ranked;
use super::select::{Window, output};
use super::{Args, Axis, BLOCK};
use cuda_std::{Arena, GlobalIn, Shared, thread};

/// Threads of a block.
pub(super) const THREADS: u32 = BLOCK[0] * BLOCK[1];

/// The outputs of a block, and its threads along rows and columns.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) rows: u32,
    pub(super) pixels: u32,
    pub(super) threads: [u32; 2],
}

impl Form {
    const TILE: Self = Form { rows: 16, pixels: 32, threads: BLOCK };
    /// For small windows of single samples: more outputs share the halo, and the work of each block. It takes at most 54 KiB, also for extremes.
    const LARGE: Self = Form { rows: 32, pixels: 64, threads: BLOCK };
    /// Likewise, for windows of one row: a warp has a row of its own.
    const WIDE: Self = Form { rows: 8, pixels: 256, threads: BLOCK };
    const LINE: Self = Form { rows: 1, pixels: 512, threads: [THREADS, 1] };
    /// For lines of single samples, likewise.
    const LONG: Self = Form { pixels: 2048, ..Self::LINE };

    /// Returns the form for planes with these rows and columns, and pixels with this number of channels.
    #[inline(always)]
    pub(super) fn of(rows: &Axis, columns: &Axis, channels: u32) -> Self {
        let is_line = rows.outputs == 1 && rows.taps == 1 && columns.taps >= columns.stride;
        let is_single = columns.stride == 1 && channels == 1;
        let is_small = rows.stride == 1 && rows.taps <= Self::SMALL && columns.taps <= Self::SMALL;
        let is_low = rows.outputs <= Self::TILE.rows as u64;
        let is_flat = rows.taps == 1 && columns.outputs >= Self::WIDE.pixels as u64;
        match is_line {
            true if is_single => Self::LONG,
            true => Self::LINE,
            false if is_single && is_small && is_flat => Self::WIDE,
            false if is_single && is_small && !is_low => Self::LARGE,
            false => Self::TILE,
        }
    }

    /// Maximum number of rows, and of columns, of a small window.
    const SMALL: u32 = 16;

    /// Returns the thread's place in the tile.
    #[inline(always)]
    pub(super) fn thread(&self) -> [u32; 2] {
        let number = thread::thread_idx_y() * BLOCK[0] + thread::thread_idx_x();
        [number % self.threads[0], number / self.threads[0]]
    }
}

/// Returns the samples along an axis that `outputs` neighbouring outputs depend on.
#[inline(always)]
pub(super) fn samples(axis: &Axis, outputs: u32) -> u64 {
    (outputs as u64 - 1) * axis.stride as u64 + axis.taps as u64
}

/// The rows of keys in shared memory.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub(super) form: Form,
    pub(super) rows: u32,
    /// Pixels of a row that have samples.
    pixels: u32,
    /// Pixels of a phase.
    phase: u32,
    /// Elements of a row.
    pub(super) pitch: u32,
}

impl Layout {
    /// Returns the layout. A launch has shared memory for it, so it fits into 32 bits.
    #[inline(always)]
    pub(super) fn new<T: Ranked>(args: &Args<T>) -> Self {
        let form = Form::of(&args.rows, &args.columns, args.channels);
        let (rows, pixels) = (samples(&args.rows, form.rows) as u32, samples(&args.columns, form.pixels) as u32);
        let phase = pixels.div_ceil(args.columns.stride);
        Layout { form, rows, pixels, phase, pitch: phase * args.columns.stride * args.channels }
    }

    /// Returns the place of a sample of a window, relative to its first row and column.
    #[inline(always)]
    pub(super) fn place<T: Ranked>(&self, args: &Args<T>, row: u32, column: u32) -> u32 {
        let stride = args.columns.stride;
        row * self.pitch + (column % stride * self.phase + column / stride) * args.channels
    }

    /// Returns the number of keys.
    #[inline(always)]
    pub(super) fn len(&self) -> u32 {
        self.rows * self.pitch
    }
}

/// The block's tile: its plane, and its first row and pixel there.
#[derive(Clone, Copy)]
pub(super) struct Place {
    form: Form,
    plane: u64,
    pub(super) row: u64,
    pixel: u64,
}

impl Place {
    /// Returns the place. The rows of a tile belong to one plane.
    #[inline(always)]
    pub(super) fn new<T: Ranked>(args: &Args<T>) -> Self {
        let (block, form) = (thread::block_idx_x(), Form::of(&args.rows, &args.columns, args.channels));
        let tile_rows = args.rows.outputs.div_ceil(form.rows as u64);
        let group = args.first_group + (block / args.tiles) as u64;
        let (plane, row) = (group / tile_rows, group % tile_rows * form.rows as u64);
        Place { form, plane, row, pixel: (block % args.tiles) as u64 * form.pixels as u64 }
    }

    /// Loads the keys of the tile; all threads of the block take part.
    #[inline(always)]
    pub(super) fn load<T: Ranked>(
        &self,
        tile: &Shared<T::Key>,
        args: &Args<T>,
        layout: &Layout,
        key: impl Fn(T) -> T::Key,
    ) {
        let first = [args.rows.first(self.row), args.columns.first(self.pixel)];
        // In most tiles, the elements of a row are neighbours in the input, too.
        let are_neighbours = args.columns.stride == 1 && args.columns.has(first[1], layout.pixels);
        let ([x, y], [along, down]) = (self.form.thread(), self.form.threads);
        let mut row = y;
        while row < layout.rows {
            let line = args.line(self.plane, args.rows.source(first[0] + row as i64));
            let target = row * layout.pitch;
            match line {
                Some(line) if are_neighbours => {
                    let samples = args.input.at(line + first[1] as u64 * args.channels as u64).first(layout.pitch);
                    match self.form.threads {
                        BLOCK => load_row::<T, { BLOCK[0] }>(tile, target, &samples, x, &key),
                        _ => load_row::<T, THREADS>(tile, target, &samples, x, &key),
                    }
                }
                _ => {
                    let mut element = x;
                    while element < layout.pitch {
                        let (place, channel) = (element / args.channels, element % args.channels);
                        let pixel = place % layout.phase * args.columns.stride + place / layout.phase;
                        // The last phases may be one pixel shorter.
                        if pixel < layout.pixels {
                            let source = args.columns.source(first[1] + pixel as i64);
                            tile.set(target + element, key(args.sample_at(line, source, channel as u64)));
                        }
                        element += along;
                    }
                }
            }
            row += down;
        }
    }

    /// Stores the output of each row and element of the tile.
    #[inline(always)]
    pub(super) fn store<T: Ranked>(&self, args: &Args<T>, output: impl Fn(u32, u32) -> T) {
        let ([x, y], [along, down]) = (self.form.thread(), self.form.threads);
        let rows = (args.rows.outputs - self.row).min(self.form.rows as u64) as u32;
        let width = (args.columns.outputs - self.pixel).min(self.form.pixels as u64) as u32 * args.channels;
        let mut row = y;
        while row < rows {
            let line = (self.plane * args.rows.outputs + self.row + row as u64) * args.output_pitch;
            // Within a row of the tile, 32-bit offsets are sufficient.
            let outputs = args.output.at(line + self.pixel * args.channels as u64);
            let mut element = x;
            while element < width {
                outputs.set(element, output(row, element));
                element += along;
            }
            row += down;
        }
    }
}

/// Stores the keys of a row of neighbouring samples. The thread has each `ALONG`-th sample from `element` on.
#[inline(always)]
fn load_row<T: Ranked, const ALONG: u32>(
    tile: &Shared<T::Key>,
    target: u32,
    samples: &GlobalIn<T, u32>,
    mut element: u32,
    key: impl Fn(T) -> T::Key,
) {
    // With a constant step and an end that is that of the window, the compiler loads four samples before it stores the first key.
    while element < samples.len() {
        tile.set(target + element, key(samples.get(element)));
        element += ALONG;
    }
}

/// Calls `visit` with the key of each of these columns of a window, of which column 0 is at `start` in the tile.
#[inline(always)]
pub(super) fn for_each_column<T: Ranked>(
    args: &Args<T>,
    layout: &Layout,
    tile: &Shared<T::Key>,
    start: u32,
    [column, end]: [u32; 2],
    mut visit: impl FnMut(T::Key),
) {
    if args.columns.stride == 1 {
        // Without phases, a step is the same everywhere.
        let (mut place, end) = (start + column * args.channels, start + end * args.channels);
        while place < end {
            visit(tile.get(place));
            place += args.channels;
        }
        return;
    }
    let (mut column, mut phase, mut place) = (column, column % args.columns.stride, column / args.columns.stride);
    while column < end {
        visit(tile.get(start + (phase * layout.phase + place) * args.channels));
        (column, phase) = (column + 1, phase + 1);
        if phase == args.columns.stride {
            (phase, place) = (0, place + 1);
        }
    }
}

/// The window of an output.
struct Keys<'a, 'l, 's, T: Ranked> {
    args: &'a Args<'l, T>,
    tile: &'a Shared<'s, T::Key>,
    layout: Layout,
    /// Place of the first key.
    start: u32,
}

impl<T: Ranked> Window<T::Key> for Keys<'_, '_, '_, T> {
    #[inline(always)]
    fn for_each(&self, mut visit: impl FnMut(T::Key)) {
        let mut run = 0;
        while run < self.args.runs {
            let [row, column, end] = self.args.run(run);
            let start = self.start + row * self.layout.pitch;
            for_each_column(self.args, &self.layout, self.tile, start, [column, end], &mut visit);
            run += 1;
        }
    }
}

#[inline(always)]
pub(super) fn outputs<T: Ranked, const IS_EXTREME: bool>(arena: Arena, args: &Args<T>) {
    let (layout, place) = (Layout::new(args), Place::new(args));
    let (tile, _) = arena.split::<T::Key>(layout.len());
    place.load(&tile, args, &layout, T::key);
    thread::sync_threads();
    place.store(
        args,
        #[inline(always)]
        |row, element| {
            let start = row * args.rows.stride * layout.pitch + element;
            output::<T, IS_EXTREME>(args, &Keys { args, tile: &tile, layout, start })
        },
    );
}
