//! Sums of weights that come in parts.

use super::cpu::Peaks;
use super::gpu::{GpuSums, WeightedSamples};
use super::weights::{check_weights, values};
use super::{HistogramElement, HistogramWeight, PreparedHistogram, WeightedCounts};
use crate::cpu::allocation;
use crate::device::on_device::OnDevice;
use crate::stream::twice::{Pass, TwoPasses};
use crate::{Device, Result};
use slm_kernels::histogram::{Quantum, count_log2};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sums of the weights of parts: the first pass finds the largest weight of each cell, the second one adds.
pub(super) struct Weighing<'a, T: HistogramElement> {
    histogram: &'a PreparedHistogram<T>,
    state: Mutex<State>,
}

struct State {
    /// Binary logarithm, rounded up, of the number of weights of all parts.
    count_log2: u32,
    sums: Sums,
}

enum Sums {
    Cpu { peaks: Vec<u32>, multiples: Vec<i128> },
    Gpu(Box<GpuSums>),
}

impl<'a, T: HistogramElement> Weighing<'a, T> {
    pub(super) fn new(histogram: &'a PreparedHistogram<T>) -> Result<Self> {
        let counters = histogram.counts_len();
        let sums = match &histogram.on_device {
            OnDevice::Cpu(()) => {
                Sums::Cpu { peaks: allocation::filled(0, counters)?, multiples: allocation::filled_here(0, counters)? }
            }
            OnDevice::Gpu(histogram) => Sums::Gpu(Box::new(histogram.sums()?)),
        };
        Ok(Weighing { histogram, state: Mutex::new(State { count_log2: count_log2(0), sums }) })
    }

    /// Returns the sums after both passes.
    pub(super) fn finish(&self) -> Result<WeightedCounts<T>> {
        let State { count_log2, sums } = &*self.state();
        let sums = match sums {
            Sums::Cpu { peaks, multiples } => {
                values(peaks.len(), |cell| multiples[cell], |cell| Quantum::new(peaks[cell], *count_log2))
            }
            Sums::Gpu(sums) => sums.values(*count_log2),
        };
        Ok(WeightedCounts::new(sums?, self.histogram.layout().cells(), &self.histogram.facts.edges))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // After a panic, nobody takes the result.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: HistogramElement, W: HistogramWeight> TwoPasses<T, W> for Weighing<'_, T> {
    fn device(&self) -> &Device {
        &self.histogram.device
    }

    fn width(&self) -> usize {
        self.histogram.layout().channels
    }

    fn begin(&self, len: usize) {
        self.state().count_log2 = count_log2(len as u64);
    }

    fn run(&self, pass: Pass, first: usize, samples: &[T], weights: &[W]) -> Result<()> {
        if pass == Pass::First {
            check_weights(weights, first)?;
        }
        let (histogram, state) = (self.histogram, &mut *self.state());
        let count_log2 = state.count_log2;
        match (&histogram.on_device, &mut state.sums) {
            (OnDevice::Gpu(on_gpu), Sums::Gpu(sums)) => {
                let (samples, weights) = (histogram.device.upload(samples)?, histogram.device.upload(weights)?);
                let len = samples.len();
                let (samples, weights) = (T::of_buffer((&samples).into()), W::of_buffer((&weights).into()));
                let weighted = WeightedSamples { samples, weights, len };
                match pass {
                    Pass::First => on_gpu.find_peaks(weighted, sums),
                    Pass::Second => on_gpu.add_weights(weighted, count_log2, sums),
                }
            }
            (_, Sums::Cpu { peaks, multiples }) => {
                let weights = W::of_slice(weights);
                match pass {
                    Pass::First => T::find_peaks(&histogram.facts, samples, weights, peaks),
                    Pass::Second => {
                        T::add_weights(&histogram.facts, samples, weights, Peaks { peaks, count_log2 }, multiples)
                    }
                }
            }
            (OnDevice::Cpu(()), Sums::Gpu(_)) => unreachable!("the sums are where the histogram is"),
        }
    }
}
