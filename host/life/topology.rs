//! The cells beyond the ends of a board.

use slm_kernels::life::Ends;

/// The cells beyond the ends of a board.
///
/// A board has `r` rows and `c` columns. The cell at row -1 and column `j`, for instance, is a neighbour of the cells in row 0.
///
/// | topology | columns -1 and `c` | row -1 | row `r` |
/// |---|---|---|---|
/// | `Plane` | dead | dead | dead |
/// | `Torus` | columns `c` - 1 and 0 | row `r` - 1 | row 0 |
/// | `Cylinder` | columns `c` - 1 and 0 | dead | dead |
/// | `KleinBottle` | columns `c` - 1 and 0 | row `r` - 1, mirrored | row 0, mirrored |
///
/// With fewer than three rows or columns that wrap, several neighbours of a cell are the same cell, or the cell itself. On a torus
/// of one cell, all eight are the cell itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Topology {
    /// A rectangle. All cells outside are dead and stay dead, also with rules such as `B0`.
    Plane,
    /// Columns and rows wrap.
    #[default]
    Torus,
    /// Columns wrap. Above and below, all cells are dead and stay dead.
    Cylinder,
    /// Columns wrap. Rows wrap too, mirrored left to right: column `j` of row -1 is column `c - 1 - j` of row `r - 1`.
    KleinBottle,
}

impl Topology {
    /// Returns whether columns wrap.
    pub(super) fn wraps(self) -> bool {
        self != Topology::Plane
    }

    /// Returns what is above the first row and below the last one.
    pub(super) fn ends(self) -> Ends {
        match self {
            Topology::Plane | Topology::Cylinder => Ends::Dead,
            Topology::Torus => Ends::Joined,
            Topology::KleinBottle => Ends::Mirrored,
        }
    }
}
