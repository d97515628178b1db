//! How the banks of shared memory serve the lanes of a warp. This rule is used both to predict and to count conflicts.
//!
//! Word `w` of shared memory is in bank `w % count`. The lanes of a warp are served in *phases*. A phase has as many lanes
//! as the banks can serve at a time without conflicts. With 32 banks of 4 bytes these are 32 lanes that access up to 4 bytes
//! each, 16 lanes that access 8, or 8 lanes that access 16. In a phase, each bank delivers one word per *wavefront*, to all
//! lanes that request it.
//!
//! NVIDIA documents the banks, and that a word is delivered to several lanes at once, but not the phases. With 32 banks of 4
//! bytes the rule agrees with what Nsight Compute counts on an H200, for loads and stores. This includes a special case:
//! phases of a load of 8 or 16 bytes have twice as many lanes if all pairs of lanes `2k` and `2k + 1` request the same
//! address, or all pairs of lanes whose numbers differ only in the second bit. Pairs with an inactive lane do not count.

/// The banks of a shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Banks {
    count: u32,
    bytes: u32,
}

impl Banks {
    /// The banks of NVIDIA GPUs since compute capability 5.0: 32 banks of 4 bytes.
    pub const NVIDIA: Banks = Banks { count: 32, bytes: 4 };

    /// The maximum number of bytes that a lane accesses at a time.
    const WIDEST: u32 = 16;

    /// Returns `count` banks with words of `bytes` bytes, or `None` if that is not possible: `count` is a power of two up to
    /// 32, `bytes` a power of two up to 16, and their product at least 16.
    #[must_use]
    pub const fn new(count: u32, bytes: u32) -> Option<Self> {
        let possible = count.is_power_of_two() && count <= 32 && bytes.is_power_of_two() && bytes <= Self::WIDEST;
        if possible && count * bytes >= Self::WIDEST { Some(Banks { count, bytes }) } else { None }
    }

    /// Returns the number of banks.
    #[must_use]
    #[inline]
    pub const fn count(self) -> u32 {
        self.count
    }

    /// Returns the bytes of a bank's word.
    #[must_use]
    #[inline]
    pub const fn bytes(self) -> u32 {
        self.bytes
    }

    /// Returns the bytes of a unit, which is served as a whole if each lane accesses `bytes` bytes: a word, or the
    /// consecutive words of an access. Accesses are aligned, so the banks of two units are either the same group or
    /// disjoint.
    #[must_use]
    #[inline]
    pub const fn unit(self, bytes: u32) -> u32 {
        if bytes > self.bytes { bytes } else { self.bytes }
    }

    /// Returns the number of units that the banks deliver at a time: the number of banks or of groups of banks. It is 1 if a
    /// unit needs more than all banks.
    #[must_use]
    #[inline]
    pub const fn groups(self, bytes: u32) -> u32 {
        let groups = self.count * self.bytes / self.unit(bytes);
        // `max` is not a `const fn`.
        if groups > 0 { groups } else { 1 }
    }
}

/// A request: the accesses of a warp's lanes to shared memory.
#[derive(Clone, Copy, Debug)]
pub struct WarpAccess<'a> {
    /// A mask of the lanes that make an access.
    pub lanes: u32,
    /// The address of each lane's access, a multiple of `bytes`. The addresses of other lanes are ignored.
    pub addresses: &'a [u64; 32],
    /// The bytes that each lane accesses: 1, 2, 4, 8 or 16.
    pub bytes: u32,
    /// Whether it is a load.
    pub load: bool,
}

