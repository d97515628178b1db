//! Correlation with an outer product of any size: a pass along the rows, and one down the columns, in one launch.
//!
//! A block goes down a strip of the picture, a band of rows high. It has a thread for each column of the strip, 32 · `R`, and this
//! `groups` times. Strips with a third of the columns are for devices with little shared memory. Block `(x, y, z)` has strip `x` of band `y` of plane `z`. Each step adds `R` · `groups` rows:
//!
//! 1. Each warp multiplies one row of samples by the row of weights. A lane computes `R` neighbouring sums, which go to a ring of
//!    rows in shared memory. Then the warp begins to load its samples of the next step into registers.
//! 2. After a barrier, thread `(c, g)` multiplies column `c` of the ring by the column of weights. It computes `R` outputs, one below
//!    the other: those of group `g` whose last row came in this step.
//!
//! ```text
//!            columns of the strip
//!       pad  +--------------------+
//!   and one  | read, not needed   |  <- the window of a step begins here
//!            +--------------------+
//!  K - 1 rows| sums along the rows|
//!            +--------------------+
//!   R·groups | rows of this step  |  -> outputs of as many rows
//!            +--------------------+
//!   R·groups | rows of the next   |  written while slower warps still read the window: so a barrier a step suffices
//!            +--------------------+
//! ```
//!
//! The first steps only fill the ring. A sample is loaded once, but for the halos of strips and bands. Both passes slide the window
//! of a [`Window`] along their line, `V` samples and weights at a time, so they take any number of weights.
//!
//! The weights are kernel parameters: the column and the row, each behind a *pad* of empty entries that makes it end with a whole
//! pack. A multiply-add reads its weight through a uniform register. Empty entries are skipped. (A multiplication by zero would
//! turn infinite samples into NaN.) The window begins one sample before the pad, because its last sample would otherwise be one
//! that no sum needs, in a row that is not there yet.
//!
//! Shared memory: numbers that all threads need; where each sample of a row is in the picture; a row of samples of each warp; the
//! ring. No bank conflicts:
//!
//! * Lanes read packs of their row of samples `R` elements apart, an odd number of packs of 16 bytes. The hardware serves eight lanes
//!   at a time, which use eight different groups of four banks. Lanes write packs of sums in the same way.
//! * In all other accesses, lanes have consecutive elements, or the same.

use super::pixels::Typed;
use super::{BandArgs, Packs, PassesArgs};
use crate::signal::{Output, Sample, Sum, Types, Weight, Window};
use core::fmt::Debug;
use cuda_std::math::opaque;
use cuda_std::warp::{FULL, WARP, sync_warp};
use cuda_std::{Arena, Constants, Shared, thread};

/// An instance of the kernel: its types, and the packs of sums of a lane. They are odd, to avoid bank conflicts.
#[derive(Clone, Copy, Debug)]
pub struct Lane<F, const PACKS: usize>(F);

/// A [`Lane`].
pub trait LaneInstance: Copy + Debug + Send + Sync + 'static {
    /// The types of the numbers.
    type Types: Types<Sum: Sample>;
    /// Packs of sums.
    const PACKS: usize;
}

impl<F: Types<Sum: Sample>, const PACKS: usize> LaneInstance for Lane<F, PACKS> {
    type Types = F;
    const PACKS: usize = PACKS;
}

/// Loads of a lane that are in progress while it works on the row before, beyond those of the strip's own columns. Rows of up to
/// 32 times as many weights need no others.
pub(super) const HALO_LOADS: usize = 2;

/// The pack of the table of weights that the row begins with. Shared memory has no room for the rows that a longer column needs.
pub(super) const ROW_PACK: u32 = 32;

/// Samples that the window begins before the pad.
const LEAD: u32 = 1;

/// Packs of weights whose products are unrolled. (With 4 packs, 31 x 31 and 63 x 63 weights took 5 and 7 % more time on an H200.)
const UNROLLED: usize = 16;

/// Returns the columns of a strip: a warp computes `packs` packs a lane.
pub(super) const fn strip<F: Types>(packs: usize) -> u32 {
    WARP * (packs * F::PACK) as u32
}

