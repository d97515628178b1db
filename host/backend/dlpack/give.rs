//! Buffers as tensors.

use super::{ConsumerStream, Exchange, Exchanging};
use crate::device::Engine;
use crate::device::buffer::Storage;
use crate::dlpack::DlpackError;
use crate::{Buffer, Element, Error, HandOverError, Result};
use dlpark::allocation::fixed::Copied;
use dlpark::ffi::DLDevice;
use dlpark::metadata::{Fixed, PreparedFixed};
use dlpark::{Managed, ManagedTensorBase};
use std::ffi::c_void;
use std::ptr;

/// A description of `N` axes, in the memory of a tensor.
type Described<M, const N: usize> = PreparedFixed<M, N, Copied, Copied>;

/// Returns `buffer` as a tensor with this shape and these strides, which must not leave the buffer. Its elements are ready on the
/// stream of the consumer, and the buffer is dropped when the consumer gives the tensor back.
pub(crate) fn give<T: Element, M: ManagedTensorBase, const N: usize>(
    mut buffer: Buffer<T>,
    consumer: ConsumerStream,
    shape: [usize; N],
    strides: [usize; N],
) -> std::result::Result<Managed<M>, HandOverError<Buffer<T>>> {
    assert!(fits(shape, strides, buffer.len()), "{shape:?} {strides:?}");
    let parts = describe(shape, strides).and_then(|described| Ok((described, ready(&mut buffer, &consumer)?)));
    let (described, (address, device)): (Described<M, N>, _) = match parts {
        Ok(parts) => parts,
        Err(error) => return Err(HandOverError::new(error, buffer)),
    };
    let mut tensor = described.initialize(Box::new(Given(Some((buffer, consumer)))));
    tensor.set_data(address).set_device(device).set_dtype(T::DATA_TYPE);
    // SAFETY: the address is that of the buffer's elements, among which all of the description are, by the assertion. The tensor
    // owns the buffer, which nobody else can access, and its own shape and strides. It has no flags: elements may be written.
    Ok(unsafe { tensor.finish() })
}

/// Returns whether `len` elements are enough.
fn fits<const N: usize>(shape: [usize; N], strides: [usize; N], len: usize) -> bool {
    let end = shape
        .iter()
        .zip(strides)
        .try_fold(1usize, |end, (count, stride)| end.checked_add(count.checked_sub(1)?.checked_mul(stride)?));
    shape.contains(&0) || end.is_some_and(|end| end <= len)
}

fn describe<M: ManagedTensorBase, const N: usize>(shape: [usize; N], strides: [usize; N]) -> Result<Described<M, N>> {
    let described = Fixed::new(shape, strides).prepare_as();
    described.map_err(|error| DlpackError::Malformed { reason: error.to_string() }.into())
}

/// Makes the elements ready on the stream of a consumer, and returns where they are.
fn ready<T: Element>(buffer: &mut Buffer<T>, consumer: &ConsumerStream) -> Result<(*mut c_void, DLDevice)> {
    buffer.order_mut().before_release()?;
    let device = buffer.device().clone();
    let (address, place) = match (buffer.storage_mut(), device.engine()) {
        (Storage::Cpu(data), _) => (data.as_mut_ptr().cast(), DLDevice::CPU),
        (Storage::Cuda(memory), Engine::Cuda(queue)) => (memory.give(consumer)?, queue.tensor_device()),
        _ => {
            let device = device.info().name.clone();
            return Err(Error::DeviceUnsupported { device, lacks: "memory that other libraries can use" });
        }
    };
    // Tensors without elements have no address.
    Ok((if buffer.is_empty() { ptr::null_mut() } else { address }, place))
}

/// What a tensor owns. When dropped, the buffer is freed after the work of the consumer.
struct Given<T: Element>(Option<(Buffer<T>, ConsumerStream)>);

impl<T: Element> Drop for Given<T> {
    fn drop(&mut self) {
        let Some((buffer, consumer)) = self.0.take() else { return };
        // Dropped last.
        let _borrowed = match buffer.storage() {
            Storage::Cuda(memory) => Some(memory.take_back(&consumer)),
            Storage::Cpu(_) | Storage::Emulated(_) => None,
        };
        drop((buffer, consumer));
    }
}
