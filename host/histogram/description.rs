//! What a histogram is: plain data.

use super::{Bins, HistogramBound, HistogramElement, PreparedHistogram, Rule};
use crate::{Device, Result};
use std::ops::Range;

/// A histogram, described but not yet bound to a device.
///
/// See the [module](super) for what it counts.
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
    bins: Bins<T>,
    closed: bool,
    channels: usize,
    /// All of them unless said otherwise.
    counted: Option<usize>,
    algorithm: HistogramAlgorithm,
}

/// How a histogram is counted on a GPU. The CPU ignores this setting.
///
/// All of them give the same counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HistogramAlgorithm {
    /// The fastest one for so many counters on this device: the more copies of them fit into its shared memory, the
    /// better. The type of the samples matters by the number of counters alone, of which bytes have 256 whatever their bins
    /// are. Edges are not divided into ranges, because each sample would be searched for again in each range.
    /// [`plan`](PreparedHistogram::plan) tells which one, and why.
    #[default]
    Auto,
    /// One block, whose threads enter a critical section one after another: a lock, taken by compare-and-swap. To see
    /// what a lock costs; for a handful of samples.
    Critical,
    /// One atomic addition in global memory for each sample. Needs no shared memory, so it takes any number of bins. It
    /// is slow where many samples meet in few bins.
    GlobalAtomic(MemoryOrder),
    /// The same, but counters that many samples meet are kept in shared memory: each block looks at some of its samples
    /// to know which ones these are, again and again. For more bins than shared memory can hold.
    CachedAtomic,
    /// Each thread counts in bytes of its own in shared memory, without atomics. For few bins: all threads of a block,
    /// 128 at the least, need theirs at a time. These are 132 bytes for each counter, and there is a counter for each bin
    /// and three more, or always 256 for bytes, in each channel that is counted. So 227 KiB of shared memory are enough for
    /// 1,760 counters, and 64 KiB for 496.
    PrivatePerThread,
    /// One set of 32-bit counters for each block in shared memory, which its threads add to atomically. Takes the most
    /// bins of all that use shared memory. More than a block can hold are divided into ranges; each block counts one range, so
    /// all samples are read once for each. Samples that meet in few bins wait for each other.
    SharedAtomic(MemoryOrder),
    /// As many interleaved copies of a block's counters as fit into half of the shared memory, up to 32. With 32 each lane
    /// has a bank to itself, so that lanes never meet, whatever the samples are; with fewer, fewer meet. With one it is
    /// `SharedAtomic(Relaxed)`.
    LanePrivate,
}

/// What an atomic addition of [`GlobalAtomic`](HistogramAlgorithm::GlobalAtomic) and
/// [`SharedAtomic`](HistogramAlgorithm::SharedAtomic) orders besides itself.
///
/// Counts need no order between additions, so both give the same; the choice is there to see what order costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryOrder {
    /// Nothing: what counting needs.
    #[default]
    Relaxed,
    /// All additions of all threads have one order that every thread sees, as the default of C++ and SYCL atomics.
    SeqCst,
}

impl Histogram<u8> {
    /// 256 bins: one for every byte.
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
    /// `2^bits` bins: one for every number that the `bits` low bits of a sample can be, 1 to 16. The other bits are
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

impl<T: HistogramElement> Histogram<T> {
    /// `bins` bins of equal width, 1 to 2^24, from the lower end of the range up to but not including the upper one. Borders
    /// are exact for integers, and rounded once for floats: the [module](super) has the formula.
    ///
    /// Bounds of integers may be numbers that no sample is: `0..256` are all bytes. [`HistogramBound`] says of which types they
    /// can be. A range that begins below the type of the samples is slower on GPUs, where bins are then searched as
    /// [`edges`](Self::edges) are, unless samples are `u8`.
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

    /// Bins between neighbouring edges, which ascend strictly: bin `k` is `edges[k] <= x < edges[k + 1]`, 1 to 2^24 bins.
    /// The first and the last edge may lie outside of what samples can be: those of floats may be infinite, and those of
    /// integers beyond the type, as in `edges(&[0, 16, 256])` for bytes.
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
        Self::new(Bins::Edges(edges.iter().map(|edge| edge.into_bound()).collect()))
    }

    fn new(bins: Bins<T>) -> Self {
        Histogram { bins, closed: false, channels: 1, counted: None, algorithm: HistogramAlgorithm::Auto }
    }

    /// Puts the upper end of the last bin into it, as NumPy's `histogram` does. Changes nothing for
    /// [`bytes`](Histogram::bytes) and [`low_bits`](Histogram::low_bits), which have a bin for every sample.
    #[must_use]
    pub fn closed(mut self) -> Self {
        self.closed = true;
        self
    }

    /// Counts interleaved channels, each for itself: sample `i` belongs to channel `i % channels`.
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

    /// Counts only the first so many channels; all of them unless said otherwise.
    #[must_use]
    pub fn count(mut self, counted: usize) -> Self {
        self.counted = Some(counted);
        self
    }

    /// How it is counted; [`HistogramAlgorithm::Auto`] unless said otherwise. There is one way only to add up
    /// [weights](PreparedHistogram::apply_weighted), whatever is asked for.
    #[must_use]
    pub fn algorithm(mut self, algorithm: HistogramAlgorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Checks the histogram and binds it to a device: computes the borders of the bins, loads the kernel, and uploads the
    /// edges, after the work that was enqueued before. Takes time and memory for each bin; 2^24 bins take some tenths of a
    /// second.
    ///
    /// # Errors
    ///
    /// * [`HistogramError::Bins`] for no bins or more than 2^24; [`HistogramError::LowBits`] for no bits or more than 16.
    /// * [`HistogramError::Range`] unless the range goes from a finite number to a larger one.
    /// * [`HistogramError::Edges`] for fewer than two edges; [`HistogramError::EdgeOrder`] unless they ascend strictly;
    ///   [`HistogramError::InnerEdge`] for one between others that no sample can be.
    /// * [`HistogramError::Channels`] if no channel is counted, or more than there are; [`Error::TooLarge`] for more than 2^31
    ///   channels or counters. These are [`counts_len`](PreparedHistogram::counts_len); GPUs count bytes by their values,
    ///   for which they need 256 in each channel that is counted.
    /// * [`Error::SharedMemoryExceeded`] if the algorithm asked for needs more shared memory than the device has, even if
    ///   only weights are to be added up, which do without it. [`HistogramAlgorithm::Auto`] takes no more than there is.
    /// * What [`Device::upload`] gives, [`Error::OutOfHostMemory`] for the borders or a copy of the edges, and on a GPU what
    ///   [`Device::kernel`] gives.
    pub fn prepare(&self, device: &Device) -> Result<PreparedHistogram<T>> {
        T::prepare(device, self.rule(), self.algorithm)
    }

    fn rule(&self) -> Rule<T> {
        let (bins, counted) = (self.bins.clone(), self.counted.unwrap_or(self.channels));
        Rule { bins, closed: self.closed, channels: self.channels, counted }
    }
}

#[cfg(doc)]
use super::HistogramError;
#[cfg(doc)]
use crate::Error;
