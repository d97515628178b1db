//! A line of samples as the kernels see it: continued beyond its ends, and brought to shared memory.

use super::{Border, Sample};
use cuda_std::{GlobalIn, Shared};

/// A line of samples in memory.
#[derive(Clone, Copy)]
pub(crate) struct Line<X: Sample> {
    /// Memory that has it.
    pub(crate) input: GlobalIn<X>,
    /// Where it begins there.
    pub(crate) first: u64,
    /// From one sample to the next.
    pub(crate) step: u64,
    /// The number of samples.
    pub(crate) samples: u64,
    /// A [`Border`]: the continuation of the line beyond both ends.
    pub(crate) border: u32,
    /// The value there if that is a constant.
    pub(crate) outside: X,
}

impl<X: Sample> Line<X> {
    /// The continued line at `i`.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn get(&self, i: i64) -> X {
        match Border::from_number(self.border).source(i, self.samples) {
            Some(i) => self.inside(i),
            None => self.outside,
        }
    }

    /// The line at `i`, which is inside.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn inside(&self, i: u64) -> X {
        self.input.get(self.first + i * self.step)
    }

    /// Whether `len` samples from `i` on are all inside.
    #[inline(always)]
    pub(crate) fn contains(&self, i: i64, len: u32) -> bool {
        i >= 0 && i as u64 + len as u64 <= self.samples
    }

    /// Brings the part of a contiguous line from `start` on to `window`: sample `s` of it to `window[place + s]`, for
    /// `s` below `len`, by threads `t` of `threads`. `place` and `len` are multiples of `V`.
    ///
    /// What is inside the line comes 16 bytes at a time if it is aligned for that, and several accesses are under way
    /// before the first is stored, so that their latencies overlap; what continues the line comes afterwards.
    #[inline(always)]
    pub(crate) fn load_row<const V: usize>(
        &self,
        window: &Shared<X>,
        start: i64,
        [t, threads]: [u32; 2],
        [place, len]: [u32; 2],
    ) {
        let first = start.max(0);
        // Before the line, in it, behind it: 0 ..before.. end.. len.
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

    /// Brings samples `from` to `to - 1` of what continues the line to `window`.
    #[inline(always)]
    #[track_caller]
    fn continue_row(&self, window: &Shared<X>, start: i64, [t, threads]: [u32; 2], place: u32, [from, to]: [u32; 2]) {
        let mut s = from + t;
        while s < to {
            window.set(place + s, self.get(start + s as i64));
            s += threads;
        }
    }

    /// Brings the part of the line from `start` on to `window`: sample `s` of it to `window[place + s * stride]`, for
    /// the samples `every`.
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

/// How many accesses to global memory are under way before the first result is stored.
const UNDER_WAY: usize = 4;

/// Brings the whole packs of `part` to `window[place]` and on, and returns how many samples that is.
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

/// The same, one sample at a time.
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

/// The numbers `first`, `first + step`, … below `len`.
#[derive(Clone, Copy)]
pub(crate) struct Every {
    pub(crate) first: u32,
    pub(crate) len: u32,
    pub(crate) step: u32,
}
