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

use super::accumulator::Accumulator;
use super::correlation;
use super::element::{BufferMut, BufferRef, Scalar};
use super::rule::{Filter2d, Rule, no_kernel};
use super::sums::{Sums, with_sums};
use super::tuning::tuning;
use super::weights::{Values, Weights};
use super::{Filter2dAlgorithm, Plan, window};
use crate::any::AnyBuffer;
use crate::any::Erase;
use crate::info::SharedMemory;
use crate::{Device, Result};
use slm_kernels::signal::Kind;

/// Returns the filter if its weights are an outer product, there are kernels for it, and the algorithm allows it.
///
/// # Errors
///
/// If the algorithm requires an outer product:
///
/// * [`Filter2dError::NotSeparable`](super::Filter2dError::NotSeparable) for other weights.
/// * [`Filter2dError::NoKernel`](super::Filter2dError::NoKernel) if NaNs are missing samples, which need the weights of all of them,
///   and for sums of type `i64`, which no kernel stores.
pub(super) fn prepare(
    device: &Device,
    shared: SharedMemory,
    sums: &Sums,
    rule: Rule,
) -> Result<Option<Box<dyn Filter2d>>> {
    let is_allowed = match rule.algorithm {
        Filter2dAlgorithm::Separable => true,
        Filter2dAlgorithm::Auto => is_worthwhile(shared, sums, &rule),
        _ => false,
    };
    let passes = if is_allowed && !rule.renormalise { sums.clone().into_product().passes() } else { None };
    let outside = passes.as_ref().and_then(|[row, _]| row_sum(row, rule.outside));
    match (passes, outside) {
        (Some(passes), Some(outside)) => Ok(Some(Box::new(TwoPasses::new(device, shared, passes, outside, rule)?))),
        _ if rule.algorithm == Filter2dAlgorithm::Separable => Err(no_kernel(sums, &rule).into()),
        _ => Ok(None),
    }
}

/// Returns whether two passes take less time, by the number of products that they save.
fn is_worthwhile(shared: SharedMemory, sums: &Sums, rule: &Rule) -> bool {
    let tuning = tuning();
    let is_register_tiled = correlation::is_register_tiled(shared, sums, rule);
    let threshold = if is_register_tiled { tuning.over_register_tiled } else { tuning.over_others };
    threshold.is_reached(with_sums!(sums, weights => weights.shape), rule.window.rows.stride())
}

/// Returns the sum along a row of equal samples, or `None` if no kernel stores sums of its type.
fn row_sum(row: &Sums, sample: Scalar) -> Option<Scalar> {
    match row {
        Sums::I32(weights) => Some(weights.sum_of(sample).scalar()),
        Sums::I64(_) => None,
        Sums::F32(weights) => Some(weights.sum_of(sample).scalar()),
        Sums::F64(weights) => Some(weights.sum_of(sample).scalar()),
    }
}

impl<A: Accumulator> Weights<A> {
    /// Returns the sum of the products of dense weights and equal samples, rounded as the kernels add them.
    fn sum_of(&self, sample: Scalar) -> A {
        let Values::Dense(weights) = &self.values else { return A::ZERO };
        let sample = A::of_scalar(sample);
        weights.iter().fold(A::ZERO, |sum, &weight| sum.add_product(sample, weight))
    }
}

/// An outer product.
struct TwoPasses {
    device: Device,
    algorithm: Filter2dAlgorithm,
    reason: &'static str,
    /// Type of the row sums.
    sums: Kind,
    along_rows: Box<dyn Filter2d>,
    down_columns: Box<dyn Filter2d>,
}

impl TwoPasses {
    /// Returns the filter with these weights of a row and a column, and with this sum along rows outside.
    fn new(
        device: &Device,
        shared: SharedMemory,
        [row, column]: [Sums; 2],
        outside: Scalar,
        rule: Rule,
    ) -> Result<Self> {
        let (sums, [samples, outputs], [along, down]) = (outside.kind(), rule.kinds, rule.window.passes());
        let general = Rule { algorithm: Filter2dAlgorithm::Auto, ..rule };
        let along_rows = Rule { window: along, kinds: [samples, sums], divisor: None, ..general };
        let down_columns = Rule { window: down, kinds: [sums, outputs], outside, ..general };
        Ok(TwoPasses {
            device: device.clone(),
            algorithm: rule.algorithm,
            reason: match rule.algorithm {
                Filter2dAlgorithm::Separable => "requested",
                _ => "an outer product: along the rows, then down the columns",
            },
            sums,
            along_rows: correlation::prepare(device, shared, &row, along_rows)?,
            down_columns: correlation::prepare(device, shared, &column, down_columns)?,
        })
    }
}

impl Filter2d for TwoPasses {
    fn enqueue(&self, picture: &window::Problem, samples: BufferRef<'_>, outputs: BufferMut<'_>) -> Result<()> {
        let [along, down] = picture.passes();
        let mut row_sums = AnyBuffer::unwritten(&self.device, self.sums, along.len()?)?;
        self.along_rows.enqueue(&along, samples, row_sums.as_mut())?;
        self.down_columns.enqueue(&down, row_sums.as_ref(), outputs)
    }

    fn plan(&self, picture: &window::Problem) -> Plan {
        let [along, down] = picture.passes();
        let plan = Plan { algorithm: self.algorithm, ..self.down_columns.plan(&down) };
        if plan.launches.is_empty() {
            return plan;
        }
        let along = self.along_rows.plan(&along);
        let kernel =
            if along.kernel == plan.kernel { along.kernel } else { format!("{}, {}", along.kernel, plan.kernel) };
        let launches = [along.launches, plan.launches].concat();
        Plan { kernel, reason: self.reason.to_owned(), launches, ..plan }
    }
}
