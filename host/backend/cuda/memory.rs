//! Device memory.

use super::driver::is_out_of_memory;
use super::handle::HostMemory;
use super::pinned::is_pinned;
use super::queue::Queue;
use super::rows::{self, Addresses};
use super::staging::Staging;
use crate::device::rows::{Place, Rows};
use crate::{Element, Error, Result, backend};
#[cfg(any(cust, feature = "dlpack"))]
use cuda_driver::api::CUcontext;
use cuda_driver::api::{self, CUdeviceptr};
use cuda_std::{GlobalIn, GlobalInOut, GlobalOut};
#[cfg(any(cust, feature = "dlpack"))]
use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

/// Memory for `len` elements. It is freed after the work of its queue that uses it, and of those that its queue waits for.
pub(crate) struct DeviceMemory<T> {
    pub(super) queue: Arc<Queue>,
    /// Zero if there are no elements.
    pub(super) address: CUdeviceptr,
    pub(super) len: usize,
    pub(super) origin: Origin,
    pub(super) marker: PhantomData<T>,
}

/// The origin of memory, which determines how it is freed.
pub(super) enum Origin {
    /// The context's pool, in the order of the queue's stream.
    Pool,
    /// `cuMemAlloc`, by this crate for other processes or as a `DeviceBuffer` of `cust`.
    Plain,
    /// A tensor of another library, which is deleted when this is dropped.
    #[cfg(feature = "dlpack")]
    Tensor { _owner: dlpark::AllocationDeleter },
}

impl<T: Element> DeviceMemory<T> {
    /// Converts the driver's out-of-memory error to [`Error::OutOfDeviceMemory`]. Returns other errors unchanged.
    pub(super) fn or_out_of_memory(&self, error: Error) -> Error {
        if !is_out_of_memory(&error) {
            return error;
        }
        let (mut free, mut total) = (0, 0);
        // SAFETY: writes two integers, which outlive the call.
        let code = unsafe { api::cuMemGetInfo_v2(&mut free, &mut total) };
        // Without what the pool keeps, if it does not say that.
        let kept = self.queue.context().pool().unused().unwrap_or(0);
        let available = (code == 0).then_some(free as u64 + kept);
        Error::OutOfDeviceMemory { requested: self.bytes() as u64, available }
    }

    pub(super) fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }
}

impl<T: Element> backend::DeviceMemory<T> for DeviceMemory<T> {
    type Queue = Queue;

    fn upload(queue: &Arc<Queue>, data: &[T]) -> Result<Self> {
        let mut memory = Self::unwritten(queue, data.len())?;
        memory.overwrite_rows(data, Rows::whole(data.len()))?;
        Ok(memory)
    }

    fn zeroed(queue: &Arc<Queue>, len: usize) -> Result<Self> {
        let mut memory = Self::unwritten(queue, len)?;
        memory.clear()?;
        Ok(memory)
    }

    fn unwritten(queue: &Arc<Queue>, len: usize) -> Result<Self> {
        queue.enter()?;
        let mut memory =
            DeviceMemory { queue: queue.clone(), address: 0, len, origin: Origin::Pool, marker: PhantomData };
        if len > 0 {
            let (pool, stream) = (queue.context().pool().raw(), queue.stream());
            // SAFETY: the pool and the stream live as long as the queue; writes one address, which outlives the call.
            let code = unsafe { api::cuMemAllocFromPoolAsync(&mut memory.address, memory.bytes(), pool, stream) };
            let result = queue.check("cuMemAllocFromPoolAsync", code);
            result.map_err(|error| memory.or_out_of_memory(error))?;
        }
        Ok(memory)
    }

    /// The memory does not come from a pool, whose memory `cuIpcGetMemHandle` refuses.
    fn shareable(queue: &Arc<Queue>, len: usize) -> Result<Self> {
        queue.enter()?;
        let mut memory =
            DeviceMemory { queue: queue.clone(), address: 0, len, origin: Origin::Plain, marker: PhantomData };
        if len > 0 {
            // SAFETY: writes one address, which outlives the call.
            let code = unsafe { api::cuMemAlloc_v2(&mut memory.address, memory.bytes()) };
            queue.check("cuMemAlloc", code).map_err(|error| memory.or_out_of_memory(error))?;
        }
        Ok(memory)
    }

    /// Returns `Ok`, because a GPU does not record writes.
    fn check_written(&self) -> Result<()> {
        Ok(())
    }

    fn overwrite_rows(&mut self, data: &[T], rows: Rows) -> Result<()> {
        assert!(rows.fit(data.len(), self.len), "{rows:?}");
        self.queue.enter()?;
        let addresses = Addresses::Upload(data.as_ptr().cast(), self.address);
        // SAFETY: the rows fit, by the assertion; `data` is read only, and borrowed until the wait below: pinned memory is read
        // after the call has returned.
        let started = unsafe { rows::enqueue(&self.queue, rows, size_of::<T>(), addresses) };
        let done = self.queue.wait();
        started.and(done)
    }

    fn download_rows(&self, data: &mut [T], rows: Rows) -> Result<()> {
        assert!(rows.fit(self.len, data.len()), "{rows:?}");
        self.queue.enter()?;
        let rows = rows.joined();
        // The driver copies to pinned memory directly, and large results faster than through it.
        if rows.count == 1
            && let Some([from, to]) = rows.each().next()
            && let result = &mut data[to]
            && Staging::has_room(size_of_val(result))
            && !is_pinned(result)
            && let staging = self.queue.context().staging()
            && let Some(done) = staging.with(|pinned| self.download_through(pinned, from.start, result))
        {
            return done;
        }
        let addresses = Addresses::Download(self.address, data.as_mut_ptr().cast());
        // SAFETY: the rows fit, by the assertion; `data` is borrowed until the wait below, and every bit pattern is a valid
        // element.
        let started = unsafe { rows::enqueue(&self.queue, rows, size_of::<T>(), addresses) };
        let done = self.queue.wait();
        started.and(done)
    }

