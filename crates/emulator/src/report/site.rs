//! Places in the source that access memory or synchronise.

use cuda_std::host::{Access, Space};
use std::fmt;
use std::panic::Location;

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line {
    /// The file, as passed to the compiler.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
}

impl Line {
    /// Line of a finding that no line caused.
    pub(crate) const NOWHERE: Line = Line { file: String::new(), line: 0, column: 0 };
}

impl From<&Location<'_>> for Line {
    fn from(at: &Location<'_>) -> Self {
        Line { file: at.file().to_owned(), line: at.line(), column: at.column() }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Kind of access or synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic operation.
    Atomic,
    /// `sync_threads` or `reuse`.
    Barrier,
    /// `sync_warp`.
    SyncWarp,
    /// A shuffle, vote or reduction.
    Exchange,
    /// A matrix product.
    Mma,
    /// A fence.
    Fence,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Action::Load => "load",
            Action::Store => "store",
            Action::Atomic => "atomic",
            Action::Barrier => "barrier",
            Action::SyncWarp => "warp barrier",
            Action::Exchange => "warp exchange",
            Action::Mma => "warp mma",
            Action::Fence => "fence",
        })
    }
}

/// A place in the source with one kind of access or synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) at: &'static Location<'static>,
    pub(crate) action: Action,
    /// Accessed memory, if any.
    pub(crate) space: Option<Space>,
    /// Bytes per lane.
    pub(crate) bytes: u32,
}

impl Site {
    #[inline]
    pub(crate) fn of_access(access: &Access, action: Action) -> Self {
        Site { at: access.at, action, space: Some(access.space), bytes: access.elements * access.element_bytes }
    }

    pub(crate) fn of_wait(at: &'static Location<'static>, action: Action) -> Self {
        Site { at, action, space: None, bytes: 0 }
    }

    /// Returns a key that identifies the site. Addresses have at most 53 bits.
    #[inline]
    fn key(&self) -> u64 {
        let space = self.space.map_or(0, |space| space as u64 + 1);
        let small = (space << 3 | self.action as u64) << 5 | u64::from(self.bytes);
        (self.at as *const Location<'_> as u64) ^ small << 53
    }
}

/// All sites of a launch, numbered.
///
/// Every access looks up its number, so this must be fast: a hash table of addresses, at most half full.
#[derive(Debug)]
pub(crate) struct Sites {
    table: Vec<(u64, u16)>,
    sites: Vec<Site>,
}

impl Sites {
    pub(crate) fn new() -> Self {
        Sites { table: vec![(0, 0); 256], sites: Vec::new() }
    }

    #[inline]
    pub(crate) fn number_of(&mut self, site: Site) -> u16 {
        let key = site.key();
        let mut slot = self.slot(key);
        loop {
            match self.table[slot] {
                (found, number) if found == key => return number,
                (0, _) => return self.add(site, key, slot),
                _ => slot = (slot + 1) & (self.table.len() - 1),
            }
        }
    }

    #[inline]
    pub(crate) fn get(&self, number: u16) -> &Site {
        &self.sites[number as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Site> {
        self.sites.iter()
    }

    #[inline]
    fn slot(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (self.table.len() - 1)
    }

    #[cold]
    fn add(&mut self, site: Site, key: u64, slot: usize) -> u16 {
        // The compiler may give one line several addresses. Beyond 2^16 - 1 sites, the last one stands for all others.
        let same = self.sites.iter().position(|other| *other == site);
        let number = same.unwrap_or_else(|| {
            if self.sites.len() < usize::from(u16::MAX) {
                self.sites.push(site);
            }
            self.sites.len() - 1
        }) as u16;
        self.table[slot] = (key, number);
        let used = self.table.iter().filter(|(key, _)| *key != 0).count();
        if 2 * used > self.table.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let larger = vec![(0, 0); 4 * self.table.len()];
        for (key, number) in std::mem::replace(&mut self.table, larger) {
            if key != 0 {
                let mut slot = self.slot(key);
                while self.table[slot].0 != 0 {
                    slot = (slot + 1) & (self.table.len() - 1);
                }
                self.table[slot] = (key, number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More sites than the initial table holds. Some differ in one property only.
    #[test]
    fn numbers_are_kept() {
        let at = Location::caller();
        let all =
            [Space::Shared, Space::GlobalConstant, Space::Global, Space::Constant].into_iter().flat_map(|space| {
                [Action::Load, Action::Store, Action::Atomic]
                    .into_iter()
                    .flat_map(move |action| (0..32).map(move |bytes| Site { at, action, space: Some(space), bytes }))
            });
        let mut sites = Sites::new();
        let numbers: Vec<u16> = all.clone().map(|site| sites.number_of(site)).collect();
        assert_eq!(numbers, (0..384).collect::<Vec<u16>>());
        for (site, number) in all.zip(numbers) {
            assert_eq!((sites.number_of(site), sites.get(number)), (number, &site));
        }
    }
}
