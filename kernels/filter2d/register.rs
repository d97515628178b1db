//! Correlation with several neighbouring outputs per thread, in registers.
//!
//! A block of `h` warps computes a tile of `16 · R` pixels of `2 · h · Q` rows, of one channel. It loads the samples that the tile
//! depends on (the tile and its halo), and waits. Half-warp `y` computes `Q` rows from `y · Q` on: its lane `x` the `R` pixels from
//! `x · R` on. (A whole warp per row would make the tile wider and lower, with more samples in its halo.)
//!
//! ```text
//!              x · R                      a row of weights      - w0 w1 w2 | w3 w4 …
//! row y · Q    a b c d e f g h …          window of row q       R + V samples in registers
//!         + 1  i j k l m n o p …          one step              V new samples of each of the Q rows, V weights,
//!         + 2  q r s t u v w x …                                Q · R · V products
//! ```
//!
//! The thread goes through the rows of weights, one after another. For each one it moves `Q` windows along `Q` rows of samples. A
//! pack of `V` weights, loaded once, serves all `Q · R` outputs. A window is a ring, so nothing is moved between registers. A row
//! of weights consists of whole packs: it begins with up to `V - 1` empty entries, which are skipped. (A multiplication by zero
//! would turn infinite samples into NaN.)
//!
//! As many rows of weights as fit are kernel parameters: a multiply-add reads its weight through a uniform register, so it has two
//! operands instead of three in the thread's own registers. The other rows of weights are in shared memory.
//!
//! Rows of some lengths have code of their own. The whole row of weights is in uniform registers, and the samples of one row of
//! outputs at a time are in others, so there are no rings, and no decisions about the end of a row.
//!
//! Shared memory: where the outputs are to go; the rows of samples, of `16 · R` pixels and a row of weights; those weights. The
//! outputs leave through the memory of the samples, so that their stores to global memory are contiguous. No bank conflicts:
//! weights are read at one address; eight lanes at a time read or write packs of 16 bytes that are `R / V` packs apart, an odd number.
//!
//! Register tiles are described by Volkov, *Better Performance at Lower Occupancy* (GTC 2010).

use super::block::load_weights;
use super::{Args, Axis};
use crate::signal::{Accumulator, Window};
use cuda_std::math::opaque;
use cuda_std::{Arena, Constants, Shared, thread};

/// Threads of a warp: those of a block along x.
pub(super) const WIDTH: u32 = 32;

/// Threads along a row of outputs.
const LANES: u32 = 16;

/// Packs of a thread's outputs in a row. Odd, so that there are no bank conflicts.
pub(crate) const PACKS: usize = 3;

/// Rows of a thread's outputs.
pub(crate) const ROWS: usize = 4;

/// Loads of a row of samples of a thread that are in progress together, beyond those of the pixels above outputs. Rows of up to 64
/// weights need no others.
const HALO_LOADS: usize = 2;

/// Returns the number of those loads in all.
#[must_use]
pub(crate) const fn loads<A>() -> usize {
    LANES as usize * PACKS * pack::<A>() / WIDTH as usize + HALO_LOADS
}

/// Maximum bytes of weights that are kernel parameters. Together with the arguments, they fit into the 4096 bytes of kernel
/// parameters.
const TABLE_BYTES: usize = 3712;

/// Returns the numbers of type `A` in the table of weights.
#[must_use]
pub const fn table_len<A>() -> usize {
    TABLE_BYTES / size_of::<A>()
}

/// Returns the numbers of type `A` in a pack of 16 bytes.
#[must_use]
pub(crate) const fn pack<A>() -> usize {
    16 / size_of::<A>()
}

/// Returns the rows of weights in the table of a filter of `taps` rows and columns, and the packs of a row.
#[must_use]
pub const fn table_shape<A>([rows, columns]: [u32; 2]) -> [u32; 2] {
    let packs = columns.div_ceil(pack::<A>() as u32);
    let most = (table_len::<A>() / pack::<A>()) as u32 / packs;
    [if most < rows { most } else { rows }, packs]
}

/// Sizes of a block's tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Pixels of outputs in a row.
    pub(super) pixels: u32,
    /// Rows of outputs.
    pub(super) rows: u32,
    /// Weights of a row with the empty entries before them.
    pub(super) weights: u64,
    /// Rows of samples.
    pub(super) sample_rows: u64,
}

