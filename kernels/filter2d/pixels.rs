//! Samples and outputs of the kernels that go down bands, of types that are known at compile time or at run time.

use super::lines::CONSTANT;
use crate::signal::{Accumulator, AnyIn, AnyOut, Output, Types, kinds};
use core::fmt::Debug;
use cuda_std::{Argument, GlobalIn, GlobalOut, Value, arguments};

/// Where samples are loaded from, and outputs are stored.
pub trait PixelAccess: Argument + Copy + Debug {
    /// The same for the launch `'l`.
    type At<'l>: PixelAccess<Sum = Self::Sum>;
    /// Type of the sums.
    type Sum: Accumulator;
    /// A sample as it is loaded. If it is converted later, the conversion does not wait for the load.
    type Loaded: Value;
    /// Whether pixels always have one channel in the kernel of boxes.
    const HAS_ONE_CHANNEL: bool;
    /// Maximum number of registers of a thread of the kernel of boxes, so that a multiprocessor of 65,536 runs 16 warps with 128,
    /// and 12 with 160.
    const REGISTERS: u8;

    /// Returns whether packs of samples, and of outputs, are aligned where a row begins.
    fn are_aligned(&self, pack: u32) -> [bool; 2];

    /// Loads packs of some lines.
    fn load<const V: usize, const LINES: usize>(
        &self,
        pack: &Pack<V>,
        lines: [u64; LINES],
    ) -> [[Self::Loaded; V]; LINES];

    /// Returns a loaded sample as a number to compute with.
    fn to_sum(loaded: Self::Loaded) -> Self::Sum;

    /// Stores a sum as output `i`.
    fn store_output(&self, i: u64, sum: Self::Sum);

    /// Stores sums as aligned outputs from `i` on.
    fn store_pack<const V: usize>(&self, i: u64, sums: [Self::Sum; V]);
}

/// Where the samples of a pack are in each line.
#[derive(Clone, Copy, Debug)]
pub struct Pack<const V: usize> {
    /// Positions in a line, or [`CONSTANT`].
    pub(super) sources: [u64; V],
    /// Whether the samples are an aligned pack inside the picture.
    pub(super) is_aligned: bool,
}

impl<const V: usize> Pack<V> {
    /// Loads the pack of some lines, with `N` samples per access if it is aligned.
    #[inline(always)]
    fn load<X: Value, T: Copy, const N: usize, const LINES: usize>(
        &self,
        window: &GlobalIn<X>,
        lines: [u64; LINES],
        (outside, converted): (T, impl Fn(X) -> T),
    ) -> [[T; V]; LINES] {
        lines.map(|line| match line {
            CONSTANT => [outside; V],
            _ if self.is_aligned => {
                let mut samples = [outside; V];
                for k in (0..V).step_by(N) {
                    let first = line + self.sources[0] + k as u64;
                    samples[k..k + N].copy_from_slice(&window.get_pack::<N>(first).map(&converted));
                }
                samples
            }
            _ => self.sources.map(|source| match source {
                CONSTANT => outside,
                _ => converted(window.get(line + source)),
            }),
        })
    }
}

arguments! {
    /// Samples and outputs of types that are known at compile time. The kernel of boxes takes pixels of one channel of them.
    pub struct Typed<'l, F: Types> {
        /// The samples.
        pub input: GlobalIn<'l, F::Sample>,
        /// Receives the outputs.
        pub output: GlobalOut<'l, F::Output>,
        /// The value outside the picture, for a constant border.
        pub outside: F::Sample,
    }
}

impl<F: Types> PixelAccess for Typed<'_, F>
where
    F::Sum: Accumulator,
    F::Sample: Output<F::Sum>,
{
    type At<'l> = Typed<'l, F>;
    type Sum = F::Sum;
    type Loaded = F::Sample;
    const HAS_ONE_CHANNEL: bool = true;
    const REGISTERS: u8 = 128;

    #[inline(always)]
    fn are_aligned(&self, pack: u32) -> [bool; 2] {
        [self.input.is_aligned(pack), self.output.is_aligned(pack)]
    }

    #[inline(always)]
    fn load<const V: usize, const LINES: usize>(&self, pack: &Pack<V>, lines: [u64; LINES]) -> [[F::Sample; V]; LINES] {
        pack.load::<_, _, V, LINES>(&self.input, lines, (self.outside, |sample| sample))
    }

    #[inline(always)]
    fn to_sum(loaded: F::Sample) -> F::Sum {
        loaded.to_sum()
    }

    #[inline(always)]
    #[track_caller]
    fn store_output(&self, i: u64, sum: F::Sum) {
        self.output.set(i, Output::of_sum(sum));
    }

    #[inline(always)]
    #[track_caller]
    fn store_pack<const V: usize>(&self, i: u64, sums: [F::Sum; V]) {
        self.output.set_pack(i, sums.map(Output::of_sum));
    }
}

