//! Costs of accesses.

use super::AccessKind;
use cuda_std::host::banks::{Banks, WarpAccess};
use std::ops::AddAssign;

/// Cost of one or several accesses of a warp: the result of [`BankModel::cost`](super::BankModel::cost).
///
/// ```
/// use slm::banks::{AccessPattern, BankModel, Width};
///
/// let cost = BankModel::NVIDIA.cost(&AccessPattern::load(Width::B8, |lane| 2 * lane));
/// assert_eq!((cost.phases, cost.wavefronts, cost.degree), (2, 4, 2));
/// assert_eq!(cost.slowdown(), 2.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// Number of warp accesses with at least one participating lane.
    pub requests: u64,
    /// Number of groups of lanes that are served one after another: the number of wavefronts without conflicts.
    pub phases: u64,
    /// Number of wavefronts; 0 if no lane takes part.
    pub wavefronts: u64,
    /// Uses of the busiest bank, summed over the phases: the wavefronts of a load or store; one per lane for an atomic
    /// operation (see [the module](super#atomic-operations)).
    pub passes: u64,
    /// Maximum number of passes per phase: 1 without conflicts, 0 if no lane takes part.
    pub degree: u32,
    /// Maximum number of lanes of one access at the same address.
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
            // The cast is exact: there are at most 32 passes, one per lane.
            cost.degree = cost.degree.max(passes as u32);
        }
        cost
    }

    /// Returns whether no lane waits for another lane of the same phase.
    #[must_use]
    pub fn is_conflict_free(&self) -> bool {
        self.passes == self.phases
    }

    /// Returns `passes / phases`, the time relative to the same access without conflicts; 1 if no lane takes part. It equals
    /// the degree if all phases have the same number of passes.
    #[must_use]
    pub fn slowdown(&self) -> f64 {
        if self.phases == 0 { 1.0 } else { self.passes as f64 / self.phases as f64 }
    }
}

impl AddAssign for Cost {
    /// Adds the counts of `other`, with `u64::MAX` as the limit. `degree` and `lanes_at_one_address` become the larger ones.
    fn add_assign(&mut self, other: Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.phases = self.phases.saturating_add(other.phases);
        self.wavefronts = self.wavefronts.saturating_add(other.wavefronts);
        self.passes = self.passes.saturating_add(other.passes);
        self.degree = self.degree.max(other.degree);
        self.lanes_at_one_address = self.lanes_at_one_address.max(other.lanes_at_one_address);
    }
}
