//! What a transposition is: plain data.

use super::{Matrices, PreparedTranspose, PreparedTransposeInPlace, TransposeElement};
use crate::{Device, Element, Result};
use std::marker::PhantomData;

/// The transposition of matrices of numbers of type `T`, all of one shape, described but not yet bound to a device.
///
/// See the [module](super) for what it computes. What is transposed tells the type, as below; where nothing does,
/// `Transpose::<f32>::new` states it.
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

/// How a GPU transposes. The CPU ignores this setting.
///
/// All of them give the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransposeAlgorithm {
    /// The fastest one for these matrices; [`plan`](PreparedTranspose::plan) tells which one, and why. For elements of 1,
    /// 2, 3, 4, 6, 8, 12 or 16 bytes that is a kernel of their own. It moves 16 bytes at a time where it can, if rows of
    /// the input begin at multiples of that (of 4 bytes for elements of 3), those of the output at multiples of 32 bytes,
    /// and both lengths are multiples of as many elements as make 16 bytes (of 4 for elements of 3 and 12); and whole
    /// words otherwise.
    #[default]
    Auto,
    /// Without shared memory: neighbouring threads read neighbours, and write one row of the output, or several, apart. To
    /// see what that costs; good for elements that are long themselves, and for small matrices.
    Naive,
    /// By way of a tile in shared memory, so that neighbouring threads write neighbours as well. The rows of the tile
    /// follow each other without a gap, so that the threads of a warp, which read a column of it, mostly meet in one bank.
    /// To see what that costs.
    SharedUnpadded,
    /// The same with longer rows of the tile, so that they do not.
    SharedPadded,
}

impl<T: TransposeElement> Transpose<T> {
    /// One matrix of so many rows and columns; the result has `columns` rows of `rows`.
    #[must_use]
    pub fn new(rows: usize, columns: usize) -> Self {
        let matrices = Matrices { rows, columns, count: 1, components: 1 };
        Transpose { matrices, algorithm: TransposeAlgorithm::Auto, marker: PhantomData }
    }

    /// So many matrices, one after another.
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

    /// Elements of so many numbers each; 1 unless said otherwise.
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

    /// How it is done; [`TransposeAlgorithm::Auto`] unless said otherwise.
    #[must_use]
    pub fn algorithm(mut self, algorithm: TransposeAlgorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Checks the shape and binds it to a device: loads the kernel.
    ///
    /// # Errors
    ///
    /// * [`TransposeError::NoComponents`] for elements without components.
    /// * [`Error::TooLarge`] for more numbers than there can be in memory.
    /// * [`TransposeError::ElementSize`] on a GPU for elements of about 2^32 units or more. A unit is 4 bytes, or the 2 or 1 that
    ///   elements and rows can be divided into.
    /// * [`Error::SharedMemoryExceeded`] if the algorithm asked for needs more shared memory than the device has.
    /// * On a GPU what [`Device::kernel`] gives.
    pub fn prepare(&self, device: &Device) -> Result<PreparedTranspose<T>> {
        T::prepare(self, device)
    }

    /// The same for transposing in place, whatever the shape. The [algorithm](Self::algorithm) means nothing here.
    ///
    /// Square matrices take no further memory; tiles change places. Others are permuted in their rows and columns (Catanzaro,
    /// Keller and Garland, "A Decomposition for In-place Matrix Transposition", PPoPP 2014), part by part, and this
    /// allocates memory for one part: a row or a column of the matrix at least, a sixteenth of it at most unless that is
    /// less.
    ///
    /// # Errors
    ///
    /// As [`prepare`](Self::prepare), and what [`Device::zeroed`] gives.
    pub fn prepare_in_place(&self, device: &Device) -> Result<PreparedTransposeInPlace<T>> {
        T::prepare_in_place(self, device)
    }
}

#[cfg(doc)]
use super::TransposeError;
#[cfg(doc)]
use crate::Error;
