//! Matrices on a device.

use crate::cpu::allocation;
use crate::device::buffer::check_shape;
use crate::device::data::Planes;
use crate::device::rows::{Place, Rows};
use crate::{Buffer, Device, Element, Error, Result};
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

/// A matrix in a device's memory, row after row: element `(r, c)` is at `r * pitch + c` of a [`Buffer`].
///
/// The *row pitch* is the distance between the starts of two rows, in elements. If it is larger than the number of columns,
/// there are gaps between the rows. Operations and copies of matrices neither read nor write the gaps.
#[derive(Debug)]
pub struct Buffer2<T: Element> {
    buffer: Buffer<T>,
    rows: usize,
    columns: usize,
    pitch: usize,
}

/// Number of parts in which rows are copied to remove their gaps. Each part needs temporary memory.
const GAP_PARTS: usize = 16;

/// Creating matrices.
impl<T: Element> Buffer2<T> {
    /// Returns the number of elements from the first to the last element of a matrix: the minimum buffer length for
    /// [`from_buffer`](Self::from_buffer).
    ///
    /// ```
    /// # fn main() -> slm::Result<()> {
    /// assert_eq!(slm::Buffer2::<f32>::buffer_len(2, 3, 4)?, 7); // x x x - x x x
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::Pitch`] if the pitch is shorter than a row.
    /// * [`Error::TooLarge`] if the matrix would exceed the address space.
    pub fn buffer_len(rows: usize, columns: usize, pitch: usize) -> Result<usize> {
        if pitch < columns {
            return Err(Error::Pitch { columns, pitch });
        }
        extent(rows, columns, pitch)
    }

    /// Returns a matrix in the memory of `buffer`. The first row begins at the start of the buffer, and rows are `pitch`
    /// elements apart.
    ///
    /// An error drops the buffer. To keep the buffer, compare its length with [`buffer_len`](Self::buffer_len) first:
    ///
    /// ```
    /// use slm::{Buffer2, Device, Error};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let buffer = Device::cpu().upload(&[1, 2, 3, 4, 5, 6])?;
    /// let columns = if buffer.len() < Buffer2::<i32>::buffer_len(2, 4, 4)? { 3 } else { 4 };
    /// let matrix = Buffer2::from_buffer(buffer, 2, columns, columns)?;
    /// let error = Buffer2::from_buffer(matrix.into_buffer(), 2, 4, 4).unwrap_err();
    /// assert_eq!(error, Error::Length { what: "the buffer of a matrix", expected: 8, actual: 6 });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::Length`] if the buffer is shorter than [`buffer_len`](Self::buffer_len).
    /// * The errors of [`buffer_len`](Self::buffer_len).
    pub fn from_buffer(buffer: Buffer<T>, rows: usize, columns: usize, pitch: usize) -> Result<Self> {
        let expected = Self::buffer_len(rows, columns, pitch)?;
        if buffer.len() < expected {
            return Err(Error::Length { what: "the buffer of a matrix", expected, actual: buffer.len() });
        }
        Ok(Buffer2 { buffer, rows, columns, pitch })
    }

    /// Returns a matrix of zeros without gaps.
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
    /// * [`Error::TooLarge`] if the matrix would exceed the address space.
    /// * The errors of [`Device::zeroed`].
    pub fn zeroed(device: &Device, rows: usize, columns: usize) -> Result<Self> {
        Self::zeroed_pitched(device, rows, columns, columns)
    }

    /// Returns a matrix of zeros with the given row pitch, in elements. The gaps are zeros too.
    ///
    /// ```
    /// # fn main() -> slm::Result<()> {
    /// let matrix = slm::Buffer2::<f32>::zeroed_pitched(&slm::Device::open()?, 2, 3, 32)?;
    /// assert_eq!((matrix.pitch(), matrix.buffer().len()), (32, 32 + 3));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`buffer_len`](Self::buffer_len) and [`Device::zeroed`].
    pub fn zeroed_pitched(device: &Device, rows: usize, columns: usize, pitch: usize) -> Result<Self> {
        let buffer = device.zeroed(Self::buffer_len(rows, columns, pitch)?)?;
        Ok(Buffer2 { buffer, rows, columns, pitch })
    }

