//! Description of a two-dimensional filter: plain data.

use super::any_weights::AnyWeights;
use super::choose::added;
use super::element::peak;
use super::generated::{laplacian, sobel, unsharp_weights};
use super::mean::Mean;
use super::rule::FilterRule;
use super::weights::Weights;
use super::window::Window;
use super::{Filter2dAlgorithm, Filter2dError, FilterSample, FilterWeight, PreparedFilter2d};
use crate::cpu::allocation;
use crate::element::any::Erase;
use crate::filter::generated::{WeightSource, box_weights};
use crate::filter::settings::{FilterSettings, setters};
use crate::filter1d::ErrorBound;
use crate::{Boundary, Device, Extent, Gaussian, Gaussian2d, Result};
use ndarray::{Array2, ArrayView2};
use slm_kernels::signal::Border;
use std::marker::PhantomData;
use std::sync::Arc;

/// A two-dimensional filter, described but not yet bound to a device. `S` is the type of the samples, `W` of the weights, `O`
/// of the outputs.
///
/// The [module](super) has the formulas.
///
/// ```
/// use slm::ndarray::array;
/// use slm::{Boundary, Device, Filter2d};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// let cross = array![[0, 1, 0], [1, 1, 1], [0, 1, 0]];
/// let sum = Filter2d::correlate(&cross).boundary(Boundary::Nearest).prepare(&device)?;
/// assert_eq!(sum.apply(&array![[1, 2], [3, 4]])?, array![[8, 11], [14, 17]]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Filter2d<S, W, O = S> {
    weights: Result<Weights<W>>,
    /// Of rows and columns.
    settings: FilterSettings<S, Filter2dAlgorithm, 2>,
    stride: [usize; 2],
    dilation: [usize; 2],
    /// `None` if arrays have no axis for channels.
    channels: Option<usize>,
    nan_policy: NanPolicy,
    bound: ErrorBound,
    output: PhantomData<O>,
}

/// Treatment of NaNs among samples of type `f32` and `f64`. Integers have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NanPolicy {
    /// Outputs whose window contains a NaN are NaN.
    #[default]
    Propagate,
    /// NaNs are missing samples: `y = (Σ w · x) · (Σ w / Σ_present w)`, where the first and the last sum are over the weights
    /// of the samples that are present. An output is NaN if `Σ_present w` is 0. So if the sum of
    /// all weights, with its roundings, is 0, outputs are NaN where all samples are present, and 0 or NaN elsewhere.
    ///
    /// The weights must be finite; with others, outputs next to a NaN are unspecified.
    ///
    /// Samples outside the picture are present, unless the boundary has a NaN there. This is the interpolation of
    /// `astropy.convolution.convolve` with `nan_treatment="interpolate"`.
    Renormalise,
}

impl<S: FilterSample, W: FilterWeight> Filter2d<S, W> {
    /// Returns a correlation: `y[r, c] = Σ_i Σ_j w[i, j] · x[r + i - h / 2, c + j - v / 2]` for `h` rows and `v` columns of
    /// weights.
    #[must_use]
    pub fn correlate<'a>(weights: impl Into<ArrayView2<'a, W>>) -> Self {
        let weights = weights.into();
        let values = allocation::collected(weights.iter().copied());
        Self::new(WeightSource::Given, values.map(|values| Weights::dense([weights.nrows(), weights.ncols()], values)))
    }

    /// Returns a convolution: `y[r, c] = Σ_i Σ_j w[i, j] · x[r - i + h / 2, c - j + v / 2]` for `h` rows and `v` columns of
    /// weights.
    #[must_use]
    pub fn convolve<'a>(weights: impl Into<ArrayView2<'a, W>>) -> Self {
        let mut filter = Self::correlate(weights);
        filter.weights = filter.weights.and_then(Weights::flipped);
        filter.settings.is_flipped = true;
        filter
    }

    /// Returns the correlation with the outer product of two vectors of weights, `w[i, j] = column[i] · row[j]`.
    ///
    /// The CPU sums down the columns first and then along the rows, which takes `h + v` products per output instead of `h · v`. GPUs
    /// do the same for many weights with [`Auto`](Filter2dAlgorithm::Auto), and in the other order with
    /// [`Separable`](Filter2dAlgorithm::Separable); equal weights may be computed as a [`Box`](Filter2dAlgorithm::Box). With other
    /// algorithms they expand the weights to `h · v` numbers. All devices expand them for [`NanPolicy::Renormalise`].
    ///
    /// Unlike two calls of a one-dimensional filter, it equals the correlation with the outer product except for rounding for
    /// every boundary. SciPy's `ndimage` continues the intermediate result with the constant again.
    #[must_use]
    pub fn separable(column: &[W], row: &[W]) -> Self {
        let copied = |weights| allocation::copied(weights).map(Arc::new);
        Self::new(WeightSource::Given, copied(column).and_then(|column| Ok(Weights::separable(column, copied(row)?))))
    }

    fn new(source: WeightSource, weights: Result<Weights<W>>) -> Self {
        Filter2d {
            weights,
            settings: FilterSettings::new(source),
            stride: [1, 1],
            dilation: [1, 1],
            channels: None,
            nan_policy: NanPolicy::Propagate,
            bound: ErrorBound::PerOutput,
            output: PhantomData,
        }
    }
}

