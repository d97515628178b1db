//! Histograms on GPUs, by way of [`Kernel`](crate::Kernel) and [`Windows`], whatever runs the kernels.

use super::kernels::{Counter, FromRule, even};
use super::launches::{Launches, Memory};
use super::rule::SHARE;
use super::tuning::Tuning;
use super::{Bins, HistogramAlgorithm, HistogramElement, Plan, Rule, check_weights};
use crate::info::SharedMemory;
use crate::kernel::OnDemand;
use crate::{Buffer, Device, Element, LaunchPlan, Result, Windows};
use rayon::prelude::*;
use slm_kernels::histogram::{Even, Kernel, PeakArgs, Quantum, Scale, histogram_peak};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A histogram on a GPU, whatever its bins are.
pub(super) trait OnGpu<T: Element>: Send + Sync {
    /// Counts samples, and adds to `counts`; both are on this device.
    fn run(&self, samples: &Buffer<T>, counts: &mut Buffer<u64>) -> Result<()>;

    /// Counts samples of the host with so many counters.
    fn run_on_host(&self, samples: &[T], counters: usize) -> Result<Vec<u64>>;

    /// The sums of the weights, in multiples of the quantum; samples and weights are on this device.
    fn weigh(&self, samples: &Buffer<T>, weights: &Buffer<f32>) -> Result<(Vec<i64>, Quantum)>;

    /// The same for samples and weights of the host.
    fn weigh_on_host(&self, samples: &[T], weights: &[f32]) -> Result<(Vec<i64>, Quantum)>;

    /// How so many samples would be counted.
    fn plan(&self, samples: usize) -> Plan;

    /// [`PreparedHistogram::weighted_plan`](super::PreparedHistogram::weighted_plan).
    fn weighted_plan(&self, samples: usize) -> Vec<LaunchPlan>;
}

/// Prepares a histogram; `edges` are those of the rule.
pub(super) fn prepare<T: HistogramElement>(
    device: &Device,
    shared: SharedMemory,
    rule: &Rule<T>,
    edges: &Arc<[T]>,
    algorithm: HistogramAlgorithm,
) -> Result<Box<dyn OnGpu<T>>> {
    /// A histogram by some kernels of the element type.
    macro_rules! by {
        ($kernels:ident, $rule:expr) => {
            Box::new(Histogram::<T::$kernels>::new(device, shared, $rule, algorithm)?)
        };
    }
    Ok(match rule.bins {
        Bins::Even { .. } if is_right::<T, T::Scale>(rule, edges) => by!(Even, rule),
        Bins::Even { .. } if is_right::<T, T::RoundedScale>(rule, edges) => by!(Rounded, rule),
        // No arithmetic will do for these borders: they are searched, as any edges are.
        Bins::Even { .. } => by!(Edges, &Rule { bins: Bins::Edges(edges.clone()), ..rule.clone() }),
        Bins::Edges(_) => by!(Edges, rule),
        Bins::LowBits(_) => by!(LowBits, rule),
    })
}

/// Whether a scale gives every number the bin that the borders say.
fn is_right<T: HistogramElement, S: Scale<T>>(rule: &Rule<T>, borders: &[T]) -> bool {
    let agrees = |even: Even<T, S>| (0..even.bins).into_par_iter().with_min_len(SHARE).all(|k| even.agrees(k, borders));
    even(rule).is_some_and(|even| S::EXACT || agrees(even))
}

/// A histogram with bins of one kind on a GPU.
struct Histogram<B: FromRule> {
    device: Device,
    launches: Launches<B>,
    counter: Counter<B>,
    weigh: OnDemand<crate::Kernel<B::Weigh>>,
    peak: OnDemand<crate::Kernel<histogram_peak>>,
    table: Buffer<B::Table>,
    /// The lock of the critical section, if there is one. All launches share it: each leaves it open, and they run one after
    /// another.
    section: Mutex<Buffer<u32>>,
}

