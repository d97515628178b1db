//! Launches of a histogram: kernels, numbers of launches, shapes and arguments.

use super::fitted::Fitted;
use super::kernels::{EntryPoint, FromRule};
use super::rule::check_counters;
use super::tuning::Tuning;
use super::weights::WeightWindows;
use super::{HistogramAlgorithm, MemoryOrder, Plan, WeightedPlan};
use crate::info::SharedMemory;
use crate::{Buffer, Device, LaunchPlan, LaunchShape, Residency, Result, Windows};
use cuda_std::{Entry, GlobalIn, GlobalInOut};
use slm_kernels::cast;
use slm_kernels::histogram::{
    Args, Geometry, Kernel, MOST_PACKS, MOST_WEIGHTS, PACK_BYTES, PeakArgs, WeighArgs, WeighGeometry, WeightedArgs,
};

/// Buffers that all launches of a histogram share.
pub(super) struct Memory<'l, B: FromRule> {
    pub(super) samples: GlobalIn<'l, B::Element>,
    counts: GlobalInOut<'l, u64>,
    /// The lock, if the kernel is [`Kernel::Critical`]; otherwise empty.
    lock: GlobalInOut<'l, u32>,
    table: GlobalIn<'l, B::Table>,
}

impl<'l, B: FromRule> Memory<'l, B> {
    pub(super) fn new<'b>(
        windows: &mut Windows<'l, 'b>,
        samples: &'b Buffer<B::Element>,
        counts: &'b mut Buffer<u64>,
        section: &'b mut Buffer<u32>,
        table: &'b Buffer<B::Table>,
    ) -> Self {
        Memory {
            samples: windows.input(samples),
            counts: windows.in_out(counts),
            lock: windows.in_out(section),
            table: windows.input(table),
        }
    }
}

/// Launches of a histogram on a device with this shared memory.
pub(super) struct Launches<B: FromRule> {
    fitted: Fitted<B::Element>,
    algorithm: HistogramAlgorithm,
    shared: SharedMemory,
    tuning: Tuning,
    /// Algorithm that counts, never [`HistogramAlgorithm::Auto`], and the reason.
    chosen: HistogramAlgorithm,
    reason: String,
    geometry: Geometry,
    finding_peaks: WeighGeometry,
    adding_weights: WeighGeometry,
    /// Maximum number of packs, and of weights, per launch.
    pub(super) most_packs: usize,
    pub(super) most_weights: usize,
}

impl<B: FromRule> Launches<B> {
    /// Returns the launches of a histogram.
    ///
    /// # Errors
    ///
    /// [`Error::SharedMemoryExceeded`](crate::Error::SharedMemoryExceeded) and
    /// [`Error::TooLarge`](crate::Error::TooLarge) for too many counters.
    pub(super) fn new(
        fitted: Fitted<B::Element>,
        algorithm: HistogramAlgorithm,
        shared: SharedMemory,
        tuning: Tuning,
    ) -> Result<Self> {
        // `Rule::check` has checked the number of cells, but bytes may have more keys than cells.
        check_counters(fitted.rule.counted, B::keys(&fitted))?;
        let counters = (fitted.rule.counted * B::keys(&fitted)) as u32;
        let geometry = |algorithm| Geometry::new(kernel(algorithm, &tuning), counters, tuning.memory, &tuning.launches);
        let (chosen, reason) = match algorithm {
            HistogramAlgorithm::Auto => {
                let most_ranges = match (B::IS_SEARCH, fitted.rule.channels) {
                    (true, _) => tuning.searched_ranges,
                    (false, 1) => tuning.ranges,
                    (false, _) => tuning.ranges_of_channels,
                };
                choose(counters, geometry(HistogramAlgorithm::LanePrivate), shared, most_ranges)
            }
            _ => (algorithm, "requested".to_owned()),
        };
        let launches = Launches {
            fitted,
            algorithm,
            shared,
            tuning,
            chosen,
            reason,
            geometry: geometry(chosen),
            finding_peaks: WeighGeometry::peaks(counters, tuning.memory, &tuning.launches),
            adding_weights: WeighGeometry::sums(counters, &tuning.launches),
            most_packs: MOST_PACKS as usize,
            most_weights: MOST_WEIGHTS as usize,
        };
        shared.check(launches.name(), launches.geometry.shared_bytes)?;
        Ok(launches)
    }

