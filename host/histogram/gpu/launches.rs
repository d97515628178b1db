//! The launches of kernels for bins of one kind.

use super::bins::TypedBins;
use super::kernels::{BinKernels, CountLaunch, PeakLaunch, WeighLaunch, WeighOnceLaunch};
use super::launch_parts::{LaunchPart, LaunchParts};
use super::samples::{SampleBuffer, WeightedSamples};
use crate::device::gpu::Gpu;
use crate::device::kernel::{Loaded, OnDemand};
use crate::histogram::rule::CounterLayout;
use crate::histogram::weights::WeightWindows;
use crate::{Buffer, BufferSliceMut, Result, Windows};
use cuda_std::{GlobalIn, GlobalInOut};
use slm_kernels::cast;
use slm_kernels::histogram::{
    Args, Binning, BinningArgument, PACK_BYTES, PeakArgs, WeighArgs, WeighOnceArgs, WeightedArgs,
};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Words of the outcome of a launch that adds up weights in one pass.
pub(super) const OUTCOME: usize = 2;

/// Words per pack.
const WORDS: u32 = PACK_BYTES / 4;

/// Launches of the kernels of a histogram. All buffers are on its device.
pub(super) trait HistogramLaunches: Send + Sync {
    /// Adds the counts of the first `len` samples to `counts`.
    fn count(
        &self,
        parts: &LaunchParts,
        samples: SampleBuffer<'_>,
        len: usize,
        counts: BufferSliceMut<'_, u64>,
    ) -> Result<()>;

    /// Adds up weights in one pass, by one launch. Behind the words of all sums, `sums` has two for the outcome.
    fn add_at_once(
        &self,
        parts: &LaunchParts,
        part: LaunchPart,
        weighted: WeightedSamples<'_>,
        sums: &mut Buffer<u64>,
    ) -> Result<()>;

    /// Finds the largest magnitudes of weights in each cell. The kernel does not use `sums`.
    fn find_peaks(
        &self,
        parts: &LaunchParts,
        weighted: WeightedSamples<'_>,
        sums: &mut Buffer<u64>,
        peaks: &mut Buffer<u32>,
    ) -> Result<()>;

    /// Adds up weights, in multiples of the cells' quanta, of at most `2^count_log2` weights.
    fn add_weights(
        &self,
        parts: &LaunchParts,
        weighted: WeightedSamples<'_>,
        count_log2: u32,
        peaks: &Buffer<u32>,
        sums: &mut Buffer<u64>,
    ) -> Result<()>;

    /// Returns the kernel that counts.
    fn counter(&self) -> &dyn Loaded;

    /// Returns the name of the kernel that adds up weights in one pass, and the kernel.
    fn weighing_at_once(&self) -> (&'static str, Result<&dyn Loaded>);

    /// Returns the names of the kernels that find the largest magnitudes and that add up weights.
    fn weighing_names(&self) -> [&'static str; 2];

    /// Returns these kernels.
    fn weighing(&self) -> [Result<&dyn Loaded>; 2];
}

/// What the arguments of all launches have in common, apart from the bins and the buffers.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArgumentSettings {
    pub(super) layout: CounterLayout,
    /// Index of the first of the kernel's cells among the cells of a channel.
    pub(super) first_cell: usize,
    pub(super) is_seq_cst: bool,
    /// Whether the kernel that counts has a critical section.
    pub(super) has_section: bool,
}

/// Launches of kernels that take bins `P`.
pub(super) struct TypedLaunches<P: TypedBins> {
    gpu: Gpu,
    bins: P,
    settings: ArgumentSettings,
    kernels: BinKernels<P::Argument>,
    counter: Box<CountLaunch<P::Argument>>,
    peaks: OnDemand<Box<PeakLaunch<P::Argument>>>,
    weigh: OnDemand<Box<WeighLaunch<P::Argument>>>,
    weigh_once: OnDemand<Box<WeighOnceLaunch<P::Argument>>>,
    pub(super) table: Buffer<P::Table>,
    /// Lock of the critical section, if the kernel has one. All launches share it: each launch leaves it unlocked, and launches
    /// run one after another.
    section: Mutex<Buffer<u32>>,
}

/// Windows on the buffers that all launches of one call share.
pub(super) struct CallWindows<'l, P: TypedBins> {
    pub(super) samples: GlobalIn<'l, SampleOf<P>>,
    counts: GlobalInOut<'l, u64>,
    /// The lock, if the kernel has a critical section; otherwise empty.
    lock: GlobalInOut<'l, u32>,
    table: GlobalIn<'l, P::Table>,
}

