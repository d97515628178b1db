//! A line of samples: its continuation beyond the ends, and loads into shared memory.

use super::{Border, Sample};
use cuda_std::{GlobalIn, Shared};

/// A line of samples in memory.
#[derive(Clone, Copy)]
pub(crate) struct Line<'l, X: Sample> {
    /// The memory that contains the line.
    pub(crate) input: GlobalIn<'l, X>,
    /// Index of the line's first sample in `input`.
    pub(crate) first: u64,
    /// Stride between samples.
    pub(crate) step: u64,
    /// Number of samples.
    pub(crate) samples: u64,
    /// A [`Border`]: the continuation of the line beyond both ends.
    pub(crate) border: u32,
    /// Value beyond the ends, for [`Border::Constant`].
    pub(crate) outside: X,
}

impl<X: Sample> Line<'_, X> {
    /// Returns sample `i` of the continued line.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn get(&self, i: i64) -> X {
        match Border::from_number(self.border).source(i, self.samples) {
            Some(i) => self.inside(i),
            None => self.outside,
        }
    }

    /// Returns sample `i`, which must be inside the line.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn inside(&self, i: u64) -> X {
        self.input.get(self.first + i * self.step)
    }

    /// Returns whether all `len` samples from `i` on are inside the line.
    #[inline(always)]
    pub(crate) fn contains(&self, i: i64, len: u32) -> bool {
        i >= 0 && i as u64 + len as u64 <= self.samples
    }

    /// Loads `len` samples of a contiguous line, from sample `start` on, to `window[place]` and on. The calling thread is
    /// thread `t` of `threads`. `place` and `len` are multiples of `V`.
    ///
    /// Samples inside the line are loaded `V` at a time if they are aligned for it. A thread has several loads in flight
    /// before its first store, so that their latencies overlap. The continuation of the line is loaded afterwards.
    #[inline(always)]
    pub(crate) fn load_row<const V: usize>(
        &self,
        window: &Shared<X>,
        start: i64,
        [t, threads]: [u32; 2],
        [place, len]: [u32; 2],
    ) {
        let first = start.max(0);
        // Samples 0 to before - 1 precede the line, before to end - 1 are loaded from it, and end to len - 1 by
        // `continue_row`.
        let before = ((first - start) as u64).min(len as u64) as u32;
        let inside = self.samples.saturating_sub(first as u64).min((len - before) as u64) as u32;
        let part = self.input.at(self.first + first as u64).first(inside);
        let packed = part.is_aligned(V as u32) && before.is_multiple_of(V as u32);
        let end = match packed {
            true => before + load_packs::<X, V>(window, &part, [t, threads], place + before),
            false => before + load_singles(window, &part, [t, threads], place + before),
        };
        self.continue_row(window, start, [t, threads], place, [0, before]);
        self.continue_row(window, start, [t, threads], place, [end, len]);
    }

    /// Loads samples `from` to `to - 1` of the part one at a time, inside the line or beyond its ends.
    #[inline(always)]
    #[track_caller]
    fn continue_row(&self, window: &Shared<X>, start: i64, [t, threads]: [u32; 2], place: u32, [from, to]: [u32; 2]) {
        let mut s = from + t;
        while s < to {
            window.set(place + s, self.get(start + s as i64));
            s += threads;
        }
    }

    /// Loads sample `start + s` to `window[place + s * stride]`, for each `s` of `every`.
    #[inline(always)]
    pub(crate) fn load(&self, window: &Shared<X>, start: i64, every: Every, stride: u32, place: u32) {
        let Every { first, len, step } = every;
        let mut s = first;
        if self.contains(start, len) {
            while s + 3 * step < len {
                let i = start as u64 + s as u64;
                let values: [X; 4] = core::array::from_fn(|k| self.inside(i + k as u64 * step as u64));
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

/// Number of loads from global memory that a thread has in flight before it stores the first result.
const UNDER_WAY: usize = 4;

/// Loads the whole packs of `part` to `window[place]` and on, and returns their number of samples.
#[inline(always)]
fn load_packs<X: Sample, const V: usize>(
    window: &Shared<X>,
    part: &GlobalIn<X, u32>,
    [t, threads]: [u32; 2],
    place: u32,
) -> u32 {
    let (len, step) = (part.len() / V as u32 * V as u32, threads * V as u32);
    let mut s = t * V as u32;
    while s < len {
        let packs: [[X; V]; UNDER_WAY] = core::array::from_fn(|k| part.get_pack_masked(s + k as u32 * step));
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

/// Loads `part` to `window[place]` and on, one sample at a time, and returns its number of samples.
#[inline(always)]
fn load_singles<X: Sample>(window: &Shared<X>, part: &GlobalIn<X, u32>, [t, threads]: [u32; 2], place: u32) -> u32 {
    let mut s = t;
    while s < part.len() {
        let samples: [X; UNDER_WAY] = core::array::from_fn(|k| part.get_or(s + k as u32 * threads, X::ZERO));
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

/// The indices `first`, `first + step`, … below `len`.
#[derive(Clone, Copy)]
pub(crate) struct Every {
    pub(crate) first: u32,
    pub(crate) len: u32,
    pub(crate) step: u32,
}
