//! The kernel of two passes: its weights, and the length of its steps.

use crate::filter2d::passes::{ROW_PACK, Sizes};
use crate::filter2d::{Packs, passes_table_len};
use crate::signal::Types;
use cuda_std::warp::WARP;

impl Packs {
    /// Returns the packs of `taps` weights.
    #[must_use]
    pub fn new<F: Types>(taps: u32) -> Self {
        let packs = taps.div_ceil(F::PACK as u32);
        Packs { packs, pad: packs * F::PACK as u32 - taps }
    }
}

/// Returns where a column and a row of these lengths stand in the table of weights of
/// [`filter2d_passes`](crate::filter2d::filter2d_passes), or `None` if they do not fit.
#[must_use]
pub fn passes_places<F: Types>([column, row]: [usize; 2]) -> Option<[usize; 2]> {
    let pads = [column, row].map(|taps| taps.wrapping_neg() % F::PACK);
    let first = ROW_PACK as usize * F::PACK;
    let fits = column <= first && row <= passes_table_len::<F>() - first;
    fits.then_some([pads[0], first + pads[1]])
}

impl Sizes {
    /// Returns more than the accesses, barriers and windows of a thread in a step, or before the first one.
    pub(super) fn accesses(&self) -> u64 {
        let Sizes { entries: [column, row], step, .. } = *self;
        // A sample: its source, its load, and its store. Then samples, sums and weights of both passes, and outputs.
        (4 * (self.row / WARP) + 2 * (column + row) + 5 * step + 16).into()
    }
}
