//! Warps that run in lockstep, and the cost of each request by definition.

use std::collections::{BTreeMap, BTreeSet};

/// Kind of an access: its memory and its action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    SharedLoad,
    SharedStore,
    SharedAtomic,
    GlobalLoad,
    GlobalStore,
}

impl Kind {
    pub const ALL: [Kind; 5] =
        [Kind::SharedLoad, Kind::SharedStore, Kind::SharedAtomic, Kind::GlobalLoad, Kind::GlobalStore];

    fn is_global(self) -> bool {
        matches!(self, Kind::GlobalLoad | Kind::GlobalStore)
    }
}

/// Total cost of all accesses of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub requests: u64,
    pub wavefronts: u64,
    pub sectors: u64,
}

/// A block, and the costs of its accesses so far.
#[derive(Debug)]
pub struct Block {
    pub threads: u32,
    totals: BTreeMap<Kind, Totals>,
}

impl Block {
    pub fn of(threads: u32) -> Self {
        Block { threads, totals: BTreeMap::new() }
    }

    /// Adds one request of each warp. Thread `t` accesses `words` words from word `at(t)` on, or none if that is `None`.
    pub fn request(&mut self, kind: Kind, words: u32, at: impl Fn(u32) -> Option<u32>) {
        for first in (0..self.threads).step_by(32) {
            let lanes: Vec<Option<u32>> = (first..first + 32).map(|t| at(t).filter(|_| t < self.threads)).collect();
            if lanes.iter().all(Option::is_none) {
                continue;
            }
            let totals = self.totals.entry(kind).or_default();
            totals.requests += 1;
            match kind.is_global() {
                true => totals.sectors += sectors(&lanes, words),
                false => totals.wavefronts += wavefronts(&lanes, words),
            }
        }
    }

    pub fn totals(&self, kind: Kind) -> Totals {
        self.totals.get(&kind).copied().unwrap_or_default()
    }
}

/// Returns the number of different sectors, of eight words each.
fn sectors(lanes: &[Option<u32>], words: u32) -> u64 {
    let sectors: BTreeSet<u32> = lanes.iter().flatten().flat_map(|at| *at..at + words).map(|word| word / 8).collect();
    sectors.len() as u64
}

/// Returns the number of wavefronts. Lanes are served in phases of `32 / words` lanes. A phase takes as many wavefronts as
/// the largest number of different words in one of the 32 banks.
fn wavefronts(lanes: &[Option<u32>], words: u32) -> u64 {
    let phases = lanes.chunks(32 / words as usize).map(|phase| {
        let asked: BTreeSet<u32> = phase.iter().flatten().flat_map(|at| *at..at + words).collect();
        let mut banks = [0; 32];
        asked.into_iter().for_each(|word| banks[word as usize % 32] += 1);
        banks.into_iter().max().unwrap_or(0)
    });
    phases.sum()
}
