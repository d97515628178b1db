//! Description of a filter: plain data.

use super::algorithm::Method;
use super::{ErrorBound, Filter1dAlgorithm, Filter1dError, FilterElement, PreparedFilter1d, Reach, Taps};
use crate::cpu::allocation;
use crate::element::any::Erase;
use crate::filter::generated::{WeightSource, box_weights};
use crate::filter::origin;
use crate::filter::settings::{FilterSettings, setters};
use crate::{Boundary, Device, Extent, FilterSample, FilterWeight, Gaussian, Result};
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
    taps: Result<Arc<Vec<W>>>,
    channels: usize,
    stride: usize,
    bound: ErrorBound,
    settings: FilterSettings<S, Filter1dAlgorithm, 1>,
}

impl<T: FilterElement> Filter1d<T> {
    /// Returns a correlation: `y[i] = Σ_j taps[j] · x[i + j - m / 2]`.
    #[must_use]
    pub fn correlate(taps: &[T]) -> Self {
        Self::new(WeightSource::Given, allocation::copied(taps))
    }

    /// Returns a convolution: `y[i] = Σ_j taps[j] · x[i - j + m / 2]`. With an even number of taps, [`Extent::Same`] differs
    /// from `np.convolve`.
    #[must_use]
    pub fn convolve(taps: &[T]) -> Self {
        let mut filter = Self::new(WeightSource::Given, allocation::collected(taps.iter().rev().copied()));
        filter.settings.is_flipped = true;
        filter
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
        let Filter1d { taps, channels, stride, bound, settings } = self;
        Filter1d {
            taps,
            channels,
            stride,
            bound,
            settings: settings.for_samples(|outside| S::of_sum(Erase::to_f64(outside))),
        }
    }
}

impl<S, W> Filter1d<S, W> {
    fn new(source: WeightSource, taps: Result<Vec<W>>) -> Self {
        let taps = taps.map(Arc::new);
        Filter1d { taps, channels: 1, stride: 1, bound: ErrorBound::default(), settings: FilterSettings::new(source) }
    }
}

/// Generated taps. Their type is `f32`, and `f64` for samples of type `i32` and `f64`.
impl<S: FilterSample> Filter1d<S, S::Weight> {
    /// Returns a Gaussian blur. `2.0` is a standard deviation in samples; a [`Gaussian`] can have another radius or truncation.
    ///
    /// A standard deviation must be from 0 to 2^20, a radius at most 2^22, and a truncation finite and at least 0; otherwise
    /// [`prepare`](Self::prepare) fails.
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
    pub fn gaussian(gaussian: impl Into<Gaussian>) -> Self {
        Self::new(WeightSource::Gaussian, gaussian.into().weights::<_, Filter1dError>())
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
        Self::new(WeightSource::Box, box_weights("the length of a box", len))
    }
}

impl<S: FilterSample, W: FilterWeight> Filter1d<S, W> {
    setters!("signal", "", Filter1dAlgorithm);

