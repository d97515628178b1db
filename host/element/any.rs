//! Values whose type is known at run time only, so that code is compiled once for all combinations of types.

use crate::element::raw::Raw;
use crate::{Buffer, BufferSlice, BufferSliceMut, Device, Result, Windows};
use cuda_std::{GlobalIn, GlobalOut};
use slm_kernels::signal::{AnyIn, AnyOut, Kind, Output};

/// Conversions to types that are known at run time only, so that code is compiled once for all combinations of types.
pub(crate) trait Erase: Raw {
    const KIND: Kind;

    /// Returns the same number. `f64` represents all numbers.
    fn to_f64(self) -> f64;

    /// Returns the number that is stored for a sum: rounded, ties to even, and saturated for integers.
    fn of_sum(sum: f64) -> Self;

    fn scalar(self) -> Scalar;
    fn slice(samples: &[Self]) -> Slice<'_>;
    fn slice_mut(outputs: &mut [Self]) -> SliceMut<'_>;
    fn buffer(samples: BufferSlice<'_, Self>) -> BufferRef<'_>;
    fn buffer_mut(outputs: BufferSliceMut<'_, Self>) -> BufferMut<'_>;

    fn vec(numbers: Vec<Self>) -> AnyVec;

    /// Returns the number, the numbers or the buffer if they have this type.
    fn typed_scalar(sample: Scalar) -> Option<Self>;
    fn typed(samples: Slice<'_>) -> Option<&[Self]>;
    fn typed_buffer(samples: BufferRef<'_>) -> Option<BufferSlice<'_, Self>>;
    fn typed_buffer_mut(outputs: BufferMut<'_>) -> Option<BufferSliceMut<'_, Self>>;
}

macro_rules! samples {
    ($($t:ident: $name:ident;)*) => {
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

        /// Numbers of any type, owned.
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) enum AnyVec {
            $($name(Vec<$t>),)*
        }

        impl AnyVec {
            pub(crate) fn as_slice(&self) -> Slice<'_> {
                match self {
                    $(AnyVec::$name(numbers) => Slice::$name(numbers),)*
                }
            }
        }

        /// A buffer of numbers of any type, owned.
        pub(crate) enum AnyBuffer {
            $($name(Buffer<$t>),)*
        }

        impl Scalar {
            pub(crate) fn kind(&self) -> Kind {
                match self {
                    $(Scalar::$name(_) => Kind::$name,)*
                }
            }
        }

        impl AnyBuffer {
            /// Returns a buffer of numbers of this type; otherwise as [`Device::unwritten`].
            pub(crate) fn unwritten(device: &Device, kind: Kind, len: usize) -> Result<Self> {
                Ok(match kind {
                    $(Kind::$name => AnyBuffer::$name(device.unwritten(len)?),)*
                })
            }

            pub(crate) fn as_ref(&self) -> BufferRef<'_> {
                match self {
                    $(AnyBuffer::$name(buffer) => BufferRef::$name(buffer.into()),)*
                }
            }

            pub(crate) fn as_mut(&mut self) -> BufferMut<'_> {
                match self {
                    $(AnyBuffer::$name(buffer) => BufferMut::$name(buffer.into()),)*
                }
            }
        }

        impl Slice<'_> {
            pub(crate) fn kind(&self) -> Kind {
                match self {
                    $(Slice::$name(_) => Kind::$name,)*
                }
            }

            pub(crate) fn upload(self, device: &Device) -> Result<AnyBuffer> {
                Ok(match self {
                    $(Slice::$name(numbers) => AnyBuffer::$name(device.upload(numbers)?),)*
                })
            }
        }

        impl SliceMut<'_> {
            pub(crate) fn kind(&self) -> Kind {
                match self {
                    $(SliceMut::$name(_) => Kind::$name,)*
                }
            }
        }

        /// A buffer of samples of any type.
        #[derive(Clone, Copy)]
        pub(crate) enum BufferRef<'a> {
            $($name(BufferSlice<'a, $t>),)*
        }

        /// A buffer of outputs of any type.
        pub(crate) enum BufferMut<'a> {
            $($name(BufferSliceMut<'a, $t>),)*
        }

        impl BufferRef<'_> {
            pub(crate) fn kind(&self) -> Kind {
                match self {
                    $(BufferRef::$name(_) => Kind::$name,)*
                }
            }
        }

        impl BufferMut<'_> {
            pub(crate) fn kind(&self) -> Kind {
                match self {
                    $(BufferMut::$name(_) => Kind::$name,)*
                }
            }
        }

