//! A generation of the Game of Life by definition, in some of the rows of a board.

use slm::life::{Board, Topology};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of cells that are compared, unless two rows have more.
const CHECKED: usize = 1 << 22;

/// Words of some rows.
type Rows = BTreeMap<usize, Vec<u64>>;

/// A cell that does not follow from the generation before.
#[derive(Debug)]
pub(crate) struct WrongCell {
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) is_alive: bool,
}

/// The cells that the next generation of some rows depends on.
pub(crate) struct Before {
    /// The rows of the next generation.
    checked: BTreeSet<usize>,
    /// These and the rows above and below.
    rows: Rows,
}

impl Before {
    /// Keeps cells of a board. On large boards these are those of a few rows, so that they need little memory.
    pub(crate) fn of(board: &Board) -> slm::Result<Self> {
        let (rows, columns) = (board.rows(), board.columns());
        let apart = rows.saturating_mul(columns).div_ceil(CHECKED);
        let checked: BTreeSet<_> = (0..rows).step_by(apart).chain([rows - 1]).collect();
        let around = |row: usize| [(row + rows - 1) % rows, row, (row + 1) % rows];
        Ok(Before { rows: load(board, &checked.iter().copied().flat_map(around).collect())?, checked })
    }

    /// Returns a cell of the board, one generation later, that does not follow from the cells that were kept.
    pub(crate) fn wrong_cell(&self, board: &Board) -> slm::Result<Option<WrongCell>> {
        let (after, rule) = (load(board, &self.checked)?, board.rule());
        for &row in &self.checked {
            for (column, three) in self.sums_of_columns(board, row).windows(3).enumerate() {
                let (now, is_alive) = (get(&self.rows[&row], column), get(&after[&row], column));
                let neighbours = three.iter().sum::<u32>() - u32::from(now);
                if is_alive != rule.is_alive(now, neighbours) {
                    return Ok(Some(WrongCell { row, column, is_alive }));
                }
            }
        }
        Ok(None)
    }

    /// Returns the number of living cells in `row` and the rows above and below it, for each column, from the one before the board
    /// to the one behind it.
    fn sums_of_columns(&self, board: &Board, row: usize) -> Vec<u32> {
        let (row, columns) = (row as isize, board.columns() as isize);
        let lines = [row - 1, row, row + 1].map(|row| self.line(board, row));
        let is_alive = |line: &Option<Line<'_>>, column| line.as_ref().is_some_and(|line| line.is_alive(column));
        (-1..=columns).map(|column| lines.iter().map(|line| u32::from(is_alive(line, column))).sum()).collect()
    }

    /// Returns a row that may be outside of the board; `None` if it is dead.
    fn line(&self, board: &Board, row: isize) -> Option<Line<'_>> {
        let (rows, topology) = (board.rows() as isize, board.topology());
        let is_outside = !(0..rows).contains(&row);
        if is_outside && matches!(topology, Topology::Plane | Topology::Cylinder) {
            return None;
        }
        Some(Line {
            words: &self.rows[&(row.rem_euclid(rows) as usize)],
            columns: board.columns() as isize,
            wraps: topology != Topology::Plane,
            is_mirrored: is_outside && topology == Topology::KleinBottle,
        })
    }
}

/// A row, with the cells beyond its ends.
struct Line<'a> {
    words: &'a [u64],
    columns: isize,
    wraps: bool,
    is_mirrored: bool,
}

impl Line<'_> {
    fn is_alive(&self, column: isize) -> bool {
        if !self.wraps && !(0..self.columns).contains(&column) {
            return false;
        }
        let column = column.rem_euclid(self.columns);
        get(self.words, (if self.is_mirrored { self.columns - 1 - column } else { column }) as usize)
    }
}

fn get(words: &[u64], column: usize) -> bool {
    words[column / 64] >> (column % 64) & 1 == 1
}

/// Returns the words of rows. Rows that follow each other are read at once.
fn load(board: &Board, rows: &BTreeSet<usize>) -> slm::Result<Rows> {
    let (rows, mut all) = (rows.iter().copied().collect::<Vec<_>>(), Rows::new());
    for group in rows.chunk_by(|a, b| a + 1 == *b) {
        let words = board.words_of_rows(group[0]..group[0] + group.len())?;
        all.extend(group.iter().copied().zip(words.rows().into_iter().map(|row| row.to_vec())));
    }
    Ok(all)
}
