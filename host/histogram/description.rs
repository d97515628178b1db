//! Description of a histogram: plain data.

use super::{Bins, CountingRule, HistogramAlgorithm, HistogramBound, HistogramElement, PreparedHistogram};
use crate::cpu::allocation;
use crate::{Device, Result};
use std::ops::Range;
use std::sync::Arc;

/// A histogram, described but not yet bound to a device.
///
/// The [module](super) has the definitions.
///
/// ```
/// use slm::{Device, Histogram};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// let tenths = Histogram::even(10, 0.0f32..1.0).closed().prepare(&device)?;
/// let counts = tenths.apply(&[0.25, 0.26, 1.0, -0.5, f32::NAN])?;
/// assert_eq!(counts.bins()?, [0, 0, 2, 0, 0, 0, 0, 0, 0, 1]);
/// assert_eq!((counts.below()?, counts.above()?, counts.nan()?), (1, 0, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram<T: HistogramElement> {
    bins: Result<Bins<T>>,
    closed: bool,
    channels: usize,
    /// `None` for all channels.
    counted: Option<usize>,
    algorithm: HistogramAlgorithm,
}

impl Histogram<u8> {
    /// Returns a histogram of bytes with 256 bins, one per value.
    ///
    /// ```
    /// # fn main() -> slm::Result<()> {
    /// let counts = slm::Histogram::bytes().prepare(&slm::Device::cpu())?.apply(b"hello")?;
    /// assert_eq!(counts.bins()?[usize::from(b'l')], 2);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn bytes() -> Self {
        Self::even(256, 0..256)
    }
}

impl Histogram<u16> {
    /// Returns a histogram of the `bits` low bits of each sample, from 1 to 16 bits, with `2^bits` bins. The other bits are
    /// ignored, so no sample is outside.
    ///
    /// ```
    /// # fn main() -> slm::Result<()> {
    /// let counts = slm::Histogram::low_bits(10).prepare(&slm::Device::cpu())?.apply(&[3, 0xfc03, 1023])?;
    /// let bins = counts.bins()?;
    /// assert_eq!((bins.len(), bins[3], bins[1023]), (1024, 2, 1));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn low_bits(bits: u32) -> Self {
        Self::new(Bins::LowBits(bits))
    }
}

impl Histogram<f64> {
    /// Returns the histogram for samples of type `f32`, with the same bounds: a sample is compared with them
    /// exactly, as `f64`. So each edge becomes the smallest `f32` that is not less than it. For [`even`](Self::even) bins this
    /// holds for both ends, and the borders between them are computed from the rounded ends.
    ///
    /// [`closed`](Self::closed) before this call includes samples that equal the exact upper end, and after it those that equal the
    /// `f32`. Edges that become equal are the error [`HistogramError::EdgeOrder`] of [`prepare`](Self::prepare), and an end of `even`
    /// bins beyond the largest `f32` is [`HistogramError::Range`].
    ///
    /// ```
    /// use slm::{Device, Histogram};
    ///
    /// # fn main() -> slm::Result<()> {
    /// // 0.1 as `f32` is greater than 0.1 as `f64`, and 0.7 is less.
    /// let edges: [f64; 4] = [0.0, 0.1, 0.7, 1.0];
    /// let counts = Histogram::edges(&edges).single_precision().prepare(&Device::cpu())?.apply(&[0.1, 0.7])?;
    /// assert_eq!(counts.bins()?, [0, 2, 0]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn single_precision(self) -> Histogram<f32> {
        let Histogram { bins, closed, channels, counted, algorithm } = self;
        let upper = match &bins {
            Ok(Bins::LowBits(_)) | Err(_) => None,
            &Ok(Bins::Even { upper, .. }) => Some(upper),
            Ok(Bins::Edges(edges)) => edges.last().copied(),
        };
        // No sample equals an end between two numbers.
        let closed = closed && upper.is_none_or(|upper| f64::from(rounded_up(upper)) == upper);
        let bins = bins.and_then(|bins| {
            Ok(match bins {
                Bins::LowBits(bits) => Bins::LowBits(bits),
                Bins::Even { bins, lower, upper } => {
                    Bins::Even { bins, lower: rounded_up(lower), upper: rounded_up(upper) }
                }
                Bins::Edges(edges) => {
                    Bins::Edges(Arc::new(allocation::collected(edges.iter().copied().map(rounded_up))?))
                }
            })
        });
        Histogram { bins, closed, channels, counted, algorithm }
    }
}

/// Returns the smallest `f32` that is not less than a number, or NaN for NaN.
fn rounded_up(number: f64) -> f32 {
    let nearest = number as f32;
    if f64::from(nearest) < number { nearest.next_up() } else { nearest }
}

