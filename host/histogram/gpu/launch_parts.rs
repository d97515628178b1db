//! How work is divided into launches.

use crate::LaunchShape;
use crate::histogram::choose::Choice;
use slm_kernels::histogram::{Geometry, MOST_PACKS, MOST_WEIGHTS, PACK_BYTES, WeighGeometry};

/// Some of the samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleRange {
    pub(super) first: usize,
    pub(super) packs: usize,
    /// Samples after the packs.
    pub(super) tail: usize,
}

/// One launch: some of the samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaunchPart {
    pub(super) shape: LaunchShape,
    pub(super) samples: SampleRange,
    /// Number of ranges of counters or bins, and of those in a range; of these, a block that processes weights may have none.
    pub(super) ranges: u32,
    pub(super) range: u32,
    /// Binary logarithm of the number of copies of each counter, or of each sum.
    pub(super) copies_log2: u32,
    /// Entries of a guide, for the kernel that has one.
    pub(super) entries: u32,
}

/// Divides work into launches.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaunchParts {
    pub(super) geometry: Geometry,
    finding_peaks: WeighGeometry,
    adding_weights: WeighGeometry,
    adding_at_once: [WeighGeometry; 2],
    /// Number of multiprocessors.
    processors: u32,
    /// Samples per pack.
    pub(super) per_pack: usize,
    /// Maximum number of packs, and of weights, per launch.
    pub(super) most_packs: usize,
    pub(super) most_weights: usize,
}

impl LaunchParts {
    /// Returns the launches of a choice for samples of this size, on a device with this number of multiprocessors.
    pub(super) fn new(choice: &Choice, sample_bytes: usize, processors: u32) -> Self {
        LaunchParts {
            geometry: choice.geometry,
            finding_peaks: choice.finding_peaks,
            adding_weights: choice.adding_weights,
            adding_at_once: choice.adding_at_once,
            processors,
            per_pack: PACK_BYTES as usize / sample_bytes,
            most_packs: MOST_PACKS as usize,
            most_weights: MOST_WEIGHTS as usize,
        }
    }

    /// Returns the maximum number of samples per launch that counts.
    pub(super) fn most_samples(&self) -> usize {
        self.most_packs * self.per_pack
    }

    /// Returns the launches that count samples.
    pub(super) fn counting(&self, samples: usize) -> impl Iterator<Item = LaunchPart> {
        let LaunchParts { geometry, processors, per_pack, .. } = *self;
        parts(samples, self.most_samples()).map(move |(first, len)| {
            let samples = SampleRange { first, packs: len / per_pack, tail: len % per_pack };
            let blocks = geometry.grid(samples.packs as u64, processors);
            let shape = shape(blocks, geometry.threads).shared_bytes(geometry.shared_bytes);
            let Geometry { ranges, range, copies_log2, entries, .. } = geometry;
            LaunchPart { shape, samples, ranges, range, copies_log2, entries }
        })
    }

    /// Returns the launches that find the largest magnitudes of the weights of samples.
    pub(super) fn finding_peaks(&self, samples: usize) -> impl Iterator<Item = LaunchPart> {
        self.weighing(samples, self.finding_peaks)
    }

    /// Returns the launches that add up the weights of samples.
    pub(super) fn adding_weights(&self, samples: usize) -> impl Iterator<Item = LaunchPart> {
        self.weighing(samples, self.adding_weights)
    }

    /// Returns the launch that adds up the weights of samples in one pass, or `None` if there are no samples, or more than one launch
    /// takes.
    pub(super) fn adding_at_once(&self, samples: usize, are_doubles: bool) -> Option<LaunchPart> {
        let part = self.weighing(samples, self.adding_at_once[usize::from(are_doubles)]).next()?;
        (samples <= self.most_weights).then_some(part)
    }

    fn weighing(&self, samples: usize, geometry: WeighGeometry) -> impl Iterator<Item = LaunchPart> {
        let processors = self.processors;
        parts(samples, self.most_weights).map(move |(first, len)| {
            let blocks = geometry.grid(len as u64, processors);
            let shape = shape(blocks, geometry.threads).shared_bytes(geometry.shared_bytes);
            let samples = SampleRange { first, packs: 0, tail: len };
            let WeighGeometry { ranges, keys: range, copies_log2, .. } = geometry;
            LaunchPart { shape, samples, ranges, range, copies_log2, entries: 0 }
        })
    }
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
pub(super) fn times(len: usize, most: usize) -> u64 {
    len.div_ceil(most) as u64
}
