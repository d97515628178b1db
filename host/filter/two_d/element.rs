//! The types of samples, as values whose type is known at run time only.

pub(crate) use crate::element::any::{BufferMut, BufferRef, Scalar, Slice, SliceMut, fits_f32, with_type};
use slm_kernels::signal::Kind;

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