        $(
            impl Erase for $t {
                const KIND: Kind = Kind::$name;

                fn to_f64(self) -> f64 {
                    self.into()
                }

                fn of_sum(sum: f64) -> $t {
                    Output::of_sum(sum)
                }

                fn scalar(self) -> Scalar {
                    Scalar::$name(self)
                }

                fn slice(samples: &[$t]) -> Slice<'_> {
                    Slice::$name(samples)
                }

                fn slice_mut(outputs: &mut [$t]) -> SliceMut<'_> {
                    SliceMut::$name(outputs)
                }

                fn buffer(samples: BufferSlice<'_, $t>) -> BufferRef<'_> {
                    BufferRef::$name(samples)
                }

                fn buffer_mut(outputs: BufferSliceMut<'_, $t>) -> BufferMut<'_> {
                    BufferMut::$name(outputs)
                }

                fn vec(numbers: Vec<$t>) -> AnyVec {
                    AnyVec::$name(numbers)
                }

                fn typed_scalar(sample: Scalar) -> Option<$t> {
                    if let Scalar::$name(sample) = sample { Some(sample) } else { None }
                }

                fn typed(samples: Slice<'_>) -> Option<&[$t]> {
                    if let Slice::$name(samples) = samples { Some(samples) } else { None }
                }

                fn typed_buffer(samples: BufferRef<'_>) -> Option<BufferSlice<'_, $t>> {
                    if let BufferRef::$name(samples) = samples { Some(samples) } else { None }
                }

                fn typed_buffer_mut(outputs: BufferMut<'_>) -> Option<BufferSliceMut<'_, $t>> {
                    if let BufferMut::$name(outputs) = outputs { Some(outputs) } else { None }
                }
            }
        )*
    };
}
samples! {
    u8: U8;
    u16: U16;
    i16: I16;
    i32: I32;
    f32: F32;
    f64: F64;
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
pub(crate) use with_type;

/// Returns whether `f32` represents all numbers of the type.
pub(crate) fn fits_f32(kind: Kind) -> bool {
    !matches!(kind, Kind::I32 | Kind::F64)
}

impl<'b> BufferRef<'b> {
    /// Returns a window for a kernel to read.
    pub(crate) fn window<'l>(self, windows: &mut Windows<'l, 'b>) -> AnyIn<'l> {
        let mut any = AnyIn {
            kind: self.kind() as u32,
            u8: GlobalIn::empty(),
            u16: GlobalIn::empty(),
            i16: GlobalIn::empty(),
            i32: GlobalIn::empty(),
            f32: GlobalIn::empty(),
            f64: GlobalIn::empty(),
        };
        match self {
            BufferRef::U8(samples) => any.u8 = windows.input_slice(samples),
            BufferRef::U16(samples) => any.u16 = windows.input_slice(samples),
            BufferRef::I16(samples) => any.i16 = windows.input_slice(samples),
            BufferRef::I32(samples) => any.i32 = windows.input_slice(samples),
            BufferRef::F32(samples) => any.f32 = windows.input_slice(samples),
            BufferRef::F64(samples) => any.f64 = windows.input_slice(samples),
        }
        any
    }
}

impl<'b> BufferMut<'b> {
    /// Returns a window for a kernel to write.
    pub(crate) fn window<'l>(self, windows: &mut Windows<'l, 'b>) -> AnyOut<'l> {
        let mut any = AnyOut {
            kind: self.kind() as u32,
            u8: GlobalOut::empty(),
            u16: GlobalOut::empty(),
            i16: GlobalOut::empty(),
            i32: GlobalOut::empty(),
            f32: GlobalOut::empty(),
            f64: GlobalOut::empty(),
        };
        match self {
            BufferMut::U8(outputs) => any.u8 = windows.output_slice(outputs),
            BufferMut::U16(outputs) => any.u16 = windows.output_slice(outputs),
            BufferMut::I16(outputs) => any.i16 = windows.output_slice(outputs),
            BufferMut::I32(outputs) => any.i32 = windows.output_slice(outputs),
            BufferMut::F32(outputs) => any.f32 = windows.output_slice(outputs),
            BufferMut::F64(outputs) => any.f64 = windows.output_slice(outputs),
        }
        any
    }
}
