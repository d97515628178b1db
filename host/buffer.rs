//! Memory on a device.

use crate::allocation;
use crate::backend::{Memory, Queue, cuda, emulated};
use crate::device::Engine;
use crate::{Device, Element, Error, Result};
use cuda_std::{GlobalIn, GlobalInOut, GlobalOut};
use ndarray::{Array2, ArrayView2};
use std::fmt;

/// A sequence of elements in a device's memory.
///
/// It belongs to the [`Device`] handle that created it. It can be dropped at any time: its memory is not reused before the work
/// that was enqueued earlier is done.
pub struct Buffer<T: Element> {
    device: Device,
    storage: Storage<T>,
}

pub(crate) enum Storage<T: Element> {
    Cpu(Vec<T>),
    Cuda(<cuda::Queue as Queue>::Memory<T>),
    Emulated(<emulated::Emulation as Queue>::Memory<T>),
}

/// Windows on all elements. Those of the CPU are empty: no kernel can reach its memory.
impl<T: Element> Storage<T> {
    pub(crate) fn input(&self) -> GlobalIn<T> {
        match self {
            Storage::Cpu(_) => GlobalIn::empty(),
            Storage::Cuda(memory) => memory.input(),
            Storage::Emulated(memory) => memory.input(),
        }
    }

    pub(crate) fn output(&mut self) -> GlobalOut<T> {
        match self {
            Storage::Cpu(_) => GlobalOut::empty(),
            Storage::Cuda(memory) => memory.output(),
            Storage::Emulated(memory) => memory.output(),
        }
    }

    pub(crate) fn in_out(&mut self) -> GlobalInOut<T> {
        match self {
            Storage::Cpu(_) => GlobalInOut::empty(),
            Storage::Cuda(memory) => memory.in_out(),
            Storage::Emulated(memory) => memory.in_out(),
        }
    }
}

