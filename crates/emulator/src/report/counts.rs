//! Numbers of accesses and of what they cost.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// Counts at one place in the source.
///
/// A request is an access that lanes of a warp make together: lanes that have
/// visited the place equally often since all lanes of the warp last met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of requests with at least one accessing lane.
    pub requests: u64,
    /// Number of accesses of single lanes.
    pub lanes: u64,
    /// Number of lanes that left out a masked form.
    pub left_out: u64,
    /// Number of wavefronts: for the different words of a bank, and for different constants.
    pub wavefronts: u64,
    /// Number of wavefronts without bank conflicts.
    pub fewest_wavefronts: u64,
    /// Uses of the busiest banks of shared memory: the wavefronts of loads and stores; for atomic operations, one per lane
    /// that meets others in a bank, at the same word or not.
    pub passes: u64,
    /// Number of sectors of global memory.
    pub sectors: u64,
    /// Maximum number of lanes of a request at one address: the degree of atomic operations.
    pub degree: u32,
    /// Whether lanes diverged between their accesses, so that the device may combine other lanes. Then all counts except
    /// `lanes` and `left_out` are approximate.
    pub approximate: bool,
}

impl Counts {
    /// Returns the number of wavefronts that bank conflicts cause.
    #[must_use]
    pub fn bank_conflicts(&self) -> u64 {
        self.wavefronts - self.fewest_wavefronts
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.lanes += other.lanes;
        self.left_out += other.left_out;
        self.wavefronts += other.wavefronts;
        self.fewest_wavefronts += other.fewest_wavefronts;
        self.passes += other.passes;
        self.sectors += other.sectors;
        self.degree = self.degree.max(other.degree);
        self.approximate |= other.approximate;
    }
}

impl Add for Counts {
    type Output = Counts;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Counts::default(), Counts::add)
    }
}
