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
    pub struct AnyIn {
        /// A [`Kind`].
        pub kind: u32,
        /// `u8`
        pub u8: GlobalIn<u8>,
        /// `u16`
        pub u16: GlobalIn<u16>,
        /// `i16`
        pub i16: GlobalIn<i16>,
        /// `i32`
        pub i32: GlobalIn<i32>,
        /// `f32`
        pub f32: GlobalIn<f32>,
        /// `f64`
        pub f64: GlobalIn<f64>,
    }
}

arguments! {
    /// Outputs of some type: the window of their type receives them, the others are empty.
    pub struct AnyOut {
        /// A [`Kind`].
        pub kind: u32,
        /// `u8`
        pub u8: GlobalOut<u8>,
        /// `u16`
        pub u16: GlobalOut<u16>,
        /// `i16`
        pub i16: GlobalOut<i16>,
        /// `i32`
        pub i32: GlobalOut<i32>,
        /// `f32`
        pub f32: GlobalOut<f32>,
        /// `f64`
        pub f64: GlobalOut<f64>,
    }
}

/// A type of sums that samples and weights are converted to first: `i32`, `i64`, `f32` or `f64`.
pub trait Accumulator: Value + Sample + Weight + Sum<Self, Self> + Debug {
    /// One.
    const ONE: Self;

    /// Returns sample `i` as a number to compute with.
    #[must_use]
    fn load_sample(samples: &AnyIn, i: u64) -> Self;

    /// Returns samples `first`, `first + step`, …: `count` of them, and zeros behind them.
    #[must_use]
    fn load_several<const N: usize>(samples: &AnyIn, first: u64, step: u64, count: u32) -> [Self; N];

    /// Stores a sum as output `i`.
    fn store_output(self, outputs: &AnyOut, i: u64);

    /// Returns whether the number is NaN.
    #[must_use]
    fn is_nan(self) -> bool;

    /// Returns `self · (total / present)`, or NaN if `present` is 0. Integers are never renormalised.
    #[must_use]
    fn renormalised(self, total: Self, present: Self) -> Self;
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

/// Returns elements `first`, `first + step`, …: `count` of them, and zeros behind them. All loads are in flight together.
#[inline(always)]
#[track_caller]
fn load_every<X: Value, const N: usize>(window: &GlobalIn<X>, first: u64, step: u64, count: u32) -> [X; N] {
    let mut elements = [X::default(); N];
    for (k, element) in elements.iter_mut().enumerate() {
        *element = window.get_if((k as u32) < count, first + k as u64 * step, X::default());
    }
    elements
}

macro_rules! accumulators {
    ($($t:ty: |$sum:ident, $total:ident, $present:ident| $renormalised:expr;)*) => {$(
        impl Accumulator for $t {
            const ONE: Self = 1 as $t;

            #[inline(always)]
            #[track_caller]
            fn load_sample(samples: &AnyIn, i: u64) -> Self {
                with_kind!(samples.kind, [samples as window] => window.get(i).to_sum())
            }

            #[inline(always)]
            #[track_caller]
            fn load_several<const N: usize>(samples: &AnyIn, first: u64, step: u64, count: u32) -> [Self; N] {
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
            fn is_nan(self) -> bool {
                self != self
            }

            #[inline(always)]
            fn renormalised(self, $total: Self, $present: Self) -> Self {
                let $sum = self;
                $renormalised
            }
        }
    )*};
}
accumulators! {
    i32: |sum, _total, _present| sum;
    i64: |sum, _total, _present| sum;
    f32: |sum, total, present| if present == 0.0 { f32::NAN } else { sum * (total / present) };
    f64: |sum, total, present| if present == 0.0 { f64::NAN } else { sum * (total / present) };
}
