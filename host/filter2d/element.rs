//! The types of samples, outputs and weights, and values whose type is known at run time only.

use crate::filter1d::Prepare;
use crate::{Buffer, Element};
use slm_kernels::signal::Kind;

/// A type of samples and outputs of filters: `u8`, `u16`, `i16`, `i32`, `f32` or `f64`. The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `Erase` in their generic code")]
pub trait FilterSample: Element + Erase + Prepare {
    /// The type of generated weights, such as those of [`Filter2d::gaussian`](crate::Filter2d::gaussian): `f64` for `i32` and
    /// `f64`, `f32` for the others.
    type Weight: FilterWeight;
}

/// A type of weights and taps of filters: `i32`, `f32` or `f64`. The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `Weigh` in their generic code")]
pub trait FilterWeight: Element + Weigh {}

/// Operations per type of weights.
pub(crate) trait Weigh: Element {
    const IS_INTEGER: bool;
    /// Whether `f32` represents all weights.
    const FITS_F32: bool;

    fn of_f64(weight: f64) -> Self;

    /// Returns the same number. `f64` represents all weights.
    fn to_f64(self) -> f64;
}

macro_rules! weights {
    ($($t:ident, $is_integer:expr, $fits_f32:expr;)*) => {$(
        impl FilterWeight for $t {}
        impl Weigh for $t {
            const IS_INTEGER: bool = $is_integer;
            const FITS_F32: bool = $fits_f32;

            fn of_f64(weight: f64) -> Self {
                weight as $t
            }

            fn to_f64(self) -> f64 {
                self.into()
            }
        }
    )*};
}
weights! {
    i32, true, false;
    f32, false, true;
    f64, false, false;
}

/// Conversions to types that are known at run time only, so that code is compiled once for all combinations of types.
pub(crate) trait Erase: Element {
    const KIND: Kind;

    fn scalar(self) -> Scalar;
    fn slice(samples: &[Self]) -> Slice<'_>;
    fn slice_mut(outputs: &mut [Self]) -> SliceMut<'_>;
    fn buffer(samples: &Buffer<Self>) -> BufferRef<'_>;
    fn buffer_mut(outputs: &mut Buffer<Self>) -> BufferMut<'_>;
}

macro_rules! samples {
    ($($t:ident: $name:ident, $weight:ident;)*) => {
        /// A sample of any type.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) enum Scalar {
            $($name($t),)*
        }

        /// Samples of any type.
        #[derive(Clone, Copy)]
        pub(crate) enum Slice<'a> {
            $($name(&'a [$t]),)*
        }

        /// Outputs of any type.
        pub(crate) enum SliceMut<'a> {
            $($name(&'a mut [$t]),)*
        }

        /// A buffer of samples of any type.
        #[derive(Clone, Copy)]
        pub(crate) enum BufferRef<'a> {
            $($name(&'a Buffer<$t>),)*
        }

        /// A buffer of outputs of any type.
        pub(crate) enum BufferMut<'a> {
            $($name(&'a mut Buffer<$t>),)*
        }

        impl BufferRef<'_> {
            pub(super) fn kind(&self) -> Kind {
                match self {
                    $(BufferRef::$name(_) => Kind::$name,)*
                }
            }
        }

        impl BufferMut<'_> {
            pub(super) fn kind(&self) -> Kind {
                match self {
                    $(BufferMut::$name(_) => Kind::$name,)*
                }
            }
        }

        $(
            impl FilterSample for $t {
                type Weight = $weight;
            }

            impl Erase for $t {
                const KIND: Kind = Kind::$name;

                fn scalar(self) -> Scalar {
                    Scalar::$name(self)
                }

                fn slice(samples: &[$t]) -> Slice<'_> {
                    Slice::$name(samples)
                }

                fn slice_mut(outputs: &mut [$t]) -> SliceMut<'_> {
                    SliceMut::$name(outputs)
                }

                fn buffer(samples: &Buffer<$t>) -> BufferRef<'_> {
                    BufferRef::$name(samples)
                }

                fn buffer_mut(outputs: &mut Buffer<$t>) -> BufferMut<'_> {
                    BufferMut::$name(outputs)
                }
            }
        )*
    };
}
samples! {
    u8: U8, f32;
    u16: U16, f32;
    i16: I16, f32;
    i32: I32, f64;
    f32: F32, f32;
    f64: F64, f64;
}

/// Evaluates an expression with the typed value inside of a [`Scalar`], a [`Slice`] or one of their like.
macro_rules! with_type {
    ($enum:ident, $value:expr, $typed:ident => $result:expr) => {
        match $value {
            $enum::U8($typed) => $result,
            $enum::U16($typed) => $result,
            $enum::I16($typed) => $result,
            $enum::I32($typed) => $result,
            $enum::F32($typed) => $result,
            $enum::F64($typed) => $result,
        }
    };
}
pub(super) use with_type;

/// Returns the largest magnitude of an integer type; `None` for floats.
pub(super) fn peak(kind: Kind) -> Option<u128> {
    match kind {
        Kind::U8 => Some(u8::MAX.into()),
        Kind::U16 => Some(u16::MAX.into()),
        Kind::I16 => Some(1 << 15),
        Kind::I32 => Some(1 << 31),
        Kind::F32 | Kind::F64 => None,
    }
}

/// Returns whether `f32` represents all numbers of the type.
pub(super) fn fits_f32(kind: Kind) -> bool {
    !matches!(kind, Kind::I32 | Kind::F64)
}