impl<B: FromRule> Histogram<B> {
    fn new(
        device: &Device,
        shared: SharedMemory,
        rule: &Rule<B::Element>,
        algorithm: HistogramAlgorithm,
    ) -> Result<Self> {
        let launches = Launches::<B>::new(rule, algorithm, shared, Tuning::new(device.info(), shared))?;
        let (table, locks) = (device.upload(&B::table(rule)?)?, usize::from(launches.kernel() == Kernel::Critical));
        Ok(Histogram {
            device: device.clone(),
            table,
            section: Mutex::new(device.zeroed(locks)?),
            counter: launches.counter().load(device)?,
            weigh: OnDemand::default(),
            peak: OnDemand::default(),
            launches,
        })
    }

    fn section(&self) -> MutexGuard<'_, Buffer<u32>> {
        // A panic elsewhere did the memory no harm.
        self.section.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The quantum of the weights, which are all finite.
    fn quantum(&self, weights: &Buffer<f32>) -> Result<Quantum> {
        let largest = f32::from_bits(self.peak(weights)?);
        if !largest.is_finite() {
            check_weights(&weights.download()?)?;
        }
        Ok(Quantum::new(largest, weights.len() as u64))
    }

    /// The bits of the largest magnitude of the weights.
    fn peak(&self, weights: &Buffer<f32>) -> Result<u32> {
        let mut peak = self.device.zeroed(1)?;
        if !weights.is_empty() {
            let kernel = self.peak.get(|| self.device.own_kernel())?;
            let mut windows = Windows::new(&self.device);
            let (weights, peak) = (windows.input(weights), windows.in_out(&mut peak));
            let _submission = self.device.submission_lock()?;
            self.launches.peaks(weights.len() as usize).try_for_each(|(first, shape, count)| {
                let weights = weights.slice(first as u64, u64::MAX);
                kernel.launch_in(&windows, shape, &PeakArgs { weights, count, peak }, &())
            })?;
        }
        Ok(peak.download()?[0])
    }

    /// Adds up the weights of at least one sample.
    fn add(
        &self,
        samples: &Buffer<B::Element>,
        weights: &Buffer<f32>,
        sums: &mut Buffer<u64>,
        quantum: Quantum,
    ) -> Result<()> {
        let kernel = self.weigh.get(|| self.device.own_kernel())?;
        let mut section = self.section();
        let mut windows = Windows::new(&self.device);
        let memory = Memory::<B>::new(&mut windows, samples, sums, &mut section, &self.table);
        let weights = windows.input(weights);
        let _submission = self.device.submission_lock()?;
        self.launches.weighing(samples.len()).try_for_each(|pass| {
            let weights = weights.slice(pass.first(), u64::MAX);
            let args = pass.weighted_args(&memory, weights, quantum)?;
            kernel.launch_in(&windows, pass.shape, &args, &())
        })
    }
}

impl<B: FromRule> OnGpu<B::Element> for Histogram<B> {
    fn run(&self, samples: &Buffer<B::Element>, counts: &mut Buffer<u64>) -> Result<()> {
        let mut section = self.section();
        let mut windows = Windows::new(&self.device);
        let memory = Memory::<B>::new(&mut windows, samples, counts, &mut section, &self.table);
        let _submission = self.device.submission_lock()?;
        self.launches
            .of(samples.len())
            .try_for_each(|pass| self.counter.launch(&windows, pass.shape, pass.args(&memory)?, &()))
    }

    fn run_on_host(&self, samples: &[B::Element], counters: usize) -> Result<Vec<u64>> {
        let samples = self.device.upload(samples)?;
        // Kernels add to counts, so these begin at zero.
        let mut counts = self.device.zeroed(counters)?;
        self.run(&samples, &mut counts)?;
        counts.download()
    }

