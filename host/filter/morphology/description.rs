//! Description of a morphological operation: plain data.

use super::prepared::Form;
use super::{PreparedMorphology2d, StructuringElement};
use crate::filter::rank::Step;
use crate::{Boundary, Device, Rank2d, RankElement, RankNanPolicy, Result};

/// A morphological operation on pictures, described but not yet bound to a device. `S` is the type of samples and outputs.
///
/// The [module](super) has the definitions.
///
/// ```
/// use slm::ndarray::array;
/// use slm::{Boundary, Device, Morphology2d};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// let picture = array![[1u8, 1, 9, 1, 1, 5, 5, 5]];
/// let opening = Morphology2d::opening([1, 3]).boundary(Boundary::Nearest);
/// assert_eq!(opening.prepare(&device)?.apply(&picture)?, array![[1, 1, 1, 1, 1, 5, 5, 5]]);
/// let peaks = Morphology2d::top_hat([1, 3]).boundary(Boundary::Nearest);
/// assert_eq!(peaks.prepare(&device)?.apply(&picture)?, array![[0, 0, 8, 0, 0, 0, 0, 0]]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Morphology2d<S> {
    operation: Operation,
    element: StructuringElement<S>,
    /// Of rows and columns. `None` if what is outside is ignored.
    boundaries: Option<[Boundary<S>; 2]>,
    origin: [isize; 2],
    /// `None` if arrays have no axis for channels.
    channels: Option<usize>,
    nan_policy: RankNanPolicy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Erosion,
    Dilation,
    Opening,
    Closing,
    Gradient,
    TopHat,
    BlackHat,
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident: $operation:ident;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(element: impl Into<StructuringElement<S>>) -> Self {
            Self::new(Operation::$operation, element.into())
        }
    )*};
}

impl<S: RankElement> Morphology2d<S> {
    operations! {
        /// Returns the erosion: the minimum of the samples of the element, less their heights.
        erosion: Erosion;
        /// Returns the dilation: the maximum of the samples of the reflected element, plus their heights.
        dilation: Dilation;
        /// Returns the opening: the dilation of the erosion. It removes bright details that are smaller than the element.
        opening: Opening;
        /// Returns the closing: the erosion of the dilation. It removes dark details that are smaller than the element.
        closing: Closing;
        /// Returns the gradient: the dilation minus the erosion.
        gradient: Gradient;
        /// Returns the white top hat: the samples minus their opening.
        top_hat: TopHat;
        /// Returns the black top hat: the closing minus the samples.
        black_hat: BlackHat;
    }

    fn new(operation: Operation, element: StructuringElement<S>) -> Self {
        Morphology2d {
            operation,
            element,
            boundaries: Some([Boundary::Zero; 2]),
            origin: [0; 2],
            channels: None,
            nan_policy: RankNanPolicy::Propagate,
        }
    }

    /// Returns the operation with these values outside the picture, along both axes. The default is [`Boundary::Zero`].
    #[must_use]
    pub fn boundary(self, boundary: Boundary<S>) -> Self {
        self.boundaries(boundary, boundary)
    }

    /// Returns the operation with a boundary for each axis, as [`Filter2d::boundaries`](crate::Filter2d::boundaries).
    #[must_use]
    pub fn boundaries(mut self, rows: Boundary<S>, columns: Boundary<S>) -> Self {
        self.boundaries = Some([rows, columns]);
        self
    }

