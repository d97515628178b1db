//! Generations by the definition: a `bool` for each cell, one cell at a time, with modular arithmetic.

use slm::life::{Rule, Topology};
use slm::ndarray::Array2;

/// All topologies.
pub const TOPOLOGIES: [Topology; 4] = [Topology::Plane, Topology::Torus, Topology::Cylinder, Topology::KleinBottle];

/// Returns the next generation.
#[must_use]
pub fn next(cells: &Array2<bool>, rule: Rule, topology: Topology) -> Array2<bool> {
    Array2::from_shape_fn(cells.dim(), |(row, column)| {
        let steps = (-1..=1).flat_map(|down| (-1..=1).map(move |right| (down, right)));
        let neighbours =
            steps.filter(|&step| step != (0, 0)).map(|(down, right)| [row as isize + down, column as isize + right]);
        let is_alive = |place| wrapped(place, cells.dim(), topology).is_some_and(|place| cells[place]);
        let count = neighbours.filter(|&place| is_alive(place)).count();
        let digits = if cells[[row, column]] { rule.survivals() } else { rule.births() };
        digits >> count & 1 == 1
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