    /// Returns a matrix without gaps that contains a copy of `data`. The copy is done when this returns.
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
    /// * [`Error::OutOfHostMemory`] for a copy of `data`, if its rows are not contiguous.
    /// * The errors of [`Device::upload`].
    pub fn upload<'a>(device: &Device, data: impl Into<ArrayView2<'a, T>>) -> Result<Self> {
        let data = data.into();
        let (rows, columns) = data.dim();
        let buffer = device.upload(&allocation::row_after_row(data)?)?;
        Ok(Buffer2 { buffer, rows, columns, pitch: columns })
    }

    /// Returns a matrix with the given row pitch, in elements, that contains a copy of `data`. The gaps are zeros. The copy is
    /// done when this returns.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let matrix = Buffer2::upload_pitched(&Device::open()?, &array![[1, 2], [3, 4]], 3)?;
    /// assert_eq!(matrix.buffer().download()?, [1, 2, 0, 3, 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`zeroed_pitched`](Self::zeroed_pitched) and [`upload_into`](Self::upload_into).
    pub fn upload_pitched<'a>(device: &Device, data: impl Into<ArrayView2<'a, T>>, pitch: usize) -> Result<Self> {
        let data = data.into();
        let (rows, columns) = data.dim();
        let mut matrix = Self::zeroed_pitched(device, rows, columns, pitch)?;
        matrix.upload_into(data)?;
        Ok(matrix)
    }
}

/// Copying.
impl<T: Element> Buffer2<T> {
    /// Copies `data` to the matrix, after all work that was enqueued before. Returns when the copy is done.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let mut frame = Buffer2::zeroed_pitched(&Device::open()?, 2, 2, 64)?;
    /// frame.upload_into(&array![[1, 2], [3, 4]])?;
    /// assert_eq!(frame.download()?, array![[1, 2], [3, 4]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::Shape`] if the shapes differ.
    /// * [`Error::OutOfHostMemory`] for a copy of `data`, if its rows are not contiguous.
    /// * [Failures of the device](Error#failures-of-the-device), also of earlier work.
    pub fn upload_into<'a>(&mut self, data: impl Into<ArrayView2<'a, T>>) -> Result<()> {
        let data = data.into();
        self.check_shape("the matrix to upload", data.dim())?;
        let data = allocation::row_after_row(data)?;
        let rows = self.copied(Place::at_start(self.columns), Place::at_start(self.pitch));
        self.buffer.upload_rows(&data, rows)
    }

    /// Returns the elements, after all work that was enqueued before.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device};
    ///
    /// # fn main() -> slm::Result<()> {
    /// // Rows begin three elements apart. The sixth element is not part of the matrix.
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
        let shape = (self.rows, self.columns);
        let elements = match self.is_buffer() {
            true => self.buffer.download()?,
            false => {
                let mut elements = allocation::filled(T::default(), self.len())?;
                self.download_slice(&mut elements)?;
                elements
            }
        };
        Ok(Array2::from_shape_vec(shape, elements).expect("`extent` has checked the shape"))
    }

    /// Copies the elements to `data`, after all work that was enqueued before. Returns when the copy is done. `data` may have
    /// any strides.
    ///
    /// ```
    /// use slm::ndarray::{Array2, array};
    /// use slm::{Buffer2, Device};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let matrix = Buffer2::upload(&Device::open()?, &array![[1, 2], [3, 4]])?;
    /// let mut transposed = Array2::zeros((2, 2));
    /// matrix.download_into(transposed.view_mut().reversed_axes())?;
    /// assert_eq!(transposed, array![[1, 3], [2, 4]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::Shape`] if the shapes differ.
    /// * [`Error::OutOfHostMemory`] for a copy, if the rows of `data` are not contiguous.
    /// * [Failures of the device](Error#failures-of-the-device), also of earlier work.
    pub fn download_into(&self, mut data: ArrayViewMut2<'_, T>) -> Result<()> {
        self.check_shape("the matrix to download into", data.dim())?;
        match data.as_slice_mut() {
            Some(data) => self.download_slice(data)?,
            None => data.assign(&self.download()?),
        }
        Ok(())
    }

    /// Copies the elements of `source` on the device. Returns when the copy is enqueued. The row pitches may differ.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let source = Buffer2::upload(&device, &array![[1, 2], [3, 4]])?;
    /// let mut pitched = Buffer2::zeroed_pitched(&device, 2, 2, 3)?;
    /// pitched.copy_from(&source)?;
    /// assert_eq!(pitched.buffer().download()?, [1, 2, 0, 3, 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::Shape`] if the shapes differ.
    /// * [`Error::DeviceMismatch`] if `source` belongs to another device.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn copy_from(&mut self, source: &Buffer2<T>) -> Result<()> {
        self.buffer.device().check_owner("the source", source.buffer.device())?;
        self.check_shape("the source", (source.rows, source.columns))?;
        let rows = self.copied(Place::at_start(source.pitch), Place::at_start(self.pitch));
        self.buffer.copy_rows(&source.buffer, rows)
    }

    fn download_slice(&self, data: &mut [T]) -> Result<()> {
        let rows = self.copied(Place::at_start(self.pitch), Place::at_start(self.columns));
        self.buffer.download_rows(data, rows)
    }

    fn copied(&self, source: Place, target: Place) -> Rows {
        Rows { count: self.rows, len: self.columns, source, target }
    }

    fn check_shape(&self, what: &'static str, (rows, columns): (usize, usize)) -> Result<()> {
        check_shape(what, [self.rows, self.columns], [rows, columns])
    }
}

