//! Memory on a device.

#[cfg(cuda)]
use crate::backend::cuda;
use crate::{Device, Element, Error, Result};
use ndarray::{Array2, ArrayView2};
use std::fmt;

/// A sequence of elements in a device's memory.
///
/// It belongs to the [`Device`] handle that made it. Dropping it is safe at any time: its memory is not used again
/// before the work that was enqueued earlier is done.
pub struct Buffer<T: Element> {
    device: Device,
    storage: Storage<T>,
}

pub(crate) enum Storage<T: Element> {
    Cpu(Vec<T>),
    #[cfg(cuda)]
    Cuda(cuda::Memory<T>),
}

impl<T: Element> Buffer<T> {
    pub(crate) fn new(device: &Device, storage: Storage<T>) -> Self {
        Buffer { device: device.clone(), storage }
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.storage {
            Storage::Cpu(data) => data.len(),
            #[cfg(cuda)]
            Storage::Cuda(memory) => memory.len(),
        }
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The device handle that it belongs to.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The elements, after all work that was enqueued before.
    ///
    /// # Errors
    ///
    /// What failed while that work ran.
    pub fn download(&self) -> Result<Vec<T>> {
        let mut data = vec![T::default(); self.len()];
        self.download_into(&mut data)?;
        Ok(data)
    }

    /// Copies the elements to `data`, after all work that was enqueued before.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] if `data` is not as long as the buffer, and what failed while that work ran.
    pub fn download_into(&self, data: &mut [T]) -> Result<()> {
        check_length("the slice to download into", self.len(), data.len())?;
        match &self.storage {
            Storage::Cpu(source) => data.copy_from_slice(source),
            #[cfg(cuda)]
            Storage::Cuda(memory) => memory.download(data)?,
        }
        Ok(())
    }

    /// Copies `data` to the buffer, after all work that was enqueued before; `data` may be changed afterwards.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] if `data` is not as long as the buffer, and failures of the device.
    pub fn upload(&mut self, data: &[T]) -> Result<()> {
        check_length("the slice to upload", self.len(), data.len())?;
        match &mut self.storage {
            Storage::Cpu(target) => target.copy_from_slice(data),
            #[cfg(cuda)]
            Storage::Cuda(memory) => memory.overwrite(data)?,
        }
        Ok(())
    }

    /// Enqueues a copy of `source`, which never leaves the device.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] and [`Error::DeviceMismatch`] if the buffers do not match, and failures of the device.
    pub fn copy_from(&mut self, source: &Buffer<T>) -> Result<()> {
        self.device.check_owner("the source", &source.device)?;
        check_length("the source", self.len(), source.len())?;
        match (&mut self.storage, &source.storage) {
            (Storage::Cpu(target), Storage::Cpu(source)) => target.copy_from_slice(source),
            #[cfg(cuda)]
            (Storage::Cuda(target), Storage::Cuda(source)) => target.copy_from(source)?,
            #[cfg(cuda)]
            _ => unreachable!("buffers of one device are stored alike"),
        }
        Ok(())
    }

    pub(crate) fn storage(&self) -> &Storage<T> {
        &self.storage
    }

    pub(crate) fn storage_mut(&mut self) -> &mut Storage<T> {
        &mut self.storage
    }
}

impl<T: Element> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("len", &self.len()).field("device", &self.device).finish()
    }
}

/// A matrix in a device's memory, row after row: element `(r, c)` is at `r * pitch + c` of a [`Buffer`].
#[derive(Debug)]
pub struct Buffer2<T: Element> {
    buffer: Buffer<T>,
    rows: usize,
    columns: usize,
    pitch: usize,
}

impl<T: Element> Buffer2<T> {
    /// The matrix whose rows begin `pitch` elements apart in `buffer`, the first at its start. What lies between the
    /// rows and behind the last one is never touched.
    ///
    /// # Errors
    ///
    /// [`Error::Pitch`] if the pitch is shorter than a row and [`Error::Length`] if the buffer is shorter than the
    /// matrix.
    pub fn from_buffer(buffer: Buffer<T>, rows: usize, columns: usize, pitch: usize) -> Result<Self> {
        if pitch < columns {
            return Err(Error::Pitch { columns, pitch });
        }
        let expected = extent(rows, columns, pitch)?;
        if buffer.len() < expected {
            return Err(Error::Length { what: "the buffer of a matrix", expected, actual: buffer.len() });
        }
        Ok(Buffer2 { buffer, rows, columns, pitch })
    }

    /// A matrix of zeros, its rows one after another.
    ///
    /// # Errors
    ///
    /// As [`Device::zeroed`].
    pub fn zeroed(device: &Device, rows: usize, columns: usize) -> Result<Self> {
        let buffer = device.zeroed(extent(rows, columns, columns)?)?;
        Ok(Buffer2 { buffer, rows, columns, pitch: columns })
    }

    /// A matrix with a copy of `data`, its rows one after another.
    ///
    /// # Errors
    ///
    /// As [`Device::upload`].
    pub fn upload(device: &Device, data: ArrayView2<'_, T>) -> Result<Self> {
        let (rows, columns) = data.dim();
        let data = data.as_standard_layout();
        let buffer = device.upload(data.as_slice().expect("the layout is the standard one"))?;
        Ok(Buffer2 { buffer, rows, columns, pitch: columns })
    }

    /// The elements, after all work that was enqueued before.
    ///
    /// # Errors
    ///
    /// As [`Buffer::download`].
    pub fn download(&self) -> Result<Array2<T>> {
        let elements = self.buffer.download()?;
        Ok(Array2::from_shape_fn((self.rows, self.columns), |(r, c)| elements[r * self.pitch + c]))
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The elements from one row to the next.
    #[must_use]
    pub fn pitch(&self) -> usize {
        self.pitch
    }

    /// The memory that the matrix is in.
    #[must_use]
    pub fn buffer(&self) -> &Buffer<T> {
        &self.buffer
    }

    /// Gives the memory back.
    #[must_use]
    pub fn into_buffer(self) -> Buffer<T> {
        self.buffer
    }

    pub(crate) fn buffer_mut(&mut self) -> &mut Buffer<T> {
        &mut self.buffer
    }
}

/// The elements from the first of a matrix to its last.
pub(crate) fn extent(rows: usize, columns: usize, pitch: usize) -> Result<usize> {
    if rows == 0 || columns == 0 {
        return Ok(0);
    }
    let extent = (rows - 1).checked_mul(pitch).and_then(|e| e.checked_add(columns));
    let factors = [rows as u64, pitch as u64];
    extent.ok_or(Error::TooLarge { what: "a matrix", factors, limit: usize::MAX as u64 })
}

fn check_length(what: &'static str, expected: usize, actual: usize) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::Length { what, expected, actual }) }
}