type SampleOf<P> = <<P as TypedBins>::Argument as Binning>::Sample;
type ArgumentOf<'l, P> = <<P as TypedBins>::Argument as BinningArgument>::At<'l>;

impl<'l, P: TypedBins> CallWindows<'l, P> {
    pub(super) fn new<'b>(
        windows: &mut Windows<'l, 'b>,
        samples: SampleBuffer<'b>,
        counts: impl Into<BufferSliceMut<'b, u64>>,
        section: &'b mut Buffer<u32>,
        table: &'b Buffer<P::Table>,
    ) -> Result<Self> {
        Ok(CallWindows {
            samples: cast(samples.window(windows)?, 1)?,
            counts: windows.in_out_slice(counts.into()),
            lock: windows.in_out(section),
            table: windows.input(table),
        })
    }
}

impl<P: TypedBins> TypedLaunches<P> {
    /// Uploads the table that the kernels read. `counter` is the one that counts.
    pub(super) fn new(
        gpu: &Gpu,
        bins: P,
        kernels: BinKernels<P::Argument>,
        counter: Box<CountLaunch<P::Argument>>,
        settings: ArgumentSettings,
    ) -> Result<Self> {
        Ok(TypedLaunches {
            table: gpu.upload(bins.table())?,
            section: Mutex::new(gpu.zeroed(usize::from(settings.has_section))?),
            counter,
            peaks: OnDemand::default(),
            weigh: OnDemand::default(),
            weigh_once: OnDemand::default(),
            gpu: gpu.clone(),
            bins,
            settings,
            kernels,
        })
    }

    pub(super) fn section(&self) -> MutexGuard<'_, Buffer<u32>> {
        // A panic of another thread does not damage the memory.
        self.section.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn peaks(&self) -> Result<&PeakLaunch<P::Argument>> {
        Ok(&**self.peaks.get(|| self.kernels.peaks.load(&self.gpu))?)
    }

    fn weigh(&self) -> Result<&WeighLaunch<P::Argument>> {
        Ok(&**self.weigh.get(|| self.kernels.weigh.load(&self.gpu))?)
    }

    fn weigh_once(&self) -> Result<&WeighOnceLaunch<P::Argument>> {
        Ok(&**self.weigh_once.get(|| self.kernels.weigh_once.load(&self.gpu))?)
    }

    /// Returns the arguments of a launch that counts.
    pub(super) fn args<'l>(
        &self,
        windows: &CallWindows<'l, P>,
        parts: &LaunchParts,
        part: LaunchPart,
    ) -> Result<Args<'l, ArgumentOf<'l, P>>> {
        // The casts are exact: packs and tails are at most those of a launch, channels and cells have been checked against 2^31,
        // and so have the keys.
        let &CallWindows { samples, counts, lock, table } = windows;
        let ArgumentSettings { layout, first_cell, is_seq_cst, .. } = self.settings;
        let counts = counts.slice(first_cell as u64, u64::MAX);
        let samples = samples.slice(part.samples.first as u64, u64::MAX);
        let packs = samples.slice(0, (part.samples.packs * parts.per_pack) as u64);
        Ok(Args {
            // Launches begin at multiples of a pack.
            words: cast(packs, WORDS)?,
            samples,
            counts,
            lock,
            binning: self.bins.argument(table),
            packs: part.samples.packs as u32,
            tail: part.samples.tail as u32,
            channels: layout.channels as u32,
            first_channel: (part.samples.first % layout.channels) as u32,
            counted: layout.counted as u32,
            keys: self.bins.keys() as u32,
            cells: layout.cells() as u32,
            seq_cst: is_seq_cst.into(),
            ranges: part.ranges,
            range: part.range,
            copies_log2: part.copies_log2,
            entries: part.entries,
        })
    }

    /// Returns the arguments of a launch that processes weights. The counts are sums, of two words per cell.
    pub(super) fn weighted_args<'l>(
        &self,
        windows: &CallWindows<'l, P>,
        (singles, doubles): WeightWindows<'l>,
        parts: &LaunchParts,
        part: LaunchPart,
    ) -> Result<WeightedArgs<'l, ArgumentOf<'l, P>>> {
        let counts = windows.counts.slice(2 * self.first_cell(), u64::MAX);
        let (first, len) = (part.samples.first as u64, part.samples.tail as u64);
        let samples = windows.samples.slice(first, len);
        Ok(WeightedArgs {
            args: Args { counts, samples, ..self.args(windows, parts, part)? },
            singles: singles.slice(first, len),
            doubles: doubles.slice(first, len),
        })
    }

    fn first_cell(&self) -> u64 {
        self.settings.first_cell as u64
    }
}

