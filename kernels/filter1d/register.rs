//! Correlation with a tile in shared memory and several sums per thread in registers.
//!
//! A thread computes `R` neighbouring sums of a line. It slides a window of `N = R + V` samples along the line
//! ([`Window`]). `V` new samples serve `R · V` multiply-adds. Along rows, the `V` new samples are one 16-byte access.
//! Nine tenths of all instructions are multiply-adds, so shared memory is not the bottleneck that it is with one sum per
//! thread.
//!
//! The taps are kernel parameters. A multiply-add reads its tap through a uniform register, so it has two operands instead
//! of three in the thread's own registers, without register bank conflicts. A launch has at most
//! [`CHUNK_BYTES`](super::CHUNK_BYTES) of taps. A longer filter takes several launches. Each continues the sums of the
//! previous one, in the same order and with the same rounding.
//!
//! A tile begins at a multiple of `V` samples relative to the line's first sample, so that its samples are loaded 16 bytes
//! at a time. So the first tap follows a *pad* of up to `V - 1` empty entries, and the last pack may be incomplete.
//! Empty entries are skipped. (A multiplication by zero would turn infinite samples into NaN.)
//!
//! Source: several results per thread, so that registers do what shared memory would have to, are the advice of Volkov's
//! *Better Performance at Lower Occupancy* (GTC 2010). The tile is that of `tile.rs`.

use super::block::tile_of_block;
use super::sums::{self, COLUMN_LINES, InColumn};
use super::{Args, pad, staged_in};
use crate::signal::{Every, Types, Window};
use cuda_std::{Arena, Constants, thread};

/// Computes lines along rows.
///
/// A block of `X × Y` threads computes `X · R` sums of each of `Y` lines. Thread `(x, y)` computes the sums from `x · R` on
/// of line `y`. Shared memory, for each line: `X · R` samples and the halo, one sample per entry of the table in whole
/// packs.
///
/// No bank conflicts: the hardware serves a 16-byte access eight lanes at a time. Neighbouring lanes are `R` elements
/// apart, an odd multiple of 16 bytes, so eight lanes use eight different groups of four banks. The sums are staged in the
/// same memory, so that a warp's stores to global memory are contiguous.
#[inline(always)]
pub(super) fn rows<F: Types, const V: usize, const R: usize, const N: usize, const K: usize>(
    arena: Arena,
    args: &Args<F>,
    taps: &Constants<F::Weight, K>,
) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (width, lines) = (thread::block_dim_x(), thread::block_dim_y());
    let outputs = width * R as u32;
    let span = Span::new::<V>(args);
    let len = outputs + span.padded;
    let places = if F::WIDENS { staged_in::<F>(len * lines, outputs * lines) } else { len * lines };
    let (tile, _) = arena.split::<F::Sample>(places);
    let (first_line, first) = tile_of_block(args, lines, outputs);
    let line = first_line + y as u64;

    // Threads without a line load the last one again. Their sums are not stored.
    let input = args.line(line.min(args.lines - 1));
    input.load_row::<V>(&tile, args.start + first as i64 - span.pad as i64, [x, width], [y * len, len]);
    thread::sync_threads();

    let left = if line < args.lines { (args.outputs - first).min(outputs as u64) as u32 } else { 0 };
    let output = args.output.at(line * args.output_line + first).first(left);
    let sums = sums::of_row::<F, R>(args, &output, x * R as u32);
    let at = y * len + x * R as u32;
    let sums = correlate::<F, V, R, N, K>(taps, 0, span, sums, |s| tile.get_pack(at + s));
    sums::store_rows::<F, V, R>(tile, sums, &output, [x, width], [y, lines]);
}

/// Position of the taps in their table: from entry `pad` to `end - 1`. `padded` is `end`, rounded up to whole packs.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) pad: u32,
    pub(super) end: u32,
    pub(super) padded: u32,
}

impl Span {
    #[inline(always)]
    fn new<const V: usize>(args: &Args<impl Types>) -> Self {
        let pad = pad(args.start, V as u32);
        let end = pad + args.tap_count;
        Span { pad, end, padded: end.next_multiple_of(V as u32) }
    }
}

/// Computes lines along columns.
///
/// A block of `32 × A` threads computes `A · R` sums of each of 32 lines. Thread `(c, a)` computes the sums from `a · R` on
/// of line `c`. Shared memory: sample `s` of line `c` at index `s * 32 + c`. No bank conflicts: in every access the lanes
/// of a warp have consecutive addresses.
#[inline(always)]
pub(super) fn columns<F: Types, const V: usize, const R: usize, const N: usize, const K: usize>(
    arena: Arena,
    args: &Args<F>,
    taps: &Constants<F::Weight, K>,
) {
    let (c, a) = (thread::thread_idx_x(), thread::thread_idx_y());
    let places = thread::block_dim_y();
    let outputs = places * R as u32;
    let span = Span::new::<V>(args);
    let len = outputs + span.padded;
    let (tile, _) = arena.split::<F::Sample>(len * COLUMN_LINES);
    let (first_line, first) = tile_of_block(args, COLUMN_LINES, outputs);
    let line = first_line + c as u64;
    let input = args.line(line.min(args.lines - 1));

    let start = args.start + first as i64 - span.pad as i64;
    input.load(&tile, start, Every { first: a, len, step: places }, COLUMN_LINES, c);
    thread::sync_threads();

    let places = InColumn { line, first, at: a * R as u32 };
    let sums = correlate::<F, V, R, N, K>(taps, 0, span, places.sums(args), |s| {
        core::array::from_fn(|k| tile.get((places.at + s + k as u32) * COLUMN_LINES + c))
    });
    places.store::<F, R>(args, sums);
}

/// Returns `sums[r] + Σ_j x[r + j] · taps[V · first + j]` for every `r`, with `j` from `span.pad` to `span.end - 1`. `samples(s)`
/// returns `x[s]` to `x[s + V - 1]`, for multiples `s` of `V`.
#[inline(always)]
pub(super) fn correlate<F: Types, const V: usize, const R: usize, const N: usize, const K: usize>(
    taps: &Constants<F::Weight, K>,
    first: u32,
    span: Span,
    sums: [F::Sum; R],
    samples: impl Fn(u32) -> [F::Sample; V],
) -> [F::Sum; R] {
    const { assert!(V == F::PACK && N == R + V && R.is_multiple_of(V) && K.is_multiple_of(V)) };
    let mut window = Window::<F::Sample, F::Sum, R, N>::new(sums);
    let in_table = |packs: u32| packs.min(((K / V) as u32).saturating_sub(first));
    let (packs, whole) = (in_table(span.padded / V as u32), in_table(span.end / V as u32));
    let mut k = 0;
    // At most two iterations. The first one begins with the first pack, which may have empty entries, and ends with the
    // last complete pack. The second one has the last pack, if it is incomplete.
    while k < packs {
        let at = k * V as u32;
        for s in (0..R).step_by(V) {
            window.put(s, samples(at + s as u32));
        }
        window.put(R, samples(at + R as u32));
        window.add_products(0, taps.pack::<V>(first + k), |u| (span.pad..span.end).contains(&(at + u)));
        k += 1;
        // One turn of the window's ring per iteration, until there are no more complete packs.
        'turns: loop {
            for phase in 0..N / V {
                if k >= whole {
                    break 'turns;
                }
                let oldest = (1 + phase) * V;
                window.put(oldest + R, samples(R as u32 + k * V as u32));
                window.add_products(oldest, taps.pack::<V>(first + k), |_| true);
                k += 1;
            }
        }
    }
    window.sums
}
