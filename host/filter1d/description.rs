//! Description of a filter: plain data.

use super::{FilterAlgorithm, FilterElement, FilterError, PreparedFilter1d, Reach, Taps};
use crate::any::Erase;
use crate::generated::{Origin, box_weights, gaussian_weights};
use crate::{Boundary, Device, Extent, FilterSample, FilterWeight, Result};
use std::sync::Arc;

/// A one-dimensional filter, described but not yet bound to a device. `S` is the type of the samples and of the outputs, `W` of
/// the taps.
///
/// The [module](super) has the formulas.
///
/// ```
/// use slm::{Boundary, Device, Extent, Filter1d};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// let difference = Filter1d::convolve(&[1, -1]).extent(Extent::Valid).prepare(&device)?;
/// assert_eq!(difference.apply(&[2, 3, 5, 8])?, [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Filter1d<S, W = S> {
    taps: Result<Arc<[W]>>,
    origin: Origin,
    /// Number of samples before sample `i` that output `i` depends on.
    left: usize,
    boundary: Boundary<S>,
    extent: Extent,
    channels: usize,
    algorithm: FilterAlgorithm,
}

impl<T: FilterElement> Filter1d<T> {
    /// Returns a correlation: `y[i] = Σ_j taps[j] · x[i + j - m / 2]`.
    #[must_use]
    pub fn correlate(taps: &[T]) -> Self {
        Self::new(Ok(taps.into()), taps.len() / 2)
    }

    /// Returns a convolution: `y[i] = Σ_j taps[j] · x[i - j + m / 2]`. With an even number of taps, [`Extent::Same`] differs
    /// from `np.convolve`.
    #[must_use]
    pub fn convolve(taps: &[T]) -> Self {
        Self::new(Ok(taps.iter().rev().copied().collect()), taps.len().saturating_sub(1 + taps.len() / 2))
    }

    /// Returns the filter for samples and outputs of another type, with the same taps. The constant of a
    /// [`boundary`](Self::boundary) is converted as sums are converted to outputs.
    ///
    /// ```
    /// use slm::{Device, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let mean = Filter1d::correlate(&[0.5f32, 0.5]).samples().prepare(&Device::open()?)?;
    /// assert_eq!(mean.apply(&[10u16, 20, 65_535])?, [5, 15, 32_778]); // 32777.5 is rounded to an even number
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn samples<S: FilterSample>(self) -> Filter1d<S, T> {
        let Filter1d { taps, origin, left, boundary, extent, channels, algorithm } = self;
        let boundary = boundary.map(|outside| S::of_sum(Erase::to_f64(outside)));
        Filter1d { taps, origin, left, boundary, extent, channels, algorithm }
    }
}

impl<S, W> Filter1d<S, W> {
    fn new(taps: Result<Arc<[W]>>, left: usize) -> Self {
        let (boundary, extent, algorithm) = (Boundary::Zero, Extent::Same, FilterAlgorithm::Auto);
        Filter1d { taps, origin: Origin::Given, left, boundary, extent, channels: 1, algorithm }
    }
}

/// Generated taps. Their type is `f32`, and `f64` for samples of type `i32` and `f64`.
impl<S: FilterSample> Filter1d<S, S::Weight> {
    /// Returns a Gaussian blur with this standard deviation, in samples, with the weights of
    /// [`Filter2d::gaussian`](crate::Filter2d::gaussian) along one axis.
    ///
    /// `sigma` must be from 0 to 2^20; otherwise [`prepare`](Self::prepare) fails.
    ///
    /// ```
    /// use slm::{Boundary, Device, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let blur = Filter1d::gaussian(1.0).boundary(Boundary::Nearest).prepare(&Device::open()?)?;
    /// let step = blur.apply(&[0.0f32, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0])?;
    /// assert!((step[3] - 0.30).abs() < 0.01 && (step[4] - 0.70).abs() < 0.01);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn gaussian(sigma: f64) -> Self {
        Self::generated(Origin::Gaussian, gaussian_weights(sigma).map_err(|error| FilterError::from(error).into()))
    }

    /// Returns the mean of `len` samples: a correlation with equal taps.
    ///
    /// The mean of integers is an exact sum, divided and rounded once, to the nearest integer, ties to even.
    ///
    /// `len` must be from 1 to 2^24; otherwise [`prepare`](Self::prepare) fails.
    ///
    /// ```
    /// use slm::{Device, Extent, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let mean = Filter1d::box_blur(4).extent(Extent::Valid).prepare(&Device::open()?)?;
    /// assert_eq!(mean.apply(&[1.0, 2.0, 3.0, 4.0, 5.0])?, [2.5, 3.5]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn box_blur(len: usize) -> Self {
        Self::generated(Origin::Box, box_weights("the length of a box", len))
    }

    /// Returns the correlation with generated taps.
    fn generated(origin: Origin, taps: Result<Vec<S::Weight>>) -> Self {
        let left = taps.as_ref().map_or(0, |taps| taps.len() / 2);
        Filter1d { origin, ..Self::new(taps.map(Into::into), left) }
    }
}

