//! The matrices of a block that transposes whole ones.

use super::{LaunchConstants, TransposeProblem};
use crate::transpose::whole::Run;
use crate::transpose::{Divisor, Group, THREADS};
use cuda_std::host::banks::{Banks, WarpAccess};
use cuda_std::shared_bytes;
use cuda_std::warp::WARP;

/// Maximum number of units of a block, so that [`Divisor`]s divide their positions.
const MOST_UNITS: u64 = 1 << 16;

/// No word of shared memory is left empty.
const NO_GAPS: u32 = 31;

/// A kernel for whole matrices: see `../whole.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Name of the entry point.
    pub name: &'static str,
    /// Bytes of a unit.
    pub(in crate::transpose) unit: u32,
    /// Units of an element.
    pub(in crate::transpose) units: u32,
    /// Units of a word.
    pub(in crate::transpose) per_word: u32,
}

impl Whole {
    /// Returns the kernel's argument for all matrices. `None` if the kernel cannot transpose them, or if other kernels take less time: with many
    /// bank conflicts, with few blocks, and for large matrices of words.
    pub(super) fn group(&self, problem: &TransposeProblem, tuning: &LaunchConstants) -> Option<Group> {
        let [at_once, units] = self.matrices_and_units(problem, tuning)?;
        let TransposeProblem { rows, columns, matrices, .. } = *problem;
        // Exact, because a block has at most `MOST_UNITS` units.
        let [rows, columns] = [rows, columns].map(|count| Divisor::new(count as u32));
        let of_banks = Banks::NVIDIA.count() * Banks::NVIDIA.bytes() / self.unit;
        let groups = [NO_GAPS, of_banks.ilog2()].map(|gap_log2| {
            let group = Group { first_matrix: 0, matrices, at_once, units, gap_log2, rows, columns };
            (self.wavefronts(&group), group)
        });
        let ([all, fewest], group) = groups.into_iter().min_by_key(|(wavefronts, _)| wavefronts[0])?;
        (self.shared_bytes(&group) <= tuning.shared_bytes && all <= tuning.most_wavefronts * fewest).then_some(group)
    }

    /// Returns the number of matrices of a block, which begins and ends with whole words, and the units of a matrix.
    fn matrices_and_units(&self, problem: &TransposeProblem, tuning: &LaunchConstants) -> Option<[u32; 2]> {
        let bytes = problem.rows.checked_mul(problem.input_pitch).filter(|&bytes| bytes <= tuning.shared_bytes)?;
        if !self.can_solve(problem) || problem.element == 4 && bytes > tuning.largest_of_words {
            return None;
        }
        let units = bytes / u64::from(self.unit);
        let step = u64::from(self.per_word) >> units.trailing_zeros().min(self.per_word.trailing_zeros());
        let most = (tuning.whole_bytes / bytes).max(step).min(problem.matrices / tuning.fewest_blocks);
        let at_once = most - most % step;
        (at_once > 0 && at_once * units <= MOST_UNITS).then_some([at_once, units].map(|count| count as u32))
    }

    /// Returns whether these are matrices without gaps, whose elements change their order, and whose columns are long enough: a word has
    /// units of one or two.
    fn can_solve(&self, problem: &TransposeProblem) -> bool {
        let &TransposeProblem { rows, columns, element, input_pitch, output_pitch, .. } = problem;
        element == u64::from(self.unit * self.units)
            && input_pitch == columns.saturating_mul(element)
            && output_pitch == rows.saturating_mul(element)
            && rows.min(columns) > 1
            && (self.units > 1 || rows + 1 >= self.per_word.into())
    }

    /// Returns the shared memory of a block.
    pub(super) fn shared_bytes(&self, group: &Group) -> u64 {
        let units = group.place(group.at_once * group.units, self.per_word).next_multiple_of(self.per_word);
        shared_bytes::<u8>((units * self.unit).into())
    }

    /// Returns the wavefronts in which the threads of a block gather their first words, and how many there were without bank conflicts.
    fn wavefronts(&self, group: &Group) -> [u64; 2] {
        let words = group.at_once * group.units / self.per_word;
        let gather = |first: u32, i: u32| {
            let run = |lane: u32| Run::new(group, self.units, (first + lane) % words * self.per_word);
            let address = |lane| u64::from(group.place(run(lane).unit(i), self.per_word) * self.unit);
            let addresses = core::array::from_fn(|lane| address(lane as u32));
            WarpAccess { lanes: u32::MAX, addresses: &addresses, bytes: self.unit, load: true }
                .wavefronts(Banks::NVIDIA)
        };
        let warps = (0..THREADS).step_by(WARP as usize);
        let gathers = warps.flat_map(|first| (0..self.per_word).map(move |i| [first, i]));
        gathers.fold([0, 0], |[all, fewest], [first, i]| {
            let [these, without] = gather(first, i);
            [all + these, fewest + without]
        })
    }
}

impl Divisor {
    fn new(divisor: u32) -> Self {
        Divisor { divisor, reciprocal: (1u64 << 32).div_ceil(divisor.into()) as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_divide() {
        for divisor in [2, 3, 5, 7, 63, 64, 65, 1000, 32_767, 65_521, 65_535] {
            let by = Divisor::new(divisor);
            assert!((0..MOST_UNITS as u32).all(|n| by.divide(n) == [n / divisor, n % divisor]), "{divisor}");
        }
    }
}
