//! Buffers as tensors of DLPack, and tensors as buffers.

use crate::backend::dlpack::{self, Axes, Elements, Exchange, Exchanging};
use crate::backend::{Queue, cuda};
use crate::device::Engine;
use crate::device::buffer::Storage;
use crate::dlpack::ConsumerStream;
use crate::{Buffer, Buffer2, Device, Element, HandOverError};
use dlpark::{Managed, ManagedTensorBase};

type Memory<T> = <cuda::Queue as Queue>::DeviceMemory<T>;

/// Exchange of tensors.
#[cfg_attr(docsrs, doc(cfg(feature = "dlpack")))]
impl Device {
    /// Returns the stream of this handle's queue. The producer of a tensor is given its [number](ConsumerStream::number) before
    /// [`Buffer::from_dlpack`]. On the CPU and on emulated devices it has none.
    ///
    /// The number is valid until the last clone of the handle, the last buffer of it and the result are dropped.
    ///
    /// ```
    /// assert_eq!(slm::Device::cpu().dlpack_stream().number(), None);
    /// ```
    #[must_use]
    pub fn dlpack_stream(&self) -> ConsumerStream {
        match self.engine() {
            Engine::Cuda(queue) => ConsumerStream::of_queue(queue),
            Engine::Cpu | Engine::Emulated(_) => ConsumerStream::LEGACY_DEFAULT,
        }
    }
}

/// Exchange of tensors with other libraries. The page of [`dlpack`](crate::dlpack) has an overview.
#[cfg_attr(docsrs, doc(cfg(feature = "dlpack")))]
impl<T: Element> Buffer<T> {
    /// Returns the buffer as a tensor with one axis, without a copy. `M` is the tensor's form: `DLManagedTensorVersioned` for
    /// `dlpark::versioned::Dlpack`, or `DLManagedTensor` for `dlpark::legacy::Dlpack`.
    ///
    /// On a GPU, the elements are ready on the stream of the `consumer` after all work that was enqueued before and uses the
    /// buffer, in any queue. The call does not wait. The buffer is dropped when the consumer deletes the tensor, and its memory
    /// is freed after the consumer's work; [Order](crate::dlpack#order) has the details.
    ///
    /// ```
    /// use slm::dlpack::ConsumerStream;
    /// use slm::dlpark::versioned::Dlpack;
    /// use slm::{Buffer, Device};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Device::cpu();
    /// let tensor: Dlpack = device.upload(&[1u8, 2, 3])?.into_dlpack(ConsumerStream::LEGACY_DEFAULT)?;
    /// assert_eq!(tensor.validate()?.shape(), &[3]);
    /// assert_eq!(Buffer::<u8>::from_dlpack(&device, tensor)?.download()?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The [`HandOverError`] gives the buffer back. It contains:
    ///
    /// * [`Error::DeviceUnsupported`](crate::Error::DeviceUnsupported) on an emulated device.
    /// * [Failures of the device](crate::Error#failures-of-the-device).
    pub fn into_dlpack<M: ManagedTensorBase>(
        self,
        consumer: ConsumerStream,
    ) -> std::result::Result<Managed<M>, HandOverError<Self>> {
        let shape = [self.len()];
        dlpack::give(self, consumer, shape, [1])
    }

