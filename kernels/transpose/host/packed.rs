//! The problems that packed kernels can solve.

use super::TransposeProblem;
use crate::transpose::packed::Shape;
use crate::transpose::skewed::SECTOR;

/// A packed kernel: see `../packed.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Name of the entry point.
    pub name: &'static str,
    /// Bytes per pack.
    pub(in crate::transpose) pack_bytes: u32,
    /// Packs per group.
    pub(in crate::transpose) packs: u32,
    /// Elements per group.
    pub(in crate::transpose) elements: u32,
    /// The squares of a tile.
    pub(in crate::transpose) shape: Shape,
}

impl Packed {
    /// Returns the bytes of an element.
    fn element(&self) -> u64 {
        u64::from(self.pack_bytes * self.packs / self.elements)
    }

    /// Returns the rows and columns of a tile.
    pub(super) fn tile(&self) -> [u64; 2] {
        [self.shape.down, self.shape.across].map(|squares| u64::from(squares * self.elements))
    }

    /// Returns the number of elements of all tiles that cover a matrix.
    pub(super) fn covered(&self, problem: &TransposeProblem) -> u128 {
        let [rows, columns] = self.tile();
        u128::from(problem.rows.next_multiple_of(rows)) * u128::from(problem.columns.next_multiple_of(columns))
    }

    /// Returns whether the problem consists of whole groups and aligned packs.
    pub(super) fn can_solve(&self, problem: &TransposeProblem) -> bool {
        let (group, pack) = (u64::from(self.elements), u64::from(self.pack_bytes));
        self.element() == problem.element
            && [problem.rows, problem.columns].iter().all(|length| length % group == 0)
            && [problem.input_pitch, problem.output_pitch].iter().all(|pitch| pitch.is_multiple_of(pack))
    }

    /// Returns whether the kernel can solve the problem, and no two blocks write to the same sector. (Measured on an H200: if output
    /// rows begin in the middle of sectors, skewed kernels are faster by 4 % for elements of 8 and 16 bytes, and by 10 to 25 % for
    /// smaller ones.)
    pub(super) fn fits(&self, problem: &TransposeProblem) -> bool {
        self.can_solve(problem) && problem.output_pitch.is_multiple_of(u64::from(SECTOR))
    }
}
