//! Description of a board: plain data.

use super::words::Size;
use super::{Board, LifeError, Rule, Topology};
use crate::{Device, Result};

/// A board of cells with a rule and a topology, described but not yet bound to a device.
///
/// The [module](super) has the definition.
///
/// ```
/// use slm::life::{Pattern, Topology};
/// use slm::{Device, Life};
///
/// # fn main() -> slm::Result<()> {
/// let mut board = Life::new(100, 120).topology(Topology::Plane).prepare(&Device::open()?)?;
/// let r_pentomino: Pattern = ".OO\nOO.\n.O.".parse()?;
/// board.place(&r_pentomino, 48, 58)?;
/// board.step(100)?;
/// assert_eq!((board.generation(), board.population()?), (100, 121));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    pub(super) size: Size,
    pub(super) rule: Rule,
    pub(super) topology: Topology,
    pub(super) algorithm: LifeAlgorithm,
}

/// Kernel that computes generations on a GPU. The CPU ignores this setting, and has 64 cells to a word.
///
/// All algorithms return the same cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LifeAlgorithm {
    /// The fastest algorithm: [`Resident`](Self::Resident) for small boards, [`Blocked`](Self::Blocked) for large ones.
    #[default]
    Auto,
    /// A byte for each cell. A thread computes one cell from nine reads of global memory. Shows the cost of the naive way.
    GlobalMemory,
    /// A byte for each cell. A block loads a tile with a halo of one into shared memory, and a thread computes four cells at
    /// once.
    SharedTile,
    /// A bit for each cell. A thread computes 32 cells at once, with logic operations on the binary digits of all sums of
    /// neighbours. Conway's rule has a kernel of its own; it is faster than the kernel for all rules.
    BitPacked,
    /// A bit for each cell, and eight generations in each pass over the board: a warp goes down a strip of it, with the rows of all
    /// these generations in registers. If fewer than eight generations are left of a [`step`](Board::step), they are computed as
    /// by [`BitPacked`](Self::BitPacked).
    Blocked,
    /// A bit for each cell, in shared memory. A very small board is in the shared memory of one block, which computes up to 65,536
    /// generations in a launch. Otherwise each block has a band of rows and a halo, and computes as many generations in a launch as the
    /// halo has rows. A board has at most 4,096 columns, and as many rows as fit.
    Resident,
}

impl Life {
    /// Returns a board of `rows` rows and `columns` columns, with Conway's rule on a torus. Any size is possible.
    #[must_use]
    pub fn new(rows: usize, columns: usize) -> Self {
        let (rule, topology, algorithm) = (Rule::CONWAY, Topology::Torus, LifeAlgorithm::Auto);
        Life { size: Size { rows, columns }, rule, topology, algorithm }
    }

    /// Returns the board with this rule. The default is [`Rule::CONWAY`].
    ///
    /// ```
    /// use slm::{Device, Life, ndarray::array};
    ///
    /// # fn main() -> slm::Result<()> {
    /// // A cell is born if it had one neighbour.
    /// let mut board = Life::new(3, 5).rule("B1/S".parse()?).prepare(&Device::open()?)?;
    /// board.set(1, 2, true)?;
    /// board.step(1)?;
    /// let [x, o] = [true, false];
    /// assert_eq!(board.cells()?, array![[o, x, x, x, o], [o, x, o, x, o], [o, x, x, x, o]]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rule = rule;
        self
    }

    /// Returns the board with this topology. The default is [`Topology::Torus`].
    #[must_use]
    pub fn topology(mut self, topology: Topology) -> Self {
        self.topology = topology;
        self
    }

    /// Returns the board with this algorithm. The default is [`LifeAlgorithm::Auto`].
    #[must_use]
    pub fn algorithm(mut self, algorithm: LifeAlgorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Checks the size, and returns the board on a device, with all cells dead. It needs memory for two generations.
    ///
    /// # Errors
    ///
    /// * [`LifeError::NoCells`] without rows or columns.
    /// * [`Error::TooLarge`] for more cells than memory has addresses, and on a GPU for more than 2^31 rows or columns.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [`LifeError::NoBands`] on a GPU, if the algorithm is [`LifeAlgorithm::Resident`] and the board is too large for it.
    /// * The errors of [`Device::kernel`] on a GPU.
    pub fn prepare(&self, device: &Device) -> Result<Board> {
        let Size { rows, columns } = self.size;
        if rows == 0 || columns == 0 {
            return Err(LifeError::NoCells { rows, columns }.into());
        }
        self.size.check()?;
        Board::new(device, *self)
    }
}

#[cfg(doc)]
use crate::Error;
