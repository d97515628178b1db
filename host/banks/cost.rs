//! What accesses cost.

use super::AccessKind;
use cuda_std::host::banks::{Banks, WarpAccess};
use std::ops::AddAssign;

/// What one access of a warp costs, or several of them together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// Accesses of a warp in which some lane takes part.
    pub requests: u64,
    /// Groups of lanes that are served one after another: what the wavefronts would be without conflicts.
    pub phases: u64,
    /// Wavefronts, for the different words of a bank; 0 if no lane takes part.
    pub wavefronts: u64,
    /// How often the busiest bank of each phase is used: the wavefronts of a load or store; of an atomic operation, one
    /// for each lane (see [the module](super#atomic-operations)).
    pub passes: u64,
    /// The most passes of one phase: 1 without conflicts, and 0 if no lane takes part.
    pub degree: u32,
    /// The most lanes of one access that are at the same address.
    pub lanes_at_one_address: u32,
}

impl Cost {
    pub(super) fn of(access: &WarpAccess<'_>, kind: AccessKind, banks: Banks) -> Self {
        let requests = u64::from(access.lanes != 0);
        let mut cost = Cost { requests, lanes_at_one_address: access.most_at_one_address(), ..Cost::default() };
        for phase in access.phases(banks) {
            let wavefronts = access.most_units(phase, banks);
            let passes = if kind == AccessKind::Atomic { access.most_lanes(phase, banks) } else { wavefronts };
            cost.phases += 1;
            cost.wavefronts += wavefronts;
            cost.passes += passes;
            // There are 32 lanes.
            cost.degree = cost.degree.max(passes as u32);
        }
        cost
    }

    /// Whether no lane has to wait for another one of its phase.
    #[must_use]
    pub fn is_conflict_free(&self) -> bool {
        self.passes == self.phases
    }

    /// `passes / phases`: how many times as long it takes as without conflicts; 1 if no lane takes part. Equals the
    /// degree if all phases are alike.
    #[must_use]
    pub fn slowdown(&self) -> f64 {
        if self.phases == 0 { 1.0 } else { self.passes as f64 / self.phases as f64 }
    }
}

impl AddAssign for Cost {
    /// Adds the other accesses; `degree` and `lanes_at_one_address` are the larger ones. A sum is `u64::MAX` at the most.
    fn add_assign(&mut self, other: Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.phases = self.phases.saturating_add(other.phases);
        self.wavefronts = self.wavefronts.saturating_add(other.wavefronts);
        self.passes = self.passes.saturating_add(other.passes);
        self.degree = self.degree.max(other.degree);
        self.lanes_at_one_address = self.lanes_at_one_address.max(other.lanes_at_one_address);
    }
}
