//! Memory on a device.

use crate::backend::{DeviceMemory, Queue, cuda, emulated};
use crate::cpu::allocation;
use crate::device::Engine;
use crate::device::order::AccessOrder;
use crate::device::rows::Rows;
use crate::device::slice::{BufferSlice, BufferSliceMut};
use crate::{Device, Element, Error, Result};
use cuda_std::{GlobalIn, GlobalInOut, GlobalOut};
use std::fmt;

/// A sequence of elements in a device's memory.
///
/// It belongs to the [`Device`] handle that created it, whose queue copies and frees it. Operations on other
/// [queues](Device#queues) of the device can use it. It can be dropped at any time: its memory is not reused before the work that was
/// enqueued earlier is done.
pub struct Buffer<T: Element> {
    device: Device,
    // Dropped before the memory: the queue that frees it waits for the others.
    order: AccessOrder,
    storage: Storage<T>,
}

pub(crate) enum Storage<T: Element> {
    Cpu(Vec<T>),
    Cuda(<cuda::Queue as Queue>::DeviceMemory<T>),
    Emulated(<emulated::Emulation as Queue>::DeviceMemory<T>),
}

/// Windows on all elements. Windows of the CPU are empty: no kernel can reach its memory.
impl<T: Element> Storage<T> {
    pub(crate) fn input(&self) -> GlobalIn<'_, T> {
        match self {
            Storage::Cpu(_) => GlobalIn::empty(),
            Storage::Cuda(memory) => memory.input(),
            Storage::Emulated(memory) => memory.input(),
        }
    }

    pub(crate) fn output(&mut self) -> GlobalOut<'_, T> {
        match self {
            Storage::Cpu(_) => GlobalOut::empty(),
            Storage::Cuda(memory) => memory.output(),
            Storage::Emulated(memory) => memory.output(),
        }
    }

    pub(crate) fn in_out(&mut self) -> GlobalInOut<'_, T> {
        match self {
            Storage::Cpu(_) => GlobalInOut::empty(),
            Storage::Cuda(memory) => memory.in_out(),
            Storage::Emulated(memory) => memory.in_out(),
        }
    }
}

/// Access to the elements on the CPU, for operations that are prepared for it.
impl<T: Element> Storage<T> {
    pub(crate) fn cpu(&self) -> &[T] {
        match self {
            Storage::Cpu(data) => data,
            Storage::Cuda(_) | Storage::Emulated(_) => another_kind(),
        }
    }

    pub(crate) fn cpu_mut(&mut self) -> &mut [T] {
        match self {
            Storage::Cpu(data) => data,
            Storage::Cuda(_) | Storage::Emulated(_) => another_kind(),
        }
    }
}

fn another_kind() -> ! {
    unreachable!("operations and buffers of one device have the same kind")
}

impl<T: Element> Buffer<T> {
    pub(crate) fn new(device: &Device, storage: Storage<T>) -> Self {
        Buffer { device: device.clone(), order: AccessOrder::new(device.engine()), storage }
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.storage {
            Storage::Cpu(data) => data.len(),
            Storage::Cuda(memory) => memory.len(),
            Storage::Emulated(memory) => memory.len(),
        }
    }

    /// Returns whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the device handle that the buffer belongs to.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the elements, after all work that was enqueued before and uses the buffer, in any queue.
    ///
    /// # Errors
    ///
    /// * [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device), also while that work ran.
    pub fn download(&self) -> Result<Vec<T>> {
        match &self.storage {
            Storage::Cpu(data) => allocation::copied(data),
            Storage::Cuda(_) | Storage::Emulated(_) => {
                let mut data = allocation::filled(T::default(), self.len())?;
                self.download_into(&mut data)?;
                Ok(data)
            }
        }
    }

    /// Copies the elements to `data`, after all work that was enqueued before and uses the buffer, in any queue. Returns when the copy
    /// is done.
    ///
    /// # Errors
    ///
    /// * [`Error::Length`] if `data` and the buffer have different lengths.
    /// * [Failures of the device](Error#failures-of-the-device), also while that work ran.
    pub fn download_into(&self, data: &mut [T]) -> Result<()> {
        check_length("the slice to download into", self.len(), data.len())?;
        self.download_rows(data, Rows::whole(self.len()))
    }