    fn weigh(&self, samples: &Buffer<B::Element>, weights: &Buffer<f32>) -> Result<(Vec<i64>, Quantum)> {
        let quantum = self.quantum(weights)?;
        let mut sums = self.device.zeroed(self.launches.counts())?;
        if !samples.is_empty() {
            self.add(samples, weights, &mut sums, quantum)?;
        }
        Ok((sums.download()?.into_iter().map(u64::cast_signed).collect(), quantum))
    }

    fn weigh_on_host(&self, samples: &[B::Element], weights: &[f32]) -> Result<(Vec<i64>, Quantum)> {
        check_weights(weights)?;
        self.weigh(&self.device.upload(samples)?, &self.device.upload(weights)?)
    }

    fn plan(&self, samples: usize) -> Plan {
        self.launches.plan(&self.device, samples, |shape| self.counter.residency(shape))
    }

    fn weighted_plan(&self, samples: usize) -> Vec<LaunchPlan> {
        self.launches.weighted_plan(
            samples,
            |shape| self.peak.get(|| self.device.own_kernel())?.residency(shape),
            |shape| self.weigh.get(|| self.device.own_kernel())?.residency(shape),
        )
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::super::kernels::HistogramKernels;
    use super::*;
    use crate::Error;
    use emulator::Profile;

    /// Three channels, of which two are counted, in launches of 80 samples: each begins with another channel.
    fn histogram() -> Histogram<<u8 as HistogramKernels>::Even> {
        let rule = Rule { bins: Bins::Even { bins: 256, lower: 0, upper: 255 }, closed: true, channels: 3, counted: 2 };
        let device = Device::emulated(Profile::SM_90, 0);
        let shared = device.info().shared_memory.unwrap();
        let mut histogram = Histogram::new(&device, shared, &rule, HistogramAlgorithm::Auto).unwrap();
        (histogram.launches.most_packs, histogram.launches.most_weights) = (5, 77);
        histogram
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
        let counts = histogram.run_on_host(&samples, 2 * 259).unwrap();
        assert_eq!(counts, expected(&samples, |_| 1));
    }

    /// The kernels would take zeros for samples in packs that begin elsewhere.
    #[test]
    fn packs_that_begin_anywhere_are_refused() {
        let histogram = histogram();
        let device = &histogram.device;
        let (samples, mut counts) = (device.upload(&[0u8; 80]).unwrap(), device.zeroed(2 * 259).unwrap());
        let weights = device.zeroed(64).unwrap();
        let mut section = histogram.section();
        for first in 0..=16 {
            let mut windows = Windows::new(device);
            let mut memory = Memory::new(&mut windows, &samples, &mut counts, &mut section, &histogram.table);
            memory.samples = memory.samples.slice(first, 64);
            let args = histogram.launches.of(64).next().unwrap().args(&memory);
            let refused =
                matches!(args, Err(Error::MisalignedWindow { address, alignment: 16 }) if address % 16 == first);
            assert_eq!((args.is_ok(), refused), (first % 16 == 0, first % 16 != 0), "{first}");
            // Fewer samples than a pack has, and weights, are read one by one.
            assert!(histogram.launches.of(15).next().unwrap().args(&memory).is_ok());
            let weights = windows.input(&weights);
            let pass = histogram.launches.weighing(64).next().unwrap();
            assert!(pass.weighted_args(&memory, weights, Quantum::new(1.0, 64)).is_ok());
        }
    }

    #[test]
    fn weights_of_several_launches() {
        let histogram = histogram();
        let samples: Vec<u8> = (0..=254u8).cycle().take(1002).collect();
        let weights: Vec<f32> = (0..1002).map(|i| (i % 17) as f32).collect();
        let (sums, quantum) = histogram.weigh_on_host(&samples, &weights).unwrap();
        let sums: Vec<f64> = sums.into_iter().map(|sum| quantum.sum(sum)).collect();
        let expected = expected(&samples, |i| (i % 17) as u64);
        assert_eq!(sums, expected.into_iter().map(|sum| sum as f64).collect::<Vec<_>>());
    }
}
