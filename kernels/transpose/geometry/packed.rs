//! Which problems the kernels that move packs are for.

use super::Problem;
use crate::transpose::packed::Shape;
use crate::transpose::skewed::SECTOR;

/// A kernel that moves packs: see `../packed.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The entry point.
    pub name: &'static str,
    /// The bytes of a pack.
    pub(in crate::transpose) pack_bytes: u32,
    /// The packs of a group.
    pub(in crate::transpose) packs: u32,
    /// The elements of a group.
    pub(in crate::transpose) elements: u32,
    /// The tile.
    pub(in crate::transpose) shape: Shape,
}

impl Packed {
    /// The bytes of an element.
    fn element(&self) -> u64 {
        u64::from(self.pack_bytes * self.packs / self.elements)
    }

    /// Rows and columns of a tile.
    pub(super) fn tile(&self) -> [u64; 2] {
        [self.shape.down, self.shape.across].map(|squares| u64::from(squares * self.elements))
    }

    /// Whether groups and packs are whole everywhere in a problem, and no two blocks write to the same sector. (Tried
    /// on an H200: where rows of the output begin in the middle of sectors, the skewed kernels are faster by 4 % for
    /// elements of 8 and 16 bytes, and by 10 to 25 % for smaller ones.)
    pub(super) fn fits(&self, problem: &Problem) -> bool {
        let group = u64::from(self.elements);
        self.element() == problem.element
            && [problem.rows, problem.columns].iter().all(|length| length % group == 0)
            && problem.input_pitch.is_multiple_of(u64::from(self.pack_bytes))
            && problem.output_pitch.is_multiple_of(u64::from(SECTOR))
    }
}
