//! A line of the input as the kernels see it: continued beyond its ends, and brought to shared memory.

use super::Args;
use crate::{Border, Sample};
use cuda_std::{GlobalIn, Shared, thread};

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
    #[track_caller]
    pub(super) fn get(&self, i: i64) -> T {
        match Border::from_number(self.args.border).source(i, self.args.samples) {
            Some(i) => self.inside(i),
            None => self.args.outside,
        }
    }

    /// The line at `i`, which is inside.
    #[inline(always)]
    #[track_caller]
    pub(super) fn inside(&self, i: u64) -> T {
        self.args.input.get(self.first + i * self.args.input_step)
    }

    /// Whether `len` samples from `i` on are all inside.
    #[inline(always)]
    pub(super) fn contains(&self, i: i64, len: u32) -> bool {
        i >= 0 && i as u64 + len as u64 <= self.args.samples
    }

    /// Brings the part of a contiguous line from `start` on to `window`: sample `s` of it to `window[place + s]`, for
    /// `s` below `len`, by threads `t` of `threads`. `place` and `len` are multiples of `V`.
    ///
    /// What is inside the line comes 16 bytes at a time if it is aligned for that, and several accesses are under way
    /// before the first is stored, so that their latencies overlap; what continues the line comes afterwards.
    #[inline(always)]
    pub(super) fn load_row<const V: usize>(
        &self,
        window: &Shared<T>,
        start: i64,
        [t, threads]: [u32; 2],
        [place, len]: [u32; 2],
    ) {
        let first = start.max(0);
        // Before the line, in it, behind it: 0 ..before.. end.. len.
        let before = ((first - start) as u64).min(len as u64) as u32;
        let inside = self.args.samples.saturating_sub(first as u64).min((len - before) as u64) as u32;
        let part = self.args.input.at(self.first + first as u64).first(inside);
        let packed = part.is_aligned(V as u32) && before.is_multiple_of(V as u32);
        let end = match packed {
            true => before + load_packs::<T, V>(window, &part, [t, threads], place + before),
            false => before + load_singles(window, &part, [t, threads], place + before),
        };
        self.continue_row(window, start, [t, threads], place, [0, before]);
        self.continue_row(window, start, [t, threads], place, [end, len]);
    }

    /// Brings samples `from` to `to - 1` of what continues the line to `window`.
    #[inline(always)]
    #[track_caller]
    fn continue_row(&self, window: &Shared<T>, start: i64, [t, threads]: [u32; 2], place: u32, [from, to]: [u32; 2]) {
        let mut s = from + t;
        while s < to {
            window.set(place + s, self.get(start + s as i64));
            s += threads;
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

/// How many accesses to global memory are under way before the first result is stored.
const UNDER_WAY: usize = 4;

/// Brings the whole packs of `part` to `window[place]` and on, and returns how many samples that is.
#[inline(always)]
fn load_packs<T: Sample, const V: usize>(
    window: &Shared<T>,
    part: &GlobalIn<T, u32>,
    [t, threads]: [u32; 2],
    place: u32,
) -> u32 {
    let (len, step) = (part.len() / V as u32 * V as u32, threads * V as u32);
    let mut s = t * V as u32;
    while s < len {
        let packs: [[T; V]; UNDER_WAY] = core::array::from_fn(|k| part.get_pack_masked(s + k as u32 * step));
        for (k, pack) in packs.into_iter().enumerate() {
            let s = s + k as u32 * step;
            if s < len {
                window.set_pack(place + s, pack);
            }
        }
        s += UNDER_WAY as u32 * step;
    }
    len
}

/// The same, one sample at a time.
#[inline(always)]
fn load_singles<T: Sample>(window: &Shared<T>, part: &GlobalIn<T, u32>, [t, threads]: [u32; 2], place: u32) -> u32 {
    let mut s = t;
    while s < part.len() {
        let samples: [T; UNDER_WAY] = core::array::from_fn(|k| part.get_or(s + k as u32 * threads, T::ZERO));
        for (k, sample) in samples.into_iter().enumerate() {
            let s = s + k as u32 * threads;
            if s < part.len() {
                window.set(place + s, sample);
            }
        }
        s += UNDER_WAY as u32 * threads;
    }
    part.len()
}

/// The numbers `first`, `first + step`, … below `len`.
#[derive(Clone, Copy)]
pub(super) struct Every {
    pub(super) first: u32,
    pub(super) len: u32,
    pub(super) step: u32,
}

/// The taps in shared memory, and zeros in what is left of the last pack; all threads of the block take part.
#[inline(always)]
pub(super) fn load_taps<T: Sample>(window: &Shared<T>, args: &Args<T>) {
    let taps = args.taps.at(0);
    let step = thread::block_dim_x() * thread::block_dim_y();
    let mut j = thread::thread_idx_y() * thread::block_dim_x() + thread::thread_idx_x();
    while j < window.len() {
        window.set(j, taps.get_or(j, T::ZERO));
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
