//! Outer products on the CPU whose row of weights is long: down all columns first, then along the rows of these sums.
//!
//! ```text
//!            h x 1 weights                    1 x v weights
//!  samples -----------------> column sums -----------------> outputs
//! ```
//!
//! In one pass, a piece of the outputs takes the column sums of its halo, too. Those beyond the border are the same sums again, and
//! there are as many as weights. Here each sum is computed once, and products are added in the same order. The column sums of the
//! whole picture are in temporary memory.

use super::strips::{Input, Strips};
use super::{Correlation, PIECE};
use crate::filter2d::accumulator::{Accumulator, zeros};
use crate::filter2d::weights::Weights;
use crate::filter2d::window::{Axis, PictureProblem};
use crate::{Element, Result};

/// Whole pieces per halo from which on the halo costs more than the memory.
const PIECES_PER_HALO: usize = 8;

/// Returns whether two passes take less time.
pub(super) fn pays<A: Copy>(weights: &Weights<A>, problem: &PictureProblem) -> bool {
    let PictureProblem { columns, channels, .. } = *problem;
    let halo = (columns.taps - 1) * columns.dilation;
    let piece = columns.outputs.min(PIECE / channels).max(1) * columns.stride;
    weights.is_product() && halo.saturating_mul(PIECES_PER_HALO) > piece
}

/// Computes all outputs of an outer product, and calls `store` with sums and their outputs.
pub(super) fn filter<A: Accumulator, O: Element>(
    [row, column]: &[Weights<A>; 2],
    strips: &Strips<'_, A>,
    outputs: &mut [O],
    store: &(dyn Fn(&[A], &mut [O]) + Sync),
) -> Result<()> {
    let problem = strips.problem;
    let width = problem.columns.samples * problem.channels;
    let down = PictureProblem { columns: Axis::single(problem.columns.samples), output_pitch: width, ..*problem };
    let along = PictureProblem { rows: Axis::single(problem.rows.outputs), input_pitch: width, ..*problem };
    let mut sums = zeros(down.len()?)?;
    let columns = Strips { problem: &down, ..*strips };
    Correlation { weights: column, strips: columns, total: None }
        .rows(&mut sums, &|sums, to| to.copy_from_slice(&sums[..to.len()]))?;
    let rows = Strips { problem: &along, input: Input::Sums(&sums), outside: column.sum_of(strips.outside) };
    Correlation { weights: row, strips: rows, total: None }.rows(outputs, store)
}
