//! Warps whose lanes go turn by turn, and what each turn costs by the definition.

use std::collections::{BTreeMap, BTreeSet};

/// What is accessed, and how.
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

/// What accesses of a kind cost together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub requests: u64,
    pub wavefronts: u64,
    pub sectors: u64,
}

/// A block under way.
#[derive(Debug)]
pub struct Block {
    pub threads: u32,
    totals: BTreeMap<Kind, Totals>,
}

impl Block {
    pub fn of(threads: u32) -> Self {
        Block { threads, totals: BTreeMap::new() }
    }

    /// Each warp makes a request: `words` words from word `at(t)` on, for the threads that have one.
    pub fn turn(&mut self, kind: Kind, words: u32, at: impl Fn(u32) -> Option<u32>) {
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

/// The different sectors of eight words.
fn sectors(lanes: &[Option<u32>], words: u32) -> u64 {
    let sectors: BTreeSet<u32> = lanes.iter().flatten().flat_map(|at| *at..at + words).map(|word| word / 8).collect();
    sectors.len() as u64
}

/// In each phase of as many lanes as could at best be served, the most different words in one of 32 banks.
fn wavefronts(lanes: &[Option<u32>], words: u32) -> u64 {
    let phases = lanes.chunks(32 / words as usize).map(|phase| {
        let asked: BTreeSet<u32> = phase.iter().flatten().flat_map(|at| *at..at + words).collect();
        let mut banks = [0; 32];
        asked.into_iter().for_each(|word| banks[word as usize % 32] += 1);
        banks.into_iter().max().unwrap_or(0)
    });
    phases.sum()
}
