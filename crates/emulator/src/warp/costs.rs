//! Costs of accesses: wavefronts of shared memory, sectors of global memory.

use crate::report::{Action, Counts, Site};
use cuda_std::host::Space;
use cuda_std::host::banks::{Banks, WarpAccess, lanes_of};
use std::collections::BTreeMap;

/// Bytes of a sector, the unit of transfers from and to global memory.
const SECTOR_BYTES: u64 = 32;

/// Visits of a warp's lanes to the same place in the source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// Lanes that have visited the place.
    pub(crate) visited: u32,
    /// Lanes that make an access.
    pub(crate) accessed: u32,
    /// Address of each accessing lane.
    pub(crate) addresses: [u64; 32],
    /// Number of each lane's visits to any site since the warp last met, this one included.
    pub(crate) clocks: [u32; 32],
}

impl Request {
    pub(crate) const EMPTY: Request = Request { visited: 0, accessed: 0, addresses: [0; 32], clocks: [0; 32] };

    /// Returns whether all visiting lanes have made equally many visits since the warp last met.
    pub(crate) fn is_in_step(&self) -> bool {
        let clock = self.clocks[self.visited.trailing_zeros() as usize];
        // Branchless, because most warps are full.
        let off = self.clocks.iter().fold(0, |off, other| off | (clock ^ other));
        off == 0 || lanes_of(self.visited).all(|lane| self.clocks[lane as usize] == clock)
    }

    /// Returns whether exactly the lanes `visited` have visited, and have all made equally many visits since `clocks`.
    pub(crate) fn is_in_step_since(&self, visited: u32, clocks: &[u32; 32]) -> bool {
        let mut since = lanes_of(visited).map(|lane| self.clocks[lane as usize].wrapping_sub(clocks[lane as usize]));
        let first = since.next();
        self.visited == visited && since.all(|since| Some(since) == first)
    }

    /// Returns the lanes that make an access.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = u32> {
        lanes_of(self.accessed)
    }

    /// Returns the access of the lanes that make one.
    #[inline]
    fn access(&self, action: Action, bytes: u32) -> WarpAccess<'_> {
        WarpAccess { lanes: self.accessed, addresses: &self.addresses, bytes, load: action == Action::Load }
    }

    /// Returns the part of the request that belongs to these lanes.
    pub(crate) fn only(&self, lanes: u32) -> Request {
        Request { visited: self.visited & lanes, accessed: self.accessed & lanes, ..*self }
    }

    /// Adds a lane of another request.
    fn join(&mut self, other: &Request, lane: u32) {
        self.visited |= 1 << lane;
        self.accessed |= other.accessed & 1 << lane;
        let lane = lane as usize;
        self.clocks[lane] = other.clocks[lane];
        self.addresses[lane] = other.addresses[lane];
    }

    /// Returns the counts of the request at `site`, with these banks.
    pub(crate) fn count(&self, site: &Site, banks: Banks) -> Counts {
        let Site { action, space, bytes, .. } = *site;
        let (access, step) = (self.access(action, bytes), self.step());
        let mut counts = Counts {
            requests: u64::from(self.accessed != 0),
            lanes: self.accessed.count_ones().into(),
            left_out: (self.visited & !self.accessed).count_ones().into(),
            ..Counts::default()
        };
        match space {
            Some(Space::Shared) => {
                let in_order = step == Some(0) || bytes >= 4 && step == Some(bytes.into());
                [counts.wavefronts, counts.fewest_wavefronts] = match in_order {
                    true => [access.phases(banks).count() as u64; 2],
                    false => access.wavefronts(banks),
                };
                counts.passes = match action {
                    Action::Atomic => access.phases(banks).map(|phase| access.most_lanes(phase, banks)).sum(),
                    _ => counts.wavefronts,
                };
            }
            Some(Space::Global | Space::GlobalConstant) => counts.sectors = sectors(&access),
            Some(Space::Constant) => counts.wavefronts = distinct(&access, |address| address),
            None => {}
        }
        if space == Some(Space::Constant) {
            counts.fewest_wavefronts = counts.requests;
        }
        if action == Action::Atomic {
            counts.degree = match step {
                Some(0) => 32,
                Some(_) => 1,
                // Each lane has its own bank.
                None if counts.passes == 1 => 1,
                None => access.most_at_one_address(),
            };
        }
        counts
    }

    /// Returns the distance from each lane's address to the next one's,
    /// if all lanes make an access and the distance is constant.
    pub(crate) fn step(&self) -> Option<u64> {
        let step = self.addresses[1].wrapping_sub(self.addresses[0]);
        let off = (1..32).fold(0, |off, k| off | (self.addresses[k].wrapping_sub(self.addresses[k - 1]) ^ step));
        (self.accessed == u32::MAX && off == 0).then_some(step)
    }
}

/// Groups visits by their `key`, which gets the index of a request, the request and a lane. `lanes` selects lanes of a request. In a
/// group, visits of different lanes are merged into one request.
pub(crate) fn grouped<K: Ord>(
    requests: &[Request],
    lanes: impl Fn(&Request) -> u32,
    key: impl Fn(usize, &Request, u32) -> K,
) -> BTreeMap<K, Vec<Request>> {
    let mut groups: BTreeMap<K, Vec<Request>> = BTreeMap::new();
    for (index, request) in requests.iter().enumerate() {
        for lane in lanes_of(lanes(request)) {
            let group = groups.entry(key(index, request, lane)).or_default();
            match group.iter_mut().find(|other| other.visited >> lane & 1 == 0) {
                Some(other) => other.join(request, lane),
                None => group.push(request.only(1 << lane)),
            }
        }
    }
    groups
}