/// Shape and memory.
impl<T: Element> Buffer2<T> {
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

    /// Returns the row pitch, in elements.
    #[must_use]
    pub fn pitch(&self) -> usize {
        self.pitch
    }

    /// Returns the buffer that holds the matrix.
    #[must_use]
    pub fn buffer(&self) -> &Buffer<T> {
        &self.buffer
    }

    /// Converts the matrix into the buffer that holds it.
    #[must_use]
    pub fn into_buffer(self) -> Buffer<T> {
        self.buffer
    }

    /// Returns the matrix as `count` matrices of the same shape, one below the other: a batch of pictures for
    /// [`Filter2d`](crate::Filter2d). The number of rows must be a multiple of `count`, which the filter checks.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device, Filter2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let x = Buffer2::upload(&device, &array![[1], [2], [3], [4]])?;
    /// let mut y = Buffer2::zeroed(&device, 4, 1)?;
    /// let sum = Filter2d::separable(&[1, 1, 1], &[1]).prepare(&device)?;
    /// sum.apply_into(x.planes(2), &mut y)?;
    /// assert_eq!(y.download()?, array![[3], [3], [7], [7]]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn planes(&self, count: usize) -> Planes<'_, T> {
        Planes { matrix: self, count }
    }

    pub(crate) fn buffer_mut(&mut self) -> &mut Buffer<T> {
        &mut self.buffer
    }

    /// Returns the number of elements, without gaps.
    pub(crate) fn len(&self) -> usize {
        self.rows * self.columns
    }

    /// Returns whether the elements are exactly the elements of the buffer, in the same order.
    pub(crate) fn is_buffer(&self) -> bool {
        self.buffer.len() == self.len() && !self.has_gaps()
    }

    /// Returns whether there are gaps between rows.
    pub(crate) fn has_gaps(&self) -> bool {
        self.rows > 1 && self.pitch != self.columns
    }

    /// Enqueues copies that remove the gaps between rows, part by part.
    pub(crate) fn close_gaps(&mut self) -> Result<()> {
        if self.has_gaps() {
            let (columns, count) = (self.columns, (self.rows / GAP_PARTS).max(1));
            let mut part = self.buffer.device().unwritten(count * columns)?;
            let contiguous = |first| Place { first, pitch: columns };
            // The first row stays. Each other row moves to memory whose rows have already been moved.
            for first in (1..self.rows).step_by(count) {
                let place = Place { first: first * self.pitch, pitch: self.pitch };
                let rows =
                    Rows { count: count.min(self.rows - first), len: columns, source: place, target: contiguous(0) };
                part.copy_rows(&self.buffer, rows)?;
                let rows = Rows { source: contiguous(0), target: contiguous(first * columns), ..rows };
                self.buffer.copy_rows(&part, rows)?;
            }
        }
        self.pitch = self.columns;
        Ok(())
    }

    /// Sets the shape and the row pitch. The buffer must be long enough.
    pub(crate) fn reshape(&mut self, [rows, columns]: [usize; 2], pitch: usize) {
        debug_assert!(Self::buffer_len(rows, columns, pitch).is_ok_and(|len| len <= self.buffer.len()));
        (self.rows, self.columns, self.pitch) = (rows, columns, pitch);
    }
}

/// Returns the number of elements from the first to the last element of a matrix, for matrices on devices and of `ndarray`. In
/// `ndarray` the product of all lengths other than zero is at most `isize::MAX`.
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
