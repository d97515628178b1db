//! The definition of bank conflicts, byte by byte.

use slm::banks::{AccessKind, AccessPattern, BankModel, Cost};
use std::collections::{BTreeMap, BTreeSet};

/// The cost of an access.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Prediction {
    /// Number of phases with at least one lane.
    pub phases: u64,
    /// Maximum number of words of one bank in a phase, summed over the phases.
    pub wavefronts: u64,
    /// The same, with lanes instead of words for atomic operations.
    pub passes: u64,
    /// Maximum number of passes of a phase.
    pub degree: u32,
    /// Maximum number of lanes with the same address.
    pub lanes_at_one_address: u32,
}

impl From<Cost> for Prediction {
    fn from(cost: Cost) -> Self {
        let Cost { phases, wavefronts, passes, degree, lanes_at_one_address, .. } = cost;
        Prediction { phases, wavefronts, passes, degree, lanes_at_one_address }
    }
}

impl Prediction {
    /// Returns the cost of a pattern, by definition.
    #[must_use]
    pub fn of(model: BankModel, pattern: &AccessPattern) -> Self {
        let bytes = u64::from(pattern.width().bytes());
        let addresses: Vec<Option<u64>> =
            (0..32).map(|lane| pattern.index(lane).map(|index| u64::from(index) * bytes)).collect();
        Self::of_addresses(model, pattern.kind(), bytes, &addresses)
    }

    /// Returns the cost, by definition, of lanes that access `bytes` bytes each at `addresses`.
    #[must_use]
    pub fn of_addresses(model: BankModel, kind: AccessKind, bytes: u64, addresses: &[Option<u64>]) -> Self {
        let mut sum = Prediction { lanes_at_one_address: maximum_equal(addresses), ..Prediction::default() };
        for phase in addresses.chunks(lanes_of_a_phase(model, kind, bytes, addresses)) {
            if phase.iter().any(Option::is_some) {
                sum.add_phase(model, kind, bytes, phase);
            }
        }
        sum
    }

    fn add_phase(&mut self, model: BankModel, kind: AccessKind, bytes: u64, phase: &[Option<u64>]) {
        let (banks, bank_bytes) = (u64::from(model.banks()), u64::from(model.bank_bytes()));
        let mut words: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        let mut lanes: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
        for (lane, address) in phase.iter().enumerate() {
            for byte in address.iter().flat_map(|address| *address..address + bytes) {
                words.entry(byte / bank_bytes % banks).or_default().insert(byte / bank_bytes);
                lanes.entry(byte / bank_bytes % banks).or_default().insert(lane);
            }
        }
        let wavefronts = words.values().map(BTreeSet::len).max().unwrap_or(0) as u64;
        let updates = lanes.values().map(BTreeSet::len).max().unwrap_or(0) as u64;
        let passes = if kind == AccessKind::Atomic { updates } else { wavefronts };
        self.phases += 1;
        self.wavefronts += wavefronts;
        self.passes += passes;
        self.degree = self.degree.max(passes as u32);
    }
}

/// Returns the number of lanes that all banks together can serve at best. It is twice that number for wide loads on NVIDIA's
/// banks if no two lanes of a pair have different addresses.
fn lanes_of_a_phase(model: BankModel, kind: AccessKind, bytes: u64, addresses: &[Option<u64>]) -> usize {
    let bank_bytes = u64::from(model.bank_bytes());
    let lanes = (u64::from(model.banks()) * bank_bytes / bytes.max(bank_bytes)).min(32) as usize;
    let agree = |bit: usize| {
        (0..32).all(|lane| match (addresses[lane], addresses[lane ^ bit]) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        })
    };
    let doubled = kind == AccessKind::Load && model == BankModel::NVIDIA && bytes > 4 && (agree(1) || agree(2));
    if doubled { 2 * lanes } else { lanes }
}

/// Returns the maximum number of equal addresses.
fn maximum_equal(addresses: &[Option<u64>]) -> u32 {
    let times = |a: &u64| addresses.iter().flatten().filter(|b| a == *b).count() as u32;
    addresses.iter().flatten().map(times).max().unwrap_or(0)
}
