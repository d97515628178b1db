//! Histograms as launches of kernels.
//!
//! | file | what |
//! |---|---|
//! | `rules.rs` | which entry points count by which rule |

mod rules;

pub(crate) use rules::{Entries, HistogramKernels};

use crate::device::SharedMemory;
use crate::histogram::{Algorithm, Ordering, Plan, Rule, check_counters};
use crate::{Device, LaunchPlan, LaunchShape, Residency, Result};
use cuda_std::{Entry, GlobalIn, GlobalInOut, shared_bytes};
use slm_kernels::histogram::{Args, Geometry, Kernel, MOST_PACKS, Memory, Quantum, WeightedArgs};

/// The bytes of a pack.
const PACK: usize = 16;

/// Samples of a launch that adds up weights, and threads of its blocks.
const MOST_WEIGHTS: usize = 1 << 30;
const WEIGHING_THREADS: u32 = 256;

/// Blocks of such a launch to a multiprocessor, at most.
const WEIGHING_BLOCKS: u32 = 8;

/// The most ranges of counters with which reading the samples once for each is faster than adding in global memory.
const MOST_RANGES: u32 = 4;

/// A histogram as launches of kernels on a device with so much shared memory and so many multiprocessors.
pub(crate) struct Launches<E: Entries> {
    rule: Rule<E::Sample>,
    algorithm: Algorithm,
    shared: SharedMemory,
    processors: u32,
    /// The algorithm that counts, which is not [`Algorithm::Auto`], and why.
    chosen: Algorithm,
    reason: &'static str,
    geometry: Geometry,
    /// The most packs, and the most weights, of a launch.
    pub(crate) most_packs: usize,
    pub(crate) most_weights: usize,
}

impl<E: Entries> Launches<E> {
    /// # Errors
    ///
    /// [`Error::SharedMemoryExceeded`](crate::Error::SharedMemoryExceeded) and
    /// [`Error::TooLarge`](crate::Error::TooLarge) if there cannot be so many counters.
    pub(crate) fn new(
        rule: &Rule<E::Sample>,
        algorithm: Algorithm,
        shared: SharedMemory,
        processors: u32,
    ) -> Result<Self> {
        // Bytes may have more keys than the cells that `Rule::check` has counted.
        check_counters(rule.counted, E::keys(rule))?;
        let counters = (rule.counted * E::keys(rule)) as u32;
        let geometry = |algorithm| Geometry::new(kernel(algorithm), counters, memory(shared));
        let (chosen, reason) = match algorithm {
            Algorithm::Auto => choose(geometry(Algorithm::LanePrivate)),
            _ => (algorithm, "asked for"),
        };
        let geometry = geometry(chosen);
        let (most_packs, most_weights) = (MOST_PACKS as usize, MOST_WEIGHTS);
        let rule = rule.clone();
        let launches =
            Launches { rule, algorithm, shared, processors, chosen, reason, geometry, most_packs, most_weights };
        shared.check(launches.name(), geometry.shared_bytes)?;
        Ok(launches)
    }

    /// The number of counts.
    pub(crate) fn counters(&self) -> usize {
        self.rule.counters()
    }

    /// The kernel that counts.
    pub(crate) fn kernel(&self) -> Kernel {
        kernel(self.chosen)
    }

