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
//! Both are copied to other memory, and from there to the place of the other one. The kernel is the one that
//! copies parts of matrices whose rows do not fit into shared memory.

use super::launches::{InPlaceMethod, Passed, Receiver};
use super::permuting::Permuting;
use super::steps::greatest_common_divisor;
use crate::Result;
use crate::device::gpu::Gpu;
use slm_kernels::transpose::{PartCopy, Region, TransposeKernel, TransposeProblem};

/// Square matrices, in units of the kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    /// Rows, and columns, of a matrix.
    side: u64,
    element: u64,
    pitch: u64,
    /// Units that are moved together: they divide elements and rows.
    together: u64,
    /// Bytes of a unit.
    unit: u32,
    matrices: u64,
}

/// A copy between a matrix and the other memory.
#[derive(Clone, Copy, Debug)]
struct Copy {
    /// Which half of the other memory.
    half: u64,
    region: Region,
}

impl Exchange {
    pub(super) fn new(problem: &TransposeProblem) -> Self {
        let unit = TransposeKernel::swap(problem).unit();
        let units = |bytes: u64| bytes / u64::from(unit);
        let (element, pitch) = (units(problem.element), units(problem.input_pitch));
        let together = greatest_common_divisor(element, pitch);
        Exchange { side: problem.rows, element, pitch, together, unit, matrices: problem.matrices }
    }

    /// Returns the maximum number of elements that half of the other memory has.
    fn longest(&self) -> u64 {
        self.side.saturating_sub(1)
    }

    /// Returns the copies for a matrix in their order.
    fn copies(self, matrix: u64) -> impl Iterator<Item = Copy> {
        (0..self.longest()).flat_map(move |row| self.copies_of_row(matrix, row))
    }

    /// Returns the copies that exchange the elements behind the diagonal of a row.
    fn copies_of_row(self, matrix: u64, row: u64) -> [Copy; 4] {
        let diagonal = (matrix * self.side + row) * self.pitch + row * self.element;
        let others = self.side - 1 - row;
        let right = |to| self.region(to, diagonal + self.element, [1, others]);
        let below = |to| self.region(to, diagonal + self.pitch, [others, 1]);
        let copy = |half, region| Copy { half, region };
        let (out, back) = (PartCopy::Out, PartCopy::Back);
        [copy(0, right(out)), copy(1, below(out)), copy(0, below(back)), copy(1, right(back))]
    }

    /// Returns the region of some rows and columns of elements from a unit on.
    fn region(self, to: PartCopy, first: u64, [rows, columns]: [u64; 2]) -> Region {
        Region {
            first,
            rows: self.side,
            columns: self.pitch / self.together,
            divisor: 1,
            first_row: 0,
            part_rows: rows,
            part_columns: columns * self.element / self.together,
            // The cast is exact: `Matrices::problem` has checked the units of an element against 32 bits.
            units: self.together as u32,
            copy: to as u32,
        }
    }
}

/// The same with the loaded kernel.
pub(super) struct LoadedExchange {
    exchange: Exchange,
    permuting: Permuting,
}

impl Exchange {
    /// Loads the kernel.
    pub(super) fn load(self, gpu: &Gpu) -> Result<LoadedExchange> {
        Ok(LoadedExchange { exchange: self, permuting: Permuting::load(gpu, self.unit)? })
    }
}

impl InPlaceMethod for LoadedExchange {
    fn scratch_bytes(&self) -> u64 {
        2 * self.half_bytes()
    }

    fn each_launch(&self, passed: Passed, receive: Receiver<'_>) -> Result<()> {
        let copies = (0..passed.matrices().min(self.exchange.matrices)).flat_map(|matrix| self.exchange.copies(matrix));
        let half = self.half_bytes();
        copies.into_iter().try_for_each(|copy| self.permuting.launch(&copy.region, [copy.half * half, half], receive))
    }
}

impl LoadedExchange {
    fn half_bytes(&self) -> u64 {
        self.exchange.longest() * self.exchange.element * u64::from(self.exchange.unit)
    }
}
