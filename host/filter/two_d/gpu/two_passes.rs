//! Outer products on GPUs by two launches, with the sums along the rows in temporary memory:
//!
//! ```text
//!            1 x v weights                 h x 1 weights
//!  samples -----------------> row sums -----------------> outputs
//!     S                          A                           O
//! ```
//!
//! Both launches are those of the kernels for any weights. So this takes all types, channels, strides, dilations, boundaries and
//! extents that they take, whereas the kernels that make both passes in one launch take few.
//!
//! The first launch filters each row of samples. The second one continues the row sums by the filter's boundary, which selects rows
//! of samples, so of row sums too. Outside of a constant border, a row consists of the constant, and the row sums are those of the
//! constant.

use super::Launches;
use crate::device::gpu::Gpu;
use crate::element::any::AnyBuffer;
use crate::filter2d::accumulator::Accumulator;
use crate::filter2d::choose::Direct;
use crate::filter2d::element::{BufferMut, BufferRef, Scalar};
use crate::filter2d::weights::{Values, Weights};
use crate::filter2d::window::PictureProblem;
use crate::{LaunchPlan, Result};
use slm_kernels::signal::Kind;

impl<A: Accumulator> Weights<A> {
    /// Returns the sum of the products of dense weights and equal samples, rounded as the kernels add them.
    pub(in crate::filter::two_d) fn fused_sum_of(&self, sample: Scalar) -> A {
        let Values::Dense(weights) = &self.values else { return A::ZERO };
        let sample = A::of_scalar(sample);
        weights.iter().fold(A::ZERO, |sum, &weight| sum.add_product(sample, weight))
    }
}

/// Launches for the two passes of an outer product.
pub(super) struct TwoPasses {
    gpu: Gpu,
    /// Type of the row sums.
    sums: Kind,
    along_rows: Box<dyn Launches>,
    down_columns: Box<dyn Launches>,
}

impl TwoPasses {
    pub(super) fn new(gpu: &Gpu, [along_rows, down_columns]: [Direct; 2]) -> Result<Self> {
        let [_, sums] = along_rows.rule.kinds;
        let (along_rows, down_columns) = (along_rows.load(gpu)?, down_columns.load(gpu)?);
        Ok(TwoPasses { gpu: gpu.clone(), sums, along_rows, down_columns })
    }
}

impl Launches for TwoPasses {
    fn enqueue(&self, picture: &PictureProblem, samples: BufferRef<'_>, outputs: BufferMut<'_>) -> Result<()> {
        let [along, down] = picture.passes();
        let mut row_sums = AnyBuffer::unwritten(&self.gpu, self.sums, along.len()?)?;
        self.along_rows.enqueue(&along, samples, row_sums.as_mut())?;
        self.down_columns.enqueue(&down, row_sums.as_ref(), outputs)
    }

    fn plan(&self, picture: &PictureProblem) -> Vec<LaunchPlan> {
        let [along, down] = picture.passes();
        [self.along_rows.plan(&along), self.down_columns.plan(&down)].concat()
    }
}