    fn name(&self) -> &'static str {
        match self.kernel() {
            Kernel::Critical => E::Critical::NAME,
            Kernel::Global => E::Global::NAME,
            Kernel::Cached => E::Cached::NAME,
            Kernel::Shared { .. } => E::Shared::NAME,
            Kernel::Private => E::Private::NAME,
        }
    }

    /// Copies of each counter in a block's shared memory.
    fn copies(&self) -> u32 {
        match self.kernel() {
            Kernel::Shared { .. } => 1 << self.geometry.copies_log2,
            Kernel::Private => self.geometry.threads,
            Kernel::Critical | Kernel::Global | Kernel::Cached => 0,
        }
    }

    /// What tells the kernels about the bins, with their table on the device.
    fn args(&self, memory: Windows<E>, part: Part) -> Args<E::Binning> {
        let Windows { words, samples, counts, lock, table } = memory;
        let Geometry { ranges, range, copies_log2, .. } = self.geometry;
        let seq_cst = matches!(
            self.chosen,
            Algorithm::GlobalAtomic(Ordering::SeqCst) | Algorithm::SharedAtomic(Ordering::SeqCst)
        );
        Args {
            words,
            samples,
            counts,
            lock,
            binning: E::binning(&self.rule, table),
            packs: part.packs as u32,
            tail: part.tail as u32,
            channels: self.rule.channels as u32,
            first_channel: (part.first % self.rule.channels) as u32,
            counted: self.rule.counted as u32,
            keys: E::keys(&self.rule) as u32,
            cells: self.rule.cells() as u32,
            seq_cst: seq_cst.into(),
            ranges,
            range,
            copies_log2,
        }
    }

    /// The most samples of a launch that counts.
    fn most_samples(&self) -> usize {
        self.most_packs * per_pack::<E>()
    }

    /// The launches that count so many samples.
    pub(crate) fn of(&self, samples: usize) -> impl Iterator<Item = Launch<'_, E>> {
        let per_pack = per_pack::<E>();
        parts(samples, self.most_samples()).map(move |(first, len)| {
            let part = Part { first, packs: len / per_pack, tail: len % per_pack };
            let blocks = self.geometry.grid(part.packs as u64, self.processors);
            let shape = shape(blocks, self.geometry.threads).shared_bytes(self.geometry.shared_bytes);
            Launch { launches: self, shape, part }
        })
    }

    /// The launches that add up the weights of so many samples.
    pub(crate) fn weighing(&self, samples: usize) -> impl Iterator<Item = Launch<'_, E>> {
        let bytes = shared_bytes::<u64>(self.sums() as u64);
        parts(samples, self.most_weights).map(move |(first, len)| {
            let shape = self.over_weights(len).shared_bytes(bytes);
            Launch { launches: self, shape, part: Part { first, packs: 0, tail: len } }
        })
    }

    /// The shape of a launch over so many weights.
    fn over_weights(&self, len: usize) -> LaunchShape {
        let useful = len.div_ceil(WEIGHING_THREADS as usize);
        shape(useful.min((WEIGHING_BLOCKS * self.processors) as usize) as u32, WEIGHING_THREADS)
    }

    /// The sums that a block keeps in shared memory: all or none.
    fn sums(&self) -> usize {
        let sums = self.rule.counted * E::keys(&self.rule);
        let fits = sums as u64 * 8 <= self.shared.default_per_block;
        if fits { sums } else { 0 }
    }

    /// The launches that find the largest weight, and what they are launched with.
    pub(crate) fn peaks(&self, weights: usize) -> impl Iterator<Item = (usize, LaunchShape, u32)> {
        parts(weights, self.most_weights).map(|(first, len)| (first, self.over_weights(len), len as u32))
    }

    /// How so many samples are counted; `residency` is what the device says of a launch.
    pub(crate) fn plan(
        &self,
        device: &Device,
        samples: usize,
        residency: impl FnOnce(&LaunchShape) -> Option<Residency>,
    ) -> Plan {
        let (kernel, reason) = match samples {
            0 => ("none", "there is nothing to count"),
            _ => (self.name(), self.reason),
        };
        let launch = self.of(samples).next().map(|launch| LaunchPlan {
            // Not counted one by one: a plan may be for more samples than there can be.
            launches: samples.div_ceil(self.most_samples()) as u64,
            grid: launch.shape.grid[0],
            block: [launch.shape.block[0], 1],
            shared_bytes: self.geometry.shared_bytes,
            shared_available: self.shared.max_per_block,
            residency: residency(&launch.shape),
        });
        Plan {
            device: device.to_string(),
            algorithm: self.algorithm,
            chosen: self.chosen,
            kernel: kernel.to_owned(),
            reason: reason.to_owned(),
            samples,
            bins: self.rule.bins(),
            copies: self.copies(),
            ranges: self.geometry.ranges,
            launch,
        }
    }
}