impl<T: HistogramElement> Histogram<T> {
    /// Returns a histogram with `bins` bins of equal width, from 1 to 2^24, between the lower end of the range (inclusive)
    /// and the upper end (exclusive). Borders are exact for integers and rounded once for floats; the [module](super) has
    /// the formula.
    ///
    /// Bounds of integers may lie outside the range of the sample type: `0..256` contains all bytes. [`HistogramBound`] lists
    /// their types. On GPUs, a range that begins below the smallest sample value is slower, because bins are then searched as
    /// for [`edges`](Self::edges), except for `u8` samples.
    ///
    /// ```
    /// # fn main() -> slm::Result<()> {
    /// let thirds = slm::Histogram::even(3, -10..10).prepare(&slm::Device::cpu())?;
    /// let counts = thirds.apply(&[-11, -10, -4, -3, 9, 10])?;
    /// assert_eq!(counts.bins()?, [2, 1, 1]); // from -10, -3.33… and 3.33… on
    /// assert_eq!((counts.below()?, counts.above()?), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn even<B: HistogramBound<T>>(bins: usize, range: Range<B>) -> Self {
        Self::new(Bins::Even { bins, lower: range.start.into_bound(), upper: range.end.into_bound() })
    }

    /// Returns a histogram with the bins between neighbouring edges: bin `k` is `edges[k] <= x < edges[k + 1]`, from 1 to 2^24
    /// bins. The edges must ascend strictly. The first and the last edge may lie outside the range of the sample type: for
    /// floats they may be infinite, and for integers they may be any number of a wider type, as in `edges(&[0, 16, 256])` for
    /// bytes.
    ///
    /// ```
    /// # fn main() -> slm::Result<()> {
    /// let decades = slm::Histogram::edges(&[1.0, 10.0, 100.0, f64::INFINITY]).prepare(&slm::Device::cpu())?;
    /// let counts = decades.apply(&[0.5, 1.0, 9.9, 10.0, 1e300])?;
    /// assert_eq!(counts.bins()?, [2, 1, 1]);
    /// assert_eq!(counts.below()?, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn edges<B: HistogramBound<T>>(edges: &[B]) -> Self {
        let edges = allocation::collected(edges.iter().map(|edge| edge.into_bound()));
        Self::of_bins(edges.map(|edges| Bins::Edges(Arc::new(edges))))
    }

    fn new(bins: Bins<T>) -> Self {
        Self::of_bins(Ok(bins))
    }

    fn of_bins(bins: Result<Bins<T>>) -> Self {
        Histogram { bins, closed: false, channels: 1, counted: None, algorithm: HistogramAlgorithm::Auto }
    }

    /// Returns the histogram with the upper end included in the last bin, as in NumPy's `histogram`. This has no effect on
    /// [`bytes`](Histogram::bytes) and [`low_bits`](Histogram::low_bits), which have a bin for every sample.
    #[must_use]
    pub fn closed(mut self) -> Self {
        self.closed = true;
        self
    }

    /// Returns the histogram for `channels` interleaved channels, counted separately: sample `i` belongs to channel
    /// `i % channels`. The default is 1.
    ///
    /// ```
    /// # fn main() -> slm::Result<()> {
    /// let colours = slm::Histogram::bytes().channels(4).count(3).prepare(&slm::Device::cpu())?;
    /// let counts = colours.apply(&[255, 0, 7, 99, 255, 1, 7, 99])?; // two pixels: red, green, blue, opacity
    /// let [red, green, blue] = [0, 1, 2].map(|c| counts.channel(c).unwrap().bins);
    /// assert_eq!((red[255], green[0], green[1], blue[7]), (2, 1, 1, 2));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn channels(mut self, channels: usize) -> Self {
        self.channels = channels;
        self
    }

    /// Returns the histogram with only the first `counted` channels counted. The default is all channels.
    #[must_use]
    pub fn count(mut self, counted: usize) -> Self {
        self.counted = Some(counted);
        self
    }

    /// Returns the histogram with this algorithm. The default is [`HistogramAlgorithm::Auto`]. Sums of
    /// [weights](PreparedHistogram::apply_weighted) ignore this setting.
    #[must_use]
    pub fn algorithm(mut self, algorithm: HistogramAlgorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Checks the histogram and binds it to a device: computes the borders of the bins, loads the kernel, and uploads the
    /// edges, after all work that was enqueued before. Returns the prepared histogram. Each bin takes time and memory; 2^24
    /// bins take some tenths of a second.
    ///
    /// # Errors
    ///
    /// * [`HistogramError::Bins`] for no bins or more than 2^24.
    /// * [`HistogramError::LowBits`] for no bits or more than 16.
    /// * [`HistogramError::Range`] if the ends are not finite, or the upper end is not larger than the lower end.
    /// * [`HistogramError::Edges`] for fewer than two edges.
    /// * [`HistogramError::EdgeOrder`] if the edges do not ascend strictly.
    /// * [`HistogramError::InnerEdge`] if an edge other than the first and the last is outside the range of the sample type.
    /// * [`HistogramError::Channels`] if no channel is counted, or more than the histogram has.
    /// * [`Error::TooLarge`] for more than 2^31 channels or counters. There are
    ///   [`counts_len`](PreparedHistogram::counts_len) counters; for bytes, GPUs have 256 per counted channel.
    /// * [`HistogramError::NoKernel`] on a GPU, for an algorithm that has no kernel for these samples and bins:
    ///   [`HistogramAlgorithm`] lists them.
    /// * [`Error::SharedMemoryExceeded`] if the requested algorithm needs more shared memory than the device has, even if only
    ///   weights are added up later, which do not need it. [`HistogramAlgorithm::Auto`] never needs more than the device has.
    /// * [`Error::OutOfHostMemory`] for the borders or a copy of the edges.
    /// * The errors of [`Device::upload`] and, on a GPU, of [`Device::kernel`].
    pub fn prepare(&self, device: &Device) -> Result<PreparedHistogram<T>> {
        T::prepare(device, self.rule()?, self.algorithm)
    }

    fn rule(&self) -> Result<CountingRule<T>> {
        let (bins, counted) = (self.bins.clone()?, self.counted.unwrap_or(self.channels));
        Ok(CountingRule { bins, closed: self.closed, channels: self.channels, counted })
    }
}

#[cfg(doc)]
use super::HistogramError;
#[cfg(doc)]
use crate::Error;
