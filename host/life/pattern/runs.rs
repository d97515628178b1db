//! Neighbouring living cells of a row.

use crate::Result;
use crate::cpu::allocation;

/// Neighbouring living cells of a row. There is at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::life) struct Run {
    pub(in crate::life) row: usize,
    /// The first cell.
    pub(in crate::life) column: usize,
    pub(in crate::life) len: usize,
}

impl Run {
    /// Returns the column after the last cell.
    pub(super) fn end(&self) -> usize {
        self.column + self.len
    }
}

/// The living cells of a pattern, from top to bottom and from left to right. Between two runs of a row are dead cells, so equal
/// cells have equal runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::life) struct Runs(Vec<Run>);

impl Runs {
    /// Adds cells. The first of them is not before the first one of the last run.
    pub(in crate::life) fn push(&mut self, run: Run) -> Result<()> {
        match self.0.last_mut() {
            Some(last) if last.row == run.row && run.column <= last.end() => {
                last.len = last.len.max(run.end() - last.column);
                Ok(())
            }
            _ => allocation::append(&mut self.0, &[run]),
        }
    }

    /// Returns the cells of runs in any order. Runs may have common cells.
    pub(super) fn of(mut runs: Vec<Run>) -> Result<Self> {
        runs.sort_unstable_by_key(|run| [run.row, run.column]);
        let mut all = Runs::default();
        runs.into_iter().try_for_each(|run| all.push(run))?;
        Ok(all)
    }

    pub(in crate::life) fn iter(&self) -> impl Iterator<Item = &Run> {
        self.0.iter()
    }
}