impl WarpAccess<'_> {
    /// Returns the number of wavefronts, and the number without conflicts.
    #[must_use]
    #[inline]
    pub fn wavefronts(&self, banks: Banks) -> [u64; 2] {
        self.phases(banks).fold([0, 0], |[all, fewest], phase| [all + self.most_units(phase, banks), fewest + 1])
    }

    /// Returns a mask of the lanes of each phase, except phases without lanes.
    #[inline]
    pub fn phases(&self, banks: Banks) -> impl Iterator<Item = u32> {
        let (lanes, all) = (self.phase(banks), self.lanes);
        let first = u32::MAX >> (32 - lanes);
        (0..32).step_by(lanes as usize).map(move |lane| all & first << lane).filter(|phase| *phase != 0)
    }

    /// Returns the number of lanes of a phase.
    fn phase(&self, banks: Banks) -> u32 {
        let lanes = banks.groups(self.bytes).min(32);
        let several_words = self.load && lanes < 32 && banks == Banks::NVIDIA;
        if several_words && [1, 2].iter().any(|bit| self.is_shared_in_pairs(*bit)) {
            (2 * lanes).min(32)
        } else {
            lanes
        }
    }

    /// Returns whether all pairs of lanes whose numbers differ only in `bit` request the same address. Pairs with an
    /// inactive lane do not count.
    fn is_shared_in_pairs(&self, bit: u32) -> bool {
        let both = self.lanes & self.lanes >> bit;
        lanes_of(both).filter(|lane| lane & bit == 0).all(|lane| {
            let [first, second] = [lane, lane + bit].map(|lane| self.addresses[lane as usize]);
            first == second
        })
    }

    /// Returns the maximum number of different units that the lanes of a phase request from one bank or group of banks. This
    /// is the number of the phase's wavefronts.
    #[must_use]
    #[inline]
    pub fn most_units(&self, phase: u32, banks: Banks) -> u64 {
        let (shift, groups) = (banks.unit(self.bytes).trailing_zeros(), u64::from(banks.groups(self.bytes)));
        let (mut used, mut units) = (0u32, [0; 32]);
        for address in self.addresses_of(phase) {
            let unit = address >> shift;
            let group = (unit & (groups - 1)) as usize;
            if used & 1 << group != 0 && units[group] != unit {
                return self.most_units_of_many(phase, shift, groups);
            }
            used |= 1 << group;
            units[group] = unit;
        }
        u64::from(used != 0)
    }

    #[cold]
    fn most_units_of_many(&self, phase: u32, shift: u32, groups: u64) -> u64 {
        let (units, n) = self.sorted(phase, |address| address >> shift);
        let mut in_group = [0; 32];
        for same in units[..n].chunk_by(|a, b| a == b) {
            in_group[(same[0] & (groups - 1)) as usize] += 1;
        }
        in_group.into_iter().max().unwrap_or(0)
    }

    /// Returns the maximum number of lanes of a phase that access one bank or group of banks, at the same unit or not.
    #[must_use]
    pub fn most_lanes(&self, phase: u32, banks: Banks) -> u64 {
        let (shift, groups) = (banks.unit(self.bytes).trailing_zeros(), u64::from(banks.groups(self.bytes)));
        let mut in_group = [0; 32];
        self.addresses_of(phase).for_each(|address| in_group[(address >> shift & (groups - 1)) as usize] += 1);
        in_group.into_iter().max().unwrap_or(0)
    }

    /// Returns the maximum number of lanes that access one address.
    #[must_use]
    pub fn most_at_one_address(&self) -> u32 {
        let (addresses, n) = self.sorted(u32::MAX, |address| address);
        addresses[..n].chunk_by(|a, b| a == b).map(<[u64]>::len).max().unwrap_or(0) as u32
    }

    /// Returns the addresses of the lanes in `group` that make an access.
    #[inline]
    pub fn addresses_of(&self, group: u32) -> impl Iterator<Item = u64> {
        lanes_of(self.lanes & group).map(|lane| self.addresses[lane as usize])
    }

    /// Returns `unit` of the address of each active lane in `group`, in ascending order, and the number of these lanes.
    pub fn sorted(&self, group: u32, unit: impl Fn(u64) -> u64) -> ([u64; 32], usize) {
        let (mut units, mut n) = ([0; 32], 0);
        for address in self.addresses_of(group) {
            units[n] = unit(address);
            n += 1;
        }
        units[..n].sort_unstable();
        (units, n)
    }
}

/// Returns the lanes in a mask.
#[inline]
pub fn lanes_of(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane)
    })
}
