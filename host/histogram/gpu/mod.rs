//! Histograms on CUDA and emulated GPUs: the launches of what [`choose`](super::choose) has chosen.
//!
//! | file | contents |
//! |---|---|
//! | `bins.rs` | bins in the form that kernels take |
//! | `kernels.rs` | the kernels for each kind of bins |
//! | `launch_parts.rs` | how work is divided into launches |
//! | `launches.rs` | the launches of kernels for bins of one kind |
//! | `samples.rs` | samples whose type is known at run time only |

mod bins;
mod kernels;
mod launch_parts;
mod launches;
mod samples;
#[cfg(all(test, feature = "emulator"))]
mod several_launches;

pub(crate) use bins::{KernelBins, SearchedWords};
pub(crate) use samples::{SampleBuffer, WeightedSamples};

use super::choose::{Choice, CountingKernel, choose};
use super::element::SampleType;
use super::facts::Facts;
use super::rule::CounterLayout;
use super::tuning::HistogramTuning;
use super::weights::values;
use super::{Counting, HistogramAlgorithm, MemoryOrder};
use crate::device::gpu::Gpu;
use crate::plan::Planned;
use crate::{Buffer, BufferSliceMut, LaunchPlan, Result};
use launch_parts::{LaunchParts, times};
use launches::{ArgumentSettings, HistogramLaunches, OUTCOME};
use slm_kernels::histogram::{Quantum, Span, count_log2};

/// A histogram on a GPU.
pub(crate) struct GpuHistogram {
    gpu: Gpu,
    layout: CounterLayout,
    /// Bytes per sample.
    sample_bytes: usize,
    chosen: HistogramAlgorithm,
    reason: String,
    /// Number of separate counters on the device: the keys of all counted channels.
    counters: usize,
    /// Number of copies of each counter in a block's shared memory.
    copies: u32,
    parts: LaunchParts,
    launches: Box<dyn HistogramLaunches>,
}

impl GpuHistogram {
    /// Chooses the kernels, loads the one that counts, and uploads the table that it reads.
    pub(super) fn new<T: SampleType>(gpu: Gpu, facts: &Facts<T>, required: HistogramAlgorithm) -> Result<Self> {
        let (layout, tuning) = (facts.layout, HistogramTuning::new(gpu.info(), gpu.shared));
        let choice = choose(facts, required, gpu.shared, &tuning)?;
        let is_seq_cst = matches!(
            choice.algorithm,
            HistogramAlgorithm::GlobalAtomic(MemoryOrder::SeqCst)
                | HistogramAlgorithm::SharedAtomic(MemoryOrder::SeqCst)
        );
        let has_section = choice.kernel == CountingKernel::Critical;
        let settings = ArgumentSettings { layout, first_cell: facts.first, is_seq_cst, has_section };
        Ok(GpuHistogram {
            layout,
            sample_bytes: size_of::<T>(),
            chosen: choice.algorithm,
            counters: layout.counted * choice.bins.keys(),
            copies: copies(&choice),
            parts: LaunchParts::new(&choice, size_of::<T>(), tuning.processors),
            launches: choice.load(&gpu, settings)?,
            reason: choice.reason,
            gpu,
        })
    }

    /// Adds the counts of the first `len` samples to `counts`. Both buffers are on this device.
    pub(super) fn count(&self, samples: SampleBuffer<'_>, len: usize, counts: BufferSliceMut<'_, u64>) -> Result<()> {
        self.launches.count(&self.parts, samples, len, counts)
    }

    /// Returns the sums of weights. Both buffers are on this device.
    pub(super) fn weigh(&self, weighted: WeightedSamples<'_>) -> Result<Vec<f64>> {
        match self.weigh_at_once(weighted)? {
            Some(sums) => Ok(sums),
            None => self.weigh_in_two_passes(weighted),
        }
    }

    /// Returns the sums of weights that one pass can add up, which it finds out.
    fn weigh_at_once(&self, weighted: WeightedSamples<'_>) -> Result<Option<Vec<f64>>> {
        let are_doubles = weighted.weights.are_doubles();
        let Some(part) = self.parts.adding_at_once(weighted.len, are_doubles) else { return Ok(None) };
        let mut sums = self.gpu.zeroed(2 * self.layout.counters() + OUTCOME)?;
        self.launches.add_at_once(&self.parts, part, weighted, &mut sums)?;
        let sums = sums.download()?;
        let (multiples, outcome) = sums.split_at(2 * self.layout.counters());
        // The cast is exact: an exponent field.
        let span = Span { least: outcome[0] as u32 };
        let quantum = if are_doubles { span.quantum_of_sums::<f64>() } else { span.quantum_of_sums::<f32>() };
        let values = || values(self.layout.counters(), |cell| sum_of(multiples, cell), |_| quantum);
        if outcome[1] == 0 { values().map(Some) } else { Ok(None) }
    }

    /// Returns the sums of any weights.
    fn weigh_in_two_passes(&self, weighted: WeightedSamples<'_>) -> Result<Vec<f64>> {
        let (mut sums, count_log2) = (self.sums()?, count_log2(weighted.len as u64));
        self.find_peaks(weighted, &mut sums)?;
        self.add_weights(weighted, count_log2, &mut sums)?;
        let (peaks, multiples) = (sums.peaks.download()?, sums.multiples.download()?);
        if peaks[self.layout.counters()] != 0 {
            weighted.weights.check(weighted.len)?;
        }
        values_of(&peaks, &multiples, count_log2)
    }

