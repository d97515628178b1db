//! The choice of the kernel that counts: all of it, as a plain value.
//!
//! ```text
//! bins:  bytes ---------------------------------------------------> Bytes, by value
//!        low bits ------------------------------------------------> LowBits
//!        equal widths, and an arithmetic that is right for them --> Even, Rounded
//!        anything else -------------------------------------------> Searched
//!
//! Auto:  counters that fit into half of shared memory twice ------> LanePrivate
//!        counters that fit into a block once, or in few ranges ---> SharedAtomic
//!        more counters -------------------------------------------> CachedAtomic
//! ```
//!
//! The counters of one channel of samples between edges share that memory with the edges and a guide, unless additions are ordered.

use super::element::SampleType;
use super::facts::{EvenBins, Facts, SampleBins, SearchedBins, with_bins};
use super::gpu::{KernelBins, SearchedWords};
use super::rule::{CounterLayout, SHARE, check_counters};
use super::tuning::HistogramTuning;
use super::{HistogramAlgorithm, HistogramElement, HistogramError, MemoryOrder};
use crate::cpu::allocation;
use crate::cpu::parallel;
use crate::device::info::SharedMemory;
use crate::{Error, Result};
use slm_kernels::histogram::{
    BYTE_VALUES, Binning, Even, EvenWords, FromRange, Geometry, KernelFamily, Ratio, WeighGeometry, WordRange,
};
use std::sync::Arc;

/// How a GPU counts, and adds up weights.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// Name of the type of the samples.
    samples: &'static str,
    /// The bins in the form that the kernel takes.
    pub(super) bins: KernelBins,
    pub(super) kernel: CountingKernel,
    /// Algorithm of the kernel, never [`HistogramAlgorithm::Auto`], and the reason for it.
    pub(super) algorithm: HistogramAlgorithm,
    pub(super) reason: String,
    pub(super) geometry: Geometry,
    pub(super) finding_peaks: WeighGeometry,
    pub(super) adding_weights: WeighGeometry,
    /// In one pass: weights of `f32`, and of `f64`.
    pub(super) adding_at_once: [WeighGeometry; 2],
}

/// A kernel that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CountingKernel {
    /// In a critical section.
    Critical,
    /// With atomic additions in global memory.
    Global,
    /// The same, with frequent keys in shared memory.
    Cached,
    /// In private counters of each thread.
    Private,
    /// With atomic additions in shared memory.
    Shared,
    /// The same for one copy of the counters of one channel, relaxed additions, and one block per multiprocessor.
    Alone,
    /// The same for one channel of samples between edges, and relaxed additions, with the edges in shared memory.
    Guided,
}

/// Returns how a GPU with this shared memory counts.
///
/// # Errors
///
/// [`HistogramError::NoKernel`] if the bins have no kernel of the required algorithm, [`Error::SharedMemoryExceeded`] if it needs more
/// than a block can have, [`Error::TooLarge`] for too many counters, and [`Error::OutOfHostMemory`] for the cells of bytes.
pub(super) fn choose<T: SampleType>(
    facts: &Facts<T>,
    required: HistogramAlgorithm,
    shared: SharedMemory,
    tuning: &HistogramTuning,
) -> Result<Choice> {
    let (bins, layout) = (T::kernel_bins(facts)?, facts.layout);
    // The number of cells has been checked, but bytes may have more keys than cells.
    check_counters(layout.counted, bins.keys())?;
    let counters = (layout.counted * bins.keys()) as u32;
    // Edges in shared memory are for one channel.
    let edge_bytes = bins.edge_bytes().filter(|_| layout.channels == 1);
    let geometry =
        |algorithm| Geometry::new(family(algorithm, edge_bytes, tuning), counters, tuning.memory, &tuning.launches);
    let (algorithm, reason) = match required {
        HistogramAlgorithm::Auto => {
            let most_ranges = most_ranges(&bins, &layout, tuning);
            fastest(counters, edge_bytes, geometry(HistogramAlgorithm::LanePrivate), shared, most_ranges)
        }
        required => (required, "requested".to_owned()),
    };
    let geometry = geometry(algorithm);
    let kernel = kernel(algorithm, &layout, &geometry);
    let finding_peaks = WeighGeometry::peaks(counters, tuning.memory, &tuning.launches);
    let adding_weights = WeighGeometry::sums(counters, &tuning.launches);
    let adding_at_once = [
        WeighGeometry::once::<f32>(counters, tuning.memory, &tuning.launches),
        WeighGeometry::once::<f64>(counters, tuning.memory, &tuning.launches),
    ];
    let samples = T::NAME;
    let choice =
        Choice { samples, bins, kernel, algorithm, reason, geometry, finding_peaks, adding_weights, adding_at_once };
    let name = choice.bins.name_of(kernel).ok_or_else(|| choice.no_kernel())?;
    shared.check(name, geometry.shared_bytes)?;
    Ok(choice)
}

