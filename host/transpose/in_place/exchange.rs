//! Square matrices whose elements are too large for tiles in shared memory.
//!
//! Row by row, the elements to the right of the diagonal change places with those below it:
//!
//! ```text
//!  . A A A       A: neighbours in memory
//!  B . . .       B: one element in each row
//!  B . . .
//!  B . . .
//! ```
//!
//! Both are copied to other memory, and from there to the place of the other one. A launch copies as long runs as a permutation of a
//! part moves, and it is the same kernel: its permutation leaves all rows where they are.

use super::steps::greatest_common_divisor;
use slm_kernels::transpose::{Region, Step, TransposeKernel, TransposeProblem};

/// Square matrices, in units of the kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    /// Rows, and columns, of a matrix.
    side: u64,
    element: u64,
    pitch: u64,
    /// Units that are moved together: they divide elements and rows.
    together: u64,
}

/// A copy between a matrix and the other memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    /// Which half of the other memory.
    pub(super) half: u64,
    pub(super) region: Region,
}

impl Exchange {
    pub(super) fn new(problem: &TransposeProblem) -> Self {
        let units = |bytes: u64| bytes / u64::from(TransposeKernel::swap(problem).unit());
        let (element, pitch) = (units(problem.element), units(problem.input_pitch));
        let together = greatest_common_divisor(element, pitch);
        Exchange { side: problem.rows, element, pitch, together }
    }

    /// Returns the maximum number of elements that half of the other memory has.
    pub(super) fn longest(&self) -> u64 {
        self.side.saturating_sub(1)
    }

    /// Returns the copies for a matrix in their order.
    pub(super) fn copies(self, matrix: u64) -> impl Iterator<Item = Copy> {
        (0..self.longest()).flat_map(move |row| self.copies_of_row(matrix, row))
    }

    /// Returns the copies that exchange the elements behind the diagonal of a row.
    fn copies_of_row(self, matrix: u64, row: u64) -> [Copy; 4] {
        let diagonal = (matrix * self.side + row) * self.pitch + row * self.element;
        let others = self.side - 1 - row;
        let right = |step| self.region(step, diagonal + self.element, [1, others]);
        let below = |step| self.region(step, diagonal + self.pitch, [others, 1]);
        let copy = |half, region| Copy { half, region };
        let out = Step::Rotate;
        [copy(0, right(out)), copy(1, below(out)), copy(0, below(Step::Back)), copy(1, right(Step::Back))]
    }

    /// Returns the region of some rows and columns of elements from a unit on.
    fn region(self, step: Step, first: u64, [rows, columns]: [u64; 2]) -> Region {
        Region {
            first,
            rows: self.side,
            columns: self.pitch / self.together,
            // Rows move by the quotient of column and columns, which is 0.
            divisor: 1,
            first_row: 0,
            first_column: 0,
            part_rows: rows,
            part_columns: columns * self.element / self.together,
            // The cast is exact: `Matrices::problem` has checked the units of an element against 32 bits.
            units: self.together as u32,
            step: step as u32,
        }
    }
}
