//! Correlation of `i32` by matrix products of bytes, exactly.
//!
//! Modulo 2^32, a number is the sum of its four bytes, the *limbs*, times 1, 2^8, 2^16 and 2^24. So a sum of products is
//!
//! `Σ_s 2^(8 s) · Σ_(i + k = s) Σ_j w_i[j] · x_k[j]`, with `s` from 0 to 3 and limbs `w_i` of the taps and `x_k` of the samples:
//!
//! ten of the sixteen products of limbs; the others are multiples of 2^32. A product of limbs for 16 · 8 outputs is a product of
//! matrices:
//!
//! ```text
//!        taps, a row one tap further right            samples, a column 16 samples later
//!
//!   [ w0 w1 w2 w3 ...                ]             [ x0   x16  x32  ... ]
//!   [    w0 w1 w2 w3 ...             ]      ·      [ x1   x17  x33  ... ]   =   output 16 n + m in row m, column n
//!   [       w0 w1 w2 w3 ...          ]             [ x2   x18  x34  ... ]
//! ```
//!
//! Sums of bytes wrap modulo 2^32, as sums of numbers do.
//!
//! A *step* multiplies 32 columns of the taps' matrix with 32 rows of the samples': 16 of their first half, and 16 of their second half,
//! which begins 16 samples for each step later. So the samples of one tile's step are those of the tile before in the next step, because
//! tiles are 16 samples apart, too. A warp loads each once, and keeps it in registers for all four tiles.
//!
//! Source: the limbs are those of schoolbook multiplication; the layouts of matrices are in the PTX ISA ("Matrix Fragments for
//! mma.m16n8k32").

use super::Args;
use super::block::tile_of_block;
use crate::signal::{Line, Same};
use core::array::from_fn;
use cuda_std::{Arena, GlobalIn, Shared, thread, warp};

/// Warps of a block.
pub(crate) const WARPS: u32 = 4;

/// Tiles of a warp, each of 16 · 8 outputs.
const TILES: usize = 4;

/// Outputs of a block.
pub(crate) const OUTPUTS: u32 = WARPS * TILES as u32 * 128;

/// Samples that are loaded together, and whose limbs are next to each other: a *run*. Two runs eight samples apart are a *unit*,
/// and two units are 16 samples, a *pair*.
pub(crate) const RUN: u32 = 4;

/// Returns the number of pairs in shared memory.
pub(crate) const fn pairs(steps: u32) -> u32 {
    (OUTPUTS / 16 + 2 * steps).next_multiple_of(4)
}

/// How pairs are permuted in shared memory for a number of steps, so that no lanes share a bank.
///
/// Eight lanes load two units of four pairs: `v` and `v + steps`, and those of another column. Pairs with different numbers modulo 4 are in
/// different banks, on devices with 16 banks those of one column with different numbers modulo 2. So a bit of the number that differs between
/// `v` and `v + steps` is added to bit 0, and one that differs between columns to bit 1, both modulo 2.
#[derive(Clone, Copy)]
struct Split {
    steps: u32,
    /// Number of the bit that changes bit 1.
    high: u32,
    /// Number of the bit that changes bit 0.
    low: u32,
    /// Whether the columns of eight lanes are two columns apart, not one.
    far: bool,
}

impl Split {
    #[inline(always)]
    fn new(steps: u32) -> Self {
        // A bit that all pairs have as 0.
        const NONE: u32 = 31;
        let [high, low] = match steps.trailing_zeros() {
            0 => [2, NONE],
            2 => [3, 2],
            zeros => [2, zeros],
        };
        Split { steps, high, low, far: steps.trailing_zeros() == 2 }
    }

    /// Returns the pairs between the first and the second half of the taps' matrix.
    #[inline(always)]
    fn half(self) -> u32 {
        self.steps
    }

    /// Returns where a pair is.
    #[inline(always)]
    fn place(self, pair: u32) -> u32 {
        pair ^ ((pair >> self.high & 1) << 1) ^ (pair >> self.low & 1)
    }

    /// Returns the column of the samples' matrix that is in this column of a fragment.
    #[inline(always)]
    fn column(self, column: u32) -> u32 {
        if self.far { (column & 4) | ((column & 1) << 1) | (column >> 1 & 1) } else { column }
    }
}

/// Computes lines.
///
/// A block of four warps computes 2,048 outputs of one line, a warp 512 of them in four tiles. Shared memory: two planes with the limbs 0 and 1,
/// and 2 and 3, of all samples; 16 bytes for each unit, in the order of [`Split::place`]. No bank conflicts: eight lanes store or load eight
/// units of pairs with different numbers modulo 4.
#[inline(always)]
pub(super) fn correlate(arena: Arena, args: &Args<Same<i32>>) {
    let split = Split::new(args.entries);
    let all = pairs(split.steps);
    let (low, arena) = arena.split::<u32>(all * 8);
    let (high, _) = arena.split::<u32>(all * 8);
    let planes = [low, high];
    let (line, first) = tile_of_block(args, 1, OUTPUTS);
    let start = args.start - i64::from(super::pad(args.start, RUN)) + first as i64;
    store_limbs(&args.line(line), start, &planes, split, all);
    thread::sync_threads();
    let sums = products(args.taps.at(0), &planes, split);
    store(args, line, first, split, sums);
}

