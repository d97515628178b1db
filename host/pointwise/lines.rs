//! The elements of a problem in memory.

use slm_kernels::pointwise as kernels;

/// Rows of matrices of one shape, `N` of which are inputs. Positions and pitches are in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lines<const N: usize> {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Row pitches of the inputs.
    pub(super) inputs: [usize; N],
    /// Row pitch of the output.
    pub(super) output: usize,
}

impl<const N: usize> Lines<N> {
    /// Returns a single row.
    pub(super) fn row(len: usize) -> Self {
        Lines { rows: 1, columns: len, inputs: [len; N], output: len }
    }

    /// Returns the rows of matrices; a single one if there are no gaps.
    pub(crate) fn new([rows, columns]: [usize; 2], inputs: [usize; N], output: usize) -> Self {
        if output == columns && inputs == [columns; N] {
            return Self::row(rows * columns);
        }
        Lines { rows, columns, inputs, output }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0 || self.columns == 0
    }

    pub(super) fn shape(&self) -> [u64; 2] {
        [self.rows as u64, self.columns as u64]
    }

    /// Returns the row pitches of the inputs and of the output.
    pub(super) fn pitches(&self) -> ([u64; N], u64) {
        (self.inputs.map(|pitch| pitch as u64), self.output as u64)
    }

    /// Returns the lines of a launch whose threads compute packs of `pack` elements.
    pub(super) fn of_launch(&self, first_group: u64, pack: usize) -> kernels::Lines {
        // Buffers begin at multiples of all packs.
        let aligned =
            self.rows <= 1 || self.inputs.iter().chain([&self.output]).all(|pitch| pitch.is_multiple_of(pack));
        kernels::Lines { rows: self.rows as u64, columns: self.columns as u64, first_group, aligned: aligned.into() }
    }
}