    /// Returns the number of counts.
    pub(super) fn counts(&self) -> usize {
        self.fitted.rule.counters()
    }

    /// Returns the table of the bins.
    pub(super) fn table(&self) -> Result<Vec<B::Table>> {
        B::table(&self.fitted)
    }

    /// Returns the kernel that counts.
    pub(super) fn kernel(&self) -> Kernel {
        kernel(self.chosen, &self.tuning)
    }

    pub(super) fn counter(&self) -> EntryPoint<B> {
        let is_relaxed = matches!(
            self.chosen,
            HistogramAlgorithm::SharedAtomic(MemoryOrder::Relaxed) | HistogramAlgorithm::LanePrivate
        );
        match is_relaxed && self.fitted.rule.channels == 1 && self.geometry.is_alone() {
            true => B::counter_alone(),
            false => B::counter(self.kernel()),
        }
    }

    fn name(&self) -> &'static str {
        self.counter().name
    }

    /// Returns the number of separate counters on the device: the keys of all counted channels.
    fn counters(&self) -> usize {
        self.fitted.rule.counted * B::keys(&self.fitted)
    }

    /// Returns the number of copies of each counter in a block's shared memory.
    fn copies(&self) -> u32 {
        match self.kernel() {
            Kernel::Shared { .. } => 1 << self.geometry.copies_log2,
            Kernel::Private => self.geometry.threads,
            Kernel::Critical | Kernel::Global | Kernel::Cached => 0,
        }
    }

    /// Returns the arguments of a launch on this part, with this number of counters in a range.
    fn args<'l>(&self, memory: &Memory<'l, B>, part: Part, range: u32) -> Result<Args<'l, B::At<'l>>> {
        // The casts are exact: packs and tails are at most those of a launch, `Rule::check` has checked channels and cells
        // against 2^31, and `new` has checked the keys.
        let &Memory { samples, counts, lock, table } = memory;
        let counts = counts.slice(B::first(&self.fitted) as u64, u64::MAX);
        let samples = samples.slice(part.first as u64, u64::MAX);
        let packs = samples.slice(0, (part.packs * per_pack::<B>()) as u64);
        let Geometry { ranges, copies_log2, .. } = self.geometry;
        let seq_cst = matches!(
            self.chosen,
            HistogramAlgorithm::GlobalAtomic(MemoryOrder::SeqCst)
                | HistogramAlgorithm::SharedAtomic(MemoryOrder::SeqCst)
        );
        Ok(Args {
            // Parts begin at multiples of a pack.
            words: cast(packs, WORDS)?,
            samples,
            counts,
            lock,
            binning: B::new(&self.fitted, table),
            packs: part.packs as u32,
            tail: part.tail as u32,
            channels: self.fitted.rule.channels as u32,
            first_channel: (part.first % self.fitted.rule.channels) as u32,
            counted: self.fitted.rule.counted as u32,
            keys: B::keys(&self.fitted) as u32,
            cells: self.fitted.rule.cells() as u32,
            seq_cst: seq_cst.into(),
            ranges,
            range,
            copies_log2,
        })
    }

    /// Returns the maximum number of samples per launch that counts.
    fn most_samples(&self) -> usize {
        self.most_packs * per_pack::<B>()
    }

    /// Returns the launches that count `samples` samples.
    pub(super) fn of(&self, samples: usize) -> impl Iterator<Item = Pass<'_, B>> {
        let per_pack = per_pack::<B>();
        parts(samples, self.most_samples()).map(move |(first, len)| {
            let part = Part { first, packs: len / per_pack, tail: len % per_pack };
            let blocks = self.geometry.grid(part.packs as u64, self.tuning.processors);
            let shape = shape(blocks, self.geometry.threads).shared_bytes(self.geometry.shared_bytes);
            Pass { launches: self, shape, part, range: self.geometry.range }
        })
    }

    /// Returns the launches that find the largest magnitudes of the weights of `samples` samples.
    pub(super) fn peaks(&self, samples: usize) -> impl Iterator<Item = Pass<'_, B>> {
        self.over_weights(samples, self.finding_peaks)
    }

    /// Returns the launches that add up the weights of `samples` samples.
    pub(super) fn sums(&self, samples: usize) -> impl Iterator<Item = Pass<'_, B>> {
        self.over_weights(samples, self.adding_weights)
    }

    fn over_weights(&self, samples: usize, weighing: WeighGeometry) -> impl Iterator<Item = Pass<'_, B>> {
        parts(samples, self.most_weights).map(move |(first, len)| {
            let blocks = weighing.grid(len as u64, self.tuning.processors);
            let shape = shape(blocks, weighing.threads).shared_bytes(weighing.shared_bytes);
            Pass { launches: self, shape, part: Part { first, packs: 0, tail: len }, range: weighing.keys }
        })
    }

    /// Returns the plan for counting samples. `residency` returns the occupancy of a launch.
    pub(super) fn plan(
        &self,
        device: &Device,
        samples: usize,
        residency: impl FnOnce(LaunchShape) -> Result<Option<Residency>>,
    ) -> Plan {
        let (kernel, reason) = match samples {
            0 => ("none", "there is nothing to count"),
            _ => (self.name(), self.reason.as_str()),
        };
        let times = times(samples, self.most_samples());
        let launch = self.of(samples).next().map(|Pass { shape, .. }| LaunchPlan {
            times,
            moved_bytes: self.samples_and_counts(samples, times),
            ..LaunchPlan::once(kernel, shape, self.shared, residency(shape))
        });
        Plan {
            device: device.to_string(),
            algorithm: self.algorithm,
            chosen: self.chosen,
            kernel: kernel.to_owned(),
            reason: reason.to_owned(),
            samples,
            bins: self.fitted.rule.bins(),
            channels: self.fitted.rule.counted,
            counters: self.counters(),
            copies: self.copies(),
            ranges: self.geometry.ranges,
            launches: launch.into_iter().collect(),
        }
    }

    /// Returns the plan for the weights of `samples` samples. `of_peaks` and `of_sums` return the residency of a launch that
    /// finds the largest magnitudes, and of one that adds.
    pub(super) fn weighted_plan(
        &self,
        device: &Device,
        samples: usize,
        of_peaks: impl FnOnce(LaunchShape) -> Result<Option<Residency>>,
        of_sums: impl FnOnce(LaunchShape) -> Result<Option<Residency>>,
    ) -> WeightedPlan {
        let times = times(samples, self.most_weights);
        let inputs = (samples as u64).saturating_mul((size_of::<B::Element>() + size_of::<f32>()) as u64);
        let plan = |kernel, shape, bytes_per_cell: usize, residency| LaunchPlan {
            times,
            moved_bytes: inputs.saturating_add(times.saturating_mul((bytes_per_cell * self.counts()) as u64)),
            ..LaunchPlan::once(kernel, shape, self.shared, residency)
        };
        let (peak, sum) = (size_of::<u32>(), size_of::<i128>());
        let peaks = self.peaks(samples).next();
        let peaks = peaks.map(|Pass { shape, .. }| plan(B::Peaks::NAME, shape, peak, of_peaks(shape)));
        let sums = self.sums(samples).next();
        let sums = sums.map(|Pass { shape, .. }| plan(B::Weigh::NAME, shape, peak + sum, of_sums(shape)));
        let launches = peaks.into_iter().chain(sums).collect();
        WeightedPlan { launches, ..WeightedPlan::without_launch(device, samples, &self.fitted.rule) }
    }

    /// Returns the bytes that `launches` launches read and write: each sample once, and the counts once per launch.
    fn samples_and_counts(&self, samples: usize, launches: u64) -> u64 {
        let counts = (size_of::<u64>() * self.counts()) as u64;
        let samples = (samples as u64).saturating_mul(size_of::<B::Element>() as u64);
        samples.saturating_add(launches.saturating_mul(counts))
    }
}