/// Sizes of what a block has in shared memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Entries of the tables of column and row weights, whole packs.
    pub(super) entries: [u32; 2],
    /// Rows of a step.
    pub(super) step: u32,
    /// Samples of a row.
    pub(super) row: u32,
    /// Rows of the ring.
    pub(super) slots: u32,
}

impl Sizes {
    /// Returns the sizes for weights of `taps` rows and columns, if a lane has `packs` packs of sums.
    #[inline(always)]
    pub(super) fn new<F: Types>(taps: [u32; 2], groups: u32, packs: usize) -> Self {
        let entries = taps.map(|taps| taps.next_multiple_of(F::PACK as u32));
        let step = groups * (packs * F::PACK) as u32;
        let row = (strip::<F>(packs) + entries[1]).next_multiple_of(WARP);
        Sizes { entries, step, row, slots: entries[0] + 2 * step }
    }

    /// Returns a slot of the ring, which may be up to a whole turn beyond its end.
    #[inline(always)]
    fn wrapped(&self, slot: u32) -> u32 {
        if slot >= self.slots { slot - self.slots } else { slot }
    }
}

/// Goes down a strip.
#[inline(always)]
pub(super) fn correlate<F: Types, const V: usize, const R: usize, const N: usize, const LOADS: usize, const T: usize>(
    arena: Arena,
    args: &PassesArgs<F>,
    weights: &Constants<F::Weight, T>,
) where
    F::Sum: Sample + Sum<F::Sum, F::Weight>,
{
    const { assert!(V == F::PACK && R % (2 * V) == V && N == R + V) };
    const { assert!(LOADS == R + HALO_LOADS && T.is_multiple_of(V)) };
    let (PassesArgs { column, row, .. }, args) = (args, &args.picture);
    let strip = Strip::<F, R>::new(arena, args);
    thread::sync_threads();
    let (sizes, group) = (strip.sizes, thread::thread_idx_y());
    let warp = group * R as u32 + thread::thread_idx_x() / WARP;
    // Rows of the steps that only fill the ring. The first step begins `early` rows before row 0, the first one that is needed, so that
    // these steps end with row `taps - 2`. A loop, because GPUs have no instruction for quotients.
    let mut fill = 0;
    while fill < args.rows.taps - 1 {
        fill += sizes.step;
    }
    let early = fill - (args.rows.taps - 1);
    // The window of the first outputs begins `pad + LEAD` rows before row 0, in slot `step`.
    let (mut write, mut read) = (sizes.step + column.pad + LEAD - early, sizes.step);
    let mut samples = strip.load::<LOADS>(warp.wrapping_sub(early));
    let mut done = 0;
    while done < fill + strip.size()[0] {
        let r = (done + warp).wrapping_sub(early);
        strip.keep(warp, r, samples);
        sync_warp(FULL);
        strip.along::<V, N, T>(weights, row, warp, sizes.wrapped(write + warp));
        samples = strip.load(r.wrapping_add(sizes.step));
        write = sizes.wrapped(write + sizes.step);
        thread::sync_threads();
        if done >= fill {
            let first = group * R as u32;
            let sums = strip.down::<V, N, T>(weights, column, sizes.wrapped(read + first));
            strip.store(done - fill + first, sums);
            read = sizes.wrapped(read + sizes.step);
        }
        done += sizes.step;
    }
}

/// Returns `Σ_j x[LEAD + r + j] · w[j]` for each `r`, where `w` are the entries of the table from pack `FIRST` on, without their pad.
/// Each call of `samples` returns the next `V` of `x`.
#[inline(always)]
fn products<
    X: Sample,
    A: Sum<X, W> + Default,
    W: Weight,
    const V: usize,
    const R: usize,
    const N: usize,
    const T: usize,
    const FIRST: u32,