impl Layout {
    #[inline(always)]
    pub(super) fn new<A>(rows: &Axis, weight_packs: u32, height: u32) -> Self {
        let outputs = height * (WIDTH / LANES) * ROWS as u32;
        Layout {
            pixels: LANES * (PACKS * pack::<A>()) as u32,
            rows: outputs,
            weights: weight_packs as u64 * pack::<A>() as u64,
            sample_rows: outputs as u64 + (rows.taps as u64 - 1) * rows.dilation as u64,
        }
    }

    /// Returns the samples of a row.
    #[inline(always)]
    pub(super) fn pitch(&self) -> u64 {
        self.pixels as u64 + self.weights
    }
}

/// A block's place in the picture.
#[derive(Clone, Copy)]
struct Tile {
    plane: u64,
    channel: u64,
    /// The first output row in its plane.
    row: u64,
    /// The first output pixel.
    pixel: u64,
}

/// The outputs of a block. In shared memory while the block computes them: in registers there is no room beside sums and windows.
#[derive(Clone, Copy)]
pub(super) struct Outputs {
    /// The place of the first one.
    first: u64,
    /// Rows and pixels of them that are in the picture.
    size: [u32; 2],
}

impl Outputs {
    /// Numbers in shared memory.
    pub(super) const NUMBERS: u32 = 2;

    #[inline(always)]
    fn new<A: Accumulator>(args: &Args<A>, layout: &Layout, tile: &Tile) -> Self {
        let first = (tile.plane * args.rows.outputs + tile.row) * args.output_pitch;
        let [rows, pixels] = [args.rows.outputs - tile.row, args.columns.outputs - tile.pixel];
        Outputs {
            first: first + tile.pixel * args.channels as u64 + tile.channel,
            size: [rows.min(layout.rows as u64) as u32, pixels.min(layout.pixels as u64) as u32],
        }
    }

    #[inline(always)]
    fn keep(&self, numbers: &Shared<u64>) {
        if thread::thread_linear() == 0 {
            numbers.set_pack(0, [self.first, (self.size[0] as u64) << 32 | self.size[1] as u64]);
        }
    }

    #[inline(always)]
    fn kept(numbers: &Shared<u64>) -> Self {
        let [first, size] = numbers.get_pack(0);
        Outputs { first, size: [(size >> 32) as u32, size as u32] }
    }
}

#[inline(always)]
pub(super) fn correlate<
    A: Accumulator,
    const V: usize,
    const R: usize,
    const N: usize,
    const LOADS: usize,
    const K: usize,