    /// Returns the operation for which all samples outside are the greatest number of the type in erosions, and the least one in dilations;
    /// infinities for floats. So flat elements consist of the samples inside only, as by default in OpenCV; for an element without a sample inside,
    /// that number is the result. Heights are added to it and subtracted from it as from samples, so for integers, the sum or
    /// difference may be the result. It replaces the boundaries.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Device, Morphology2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let gradient = Morphology2d::gradient([1, 3]).ignore_outside().prepare(&Device::open()?)?;
    /// assert_eq!(gradient.apply(&array![[7u8, 3, 3, 4]])?, array![[4, 4, 1, 1]]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn ignore_outside(mut self) -> Self {
        self.boundaries = None;
        self
    }

    /// Returns the operation with another origin of the element: row `h / 2 + rows` and column `v / 2 + columns`, for `h` rows and `v`
    /// columns. The default is 0 and 0. These are the `origin=(rows, columns)` of SciPy.
    ///
    /// It is in the element: from `-(h / 2)` to `h - 1 - h / 2`, and likewise for columns. Otherwise [`prepare`](Self::prepare) fails.
    #[must_use]
    pub fn origin(mut self, rows: isize, columns: isize) -> Self {
        self.origin = [rows, columns];
        self
    }

    /// Returns the operation for pictures whose pixels have this number of interleaved channels, each by itself. Arrays then have a last
    /// axis of this length. The default is pictures with one channel and no axis for it.
    #[must_use]
    pub fn channels(mut self, channels: usize) -> Self {
        self.channels = Some(channels);
        self
    }

    /// Returns the operation with this treatment of NaNs. The default is [`RankNanPolicy::Propagate`].
    #[must_use]
    pub fn nan_policy(mut self, policy: RankNanPolicy) -> Self {
        self.nan_policy = policy;
        self
    }

    /// Checks the operation and binds it to a device: loads the kernels and uploads the element, after all work that was enqueued before.
    /// Returns the prepared operation.
    ///
    /// # Errors
    ///
    /// * [`RankError::NoSamples`] for an element without samples.
    /// * [`Error::TooLarge`] for an element with more than 4,096 rows or columns, or 2^16 channels or more.
    /// * [`Filter2dError::Constants`] for [`boundaries`](Self::boundaries) with different constants.
    /// * [`RankError::Origin`] for an [`origin`](Self::origin) outside of the element.
    /// * [`Filter2dError::Zero`] for 0 channels.
    /// * [`Error::OutOfHostMemory`] if there is no memory for the element.
    /// * The errors of [`Device::upload`] and, on a GPU, of [`Device::kernel`].
    pub fn prepare(&self, device: &Device) -> Result<PreparedMorphology2d<S>> {
        // It also checks the origin for the dilation.
        let erosion = self.erosion_step()?;
        let dilation = || self.dilation_step();
        let (form, first, second) = match self.operation {
            Operation::Erosion => (Form::Last, erosion, None),
            Operation::Dilation => (Form::Last, dilation()?, None),
            Operation::Opening => (Form::Last, erosion, Some(dilation()?)),
            Operation::Closing => (Form::Last, dilation()?, Some(erosion)),
            Operation::Gradient => (Form::Gradient, dilation()?, Some(erosion)),
            Operation::TopHat => (Form::TopHat, erosion, Some(dilation()?)),
            Operation::BlackHat => (Form::BlackHat, dilation()?, Some(erosion)),
        };
        PreparedMorphology2d::new(device, form, first, second)
    }

    fn erosion_step(&self) -> Result<Step<S>> {
        let minimum = Rank2d::minimum(self.element.window.clone()).origin(self.origin[0], self.origin[1]);
        self.step(minimum, &self.element, S::GREATEST)
    }

    /// Returns the dilation, whose origin is in the element.
    fn dilation_step(&self) -> Result<Step<S>> {
        let (element, shape) = (self.element.reflected(), self.element.shape());
        // The middle of an even number of samples is the later one of two, before and after they are reflected.
        let [rows, columns] = [0, 1].map(|axis| -self.origin[axis] - isize::from(shape[axis].is_multiple_of(2)));
        self.step(Rank2d::maximum(element.window.clone()).origin(rows, columns), &element, S::LEAST)
    }

    fn step(&self, extreme: Rank2d<S>, element: &StructuringElement<S>, neutral: S) -> Result<Step<S>> {
        let [rows, columns] = self.boundaries.unwrap_or([Boundary::Constant(neutral); 2]);
        let extreme = extreme.boundaries(rows, columns).nan_policy(self.nan_policy);
        let extreme = match self.channels {
            None => extreme,
            Some(channels) => extreme.channels(channels),
        };
        Step::new(&extreme, element.heights()?)
    }
}

#[cfg(doc)]
use crate::{Error, filter2d::Filter2dError, rank2d::RankError};
