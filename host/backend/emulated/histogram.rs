//! Histograms on an emulated GPU.

use super::{Emulation, Memory};
use crate::backend::gpu::histogram::{Entries, Launches, windows, with_entry};
use crate::buffer::Storage;
use crate::histogram::{Algorithm, Bins, Bound, HistogramElement, Plan, Rule, check_weights};
use crate::{Device, Result};
use slm_kernels::histogram::{Kernel, PeakArgs, Quantum, histogram_peak};
use std::sync::Arc;

/// Binds a histogram to a device.
pub(crate) fn histogram<T: HistogramElement>(
    emulation: &Arc<Emulation>,
    rule: &Rule<T>,
    algorithm: Algorithm,
) -> Result<Box<dyn Bound<T>>> {
    Ok(match rule.bins {
        Bins::Even { .. } => Box::new(Histogram::<T::Even>::new(emulation, rule, algorithm)?),
        Bins::Edges(_) => Box::new(Histogram::<T::Edges>::new(emulation, rule, algorithm)?),
        Bins::LowBits(_) => Box::new(Histogram::<T::LowBits>::new(emulation, rule, algorithm)?),
    })
}

struct Histogram<E: Entries> {
    launches: Launches<E>,
    table: Memory<E::Table>,
    emulation: Arc<Emulation>,
}

impl<E: Entries> Histogram<E> {
    fn new(emulation: &Arc<Emulation>, rule: &Rule<E::Sample>, algorithm: Algorithm) -> Result<Self> {
        Ok(Histogram {
            launches: Launches::new(rule, algorithm, emulation.limits().shared, 1)?,
            table: Memory::upload(emulation, &E::table(rule)?)?,
            emulation: emulation.clone(),
        })
    }

    /// The quantum of the weights, which are all finite.
    fn quantum(&self, weights: &Memory<f32>) -> Result<Quantum> {
        let mut peak = Memory::<u32>::zeroed(&self.emulation, 1)?;
        for (first, shape, count) in self.launches.peaks(weights.len()) {
            let args = PeakArgs { weights: weights.input(first), count, peak: peak.in_out(0) };
            self.emulation.lock()?.launch::<histogram_peak>(&shape, args, &())?;
        }
        let largest = f32::from_bits(peak.download()?[0]);
        if !largest.is_finite() {
            check_weights(&weights.download()?)?;
        }
        Ok(Quantum::new(largest, weights.len() as u64))
    }
}

impl<E: Entries> Bound<E::Sample> for Histogram<E> {
    fn run(&self, samples: &Storage<E::Sample>, counts: &mut Storage<u64>) -> Result<()> {
        let (samples, counts) = (samples.emulated(), counts.emulated_mut());
        let locks = usize::from(self.launches.kernel() == Kernel::Critical);
        let mut lock = Memory::zeroed(&self.emulation, locks)?;
        let mut state = self.emulation.lock()?;
        let result = self.launches.of(samples.len()).try_for_each(|launch| {
            let args = launch.args(windows!(launch, samples, counts, lock, self.table));
            with_entry!(self.launches.kernel(), |Chosen| state.launch::<Chosen<E>>(&launch.shape, args, &()))
        });
        // Freeing the memory of the lock takes the state too.
        drop(state);
        result
    }

    fn weigh(&self, samples: &Storage<E::Sample>, weights: &Storage<f32>) -> Result<(Vec<i64>, Quantum)> {
        let (samples, weights) = (samples.emulated(), weights.emulated());
        let quantum = self.quantum(weights)?;
        let mut sums = Memory::zeroed(&self.emulation, self.launches.counts())?;
        let mut lock = Memory::zeroed(&self.emulation, 0)?;
        for launch in self.launches.weighing(samples.len()) {
            let windows = windows!(launch, samples, sums, lock, self.table);
            let args = launch.weighted_args(windows, weights.input(launch.first_sample()), quantum);
            self.emulation.lock()?.launch::<E::Weigh>(&launch.shape, args, &())?;
        }
        Ok((sums.download()?.into_iter().map(u64::cast_signed).collect(), quantum))
    }

    fn plan(&self, device: &Device, samples: usize) -> Plan {
        self.launches.plan(device, samples, |_| None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::gpu::histogram::HistogramKernels;
    use emulator::Profile;

    /// Three channels, of which two are counted, in launches of 80 samples: each begins with another channel.
    fn histogram() -> Histogram<<u8 as HistogramKernels>::Even> {
        let rule = Rule { bins: Bins::Even { bins: 256, lower: 0, upper: 255 }, closed: true, channels: 3, counted: 2 };
        let emulation = Arc::new(Emulation::new(Profile::SM_90, 0));
        let mut histogram = Histogram::new(&emulation, &rule, Algorithm::Auto).unwrap();
        (histogram.launches.most_packs, histogram.launches.most_weights) = (5, 77);
        histogram
    }

    fn upload<T: crate::Element>(histogram: &Histogram<impl Entries>, data: &[T]) -> Storage<T> {
        Storage::Emulated(Memory::upload(&histogram.emulation, data).unwrap())
    }

    /// The cells of one channel after another, each of which adds up what `of` gives for its samples.
    fn expected(samples: &[u8], of: impl Fn(usize) -> u64) -> Vec<u64> {
        let cells = |channel| {
            let mut cells = [0; 259];
            (channel..samples.len()).step_by(3).for_each(|i| cells[usize::from(samples[i])] += of(i));
            cells
        };
        [0, 1].map(cells).concat()
    }

    #[test]
    fn counts_of_several_launches() {
        let histogram = histogram();
        let samples: Vec<u8> = (0..=254u8).cycle().take(1002).collect();
        let mut counts = Storage::Emulated(Memory::zeroed(&histogram.emulation, 2 * 259).unwrap());
        histogram.run(&upload(&histogram, &samples), &mut counts).unwrap();
        assert_eq!(counts.emulated().download().unwrap(), expected(&samples, |_| 1));
    }

    #[test]
    fn weights_of_several_launches() {
        let histogram = histogram();
        let samples: Vec<u8> = (0..=254u8).cycle().take(1002).collect();
        let weights: Vec<f32> = (0..1002).map(|i| (i % 17) as f32).collect();
        let (samples_there, weights_there) = (upload(&histogram, &samples), upload(&histogram, &weights));
        let (sums, quantum) = histogram.weigh(&samples_there, &weights_there).unwrap();
        let sums: Vec<f64> = sums.into_iter().map(|sum| quantum.sum(sum)).collect();
        let expected = expected(&samples, |i| (i % 17) as u64);
        assert_eq!(sums, expected.into_iter().map(|sum| sum as f64).collect::<Vec<_>>());
    }
}
