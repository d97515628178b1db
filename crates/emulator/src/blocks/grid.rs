//! The blocks of a grid: the order in which they begin, and their progress.

use crate::launch::Launch;
use crate::race::{SLOTS, slot_of};
use crate::random::Random;
use crate::report::BlockStates;

/// Maximum number of blocks whose order is drawn from all permutations. Larger grids use keyed permutations.
const MAX_DRAWN: u64 = 1 << 16;

/// Maximum number of fibres of all blocks in progress; but there are always enough for two blocks.
const MAX_FIBRES: u64 = 512;

/// Returns the number of blocks in progress at a time: at least two, and not all of three or more, so that a block which
/// waits for one that has not begun is found.
pub(crate) fn resident_blocks(launch: &Launch) -> usize {
    // The inverted seed gives another sequence than the schedule's.
    residents(count(launch.grid), launch.threads(), &mut Random::new(!launch.seed))
}

fn residents(blocks: u64, threads: u64, random: &mut Random) -> usize {
    let max = (MAX_FIBRES / threads).clamp(2, SLOTS as u64).min((blocks - 1).max(2));
    blocks.min(2 + random.below(max - 1)) as usize
}

/// Order of a launch's blocks, and their progress.
#[derive(Debug)]
pub(crate) struct Blocks {
    grid: [u32; 3],
    order: Permutation,
    begun: u64,
    ended: u64,
    /// By slot: the first interval of each block that has begun there, and its position in the order.
    slots: [Vec<(u32, u32)>; SLOTS],
}

impl Blocks {
    pub(crate) fn new(grid: [u32; 3], random: &mut Random) -> Self {
        let order = Permutation::new(count(grid), random);
        Blocks { grid, order, begun: 0, ended: 0, slots: Default::default() }
    }

    /// Returns whether there are blocks that have not begun.
    pub(crate) fn has_more(&self) -> bool {
        self.begun < count(self.grid)
    }

    /// Begins the next block, with its first `interval`. Returns the block's index.
    pub(crate) fn begin(&mut self, interval: u32) -> [u32; 3] {
        // There are at most as many blocks as intervals, so 32 bits suffice.
        self.slots[slot_of(interval)].push((interval, self.begun as u32));
        self.begun += 1;
        self.index(self.begun - 1)
    }

    /// Records that a block has ended.
    pub(crate) fn end(&mut self) {
        self.ended += 1;
    }

    /// Returns the number of blocks that have ended, are in progress, and have not begun.
    pub(crate) fn states(&self) -> BlockStates {
        BlockStates { ended: self.ended, begun: self.begun - self.ended, waiting: count(self.grid) - self.begun }
    }

    /// Returns the block of an interval.
    pub(crate) fn of_interval(&self, interval: u32) -> [u32; 3] {
        let begun = &self.slots[slot_of(interval)];
        let place = begun.partition_point(|(first, _)| *first <= interval).saturating_sub(1);
        self.index(begun.get(place).map_or(0, |(_, place)| u64::from(*place)))
    }

    /// Returns the block at a position in the order.
    fn index(&self, place: u64) -> [u32; 3] {
        let ([x, y, _], number) = (self.grid.map(u64::from), self.order.number(place));
        [number % x, number / x % y, number / x / y].map(|index| index as u32)
    }
}

fn count(grid: [u32; 3]) -> u64 {
    grid.iter().map(|n| u64::from(*n)).product()
}

/// A permutation of the numbers below another number.
#[derive(Debug)]
enum Permutation {
    /// Any permutation, by position.
    Drawn(Vec<u32>),
    Keyed(Keyed),
}

impl Permutation {
    fn new(count: u64, random: &mut Random) -> Self {
        if count > MAX_DRAWN {
            return Permutation::Keyed(Keyed::new(count, random));
        }
        let mut numbers: Vec<u32> = (0..count as u32).collect();
        // The Fisher-Yates shuffle.
        for last in (1..numbers.len()).rev() {
            numbers.swap(last, random.below(last as u64 + 1) as usize);
        }
        Permutation::Drawn(numbers)
    }

