//! Memory, contexts and streams of programs that use `cust`.
//!
//! `cust` allocates with `cuMemAlloc` and frees with `cuMemFree`, without a stream. Its safe functions enqueue fills and copies
//! that may still run when they return, and a `DeviceBuffer` can be dropped then. `cuMemFree` also frees memory of a pool
//! (`cuMemAllocFromPoolAsync`), but without synchronisation (CUDA driver API, `cuMemFree`): the pool would reuse the memory while a
//! fill still runs. Therefore memory of `cust` is handed over without a copy, after a wait in both directions, and memory of
//! the pool is copied.

use super::context::Context;
use super::driver::{self, check};
use super::handle::Stream;
use super::memory::{DeviceMemory, Origin, is_reachable};
use super::properties;
use super::queue::Queue;
use crate::device::info::DeviceInfo;
use crate::{Element, Error, Result};
use cuda_driver::api::{self, CUcontext};
use cust::memory::{DeviceBuffer, DeviceCopy, DevicePointer};
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop};
use std::sync::Arc;

/// Returns a queue on a program's stream, and the properties of the device.
///
/// As in `cust`, the program must keep the context in which the stream was created.
pub(crate) fn open_on_stream(
    context: &cust::context::Context,
    stream: Arc<cust::stream::Stream>,
) -> Result<(Arc<Queue>, DeviceInfo)> {
    driver::initialise()?;
    let stream = Stream::shared(stream);
    let context_of_stream = stream.context()?;
    let context = Context::of(ordinal(context.as_raw().cast())?)?;
    if context.raw() != context_of_stream {
        return Err(foreign(&context, "the stream"));
    }
    context.enter()?;
    let (queue, info) = Queue::new(context, stream);
    Ok((Arc::new(queue), info))
}

/// Returns the number of a context's device, and leaves the context current.
fn ordinal(context: CUcontext) -> Result<usize> {
    // SAFETY: the caller has borrowed the context's owner.
    check("cuCtxSetCurrent", unsafe { api::cuCtxSetCurrent(context) })?;
    let mut device = 0;
    // SAFETY: writes one integer, which outlives the call.
    check("cuCtxGetDevice", unsafe { api::cuCtxGetDevice(&mut device) })?;
    for ordinal in 0..properties::count()? {
        if properties::device(ordinal)? == device {
            return Ok(ordinal);
        }
    }
    Err(Error::NoDevice { tried: "the driver does not list the device of the context".to_owned() })
}

fn foreign(context: &Context, operand: &'static str) -> Error {
    Error::ForeignContext { operand, device: context.info().name.clone() }
}

impl<T: Element + DeviceCopy> DeviceMemory<T> {
    /// Converts `buffer` to memory, or gives it back with the reason.
    pub(crate) fn from_cust(
        queue: &Arc<Queue>,
        buffer: DeviceBuffer<T>,
    ) -> std::result::Result<Self, (Error, DeviceBuffer<T>)> {
        if let Err(error) = accept(queue, &buffer) {
            return Err((error, buffer));
        }
        let buffer = ManuallyDrop::new(buffer);
        let (len, address) = (buffer.len(), buffer.as_device_ptr().as_raw());
        // `cust` does not free empty buffers.
        let address = if len > 0 { address } else { 0 };
        Ok(DeviceMemory { queue: queue.clone(), address, len, origin: Origin::Plain, marker: PhantomData })
    }

    /// Converts the memory to a buffer of a program that holds `context`. Memory that came from `cust` is handed over and this
    /// memory becomes empty; other memory is copied. Waits for the queue's work.
    pub(crate) fn give_to_cust(&mut self, context: &cust::context::Context) -> Result<DeviceBuffer<T>> {
        if context.as_raw().cast() != self.queue.context().raw() {
            return Err(foreign(self.queue.context(), "the context"));
        }
        self.queue.enter()?;
        match self.origin {
            Origin::Pool if self.len > 0 => self.copy_for_cust(),
            #[cfg(feature = "dlpack")]
            Origin::Tensor { .. } if self.len > 0 => self.copy_for_cust(),
            _ => {
                self.queue.wait()?;
                let (address, len) = (mem::take(&mut self.address), mem::take(&mut self.len));
                // SAFETY: the address and length of a buffer that `from_cust` has forgotten, or null without elements, as
                // `cust` has it. The work that used it is done, and `self` has given it up.
                Ok(unsafe { DeviceBuffer::from_raw_parts(DevicePointer::from_raw(address), len) })
            }
        }
    }

    /// Returns a copy in memory that `cust` can free. The memory must not be empty.
    fn copy_for_cust(&self) -> Result<DeviceBuffer<T>> {
        let mut address = 0;
        // SAFETY: writes one address, which outlives the call.
        let code = unsafe { api::cuMemAlloc_v2(&mut address, self.bytes()) };
        self.queue.check("cuMemAlloc", code).map_err(|error| self.or_out_of_memory(error))?;
        // SAFETY: allocated as `cust` does, for `self.len` elements, and owned by nobody else.
        let copy = unsafe { DeviceBuffer::from_raw_parts(DevicePointer::from_raw(address), self.len) };
        // SAFETY: both have `self.bytes()` bytes, and live until the wait below.
        let code = unsafe { api::cuMemcpyDtoDAsync_v2(address, self.address, self.bytes(), self.queue.stream()) };
        let started = self.queue.check("cuMemcpyDtoDAsync", code);
        let done = self.queue.wait();
        started.and(done).map(|()| copy)
    }
}

/// Waits for all work in the context of the queue. Returns an error if the queue's kernels cannot use the memory of `buffer`.
fn accept<T: Element + DeviceCopy>(queue: &Queue, buffer: &DeviceBuffer<T>) -> Result<()> {
    queue.enter()?;
    if !buffer.is_empty() && !is_reachable(queue, buffer.as_device_ptr().as_raw())? {
        return Err(foreign(queue.context(), "the buffer"));
    }
    // Uploads and fills of `cust` are enqueued on the default stream, which the queue's stream may not wait for.
    // SAFETY: takes nothing.
    queue.check("cuCtxSynchronize", unsafe { api::cuCtxSynchronize() })
}

#[cfg(test)]
mod tests {
    use super::super::open;
    use super::*;
    use crate::backend::DeviceMemory as _;
    use crate::device::rows::Rows;
    use cust::memory::CopyDestination;
    use cust::stream::StreamFlags;

    /// Such memory has no context.
    #[test]
    #[ignore = "needs a GPU"]
    fn memory_of_a_pool_is_exchanged() {
        let (queue, _) = open(0).unwrap();
        let context = cust::context::Context::new(cust::device::Device::get_device(0).unwrap()).unwrap();
        let stream = cust::stream::Stream::new(StreamFlags::DEFAULT, None).unwrap();
        // SAFETY: nothing uses the buffer, nor the slice after this statement, before the wait of `from_cust`.
        let buffer = unsafe { DeviceBuffer::from_slice_async(&[1u32, 2, 3], &stream) }.unwrap();
        let address = buffer.as_device_ptr();
        let mut memory = DeviceMemory::from_cust(&queue, buffer).map_err(|(error, _)| error).unwrap();
        let mut data = [0; 3];
        memory.download_rows(&mut data, Rows::whole(3)).unwrap();
        assert_eq!(data, [1, 2, 3]);
        memory.overwrite_rows(&[4, 5, 6], Rows::whole(3)).unwrap();
        let buffer = memory.give_to_cust(&context).unwrap();
        assert_eq!(buffer.as_device_ptr(), address);
        buffer.copy_to(&mut data).unwrap();
        assert_eq!(data, [4, 5, 6]);
    }
}