>(
    arena: Arena,
    args: &Args<A>,
    table: &Constants<A, K>,
) {
    const { assert!(V == pack::<A>() && R == PACKS * V && N == R + V && LOADS == loads::<A>()) };
    let layout = Layout::new::<A>(&args.rows, args.weight_packs, thread::block_dim_y());
    let (pitch, weights_pitch) = (layout.pitch() as u32, layout.weights as u32);
    let (numbers, arena) = arena.split::<u64>(Outputs::NUMBERS);
    let (samples, arena) = arena.split::<A>(layout.sample_rows as u32 * pitch);
    let (weights, _) = arena.split::<A>((args.rows.taps - args.table_rows) * weights_pitch);
    let tile = tile_of_block(args, &layout);
    Outputs::new(args, &layout, &tile).keep(&numbers);
    load_weights(&weights, args, args.table_rows, weights_pitch);
    load_samples::<A, LOADS>(&samples, args, &layout, &tile);
    thread::sync_threads();

    let [x, y] = place_of_thread();
    let pad = weights_pitch - args.columns.taps;
    // Packs are counted by arguments, and each loop has its own counter: so the compiler sees that they are the same for all threads,
    // and uses uniform registers.
    let packs = args.weight_packs;
    let line = |t: u32, most: u32| WeightLine { first: t * packs, end: (t + 1) * packs, most, pad };
    // The thread's first sample for a row of weights.
    let (mut at, step) = (y * ROWS as u32 * pitch + x * R as u32, args.rows.dilation * pitch);
    let mut sums = [[A::ZERO; R]; ROWS];
    (sums, at) = match args.columns.taps {
        17 if size_of::<A>() == 4 => add_rows_of::<A, V, R, 17, 32, K>(args, table, &samples, sums, [at, step]),
        31 if size_of::<A>() == 4 => add_rows_of::<A, V, R, 31, 44, K>(args, table, &samples, sums, [at, step]),
        _ => {
            let mut t = 0;
            while t < args.table_rows {
                let rows = rows_from::<ROWS>(at, pitch);
                let samples = |q, s| samples.get_pack(rows[q] + s);
                sums = add_row::<A, V, R, N, ROWS>(line(t, (K / V) as u32), |k| table.pack(k), sums, samples);
                at += step;
                t += 1;
            }
            (sums, at)
        }
    };
    let mut rest = 0;
    while rest < args.rows.taps - args.table_rows {
        // Two rows of outputs at a time, because these weights are in registers, too.
        let mut row = at;
        for sums in sums.as_chunks_mut::<2>().0 {
            let rows = rows_from::<2>(row, pitch);
            let samples = |q, s| samples.get_pack(rows[q] + s);
            *sums = add_row::<A, V, R, N, 2>(line(rest, u32::MAX), |k| weights.get_pack(k * V as u32), *sums, samples);
            row += 2 * pitch;
        }
        at += step;
        rest += 1;
    }

    // Once more, because there are no registers in which the place can stay meanwhile.
    let [x, y] = place_of_thread();
    let (staged, _) = samples.reuse().split::<A>(layout.rows * layout.pixels);
    for (q, sums) in sums.iter().enumerate() {
        for r in (0..R).step_by(V) {
            let pack: [A; V] = core::array::from_fn(|k| sums[r + k]);
            staged.set_pack((y * ROWS as u32 + q as u32) * layout.pixels + x * R as u32 + r as u32, pack);
        }
    }
    if args.total.is_divisor() {
        let first = y * ROWS as u32 * layout.pixels + x * R as u32;
        divide::<A, V, R>(&staged, args.total, first, layout.pixels);
    }
    thread::sync_threads();
    store::<A, V>(&staged, args, &layout, &Outputs::kept(&numbers), [x, y]);
}

/// Divides the thread's sums, which it has just staged from `first` on, in rows `pitch` apart. They are read again, because divisions
/// where sums are stored would make all filters slower (`benches/RESULTS.md`).
#[inline(always)]
fn divide<A: Accumulator, const V: usize, const R: usize>(staged: &Shared<A>, divisor: A, first: u32, pitch: u32) {
    let mut place = first;
    while place < first + ROWS as u32 * pitch {
        let mut r = 0;
        while r < R as u32 {
            let sums: [A; V] = staged.get_pack(place + r);
            staged.set_pack(place + r, sums.map(|sum| sum.quotient(divisor)));
            r += V as u32;
        }
        place += pitch;
    }
}

/// Returns the thread's lane and number of its half-warp in the block. Each call computes them.
#[inline(always)]
fn place_of_thread() -> [u32; 2] {
    let lane = opaque(thread::thread_idx_x());
    [lane % LANES, thread::thread_idx_y() * (WIDTH / LANES) + lane / LANES]
}

#[inline(always)]
fn tile_of_block<A: Accumulator>(args: &Args<A>, layout: &Layout) -> Tile {
    let block = thread::block_idx_x();
    let group = args.first_group + (block / args.tiles) as u64;
    let tile_rows = args.rows.outputs.div_ceil(layout.rows as u64);
    // Channels of one tile are neighbours, so that they read the same samples at about the same time.
    let (pixels, channel) = (block % args.tiles / args.channels, block % args.tiles % args.channels);
    Tile {
        plane: group / tile_rows,
        channel: channel as u64,
        row: group % tile_rows * layout.rows as u64,
        pixel: pixels as u64 * layout.pixels as u64,
    }
}