fn sectors(access: &WarpAccess<'_>) -> u64 {
    distinct(access, |address| address >> SECTOR_BYTES.trailing_zeros())
}

/// Returns the number of different units.
fn distinct(access: &WarpAccess<'_>, unit: impl Fn(u64) -> u64) -> u64 {
    let (mut last, mut found) = (None, 0);
    for unit_here in access.addresses_of(u32::MAX).map(&unit) {
        if last > Some(unit_here) {
            let (units, n) = access.sorted(u32::MAX, unit);
            return units[..n].chunk_by(|a, b| a == b).count() as u64;
        }
        found += u64::from(last != Some(unit_here));
        last = Some(unit_here);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::cases;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// Wavefronts by definition: for each phase, the maximum number of different words in a bank, byte by byte.
    fn naive(addresses: &[Option<u64>], action: Action, bytes: u64, banks: u64) -> [u64; 2] {
        let mut lanes = (4 * banks / bytes.max(4)).min(32) as usize;
        let want_the_same = |bit: usize| {
            (0..32).all(|lane| match (addresses[lane], addresses[lane ^ bit]) {
                (Some(one), Some(other)) => one == other,
                _ => true,
            })
        };
        if action == Action::Load && bytes > 4 && banks == 32 && (want_the_same(1) || want_the_same(2)) {
            lanes *= 2;
        }
        let mut sum = [0, 0];
        for phase in addresses.chunks(lanes) {
            let mut words: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
            for byte in phase.iter().flatten().flat_map(|address| *address..address + bytes) {
                words.entry(byte / 4 % banks).or_default().insert(byte / 4);
            }
            sum[0] += words.values().map(|words| words.len() as u64).max().unwrap_or(0);
            sum[1] += u64::from(!words.is_empty());
        }
        sum
    }

    fn request(addresses: &[Option<u64>]) -> Request {
        let mut request = Request::EMPTY;
        for (lane, address) in addresses.iter().enumerate() {
            request.visited |= 1 << lane;
            request.accessed |= u32::from(address.is_some()) << lane;
            request.addresses[lane] = address.unwrap_or(1 << 50);
        }
        request
    }

    /// Aligned addresses, in few or many rows of banks; some lanes make no access.
    fn accesses() -> impl Strategy<Value = (Vec<Option<u64>>, u32)> {
        (prop::sample::select(vec![1u32, 2, 4, 8, 16]), prop::sample::select(vec![4u64, 40, 4000])).prop_flat_map(
            |(bytes, places)| {
                let places = prop::collection::vec((0..places).prop_map(move |place| place * u64::from(bytes)), 32);
                let accessed = prop::collection::vec(prop::bool::weighted(0.8), 32);
                // Lanes may access the same element in pairs, which differ in one of two bits.
                let shared = prop::sample::select(vec![0, 1, 2]);
                let addresses = (places, accessed, shared).prop_map(|(places, accessed, bit)| {
                    (0..32).map(|lane: usize| accessed[lane].then_some(places[lane & !bit])).collect()
                });
                (addresses, Just(bytes))
            },
        )
    }

    proptest! {
        #![proptest_config(cases(256, 4))]

        #[test]
        fn wavefronts_are_those_of_the_definition(
            (addresses, bytes) in accesses(),
            load in any::<bool>(),
            small in any::<bool>(),
        ) {
            let action = if load { Action::Load } else { Action::Store };
            let banks = if small { 16 } else { 32 };
            let request = request(&addresses);
            let wavefronts = request.access(action, bytes).wavefronts(Banks::new(banks, 4).unwrap());
            prop_assert_eq!(wavefronts, naive(&addresses, action, bytes.into(), banks.into()));
        }

        #[test]
        fn sectors_are_those_of_the_definition((addresses, bytes) in accesses()) {
            let sectors: BTreeSet<u64> = addresses.iter().flatten().map(|address| address / 32).collect();
            prop_assert_eq!(super::sectors(&request(&addresses).access(Action::Load, bytes)), sectors.len() as u64);
        }

        #[test]
        fn the_degree_is_that_of_the_definition((addresses, bytes) in accesses()) {
            let times = |a: &u64| addresses.iter().flatten().filter(|b| a == *b).count();
            let degree = addresses.iter().flatten().map(times).max().unwrap_or(0);
            let request = request(&addresses);
            prop_assert_eq!(request.access(Action::Atomic, bytes).most_at_one_address() as usize, degree);
        }
    }

    /// Strided accesses, as drawn in textbooks.
    #[test]
    fn strides() {
        let strided = |bytes: u32, stride: u64, banks| {
            let addresses: Vec<_> = (0..32).map(|lane| Some(lane * stride)).collect();
            request(&addresses).access(Action::Store, bytes).wavefronts(Banks::new(banks, 4).unwrap())
        };
        assert_eq!([strided(4, 4, 32), strided(4, 8, 32), strided(4, 128, 32)], [[1, 1], [2, 1], [32, 1]]);
        assert_eq!([strided(4, 0, 32), strided(4, 132, 32), strided(1, 1, 32)], [[1, 1], [1, 1], [1, 1]]);
        assert_eq!([strided(8, 8, 32), strided(16, 16, 32), strided(16, 80, 32)], [[2, 2], [4, 4], [4, 4]]);
        assert_eq!([strided(16, 32, 32), strided(8, 16, 32)], [[8, 4], [4, 2]]);
        assert_eq!([strided(4, 4, 16), strided(4, 8, 16), strided(16, 16, 16)], [[2, 2], [4, 2], [8, 8]]);
    }
}
