//! Histograms on CUDA and emulated GPUs, by [`Kernel`](crate::Kernel) and [`Windows`].

use super::fitted::{Fit, Fitted, FromEnds, SampleBins};
use super::kernels::{Counter, FromRule, HistogramKernels, even};
use super::launches::{Launches, Memory};
use super::on_device::OnGpu;
use super::rule::SHARE;
use super::tuning::Tuning;
use super::weights::{ONE, PARTS, Real, Sums, WeightBuffer, WeightSlice, check_weights, part, quantum};
use super::{HistogramAlgorithm, Plan, WeightedPlan};
use crate::info::SharedMemory;
use crate::kernel::OnDemand;
use crate::{Buffer, Device, Result, Windows, parallel};
use slm_kernels::histogram::{Even, Kernel, PeakArgs, Quantum, histogram_peak};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Returns a prepared histogram. `edges` are the borders of its rule.
pub(super) fn prepare<T: Fit + HistogramKernels>(
    device: &Device,
    shared: SharedMemory,
    fitted: Fitted<T>,
    edges: &Arc<[T::Bound]>,
    algorithm: HistogramAlgorithm,
) -> Result<Box<dyn OnGpu<T>>> {
    /// Returns a histogram with these kernels of the element type.
    macro_rules! by {
        ($kernels:ident, $fitted:expr) => {
            Box::new(Histogram::<T::$kernels>::new(device, shared, $fitted, algorithm)?)
        };
    }
    Ok(match &fitted.bins {
        SampleBins::Even(_) if is_right::<T, T::Scale>(&fitted, edges) => by!(Even, fitted),
        SampleBins::Even(_) if is_right::<T, T::RoundedScale>(&fitted, edges) => by!(Rounded, fitted),
        // No scale is right for these borders, so kernels search them like arbitrary edges.
        SampleBins::Even(even) => {
            let edges = T::of_samples(edges).expect("integers have a scale for all ranges");
            by!(Edges, Fitted { bins: even.searched(edges), ..fitted })
        }
        SampleBins::Edges { .. } => by!(Edges, fitted),
        SampleBins::LowBits(_) => by!(LowBits, fitted),
    })
}

/// Returns whether a scale agrees with the borders for every number.
fn is_right<T: Fit, S: FromEnds<T>>(fitted: &Fitted<T>, borders: &Arc<[T::Bound]>) -> bool {
    let agrees =
        |even: Even<T, S>, borders: &[T]| parallel::all(even.bins as usize, SHARE, &|k| even.agrees(k as u32, borders));
    even(fitted).is_some_and(|even| S::EXACT || T::of_samples(borders).is_some_and(|borders| agrees(even, &borders)))
}

/// A histogram with bins of one kind on a GPU.
struct Histogram<B: FromRule> {
    device: Device,
    launches: Launches<B>,
    counter: Counter<B>,
    weigh: OnDemand<crate::Kernel<B::Weigh>>,
    peak: OnDemand<crate::Kernel<histogram_peak>>,
    table: Buffer<B::Table>,
    /// Lock of the critical section, if the kernel has one. All launches share it: each launch leaves it unlocked, and launches
    /// run one after another.
    section: Mutex<Buffer<u32>>,
}

impl<B: FromRule> Histogram<B> {
    fn new(
        device: &Device,
        shared: SharedMemory,
        fitted: Fitted<B::Element>,
        algorithm: HistogramAlgorithm,
    ) -> Result<Self> {
        let launches = Launches::<B>::new(fitted, algorithm, shared, Tuning::new(device.info(), shared))?;
        let (table, locks) = (device.upload(&launches.table()?)?, usize::from(launches.kernel() == Kernel::Critical));
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
        // A panic of another thread does not damage the memory.
        self.section.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the quantum of the first `len` weights.
    fn quantum(&self, weights: &Buffer<f32>, len: usize) -> Result<Quantum> {
        let largest = f32::from_bits(self.peak(weights, len)?);
        if !largest.is_finite() {
            check_weights(&weights.download()?[..len])?;
        }
        Ok(f32::quantum(largest, len))
    }

    /// Returns the bits of the largest magnitude of the first `len` weights.
    fn peak(&self, weights: &Buffer<f32>, len: usize) -> Result<u32> {
        let mut peak = self.device.zeroed(1)?;
        if len > 0 {
            let kernel = self.peak.get(|| self.device.own_kernel())?;
            let mut windows = Windows::new(&self.device);
            let (weights, peak) = (windows.input(weights), windows.in_out(&mut peak));
            let _submission = self.device.submission_lock()?;
            self.launches.peaks(len).try_for_each(|(first, shape, count)| {
                let weights = weights.slice(first as u64, u64::MAX);
                kernel.launch_in(&windows, shape, &PeakArgs { weights, count, peak }, &())
            })?;
        }
        Ok(peak.download()?[0])
    }

    /// Adds up the weights of the first `len` samples.
    fn add(
        &self,
        samples: &Buffer<B::Element>,
        len: usize,
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
        self.launches.weighing(len).try_for_each(|pass| {
            let weights = weights.slice(pass.first(), u64::MAX);
            let args = pass.weighted_args(&memory, weights, quantum)?;
            kernel.launch_in(&windows, pass.shape, &args, &())
        })
    }

    /// Returns the result of `add` for sums of zero, in multiples of the quantum.
    fn sums(&self, quantum: Quantum, add: impl FnOnce(&mut Buffer<u64>) -> Result<()>) -> Result<Sums> {
        let mut sums = self.device.zeroed(self.launches.counts())?;
        add(&mut sums)?;
        Ok(Sums { multiples: sums.download()?.into_iter().map(u64::cast_signed).collect(), quantum })
    }

    /// Returns the sums of weights on the device.
    fn weigh_there(&self, samples: &Buffer<B::Element>, len: usize, weights: &Buffer<f32>) -> Result<Sums> {
        let quantum = self.quantum(weights, len)?;
        self.sums(quantum, |sums| self.add(samples, len, weights, sums, quantum))
    }

    /// Returns the sums of weights on the host, which are converted to integers that the kernel can add.
    fn weigh_parts(&self, samples: &Buffer<B::Element>, weights: &[f64]) -> Result<Sums> {
        let quantum = quantum(weights)?;
        self.sums(quantum, |sums| {
            (0..PARTS).try_for_each(|k| match part(weights, quantum, k)? {
                Some(part) => self.add(samples, part.len(), &self.device.upload(&part)?, sums, ONE),
                None => Ok(()),
            })
        })
    }
}

impl<B: FromRule> OnGpu<B::Element> for Histogram<B> {
    fn run(&self, samples: &Buffer<B::Element>, len: usize, counts: &mut Buffer<u64>) -> Result<()> {
        let mut section = self.section();
        let mut windows = Windows::new(&self.device);
        let memory = Memory::<B>::new(&mut windows, samples, counts, &mut section, &self.table);
        let _submission = self.device.submission_lock()?;
        self.launches.of(len).try_for_each(|pass| self.counter.launch(&windows, pass.shape, pass.args(&memory)?, &()))
    }