    fn copy_rows(&mut self, queue: &Queue, source: &DeviceMemory<T>, rows: Rows) -> Result<()> {
        assert!(rows.fit(source.len, self.len), "{rows:?}");
        queue.enter()?;
        let addresses = Addresses::Device(source.address, self.address);
        // SAFETY: the rows fit, by the assertion. Both are freed after the copy: in the order of this stream, or of one that waits for
        // it (`AccessOrder`).
        unsafe { rows::enqueue(queue, rows, size_of::<T>(), addresses) }
    }

    fn clear(&mut self) -> Result<()> {
        if self.len == 0 {
            return Ok(());
        }
        self.queue.enter()?;
        // SAFETY: the memory has this number of bytes, and zeros are a valid value of every element type.
        let code = unsafe { api::cuMemsetD8Async(self.address, 0, self.bytes(), self.queue.stream()) };
        self.queue.check("cuMemsetD8Async", code)
    }

    fn len(&self) -> usize {
        self.len
    }

    fn cuda_address(&self) -> Option<u64> {
        Some(self.address)
    }

    /// `kernel.rs` establishes that launching a kernel with this window is safe.
    fn input(&self) -> GlobalIn<'_, T> {
        // SAFETY: allocations are aligned. The launch of a kernel ensures the rest (`Kernel::launch`).
        unsafe { GlobalIn::from_raw_parts(self.address, self.len as u64) }
    }

    fn output(&mut self) -> GlobalOut<'_, T> {
        // SAFETY: as for `input`.
        unsafe { GlobalOut::from_raw_parts(self.address, self.len as u64) }
    }

    fn in_out(&mut self) -> GlobalInOut<'_, T> {
        // SAFETY: as for `input`.
        unsafe { GlobalInOut::from_raw_parts(self.address, self.len as u64) }
    }
}

impl<T: Element> DeviceMemory<T> {
    /// Copies the elements from `first` on to `result`, through pinned memory that has room for them.
    fn download_through(&self, pinned: &HostMemory, first: usize, result: &mut [T]) -> Result<()> {
        let len = result.len();
        let rows = Rows { source: Place { first, pitch: len }, ..Rows::whole(len) };
        assert!(rows.fit(self.len, len), "{rows:?}");
        let addresses = Addresses::Download(self.address, pinned.address());
        // SAFETY: the rows fit, by the assertion, and in the pinned memory, which nobody else uses until the wait is over, nor after an
        // error.
        let started = unsafe { rows::enqueue(&self.queue, rows, size_of::<T>(), addresses) };
        let done = self.queue.wait();
        started.and(done)?;
        // SAFETY: the elements are in the pinned memory, which is aligned to a page. Every bit pattern is a valid element.
        unsafe { ptr::copy_nonoverlapping(pinned.address().cast(), result.as_mut_ptr(), len) };
        Ok(())
    }
}

impl<T> Drop for DeviceMemory<T> {
    fn drop(&mut self) {
        if self.address == 0 || self.queue.enter().is_err() {
            return;
        }
        // Errors are ignored: they belong to earlier work, whose wait reports them.
        match &self.origin {
            // SAFETY: allocated on this stream and freed once. Work that uses it was enqueued before, here or on streams that this one
            // waits for (`AccessOrder`).
            Origin::Pool => _ = unsafe { api::cuMemFreeAsync(self.address, self.queue.stream()) },
            Origin::Plain => {
                let _ = self.queue.wait();
                // SAFETY: allocated with `cuMemAlloc` and freed once; the work that used it is done.
                unsafe { api::cuMemFree_v2(self.address) };
            }
            #[cfg(feature = "dlpack")]
            Origin::Tensor { .. } => _ = self.queue.wait(),
        }
    }
}

/// Returns whether memory belongs to the queue's context, or to a pool on its device.
#[cfg(any(cust, feature = "dlpack"))]
pub(super) fn is_reachable(queue: &Queue, address: CUdeviceptr) -> Result<bool> {
    const CALL: &str = "cuPointerGetAttribute";
    // Values of `CUpointer_attribute`.
    const CONTEXT: c_int = 1;
    const DEVICE_ORDINAL: c_int = 9;
    /// `CUDA_ERROR_INVALID_VALUE`.
    const INVALID_VALUE: c_int = 1;
    let (mut ordinal, mut context): (c_int, CUcontext) = (-1, ptr::null_mut());
    // SAFETY: writes one integer, which outlives the call; the driver refuses an address that it does not know.
    let code = unsafe { api::cuPointerGetAttribute((&raw mut ordinal).cast(), DEVICE_ORDINAL, address) };
    queue.check(CALL, code)?;
    // SAFETY: as above, with one handle.
    let code = unsafe { api::cuPointerGetAttribute((&raw mut context).cast(), CONTEXT, address) };
    // The driver returns this error for memory of a pool, which has no context.
    if code != INVALID_VALUE {
        queue.check(CALL, code)?;
    }
    Ok(match context.is_null() {
        true => usize::try_from(ordinal) == Ok(queue.context().ordinal()),
        false => context == queue.context().raw(),
    })
}