/// Number of units whose samples a thread has in flight before it splits the first one.
const UNDER_WAY: usize = 3;

/// Splits samples from number `start` on into limbs.
#[inline(always)]
fn store_limbs(line: &Line<i32>, start: i64, planes: &[Shared<u32>; 2], split: Split, pairs: u32) {
    let (t, threads) = (thread::thread_idx_x(), WARPS * warp::WARP);
    let units = 2 * pairs;
    // The first samples of a unit's two runs.
    let runs = |unit: u32| [0, 2 * RUN].map(|behind| unit / 2 * 16 + unit % 2 * RUN + behind);
    let put = |unit: u32, [a, b]: [[i32; RUN as usize]; 2]| {
        let (a, b) = (limbs(a), limbs(b));
        let place = (split.place(unit / 2) * 2 + unit % 2) * 4;
        planes[0].set_pack(place, [a[0], b[0], a[1], b[1]]);
        planes[1].set_pack(place, [a[2], b[2], a[3], b[3]]);
    };
    let is_inside = line.step == 1 && line.contains(start, pairs * 16);
    let inside = line.input.at(if is_inside { line.first + start as u64 } else { 0 }).first(pairs * 16);
    let mut unit = t;
    if is_inside && inside.is_aligned(RUN) {
        while unit < units {
            let all: [u32; UNDER_WAY] = from_fn(|k| unit + k as u32 * threads);
            let samples = all.map(|unit| runs(unit).map(|run| inside.get_pack_masked(run)));
            for k in 0..UNDER_WAY {
                if all[k] < units {
                    put(all[k], samples[k]);
                }
            }
            unit += UNDER_WAY as u32 * threads;
        }
        return;
    }
    while unit < units {
        put(unit, runs(unit).map(|run| from_fn(|k| line.get(start + i64::from(run) + k as i64))));
        unit += threads;
    }
}

/// Returns the limbs of four numbers: word `i` has their bytes number `i`.
#[inline(always)]
fn limbs(numbers: [i32; 4]) -> [u32; 4] {
    from_fn(|limb| u32::from_le_bytes(numbers.map(|number| number.to_le_bytes()[limb])))
}

/// The sums of a lane: for each tile and each distance of limbs, the elements of a result of `mma`.
type Sums = [[[i32; 4]; 4]; TILES];

/// Returns the sums of all products of limbs.
#[inline(always)]
fn products(taps: GlobalIn<i32, u32>, planes: &[Shared<u32>; 2], split: Split) -> Sums {
    let (lane, warp) = (warp::lane(), thread::thread_idx_x() / warp::WARP);
    let column = (warp * 8 + split.column(lane / 4)) * TILES as u32;
    let first = column + if lane & 2 == 0 { 0 } else { split.half() };
    let fragments = |behind: u32| {
        let place = (split.place(first + behind) * 2 + lane % 2) * 4;
        [planes[0].get_pack::<4>(place), planes[1].get_pack::<4>(place)]
    };
    // Those of tile `t` are in `ring[(t + step) % TILES]`.
    let mut ring: [[[u32; 4]; 2]; TILES] = from_fn(|t| fragments(t as u32));
    let mut sums = [[[0; 4]; 4]; TILES];
    let mut step = 0;
    'turns: loop {
        for phase in 0..TILES {
            if step >= split.steps {
                break 'turns;
            }
            for i in 0..4 {
                let a = taps.get_pack::<4>((step * 4 + i as u32) * 128 + lane * 4).map(|word| word as u32);
                for k in 0..4 - i {
                    for (t, sums) in sums.iter_mut().enumerate() {
                        let [b0, b1, b2, b3] = ring[(t + phase) % TILES][k / 2];
                        let b = if k % 2 == 0 { [b0, b1] } else { [b2, b3] };
                        sums[i + k] = warp::mma_m16n8k32_u8(a, b, sums[i + k]);
                    }
                }
            }
            ring[phase] = fragments(step + TILES as u32);
            step += 1;
        }
    }
    sums
}

/// Adds up the limbs of the outputs, and stores those that exist.
#[inline(always)]
fn store(args: &Args<Same<i32>>, line: u64, first: u64, split: Split, sums: Sums) {
    let (lane, warp) = (warp::lane(), thread::thread_idx_x() / warp::WARP);
    for (t, sums) in sums.into_iter().enumerate() {
        let of_tile: [i32; 4] =
            from_fn(|element| (0..4).fold(0i32, |sum, s: usize| sum.wrapping_add(sums[s][element] << (8 * s))));
        for (element, sum) in of_tile.into_iter().enumerate() {
            let column = (warp * 8 + split.column(2 * (lane % 4) + element as u32 % 2)) * TILES as u32 + t as u32;
            let row = lane / 4 + element as u32 / 2 * 8;
            let o = first + u64::from(column * 16 + row);
            args.output.set_if(o < args.outputs, line * args.output_line + o * args.output_step, sum);
        }
    }
}
