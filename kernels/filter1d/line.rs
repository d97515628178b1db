//! A line of the input as the kernels see it: continued beyond its ends, and brought to shared memory.

use super::Args;
use crate::{Border, Sample};
use cuda_std::{Shared, thread};

/// The line number `line` of the input.
#[derive(Clone, Copy)]
pub(super) struct Line<T: Sample> {
    args: Args<T>,
    first: u64,
}

impl<T: Sample> Line<T> {
    #[inline(always)]
    pub(super) fn new(args: &Args<T>, line: u64) -> Self {
        Line { args: *args, first: line * args.input_line }
    }

    /// The continued line at `i`.
    #[inline(always)]
    pub(super) fn get(&self, i: i64) -> T {
        match Border::from_number(self.args.border).source(i, self.args.samples) {
            Some(i) => self.inside(i),
            None => self.args.outside,
        }
    }

    /// The line at `i`, which is inside.
    #[inline(always)]
    pub(super) fn inside(&self, i: u64) -> T {
        self.args.input.get(self.first + i * self.args.input_step)
    }

    /// Whether `len` samples from `i` on are all inside.
    #[inline(always)]
    pub(super) fn contains(&self, i: i64, len: u32) -> bool {
        i >= 0 && i as u64 + len as u64 <= self.args.samples
    }

    /// Brings the part of a contiguous line from `start` on to `window`: sample `s` of it to `window[place + s]`, for
    /// `s` = `first`, `first + STEP`, … below `len`.
    ///
    /// Several loads are under way before the first is stored, so that their latencies overlap.
    #[inline(always)]
    pub(super) fn load_row<const STEP: u32>(&self, window: &Shared<T>, start: i64, first: u32, len: u32, place: u32) {
        let mut s = first;
        if self.contains(start, len) {
            let part = self.args.input.at(self.first + start as u64).first(len);
            while s < len {
                let (near, far) = (part.get4_strided::<STEP>(s), part.get4_strided::<STEP>(s + 4 * STEP));
                for k in 0..8 {
                    let (at, sample) = (s + k * STEP, if k < 4 { near[k as usize] } else { far[k as usize - 4] });
                    if at < len {
                        window.set(place + at, sample);
                    }
                }
                s += 8 * STEP;
            }
        }
        while s < len {
            window.set(place + s, self.get(start + s as i64));
            s += STEP;
        }
    }

    /// Brings the part of the line from `start` on to `window`: sample `s` of it to `window[place + s * stride]`, for
    /// the samples `every`.
    #[inline(always)]
    pub(super) fn load(&self, window: &Shared<T>, start: i64, every: Every, stride: u32, place: u32) {
        let Every { first, len, step } = every;
        let mut s = first;
        if self.contains(start, len) {
            while s + 3 * step < len {
                let i = start as u64 + s as u64;
                let values: [T; 4] = core::array::from_fn(|k| self.inside(i + k as u64 * step as u64));
                for (k, value) in values.into_iter().enumerate() {
                    window.set(place + (s + k as u32 * step) * stride, value);
                }
                s += 4 * step;
            }
        }
        while s < len {
            window.set(place + s * stride, self.get(start + s as i64));
            s += step;
        }
    }
}

/// The numbers `first`, `first + step`, … below `len`.
#[derive(Clone, Copy)]
pub(super) struct Every {
    pub(super) first: u32,
    pub(super) len: u32,
    pub(super) step: u32,
}

/// The taps in shared memory behind `pad` zeros; all threads of the block take part.
#[inline(always)]
pub(super) fn load_taps<T: Sample>(window: &Shared<T>, args: &Args<T>, pad: u32) {
    let taps = args.taps.at(0);
    let step = thread::block_dim_x() * thread::block_dim_y();
    let mut j = thread::thread_idx_y() * thread::block_dim_x() + thread::thread_idx_x();
    while j < window.len() {
        window.set(j, if j < pad { T::ZERO } else { taps.get(j - pad) });
        j += step;
    }
}

/// Which tile of which line a block works on: `(first line, first output)`, for blocks that take `lines` lines and
/// `outputs` outputs of each.
#[inline(always)]
pub(super) fn tile_of_block<T: Sample>(args: &Args<T>, lines: u32, outputs: u32) -> (u64, u64) {
    let block = thread::block_idx_x();
    let (group, tile) = (block / args.tiles, block % args.tiles);
    (group as u64 * lines as u64, tile as u64 * outputs as u64)
}