/// The data of the CPU, for operations that are prepared for it.
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
        Buffer { device: device.clone(), storage }
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

    /// Returns the elements, after all work that was enqueued before.
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

    /// Copies the elements to `data`, after all work that was enqueued before. Returns when the copy is done.
    ///
    /// # Errors
    ///
    /// * [`Error::Length`] if `data` and the buffer have different lengths.
    /// * [Failures of the device](Error#failures-of-the-device), also while that work ran.
    pub fn download_into(&self, data: &mut [T]) -> Result<()> {
        check_length("the slice to download into", self.len(), data.len())?;
        match &self.storage {
            Storage::Cpu(source) => data.copy_from_slice(source),
            Storage::Cuda(memory) => memory.download(data)?,
            Storage::Emulated(memory) => memory.download(data)?,
        }
        Ok(())
    }

    /// Copies `data` to the buffer, after all work that was enqueued before. Returns when the copy is done.
    ///
    /// # Errors
    ///
    /// * [`Error::Length`] if `data` and the buffer have different lengths.
    /// * [Failures of the device](Error#failures-of-the-device), also while that work ran.
    pub fn upload(&mut self, data: &[T]) -> Result<()> {
        check_length("the slice to upload", self.len(), data.len())?;
        match &mut self.storage {
            Storage::Cpu(target) => target.copy_from_slice(data),
            Storage::Cuda(memory) => memory.overwrite(data)?,
            Storage::Emulated(memory) => memory.overwrite(data)?,
        }
        Ok(())
    }

    /// Copies the elements of `source` on the device. Returns when the copy is enqueued.
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceMismatch`] if `source` belongs to another handle.
    /// * [`Error::Length`] if the buffers have different lengths.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn copy_from(&mut self, source: &Buffer<T>) -> Result<()> {
        self.device.check_owner("the source", &source.device)?;
        check_length("the source", self.len(), source.len())?;
        match (&mut self.storage, &source.storage) {
            (Storage::Cpu(target), Storage::Cpu(source)) => target.copy_from_slice(source),
            (Storage::Cuda(target), Storage::Cuda(source)) => target.copy_from(source)?,
            (Storage::Emulated(target), Storage::Emulated(source)) => target.copy_from(source)?,
            _ => another_kind(),
        }
        Ok(())
    }

    /// Returns the elements of a buffer that was [unwritten](Device::unwritten), after all work that was enqueued before.
    ///
    /// # Errors
    ///
    /// The errors of [`download`](Self::download), and `UnwrittenOutput` on an emulated device if an element is still unwritten.
    pub(crate) fn download_written(&self) -> Result<Vec<T>> {
        match &self.storage {
            Storage::Cpu(_) => {}
            Storage::Cuda(memory) => memory.check_written()?,
            Storage::Emulated(memory) => memory.check_written()?,
        }
        self.download()
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
            Engine::Cuda(queue) => Storage::Cuda(Memory::upload(queue, data)?),
            Engine::Emulated(emulation) => Storage::Emulated(Memory::upload(emulation, data)?),
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
            Engine::Cuda(queue) => Storage::Cuda(Memory::zeroed(queue, len)?),
            Engine::Emulated(emulation) => Storage::Emulated(Memory::zeroed(emulation, len)?),
        };
        Ok(Buffer::new(self, storage))
    }

    /// Returns a buffer of `len` elements that kernels must write before anything reads them. On a GPU its contents are
    /// unspecified. An emulated device records which elements have been written; see [`Buffer::download_written`].
    ///
    /// # Errors
    ///
    /// The errors of [`zeroed`](Self::zeroed).
    pub(crate) fn unwritten<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        check_size::<T>(len)?;
        let storage = match self.engine() {
            Engine::Cpu => Storage::Cpu(allocation::filled(T::default(), len)?),
            Engine::Cuda(queue) => Storage::Cuda(Memory::unwritten(queue, len)?),
            Engine::Emulated(emulation) => Storage::Emulated(Memory::unwritten(emulation, len)?),
        };
        Ok(Buffer::new(self, storage))
    }
}

/// Returns an error if a buffer cannot have `len` elements.
fn check_size<T>(len: usize) -> Result<()> {
    let bytes = len.checked_mul(size_of::<T>()).filter(|bytes| isize::try_from(*bytes).is_ok());
    let factors = [len as u64, size_of::<T>() as u64];
    bytes.map(drop).ok_or(Error::TooLarge { what: "a buffer", factors, limit: isize::MAX as u64 })
}

impl<T: Element> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("len", &self.len()).field("device", &self.device).finish()
    }
}

/// A row-major matrix in a device's memory: element `(r, c)` is element `r * pitch + c` of a [`Buffer`].
#[derive(Debug)]
pub struct Buffer2<T: Element> {
    buffer: Buffer<T>,
    rows: usize,
    columns: usize,
    pitch: usize,
}

impl<T: Element> Buffer2<T> {
    /// Returns the matrix with rows `pitch` elements apart in `buffer`, beginning with its first element. Elements between the rows
    /// and after the last row are never accessed.
    ///
    /// # Errors
    ///
    /// The [`FromBufferError`] contains the buffer, and one of these errors:
    ///
    /// * [`Error::Pitch`] if the pitch is shorter than a row.
    /// * [`Error::Length`] if the buffer is shorter than the matrix.
    /// * [`Error::TooLarge`] if the number of elements cannot be represented.
    pub fn from_buffer(
        buffer: Buffer<T>,
        rows: usize,
        columns: usize,
        pitch: usize,
    ) -> std::result::Result<Self, FromBufferError<T>> {
        match check_layout(buffer.len(), rows, columns, pitch) {
            Ok(()) => Ok(Buffer2 { buffer, rows, columns, pitch }),
            Err(error) => Err(FromBufferError { error, buffer: Box::new(buffer) }),
        }
    }

    /// Returns a matrix of zeros, without gaps between its rows.
    ///
    /// ```
    /// # fn main() -> slm::Result<()> {
    /// let matrix = slm::Buffer2::<f32>::zeroed(&slm::Device::open()?, 2, 3)?;
    /// assert_eq!((matrix.rows(), matrix.columns(), matrix.pitch()), (2, 3, 3));
    /// assert_eq!(matrix.download()?, slm::ndarray::Array2::zeros((2, 3)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::TooLarge`] if the number of elements cannot be represented.
    /// * The errors of [`Device::zeroed`].
    pub fn zeroed(device: &Device, rows: usize, columns: usize) -> Result<Self> {
        let buffer = device.zeroed(extent(rows, columns, columns)?)?;
        Ok(Buffer2 { buffer, rows, columns, pitch: columns })
    }

    /// Returns a matrix with a copy of `data`, without gaps between its rows.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let data = array![[1, 2], [3, 4], [5, 6]];
    /// let transposed = Buffer2::upload(&Device::open()?, data.t())?;
    /// assert_eq!((transposed.rows(), transposed.columns()), (2, 3));
    /// assert_eq!(transposed.buffer().download()?, [1, 3, 5, 2, 4, 6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Device::upload`], and [`Error::OutOfHostMemory`] if `data` is not contiguous in row-major order.
    pub fn upload(device: &Device, data: ArrayView2<'_, T>) -> Result<Self> {
        let (rows, columns) = data.dim();
        let buffer = device.upload(&allocation::row_after_row(data)?)?;
        Ok(Buffer2 { buffer, rows, columns, pitch: columns })
    }

    /// Returns the elements, after all work that was enqueued before.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device};
    ///
    /// # fn main() -> slm::Result<()> {
    /// // The row pitch is three elements; the last of them is not in the matrix.
    /// let buffer = Device::open()?.upload(&[1, 2, 0, 3, 4, 0])?;
    /// let matrix = Buffer2::from_buffer(buffer, 2, 2, 3)?;
    /// assert_eq!(matrix.download()?, array![[1, 2], [3, 4]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Buffer::download`].
    pub fn download(&self) -> Result<Array2<T>> {
        let mut elements = self.buffer.download()?;
        let len = self.rows * self.columns;
        if elements.len() != len {
            let mut matrix = allocation::reserved(len)?;
            // Without columns the pitch may be 0, but the length of a chunk may not.
            for row in elements.chunks(self.pitch.max(1)).take(self.rows) {
                matrix.extend_from_slice(&row[..self.columns]);
            }
            elements = matrix;
        }
        Ok(Array2::from_shape_vec((self.rows, self.columns), elements).expect("`extent` has checked the shape"))
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the row pitch: the number of elements from the start of one row to the start of the next.
    #[must_use]
    pub fn pitch(&self) -> usize {
        self.pitch
    }

    /// Returns the buffer that contains the matrix.
    #[must_use]
    pub fn buffer(&self) -> &Buffer<T> {
        &self.buffer
    }

    /// Returns the buffer that contains the matrix, and drops the shape.
    #[must_use]
    pub fn into_buffer(self) -> Buffer<T> {
        self.buffer
    }

    pub(crate) fn buffer_mut(&mut self) -> &mut Buffer<T> {
        &mut self.buffer
    }
}