    /// Returns the filter with another tap at an output's own place: `w[m / 2 + shift]`, for `m` taps. The default is 0, which is the
    /// centre; with an even number of taps, the later one of the two in the middle.
    ///
    /// * correlation: `y[i] = Σ_j w[j] · x[i + j - m / 2 - shift]`
    /// * convolution: `y[i] = Σ_j w[j] · x[i - j + m / 2 + shift]`
    ///
    /// This is the `origin` of SciPy's `correlate1d` and `convolve1d`. So a positive shift moves the result of a correlation to later
    /// outputs, and that of a convolution to earlier ones.
    ///
    /// The outputs of [`Extent::Valid`] and [`Extent::Full`] do not depend on the shift.
    ///
    /// The centre must stay within the taps: from `-(m / 2)` to `m - 1 - m / 2`. Otherwise [`prepare`](Self::prepare) fails.
    ///
    /// ```
    /// use slm::{Device, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// // The mean of a sample and of the two before it.
    /// let trailing = Filter1d::box_blur(3).origin(1).prepare(&device)?;
    /// assert_eq!(trailing.apply(&[3.0, 6.0, 9.0, 12.0])?, [1.0, 3.0, 6.0, 9.0]);
    /// // A causal filter: y[i] = x[i] - x[i - 1] / 2.
    /// let causal = Filter1d::convolve(&[1.0, -0.5]).origin(-1).prepare(&device)?;
    /// assert_eq!(causal.apply(&[8.0, 4.0, 2.0])?, [8.0, 0.0, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn origin(mut self, shift: isize) -> Self {
        self.settings.origin = [shift];
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
    /// assert_eq!(stereo.output_shape([4])?, [6]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn channels(mut self, channels: usize) -> Self {
        self.channels = channels;
        self
    }

    /// Returns the filter that computes only every `stride`-th output, beginning with the first one of the
    /// [extent](Self::extent): `y[s · i]` instead of `y[i]`. The default is 1. Of `n` outputs `⌈n / s⌉` remain, for each channel.
    ///
    /// A low-pass filter with a stride is a *decimation*. The other outputs are not computed. A stride must be from 1 to 2^31 - 1; otherwise
    /// [`prepare`](Self::prepare) fails. [Errors](super#numbers) have the same bound as without a stride, but sums of floats may have another order, and so other bits.
    ///
    /// All samples are read, so a stride may take longer than all outputs. On an H200, a long line of `f32` with a stride of 2 takes 1.6 times
    /// as long with 5 taps, as long with 257, and less with more. Lines of 8,192 samples take up to 2.4 times as long with strides up to 16, and
    /// 4.5 times as long with a stride of 100 and 65 taps. `i32` with hundreds of taps takes up to 1.7 times as long with a stride of 2, because
    /// only without a stride are there tensor cores. The default algorithm is the only one, and there are no
    /// [transforms](super#fourier-transforms). Channels, and samples of another type than the taps, are filtered by the kernels for pictures,
    /// which take much longer for a few long lines.
    ///
    /// ```
    /// use slm::{Boundary, Device, Extent, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let pairs = Filter1d::box_blur(2).extent(Extent::Valid).stride(2).prepare(&device)?;
    /// assert_eq!(pairs.apply(&[1.0, 3.0, 5.0, 9.0, 8.0])?, [2.0, 7.0]);
    /// let third = Filter1d::gaussian(2.0).boundary(Boundary::Reflect).stride(3).prepare(&device)?;
    /// assert_eq!(third.apply(&[0.0f32; 10])?.len(), 4);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn stride(mut self, stride: usize) -> Self {
        self.stride = stride;
        self
    }

    /// Returns the filter with this bound of errors, which limits the algorithms that [`Auto`](Filter1dAlgorithm::Auto) takes. The default is
    /// [`ErrorBound::PerOutput`].
    ///
    /// ```
    /// use slm::filter1d::ErrorBound;
    /// use slm::{Device, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let mean = Filter1d::box_blur(1001).error_bound(ErrorBound::PerSegment).prepare(&Device::open()?)?;
    /// let means = mean.apply(&vec![1.0f32; 10_000])?;
    /// assert!((means[5000] - 1.0).abs() < 1e-5);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn error_bound(mut self, bound: ErrorBound) -> Self {
        self.bound = bound;
        self
    }

    /// Returns the taps in the order in which they meet the samples, as [`correlate`](Self::correlate) takes them: those of a
    /// [`convolve`](Self::convolve) are flipped.
    ///
    /// A convolution with the [`origin`](Self::origin) `o` is the correlation with its taps and the origin `-o`, or `-o - 1` for an
    /// even number of taps.
    ///
    /// ```
    /// use slm::Filter1d;
    ///
    /// # fn main() -> slm::Result<()> {
    /// assert_eq!(Filter1d::convolve(&[1, 2, 3]).taps()?, [3, 2, 1]);
    /// assert_eq!(Filter1d::<f64>::box_blur(4).taps()?, [0.25; 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Filter1dError::NoTaps`], [`Filter1dError::Parameter`], [`Error::TooLarge`] and [`Error::OutOfHostMemory`] for taps that
    /// [`prepare`](Self::prepare) refuses with the same error.
    pub fn taps(&self) -> Result<&[W]> {
        let taps = self.taps.as_ref().map_err(Clone::clone)?;
        if taps.is_empty() { Err(Filter1dError::NoTaps.into()) } else { Ok(taps) }
    }

    /// Checks the filter and binds it to a device: loads the kernel and uploads the taps, after all work that was enqueued
    /// before. Returns the prepared filter.
    ///
    /// # Errors
    ///
    /// * [`Filter1dError::NoTaps`] without taps, and [`Error::TooLarge`] for 2^31 taps or more, and for a box of more than 2^24.
    /// * [`Filter1dError::Parameter`] for generated taps with an invalid parameter.
    /// * [`Error::OutOfHostMemory`] for generated taps or a copy of the taps.
    /// * [`Filter1dError::Origin`] for an [`origin`](Self::origin) outside of the taps.
    /// * [`Filter2dError::WeightsTooLarge`](crate::filter2d::Filter2dError::WeightsTooLarge) for taps of type `i32` and samples of
    ///   narrower integers whose sums might exceed 64 bits.
    /// * [`Filter1dError::NoChannels`] for 0 channels, and [`Error::TooLarge`] for 2^16 channels or more.
    /// * [`Filter1dError::NoStride`] for a stride of 0, and [`Error::TooLarge`] for one of 2^31 or more.
    /// * [`Filter1dError::NoStrides`] for a stride of more than 1 with another algorithm than [`Auto`](Filter1dAlgorithm::Auto).
    /// * [`Filter1dError::NotOnTensorCores`] for [`TensorCore`](Filter1dAlgorithm::TensorCore) with other samples, taps or channels than it is
    ///   for, and [`Filter1dError::NoTensorCores`] on an older GPU.
    /// * [`Filter1dError::NoTransforms`] for [`Fft`](Filter1dAlgorithm::Fft) with other samples, taps or channels than it is for, and
    ///   [`Error::TooLarge`] for more than 2^24 taps with it on the CPU.
    /// * [`Error::SharedMemoryExceeded`] if the requested algorithm needs more shared memory than the device has.
    /// * The errors of [`Device::upload`] and, on a GPU, of [`Device::kernel`].
    pub fn prepare(&self, device: &Device) -> Result<PreparedFilter1d<S>> {
        PreparedFilter1d::new(
            device,
            &self.described()?,
            Method { algorithm: self.settings.algorithm, bound: self.bound },
        )
    }

    /// Returns the filter in the form that devices use.
    pub(super) fn described(&self) -> Result<Taps<S, W>> {
        let FilterSettings { source, is_flipped, origin: [origin], boundaries: [boundary], extent, .. } = self.settings;
        let (count, (border, outside)) = (self.taps()?.len(), boundary.border());
        let error = Filter1dError::Origin { origin, taps: count };
        let left = origin::left(count, origin, is_flipped).ok_or(error)?;
        let reach = Reach { taps: count, left, extent, channels: self.channels, stride: self.stride };
        Ok(Taps { taps: self.taps.clone()?, source, border, outside, reach })
    }
}

#[cfg(doc)]
use crate::Error;
