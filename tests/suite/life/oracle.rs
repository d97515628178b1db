//! Generations by the definition: a `bool` for each cell, one cell at a time, with modular arithmetic.

use slm::life::{Rule, Topology};
use slm::ndarray::Array2;

/// All topologies.
pub const TOPOLOGIES: [Topology; 4] = [Topology::Plane, Topology::Torus, Topology::Cylinder, Topology::KleinBottle];

/// Returns the next generation.
#[must_use]
pub fn next(cells: &Array2<bool>, rule: Rule, topology: Topology) -> Array2<bool> {
    let (rows, columns) = cells.dim();
    // The board and the cells next to it. The cell at `[row, column]` of the board is at `[row + 1, column + 1]`.
    let extended = Array2::from_shape_fn((rows + 2, columns + 2), |(i, j)| {
        wrapped([i as isize - 1, j as isize - 1], cells.dim(), topology).is_some_and(|place| cells[place])
    });
    Array2::from_shape_fn(cells.dim(), |(row, column)| {
        let is_alive = cells[[row, column]];
        let alive_in = |i: usize| (column..column + 3).filter(|&j| extended[[i, j]]).count();
        let neighbours = (row..row + 3).map(alive_in).sum::<usize>() - usize::from(is_alive);
        let digits = if is_alive { rule.survivals() } else { rule.births() };
        digits >> neighbours & 1 == 1
    })
}

/// Returns the cell of a board of this size that is in a row and column which may be outside; `None` if that is dead.
#[must_use]
pub fn wrapped([row, column]: [isize; 2], size: (usize, usize), topology: Topology) -> Option<[usize; 2]> {
    let (rows, columns) = (size.0 as isize, size.1 as isize);
    let (is_above_or_below, is_beside) = (!(0..rows).contains(&row), !(0..columns).contains(&column));
    if !is_above_or_below && !is_beside {
        return Some([row as usize, column as usize]);
    }
    // Number of times that the upper or the lower end is passed.
    let turns = row.div_euclid(rows);
    let (row, column) = (row.rem_euclid(rows), column.rem_euclid(columns));
    let column = match topology {
        Topology::Plane => return None,
        Topology::Cylinder if is_above_or_below => return None,
        Topology::KleinBottle if turns % 2 != 0 => columns - 1 - column,
        _ => column,
    };
    Some([row as usize, column as usize])
}

/// Returns the board after `steps` generations.
#[must_use]
pub fn after(cells: &Array2<bool>, rule: Rule, topology: Topology, steps: u64) -> Array2<bool> {
    (0..steps).fold(cells.clone(), |cells, _| next(&cells, rule, topology))
}
