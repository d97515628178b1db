//! Which rows are where.

use std::ops::Range;

/// First rows of members are multiples of it, because kernels load packs of samples.
const PACK: usize = 16;

/// Which rows are where: each member has consecutive rows, in the order of the members. A member can have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// For each member, the row behind its last one.
    ends: Vec<usize>,
}

impl Distribution {
    /// Returns about equal numbers of rows for each of the `members`, in multiples of 16 rows.
    ///
    /// ```
    /// let distribution = slm::distributed::Distribution::even(100, 3);
    /// assert_eq!([0, 1, 2].map(|member| distribution.rows(member)), [0..32, 32..64, 64..100]);
    /// ```
    #[must_use]
    pub fn even(rows: usize, members: usize) -> Self {
        Self::in_units(rows, members, PACK, 0)
    }

    /// Returns about equal multiples of `unit` rows for each of the first members: for as many that each has at least `least` rows, or for
    /// the first one alone. The others have none.
    pub(crate) fn in_units(rows: usize, members: usize, unit: usize, least: usize) -> Self {
        // The rounded ends differ from even ones by less than a unit.
        let end = |member: usize, used: usize| match member + 1 >= used {
            true => rows,
            false => (rows as u128 * (member + 1) as u128 / used as u128) as usize / unit * unit,
        };
        let over = |used| Distribution { ends: (0..members).map(|member| end(member, used)).collect() };
        let has_least =
            |distribution: &Distribution, used| (0..used).all(|member| distribution.rows(member).len() >= least);
        let mut distributions = (1..=members).rev().map(|used| (over(used), used));
        distributions
            .find(|(distribution, used)| *used == 1 || has_least(distribution, *used))
            .map_or(over(1), |found| found.0)
    }

    /// Returns the number of members.
    #[must_use]
    pub fn members(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of rows of all members.
    #[must_use]
    pub fn total(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Returns the rows of a member; none if there is no such member.
    #[must_use]
    pub fn rows(&self, member: usize) -> Range<usize> {
        let end = self.ends.get(member).copied().unwrap_or(self.total());
        let start = member.checked_sub(1).map_or(0, |before| self.ends.get(before).copied().unwrap_or(end));
        start..end
    }

    /// Returns the members that have some of these rows, and which of the rows.
    pub(crate) fn owners(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
        // Not all members are looked at: there may be thousands.
        let first = self.ends.partition_point(|end| *end <= rows.start);
        let common = move |member| {
            let of_member = self.rows(member);
            (member, rows.start.max(of_member.start)..rows.end.min(of_member.end))
        };
        let end = rows.end;
        (first..self.members())
            .take_while(move |member| self.rows(*member).start < end)
            .map(common)
            .filter(|(_, rows)| !rows.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_one_member() {
        for (rows, members) in [(0, 1), (1, 3), (47, 3), (48, 3), (1000, 7), (usize::MAX, 4)] {
            let distribution = Distribution::even(rows, members);
            assert_eq!((distribution.members(), distribution.total()), (members, rows));
            let mut end = 0;
            for member in 0..members {
                let of_member = distribution.rows(member);
                assert!(of_member.start == end && of_member.start.is_multiple_of(PACK) || of_member.is_empty());
                end = of_member.end;
            }
            assert_eq!(end, rows);
            assert!(distribution.rows(members).is_empty());
        }
    }

    #[test]
    fn few_rows_are_on_the_first_members() {
        let distribution = Distribution::in_units(100, 3, 16, 40);
        assert_eq!([0, 1, 2].map(|member| distribution.rows(member)), [0..48, 48..100, 100..100]);
        let distribution = Distribution::in_units(100, 3, 16, 60);
        assert_eq!([0, 1, 2].map(|member| distribution.rows(member)), [0..100, 100..100, 100..100]);
        assert_eq!(distribution.owners(3..7).collect::<Vec<_>>(), [(0, 3..7)]);
        assert_eq!(distribution.owners(100..100).count() + distribution.owners(100..120).count(), 0);
        let even = Distribution::even(100, 3);
        assert_eq!(even.owners(64..100).collect::<Vec<_>>(), [(2, 64..100)]);
        assert_eq!(even.owners(7..7).count(), 0);
        assert_eq!(even.owners(30..70).collect::<Vec<_>>(), [(0, 30..32), (1, 32..64), (2, 64..70)]);
    }
}
