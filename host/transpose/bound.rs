//! A transposition on a device of some kind.

use super::{Algorithm, Matrices, Plan, PreparedTranspose, PreparedTransposeInPlace, Transpose};
use crate::backend::cpu;
use crate::backend::gpu;
use crate::device::Engine;
use crate::{Buffer, Device, Element, Result};

/// What backends do to transpose.
pub(crate) trait Bound<T: Element>: Send + Sync {
    /// Transposes `input` into `output`, both of which are on this device; their rows are so many numbers apart.
    fn run(&self, input: &Buffer<T>, output: &mut Buffer<T>, pitches: [usize; 2]) -> Result<()>;

    /// Transposes data of the host.
    fn run_on_host(&self, input: &[T]) -> Result<Vec<T>>;

    /// How matrices whose rows are so many numbers apart would be transposed.
    fn plan(&self, device: &Device, pitches: [usize; 2]) -> Plan;
}

/// What backends do to transpose in place.
pub(crate) trait BoundInPlace<T: Element>: Send + Sync {
    /// Transposes the matrices in `data`, which is on this device.
    fn run(&self, data: &mut Buffer<T>) -> Result<()>;
}

/// A type whose matrices can be transposed: every [`Element`]. The trait is sealed.
pub trait TransposeElement: Prepare {}

/// What [`TransposeElement`] needs of its types. Not in generic code, so that the backends are compiled once, with this
/// crate, and not with every crate that transposes.
pub trait Prepare: Element {
    /// [`Transpose::prepare`].
    fn prepare(transpose: &Transpose, device: &Device) -> Result<PreparedTranspose<Self>>;

    /// [`Transpose::prepare_in_place`].
    fn prepare_in_place(transpose: &Transpose, device: &Device) -> Result<PreparedTransposeInPlace<Self>>;
}

macro_rules! transpose_elements {
    ($($t:ty)*) => {$(
        impl Prepare for $t {
            fn prepare(transpose: &Transpose, device: &Device) -> Result<PreparedTranspose<$t>> {
                PreparedTranspose::new(device, transpose.matrices, transpose.algorithm)
            }
            fn prepare_in_place(transpose: &Transpose, device: &Device) -> Result<PreparedTransposeInPlace<$t>> {
                PreparedTransposeInPlace::new(device, transpose.matrices)
            }
        }
        impl TransposeElement for $t {}
    )*};
}
transpose_elements!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

/// Binds a transposition to a device.
pub(super) fn bind<T: Element>(
    device: &Device,
    matrices: &Matrices,
    algorithm: Algorithm,
) -> Result<Box<dyn Bound<T>>> {
    Ok(match device.engine() {
        Engine::Cpu => Box::new(cpu::Transpose::new(matrices, algorithm)),
        Engine::Cuda(_) | Engine::Emulated(_) => Box::new(gpu::Transpose::new::<T>(device, matrices, algorithm)?),
    })
}

/// The same in place.
pub(super) fn bind_in_place<T: Element>(device: &Device, matrices: &Matrices) -> Result<Box<dyn BoundInPlace<T>>> {
    Ok(match device.engine() {
        Engine::Cpu => Box::new(cpu::TransposeInPlace::new(matrices)),
        Engine::Cuda(_) | Engine::Emulated(_) => Box::new(gpu::TransposeInPlace::<T>::new(device, matrices)?),
    })
}