/// Returns the kernel of an algorithm.
fn kernel(algorithm: HistogramAlgorithm, tuning: &Tuning) -> Kernel {
    match algorithm {
        HistogramAlgorithm::Critical => Kernel::Critical,
        HistogramAlgorithm::GlobalAtomic(_) => Kernel::Global,
        HistogramAlgorithm::CachedAtomic => Kernel::Cached,
        HistogramAlgorithm::PrivatePerThread => Kernel::Private,
        HistogramAlgorithm::SharedAtomic(_) => Kernel::Shared { most_copies: 1 },
        HistogramAlgorithm::LanePrivate | HistogramAlgorithm::Auto => Kernel::Shared { most_copies: tuning.copies },
    }
}

/// Returns the algorithm for a number of counters, according to their possible copies and ranges, and the reason for it.
///
/// Counters are the same for all types of samples, so a type only matters through its number of keys: bytes have 256 per
/// channel, for any number of bins. Bins that are searched have another `most_ranges`.
fn choose(counters: u32, geometry: Geometry, shared: SharedMemory, most_ranges: u32) -> (HistogramAlgorithm, String) {
    let Geometry { ranges, copies_log2, .. } = geometry;
    let (block, half) = (shared.max_per_block >> 10, format!("half of {} KiB", shared.per_multiprocessor >> 10));
    let (algorithm, why) = match (ranges, copies_log2) {
        (1, 1..) => (HistogramAlgorithm::LanePrivate, format!("fit {} times into {half}", 1 << copies_log2)),
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
    (algorithm, format!("{counters} counters of 4 bytes {why}"))
}

/// Words per pack.
const WORDS: u32 = PACK_BYTES / 4;

/// Returns the number of samples per pack.
fn per_pack<B: FromRule>() -> usize {
    PACK_BYTES as usize / size_of::<B::Element>()
}

/// Returns a one-dimensional shape of blocks and threads.
fn shape(blocks: u32, threads: u32) -> LaunchShape {
    LaunchShape::new([blocks.into(), 1, 1], [threads, 1, 1])
}

/// Returns the start and the length of each part if `len` elements are divided into parts of at most `most`.
fn parts(len: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..len.div_ceil(most)).map(move |part| (part * most, most.min(len - part * most)))
}

