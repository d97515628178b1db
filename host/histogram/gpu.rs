//! Histograms on CUDA and emulated GPUs, by [`Kernel`](crate::Kernel) and [`Windows`].

use super::fitted::{Fit, Fitted, FromEnds, SampleBins};
use super::kernels::{Counter, FromRule, HistogramKernels, even};
use super::launches::{Launches, Memory};
use super::on_device::OnGpu;
use super::rule::SHARE;
use super::tuning::Tuning;
use super::weights::{Weigh, WeightBuffer, WeightSlice, check_weights, values};
use super::{HistogramAlgorithm, Plan, WeightedPlan};
use crate::info::SharedMemory;
use crate::kernel::OnDemand;
use crate::{Buffer, Device, Result, Windows, parallel};
use slm_kernels::histogram::{Even, Kernel, count_log2};
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
    peaks: OnDemand<crate::Kernel<B::Peaks>>,
    weigh: OnDemand<crate::Kernel<B::Weigh>>,
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
            peaks: OnDemand::default(),
            weigh: OnDemand::default(),
            launches,
        })
    }

    fn section(&self) -> MutexGuard<'_, Buffer<u32>> {
        // A panic of another thread does not damage the memory.
        self.section.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds the largest magnitudes of the first `len` weights in each cell. The kernel does not use `sums`.
    fn find_peaks(
        &self,
        samples: &Buffer<B::Element>,
        len: usize,
        weights: WeightBuffer<'_>,
        sums: &mut Buffer<u64>,
        peaks: &mut Buffer<u32>,
    ) -> Result<()> {
        let kernel = self.peaks.get(|| self.device.own_kernel())?;
        let mut section = self.section();
        let mut windows = Windows::new(&self.device);
        let memory = Memory::<B>::new(&mut windows, samples, sums, &mut section, &self.table);
        let (weights, peaks) = (weights.windows(&mut windows), windows.in_out(peaks));
        let _submission = self.device.submission_lock()?;
        self.launches
            .peaks(len)
            .try_for_each(|pass| kernel.launch_in(&windows, pass.shape, &pass.peak_args(&memory, weights, peaks)?, &()))
    }

    /// Adds up the first `len` weights, in multiples of the cells' quanta.
    fn add_weights(
        &self,
        samples: &Buffer<B::Element>,
        len: usize,
        weights: WeightBuffer<'_>,
        peaks: &Buffer<u32>,
        sums: &mut Buffer<u64>,
    ) -> Result<()> {
        let kernel = self.weigh.get(|| self.device.own_kernel())?;
        let mut section = self.section();
        let mut windows = Windows::new(&self.device);
        let memory = Memory::<B>::new(&mut windows, samples, sums, &mut section, &self.table);
        let (weights, peaks) = (weights.windows(&mut windows), windows.input(peaks));
        let _submission = self.device.submission_lock()?;
        self.launches.sums(len).try_for_each(|pass| {
            let args = pass.weigh_args(&memory, weights, peaks, count_log2(len as u64))?;
            kernel.launch_in(&windows, pass.shape, &args, &())
        })
    }

    /// Returns the sums of weights on the host.
    fn weigh_slice<W: Weigh>(&self, samples: &[B::Element], weights: &[W]) -> Result<Vec<f64>> {
        check_weights(weights)?;
        let (samples, len) = (self.device.upload(samples)?, samples.len());
        self.weigh(&samples, len, W::of_buffer(&self.device.upload(weights)?))
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

    fn weigh(&self, samples: &Buffer<B::Element>, len: usize, weights: WeightBuffer<'_>) -> Result<Vec<f64>> {
        let cells = self.launches.counts();
        let (mut peaks, mut sums) = (self.device.zeroed(cells + 1)?, self.device.zeroed(2 * cells)?);
        self.find_peaks(samples, len, weights, &mut sums, &mut peaks)?;
        self.add_weights(samples, len, weights, &peaks, &mut sums)?;
        let (peaks, sums) = (peaks.download()?, sums.download()?);
        if peaks[cells] != 0 {
            weights.check(len)?;
        }
        let sums =
            sums.as_chunks::<2>().0.iter().map(|&[low, high]| i128::from(high.cast_signed()) << 64 | i128::from(low));
        values(sums, &peaks, count_log2(len as u64))
    }

    fn weigh_on_host(&self, samples: &[B::Element], weights: WeightSlice<'_>) -> Result<Vec<f64>> {
        match weights {
            WeightSlice::F32(weights) => self.weigh_slice(samples, weights),
            WeightSlice::F64(weights) => self.weigh_slice(samples, weights),
        }
    }

    fn plan(&self, samples: usize) -> Plan {
        self.launches.plan(&self.device, samples, |shape| self.counter.residency(shape))
    }

    fn weighted_plan(&self, samples: usize) -> WeightedPlan {
        self.launches.weighted_plan(
            &self.device,
            samples,
            |shape| self.peaks.get(|| self.device.own_kernel())?.residency(shape),
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
        let (weights, peaks) = (device.zeroed(64).unwrap(), device.zeroed(2 * 259 + 1).unwrap());
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
            let (weights, peaks) = (WeightBuffer::F32(&weights).windows(&mut windows), windows.input(&peaks));
            let pass = histogram.launches.sums(64).next().unwrap();
            assert!(pass.weigh_args(&memory, weights, peaks, 30).is_ok());
        }
    }

    #[test]
    fn weights_of_several_launches() {
        let histogram = histogram();
        let samples: Vec<u8> = (0..=254u8).cycle().take(1002).collect();
        let weights: Vec<f32> = (0..1002).map(|i| (i % 17) as f32).collect();
        let expected = Ok(expected(&samples, |i| (i % 17) as u64).into_iter().map(|sum| sum as f64).collect());
        assert_eq!(histogram.weigh_on_host(&samples, WeightSlice::F32(&weights)), expected);
        let doubles: Vec<f64> = weights.into_iter().map(f64::from).collect();
        assert_eq!(histogram.weigh_on_host(&samples, WeightSlice::F64(&doubles)), expected);
    }
}