    /// Returns a buffer with the elements of a tensor, whose number of axes does not matter.
    ///
    /// On a CUDA device this is the memory of the tensor, after all work that the GPU's primary context has now: the producer may have made
    /// the elements ready on any of its streams. Later work of the producer is not waited for. Dropping the buffer waits for the work
    /// that uses it, and deletes the tensor. On other devices it is a copy, and the tensor is deleted when this returns.
    ///
    /// ```
    /// use slm::dlpack::{ConsumerStream, DlpackError};
    /// use slm::dlpark::ffi::DLDataType;
    /// use slm::dlpark::versioned::Dlpack;
    /// use slm::{Buffer, Device, Error};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Device::cpu();
    /// let tensor: Dlpack = device.upload(&[1u8, 2, 3])?.into_dlpack(ConsumerStream::LEGACY_DEFAULT)?;
    /// let failure = Buffer::<f32>::from_dlpack(&device, tensor).unwrap_err();
    /// let error = DlpackError::DataType { expected: DLDataType::F32, actual: DLDataType::U8 };
    /// assert_eq!(failure.error(), &Error::Dlpack(error));
    /// let tensor = failure.into_buffer();
    /// assert_eq!(Buffer::<u8>::from_dlpack(&device, tensor)?.len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The [`HandOverError`] gives the tensor back. It contains:
    ///
    /// * [`Error::Dlpack`](crate::Error::Dlpack) if the tensor has elements of another type, is on another device, has gaps
    ///   between its elements, has an invalid description or is misaligned; on a CUDA device also if it is read-only.
    /// * [`Error::TooLarge`](crate::Error::TooLarge) if it cannot be addressed.
    /// * [`Error::OutOfHostMemory`](crate::Error::OutOfHostMemory) or
    ///   [`Error::OutOfDeviceMemory`](crate::Error::OutOfDeviceMemory) for a copy.
    /// * [Failures of the device](crate::Error#failures-of-the-device).
    pub fn from_dlpack<M: ManagedTensorBase>(
        device: &Device,
        tensor: Managed<M>,
    ) -> std::result::Result<Self, HandOverError<Managed<M>>> {
        take(device, tensor, Axes::Any).map(Buffer2::into_buffer)
    }
}

/// Exchange of tensors with other libraries. The page of [`dlpack`](crate::dlpack) has an overview.
#[cfg_attr(docsrs, doc(cfg(feature = "dlpack")))]
impl<T: Element> Buffer2<T> {
    /// Returns the matrix as a tensor with two axes, whose strides are the row pitch and 1. Otherwise as [`Buffer::into_dlpack`].
    ///
    /// # Errors
    ///
    /// The errors of [`Buffer::into_dlpack`], with the matrix.
    pub fn into_dlpack<M: ManagedTensorBase>(
        self,
        consumer: ConsumerStream,
    ) -> std::result::Result<Managed<M>, HandOverError<Self>> {
        let [rows, columns, pitch] = [self.rows(), self.columns(), self.pitch()];
        // Where the pitch is not used, it can be too large for a stride.
        let stride = if rows > 1 && columns > 0 { pitch } else { columns };
        let given = dlpack::give(self.into_buffer(), consumer, [rows, columns], [stride, 1]);
        given.map_err(|failure| failure.map(|buffer| matrix(buffer, [rows, columns, pitch])))
    }

    /// Returns a matrix with the elements of a tensor with two axes. The rows of the tensor may have a pitch, which a copy does
    /// not have. Otherwise as [`Buffer::from_dlpack`].
    ///
    /// # Errors
    ///
    /// The errors of [`Buffer::from_dlpack`], also if the tensor has another number of axes.
    pub fn from_dlpack<M: ManagedTensorBase>(
        device: &Device,
        tensor: Managed<M>,
    ) -> std::result::Result<Self, HandOverError<Managed<M>>> {
        take(device, tensor, Axes::Two)
    }
}

/// Returns a matrix in `buffer`, which has the shape.
fn matrix<T: Element>(buffer: Buffer<T>, [rows, columns, pitch]: [usize; 3]) -> Buffer2<T> {
    Buffer2::from_buffer(buffer, rows, columns, pitch).expect("the shape is checked")
}

/// Returns the elements of a tensor as a matrix.
fn take<T: Element, M: ManagedTensorBase>(
    device: &Device,
    tensor: Managed<M>,
    axes: Axes,
) -> std::result::Result<Buffer2<T>, HandOverError<Managed<M>>> {
    let Engine::Cuda(queue) = device.engine() else {
        let copied = dlpack::host_view(&tensor, axes).and_then(|view| Buffer2::upload(device, view));
        return copied.map_err(|error| HandOverError::new(error, tensor));
    };
    let checked = Elements::on_device(&tensor, axes, queue.tensor_device());
    let checked = checked.and_then(|elements| Memory::check(queue, &elements).map(|()| elements));
    match checked {
        Ok(elements) => {
            let shape = elements.shape();
            let memory = Memory::take(queue, elements, tensor.into_deleter());
            Ok(matrix(Buffer::new(device, Storage::Cuda(memory)), shape))
        }
        Err(error) => Err(HandOverError::new(error, tensor)),
    }
}