>(
    weights: &Constants<W, T>,
    packs: &Packs,
    mut samples: impl FnMut() -> [X; V],
) -> [A; R] {
    const { assert!((UNROLLED * V).is_multiple_of(N)) };
    let mut window = Window::<X, A, R, N>::new([A::default(); R]);
    for s in (0..R).step_by(V) {
        window.put(s, samples());
    }
    window.put(R, samples());
    window.add_products(LEAD as usize, weights.pack::<V>(FIRST), |u| u >= packs.pad);
    // Unrolled for fewer instructions: the places of samples and weights are constants.
    each!(k < UNROLLED, {
        if k > 0 {
            if k as u32 >= packs.packs {
                return window.sums;
            }
            window.put(k * V + R, samples());
            window.add_products(k * V + LEAD as usize, weights.pack::<V>(FIRST + k as u32), |_| true);
        }
    });
    let mut k = UNROLLED as u32;
    // One turn of the window's ring per iteration.
    loop {
        for phase in 0..N / V {
            // If the compiler knows that all packs are in the table, it does not limit an address once more.
            if k >= packs.packs || k >= (T / V) as u32 - FIRST {
                return window.sums;
            }
            let oldest = phase * V;
            window.put(oldest + R, samples());
            window.add_products(oldest + LEAD as usize, weights.pack::<V>(FIRST + k), |_| true);
            k += 1;
        }
    }
}

/// The strip of a block, down a band of rows. A lane has `R` sums.
struct Strip<'a, F: Types, const R: usize>
where
    F::Sum: Sample,
{
    args: &'a BandArgs<Typed<'a, F>>,
    sizes: Sizes,
    /// Numbers that every step needs. In registers there is no room for them beside the sums and samples of both passes.
    numbers: Shared<'a, u64>,
    /// Where each sample of a row is in a row of the picture, or [`OUTSIDE`].
    sources: Shared<'a, u64>,
    /// A row of samples of each warp.
    rows: Shared<'a, F::Sample>,
    /// The ring: rows of sums along the rows of samples.
    ring: Shared<'a, F::Sum>,
    /// Whether all samples of a row are in the picture.
    is_inside: bool,
}

/// Pairs in [`Strip::numbers`]: the position of the band's first row of samples in the plane, and that of the strip's first sample
/// in a row.
const CORNER: u32 = 0;
/// The first row of samples of the plane among all, and the place of the strip's first output.
const PLACE: u32 = 2;
/// The output rows of the band, and the columns of the strip that have outputs.
const SIZE: u32 = 4;
/// Their number.
pub(super) const NUMBERS: u32 = 6;

/// The source of the constant outside.
const OUTSIDE: u64 = u64::MAX;

/// Row pitch from which on places of a thread's outputs may need more than 32 bits.
const WIDE: u64 = 1 << 27;