arguments! {
    /// Samples and outputs of types that are known at run time only, and sums of type `A`.
    pub struct Any<'l, A: Accumulator> {
        /// The samples.
        pub input: AnyIn<'l>,
        /// Receives the outputs.
        pub output: AnyOut<'l>,
        /// The value outside the picture, for a constant border.
        pub outside: A,
    }
}

impl<A: Accumulator> PixelAccess for Any<'_, A> {
    type At<'l> = Any<'l, A>;
    type Sum = A;
    type Loaded = A;
    const HAS_ONE_CHANNEL: bool = false;
    const REGISTERS: u8 = 160;

    #[inline(always)]
    fn are_aligned(&self, pack: u32) -> [bool; 2] {
        [self.input.is_aligned(pack), self.output.is_aligned(pack)]
    }

    #[inline(always)]
    fn load<const V: usize, const LINES: usize>(&self, pack: &Pack<V>, lines: [u64; LINES]) -> [[A; V]; LINES] {
        let input = &self.input;
        match input.kind {
            kinds::U8 => pack.load::<u8, _, V, LINES>(&input.u8, lines, (self.outside, A::of_sample)),
            kinds::U16 => pack.load::<u16, _, V, LINES>(&input.u16, lines, (self.outside, A::of_sample)),
            kinds::I16 => pack.load::<i16, _, V, LINES>(&input.i16, lines, (self.outside, A::of_sample)),
            kinds::I32 => pack.load::<i32, _, V, LINES>(&input.i32, lines, (self.outside, A::of_sample)),
            kinds::F32 => pack.load::<f32, _, V, LINES>(&input.f32, lines, (self.outside, A::of_sample)),
            // Accesses have at most 16 bytes.
            _ => pack.load::<f64, _, 2, LINES>(&input.f64, lines, (self.outside, A::of_sample)),
        }
    }

    #[inline(always)]
    fn to_sum(loaded: A) -> A {
        loaded
    }

    #[inline(always)]
    #[track_caller]
    fn store_output(&self, i: u64, sum: A) {
        sum.store_output(&self.output, i);
    }

    #[inline(always)]
    #[track_caller]
    fn store_pack<const V: usize>(&self, i: u64, sums: [A; V]) {
        A::store_aligned(sums, &self.output, i);
    }
}

arguments! {
    /// The inverse of the divisor of a mean of integers. Sums are exact, and so are the bits of the quotient, because it is rounded
    /// once: it is the sum times the inverse, in twice the precision of the sums.
    ///
    /// The distance between a quotient `s / d` of integers and the middle between two floats of `p` bits is at least
    /// `2^(-1 - p) / d` of it, unless it is that middle. The product here differs from the quotient by at most `2^(3 - 2 p)` of it
    /// before it is rounded. So both are rounded alike if `d` is at most `2^(p - 5)`, and a middle between two integers, which is such
    /// a float, is exact.
    pub struct Inverse<A: Accumulator> {
        /// The inverse, rounded.
        pub inverse: A,
        /// What the exact inverse is greater, rounded.
        pub rest: A,
    }
}

impl<A: Accumulator> Inverse<A> {
    /// Returns the quotient for a sum.
    #[inline(always)]
    pub(super) fn quotient(&self, sum: A) -> A {
        A::ZERO.add_product(sum, self.rest).add_product(sum, self.inverse)
    }
}

arguments! {
    /// Samples and outputs of a mean of integers: sums are divided when they are stored.
    pub struct Mean<M: PixelAccess> {
        /// Samples and outputs.
        pub memory: M,
        /// What sums are multiplied by.
        pub inverse: Inverse<M::Sum>,
    }
}

impl<M: PixelAccess> PixelAccess for Mean<M> {
    type At<'l> = Mean<M::At<'l>>;
    type Sum = M::Sum;
    type Loaded = M::Loaded;
    const HAS_ONE_CHANNEL: bool = M::HAS_ONE_CHANNEL;
    const REGISTERS: u8 = M::REGISTERS;

    #[inline(always)]
    fn are_aligned(&self, pack: u32) -> [bool; 2] {
        self.memory.are_aligned(pack)
    }

    #[inline(always)]
    fn load<const V: usize, const LINES: usize>(&self, pack: &Pack<V>, lines: [u64; LINES]) -> [[M::Loaded; V]; LINES] {
        self.memory.load(pack, lines)
    }

    #[inline(always)]
    fn to_sum(loaded: M::Loaded) -> M::Sum {
        M::to_sum(loaded)
    }

    #[inline(always)]
    #[track_caller]
    fn store_output(&self, i: u64, sum: M::Sum) {
        self.memory.store_output(i, self.inverse.quotient(sum));
    }

    #[inline(always)]
    #[track_caller]
    fn store_pack<const V: usize>(&self, i: u64, sums: [M::Sum; V]) {
        self.memory.store_pack(i, sums.map(|sum| self.inverse.quotient(sum)));
    }
}