/// Generated weights. Their type is `f32`, and `f64` for samples of type `i32` and `f64`.
impl<S: FilterSample> Filter2d<S, S::Weight> {
    /// Returns a Gaussian blur: a [`separable`](Self::separable) filter with the weights of a [`Gaussian`](crate::Gaussian) along each
    /// axis. `2.0` is a standard deviation in pixels along both axes, `[1.0, 3.0]` are those down the columns and along the rows;
    /// [`Gaussian2d`] lists what else it takes. SciPy's `gaussian_filter` has the same weights.
    ///
    /// By default there are about `8 · sigma + 1` weights along each axis, and as many products per output and axis, for all types,
    /// channels and steps, unless NaNs are left out, or on a GPU if all weights at once take less time, as few weights do. With
    /// [`error_bound`](Self::error_bound) many weights take fewer operations.
    ///
    /// A standard deviation must be from 0 to 2^20, a radius at most 2^22, and a truncation finite and at least 0; otherwise
    /// [`prepare`](Self::prepare) fails.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Device, Filter2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let along_rows = Filter2d::gaussian([0.0, 1.0]).prepare(&Device::open()?)?;
    /// let picture = array![[0u8, 0, 0, 0, 0], [0, 0, 100, 0, 0], [0, 0, 0, 0, 0]];
    /// assert_eq!(along_rows.apply(&picture)?, array![[0, 0, 0, 0, 0], [5, 24, 40, 24, 5], [0, 0, 0, 0, 0]]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn gaussian(gaussian: impl Into<Gaussian2d>) -> Self {
        let Gaussian2d { rows, columns } = gaussian.into();
        let vector = |gaussian: Gaussian| gaussian.weights::<_, Filter2dError>().map(Arc::new);
        Self::new(
            WeightSource::Gaussian,
            vector(rows).and_then(|column| Ok(Weights::separable(column, vector(columns)?))),
        )
    }

    /// Returns the mean of `rows` x `columns` samples: a [`separable`](Self::separable) filter with equal weights.
    ///
    /// The number of operations per output hardly depends on the size if strides and dilations are 1 and NaNs propagate: on the CPU,
    /// and on a GPU with [`Box`](Filter2dAlgorithm::Box), which takes most windows of up to hundreds of rows and columns. In other
    /// cases it takes `rows + columns` products per output, or all `rows · columns` if that takes less time on a GPU, or if NaNs are left
    /// out.
    ///
    /// The mean of integers is an exact sum, divided and [rounded once](super#means-of-integers).
    ///
    /// `rows` and `columns` must be from 1 to 2^24; otherwise [`prepare`](Self::prepare) fails.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Boundary, Device, Filter2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let mean = Filter2d::box_blur(2, 2).boundary(Boundary::Nearest).prepare(&Device::open()?)?;
    /// // 1.5, 2.5 and 65,534.5 are rounded to even numbers.
    /// assert_eq!(mean.apply(&array![[1u16, 2, 3], [1, 2, 3]])?.row(1).to_vec(), [1, 2, 2]);
    /// assert_eq!(mean.apply(&array![[65_534u16, 65_535]])?, array![[65_534, 65_534]]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn box_blur(rows: usize, columns: usize) -> Self {
        let row = box_weights("the columns of a box", columns);
        let column = box_weights("the rows of a box", rows);
        let weights = column.and_then(|column| Ok(Weights::separable(column.into(), row?.into())));
        Self::new(WeightSource::Box, weights)
    }

    /// Returns the horizontal Sobel derivative, positive where samples increase along a row: the separable filter with the column
    /// `[1, 2, 1]` and the row `[-1, 0, 1]`.
    ///
    /// Unsigned samples need signed outputs: `Filter2d::<u8, f32>::sobel_x().output::<i16>()`.
    #[must_use]
    pub fn sobel_x() -> Self {
        let [smooth, difference] = sobel();
        Self::new(WeightSource::Given, Ok(Weights::separable(smooth, difference)))
    }

    /// Returns the vertical Sobel derivative, positive where samples increase down a column. It is the transposed
    /// [`sobel_x`](Self::sobel_x).
    #[must_use]
    pub fn sobel_y() -> Self {
        let [smooth, difference] = sobel();
        Self::new(WeightSource::Given, Ok(Weights::separable(difference, smooth)))
    }

    /// Returns the Laplacian of the four neighbours: `[0, 1, 0]`, `[1, -4, 1]`, `[0, 1, 0]`. Unsigned samples need signed outputs, as
    /// for [`sobel_x`](Self::sobel_x).
    #[must_use]
    pub fn laplacian() -> Self {
        Self::new(WeightSource::Given, Ok(Weights::dense([3, 3], laplacian())))
    }

    /// Returns an unsharp mask: `x + amount · (x - blurred)`, where `blurred` is the [`gaussian`](Self::gaussian) of `x`. It is one
    /// dense filter, of `(8 · sigma + 1)²` weights by default, which are computed in double precision.
    ///
    /// A standard deviation must be from 0 to 128, a radius at most 512, a truncation finite and at least 0, and `amount` finite;
    /// otherwise [`prepare`](Self::prepare) fails.
    #[must_use]
    pub fn unsharp(gaussian: impl Into<Gaussian2d>, amount: f64) -> Self {
        Self::new(WeightSource::Given, unsharp_weights(gaussian.into(), amount))
    }
}