/// The most copies of a counter, one for each lane of a warp.
const MOST_COPIES: u32 = 32;

/// The kernel of an algorithm.
fn kernel(algorithm: Algorithm) -> Kernel {
    match algorithm {
        Algorithm::Critical => Kernel::Critical,
        Algorithm::GlobalAtomic(_) => Kernel::Global,
        Algorithm::CachedAtomic => Kernel::Cached,
        Algorithm::PrivatePerThread => Kernel::Private,
        Algorithm::SharedAtomic(_) => Kernel::Shared { most_copies: 1 },
        Algorithm::LanePrivate | Algorithm::Auto => Kernel::Shared { most_copies: MOST_COPIES },
    }
}

/// The algorithm for counters of which there can be so many copies, or are so many ranges, and why.
fn choose(Geometry { ranges, copies_log2, .. }: Geometry) -> (Algorithm, &'static str) {
    match (ranges, copies_log2) {
        (1, 1..) => (Algorithm::LanePrivate, "the counters fit into shared memory more than once"),
        (1, 0) => (Algorithm::SharedAtomic(Ordering::Relaxed), "the counters fit into shared memory once"),
        (..=MOST_RANGES, _) => {
            (Algorithm::SharedAtomic(Ordering::Relaxed), "a few ranges of counters fit into shared memory")
        }
        _ => (Algorithm::CachedAtomic, "only the most frequent counters fit into shared memory"),
    }
}

/// Samples of a pack.
fn per_pack<E: Entries>() -> usize {
    PACK / size_of::<E::Sample>()
}

/// So many blocks of so many threads, all in a row.
fn shape(blocks: u32, threads: u32) -> LaunchShape {
    LaunchShape::new([blocks.into(), 1, 1], [threads, 1, 1])
}

fn memory(shared: SharedMemory) -> Memory {
    Memory { block: shared.max_per_block, multiprocessor: shared.per_multiprocessor }
}

/// `len` elements in parts of at most `most`: where each begins, and its length.
fn parts(len: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..len.div_ceil(most)).map(move |part| (part * most, most.min(len - part * most)))
}

/// Some of the samples.
#[derive(Clone, Copy)]
struct Part {
    first: usize,
    packs: usize,
    /// Samples behind the packs.
    tail: usize,
}

/// What a launch works on.
pub(crate) struct Windows<E: Entries> {
    /// From [`Launch::first_sample`] on, [`Launch::words`] of them.
    pub(crate) words: GlobalIn<u32>,
    /// From [`Launch::first_sample`] on.
    pub(crate) samples: GlobalIn<E::Sample>,
    pub(crate) counts: GlobalInOut<u64>,
    /// A zero if the kernel is [`Kernel::Critical`].
    pub(crate) lock: GlobalInOut<u32>,
    pub(crate) table: GlobalIn<E::Table>,
}

/// One launch: some of the samples.
pub(crate) struct Launch<'a, E: Entries> {
    pub(crate) shape: LaunchShape,
    launches: &'a Launches<E>,
    part: Part,
}

impl<E: Entries> Launch<'_, E> {
    /// The first sample.
    pub(crate) fn first_sample(&self) -> usize {
        self.part.first
    }

    /// The number of words that are read as such.
    pub(crate) fn words(&self) -> usize {
        self.part.packs * PACK / size_of::<u32>()
    }

    /// What a kernel that counts is launched with.
    pub(crate) fn args(&self, windows: Windows<E>) -> Args<E::Binning> {
        self.launches.args(windows, self.part)
    }

    /// What the kernel that adds up weights is launched with.
    pub(crate) fn weighted_args(
        &self,
        windows: Windows<E>,
        weights: GlobalIn<f32>,
        quantum: Quantum,
    ) -> WeightedArgs<E::Binning> {
        let range = self.launches.sums() as u32;
        WeightedArgs { args: Args { range, ..self.args(windows) }, weights, quantum }
    }
}