impl<S: FilterSample, W: FilterWeight> Filter1d<S, W> {
    /// Returns the filter with these values outside the signal. The default is [`Boundary::Zero`].
    #[must_use]
    pub fn boundary(mut self, boundary: Boundary<S>) -> Self {
        self.boundary = boundary;
        self
    }

    /// Returns the filter with this range of outputs. The default is [`Extent::Same`].
    #[must_use]
    pub fn extent(mut self, extent: Extent) -> Self {
        self.extent = extent;
        self
    }

    /// Returns the filter for lines with this number of interleaved channels: element `i` of a line belongs to channel
    /// `i % channels`. Each channel is filtered by itself. The default is 1.
    ///
    /// | samples | lines |
    /// |---|---|
    /// | a slice or a buffer | samples times channels |
    /// | a matrix, along axis 1 | rows of samples times channels |
    /// | a matrix, along axis 0 | columns. Channels are neighbouring columns |
    ///
    /// Lengths and shapes of samples and of outputs count all channels. Boundary and extent are those of a channel.
    ///
    /// ```
    /// use slm::{Device, Extent, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let stereo = Filter1d::correlate(&[1, 10]).extent(Extent::Full).channels(2).prepare(&Device::open()?)?;
    /// assert_eq!(stereo.apply(&[1, 5, 2, 6])?, [10, 50, 21, 65, 2, 6]);
    /// assert_eq!(stereo.output_len(4)?, 6);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn channels(mut self, channels: usize) -> Self {
        self.channels = channels;
        self
    }

    /// Returns the filter with this algorithm. The default is [`FilterAlgorithm::Auto`].
    #[must_use]
    pub fn algorithm(mut self, algorithm: FilterAlgorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Checks the filter and binds it to a device: loads the kernel and uploads the taps, after all work that was enqueued
    /// before. Returns the prepared filter.
    ///
    /// # Errors
    ///
    /// * [`FilterError::NoTaps`] without taps, and [`Error::TooLarge`] for 2^31 taps or more, and for a box of more than 2^24.
    /// * [`FilterError::Parameter`] for generated taps with an invalid parameter.
    /// * [`Filter2dError::WeightsTooLarge`](crate::filter2d::Filter2dError::WeightsTooLarge) for taps of type `i32` and samples of
    ///   narrower integers whose sums might exceed 64 bits.
    /// * [`FilterError::NoChannels`] for 0 channels, and [`Error::TooLarge`] for 2^16 channels or more.
    /// * [`Error::SharedMemoryExceeded`] if the requested algorithm needs more shared memory than the device has.
    /// * The errors of [`Device::upload`] and, on a GPU, of [`Device::kernel`].
    pub fn prepare(&self, device: &Device) -> Result<PreparedFilter1d<S>> {
        PreparedFilter1d::new(device, &self.taps()?, self.algorithm)
    }

    pub(super) fn taps(&self) -> Result<Taps<S, W>> {
        let (taps, (border, outside)) = (self.taps.clone()?, self.boundary.border());
        let reach = Reach { taps: taps.len(), left: self.left, extent: self.extent, channels: self.channels };
        Ok(Taps { taps, origin: self.origin, border, outside, reach })
    }
}

#[cfg(doc)]
use crate::Error;