/// Loads the samples of a tile; all threads of the block take part. A warp loads a row at a time, and a thread every 32nd sample of it.
#[inline(always)]
fn load_samples<A: Accumulator, const LOADS: usize>(window: &Shared<A>, args: &Args<A>, layout: &Layout, tile: &Tile) {
    // The samples of the empty entries stand before the first one. They are loaded, but do not count.
    let pad = layout.weights as i64 - args.columns.taps as i64;
    let (first_row, first_pixel) = (args.rows.first(tile.row), args.columns.first(tile.pixel) - pad);
    let (x, pitch, rows) = (thread::thread_idx_x(), layout.pitch() as u32, layout.sample_rows as u32);
    // Of the thread's `count` samples of a row, `len` are loaded together, from number `before` on: those inside the picture.
    let (first, count) = (first_pixel + x as i64, (pitch - x).div_ceil(WIDTH));
    let [before, end] = args.columns.inside(first, WIDTH, count);
    let len = (end - before).min(LOADS as u32);
    let first_inside = (first + (before * WIDTH) as i64) as u64 * args.channels as u64 + tile.channel;
    let rows_are_inside = args.rows.contains(first_row, rows);
    let mut row = thread::thread_idx_y();
    while row < rows {
        let source = match rows_are_inside {
            true => Some(first_row as u64 + row as u64),
            false => args.rows.source(first_row + row as i64),
        };
        let (line, place) = (args.line(tile.plane, source), row * pitch + x);
        let mut together = 0;
        if let Some(line) = line.filter(|_| len > 0) {
            let samples: [A; LOADS] = load_row(args, line + first_inside, len);
            for (k, sample) in samples.into_iter().enumerate() {
                if (k as u32) < len {
                    window.set(place + (before + k as u32) * WIDTH, sample);
                }
            }
            together = len;
        }
        let mut k = if together == count { count } else { 0 };
        while k < count {
            if k.wrapping_sub(before) >= together {
                let source = args.columns.source(first + (k * WIDTH) as i64);
                window.set(place + k * WIDTH, args.sample_at(line, source, tile.channel));
            }
            k += 1;
        }
        row += thread::block_dim_y();
    }
}

/// Loads the first of `count` samples of a row, 32 pixels apart, from `first` on.
#[inline(always)]
#[track_caller]
fn load_row<A: Accumulator, const LOADS: usize>(args: &Args<A>, first: u64, count: u32) -> [A; LOADS] {
    match args.channels {
        // Distances that the compiler knows are parts of the instructions.
        1 => A::load_several(&args.input, first, WIDTH, count),
        channels => A::load_several(&args.input, first, WIDTH * channels, count),
    }
}

/// Stores the outputs of a tile, in packs where they are aligned; all threads of the block take part. Half-warp `y` stores the packs of
/// the rows that it computed.
#[inline(always)]
fn store<A: Accumulator, const V: usize>(
    staged: &Shared<A>,
    args: &Args<A>,
    layout: &Layout,
    outputs: &Outputs,
    [x, y]: [u32; 2],
) {
    let [rows, pixels] = outputs.size;
    let is_packed =
        args.channels == 1 && args.output_pitch.is_multiple_of(V as u64) && args.output.is_aligned(V as u32);
    let packed = if is_packed { pixels - pixels % V as u32 } else { 0 };
    let mut row = y * ROWS as u32;
    let end = rows.min(row + ROWS as u32);
    while row < end {
        let line = outputs.first + row as u64 * args.output_pitch;
        let mut pixel = x * V as u32;
        while pixel < packed {
            let sums = staged.get_pack(row * layout.pixels + pixel);
            A::store_aligned::<V>(sums, &args.output, line + pixel as u64);
            pixel += LANES * V as u32;
        }
        row += 1;
    }
    if packed == pixels {
        return;
    }
    let mut row = thread::thread_idx_y();
    while row < rows {
        let line = outputs.first + row as u64 * args.output_pitch;
        let mut pixel = packed + thread::thread_idx_x();
        while pixel < pixels {
            let sum = staged.get(row * layout.pixels + pixel);
            sum.store_output(&args.output, line + pixel as u64 * args.channels as u64);
            pixel += WIDTH;
        }
        row += thread::block_dim_y();
    }
}