/// Error of [`Buffer2::from_buffer`]: the reason, and the buffer.
///
/// `?` converts it to an [`Error`].
///
/// ```
/// use slm::{Buffer2, Device, Error};
///
/// # fn main() -> slm::Result<()> {
/// let buffer = Device::cpu().upload(&[1, 2, 3, 4, 5, 6])?;
/// let failure = Buffer2::from_buffer(buffer, 2, 4, 4).unwrap_err();
/// assert_eq!(failure.error(), &Error::Length { what: "the buffer of a matrix", expected: 8, actual: 6 });
/// let matrix = Buffer2::from_buffer(failure.into_buffer(), 2, 3, 3)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FromBufferError<T: Element> {
    error: Error,
    buffer: Box<Buffer<T>>,
}

impl<T: Element> FromBufferError<T> {
    /// Returns the reason.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// Returns the buffer.
    #[must_use]
    pub fn into_buffer(self) -> Buffer<T> {
        *self.buffer
    }
}

impl<T: Element> From<FromBufferError<T>> for Error {
    fn from(failure: FromBufferError<T>) -> Error {
        failure.error
    }
}

impl<T: Element> fmt::Display for FromBufferError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T: Element> std::error::Error for FromBufferError<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

/// Returns the number of elements from the first to the last element of a matrix. Returns an error if the matrix is too large for
/// a device or for `ndarray`, which limits the product of the nonzero lengths to `isize::MAX`.
pub(crate) fn extent(rows: usize, columns: usize, pitch: usize) -> Result<usize> {
    let most = isize::MAX as usize;
    let too_large = |a: usize, b: usize| {
        let factors = [a as u64, b as u64];
        Error::TooLarge { what: "a matrix", factors, limit: most as u64 }
    };
    let (some_rows, some_columns) = (rows.max(1), columns.max(1));
    if some_rows.checked_mul(some_columns).is_none_or(|elements| elements > most) {
        return Err(too_large(some_rows, some_columns));
    }
    if rows == 0 || columns == 0 {
        return Ok(0);
    }
    let extent = (rows - 1).checked_mul(pitch).and_then(|e| e.checked_add(columns));
    extent.filter(|extent| *extent <= most).ok_or_else(|| too_large(rows, pitch))
}

/// Returns an error if a buffer of `len` elements is too short for such a matrix.
fn check_layout(len: usize, rows: usize, columns: usize, pitch: usize) -> Result<()> {
    if pitch < columns {
        return Err(Error::Pitch { columns, pitch });
    }
    let expected = extent(rows, columns, pitch)?;
    if len < expected {
        return Err(Error::Length { what: "the buffer of a matrix", expected, actual: len });
    }
    Ok(())
}

/// Returns an error if they differ.
pub(crate) fn check_length(what: &'static str, expected: usize, actual: usize) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::Length { what, expected, actual }) }
}