/// Returns the number of parts. Computed, not counted: a plan may be for more samples than memory can hold.
fn times(len: usize, most: usize) -> u64 {
    len.div_ceil(most) as u64
}

/// Some of the samples.
#[derive(Clone, Copy)]
struct Part {
    first: usize,
    packs: usize,
    /// Samples after the packs.
    tail: usize,
}

/// One launch: some of the samples.
pub(super) struct Pass<'a, B: FromRule> {
    pub(super) shape: LaunchShape,
    launches: &'a Launches<B>,
    part: Part,
    /// Number of counters in a range, or in the shared memory of a block that processes weights.
    range: u32,
}

impl<B: FromRule> Pass<'_, B> {
    /// Returns the arguments of a kernel that counts.
    pub(super) fn args<'l>(&self, memory: &Memory<'l, B>) -> Result<Args<'l, B::At<'l>>> {
        self.launches.args(memory, self.part, self.range)
    }

    /// Returns the arguments of the kernel that finds the largest magnitudes.
    pub(super) fn peak_args<'l>(
        &self,
        memory: &Memory<'l, B>,
        weights: WeightWindows<'l>,
        peaks: GlobalInOut<'l, u32>,
    ) -> Result<PeakArgs<'l, B::At<'l>>> {
        let peaks = peaks.slice(self.first_cell(), u64::MAX);
        Ok(PeakArgs { weighted: self.weighted_args(memory, weights)?, peaks })
    }

    /// Returns the arguments of the kernel that adds up weights.
    pub(super) fn weigh_args<'l>(
        &self,
        memory: &Memory<'l, B>,
        weights: WeightWindows<'l>,
        peaks: GlobalIn<'l, u32>,
        count_log2: u32,
    ) -> Result<WeighArgs<'l, B::At<'l>>> {
        let peaks = peaks.slice(self.first_cell(), u64::MAX);
        Ok(WeighArgs { weighted: self.weighted_args(memory, weights)?, peaks, count_log2 })
    }

    /// Returns the arguments of both. The counts are sums, of two words per cell.
    fn weighted_args<'l>(
        &self,
        memory: &Memory<'l, B>,
        (singles, doubles): WeightWindows<'l>,
    ) -> Result<WeightedArgs<'l, B::At<'l>>> {
        let (counts, first) = (memory.counts.slice(2 * self.first_cell(), u64::MAX), self.part.first as u64);
        Ok(WeightedArgs {
            args: Args { counts, ..self.args(memory)? },
            singles: singles.slice(first, u64::MAX),
            doubles: doubles.slice(first, u64::MAX),
        })
    }

    fn first_cell(&self) -> u64 {
        B::first(&self.launches.fitted) as u64
    }
}