    fn run_on_host(&self, samples: &[B::Element], counters: usize) -> Result<Vec<u64>> {
        let (samples, len) = (self.device.upload(samples)?, samples.len());
        // Kernels add to the counts, so they begin at zero.
        let mut counts = self.device.zeroed(counters)?;
        self.run(&samples, len, &mut counts)?;
        counts.download()
    }

    fn weigh(&self, samples: &Buffer<B::Element>, len: usize, weights: WeightBuffer<'_>) -> Result<Sums> {
        match weights {
            WeightBuffer::F32(weights) => self.weigh_there(samples, len, weights),
            WeightBuffer::F64(weights) => self.weigh_parts(samples, &weights.download()?[..len]),
        }
    }

    fn weigh_on_host(&self, samples: &[B::Element], weights: WeightSlice<'_>) -> Result<Sums> {
        match weights {
            WeightSlice::F32(weights) => {
                check_weights(weights)?;
                self.weigh_there(&self.device.upload(samples)?, samples.len(), &self.device.upload(weights)?)
            }
            WeightSlice::F64(weights) => self.weigh_parts(&self.device.upload(samples)?, weights),
        }
    }

    fn plan(&self, samples: usize) -> Plan {
        self.launches.plan(&self.device, samples, |shape| self.counter.residency(shape))
    }

    fn weighted_plan(&self, samples: usize) -> WeightedPlan {
        self.launches.weighted_plan(
            &self.device,
            samples,
            |shape| self.peak.get(|| self.device.own_kernel())?.residency(shape),
            |shape| self.weigh.get(|| self.device.own_kernel())?.residency(shape),
        )
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::super::{Bins, Rule};
    use super::*;
    use crate::Error;
    use emulator::Profile;

    /// Three channels, two of them counted, in launches of 80 samples. Each launch begins with another channel.
    fn histogram() -> Histogram<<u8 as HistogramKernels>::Even> {
        let rule = Rule { bins: Bins::Even { bins: 256, lower: 0, upper: 255 }, closed: true, channels: 3, counted: 2 };
        let device = Device::emulated(Profile::SM_90, 0);
        let shared = device.info().shared_memory.unwrap();
        let fitted = Fitted::new(&rule, &rule.edges().unwrap());
        let mut histogram = Histogram::new(&device, shared, fitted, HistogramAlgorithm::Auto).unwrap();
        (histogram.launches.most_packs, histogram.launches.most_weights) = (5, 77);
        histogram
    }

    /// Returns the cells channel by channel. Each cell is the sum of `of` over its samples.
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

    /// Kernels would read zeros from misaligned packs.
    #[test]
    fn misaligned_packs_are_refused() {
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
            // Weights, and samples that do not fill a pack, are read one by one.
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
        let expected = expected(&samples, |i| (i % 17) as u64).into_iter().map(|sum| sum as f64).collect();
        let of_f32 = histogram.weigh_on_host(&samples, WeightSlice::F32(&weights)).unwrap();
        assert_eq!(of_f32.values().as_ref(), Ok(&expected));
        // In parts, each of which needs several launches.
        let doubles: Vec<f64> = weights.into_iter().map(f64::from).collect();
        let of_f64 = histogram.weigh_on_host(&samples, WeightSlice::F64(&doubles)).unwrap();
        assert_eq!(of_f64.values(), Ok(expected));
    }
}