    /// Copies `data` to the buffer, after all work that was enqueued before and uses the buffer, in any queue. Returns when the copy is
    /// done.
    ///
    /// # Errors
    ///
    /// * [`Error::Length`] if `data` and the buffer have different lengths.
    /// * [Failures of the device](Error#failures-of-the-device), also while that work ran.
    pub fn upload(&mut self, data: &[T]) -> Result<()> {
        check_length("the slice to upload", self.len(), data.len())?;
        self.upload_rows(data, Rows::whole(data.len()))
    }

    /// Copies the elements of `source` on the device. Returns when the copy is enqueued.
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceMismatch`] if `source` belongs to another device.
    /// * [`Error::Length`] if `source` has another length.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn copy_from<'s>(&mut self, source: impl Into<BufferSlice<'s, T>>) -> Result<()> {
        BufferSliceMut::from(self).copy_from(source)
    }

    /// Copies rows of `data` to the buffer, after all work that was enqueued before. The caller has checked that they fit.
    pub(crate) fn upload_rows(&mut self, data: &[T], rows: Rows) -> Result<()> {
        self.order.before_write(self.device.engine())?;
        match &mut self.storage {
            Storage::Cpu(target) => rows.copy(data, target),
            Storage::Cuda(memory) => memory.overwrite_rows(data, rows)?,
            Storage::Emulated(memory) => memory.overwrite_rows(data, rows)?,
        }
        Ok(())
    }

    /// Copies rows to `data`, after all work that was enqueued before. The caller has checked that they fit.
    pub(crate) fn download_rows(&self, data: &mut [T], rows: Rows) -> Result<()> {
        self.order.before_read(self.device.engine())?;
        match &self.storage {
            Storage::Cpu(source) => rows.copy(source, data),
            Storage::Cuda(memory) => memory.download_rows(data, rows)?,
            Storage::Emulated(memory) => memory.download_rows(data, rows)?,
        }
        Ok(())
    }

    /// Enqueues a copy of rows of `source`, a buffer of the same device or of one that this device has access to. The caller has checked
    /// that they fit.
    pub(crate) fn copy_rows(&mut self, source: &Buffer<T>, rows: Rows) -> Result<()> {
        let queue = self.device.clone();
        self.copy_rows_in(&queue, source, rows)
    }

    /// As [`copy_rows`](Self::copy_rows), in a queue whose device has both buffers, or access to them.
    pub(crate) fn copy_rows_in(&mut self, queue: &Device, source: &Buffer<T>, rows: Rows) -> Result<()> {
        source.order.before_read(queue.engine())?;
        self.order.before_write(queue.engine())?;
        match (&mut self.storage, &source.storage, queue.engine()) {
            (Storage::Cpu(target), Storage::Cpu(source), _) => rows.copy(source, target),
            (Storage::Cuda(target), Storage::Cuda(source), Engine::Cuda(queue)) => {
                target.copy_rows(queue, source, rows)?;
            }
            (Storage::Emulated(target), Storage::Emulated(source), Engine::Emulated(queue)) => {
                target.copy_rows(queue, source, rows)?;
            }
            _ => another_kind(),
        }
        Ok(())
    }

    /// Enqueues work that sets all elements to zero.
    pub(crate) fn clear(&mut self) -> Result<()> {
        self.order.before_write(self.device.engine())?;
        match &mut self.storage {
            Storage::Cpu(data) => data.fill(T::default()),
            Storage::Cuda(memory) => memory.clear()?,
            Storage::Emulated(memory) => memory.clear()?,
        }
        Ok(())
    }

    /// Copies the elements of an output that was [unwritten](Device::unwritten), after all work that was enqueued before.
    ///
    /// # Errors
    ///
    /// The errors of [`download_into`](Self::download_into), and `UnwrittenOutput` on an emulated device if an element is still
    /// unwritten.
    pub(crate) fn download_written_into(&self, data: &mut [T]) -> Result<()> {
        match &self.storage {
            Storage::Cpu(_) => {}
            Storage::Cuda(memory) => memory.check_written()?,
            Storage::Emulated(memory) => memory.check_written()?,
        }
        self.download_into(data)
    }

    /// Returns the address in the memory of a CUDA device, or `None` on other devices.
    pub(crate) fn cuda_address(&self) -> Option<u64> {
        match &self.storage {
            Storage::Cpu(_) => None,
            Storage::Cuda(memory) => memory.cuda_address(),
            Storage::Emulated(memory) => memory.cuda_address(),
        }
    }

    /// Returns the order of accesses. Whoever accesses the storage on a device notes it there first.
    pub(crate) fn order(&self) -> &AccessOrder {
        &self.order
    }

    pub(crate) fn order_mut(&mut self) -> &mut AccessOrder {
        &mut self.order
    }

    pub(crate) fn storage(&self) -> &Storage<T> {
        &self.storage
    }

    pub(crate) fn storage_mut(&mut self) -> &mut Storage<T> {
        &mut self.storage
    }
}

/// Allocation of buffers.
impl Device {
    /// Returns a buffer with a copy of `data`. The copy is made after all work that was enqueued before, and is done when this
    /// returns.
    ///
    /// # Errors
    ///
    /// * [`Error::OutOfDeviceMemory`], or [`Error::OutOfHostMemory`] on the CPU.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn upload<T: Element>(&self, data: &[T]) -> Result<Buffer<T>> {
        let storage = match self.engine() {
            Engine::Cpu => Storage::Cpu(allocation::copied(data)?),
            Engine::Cuda(queue) => Storage::Cuda(DeviceMemory::upload(queue, data)?),
            Engine::Emulated(emulation) => Storage::Emulated(DeviceMemory::upload(emulation, data)?),
        };
        Ok(Buffer::new(self, storage))
    }

    /// Returns a buffer of `len` zeros.
    ///
    /// # Errors
    ///
    /// * [`Error::TooLarge`] for more than `isize::MAX` bytes.
    /// * [`Error::OutOfDeviceMemory`], or [`Error::OutOfHostMemory`] on the CPU and on emulated devices.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn zeroed<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        check_size::<T>(len)?;
        let storage = match self.engine() {
            Engine::Cpu => Storage::Cpu(allocation::filled(T::default(), len)?),
            Engine::Cuda(queue) => Storage::Cuda(DeviceMemory::zeroed(queue, len)?),
            Engine::Emulated(emulation) => Storage::Emulated(DeviceMemory::zeroed(emulation, len)?),
        };
        Ok(Buffer::new(self, storage))
    }

    /// Returns a buffer of `len` elements that kernels must write before anything reads them. On a GPU its contents are
    /// unspecified. An emulated device records which elements have been written; see [`Buffer::download_written_into`].
    ///
    /// # Errors
    ///
    /// The errors of [`zeroed`](Self::zeroed).
    pub(crate) fn unwritten<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        check_size::<T>(len)?;
        let storage = match self.engine() {
            Engine::Cpu => Storage::Cpu(allocation::filled(T::default(), len)?),
            Engine::Cuda(queue) => Storage::Cuda(DeviceMemory::unwritten(queue, len)?),
            Engine::Emulated(emulation) => Storage::Emulated(DeviceMemory::unwritten(emulation, len)?),
        };
        Ok(Buffer::new(self, storage))
    }
}

impl Device {
    /// Returns a buffer as [`unwritten`](Self::unwritten) does. Other processes can open its memory on a CUDA device.
    pub(crate) fn shareable<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        check_size::<T>(len)?;
        match self.engine() {
            Engine::Cuda(queue) => Ok(Buffer::new(self, Storage::Cuda(DeviceMemory::shareable(queue, len)?))),
            Engine::Cpu | Engine::Emulated(_) => self.unwritten(len),
        }
    }
}

/// Returns an error if a buffer cannot have `len` elements.
pub(crate) fn check_size<T>(len: usize) -> Result<()> {
    let bytes = len.checked_mul(size_of::<T>()).filter(|bytes| isize::try_from(*bytes).is_ok());
    let factors = [len as u64, size_of::<T>() as u64];
    bytes.map(drop).ok_or(Error::TooLarge { what: "a buffer", factors, limit: isize::MAX as u64 })
}

impl<T: Element> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("len", &self.len()).field("device", &self.device).finish()
    }
}

/// Returns an error if the shapes differ.
pub(crate) fn check_shape(what: &'static str, expected: [usize; 2], actual: [usize; 2]) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::Shape { what, expected, actual }) }
}

/// Returns an error if the lengths differ.
pub(crate) fn check_length(what: &'static str, expected: usize, actual: usize) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::Length { what, expected, actual }) }
}