    /// Returns sums of no weights.
    pub(super) fn sums(&self) -> Result<GpuSums> {
        let cells = self.layout.counters();
        Ok(GpuSums { peaks: self.gpu.zeroed(cells + 1)?, multiples: self.gpu.zeroed(2 * cells)? })
    }

    /// Raises the peaks of sums to the largest magnitudes of weights in each cell.
    pub(super) fn find_peaks(&self, weighted: WeightedSamples<'_>, sums: &mut GpuSums) -> Result<()> {
        self.launches.find_peaks(&self.parts, weighted, &mut sums.multiples, &mut sums.peaks)
    }

    /// Adds multiples of the cells' quanta, which depend on the peaks.
    pub(super) fn add_weights(&self, weighted: WeightedSamples<'_>, count_log2: u32, sums: &mut GpuSums) -> Result<()> {
        self.launches.add_weights(&self.parts, weighted, count_log2, &sums.peaks, &mut sums.multiples)
    }

    /// Returns the plan for counting samples.
    pub(super) fn plan(&self, samples: usize) -> (Counting, Planned) {
        let (counter, times) = (self.launches.counter(), times(samples, self.parts.most_samples()));
        let launch = self.parts.counting(samples).next().map(|part| LaunchPlan {
            times,
            moved_bytes: self.samples_and_counts(samples, times),
            ..self.gpu.launch_plan(counter.name(), part.shape, counter.residency(part.shape))
        });
        let (algorithm, counters, copies, ranges) =
            (self.chosen, self.counters, self.copies, self.parts.geometry.ranges);
        let planned = if launch.is_none() { Planned::nothing() } else { Planned::new(&*self.reason, launch) };
        (Counting { algorithm, samples, counters, copies, ranges }, planned)
    }

    /// Returns the bytes that `launches` launches read and write: each sample once, and the counts once per launch.
    fn samples_and_counts(&self, samples: usize, launches: u64) -> u64 {
        let counts = (size_of::<u64>() * self.layout.counters()) as u64;
        let samples = (samples as u64).saturating_mul(self.sample_bytes as u64);
        samples.saturating_add(launches.saturating_mul(counts))
    }

    /// Returns the plan for `f32` weights of samples.
    pub(super) fn weighted_plan(&self, samples: usize) -> Planned {
        let Some(part) = self.parts.adding_at_once(samples, false) else { return self.plan_of_two_passes(samples) };
        let (name, kernel) = self.launches.weighing_at_once();
        let inputs = (samples as u64).saturating_mul((self.sample_bytes + size_of::<f32>()) as u64);
        let launch = LaunchPlan {
            moved_bytes: inputs.saturating_add((size_of::<i128>() * self.layout.counters()) as u64),
            ..self.gpu.launch_plan(name, part.shape, kernel.and_then(|kernel| kernel.residency(part.shape)))
        };
        let others = self.launches.weighing_names().join(" and ");
        let reason = format!("one pass, if the magnitudes of all weights are similar; otherwise then {others}");
        Planned::new(&*reason, [launch])
    }

    fn plan_of_two_passes(&self, samples: usize) -> Planned {
        let times = times(samples, self.parts.most_weights);
        let inputs = (samples as u64).saturating_mul((self.sample_bytes + size_of::<f32>()) as u64);
        let (peak, sum) = (size_of::<u32>(), size_of::<i128>());
        let parts = [self.parts.finding_peaks(samples).next(), self.parts.adding_weights(samples).next()];
        let kernels = self.launches.weighing_names().into_iter().zip(self.launches.weighing());
        let launches = kernels.zip(parts).zip([peak, peak + sum]).filter_map(|(((name, kernel), part), bytes)| {
            let shape = part?.shape;
            Some(LaunchPlan {
                times,
                moved_bytes: inputs.saturating_add(times.saturating_mul((bytes * self.layout.counters()) as u64)),
                ..self.gpu.launch_plan(name, shape, kernel.and_then(|kernel| kernel.residency(shape)))
            })
        });
        if samples == 0 { Planned::nothing() } else { Planned::new("more weights than one launch takes", launches) }
    }
}

/// Sums of weights that are being added up.
pub(crate) struct GpuSums {
    /// The largest magnitude of the weights in each cell, and whether one of all is not finite.
    peaks: Buffer<u32>,
    /// Two words of each cell's sum, the lower one first, in multiples of its quantum.
    multiples: Buffer<u64>,
}

impl GpuSums {
    /// Returns the sums as numbers.
    pub(super) fn values(&self, count_log2: u32) -> Result<Vec<f64>> {
        values_of(&self.peaks.download()?, &self.multiples.download()?, count_log2)
    }
}

/// Returns sums as numbers, for the peaks and the two words of each cell.
fn values_of(peaks: &[u32], multiples: &[u64], count_log2: u32) -> Result<Vec<f64>> {
    let quantum = |cell: usize| Quantum::new(peaks[cell], count_log2);
    values(multiples.len() / 2, |cell| sum_of(multiples, cell), quantum)
}

/// Returns the sum of a cell, which has two words, the low one first.
fn sum_of(words: &[u64], cell: usize) -> i128 {
    i128::from(words[2 * cell + 1].cast_signed()) << 64 | i128::from(words[2 * cell])
}

/// Returns the number of copies of each counter in a block's shared memory.
fn copies(choice: &Choice) -> u32 {
    match choice.kernel {
        CountingKernel::Shared | CountingKernel::Alone | CountingKernel::Guided => 1 << choice.geometry.copies_log2,
        CountingKernel::Private => choice.geometry.threads,
        CountingKernel::Critical | CountingKernel::Global | CountingKernel::Cached => 0,
    }
}
