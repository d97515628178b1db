//! Sets of threads of a block.

use std::fmt;
use std::ops::RangeInclusive;

/// Maximum number of printed ranges.
const MAX_RANGES: usize = 4;

/// Set of threads of a block, by their numbers, which count along x, then y, then z.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Threads(Vec<RangeInclusive<u32>>);

impl Threads {
    /// Returns the set of these numbers, which must ascend.
    pub(crate) fn new(numbers: impl IntoIterator<Item = u32>) -> Self {
        let mut ranges: Vec<RangeInclusive<u32>> = Vec::new();
        for number in numbers {
            match ranges.last_mut() {
                Some(last) if last.end() + 1 == number => *last = *last.start()..=number,
                _ => ranges.push(number..=number),
            }
        }
        Threads(ranges)
    }

    /// Returns the ranges of their numbers, in order, with gaps in between.
    #[must_use]
    pub fn ranges(&self) -> &[RangeInclusive<u32>] {
        &self.0
    }

    /// Returns the number of threads.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.0.iter().map(|range| range.end() - range.start() + 1).sum()
    }
}

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, range) in self.0.iter().take(MAX_RANGES).enumerate() {
            f.write_str(if k == 0 { "" } else { ", " })?;
            match (range.start(), range.end()) {
                (first, last) if first == last => write!(f, "{first}")?,
                (first, last) => write!(f, "{first} to {last}")?,
            }
        }
        if self.0.len() > MAX_RANGES { f.write_str(" and more") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_put_into_ranges() {
        let threads = Threads::new([0, 1, 2, 7, 9, 10]);
        assert_eq!((threads.ranges(), threads.count()), (&[0..=2, 7..=7, 9..=10][..], 6));
        assert_eq!(threads.to_string(), "0 to 2, 7, 9 to 10");
        assert_eq!(Threads::new([]), Threads::default());
    }

    #[test]
    fn many_ranges_are_cut_short() {
        assert_eq!(Threads::new((0..64).step_by(2)).to_string(), "0, 2, 4, 6 and more");
    }
}
