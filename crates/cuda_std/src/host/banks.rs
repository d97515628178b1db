//! How the banks of shared memory serve the lanes of a warp: the one rule by which conflicts are predicted and counted.
//!
//! Word `w` of shared memory is in bank `w % count`. The lanes of a warp are served in *phases*, each of as many lanes
//! as could at best have all banks to themselves: of 32 banks of 4 bytes, 32 lanes that move up to 4 bytes each, 16
//! that move 8, and 8 that move 16. In a phase each bank gives one word per *wavefront*, to all lanes that want it.
//!
//! NVIDIA documents the banks and that a word is given to all lanes at once, but not the phases. With 32 banks of 4
//! bytes the rule is what Nsight Compute measures on an H200, for loads and stores; that covers one more thing: a load
//! of 8 or 16 bytes has phases of twice as many lanes if everywhere in the warp the lanes `2k` and `2k + 1` want the
//! same, or everywhere the lanes whose numbers differ in the second bit, or one of the two wants nothing.

/// The banks of a shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Banks {
    count: u32,
    bytes: u32,
}

impl Banks {
    /// Those of NVIDIA GPUs since compute capability 5.0: 32 of 4 bytes.
    pub const NVIDIA: Banks = Banks { count: 32, bytes: 4 };

    /// The most bytes that a lane moves at a time.
    const WIDEST: u32 = 16;

    /// Returns up to 32 banks, whose words have up to 16 bytes. Both are powers of two, and a word of each
    /// bank makes 16 bytes at least; otherwise `None`.
    #[must_use]
    pub const fn new(count: u32, bytes: u32) -> Option<Self> {
        let possible = count.is_power_of_two() && count <= 32 && bytes.is_power_of_two() && bytes <= Self::WIDEST;
        if possible && count * bytes >= Self::WIDEST { Some(Banks { count, bytes }) } else { None }
    }

    /// How many there are.
    #[must_use]
    #[inline]
    pub const fn count(self) -> u32 {
        self.count
    }

    /// The bytes of a bank's word.
    #[must_use]
    #[inline]
    pub const fn bytes(self) -> u32 {
        self.bytes
    }

    /// Returns the bytes that are served together if each lane moves `bytes` bytes: a word, or the neighbouring words of an access. That
    /// is aligned, so its banks are a group that it has to itself.
    #[must_use]
    #[inline]
    pub const fn unit(self, bytes: u32) -> u32 {
        if bytes > self.bytes { bytes } else { self.bytes }
    }

    /// How many units the banks give at a time: banks, or groups of them; one unit that is larger than all of them.
    #[must_use]
    #[inline]
    pub const fn groups(self, bytes: u32) -> u32 {
        let groups = self.count * self.bytes / self.unit(bytes);
        // `max` is not for constants.
        if groups > 0 { groups } else { 1 }
    }
}

/// What the lanes of a warp ask of shared memory together.
#[derive(Clone, Copy, Debug)]
pub struct WarpAccess<'a> {
    /// The lanes that make an access: a bit for each.
    pub lanes: u32,
    /// Where they make it, in bytes, a multiple of `bytes`; those of other lanes mean nothing.
    pub addresses: &'a [u64; 32],
    /// What each of them moves: 1, 2, 4, 8 or 16 bytes.
    pub bytes: u32,
    /// Whether it is a load.
    pub load: bool,
}

impl WarpAccess<'_> {
    /// The wavefronts, and how many there would be without conflicts.
    #[must_use]
    #[inline]
    pub fn wavefronts(&self, banks: Banks) -> [u64; 2] {
        self.phases(banks).fold([0, 0], |[all, fewest], phase| [all + self.most_units(phase, banks), fewest + 1])
    }

    /// The lanes that are served in each phase; phases without any are left out.
    #[inline]
    pub fn phases(&self, banks: Banks) -> impl Iterator<Item = u32> {
        let (lanes, all) = (self.phase(banks), self.lanes);
        let first = u32::MAX >> (32 - lanes);
        (0..32).step_by(lanes as usize).map(move |lane| all & first << lane).filter(|phase| *phase != 0)
    }

    /// The lanes of a phase.
    fn phase(&self, banks: Banks) -> u32 {
        let lanes = banks.groups(self.bytes).min(32);
        let several_words = self.load && lanes < 32 && banks == Banks::NVIDIA;
        if several_words && [1, 2].iter().any(|bit| self.is_shared_in_pairs(*bit)) {
            (2 * lanes).min(32)
        } else {
            lanes
        }
    }

    /// Whether two lanes whose numbers differ in `bit` alone never want different places. One that makes no access
    /// wants none.
    fn is_shared_in_pairs(&self, bit: u32) -> bool {
        let both = self.lanes & self.lanes >> bit;
        lanes_of(both).filter(|lane| lane & bit == 0).all(|lane| {
            let [first, second] = [lane, lane + bit].map(|lane| self.addresses[lane as usize]);
            first == second
        })
    }

    /// The most different units that the lanes of a phase want of one bank, or of one group of banks: its wavefronts.
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

    /// The most lanes of a phase that want something of one bank, or of one group of banks, be it the same or not.
    #[must_use]
    pub fn most_lanes(&self, phase: u32, banks: Banks) -> u64 {
        let (shift, groups) = (banks.unit(self.bytes).trailing_zeros(), u64::from(banks.groups(self.bytes)));
        let mut in_group = [0; 32];
        self.addresses_of(phase).for_each(|address| in_group[(address >> shift & (groups - 1)) as usize] += 1);
        in_group.into_iter().max().unwrap_or(0)
    }

    /// The most lanes that are at one address.
    #[must_use]
    pub fn most_at_one_address(&self) -> u32 {
        let (addresses, n) = self.sorted(u32::MAX, |address| address);
        addresses[..n].chunk_by(|a, b| a == b).map(<[u64]>::len).max().unwrap_or(0) as u32
    }

    /// The addresses of the lanes in `group` that make an access.
    #[inline]
    pub fn addresses_of(&self, group: u32) -> impl Iterator<Item = u64> {
        lanes_of(self.lanes & group).map(|lane| self.addresses[lane as usize])
    }

    /// What `unit` makes of the addresses of the lanes in `group`, in ascending order, and how many there are.
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

/// The lanes in a mask.
#[inline]
pub fn lanes_of(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane)
    })
}
