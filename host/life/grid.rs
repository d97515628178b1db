//! Grids: the boards that patterns are made for.

use super::pattern::MAX_SIDE;
use super::{LifeError, Topology};
use crate::{Error, Result};
use std::fmt;

/// The board that a [`Pattern`](super::Pattern) is made for: a bounded grid of Golly.
///
/// In files it follows the rule. Columns come first, so `B3/S23:T30,20` has 20 rows:
///
/// | in files | topology | edges |
/// |---|---|---|
/// | `:P30,20` | [`Plane`](Topology::Plane) | not joined |
/// | `:T30,20` | [`Torus`](Topology::Torus) | joined |
/// | `:K30*,20` | [`KleinBottle`](Topology::KleinBottle) | joined, the upper and lower ones mirrored left to right |
///
/// Letters may be in lower case. `:T30` is `:T30,30`. `Display` prints the forms of the table.
///
/// Golly has other grids, which are errors when a pattern is read: spheres (`:S30`), cross-surfaces (`:C30,20`), Klein bottles
/// whose left and right edges are mirrored (`:K30,20*`, `:K30,20`), edges that are joined with a shift (`:T30+5,20`), and
/// unbounded sides (`:T0,20`). It has none for a [`Cylinder`](Topology::Cylinder).
///
/// ```
/// use slm::life::{Grid, Pattern, Topology};
/// use slm::{Device, Life};
///
/// # fn main() -> slm::Result<()> {
/// let pattern: Pattern = "x = 3, y = 3, rule = B3/S23:T5,3\n3o$3o$3o!".parse()?;
/// let grid = pattern.grid().expect("it has one");
/// assert_eq!(grid, Grid::new(3, 5, Topology::Torus)?);
/// let mut board = Life::new(grid.rows(), grid.columns()).topology(grid.topology()).prepare(&Device::open()?)?;
/// board.place(&pattern, 0, 1)?;
/// board.step(1)?;
/// assert_eq!(board.population()?, 6); // the columns beside the pattern
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    rows: usize,
    columns: usize,
    topology: Topology,
}

impl Grid {
    /// Returns a grid of `rows` rows and `columns` columns.
    ///
    /// # Errors
    ///
    /// * [`LifeError::NoCells`] without rows or columns.
    /// * [`LifeError::NoGrid`] for a cylinder.
    /// * [`Error::TooLarge`] for more than 2^49 rows or columns.
    pub fn new(rows: usize, columns: usize, topology: Topology) -> Result<Self> {
        if rows == 0 || columns == 0 {
            return Err(LifeError::NoCells { rows, columns }.into());
        }
        for (what, side) in [("the number of rows", rows), ("the number of columns", columns)] {
            if side > MAX_SIDE {
                return Err(Error::TooLarge { what, factors: [side as u64, 1], limit: MAX_SIDE as u64 });
            }
        }
        match topology {
            Topology::Plane | Topology::Torus | Topology::KleinBottle => Ok(Grid { rows, columns, topology }),
            Topology::Cylinder => Err(LifeError::NoGrid { topology }.into()),
        }
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn columns(self) -> usize {
        self.columns
    }

    /// Returns the topology.
    #[must_use]
    pub fn topology(self) -> Topology {
        self.topology
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (letter, twist) = match self.topology {
            Topology::Plane => ('P', ""),
            Topology::KleinBottle => ('K', "*"),
            _ => ('T', ""),
        };
        write!(f, ":{letter}{}{twist},{}", self.columns, self.rows)
    }
}
