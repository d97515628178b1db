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
/// It belongs to the [`Device`] handle that made it. Dropping it is safe at any time: its memory is not used again
/// before the work that was enqueued earlier is done.
pub struct Buffer<T: Element> {
    device: Device,
    storage: Storage<T>,
}

pub(crate) enum Storage<T: Element> {
    Cpu(Vec<T>),
    Cuda(<cuda::Queue as Queue>::Memory<T>),
    Emulated(<emulated::Emulation as Queue>::Memory<T>),
}

/// Windows on all elements. Those of the CPU are out of every kernel's reach.
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
    unreachable!("operations and buffers of one device are of one kind")
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
            Storage::Cuda(memory) => memory.len(),
            Storage::Emulated(memory) => memory.len(),
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
    /// [`Error::OutOfHostMemory`], and [failures of the device](Error#failures-of-the-device), be it while that work ran.
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

    /// Copies the elements to `data`, after all work that was enqueued before.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] if `data` is not as long as the buffer, and [failures of the
    /// device](Error#failures-of-the-device), be it while that work ran.
    pub fn download_into(&self, data: &mut [T]) -> Result<()> {
        check_length("the slice to download into", self.len(), data.len())?;
        match &self.storage {
            Storage::Cpu(source) => data.copy_from_slice(source),
            Storage::Cuda(memory) => memory.download(data)?,
            Storage::Emulated(memory) => memory.download(data)?,
        }
        Ok(())
    }

    /// Copies `data` to the buffer, after all work that was enqueued before; `data` may be changed afterwards.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] if `data` is not as long as the buffer, and [failures of the
    /// device](Error#failures-of-the-device), be it while that work ran.
    pub fn upload(&mut self, data: &[T]) -> Result<()> {
        check_length("the slice to upload", self.len(), data.len())?;
        match &mut self.storage {
            Storage::Cpu(target) => target.copy_from_slice(data),
            Storage::Cuda(memory) => memory.overwrite(data)?,
            Storage::Emulated(memory) => memory.overwrite(data)?,
        }
        Ok(())
    }

    /// Enqueues a copy of `source`, which never leaves the device.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] and [`Error::DeviceMismatch`] if the buffers do not match, and [failures of the
    /// device](Error#failures-of-the-device).
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

    /// The elements of an output that was [unwritten](Device::unwritten), after all work that was enqueued before.
    ///
    /// # Errors
    ///
    /// As [`download`](Self::download), and `UnwrittenOutput` on an emulated device unless all of them have been written.
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

/// Buffers of a device.
impl Device {
    /// A buffer with a copy of `data`, made when this returns: after the work that was enqueued before.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfDeviceMemory`], [`Error::OutOfHostMemory`] on the CPU, and [failures of the
    /// device](Error#failures-of-the-device).
    pub fn upload<T: Element>(&self, data: &[T]) -> Result<Buffer<T>> {
        let storage = match self.engine() {
            Engine::Cpu => Storage::Cpu(allocation::copied(data)?),
            Engine::Cuda(queue) => Storage::Cuda(Memory::upload(queue, data)?),
            Engine::Emulated(emulation) => Storage::Emulated(Memory::upload(emulation, data)?),
        };
        Ok(Buffer::new(self, storage))
    }

    /// A buffer of `len` zeros.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] for more than `isize::MAX` bytes, [`Error::OutOfDeviceMemory`], [`Error::OutOfHostMemory`] on the
    /// CPU and for an emulated device, and [failures of the device](Error#failures-of-the-device).
    pub fn zeroed<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        check_size::<T>(len)?;
        let storage = match self.engine() {
            Engine::Cpu => Storage::Cpu(allocation::filled(T::default(), len)?),
            Engine::Cuda(queue) => Storage::Cuda(Memory::zeroed(queue, len)?),
            Engine::Emulated(emulation) => Storage::Emulated(Memory::zeroed(emulation, len)?),
        };
        Ok(Buffer::new(self, storage))
    }

    /// A buffer of `len` elements, each of which a kernel writes before anything reads it: of unspecified contents on a GPU.
    /// An emulated device knows which have been written; see [`Buffer::download_written`].
    ///
    /// # Errors
    ///
    /// As [`zeroed`](Self::zeroed).
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
    /// [`Error::Pitch`] if the pitch is shorter than a row, [`Error::Length`] if the buffer is shorter than the
    /// matrix, and [`Error::TooLarge`] for a shape that no matrix has. The [`FromBufferError`] gives the buffer back.
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

    /// A matrix of zeros, its rows one after another.
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
    /// [`Error::TooLarge`] for a shape that no matrix has; otherwise as [`Device::zeroed`].
    pub fn zeroed(device: &Device, rows: usize, columns: usize) -> Result<Self> {
        let buffer = device.zeroed(extent(rows, columns, columns)?)?;
        Ok(Buffer2 { buffer, rows, columns, pitch: columns })
    }

    /// A matrix with a copy of `data`, its rows one after another.
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
    /// As [`Device::upload`], and [`Error::OutOfHostMemory`] if the rows of `data` do not lie one after another.
    pub fn upload(device: &Device, data: ArrayView2<'_, T>) -> Result<Self> {
        let (rows, columns) = data.dim();
        let buffer = device.upload(&allocation::row_after_row(data)?)?;
        Ok(Buffer2 { buffer, rows, columns, pitch: columns })
    }

    /// The elements, after all work that was enqueued before.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device};
    ///
    /// # fn main() -> slm::Result<()> {
    /// // Each row begins three elements behind the one before, and the last one of these is none of the matrix.
    /// let buffer = Device::open()?.upload(&[1, 2, 0, 3, 4, 0])?;
    /// let matrix = Buffer2::from_buffer(buffer, 2, 2, 3)?;
    /// assert_eq!(matrix.download()?, array![[1, 2], [3, 4]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Buffer::download`].
    pub fn download(&self) -> Result<Array2<T>> {
        let mut elements = self.buffer.download()?;
        let len = self.rows * self.columns;
        if elements.len() != len {
            let mut matrix = allocation::reserved(len)?;
            // Without columns the pitch may be 0, and a chunk may not.
            for row in elements.chunks(self.pitch.max(1)).take(self.rows) {
                matrix.extend_from_slice(&row[..self.columns]);
            }
            elements = matrix;
        }
        Ok(Array2::from_shape_vec((self.rows, self.columns), elements).expect("`extent` has checked the shape"))
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

/// A buffer that is not made a matrix: why not, and the buffer itself.
///
/// It turns into an [`Error`] where one is expected, as by `?`.
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
    /// Why it is no matrix.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// Gives the buffer back.
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

/// The elements from the first of a matrix to its last, for a matrix on a device and for one of `ndarray`: that takes
/// a shape whose lengths, leaving out zeros, multiply to `isize::MAX` at most.
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