impl<S: FilterSample, W: FilterWeight, O: FilterSample> Filter2d<S, W, O> {
    /// Returns the filter with outputs of another type. The default is the type of the samples.
    #[must_use]
    pub fn output<P: FilterSample>(self) -> Filter2d<S, W, P> {
        Filter2d {
            output: PhantomData,
            weights: self.weights,
            settings: self.settings,
            stride: self.stride,
            dilation: self.dilation,
            channels: self.channels,
            nan_policy: self.nan_policy,
            bound: self.bound,
        }
    }

    setters!("picture", ", along both axes", Filter2dAlgorithm);

    /// Returns the filter with a boundary for each axis: `rows` continues the picture above and below, and `columns` to the left and
    /// to the right. The default is [`Boundary::Zero`] for both.
    ///
    /// Outside, each boundary selects the row or the column of a sample. If one of them is a constant there, the sample is the
    /// constant, also in the corners. So the order of the axes does not matter. Two constants must be equal, and [`Boundary::Zero`]
    /// is a constant of 0; otherwise [`prepare`](Self::prepare) fails.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Boundary, Device, Filter2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// // A cylinder, whose columns go around.
    /// let sum = Filter2d::correlate(&array![[1, 1, 1]]).boundaries(Boundary::Zero, Boundary::Wrap);
    /// let picture = array![[1, 2, 4], [10, 20, 40]];
    /// assert_eq!(sum.prepare(&Device::open()?)?.apply(&picture)?, array![[7, 7, 7], [70, 70, 70]]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn boundaries(mut self, rows: Boundary<S>, columns: Boundary<S>) -> Self {
        self.settings.boundaries = [rows, columns];
        self
    }

    /// Returns the filter with other weights at an output's own place: `w[h / 2 + rows, v / 2 + columns]`, for `h` rows and `v`
    /// columns of weights. The default is 0 and 0, which is the centre; with an even number of weights, the later one of the two in
    /// the middle.
    ///
    /// * correlation: `y[r, c] = Σ_i Σ_j w[i, j] · x[r + i - h / 2 - rows, c + j - v / 2 - columns]`
    /// * convolution: `y[r, c] = Σ_i Σ_j w[i, j] · x[r - i + h / 2 + rows, c - j + v / 2 + columns]`
    ///
    /// These are the `origin=(rows, columns)` of SciPy's `ndimage.correlate` and `ndimage.convolve`. So a positive number moves the
    /// result of a correlation down and to the right, and that of a convolution up and to the left. An origin is in weights: with a
    /// [`dilation`](Self::dilation), the result moves by multiples of it.
    ///
    /// The outputs of [`Extent::Valid`] and [`Extent::Full`] do not depend on the origin.
    ///
    /// The weight at an output's own place must exist: from `-(h / 2)` to `h - 1 - h / 2`, and likewise for columns. Otherwise
    /// [`prepare`](Self::prepare) fails.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Device, Filter2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let sums = Filter2d::correlate(&array![[1, 10, 100]]);
    /// let picture = array![[1, 2, 3, 4]];
    /// let trailing = sums.clone().origin(0, 1).prepare(&device)?; // x[c - 2] + 10 x[c - 1] + 100 x[c]
    /// assert_eq!(trailing.apply(&picture)?, array![[100, 210, 321, 432]]);
    /// let leading = sums.origin(0, -1).prepare(&device)?; // x[c] + 10 x[c + 1] + 100 x[c + 2]
    /// assert_eq!(leading.apply(&picture)?, array![[321, 432, 43, 4]]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn origin(mut self, rows: isize, columns: isize) -> Self {
        self.settings.origin = [rows, columns];
        self
    }

    /// Returns the filter that computes only every `rows`-th row and every `columns`-th column of the outputs, beginning with
    /// the first ones. The default is 1 and 1.
    #[must_use]
    pub fn stride(mut self, rows: usize, columns: usize) -> Self {
        self.stride = [rows, columns];
        self
    }

    /// Returns the filter whose weights are `rows` rows and `columns` columns of samples apart. The default is 1 and 1.
    #[must_use]
    pub fn dilation(mut self, rows: usize, columns: usize) -> Self {
        self.dilation = [rows, columns];
        self
    }

    /// Returns the filter for pictures whose pixels have this number of interleaved channels. Each channel is filtered by
    /// itself. Arrays then have a last axis of this length. The default is pictures with one channel and no axis for it.
    #[must_use]
    pub fn channels(mut self, channels: usize) -> Self {
        self.channels = Some(channels);
        self
    }

    /// Returns the filter with this treatment of NaNs. The default is [`NanPolicy::Propagate`].
    #[must_use]
    pub fn nan_policy(mut self, policy: NanPolicy) -> Self {
        self.nan_policy = policy;
        self
    }

    /// Returns the filter with this bound of errors, which limits the algorithms that [`Auto`](Filter2dAlgorithm::Auto) takes. The default is
    /// [`ErrorBound::PerOutput`].
    ///
    /// With [`ErrorBound::PerSegment`], outer products with many weights are computed by [transforms of
    /// lines](crate::filter2d#fourier-transforms): Gaussians with large standard deviations in a time that hardly depends on these. The CPU
    /// takes them for at least 192 rows or columns of weights, and 1 or at least 96 of the others, with memory for about four pictures of
    /// sums; a GPU where they take less time, with memory for two. Filters with sums of integers,
    /// [strides](Self::stride), [dilations](Self::dilation), [`NanPolicy::Renormalise`] or a requested algorithm are not transformed.
    ///
    /// The CPU also transforms weights that are no outer product: from about 16 × 16 on for pictures of 4096 × 4096, 20 × 20 for 300 × 300 and
    /// 38 × 38 for 100 × 100, up to about 1,450 × 1,450, or 840 × 840 with three channels. That takes memory for 2^22 sums, or for two panels
    /// of the picture if that is more. Transforms of `N` points take that of `3 · N` sums for each thread, and that of about `5 · N` sums is
    /// kept for each of the last 32 shapes of pictures; its preparation takes about `40 · N` bytes more. `N` is up to eight times the number
    /// of samples in as many of a panel's rows as there are rows of weights.
    ///
    /// ```
    /// use slm::filter1d::ErrorBound;
    /// use slm::ndarray::Array3;
    /// use slm::{Boundary, Device, Filter2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let picture = Array3::<u8>::from_elem((300, 400, 3), 100);
    /// let blur = Filter2d::gaussian(60.0).channels(3).boundary(Boundary::Nearest).error_bound(ErrorBound::PerSegment);
    /// assert_eq!(blur.prepare(&Device::open()?)?.apply(&picture)?, picture);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn error_bound(mut self, bound: ErrorBound) -> Self {
        self.bound = bound;
        self
    }

    /// Returns the weights in the order in which they meet the samples, as [`correlate`](Self::correlate) takes them: those of a
    /// [`convolve`](Self::convolve) are flipped along both axes. The outer product of a [`separable`](Self::separable) filter is
    /// expanded, with each product rounded once.
    ///
    /// A convolution with the [`origin`](Self::origin) `o` is the correlation with its weights and the origin `-o`, or `-o - 1` along
    /// an axis with an even number of weights.
    ///
    /// ```
    /// use slm::Filter2d;
    /// use slm::ndarray::array;
    ///
    /// # fn main() -> slm::Result<()> {
    /// assert_eq!(Filter2d::<f32, _>::sobel_y().weights()?, array![[-1.0, -2.0, -1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 1.0]]);
    /// let flipped = Filter2d::<i32, _>::convolve(&array![[1, 2], [3, 4]]);
    /// assert_eq!(flipped.weights()?, array![[4, 3], [2, 1]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Filter2dError::NoWeights`], [`Filter2dError::Parameter`] and [`Error::TooLarge`] for weights that
    ///   [`prepare`](Self::prepare) refuses with the same error.
    /// * [`Filter2dError::ProductTooLarge`] if a product of integer weights exceeds their type.
    /// * [`Error::OutOfHostMemory`] if there is no memory for the weights.
    pub fn weights(&self) -> Result<Array2<W>> {
        self.weights.as_ref().map_err(Clone::clone)?.array()
    }

    /// Checks the filter and binds it to a device: loads the kernel and uploads the weights, after all work that was enqueued
    /// before. Returns the prepared filter.
    ///
    /// # Errors
    ///
    /// * [`Filter2dError::NoWeights`] without weights, and [`Error::TooLarge`] for a box with a side of more than 2^24.
    /// * [`Filter2dError::Parameter`] for generated weights with an invalid parameter.
    /// * [`Filter2dError::Constants`] for [`boundaries`](Self::boundaries) with different constants.
    /// * [`Filter2dError::Origin`] for an [`origin`](Self::origin) outside of the weights.
    /// * [`Filter2dError::WeightsTooLarge`] for integer samples and weights whose sums might exceed 64 bits.
    /// * [`Filter2dError::Zero`] for a stride, a dilation or a number of channels of 0.
    /// * [`Error::TooLarge`] if a stride or the dilated weights span 2^31 rows or columns or more, and for 2^16 channels or more.
    /// * [`Filter2dError::RegisterTiled`] if that algorithm was requested for a GPU, and it does not support the filter.
    /// * [`Filter2dError::NoKernel`], [`Filter2dError::NotSeparable`], [`Filter2dError::UnequalWeights`],
    ///   [`Filter2dError::BoxTooWide`] or [`Filter2dError::BoxTooHigh`] if [`Streaming`](Filter2dAlgorithm::Streaming), [`Separable`](Filter2dAlgorithm::Separable) or
    ///   [`Box`](Filter2dAlgorithm::Box) was requested for a GPU, and there is no such kernel for the filter.
    /// * [`Error::OutOfHostMemory`] if there is no memory for the weights, which are expanded to `h · v` numbers for
    ///   [`NanPolicy::Renormalise`], and on a GPU unless they are computed as [`Separable`](Filter2dAlgorithm::Separable) or
    ///   [`Box`](Filter2dAlgorithm::Box).
    /// * [`Error::SharedMemoryExceeded`] if the requested algorithm needs more shared memory than the device has.
    /// * The errors of [`Device::upload`] and, on a GPU, of [`Device::kernel`].
    pub fn prepare(&self, device: &Device) -> Result<PreparedFilter2d<S, O>> {
        let FilterSettings { source, is_flipped, origin, boundaries, extent, algorithm } = self.settings;
        let described = self.weights.clone()?.placed(origin, is_flipped)?;
        let (borders, outside) = borders(boundaries)?;
        let window = Window::new(&described, borders, extent, self.stride, self.dilation, self.channels)?;
        let kinds = [S::KIND, O::KIND];
        let added = added(algorithm, described.shape, window.rows.stride());
        let mean = Mean::new(source, described.shape, kinds, added);
        let (weights, divisor) = AnyWeights::new(&described, S::KIND, mean)?;
        // Integers are never missing.
        let renormalise = self.nan_policy == NanPolicy::Renormalise && peak(S::KIND).is_none();
        let weights = if renormalise { weights.densified()? } else { weights };
        let (outside, boxes) = (outside.scalar(), !renormalise);
        let (bound, weights_of) = (self.bound, W::NAME);
        let rule =
            FilterRule { window, outside, renormalise, boxes, divisor, algorithm, bound, kinds, weights: weights_of };
        PreparedFilter2d::new(device, weights, rule)
    }
}

/// Returns the borders of rows and columns for kernels, and the value outside of constant ones, or an error if they have two.
pub(in crate::filter) fn borders<S: FilterSample>(boundaries: [Boundary<S>; 2]) -> Result<([Border; 2], S)> {
    let [(rows, above), (columns, before)] = boundaries.map(Boundary::border);
    let outside = match (rows, columns) {
        (Border::Constant, Border::Constant) => {
            let constants = [above, before].map(Erase::to_f64);
            let are_equal = constants[0] == constants[1] || constants.iter().all(|constant| constant.is_nan());
            if !are_equal {
                return Err(Filter2dError::Constants { rows: constants[0], columns: constants[1] }.into());
            }
            above
        }
        (Border::Constant, _) => above,
        (_, _) => before,
    };
    Ok(([rows, columns], outside))
}

#[cfg(doc)]
use crate::Error;