    /// Returns the number at a position.
    fn number(&self, place: u64) -> u64 {
        match self {
            Permutation::Drawn(numbers) => numbers[place as usize].into(),
            Permutation::Keyed(keyed) => keyed.number(place),
        }
    }
}

/// A Feistel network over the next power of four. Numbers from `count` on
/// are skipped by applying it again. This permutation takes no memory.
#[derive(Debug)]
struct Keyed {
    count: u64,
    /// Bits of half a number.
    half: u32,
    keys: [u64; 6],
}

impl Keyed {
    fn new(count: u64, random: &mut Random) -> Self {
        let half = (u64::BITS - (count - 1).leading_zeros()).div_ceil(2);
        Keyed { count, half, keys: std::array::from_fn(|_| random.next()) }
    }

    fn number(&self, place: u64) -> u64 {
        let mut number = self.step(place);
        while number >= self.count {
            number = self.step(number);
        }
        number
    }

    fn step(&self, number: u64) -> u64 {
        let mask = (1 << self.half) - 1;
        let halves = (number >> self.half, number & mask);
        let round = |(a, b), key: &u64| (b, a ^ Random::new(key.wrapping_add(b)).next() & mask);
        let (a, b) = self.keys.iter().fold(halves, round);
        a << self.half | b
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_block_begins_once() {
        for (seed, grid) in
            [(0, [1, 1, 1]), (1, [12, 5, 3]), (2, [97, 1, 2]), (3, [1 << 16, 2, 1]), (4, [70_001, 1, 1])]
        {
            let mut blocks = Blocks::new(grid, &mut Random::new(seed));
            let count = count(grid);
            let begun: Vec<_> = (0..count).map(|k| blocks.begin((k as u32 % 4) << 30 | (10 + 3 * k as u32))).collect();
            assert!(!blocks.has_more());
            assert_eq!(begun.iter().collect::<BTreeSet<_>>().len() as u64, count);
            assert!(begun.iter().all(|block| block.iter().zip(grid).all(|(index, n)| *index < n)));
            for (k, block) in begun.iter().enumerate() {
                assert_eq!(blocks.of_interval((k as u32 % 4) << 30 | (12 + 3 * k as u32)), *block);
            }
        }
    }

    /// Four blocks have 24 orders.
    #[test]
    fn orders_are_all_orders() {
        let order = |seed| {
            let mut blocks = Blocks::new([4, 1, 1], &mut Random::new(seed));
            [1, 2, 3, 4].map(|interval| blocks.begin(interval)[0])
        };
        assert_eq!((0..500).map(order).collect::<BTreeSet<_>>().len(), 24);
    }

    #[test]
    fn the_largest_grid_has_an_order() {
        let grid = [i32::MAX as u32, 65535, 65535];
        let blocks = Blocks::new(grid, &mut Random::new(5));
        let some: BTreeSet<_> = (0..1000).map(|place| blocks.index(place)).collect();
        assert_eq!(some.len(), 1000);
        assert!(some.iter().all(|block| block.iter().zip(grid).all(|(index, n)| *index < n)));
    }

    #[test]
    fn states_add_up() {
        let mut blocks = Blocks::new([5, 1, 1], &mut Random::new(0));
        let _begun = [1, 2, 3].map(|interval| blocks.begin(interval));
        blocks.end();
        assert_eq!(blocks.states(), BlockStates { ended: 1, begun: 2, waiting: 2 });
    }

    #[test]
    fn two_blocks_or_more_are_resident_but_not_all_of_three() {
        let all = |blocks, threads| {
            let mut random = Random::new(7);
            (0..100).map(|_| residents(blocks, threads, &mut random)).collect::<BTreeSet<_>>()
        };
        assert_eq!([all(1, 32), all(2, 32), all(3, 32)], [[1], [2], [2]].map(BTreeSet::from));
        assert_eq!([all(4, 1), all(9, 1024)], [BTreeSet::from([2, 3]), BTreeSet::from([2])]);
        assert_eq!(all(1 << 40, 128), BTreeSet::from([2, 3, 4]));
    }
}
