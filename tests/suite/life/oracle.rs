//! Generations by the definition: a `bool` for each cell, one cell at a time, with modular arithmetic.

use slm::life::{Rule, Topology};
use slm::ndarray::Array2;

pub(super) const TOPOLOGIES: [Topology; 4] =
    [Topology::Plane, Topology::Torus, Topology::Cylinder, Topology::KleinBottle];

/// The next generation.
pub(super) fn next(cells: &Array2<bool>, rule: Rule, topology: Topology) -> Array2<bool> {
    Array2::from_shape_fn(cells.dim(), |(row, column)| {
        let steps = (-1..=1).flat_map(|down| (-1..=1).map(move |right| (down, right)));
        let neighbours =
            steps.filter(|&step| step != (0, 0)).map(|(down, right)| [row as isize + down, column as isize + right]);
        let count = neighbours.filter(|&[row, column]| is_alive(cells, row, column, topology)).count();
        let digits = if cells[[row, column]] { rule.survivals() } else { rule.births() };
        digits >> count & 1 == 1
    })
}

/// Whether the cell in a row and column that may be outside of the board is alive.
fn is_alive(cells: &Array2<bool>, row: isize, column: isize, topology: Topology) -> bool {
    let (rows, columns) = (cells.nrows() as isize, cells.ncols() as isize);
    let (is_above_or_below, is_beside) = (!(0..rows).contains(&row), !(0..columns).contains(&column));
    let (row, column) = (row.rem_euclid(rows), column.rem_euclid(columns));
    let column = match topology {
        Topology::Plane if is_above_or_below || is_beside => return false,
        Topology::Cylinder if is_above_or_below => return false,
        Topology::KleinBottle if is_above_or_below => columns - 1 - column,
        _ => column,
    };
    cells[[row as usize, column as usize]]
}

/// The board after `steps` generations.
pub(super) fn after(cells: &Array2<bool>, rule: Rule, topology: Topology, steps: u64) -> Array2<bool> {
    (0..steps).fold(cells.clone(), |cells, _| next(&cells, rule, topology))
}