impl<'a, F: Types, const R: usize> Strip<'a, F, R>
where
    F::Sum: Sample,
{
    /// Columns.
    const COLUMNS: u32 = strip::<F>(R / F::PACK);

    /// Returns the block's strip. All threads of the block must meet at a barrier before they use it.
    #[inline(always)]
    fn new(arena: Arena<'a>, args: &'a BandArgs<Typed<F>>) -> Self {
        let sizes = Sizes::new::<F>([args.rows.taps, args.columns.taps], thread::block_dim_y(), R / F::PACK);
        let (numbers, arena) = arena.split::<u64>(NUMBERS);
        let (sources, arena) = arena.split::<u64>(sizes.row);
        let (rows, arena) = arena.split::<F::Sample>(sizes.step * sizes.row);
        let (ring, _) = arena.split::<F::Sum>(sizes.slots * Self::COLUMNS);
        let column = thread::block_idx_x() as u64 * Self::COLUMNS as u64;
        let start = args.columns.first(column) - (sizes.entries[1] - args.columns.taps + LEAD) as i64;
        // A start before the first sample is a large number here.
        let left = args.columns.samples.saturating_sub(start as u64);
        let is_inside = left >= (Self::COLUMNS + sizes.entries[1]) as u64;
        let strip = Strip { args, sizes, numbers, sources, rows, ring, is_inside };
        strip.fill_memory(args.corner(), column, start);
        strip
    }

    /// Sets the numbers for the strip whose first output is in row `row` of a plane and in column `column`. Finds the sources of a row
    /// of samples from position `start` on. Fills the ring with zeros, because the first window contains rows that are not needed, and
    /// nothing else writes them.
    #[inline(always)]
    fn fill_memory(&self, [plane, row]: [u64; 2], column: u64, start: i64) {
        let args = self.args;
        let (t, threads) = (thread::thread_linear(), thread::threads_per_block());
        if t == 0 {
            let place = ((plane * args.rows.outputs + row) * args.output_pitch).wrapping_add(column);
            self.numbers.set_pack(CORNER, [args.rows.first(row) as u64, start as u64]);
            self.numbers.set_pack(PLACE, [plane * args.rows.samples, place]);
            let columns = (args.columns.outputs - column).min(Self::COLUMNS as u64);
            self.numbers.set_pack(SIZE, [args.band_rows(row) as u64, columns]);
        }
        let mut c = t;
        while c < self.sizes.row {
            let source = args.columns.source(start + c as i64);
            self.sources.set(c, source.unwrap_or(OUTSIDE));
            c += threads;
        }
        let mut i = t;
        while i < self.ring.len() {
            self.ring.set(i, F::Sum::ZERO);
            i += threads;
        }
    }

    /// Returns the output rows of the band, and the columns of the strip that have outputs.
    #[inline(always)]
    fn size(&self) -> [u32; 2] {
        self.numbers.get_pack::<2>(SIZE).map(|size| size as u32)
    }

    /// Returns where row `r` of the samples of the band begins, or `None` for the constant outside and for rows that are not needed.
    #[inline(always)]
    fn line(&self, r: u32) -> Option<u64> {
        if r >= self.size()[0] + self.args.rows.taps - 1 {
            return None;
        }
        let ([corner, _], [first, _]) = (self.numbers.get_pack(CORNER), self.numbers.get_pack(PLACE));
        let row = self.args.rows.source(corner as i64 + r as i64)?;
        Some((first + row) * self.args.input_pitch)
    }

    /// Begins to load the lane's samples of row `r`: every 32nd one. The constant outside is zero here, and [`keep`](Self::keep)
    /// replaces it. A replacement here would wait for the loads.
    #[inline(always)]
    fn load<const LOADS: usize>(&self, r: u32) -> [F::Sample; LOADS] {
        let (args, lane, mut samples) = (self.args, thread::thread_idx_x() % WARP, [F::Sample::ZERO; LOADS]);
        let Some(line) = self.line(r) else { return samples };
        if self.is_inside {
            let ([_, start], needed) = (self.numbers.get_pack(CORNER), Self::COLUMNS + self.sizes.entries[1]);
            let row = args.memory.input.at(line + start + lane as u64).first(needed - lane).anchored();
            each!(i < LOADS, {
                samples[i] = row.get_masked(WARP * i as u32);
            });
        } else if self.is_narrow() {
            let row = args.memory.input.at(line).first(args.columns.samples as u32).anchored();
            each!(i < LOADS, {
                if self.has_load(i, LOADS) {
                    samples[i] = row.get_masked(opaque(self.sources.get(lane + WARP * i as u32) as u32));
                }
            });
        }
        samples
    }

    /// Returns whether all places in a row of the picture, and [`OUTSIDE`], are different in 32 bits.
    #[inline(always)]
    fn is_narrow(&self) -> bool {
        self.args.columns.samples <= OUTSIDE as u32 as u64
    }

    /// Returns whether a row has samples for load `i` of `loads`. A row has at least one weight, so only the last load may have none.
    #[inline(always)]
    fn has_load(&self, i: usize, loads: usize) -> bool {
        i + 1 < loads || WARP * (i as u32) < self.sizes.row
    }

    /// Stores the lane's samples of row `r` in the row of the warp, and those that were not loaded in advance.
    #[inline(always)]
    fn keep<const LOADS: usize>(&self, warp: u32, r: u32, samples: [F::Sample; LOADS]) {
        let (lane, first) = (thread::thread_idx_x() % WARP, warp * self.sizes.row);
        each!(i < LOADS, {
            if self.has_load(i, LOADS) {
                self.rows.set(first + lane + WARP * i as u32, samples[i]);
            }
        });
        let loaded = if self.is_narrow() { WARP * LOADS as u32 } else { 0 };
        if self.sizes.row > loaded {
            let line = self.line(r);
            let mut c = lane + loaded;
            while c < self.sizes.row {
                self.rows.set(first + c, line.map_or(self.args.memory.outside, |line| self.sample(line, c)));
                c += WARP;
            }
        }
        // `load` returns zero for the constant outside. Without a constant, the value is zero, too.
        if self.args.memory.outside != F::Sample::ZERO {
            let is_outside = self.line(r).is_none();
            let mut c = if is_outside || !self.is_inside { lane } else { self.sizes.row };
            while c < self.sizes.row {
                if is_outside || self.sources.get(c) == OUTSIDE {
                    self.rows.set(first + c, self.args.memory.outside);
                }
                c += WARP;
            }
        }
    }

    /// Returns sample `c` of a line.
    #[inline(always)]
    fn sample(&self, line: u64, c: u32) -> F::Sample {
        let source = self.sources.get(c);
        self.args.memory.input.get_if(source != OUTSIDE, line.wrapping_add(source), self.args.memory.outside)
    }

    /// Sets a row of the ring to the products of the warp's row of samples.
    #[inline(always)]
    fn along<const V: usize, const N: usize, const T: usize>(
        &self,
        weights: &Constants<F::Weight, T>,
        packs: &Packs,
        warp: u32,
        slot: u32,
    ) {
        let lane = thread::thread_idx_x() % WARP;
        let mut at = warp * self.sizes.row + lane * R as u32;
        let sums = products::<F::Sample, F::Sum, F::Weight, V, R, N, T, ROW_PACK>(weights, packs, || {
            at += V as u32;
            self.rows.get_pack(at - V as u32)
        });
        let place = slot * Self::COLUMNS + lane * R as u32;
        for (k, pack) in sums.as_chunks::<V>().0.iter().enumerate() {
            self.ring.set_pack(place + (k * V) as u32, *pack);
        }
    }

    /// Returns the thread's outputs, whose window begins with row `slot` of the ring.
    #[inline(always)]
    fn down<const V: usize, const N: usize, const T: usize>(
        &self,
        weights: &Constants<F::Weight, T>,
        packs: &Packs,
        slot: u32,
    ) -> [F::Sum; R]
    where
        F::Sum: Sum<F::Sum, F::Weight>,
    {
        let (column, columns) = (thread::thread_idx_x(), Self::COLUMNS);
        let mut at = slot * columns + column;
        // The ring has whole packs of rows, and windows begin with one, so no pack goes beyond its end.
        products::<F::Sum, F::Sum, F::Weight, V, R, N, T, 0>(weights, packs, || {
            let pack = core::array::from_fn(|k| self.ring.get(at + k as u32 * columns));
            at += V as u32 * columns;
            if at >= self.ring.len() {
                at = column;
            }
            pack
        })
    }

    /// Stores the thread's outputs. The first one is in row `row` of the band.
    #[inline(always)]
    fn store(&self, row: u32, sums: [F::Sum; R]) {
        let (args, x, [rows, columns]) = (self.args, thread::thread_idx_x(), self.size());
        let left = if x < columns { rows.saturating_sub(row).min(R as u32) } else { 0 };
        let ([_, place], pitch) = (self.numbers.get_pack(PLACE), args.output_pitch);
        let first = (row as u64 * pitch).wrapping_add(place).wrapping_add(x as u64);
        // Places are sums of a hidden pitch, because the compiler would keep its multiples in registers.
        if pitch < WIDE {
            // The end of the window is also that of the outputs, so each store has one condition.
            let (pitch, mut at) = (opaque(pitch as u32), 0);
            let output = args.memory.output.at(first).first(left * pitch).anchored();
            for sum in sums {
                output.set_if(true, at, F::Output::of_sum(sum));
                at += pitch;
            }
            return;
        }
        let mut at = first;
        for (r, sum) in sums.into_iter().enumerate() {
            args.memory.output.set_if((r as u32) < left, at, F::Output::of_sum(sum));
            at = at.wrapping_add(pitch);
        }
    }
}
