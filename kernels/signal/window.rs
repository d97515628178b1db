//! Sums of neighbouring outputs in a thread's registers, and the samples that they need.

use super::{Sample, Sum, Weight};

/// `R` neighbouring sums, and a window of `N` samples that slides along their line.
///
/// ```text
///  samples   [ . . . . R samples . . . . ][ V new ]
///  weights   [ V ] --->                              V new samples serve R · V multiply-adds
/// ```
///
/// The window is a ring: sample `s` of the line is in register `s % N`. If code is unrolled over `N` samples, one turn of the ring,
/// no sample ever moves between registers. Positions must be constants after unrolling, because registers have no index at run time.
pub(crate) struct Window<X, A, const R: usize, const N: usize> {
    samples: [X; N],
    /// The sums.
    pub(crate) sums: [A; R],
}

impl<X: Sample, A, const R: usize, const N: usize> Window<X, A, R, N> {
    /// Returns a window of zeros, which are to be replaced, and these sums.
    #[inline(always)]
    pub(crate) fn new(sums: [A; R]) -> Self {
        Window { samples: [X::ZERO; N], sums }
    }

    /// Puts samples `first` to `first + V - 1` of the line into the ring.
    #[inline(always)]
    pub(crate) fn put<const V: usize>(&mut self, first: usize, new: [X; V]) {
        for (k, sample) in new.into_iter().enumerate() {
            self.samples[(first + k) % N] = sample;
        }
    }

    /// Adds sample `first + r` times `weight` to sum `r`, for every sum.
    #[inline(always)]
    pub(crate) fn add_product<W: Weight>(&mut self, first: usize, weight: W)
    where
        A: Sum<X, W>,
    {
        for r in 0..R {
            self.sums[r] = self.sums[r].add_product(self.samples[(first + r) % N], weight);
        }
    }

    /// Adds sample `first + u + r` times weight `u` to sum `r`, for every sum and every `u` that is `wanted`, in the order of `u`.
    #[inline(always)]
    pub(crate) fn add_products<W: Weight, const V: usize>(
        &mut self,
        first: usize,
        weights: [W; V],
        wanted: impl Fn(u32) -> bool,
    ) where
        A: Sum<X, W>,
    {
        for (u, weight) in weights.into_iter().enumerate() {
            if wanted(u as u32) {
                self.add_product(first + u, weight);
            }
        }
    }
}
