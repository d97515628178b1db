//! What a rank filter does, in the form that CPU and GPU code use.

use super::shape::Runs;
use super::{Rank2dAlgorithm, RankError};
use crate::Result;
use crate::cpu::allocation;
use crate::filter::two_d::window::Window;
use slm_kernels::rank2d::{Extreme, NO_RANK};
use std::sync::Arc;

/// Which sample of a window is the output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rank {
    Median,
    /// From the least sample on, or from the greatest one on if negative.
    At(isize),
    Percentile(f64),
}

impl Rank {
    /// Checks the rank for windows of `samples` samples.
    pub(super) fn check(self, samples: usize) -> Result<()> {
        match self {
            Rank::At(rank) if rank >= samples as isize || rank < -(samples as isize) => {
                Err(RankError::Rank { rank, samples }.into())
            }
            Rank::Percentile(percentile) if !(0.0..=100.0).contains(&percentile) => {
                Err(RankError::Percentile { percentile }.into())
            }
            _ => Ok(()),
        }
    }

    /// Returns the number of the output among `present` samples in ascending order, or [`NO_RANK`] if there are too few.
    pub(super) fn of(self, present: u32) -> u32 {
        let rank = match self {
            Rank::Median => present / 2,
            Rank::At(rank) if rank < 0 => present.checked_sub(rank.unsigned_abs() as u32).unwrap_or(NO_RANK),
            Rank::At(rank) => rank as u32,
            Rank::Percentile(percentile) => {
                ((f64::from(present) * percentile / 100.0) as u32).min(present.saturating_sub(1))
            }
        };
        if rank < present { rank } else { NO_RANK }
    }

    /// Returns whether the output is the least or the greatest of `count` samples, or of those that are present.
    fn extreme(self, count: u32, omit: bool) -> Option<Extreme> {
        let is_one_of = |ranks: [Rank; 2]| ranks.contains(&self);
        let [least, greatest] = match omit {
            true => {
                [is_one_of([Rank::At(0), Rank::Percentile(0.0)]), is_one_of([Rank::At(-1), Rank::Percentile(100.0)])]
            }
            false => [self.of(count) == 0, self.of(count) == count - 1],
        };
        // A single sample is both, but heights are added to the greatest one and subtracted from the least one.
        (least || greatest).then_some(Extreme { greatest: !least || self == Rank::At(-1), omit })
    }
}

/// A rank filter. `T` is the type of the samples.
#[derive(Clone, Debug)]
pub(super) struct RankRule<T> {
    pub(super) window: Window,
    pub(super) runs: Runs,
    /// The rank for each number of samples that are present.
    pub(super) ranks: Vec<u32>,
    /// If the output is the least or the greatest sample of a window.
    pub(super) extreme: Option<Extreme>,
    /// What is subtracted from the samples of a window before the least one is taken, or added before the greatest one is, in the order of
    /// its runs. Only extremes have heights.
    pub(super) heights: Option<Arc<Vec<T>>>,
    pub(super) is_median: bool,
    /// Whether NaNs are left out. Integers have none.
    pub(super) omit: bool,
    /// The value outside, for constant borders.
    pub(super) outside: T,
    pub(super) algorithm: Rank2dAlgorithm,
}

impl<T> RankRule<T> {
    pub(super) fn new(
        window: Window,
        runs: Runs,
        (rank, heights): (Rank, Option<Arc<Vec<T>>>),
        omit: bool,
        outside: T,
        algorithm: Rank2dAlgorithm,
    ) -> Result<Self> {
        let ranks = allocation::collected((0..runs.count as usize + 1).map(|present| rank.of(present as u32)))?;
        let extreme = rank.extreme(runs.count, omit);
        let is_median = rank.of(runs.count) == runs.count / 2;
        Ok(RankRule { window, runs, ranks, extreme, heights, is_median, omit, outside, algorithm })
    }

    /// Returns the extreme of a rectangle whose rows and columns can be taken one after the other.
    pub(super) fn separable_extreme(&self) -> Option<Extreme> {
        self.extreme.filter(|_| self.runs.is_rectangle && self.heights.is_none())
    }

    /// Returns the rank among all samples of a window.
    pub(super) fn rank(&self) -> u32 {
        self.ranks[self.runs.count as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_those_present() {
        let ranks = |rank: Rank| [0, 1, 2, 4, 9].map(|present| rank.of(present));
        assert_eq!(ranks(Rank::Median), [NO_RANK, 0, 1, 2, 4]);
        assert_eq!(ranks(Rank::At(1)), [NO_RANK, NO_RANK, 1, 1, 1]);
        assert_eq!(ranks(Rank::At(-2)), [NO_RANK, NO_RANK, 0, 2, 7]);
        assert_eq!(ranks(Rank::Percentile(100.0)), [NO_RANK, 0, 1, 3, 8]);
        assert_eq!(ranks(Rank::Percentile(25.0)), [NO_RANK, 0, 0, 1, 2]);
    }

    #[test]
    fn extremes_are_found() {
        let greatest = |rank: Rank, omit| rank.extreme(9, omit).map(|extreme| extreme.greatest);
        for omit in [false, true] {
            assert_eq!(greatest(Rank::At(0), omit), Some(false));
            assert_eq!(greatest(Rank::At(-1), omit), Some(true));
            assert_eq!(greatest(Rank::Percentile(100.0), omit), Some(true));
            assert_eq!(greatest(Rank::Median, omit), None);
        }
        // The ninth of fewer samples is none of them.
        assert_eq!([greatest(Rank::At(8), false), greatest(Rank::At(8), true)], [Some(true), None]);
        let of_one = |rank: Rank| rank.extreme(1, false).map(|extreme| extreme.greatest);
        assert_eq!([of_one(Rank::At(0)), of_one(Rank::At(-1))], [Some(false), Some(true)]);
    }
}
