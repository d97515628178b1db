//! Samples and outputs of types that are known at run time only, for kernels of which there is one per type of sums.

use super::{Output, Sample, Sum, Weight, numbered};
use core::fmt::Debug;
use cuda_std::{GlobalIn, GlobalOut, Value, arguments};

numbered! {
    /// A type of samples and outputs.
    pub enum Kind in kinds {
        /// `u8`
        U8 = 0,
        /// `u16`
        U16 = 1,
        /// `i16`
        I16 = 2,
        /// `i32`
        I32 = 3,
        /// `f32`
        F32 = 4,
        /// `f64`
        F64 = 5,
    }
}

impl Kind {
    /// Returns the name of the type.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::U8 => "u8",
            Kind::U16 => "u16",
            Kind::I16 => "i16",
            Kind::I32 => "i32",
            Kind::F32 => "f32",
            Kind::F64 => "f64",
        }
    }

    /// Returns the bytes of a number.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Kind::U8 => 1,
            Kind::U16 | Kind::I16 => 2,
            Kind::I32 | Kind::F32 => 4,
            Kind::F64 => 8,
        }
    }
}

arguments! {
    /// Samples of some type: the window of their type has them, the others are empty.
    pub struct AnyIn<'l> {
        /// A [`Kind`].
        pub kind: u32,
        /// `u8`
        pub u8: GlobalIn<'l, u8>,
        /// `u16`
        pub u16: GlobalIn<'l, u16>,
        /// `i16`
        pub i16: GlobalIn<'l, i16>,
        /// `i32`
        pub i32: GlobalIn<'l, i32>,
        /// `f32`
        pub f32: GlobalIn<'l, f32>,
        /// `f64`
        pub f64: GlobalIn<'l, f64>,
    }
}

arguments! {
    /// Outputs of some type: the window of their type receives them, the others are empty.
    pub struct AnyOut<'l> {
        /// A [`Kind`].
        pub kind: u32,
        /// `u8`
        pub u8: GlobalOut<'l, u8>,
        /// `u16`
        pub u16: GlobalOut<'l, u16>,
        /// `i16`
        pub i16: GlobalOut<'l, i16>,
        /// `i32`
        pub i32: GlobalOut<'l, i32>,
        /// `f32`
        pub f32: GlobalOut<'l, f32>,
        /// `f64`
        pub f64: GlobalOut<'l, f64>,
    }
}

/// A type of sums that samples of type `X` are converted to: [`Output::to_sum`], seen from the sums.
pub trait OfSample<X> {
    /// Returns the sample as a number to compute with.
    #[must_use]
    fn of_sample(sample: X) -> Self;
}

impl<A, X: Output<A>> OfSample<X> for A {
    #[inline(always)]
    fn of_sample(sample: X) -> Self {
        sample.to_sum()
    }
}

/// A type of sums that samples and weights are converted to first: `i32`, `i64`, `f32` or `f64`.
pub trait Accumulator:
    Value
    + Sample
    + Weight
    + Sum<Self, Self>
    + OfSample<u8>
    + OfSample<u16>
    + OfSample<i16>
    + OfSample<i32>
    + OfSample<f32>
    + OfSample<f64>
    + Debug
{
    /// One.
    const ONE: Self;

    /// Returns `self + other`. Integers wrap.
    #[inline(always)]
    #[must_use]
    fn plus(self, other: Self) -> Self {
        self.add_product(other, Self::ONE)
    }

    /// Returns sample `i` as a number to compute with.
    #[must_use]
    fn load_sample(samples: &AnyIn, i: u64) -> Self;

    /// Returns samples `first`, `first + step`, …: `count` of them, at least one, and zeros behind them. `N · step` fits into 32 bits.
    #[must_use]
    fn load_several<const N: usize>(samples: &AnyIn, first: u64, step: u32, count: u32) -> [Self; N];

    /// Stores a sum as output `i`.
    fn store_output(self, outputs: &AnyOut, i: u64);

    /// Stores sums as outputs `i` to `i + N - 1`, a multiple of `N` of aligned outputs. `N` is the numbers of this type in 16 bytes.
    fn store_aligned<const N: usize>(sums: [Self; N], outputs: &AnyOut, i: u64);

    /// Returns whether the number is NaN.
    #[must_use]
    fn is_nan(self) -> bool;

    /// Returns `self · (total / present)`, or NaN if `present` is 0. Integers are never renormalised.
    #[must_use]
    fn renormalised(self, total: Self, present: Self) -> Self;

    /// Returns `self / divisor`, rounded once. Integers are never divided.
    #[must_use]
    fn quotient(self, divisor: Self) -> Self;

    /// Returns whether a division by this number changes sums. It never does for integers.
    #[must_use]
    fn is_divisor(self) -> bool;
}