impl Choice {
    /// Returns the error for an algorithm that these bins have no kernel of.
    pub(super) fn no_kernel(&self) -> Error {
        let Choice { samples, bins, algorithm, .. } = self;
        let (samples, algorithm, is_searched) = (*samples, *algorithm, bins.edge_bytes().is_some());
        HistogramError::NoKernel { algorithm, samples, is_searched }.into()
    }
}

/// Returns bytes by value: the cell of each value.
pub(super) fn byte_bins(facts: &Facts<u8>) -> Result<KernelBins> {
    type T = u8;
    let mut cells = allocation::reserved(BYTE_VALUES as usize)?;
    with_bins!(facts, |binning| cells.extend((0..=u8::MAX).map(|value| binning.key(value))));
    Ok(KernelBins::Bytes(cells.into()))
}

/// Returns bins of integers: low bits, bins of equal width by an arithmetic that is right for all of them, or searched ones.
pub(super) fn integer_bins<T: SampleType + HistogramElement<Bound = i64, LowBits: Into<KernelBins>>>(
    facts: &Facts<T>,
    even: fn(Even<T, Ratio>) -> KernelBins,
    searched: fn(SearchedBins<T>) -> Result<KernelBins>,
) -> Result<KernelBins>
where
    Ratio: FromRange<T>,
{
    match &facts.bins {
        SampleBins::LowBits(low_bits) => Ok((*low_bits).into()),
        SampleBins::Even(bins) => Ok(even(bins.of_integers())),
        SampleBins::Searched(bins) => searched(bins.clone()),
    }
}

/// Returns the bins of integers of 32 bits as distances, for [`integer_bins`]. `bits_of` returns the bits of a number.
pub(super) fn even_words<T: SampleType>(even: &Even<T, Ratio>, most: T, bits_of: fn(T) -> u32) -> KernelBins
where
    Ratio: FromRange<T>,
{
    let Even { scale, lower, last, bins, last_bin } = *even;
    KernelBins::EvenWords(EvenWords { range: WordRange::new(bins, [lower, last, most].map(bits_of)), scale, last_bin })
}

/// Returns the same for bins that are searched.
pub(super) fn searched_words<T: SampleType>(
    searched: &SearchedBins<T>,
    most: T,
    bits_of: fn(T) -> u32,
) -> Result<KernelBins> {
    let (lower, bins) = (searched.edges[0], searched.edges.len() as u32 - 1);
    let distances = searched.edges.iter().map(|edge| bits_of(*edge).wrapping_sub(bits_of(lower)));
    Ok(KernelBins::SearchedWords(SearchedWords {
        range: WordRange::new(bins, [lower, searched.last, most].map(bits_of)),
        edges: Arc::new(allocation::collected(distances)?),
    }))
}

/// Returns bins of floats: bins of equal width by the first arithmetic that is right for all of their borders, or searched ones.
pub(super) fn float_bins<S: FromRange<T>, R: FromRange<T>, T>(
    facts: &Facts<T>,
    even: fn(Even<T, S>) -> KernelBins,
    rounded: fn(Even<T, R>) -> KernelBins,
    searched: fn(SearchedBins<T>) -> KernelBins,
) -> KernelBins
where
    T: SampleType + HistogramElement<Bound = T, LowBits: Into<KernelBins>>,
{
    match &facts.bins {
        SampleBins::LowBits(low_bits) => (*low_bits).into(),
        SampleBins::Even(bins) => {
            let (edges, last) = (&facts.edges, bins.last);
            right(bins, edges).map(even).or_else(|| right(bins, edges).map(rounded)).unwrap_or_else(|| {
                // No arithmetic is right for these borders, so kernels search them like arbitrary edges.
                searched(SearchedBins { edges: edges.clone(), last })
            })
        }
        SampleBins::Searched(bins) => searched(bins.clone()),
    }
}

/// Returns bins by an arithmetic if it agrees with the borders for every number.
fn right<T: SampleType + HistogramElement<Bound = T>, S: FromRange<T>>(
    bins: &EvenBins<T>,
    borders: &Arc<Vec<T>>,
) -> Option<Even<T, S>> {
    let [lower, upper] = bins.ends;
    let even = bins.with_scale(S::new(bins.bins, lower, upper)?);
    let agrees = || parallel::all(even.bins as usize, SHARE, &|k| even.agrees(k as u32, borders));
    (S::EXACT || agrees()).then_some(even)
}

