//! The transform of a block's points, through shared memory.
//!
//! A block of `T` threads transforms `N = 256 · R` points, `E` of them in each thread's registers, in three passes of radix `R`, 16 and 16
//! (decimation in frequency; Gentleman and Sande 1966). The inverse transform makes the same steps backwards, so nothing is put into order.
//!
//! ```text
//! place of a point      p = 256 a + 16 b + c,  with a below R, b and c below 16
//! thread t has          before and after the first pass    t + T m                                   m from 0 to E - 1
//!                       in the second pass                 256 (t / 16) + t % 16 + 16 T h + 16 k     h from 0 to E / 16 - 1
//!                       in the third pass                  16 t + 16 T h + k                         k from 0 to 15
//! frequency             f = a + R b + 16 R c, of the point at place p after the third pass
//! ```
//!
//! Between the first and the second pass, all threads exchange points. Between the second and the third one, points stay among 16
//! neighbouring threads, so their warp waits alone.
//!
//! One element in 17 of the shared memory is not used. No bank conflicts: lanes that are served together, 16 of 8 bytes or 8 of 16 bytes, have
//! neighbouring places, in the third pass places whose distance is odd.

use super::complex::{Complex, Real};
use super::dft::{dft, powers};
use cuda_std::math::opaque;
use cuda_std::{GlobalIn, Shared, thread, warp};

/// All lanes of a warp.
const WARP: u32 = u32::MAX;

/// Points of the second and of the third pass.
const SIXTEEN: usize = 16;

/// Number of factors in the table: `e^(-2πi j / N)` for `j` below 256, and `e^(-2πi j / 256)` for `j` below 16.
pub const TWIDDLES: usize = 256 + SIXTEEN;

/// Returns the elements of shared memory for this number of points.
#[must_use]
pub const fn shared_elements(points: u32) -> u32 {
    2 * (points + points / 16)
}

/// A thread's part of the transforms.
pub(super) struct Transform<'a, 'l, T: Real, const R: usize, const E: usize, const THREADS: u32> {
    memory: &'a Shared<'l, T>,
    pub(super) thread: u32,
    twiddles: GlobalIn<'l, T>,
    /// The factor of the second pass.
    second: Complex<T>,
}

impl<'a, 'l, T: Real, const R: usize, const E: usize, const THREADS: u32> Transform<'a, 'l, T, R, E, THREADS> {
    /// Butterflies of a thread in the first pass.
    const FIRST: usize = E / R;

    #[inline(always)]
    pub(super) fn new(memory: &'a Shared<'l, T>, twiddles: GlobalIn<'l, T>) -> Self {
        let thread = thread::thread_idx_x();
        let second = factor(twiddles, 256 + thread % 16);
        Transform { memory, thread, twiddles, second }
    }

    /// Returns the transformed points, in the order of the third pass.
    #[inline(always)]
    pub(super) fn forward(&self, mut v: [Complex<T>; E]) -> [Complex<T>; E] {
        for b in 0..Self::FIRST {
            let x = dft::<T, R, false>(core::array::from_fn(|k| v[b + Self::FIRST * k]));
            let x = powers(x, self.first_factor(b));
            for (q, x) in x.into_iter().enumerate() {
                v[b + Self::FIRST * q] = x;
            }
        }
        self.store(v, |m| self.whole_place(m));
        thread::sync_threads();
        let v = self.each(self.load(|m| self.block_place(m)), |x| powers(dft::<T, 16, false>(x), self.second));
        self.store(v, |m| self.block_place(m));
        warp::sync_warp(WARP);
        self.each(self.load(|m| self.own_place(m)), dft::<T, 16, false>)
    }

    /// Returns `N` times the inverse transform of points in the order of the third pass.
    #[inline(always)]
    pub(super) fn inverse(&self, v: [Complex<T>; E]) -> [Complex<T>; E] {
        self.store(self.each(v, dft::<T, 16, true>), |m| self.own_place(m));
        warp::sync_warp(WARP);
        let back = |x| dft::<T, 16, true>(powers(x, self.second.conjugate()));
        let v = self.each(self.load(|m| self.block_place(m)), back);
        self.store(v, |m| self.block_place(m));
        thread::sync_threads();
        let mut v = self.load(|m| self.whole_place(m));
        for b in 0..Self::FIRST {
            let x = core::array::from_fn(|q| v[b + Self::FIRST * q]);
            let x = dft::<T, R, true>(powers(x, self.first_factor(b).conjugate()));
            for (k, x) in x.into_iter().enumerate() {
                v[b + Self::FIRST * k] = x;
            }
        }
        v
    }

    /// Returns the factor of butterfly `b` of the first pass.
    #[inline(always)]
    fn first_factor(&self, b: usize) -> Complex<T> {
        factor(self.twiddles, self.thread + THREADS * b as u32)
    }

    /// Changes each 16 points.
    #[inline(always)]
    fn each(
        &self,
        mut v: [Complex<T>; E],
        change: impl Fn([Complex<T>; SIXTEEN]) -> [Complex<T>; SIXTEEN],
    ) -> [Complex<T>; E] {
        for first in (0..E).step_by(SIXTEEN) {
            let x = change(core::array::from_fn(|k| v[first + k]));
            for (k, x) in x.into_iter().enumerate() {
                v[first + k] = x;
            }
        }
        v
    }

    /// Returns where point `m` is before and after the first pass.
    #[inline(always)]
    fn whole_place(&self, m: usize) -> u32 {
        // The number of threads is a multiple of 16.
        self.thread + self.thread / 16 + m as u32 * (THREADS / 16 * 17)
    }

    /// Returns where point `m` is in the second pass.
    #[inline(always)]
    fn block_place(&self, m: usize) -> u32 {
        let place = self.thread / 16 * 272 + self.thread % 16;
        place + (m as u32 / 16 * THREADS + m as u32 % 16) * 17
    }

    /// Returns where point `m` is in the third pass.
    #[inline(always)]
    fn own_place(&self, m: usize) -> u32 {
        (self.thread + m as u32 / 16 * THREADS) * 17 + m as u32 % 16
    }

    /// Returns the numbers that a function returns for the thread's points before the first pass. One after another they go through the
    /// shared memory of these points: so there is one copy of the function's code.
    #[inline(always)]
    pub(super) fn staged(&self, number: impl Fn(u32) -> Complex<T>) -> [Complex<T>; E] {
        let (first, distance) = (self.whole_place(0), self.whole_place(1) - self.whole_place(0));
        let (mut m, count) = (0, opaque(E as u32));
        while m < count {
            let Complex { re, im } = number(self.thread + m * THREADS);
            self.memory.set_pack(2 * (first + m * distance), [re, im]);
            m += 1;
        }
        self.load(|m| self.whole_place(m))
    }

    #[inline(always)]
    fn store(&self, v: [Complex<T>; E], place: impl Fn(usize) -> u32) {
        for (m, v) in v.into_iter().enumerate() {
            self.memory.set_pack(2 * place(m), [v.re, v.im]);
        }
    }

    #[inline(always)]
    fn load(&self, place: impl Fn(usize) -> u32) -> [Complex<T>; E] {
        core::array::from_fn(|m| {
            let [re, im] = self.memory.get_pack(2 * place(m));
            Complex { re, im }
        })
    }
}

/// Returns element `j` of the table.
#[inline(always)]
fn factor<T: Real>(twiddles: GlobalIn<T>, j: u32) -> Complex<T> {
    let [re, im] = twiddles.at(0).get_pack(2 * j);
    Complex { re, im }
}
