//! Interop with programs that use Rust-CUDA's `cust`.

#[cfg(doc)]
use crate::Error;
use crate::backend::cuda;
use crate::device::Engine;
use crate::device::buffer::Storage;
use crate::device::slice::no_cuda_memory;
use crate::{Buffer, Device, Element, HandOverError, Result};
use cust::context::Context;
use cust::memory::{DeviceBuffer, DeviceCopy};
use cust::stream::Stream;
use std::sync::Arc;

/// Interop with `cust`.
#[cfg_attr(docsrs, doc(cfg(feature = "cust")))]
impl Device {
    /// Returns a device on the context and stream of a program that uses `cust`.
    ///
    /// The work of the handle runs on this stream, in the order in which the handle and the program enqueue it. Calls that
    /// wait, such as [`synchronize`](Self::synchronize), wait for the program's work too and report its failures. Dropping
    /// the last clone also waits, unless a buffer of another handle keeps the queue. Otherwise the handle behaves like one from [`Device::cuda`], which uses the same context.
    /// Programs without a stream of their own can use [`Device::cuda`].
    ///
    /// The handle keeps the stream and the GPU's primary context alive, so the program may drop `context` and its own clone
    /// of the `Arc`. As everywhere in `cust`, a stream that the program keeps must not outlive the context.
    ///
    /// Calls of this crate make the GPU's primary context current for the calling thread, and leave it current. A program with
    /// several contexts must make its own context current again before it calls `cust`.
    ///
    /// `cust::init` finds the driver as [`Device::cuda`] does, and fails with `CudaError::NotInitialized` if there is none.
    ///
    /// ```no_run
    /// use slm::cust::memory::{CopyDestination, DeviceBuffer};
    /// use slm::cust::stream::{Stream, StreamFlags};
    /// use slm::{Buffer, Device, Filter1d};
    /// use std::sync::Arc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let context = slm::cust::quick_init()?;
    /// let stream = Arc::new(Stream::new(StreamFlags::DEFAULT, None)?);
    /// let x = DeviceBuffer::from_slice(&[1.0f32, 2.0, 3.0])?;
    /// let y = DeviceBuffer::<f32>::zeroed(3)?;
    ///
    /// let device = Device::from_cust(&context, stream.clone())?;
    /// let smooth = Filter1d::correlate(&[0.25f32, 0.5, 0.25]).prepare(&device)?;
    /// let (x, mut y) = (Buffer::from_cust(&device, x)?, Buffer::from_cust(&device, y)?);
    /// smooth.apply_into(&x, &mut y)?;
    ///
    /// let (x, y) = (x.into_cust(&context)?, y.into_cust(&context)?);
    /// let mut smoothed = [0.0; 3];
    /// y.copy_to(&mut smoothed)?;
    /// assert_eq!(smoothed, [1.0, 2.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::ForeignContext`] if the stream was created in another context. This includes every context of
    ///   `cust::context::legacy`, because dropping such a context destroys it, even while a handle uses it.
    /// * The errors of [`Device::cuda`].
    pub fn from_cust(context: &Context, stream: Arc<Stream>) -> Result<Self> {
        let (queue, info) = cuda::open_on_stream(context, stream)?;
        Ok(Self::new(Engine::Cuda(queue), info))
    }
}

/// Exchange of memory with `cust`, for all elements except `F16` and `Bf16`, which `cust` does not support.
#[cfg_attr(docsrs, doc(cfg(feature = "cust")))]
impl<T: Element + DeviceCopy> Buffer<T> {
    /// Converts a buffer of `cust` without a copy, and returns it.
    ///
    /// Waits for all work in the GPU's primary context, because uploads and fills of `cust` may still run when its functions
    /// have returned. To use the memory in `cust` again, call [`into_cust`](Self::into_cust). Dropping the buffer waits for
    /// the work of the handle and then frees the memory.
    ///
    /// As with `cust` itself, the program must not use a `DeviceSlice` of the buffer (from `index`) any more, and must keep the
    /// context in which the buffer was created.
    ///
    /// # Errors
    ///
    /// The [`HandOverError`] gives the buffer back. It contains:
    ///
    /// * [`Error::DeviceUnsupported`] if `device` is not a CUDA device.
    /// * [`Error::ForeignContext`] if the memory belongs to another GPU or to a context of `cust::context::legacy`.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn from_cust(
        device: &Device,
        buffer: DeviceBuffer<T>,
    ) -> std::result::Result<Self, HandOverError<DeviceBuffer<T>>> {
        let Engine::Cuda(queue) = device.engine() else {
            return Err(HandOverError::new(no_cuda_memory(device), buffer));
        };
        match cuda::DeviceMemory::from_cust(queue, buffer) {
            Ok(memory) => Ok(Buffer::new(device, Storage::Cuda(memory))),
            Err((error, buffer)) => Err(HandOverError::new(error, buffer)),
        }
    }

    /// Converts the buffer to a buffer of `cust`, after all work that was enqueued before, and returns it.
    ///
    /// Memory that was allocated by `cust` is not copied. Other memory is copied on the device: a [`Device`] allocates from a
    /// pool, and `cust` would return memory to the pool without waiting for the work that uses it. To avoid the copy, allocate
    /// with `cust` (`DeviceBuffer::zeroed`) and convert with [`from_cust`](Self::from_cust).
    ///
    /// The memory is valid as long as the primary context of the GPU exists. As everywhere in `cust`, the program must keep its
    /// `context` until it has dropped the result.
    ///
    /// # Errors
    ///
    /// The [`HandOverError`] gives the buffer back. It contains:
    ///
    /// * [`Error::DeviceUnsupported`] if the buffer is not on a CUDA device.
    /// * [`Error::ForeignContext`] if `context` belongs to another GPU.
    /// * [`Error::OutOfDeviceMemory`] for the copy.
    /// * [Failures of the device](Error#failures-of-the-device), also of earlier work.
    pub fn into_cust(mut self, context: &Context) -> std::result::Result<DeviceBuffer<T>, HandOverError<Self>> {
        let ordered = self.order_mut().before_release();
        let given = ordered.and_then(|()| match self.storage_mut() {
            Storage::Cuda(memory) => memory.give_to_cust(context),
            Storage::Cpu(_) | Storage::Emulated(_) => Err(no_cuda_memory(self.device())),
        });
        given.map_err(|error| HandOverError::new(error, self))
    }
}
