//! Description of a transposition: plain data.

use super::{Matrices, PreparedTranspose, PreparedTransposeInPlace, TransposeAlgorithm, TransposeElement};
use crate::{Device, Element, Result};
use std::marker::PhantomData;

/// A transposition of matrices of numbers of type `T`, all of one shape, described but not yet bound to a device.
///
/// The [module](super) has the definition. The type of the transposed data determines `T`, as in the example. If there are no
/// data yet, write `Transpose::<f32>::new`.
///
/// ```
/// use slm::{Device, Transpose};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// let transpose = Transpose::new(2, 3).prepare(&device)?;
/// assert_eq!(transpose.apply(&[1, 2, 3, 4, 5, 6])?, [1, 4, 2, 5, 3, 6]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transpose<T: Element> {
    pub(super) matrices: Matrices,
    pub(super) algorithm: TransposeAlgorithm,
    marker: PhantomData<fn(T) -> T>,
}

impl<T: TransposeElement> Transpose<T> {
    /// Returns the transposition of one matrix of `rows` rows and `columns` columns.
    #[must_use]
    pub fn new(rows: usize, columns: usize) -> Self {
        let matrices = Matrices { rows, columns, count: 1, components: 1 };
        Transpose { matrices, algorithm: TransposeAlgorithm::Auto, marker: PhantomData }
    }

    /// Returns the transposition of a block of this many rows and columns.
    pub(crate) fn of_block(&self, rows: usize, columns: usize) -> Self {
        Transpose { matrices: Matrices { rows, columns, ..self.matrices }, ..*self }
    }

    /// Returns an error if no memory can have the matrices.
    pub(crate) fn checked(&self) -> Result<()> {
        self.matrices.check::<T>()
    }

    /// Returns the number of matrices.
    pub(crate) fn count(&self) -> usize {
        self.matrices.count
    }

    /// Returns rows, columns, and components of an element.
    pub(crate) fn sides(&self) -> [usize; 3] {
        [self.matrices.rows, self.matrices.columns, self.matrices.components]
    }

    /// Returns the transposition of `count` matrices, stored one after another. The default is 1.
    ///
    /// ```
    /// # fn main() -> slm::Result<()> {
    /// let two = slm::Transpose::new(2, 2).batch(2).prepare(&slm::Device::cpu())?;
    /// assert_eq!(two.apply(&[1, 2, 3, 4, 5, 6, 7, 8])?, [1, 3, 2, 4, 5, 7, 6, 8]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn batch(mut self, count: usize) -> Self {
        self.matrices.count = count;
        self
    }

    /// Returns the transposition with elements of `components` numbers. The default is 1.
    ///
    /// ```
    /// # fn main() -> slm::Result<()> {
    /// let pixels = slm::Transpose::new(1, 2).components(3).prepare(&slm::Device::cpu())?;
    /// assert_eq!(pixels.apply(b"rgbRGB")?, b"rgbRGB"); // two pixels, now one under the other
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn components(mut self, components: usize) -> Self {
        self.matrices.components = components;
        self
    }

    /// Returns the transposition with this algorithm. The default is [`TransposeAlgorithm::Auto`].
    #[must_use]
    pub fn algorithm(mut self, algorithm: TransposeAlgorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Checks the shape and binds the transposition to a device: loads the kernel. Returns the prepared transposition.
    ///
    /// # Errors
    ///
    /// * [`TransposeError::NoComponents`] for elements without components.
    /// * [`Error::TooLarge`] for more numbers than memory can have.
    /// * [`TransposeError::ElementSize`] on a GPU for elements of about 2^32 units or more. A unit is the largest of 4, 2 and 1
    ///   bytes that divides elements and rows.
    /// * [`Error::SharedMemoryExceeded`] if the requested algorithm needs more shared memory than the device has.
    /// * The errors of [`Device::kernel`] on a GPU.
    pub fn prepare(&self, device: &Device) -> Result<PreparedTranspose<T>> {
        T::prepare(self, device)
    }

    /// Checks the shape and binds the transposition in place to a device. Returns the prepared transposition. All shapes are
    /// supported. This ignores the [algorithm](Self::algorithm).
    ///
    /// Square matrices need no further memory: tiles are exchanged. On a GPU whose shared memory has no room for two elements, elements
    /// are exchanged through memory for two rows. For other matrices, this allocates at most a sixteenth of the bytes of a matrix, but at
    /// least those of a row or a column. There are two methods:
    ///
    /// * Rows and columns are permuted, columns part by part (Catanzaro, Keller and Garland, "A Decomposition for In-place Matrix
    ///   Transposition", PPoPP 2014). This is three to five times as much work as a copy, and fastest on GPUs whose shared memory has
    ///   room for a row.
    /// * A GPU divides a matrix into squares, as large as the greatest common divisor of rows and columns. It transposes the squares and
    ///   then moves their rows, which is twice as much work as a copy. The rows of squares must have at least 128 bytes, in
    ///   multiples of 16.
    ///
    /// [`PreparedTransposeInPlace::plan`] tells which method is used.
    ///
    /// # Errors
    ///
    /// The errors of [`prepare`](Self::prepare) and [`Device::zeroed`].
    pub fn prepare_in_place(&self, device: &Device) -> Result<PreparedTransposeInPlace<T>> {
        T::prepare_in_place(self, device)
    }
}

#[cfg(doc)]
use super::TransposeError;
#[cfg(doc)]
use crate::Error;
