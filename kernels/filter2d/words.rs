//! Samples in words: what the streaming kernels load, exchange between lanes and keep in registers.

use crate::signal::{Accumulator, Output, Sample, Sum, Types};
use core::array::from_fn;
use core::fmt::Debug;
use cuda_std::math::{byte_to_f32, round_to_bytes};
use cuda_std::warp::Lane;
use cuda_std::{GlobalIn, GlobalOut, Value};

/// Types of numbers that the streaming kernels are compiled for.
pub trait Streamed:
    Types<
        Sample: Packed<<Self as Types>::Sum>,
        Output: Packed<<Self as Types>::Sum>,
        Sum: Accumulator + Lane + Sum<<Self as Types>::Sum, <Self as Types>::Weight>,
    >
{
}

impl<F: Types> Streamed for F
where
    F::Sample: Packed<F::Sum>,
    F::Output: Packed<F::Sum>,
    F::Sum: Accumulator + Lane + Sum<F::Sum, F::Weight>,
{
}

/// A type of samples or outputs that is packed into 32-bit words. Sums have type `A`.
pub trait Packed<A>: Sample + Output<A> {
    /// The type of a word.
    type Unit: Value + Debug;
    /// Numbers of a word.
    const PER_WORD: usize;

    /// Returns numbers as words, the first one in the lowest bits of the first word.
    #[must_use]
    fn join<const P: usize, const M: usize>(numbers: [Self; P]) -> [Self::Unit; M];

    /// Returns number `k` of a word, as a sum.
    #[must_use]
    fn of_word(word: Self::Unit, k: usize) -> A;

    /// Returns the numbers that are stored for sums.
    #[must_use]
    fn of_sums<const P: usize>(sums: [A; P]) -> [Self; P];

    /// Returns `M` words from number `i` on, or zeros if they are not in the window. `i` is a multiple of the size of a word, and of
    /// the size of all if they `are_aligned`.
    #[must_use]
    fn load<const M: usize>(window: &GlobalIn<Self>, i: u64, are_aligned: bool) -> [Self::Unit; M];

    /// Stores word `m` of some numbers at a multiple of its size, if `condition` holds.
    fn store_word<const P: usize>(window: &GlobalOut<Self>, condition: bool, i: u64, numbers: [Self; P], m: usize);

    /// Returns whether all bits are 0.
    #[must_use]
    fn is_zero(self) -> bool;
}

impl Packed<f32> for f32 {
    type Unit = f32;
    const PER_WORD: usize = 1;

    #[inline(always)]
    fn join<const P: usize, const M: usize>(numbers: [f32; P]) -> [f32; M] {
        from_fn(|m| numbers[m])
    }

    #[inline(always)]
    fn of_word(word: f32, _k: usize) -> f32 {
        word
    }

    #[inline(always)]
    fn of_sums<const P: usize>(sums: [f32; P]) -> [f32; P] {
        sums
    }

    #[inline(always)]
    #[track_caller]
    fn load<const M: usize>(window: &GlobalIn<f32>, i: u64, are_aligned: bool) -> [f32; M] {
        if are_aligned {
            return window.get_pack_masked(i);
        }
        let mut words = [0.0; M];
        for (m, word) in words.iter_mut().enumerate() {
            *word = window.get_masked(i + m as u64);
        }
        words
    }

    #[inline(always)]
    #[track_caller]
    fn store_word<const P: usize>(window: &GlobalOut<f32>, condition: bool, i: u64, numbers: [f32; P], m: usize) {
        window.set_if(condition, i, numbers[m]);
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self.to_bits() == 0
    }
}

impl Packed<f32> for u8 {
    type Unit = u32;
    const PER_WORD: usize = 4;

    #[inline(always)]
    fn join<const P: usize, const M: usize>(numbers: [u8; P]) -> [u32; M] {
        from_fn(|m| u32::from_le_bytes(four(&numbers, m)))
    }

    #[inline(always)]
    fn of_word(word: u32, k: usize) -> f32 {
        match k {
            0 => byte_to_f32::<0>(word),
            1 => byte_to_f32::<1>(word),
            2 => byte_to_f32::<2>(word),
            _ => byte_to_f32::<3>(word),
        }
    }

    #[inline(always)]
    fn of_sums<const P: usize>(sums: [f32; P]) -> [u8; P] {
        let mut numbers = [0; P];
        for m in 0..P / 4 {
            numbers[4 * m..4 * m + 4].copy_from_slice(&round_to_bytes(four(&sums, m)).to_le_bytes());
        }
        numbers
    }

    #[inline(always)]
    #[track_caller]
    fn load<const M: usize>(window: &GlobalIn<u8>, i: u64, are_aligned: bool) -> [u32; M] {
        match (M, are_aligned) {
            (2, true) => Self::join(window.get_pack_masked::<8>(i)),
            (4, true) => Self::join(window.get_pack_masked::<16>(i)),
            _ => {
                let mut words = [0; M];
                for (m, word) in words.iter_mut().enumerate() {
                    *word = u32::from_le_bytes(window.get_pack_masked::<4>(i + 4 * m as u64));
                }
                words
            }
        }
    }

    #[inline(always)]
    #[track_caller]
    fn store_word<const P: usize>(window: &GlobalOut<u8>, condition: bool, i: u64, numbers: [u8; P], m: usize) {
        window.set_pack_masked(condition, i, four(&numbers, m));
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self == 0
    }
}

/// Returns numbers `4 m` to `4 m + 3`.
#[inline(always)]
fn four<X: Copy>(numbers: &[X], m: usize) -> [X; 4] {
    from_fn(|k| numbers[4 * m + k])
}
