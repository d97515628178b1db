//! Histograms on an emulated GPU.

use super::{Emulation, Memory};
use crate::backend::gpu::histogram::{Entries, Launch, Launches, Windows};
use crate::histogram::{Algorithm, Bins, HistogramElement, Plan, Rule, check_weights};
use crate::{Device, Result};
use slm_kernels::histogram::{Kernel, PeakArgs, Quantum, histogram_peak};
use std::sync::Arc;

/// A histogram's table on a device, whatever kind of bins it has.
pub(crate) trait Histogram<T: HistogramElement>: Send + Sync {
    /// Counts `samples`, and adds to `counts`.
    fn run(&self, samples: &Memory<T>, counts: &mut Memory<u64>) -> Result<()>;

    /// The sums of the weights, in multiples of the quantum.
    fn weigh(&self, samples: &Memory<T>, weights: &Memory<f32>) -> Result<(Vec<i64>, Quantum)>;

    fn plan(&self, device: &Device, samples: usize) -> Plan;
}

/// Binds a histogram to a device.
pub(crate) fn histogram<T: HistogramElement>(
    emulation: &Arc<Emulation>,
    rule: &Rule<T>,
    algorithm: Algorithm,
) -> Result<Box<dyn Histogram<T>>> {
    Ok(match rule.bins {
        Bins::Even { .. } => Box::new(Bound::<T::Even>::new(emulation, rule, algorithm)?),
        Bins::Edges(_) => Box::new(Bound::<T::Edges>::new(emulation, rule, algorithm)?),
        Bins::LowBits(_) => Box::new(Bound::<T::LowBits>::new(emulation, rule, algorithm)?),
    })
}

struct Bound<E: Entries> {
    launches: Launches<E>,
    table: Memory<E::Table>,
    emulation: Arc<Emulation>,
}

impl<E: Entries> Bound<E> {
    fn new(emulation: &Arc<Emulation>, rule: &Rule<E::Sample>, algorithm: Algorithm) -> Result<Self> {
        Ok(Bound {
            launches: Launches::new(rule, algorithm, emulation.limits().shared, 1)?,
            table: Memory::upload(emulation, &E::table(rule)?)?,
            emulation: emulation.clone(),
        })
    }

    /// What a launch works on.
    fn windows(
        &self,
        launch: &Launch<'_, E>,
        samples: &Memory<E::Sample>,
        counts: &mut Memory<u64>,
        lock: &mut Memory<u32>,
    ) -> Windows<E> {
        let first = launch.first_sample();
        Windows {
            words: samples.words(first, launch.words()),
            samples: samples.input(first),
            counts: counts.in_out(0),
            lock: lock.in_out(0),
            table: self.table.input(0),
        }
    }

    /// The quantum of the weights, which are all finite.
    fn quantum(&self, weights: &Memory<f32>) -> Result<Quantum> {
        let mut peak = Memory::<u32>::zeroed(&self.emulation, 1)?;
        for (first, shape, count) in self.launches.peaks(weights.len()) {
            let args = PeakArgs { weights: weights.input(first), count, peak: peak.in_out(0) };
            self.emulation.lock().launch::<histogram_peak>(&shape, args, &())?;
        }
        let largest = f32::from_bits(peak.download()[0]);
        if !largest.is_finite() {
            check_weights(&weights.download())?;
        }
        Ok(Quantum::new(largest, weights.len() as u64))
    }
}

impl<E: Entries> Histogram<E::Sample> for Bound<E> {
    fn run(&self, samples: &Memory<E::Sample>, counts: &mut Memory<u64>) -> Result<()> {
        let locks = usize::from(self.launches.kernel() == Kernel::Critical);
        let mut lock = Memory::zeroed(&self.emulation, locks)?;
        let mut state = self.emulation.lock();
        let result = self.launches.of(samples.len()).try_for_each(|launch| {
            let (shape, args) = (&launch.shape, launch.args(self.windows(&launch, samples, counts, &mut lock)));
            match self.launches.kernel() {
                Kernel::Critical => state.launch::<E::Critical>(shape, args, &()),
                Kernel::Global => state.launch::<E::Global>(shape, args, &()),
                Kernel::Cached => state.launch::<E::Cached>(shape, args, &()),
                Kernel::Shared { .. } => state.launch::<E::Shared>(shape, args, &()),
                Kernel::Private => state.launch::<E::Private>(shape, args, &()),
            }
        });
        // Freeing the memory of the lock takes the state too.
        drop(state);
        result
    }

    fn weigh(&self, samples: &Memory<E::Sample>, weights: &Memory<f32>) -> Result<(Vec<i64>, Quantum)> {
        let quantum = self.quantum(weights)?;
        let mut sums = Memory::zeroed(&self.emulation, self.launches.counters())?;
        let mut lock = Memory::zeroed(&self.emulation, 0)?;
        for launch in self.launches.weighing(samples.len()) {
            let windows = self.windows(&launch, samples, &mut sums, &mut lock);
            let args = launch.weighted_args(windows, weights.input(launch.first_sample()), quantum);
            self.emulation.lock().launch::<E::Weigh>(&launch.shape, args, &())?;
        }
        Ok((sums.download().into_iter().map(u64::cast_signed).collect(), quantum))
    }

    fn plan(&self, device: &Device, samples: usize) -> Plan {
        self.launches.plan(device, samples, |_| None)
    }
}