/// Returns the kernels of an algorithm, from which its shape follows, for edges of this size in shared memory.
fn family(algorithm: HistogramAlgorithm, edge_bytes: Option<u32>, tuning: &HistogramTuning) -> KernelFamily {
    let shared = |most_copies| match edge_bytes {
        Some(edge_bytes) => KernelFamily::Guided { edge_bytes, most_copies },
        None => KernelFamily::Shared { most_copies },
    };
    match algorithm {
        HistogramAlgorithm::Critical => KernelFamily::Critical,
        HistogramAlgorithm::GlobalAtomic(_) => KernelFamily::Global,
        HistogramAlgorithm::CachedAtomic => KernelFamily::Cached,
        HistogramAlgorithm::PrivatePerThread => KernelFamily::Private,
        HistogramAlgorithm::SharedAtomic(MemoryOrder::SeqCst) => KernelFamily::Shared { most_copies: 1 },
        HistogramAlgorithm::SharedAtomic(MemoryOrder::Relaxed) => shared(1),
        HistogramAlgorithm::LanePrivate | HistogramAlgorithm::Auto => shared(tuning.copies),
    }
}

/// Returns the kernel of an algorithm with this geometry.
fn kernel(algorithm: HistogramAlgorithm, layout: &CounterLayout, geometry: &Geometry) -> CountingKernel {
    match algorithm {
        HistogramAlgorithm::Critical => CountingKernel::Critical,
        HistogramAlgorithm::GlobalAtomic(_) => CountingKernel::Global,
        HistogramAlgorithm::CachedAtomic => CountingKernel::Cached,
        HistogramAlgorithm::PrivatePerThread => CountingKernel::Private,
        HistogramAlgorithm::SharedAtomic(MemoryOrder::SeqCst) => CountingKernel::Shared,
        _ if geometry.has_guide() => CountingKernel::Guided,
        _ if layout.channels == 1 && geometry.is_alone() => CountingKernel::Alone,
        _ => CountingKernel::Shared,
    }
}

/// Returns the maximum number of ranges of counters.
fn most_ranges(bins: &KernelBins, layout: &CounterLayout, tuning: &HistogramTuning) -> u32 {
    match layout.channels {
        1 if bins.edge_bytes().is_some() => tuning.guided_ranges,
        1 => tuning.ranges,
        _ if bins.edge_bytes().is_some() => tuning.searched_ranges,
        _ => tuning.ranges_of_channels,
    }
}

/// Returns the algorithm for a number of counters, according to their possible copies and ranges, and the reason for it.
///
/// A type of samples matters through its number of keys, which is 256 per channel for bytes and any number of bins, and through the
/// size of its edges if they are in shared memory.
fn fastest(
    counters: u32,
    edge_bytes: Option<u32>,
    geometry: Geometry,
    shared: SharedMemory,
    most_ranges: u32,
) -> (HistogramAlgorithm, String) {
    let Geometry { ranges, copies_log2, .. } = geometry;
    let (block, half) = (shared.max_per_block >> 10, format!("half of {} KiB", shared.per_multiprocessor >> 10));
    let copies = 1 << copies_log2;
    let (algorithm, why) = match (ranges, copies_log2) {
        (1, 1..) if edge_bytes.is_some() => (HistogramAlgorithm::LanePrivate, format!("fit into {half}")),
        (1, 1..) => (HistogramAlgorithm::LanePrivate, format!("fit {copies} times into {half}")),
        (1, 0) => {
            let why = format!("fit into {block} KiB once, and not twice into {half}");
            (HistogramAlgorithm::SharedAtomic(MemoryOrder::Relaxed), why)
        }
        (ranges, _) if ranges <= most_ranges => {
            (HistogramAlgorithm::SharedAtomic(MemoryOrder::Relaxed), format!("fit into {ranges} times {block} KiB"))
        }
        _ => {
            let why = format!("need {ranges} ranges of {block} KiB, and more than {most_ranges} are slow");
            (HistogramAlgorithm::CachedAtomic, why)
        }
    };
    let what = match edge_bytes {
        None => format!("{counters} counters of 4 bytes"),
        Some(bytes) if copies > 1 => {
            format!("{counters} counters of 4 bytes in {copies} copies, edges of {bytes} bytes and a guide")
        }
        Some(bytes) => format!("{counters} counters of 4 bytes, edges of {bytes} bytes and a guide"),
    };
    (algorithm, format!("{what} {why}"))
}

#[cfg(test)]
mod tests;
