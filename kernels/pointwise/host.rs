//! From a problem's size to grid and block: what the host has to know.

/// Maximum number of blocks of a grid along y.
const MOST_GROUPS: u64 = 65_535;

/// Constants that the host chooses.
#[derive(Clone, Copy, Debug)]
pub struct LaunchConstants {
    /// Threads of a block: a power of two.
    pub threads: u32,
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Threads along x and y.
    pub block: [u32; 2],
    /// Blocks along x: tiles of a row.
    pub tiles: u64,
    /// Groups of rows, each of which takes one row of blocks.
    pub groups: u64,
}

/// One launch: some groups of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowPart {
    /// The first group.
    pub first_group: u64,
    /// Number of groups.
    pub groups: u64,
}

impl Geometry {
    /// Returns how to launch a kernel whose threads compute packs of `pack` elements.
    ///
    /// A block has as many threads along x as a row has packs, rounded up to a power of two.
    #[must_use]
    pub fn new([rows, columns]: [u64; 2], pack: usize, tuning: &LaunchConstants) -> Self {
        let (packs, threads) = (columns.div_ceil(pack as u64), u64::from(tuning.threads));
        let width = packs.clamp(1, threads).next_power_of_two();
        let height = threads / width;
        Geometry { block: [width as u32, height as u32], tiles: packs.div_ceil(width), groups: rows.div_ceil(height) }
    }

    /// Returns the launches: one, unless that would be more blocks along y than a grid can have.
    pub fn parts(&self) -> impl Iterator<Item = RowPart> {
        let groups = self.groups;
        (0..self.launches()).map(move |part| {
            let first_group = part * MOST_GROUPS;
            RowPart { first_group, groups: MOST_GROUPS.min(groups - first_group) }
        })
    }

    /// Returns the number of groups of the first launch.
    #[must_use]
    pub fn groups_per_launch(&self) -> u64 {
        self.groups.min(MOST_GROUPS)
    }

    /// Returns the number of launches.
    #[must_use]
    pub fn launches(&self) -> u64 {
        self.groups.div_ceil(MOST_GROUPS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TUNING: LaunchConstants = LaunchConstants { threads: 256 };

    #[test]
    fn long_rows_are_divided_and_short_ones_share_blocks() {
        let of = |rows, columns, pack| Geometry::new([rows, columns], pack, &TUNING);
        assert_eq!(of(1, 4096, 16), Geometry { block: [256, 1], tiles: 1, groups: 1 });
        assert_eq!(of(1, 4097, 16), Geometry { block: [256, 1], tiles: 2, groups: 1 });
        assert_eq!(of(10, 3, 4), Geometry { block: [1, 256], tiles: 1, groups: 1 });
        assert_eq!(of(513, 37, 4), Geometry { block: [16, 16], tiles: 1, groups: 33 });
        let half = Geometry::new([513, 37], 4, &LaunchConstants { threads: 128 });
        assert_eq!(half, Geometry { block: [16, 8], tiles: 1, groups: 65 });
    }

    #[test]
    fn many_rows_take_several_launches() {
        let rows = 2 * MOST_GROUPS * 256 + 1;
        let geometry = Geometry::new([rows, 1], 4, &TUNING);
        let expected = [(0, MOST_GROUPS), (MOST_GROUPS, MOST_GROUPS), (2 * MOST_GROUPS, 1)];
        assert!(geometry.parts().eq(expected.map(|(first_group, groups)| RowPart { first_group, groups })));
    }
}