/// Adds the products with the rows of weights in the table, of `T` weights each, to the sums. The first row meets the samples from `at`
/// on, and the others those `step` further on. Returns the sums and the next place of the samples.
///
/// `X` is the length of the longest array: `R` samples and a row of weights with the empty entries before it. 64 bits have too few
/// registers. Code of their own for more `T` than 17 and 31 would save a tenth of the time, but ptxas would take nearly twice as long
/// (`benches/RESULTS.md`).
#[inline(always)]
fn add_rows_of<A: Accumulator, const V: usize, const R: usize, const T: usize, const X: usize, const K: usize>(
    args: &Args<A>,
    table: &Constants<A, K>,
    samples: &Shared<A>,
    mut sums: [[A; R]; ROWS],
    [mut at, step]: [u32; 2],
) -> ([[A; R]; ROWS], u32) {
    const { assert!(size_of::<A>() != 4 || X == R + T.next_multiple_of(V)) };
    let (packs, pitch) = (((X - R) / V) as u32, LANES * R as u32 + (X - R) as u32);
    let mut t = 0;
    // If the compiler knows the end of the table, it does not limit addresses once more.
    while !(t >= args.table_rows || t >= (K / (X - R)) as u32) {
        let mut weights = [A::ZERO; X];
        for (k, pack) in weights.as_chunks_mut::<V>().0.iter_mut().take((X - R) / V).enumerate() {
            *pack = table.pack(t * packs + k as u32);
        }
        for (q, sums) in sums.iter_mut().enumerate() {
            let mut window = [A::ZERO; X];
            for (s, pack) in window.as_chunks_mut::<V>().0.iter_mut().enumerate() {
                *pack = samples.get_pack(at + q as u32 * pitch + (s * V) as u32);
            }
            for j in X - R - T..X - R {
                for (r, sum) in sums.iter_mut().enumerate() {
                    *sum = sum.add_product(window[j + r], weights[j]);
                }
            }
        }
        at += step;
        t += 1;
    }
    (sums, at)
}

/// Returns where `Q` rows of samples begin, each as a number of its own. Otherwise the compiler keeps more of them in registers than
/// there are.
#[inline(always)]
fn rows_from<const Q: usize>(first: u32, pitch: u32) -> [u32; Q] {
    core::array::from_fn(|q| opaque(first + q as u32 * pitch))
}

/// A row of weights.
#[derive(Clone, Copy)]
struct WeightLine {
    /// The first pack.
    first: u32,
    /// The end of the packs.
    end: u32,
    /// More than any pack. If the compiler knows it, it does not limit an address in the table once more.
    most: u32,
    /// Empty entries at the beginning.
    pad: u32,
}

impl WeightLine {
    /// Returns whether pack `k` is behind the row.
    #[inline(always)]
    fn ends_before(&self, k: u32) -> bool {
        k >= self.end || k >= self.most
    }
}

/// Returns `sums[q][r] + Σ_j x_q[r + j] · w[j]`, with `j` from `line.pad` on. `weights(k)` returns pack `k` of all weights, and
/// `samples(q, s)` returns `x_q[s]` to `x_q[s + V - 1]`, for multiples `s` of `V`.
#[inline(always)]
fn add_row<A: Accumulator, const V: usize, const R: usize, const N: usize, const Q: usize>(
    line: WeightLine,
    weights: impl Fn(u32) -> [A; V],
    sums: [[A; R]; Q],
    samples: impl Fn(usize, u32) -> [A; V],
) -> [[A; R]; Q] {
    let mut k = line.first;
    if line.ends_before(k) {
        return sums;
    }
    let mut windows = sums.map(Window::<A, A, R, N>::new);
    for s in (0..R).step_by(V) {
        for (q, window) in windows.iter_mut().enumerate() {
            window.put(s, samples(q, s as u32));
        }
    }
    step(&mut windows, 0, |q| samples(q, R as u32), weights(k), |u| u >= line.pad);
    k += 1;
    // One turn of the windows per iteration.
    'turns: loop {
        for phase in 0..N / V {
            if line.ends_before(k) {
                break 'turns;
            }
            let s = R as u32 + (k - line.first) * V as u32;
            step(&mut windows, (1 + phase) * V, |q| samples(q, s), weights(k), |_| true);
            k += 1;
        }
    }
    windows.map(|window| window.sums)
}

/// Adds `V` new samples to each window, and the products with the `wanted` ones of `V` weights to the sums. Afterwards the `V`
/// samples from `oldest` on are no longer needed.
#[inline(always)]
fn step<A: Accumulator, const V: usize, const R: usize, const N: usize, const Q: usize>(
    windows: &mut [Window<A, A, R, N>; Q],
    oldest: usize,
    new: impl Fn(usize) -> [A; V],
    weights: [A; V],
    wanted: impl Fn(u32) -> bool + Copy,
) {
    for (q, window) in windows.iter_mut().enumerate() {
        window.put(oldest + R, new(q));
    }
    // One decision about a weight is for all windows.
    for (u, weight) in weights.into_iter().enumerate() {
        if wanted(u as u32) {
            for window in windows.iter_mut() {
                window.add_product(oldest + u, weight);
            }
        }
    }
}