/// Evaluates an expression with the windows of the type that has this number, such as `[samples as window]`.
macro_rules! with_kind {
    (@ $t:ident, [$($any:ident as $window:ident),*], $result:expr) => {{
        $(let $window = &$any.$t;)*
        $result
    }};
    ($kind:expr, $windows:tt => $result:expr) => {
        match $kind {
            $crate::signal::kinds::U8 => with_kind!(@ u8, $windows, $result),
            $crate::signal::kinds::U16 => with_kind!(@ u16, $windows, $result),
            $crate::signal::kinds::I16 => with_kind!(@ i16, $windows, $result),
            $crate::signal::kinds::I32 => with_kind!(@ i32, $windows, $result),
            $crate::signal::kinds::F32 => with_kind!(@ f32, $windows, $result),
            _ => with_kind!(@ f64, $windows, $result),
        }
    };
}
pub(crate) use with_kind;

macro_rules! alignment {
    ($($any:ident)*) => {$(
        impl $any<'_> {
            /// Returns whether the numbers begin at a multiple of the size of `elements` of them, a power of two.
            #[inline(always)]
            #[must_use]
            pub fn is_aligned(&self, elements: u32) -> bool {
                with_kind!(self.kind, [self as window] => window.is_aligned(elements))
            }
        }
    )*};
}
alignment!(AnyIn AnyOut);

/// [`Accumulator::load_several`]. All loads are in flight together: none is followed by a selection, which would wait for it.
#[inline(always)]
#[track_caller]
fn load_every<X: Value, const N: usize>(window: &GlobalIn<X>, first: u64, step: u32, count: u32) -> [X; N] {
    let window = window.at(first).first((count - 1) * step + 1).anchored();
    let mut elements = [X::default(); N];
    for (k, element) in elements.iter_mut().enumerate() {
        *element = window.get_masked(k as u32 * step);
    }
    elements
}

/// Stores `N` elements from `i` on. Accesses have at most 16 bytes.
#[inline(always)]
#[track_caller]
fn store_halves<O: Value, const N: usize>(window: &GlobalOut<O>, i: u64, elements: [O; N]) {
    for k in (0..N).step_by(2) {
        window.set_pack(i + k as u64, [elements[k], elements[k + 1]]);
    }
}

macro_rules! accumulators {
    ($($t:ty: |$sum:ident, $total:ident, $present:ident| $renormalised:expr, $quotient:expr, $is_divisor:expr;)*) => {$(
        impl Accumulator for $t {
            const ONE: Self = 1 as $t;

            #[inline(always)]
            #[track_caller]
            fn load_sample(samples: &AnyIn, i: u64) -> Self {
                with_kind!(samples.kind, [samples as window] => window.get(i).to_sum())
            }

            #[inline(always)]
            #[track_caller]
            fn load_several<const N: usize>(samples: &AnyIn, first: u64, step: u32, count: u32) -> [Self; N] {
                with_kind!(samples.kind, [samples as window] => {
                    load_every(window, first, step, count).map(Output::to_sum)
                })
            }

            #[inline(always)]
            #[track_caller]
            fn store_output(self, outputs: &AnyOut, i: u64) {
                with_kind!(outputs.kind, [outputs as window] => window.set(i, Output::of_sum(self)))
            }

            #[inline(always)]
            #[track_caller]
            fn store_aligned<const N: usize>(sums: [Self; N], outputs: &AnyOut, i: u64) {
                match outputs.kind {
                    kinds::U8 => outputs.u8.set_pack(i, sums.map(Output::of_sum)),
                    kinds::U16 => outputs.u16.set_pack(i, sums.map(Output::of_sum)),
                    kinds::I16 => outputs.i16.set_pack(i, sums.map(Output::of_sum)),
                    kinds::I32 => outputs.i32.set_pack(i, sums.map(Output::of_sum)),
                    kinds::F32 => outputs.f32.set_pack(i, sums.map(Output::of_sum)),
                    _ => store_halves(&outputs.f64, i, sums.map(Output::of_sum)),
                }
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }

            #[inline(always)]
            fn renormalised(self, $total: Self, $present: Self) -> Self {
                let $sum = self;
                $renormalised
            }

            #[inline(always)]
            fn quotient(self, $total: Self) -> Self {
                let $sum = self;
                $quotient
            }

            #[inline(always)]
            fn is_divisor(self) -> bool {
                let $total = self;
                $is_divisor
            }
        }
    )*};
}
accumulators! {
    i32: |sum, _total, _present| sum, sum, false;
    i64: |sum, _total, _present| sum, sum, false;
    f32: |sum, total, present| if present == 0.0 { f32::NAN } else { sum * (total / present) }, sum / total, total != 1.0;
    f64: |sum, total, present| if present == 0.0 { f64::NAN } else { sum * (total / present) }, sum / total, total != 1.0;
}