impl<P: TypedBins> HistogramLaunches for TypedLaunches<P> {
    fn count(
        &self,
        parts: &LaunchParts,
        samples: SampleBuffer<'_>,
        len: usize,
        counts: BufferSliceMut<'_, u64>,
    ) -> Result<()> {
        let mut section = self.section();
        let mut windows = Windows::new(&self.gpu);
        let call = CallWindows::<P>::new(&mut windows, samples, counts, &mut section, &self.table)?;
        let _submission = self.gpu.submission_lock()?;
        parts
            .counting(len)
            .try_for_each(|part| self.counter.launch(&windows, part.shape, self.args(&call, parts, part)?, &()))
    }

    fn add_at_once(
        &self,
        parts: &LaunchParts,
        part: LaunchPart,
        WeightedSamples { samples, weights, .. }: WeightedSamples<'_>,
        sums: &mut Buffer<u64>,
    ) -> Result<()> {
        let kernel = self.weigh_once()?;
        let first_of_outcome = sums.len() as u64 - OUTCOME as u64;
        let mut section = self.section();
        let mut windows = Windows::new(&self.gpu);
        let call = CallWindows::<P>::new(&mut windows, samples, sums, &mut section, &self.table)?;
        let weights = weights.windows(&mut windows);
        let outcome = call.counts.slice(first_of_outcome, OUTCOME as u64);
        let _submission = self.gpu.submission_lock()?;
        let args = WeighOnceArgs { weighted: self.weighted_args(&call, weights, parts, part)?, outcome };
        kernel.launch(&windows, part.shape, args, &())
    }

    fn find_peaks(
        &self,
        parts: &LaunchParts,
        WeightedSamples { samples, weights, len }: WeightedSamples<'_>,
        sums: &mut Buffer<u64>,
        peaks: &mut Buffer<u32>,
    ) -> Result<()> {
        let kernel = self.peaks()?;
        let mut section = self.section();
        let mut windows = Windows::new(&self.gpu);
        let call = CallWindows::<P>::new(&mut windows, samples, sums, &mut section, &self.table)?;
        let weights = weights.windows(&mut windows);
        let peaks = windows.in_out(peaks).slice(self.first_cell(), u64::MAX);
        let _submission = self.gpu.submission_lock()?;
        parts.finding_peaks(len).try_for_each(|part| {
            let args = PeakArgs { weighted: self.weighted_args(&call, weights, parts, part)?, peaks };
            kernel.launch(&windows, part.shape, args, &())
        })
    }

    fn add_weights(
        &self,
        parts: &LaunchParts,
        WeightedSamples { samples, weights, len }: WeightedSamples<'_>,
        count_log2: u32,
        peaks: &Buffer<u32>,
        sums: &mut Buffer<u64>,
    ) -> Result<()> {
        let kernel = self.weigh()?;
        let mut section = self.section();
        let mut windows = Windows::new(&self.gpu);
        let call = CallWindows::<P>::new(&mut windows, samples, sums, &mut section, &self.table)?;
        let weights = weights.windows(&mut windows);
        let peaks = windows.input(peaks).slice(self.first_cell(), u64::MAX);
        let _submission = self.gpu.submission_lock()?;
        parts.adding_weights(len).try_for_each(|part| {
            let args = WeighArgs { weighted: self.weighted_args(&call, weights, parts, part)?, peaks, count_log2 };
            kernel.launch(&windows, part.shape, args, &())
        })
    }

    fn counter(&self) -> &dyn Loaded {
        &*self.counter
    }

    fn weighing_at_once(&self) -> (&'static str, Result<&dyn Loaded>) {
        (self.kernels.weigh_once.name, self.weigh_once().map(|kernel| kernel as &dyn Loaded))
    }

    fn weighing_names(&self) -> [&'static str; 2] {
        [self.kernels.peaks.name, self.kernels.weigh.name]
    }

    fn weighing(&self) -> [Result<&dyn Loaded>; 2] {
        [self.peaks().map(|kernel| kernel as &dyn Loaded), self.weigh().map(|kernel| kernel as &dyn Loaded)]
    }
}
