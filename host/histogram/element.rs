//! The element types.

use super::cpu::Peaks;
use super::facts::{EvenBins, Facts, NoLowBits, SampleBins};
use super::gpu::{KernelBins, SampleBuffer};
use super::weights::WeightSlice;
use super::{CountingRule, HistogramAlgorithm, HistogramBound, PreparedHistogram, cpu};
use crate::element::raw::Raw;
use crate::{BufferSlice, Device, Element, Result};
use slm_kernels::histogram::{Binning, Bordered, LowBits};
use std::fmt::Debug;
use std::sync::Arc;

/// An element type that can be counted: `u8`, `u16`, `u32`, `i32`, `f32` or `f64`. The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `CompiledHere` in their generic code")]
pub trait HistogramElement: Element + PartialOrd + HistogramBound<Self> + CompiledHere {
    /// Type of the borders of bins: `i64` for integers, because a range may end beyond the largest sample value, and the sample
    /// type for floats.
    type Bound: Element + PartialOrd + From<Self>;
}

/// Operations per element type, compiled once in this crate and not again in every dependent crate.
pub(crate) trait CompiledHere: Raw {
    /// Low bits of samples as bins. It has no values if the type has no such bins.
    type LowBits: Binning<Sample = Self> + Debug + Send + Sync;

    /// Checks a rule and binds it to a device. Returns the prepared histogram.
    fn prepare(
        device: &Device,
        rule: CountingRule<Self>,
        algorithm: HistogramAlgorithm,
    ) -> Result<PreparedHistogram<Self>>
    where
        Self: HistogramElement;

    /// Adds the counts of the samples to `counts` on the CPU, modulo 2^64. Adds nothing if it returns an error.
    fn count(facts: &Facts<Self>, samples: &[Self], counts: &mut [u64]) -> Result<()>
    where
        Self: HistogramElement;

    /// Returns the sums of the weights on the CPU, one weight per sample.
    fn weigh(facts: &Facts<Self>, samples: &[Self], weights: WeightSlice<'_>) -> Result<Vec<f64>>
    where
        Self: HistogramElement;

    /// Raises peaks to the largest magnitudes of finite weights in each cell, on the CPU.
    fn find_peaks(facts: &Facts<Self>, samples: &[Self], weights: WeightSlice<'_>, peaks: &mut [u32]) -> Result<()>
    where
        Self: HistogramElement;

    /// Adds multiples of the cells' quanta to sums, on the CPU.
    fn add_weights(
        facts: &Facts<Self>,
        samples: &[Self],
        weights: WeightSlice<'_>,
        peaks: Peaks<'_>,
        sums: &mut [i128],
    ) -> Result<()>
    where
        Self: HistogramElement;

    /// Returns the buffer as a value whose type is known at run time only.
    fn of_buffer(samples: BufferSlice<'_, Self>) -> SampleBuffer<'_>;
}

/// Arithmetic of bins for a sample type.
pub(crate) trait SampleType: HistogramElement + Bordered {
    /// Name of the type.
    const NAME: &'static str;

    /// Returns border `k` of bins of equal width: the exact `lower + k · (upper - lower) / bins`, rounded up for integers, and
    /// to nearest, ties to even, for floats.
    fn border(k: u32, bins: u32, ends: [Self::Bound; 2]) -> Self::Bound;

    /// Returns the nearest `f64`.
    fn to_f64(bound: Self::Bound) -> f64;

    /// Returns whether a sample can have this value.
    fn is_sample(bound: Self::Bound) -> bool;

    /// Returns the bins for the values of `bits` low bits. Returns an error if samples of this type do not have them.
    fn low_bits(bits: u32) -> Result<Self::LowBits>;

    /// Returns the bins of a checked rule with these borders, and the index of the first bin among the cells of a channel.
    fn restricted(rule: &CountingRule<Self>, borders: &Arc<Vec<Self::Bound>>) -> Result<(SampleBins<Self>, usize)>;

    /// Returns bins of equal width with these borders for the CPU.
    fn even_on_cpu(even: &EvenBins<Self>, borders: &[Self::Bound], closed: bool) -> impl Binning<Sample = Self>;

    /// Adds the counts of every `step`th sample, beginning with the first, to a table with a counter for every cell.
    fn tally<B: Binning<Sample = Self>>(binning: B, samples: &[Self], step: usize, table: &mut [u32]) {
        cpu::tally(binning, samples, step, table);
    }

    /// Returns the bins in the form that kernels take.
    fn kernel_bins(facts: &Facts<Self>) -> Result<KernelBins>;
}

macro_rules! elements {
    ($($t:ty: $bound:ty, $low_bits:ty, $name:ident;)*) => {$(
        impl HistogramElement for $t {
            type Bound = $bound;
        }

        impl CompiledHere for $t {
            type LowBits = $low_bits;

            fn prepare(
                device: &Device,
                rule: CountingRule<$t>,
                algorithm: HistogramAlgorithm,
            ) -> Result<PreparedHistogram<$t>> {
                PreparedHistogram::new(device, Facts::new(rule)?, algorithm)
            }

            fn count(facts: &Facts<$t>, samples: &[$t], counts: &mut [u64]) -> Result<()> {
                cpu::count(facts, samples, counts)
            }

            fn weigh(facts: &Facts<$t>, samples: &[$t], weights: WeightSlice<'_>) -> Result<Vec<f64>> {
                cpu::weigh(facts, samples, weights)
            }

            fn find_peaks(
                facts: &Facts<$t>,
                samples: &[$t],
                weights: WeightSlice<'_>,
                peaks: &mut [u32],
            ) -> Result<()> {
                cpu::find_peaks(facts, samples, weights, peaks)
            }

            fn add_weights(
                facts: &Facts<$t>,
                samples: &[$t],
                weights: WeightSlice<'_>,
                peaks: Peaks<'_>,
                sums: &mut [i128],
            ) -> Result<()> {
                cpu::add_weights(facts, samples, weights, peaks, sums)
            }

            fn of_buffer(samples: BufferSlice<'_, $t>) -> SampleBuffer<'_> {
                SampleBuffer::$name(samples)
            }
        }
    )*};
}
elements! {
    u8: i64, NoLowBits<u8>, U8;
    u16: i64, LowBits, U16;
    u32: i64, NoLowBits<u32>, U32;
    i32: i64, NoLowBits<i32>, I32;
    f32: f32, NoLowBits<f32>, F32;
    f64: f64, NoLowBits<f64>, F64;
}
