//! The choice of the kernels, as a plain value. Only between line passes and the others, the width of a picture decides (`time.rs`).
//!
//! ```text
//! Auto:  all weights equal, and enough of them: pixels of 4 bytes -> Running
//!                                               others -----------> Segments
//!        an outer product, one channel of f32 -------------------> Passes
//!        a size that a kernel is compiled for -------------------> Streaming
//!        an outer product, and enough weights -------------------> TwoPasses
//!        anything else ------------------------------------------> Direct
//!        an outer product, and more weights --- instead of these -> LinePasses
//! ```
//!
//! A requested algorithm takes its own kernels, or is an error that tells why there are none.

use super::any_weights::{AnyWeights, with_weights};
use super::details::Filter2dMethod;
use super::element::Scalar;
use super::facts::Facts;
use super::gpu::{DirectSum, Fitting, RunningKernel, SegmentKernel, Streaming, StreamingTypes};
use super::mean::Added;
use super::rule::FilterRule;
use super::tuning::{Threshold, tuning};
use super::weights::Weights;
use super::{Filter2dAlgorithm, Filter2dError, Unsupported};
use crate::device::info::SharedMemory;
use crate::filter1d::ErrorBound;
use crate::{Error, Result};
use slm_kernels::filter2d::{Axis, DirectKernel, Filter2dProblem, Geometry, NoStrips, Strips, table_shape};
use slm_kernels::signal::Kind;
use std::cmp::Reverse;
use std::sync::Arc;

/// How a GPU filters: the kernels, and what their launches need.
#[derive(Clone, Debug)]
pub(super) enum Choice {
    /// Sums of segments of samples, times the weight that all of them have in common.
    Segments(SegmentKernel, Strips),
    /// Running sums of samples, times the weight that all of them have in common, for pixels of four bytes.
    Running(RunningKernel),
    /// Both passes of an outer product in one launch, with the column and the row.
    Passes(Fitting, [Arc<Vec<f32>>; 2]),
    /// A kernel that is compiled for the size of the weights.
    Streaming(Streaming),
    /// One launch along the rows, and one down the columns.
    TwoPasses(Box<[Direct; 2]>),
    /// All products of an output at once.
    Direct(Direct),
}

impl Choice {
    pub(super) fn method(&self) -> Filter2dMethod {
        match self {
            Choice::Segments(..) | Choice::Running(_) => Filter2dMethod::Segments,
            Choice::Passes(..) | Choice::TwoPasses(_) | Choice::Streaming(Streaming::PixelProduct(..)) => {
                Filter2dMethod::Passes
            }
            Choice::Streaming(_) | Choice::Direct(_) => Filter2dMethod::Products,
        }
    }
}

/// A kernel that takes any weights, and its filter.
#[derive(Clone, Debug)]
pub(super) struct Direct {
    pub(super) kernel: DirectKernel,
    pub(super) weights: AnyWeights,
    pub(super) rule: FilterRule,
}

/// A choice, and the reason for it.
#[derive(Clone, Debug)]
pub(super) struct Decision {
    pub(super) choice: Choice,
    pub(super) reason: &'static str,
    /// What may take less time, depending on the width of a picture (`time.rs`).
    pub(super) line_passes: Option<LinePasses>,
}

/// Filters of lines for an outer product: down the columns, then along the rows.
#[derive(Clone, Debug)]
pub(super) struct LinePasses {
    /// The outer product.
    pub(super) product: AnyWeights,
    /// Type of the sums.
    pub(super) sums: Kind,
    pub(super) rule: FilterRule,
    /// Whether the other kernel makes both passes in one launch.
    pub(super) competes_with_one_launch: bool,
}

impl Decision {
    fn new(choice: Choice, reason: &'static str) -> Self {
        Decision { choice, reason, line_passes: None }
    }
}

/// Returns the kernels for a filter on a GPU with this shared memory.
///
/// # Errors
///
/// If the algorithm that the rule requires has no kernel for the filter, or if its kernel does not fit into shared memory.
pub(super) fn choose(facts: &Facts, rule: &FilterRule, shared: SharedMemory) -> Result<Decision> {
    let candidates = Candidates { facts, rule, shared };
    let choice = match rule.algorithm {
        Filter2dAlgorithm::Auto => {
            let best = candidates.best()?;
            return Ok(Decision { line_passes: candidates.line_passes(&best.choice), ..best });
        }
        Filter2dAlgorithm::GlobalMemory => candidates.direct(DirectKernel::Global),
        Filter2dAlgorithm::SharedTile => candidates.direct(candidates.tile()?),
        Filter2dAlgorithm::RegisterTiled => candidates.direct(candidates.register_tile()?),
        Filter2dAlgorithm::Streaming => candidates.required_streaming()?,
        Filter2dAlgorithm::Separable => candidates.required_product()?,
        Filter2dAlgorithm::Box => candidates.required_box()?,
    };
    Ok(Decision::new(choice, "requested"))
}

/// A filter, and the kernels that it might take.
#[derive(Clone, Copy)]
struct Candidates<'a> {
    facts: &'a Facts,
    rule: &'a FilterRule,
    shared: SharedMemory,
}

impl Candidates<'_> {
    /// Returns the kernels that take the least time.
    fn best(&self) -> Result<Decision> {
        if let Some(choice) = self.worthwhile_box()? {
            return Ok(Decision::new(choice, "all weights are equal"));
        }
        // A single row or column is a product whose other factor costs nothing.
        let is_line = self.facts.shape().contains(&1);
        let product = if is_line { self.facts.product.as_ref() } else { self.facts.shorter_product() };
        // Two passes take less time than sums in registers, and than kernels for all weights at once (`benches/RESULTS.md`).
        if let Some(choice) = self.one_launch(product) {
            return Ok(Decision::new(choice, "an outer product"));
        }
        if let Some(streaming) = self.streaming() {
            let reason = "weights of a size that the kernel is compiled for";
            return Ok(Decision::new(Choice::Streaming(streaming), reason));
        }
        let (kernel, reason) = self.best_direct()?;
        if threshold(kernel).is_reached(self.shape(), self.rule.window.rows.stride())
            && let Some(choice) = self.two_passes()?
        {
            return Ok(Decision::new(choice, "an outer product: along the rows, then down the columns"));
        }
        Ok(Decision::new(self.direct(kernel), reason))
    }

    fn shape(&self) -> [usize; 2] {
        self.facts.shape()
    }
}

/// Equal weights.
impl Candidates<'_> {
    /// Returns sums of boxes if they take less time than other kernels.
    fn worthwhile_box(&self) -> Result<Option<Choice>> {
        let FilterRule { boxes, window, .. } = self.rule;
        if !(*boxes && window.has_unit_steps() && self.facts.are_equal) {
            return Ok(None);
        }
        match self.running_kernel() {
            Some(kernel) => Ok((self.shape() != tuning().not_running).then_some(Choice::Running(kernel))),
            None => self.worthwhile_segments(),
        }
    }

    /// Returns sums of segments if they take less time than other kernels.
    fn worthwhile_segments(&self) -> Result<Option<Choice>> {
        if !self.has_large_windows() {
            return Ok(None);
        }
        let (problem, kernel) = (self.rule.without_outputs()?, self.segment_kernel());
        // Two passes take less time than narrow strips, but there are none for sums of `i64`.
        let takes_narrow = matches!(self.facts.weights, AnyWeights::I64(_));
        let strips = kernel.strips(&problem, self.shared).ok();
        let strips = strips.filter(|strips| takes_narrow || strips.is_wide(&problem));
        Ok(strips.map(|strips| Choice::Segments(kernel, strips)))
    }

    /// Returns whether sums of segments take less time than other kernels if they fit.
    fn has_large_windows(&self) -> bool {
        let [rows, columns] = self.shape();
        let least = if self.is_plain_float() { tuning().least_box } else { tuning().least_box_of_others };
        // A segment takes as much time as if its rows were rounded up to whole batches.
        let batch = Strips::BATCH as usize;
        let batches = rows.div_ceil(batch).saturating_mul(batch);
        let are_large = rows.saturating_add(columns).saturating_mul(rows) >= batches.saturating_mul(least);
        let are_high = rows > columns.saturating_mul(2);
        rows > 1 && are_large && !(are_high && self.passes_fitting().is_some())
    }

    fn running_kernel(&self) -> Option<RunningKernel> {
        RunningKernel::new(&self.facts.weights, self.rule)
    }

    fn segment_kernel(&self) -> SegmentKernel {
        SegmentKernel::new(&self.facts.weights, self.rule)
    }

    fn required_box(&self) -> Result<Choice> {
        self.check_unit_steps()?;
        self.check_nans()?;
        let ([rows, columns], channels) = (self.shape(), self.rule.window.channels());
        if !self.facts.are_equal {
            return Err(Filter2dError::UnequalWeights { weights: [rows, columns] }.into());
        }
        if let Some(kernel) = self.running_kernel() {
            return Ok(Choice::Running(kernel));
        }
        let (problem, kernel) = (self.rule.without_outputs()?, self.segment_kernel());
        let error = match kernel.strips(&problem, self.shared) {
            Ok(strips) => return Ok(Choice::Segments(kernel, strips)),
            Err(NoStrips::TooWide { most }) => Filter2dError::BoxTooWide { columns, channels, most: most as usize },
            Err(NoStrips::TooHigh) => {
                let most = most_rows(&problem, |problem| kernel.strips(problem, self.shared).is_ok());
                let most = most.max(RunningKernel::most_rows(&self.facts.weights, self.rule));
                Filter2dError::BoxTooHigh { rows, columns, channels, most }
            }
        };
        Err(error.into())
    }
}

/// Returns the maximum number of rows of weights with which a problem fits. This one has too many.
fn most_rows(problem: &Filter2dProblem, fits: impl Fn(&Filter2dProblem) -> bool) -> usize {
    let with_rows = |taps| Filter2dProblem { rows: Axis { taps, ..problem.rows }, ..*problem };
    let (mut most, mut too_many) = (0, problem.rows.taps);
    while most + 1 < too_many {
        let middle = most + (too_many - most) / 2;
        *(if fits(&with_rows(middle)) { &mut most } else { &mut too_many }) = middle;
    }
    most as usize
}

/// Outer products, and sizes that kernels are compiled for.
impl Candidates<'_> {
    /// Returns the types of the kernels that go down bands of rows, if the filter has them. None of them divides sums.
    fn streaming_types(&self) -> Option<StreamingTypes> {
        let &FilterRule { window, renormalise, divisor, .. } = self.rule;
        let is_plain = window.has_unit_steps() && !renormalise && divisor.is_none();
        let has_float_sums = matches!(self.facts.weights, AnyWeights::F32(_));
        StreamingTypes::of(self.rule).filter(|_| is_plain && has_float_sums)
    }

    /// Returns whether samples and outputs are one channel of `f32`, for a kernel that goes down bands of rows.
    fn is_plain_float(&self) -> bool {
        self.streaming_types() == Some(StreamingTypes::Floats)
    }

    /// Returns how the kernel for outer products of `f32` fits, if it takes products of this shape.
    fn passes_fitting(&self) -> Option<Fitting> {
        if self.is_plain_float() { Fitting::find(self.shared, self.shape()) } else { None }
    }

    /// Returns one launch for both passes of a product, if there is a kernel.
    fn one_launch(&self, product: Option<&AnyWeights>) -> Option<Choice> {
        let Some(AnyWeights::F32(product)) = product else { return None };
        let factors = product.factors()?;
        match self.passes_fitting() {
            Some(fitting) => Some(Choice::Passes(fitting, factors)),
            None => Streaming::product(self.streaming_types()?, factors).map(Choice::Streaming),
        }
    }

    /// Returns the kernel that is compiled for any weights of this size, if there is one.
    fn streaming(&self) -> Option<Streaming> {
        let AnyWeights::F32(weights) = &self.facts.weights else { return None };
        Streaming::dense(self.streaming_types()?, weights)
    }

    fn required_streaming(&self) -> Result<Choice> {
        self.check_unit_steps()?;
        self.check_nans()?;
        let unsupported = match (self.streaming(), self.streaming_types()) {
            (Some(streaming), _) => return Ok(Choice::Streaming(streaming)),
            (None, Some(types)) => Unsupported::Weights { actual: self.shape(), sizes: types.sizes() },
            (None, None) => self.types("samples and outputs of f32 in one channel or of u8 in four, and sums of f32"),
        };
        Err(self.no_kernel(unsupported))
    }

    fn required_product(&self) -> Result<Choice> {
        let Some(product) = &self.facts.product else {
            return Err(Filter2dError::NotSeparable { weights: self.shape() }.into());
        };
        self.check_nans()?;
        match self.one_launch(Some(product)) {
            Some(choice) => Ok(choice),
            None => self.two_passes()?.ok_or_else(|| self.no_kernel(self.types("sums of i32, f32 or f64"))),
        }
    }

    /// Returns a launch for each pass of an outer product, or `None` if there are no kernels for them.
    fn two_passes(&self) -> Result<Option<Choice>> {
        let product = self.facts.product.as_ref().filter(|_| !self.rule.renormalise);
        let Some([row, column]) = product.and_then(AnyWeights::passes) else { return Ok(None) };
        let Some(outside) = row_sum(&row, self.rule.outside) else { return Ok(None) };
        let (general, [along, down]) =
            (FilterRule { algorithm: Filter2dAlgorithm::Auto, ..*self.rule }, self.rule.window.passes());
        let [samples, outputs] = self.rule.kinds;
        let along_rows = FilterRule { window: along, kinds: [samples, outside.kind()], divisor: None, ..general };
        let down_columns = FilterRule { window: down, kinds: [outside.kind(), outputs], outside, ..general };
        let direct = |weights, rule| -> Result<Direct> {
            let (kernel, _) = best_direct(&weights, &rule, self.shared)?;
            Ok(Direct { kernel, weights, rule })
        };
        Ok(Some(Choice::TwoPasses(Box::new([direct(row, along_rows)?, direct(column, down_columns)?]))))
    }
}

/// Filters of lines.
impl Candidates<'_> {
    /// Returns filters of lines that compute what these kernels compute.
    fn line_passes(&self, choice: &Choice) -> Option<LinePasses> {
        let is_best = match choice {
            Choice::Segments(..) | Choice::Running(_) => true,
            // One launch makes a single pass of it.
            Choice::Passes(..) => self.shape().contains(&1),
            _ => false,
        };
        let product = self.facts.product.as_ref().filter(|_| !is_best && may_be_lines(self.facts, self.rule));
        product.and_then(|product| {
            Some(LinePasses {
                product: product.clone(),
                sums: product.kind_of_lines()?,
                rule: *self.rule,
                competes_with_one_launch: matches!(choice, Choice::Passes(..)),
            })
        })
    }
}

/// Returns the number of products from which on two launches take less time than one of this kernel.
fn threshold(kernel: DirectKernel) -> Threshold {
    match kernel {
        DirectKernel::Register { .. } => tuning().over_register_tiled,
        DirectKernel::Tile | DirectKernel::Global => tuning().over_others,
    }
}

/// Returns how devices add the products of a Gaussian of this shape, before weights that meet the same samples are added up.
///
/// Fewer weights may be added at once. A Gaussian of 125 x 125 weights for `i16` is in passes, and in a picture of 2 rows it becomes
/// 4 x 125 weights, which are added at once. The bound of their error exceeds half an output. The greatest error in a simulation with
/// 4 and 5 rows was 0.06.
pub(super) fn added(algorithm: Filter2dAlgorithm, shape: [usize; 2], row_stride: usize) -> Added {
    // The kernel that takes all weights at once depends on the device.
    let thresholds = [tuning().over_register_tiled, tuning().over_others];
    let is_worth_two_passes = thresholds.iter().all(|threshold| threshold.is_reached(shape, row_stride));
    match algorithm {
        Filter2dAlgorithm::Separable => Added::InPasses,
        Filter2dAlgorithm::Auto | Filter2dAlgorithm::Box if is_worth_two_passes => Added::InPasses,
        _ => Added::AtOnce,
    }
}

/// Returns the sum along a row of equal samples, rounded as the kernels add them, or `None` if no kernel stores sums of its type.
fn row_sum(row: &AnyWeights, sample: Scalar) -> Option<Scalar> {
    match row {
        AnyWeights::I32(weights) => Some(Scalar::I32(weights.fused_sum_of(sample))),
        AnyWeights::I64(_) => None,
        AnyWeights::F32(weights) => Some(Scalar::F32(weights.fused_sum_of(sample))),
        AnyWeights::F64(weights) => Some(Scalar::F64(weights.fused_sum_of(sample))),
    }
}

/// Kernels that take any weights.
impl Candidates<'_> {
    fn direct(&self, kernel: DirectKernel) -> Choice {
        let &Candidates { facts: Facts { weights, .. }, rule, .. } = self;
        Choice::Direct(Direct { kernel, weights: weights.clone(), rule: *rule })
    }

    fn best_direct(&self) -> Result<(DirectKernel, &'static str)> {
        best_direct(&self.facts.weights, self.rule, self.shared)
    }

    fn tile(&self) -> Result<DirectKernel> {
        with_weights!(&self.facts.weights, weights => tile(weights, self.rule, self.shared))
    }

    fn register_tile(&self) -> Result<DirectKernel> {
        with_weights!(&self.facts.weights, weights => register_tile(weights, self.rule, self.shared))
    }
}

/// Returns the kernel that takes the least time among those for any weights, and the reason for it.
fn best_direct(any: &AnyWeights, rule: &FilterRule, shared: SharedMemory) -> Result<(DirectKernel, &'static str)> {
    // A block needs the same shared memory for pictures of any size.
    let register = with_weights!(any, weights => register_tile(weights, rule, shared));
    let tile = with_weights!(any, weights => tile(weights, rule, shared));
    Ok(match (register, tile) {
        (Ok(kernel), _) => (kernel, "the filter allows register tiles"),
        (Err(Error::SharedMemoryExceeded { .. }), Ok(kernel)) => {
            (kernel, "a register tile does not fit into shared memory")
        }
        (Err(_), Ok(kernel)) => (kernel, "the filter does not allow register tiles"),
        (_, Err(Error::SharedMemoryExceeded { .. })) => {
            (DirectKernel::Global, "a tile does not fit into shared memory")
        }
        (_, Err(error)) => return Err(error),
    })
}

/// Returns the kernel of tiles.
fn tile<A: DirectSum>(_: &Weights<A>, rule: &FilterRule, shared: SharedMemory) -> Result<DirectKernel> {
    fitting::<A>(DirectKernel::Tile, &rule.without_outputs()?, shared)
}

/// Returns the register-tiled kernel with the best height.
fn register_tile<A: DirectSum>(_: &Weights<A>, rule: &FilterRule, shared: SharedMemory) -> Result<DirectKernel> {
    let &FilterRule { window, renormalise, .. } = rule;
    let (strides, dilation) = (window.strides(), window.columns.dilation());
    if strides != [1, 1] || dilation != 1 || renormalise {
        return Err(Filter2dError::RegisterTiled { strides, dilation, renormalise }.into());
    }
    let problem = rule.without_outputs()?;
    fitting::<A>(highest_occupancy::<A>(shared, &problem), &problem, shared)
}

/// Returns the kernel if a block of it fits into shared memory.
fn fitting<A: DirectSum>(
    kernel: DirectKernel,
    problem: &Filter2dProblem,
    shared: SharedMemory,
) -> Result<DirectKernel> {
    shared.check(A::kernel_name(kernel), Geometry::new::<A>(kernel, problem).shared_bytes).map(|()| kernel)
}

/// Returns the register-tiled kernel with the height at which a multiprocessor holds most warps. If heights are equal in that,
/// the first of [`HEIGHTS`](DirectKernel::HEIGHTS) is taken, because more blocks do different things at the same time. But if some rows
/// of weights are not kernel parameters, the greatest one is taken: probably the instruction cache holds the code for both kinds
/// of rows only if most warps run the same part of it (`benches/RESULTS.md` has the times). If there is room for no block, the last
/// height says how much the lowest block needs.
fn highest_occupancy<A: DirectSum>(shared: SharedMemory, problem: &Filter2dProblem) -> DirectKernel {
    let warps = |height: u32| {
        let bytes = Geometry::new::<A>(DirectKernel::Register { height }, problem).shared_bytes;
        let height = u64::from(height);
        shared.resident_blocks(bytes).min(DirectKernel::MOST_WARPS / height) * height
    };
    let [table_rows, _] = table_shape::<A>([problem.rows.taps, problem.columns.taps]);
    let rank = |height: u32| if table_rows < problem.rows.taps { height } else { 0 };
    let [.., lowest] = DirectKernel::HEIGHTS;
    let fitting = DirectKernel::HEIGHTS.into_iter().filter(|&height| warps(height) > 0);
    let height = fitting.min_by_key(|&height| Reverse((warps(height), rank(height)))).unwrap_or(lowest);
    DirectKernel::Register { height }
}

/// Why a required algorithm has no kernel.
impl Candidates<'_> {
    fn no_kernel(&self, unsupported: Unsupported) -> Error {
        Filter2dError::NoKernel { algorithm: self.rule.algorithm, unsupported }.into()
    }

    fn check_unit_steps(&self) -> Result<()> {
        let [strides, dilations] = [self.rule.window.strides(), self.rule.window.dilations()];
        match [strides, dilations] {
            [[1, 1], [1, 1]] => Ok(()),
            [[1, 1], _] => Err(self.no_kernel(Unsupported::Dilations(dilations))),
            _ => Err(self.no_kernel(Unsupported::Strides(strides))),
        }
    }

    fn check_nans(&self) -> Result<()> {
        if self.rule.renormalise { Err(self.no_kernel(Unsupported::MissingSamples)) } else { Ok(()) }
    }

    fn types(&self, needed: &'static str) -> Unsupported {
        let FilterRule { kinds: [samples, outputs], weights, window, .. } = self.rule;
        let types = [samples.name(), weights, self.facts.weights.name(), outputs.name()];
        Unsupported::Types { types: Box::new(types), channels: window.channels(), needed }
    }
}

/// How the CPU filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CpuChoice {
    /// Sums of segments of samples, times the weight that all of them have in common.
    Segments,
    /// An outer product by transforms of lines: along the rows, then down the columns.
    Transforms,
    /// An outer product: down the columns, then along the rows.
    Product,
    /// By transforms of panels for pictures where that takes less time than all products at once; otherwise by these.
    Panels,
    /// All products of an output at once.
    Dense,
}

/// Minimum number of rows plus columns of a box that the CPU sums by segments. Smaller ones take less time as other separable
/// filters (`benches/RESULTS.md`).
const LEAST_ON_CPU: usize = 26;

/// Minimum number of weights along an axis that the CPU transforms lines for, and along the other one unless it is 1
/// (`benches/RESULTS.md`).
const LEAST_TRANSFORMED: usize = 192;
const LEAST_BESIDE: usize = 96;

/// Returns whether transforms of lines take less time than sums on the CPU.
fn are_many(shape: [usize; 2]) -> bool {
    shape.into_iter().max() >= Some(LEAST_TRANSFORMED) && shape.iter().all(|&taps| taps == 1 || taps >= LEAST_BESIDE)
}

/// Returns whether a request leaves the algorithm open, and has neither steps, nor missing samples, nor a divisor.
fn is_plain(rule: &FilterRule) -> bool {
    let is_open = rule.algorithm == Filter2dAlgorithm::Auto;
    is_open && !rule.renormalise && rule.window.has_unit_steps() && rule.divisor.is_none()
}

/// Returns whether filters of lines along both axes can compute a filter, and are not ruled out by the request.
fn may_be_lines(facts: &Facts, rule: &FilterRule) -> bool {
    is_plain(rule) && facts.product.is_some()
}

/// Returns whether the request and the error bound allow transforms.
fn may_be_transformed(facts: &Facts, rule: &FilterRule) -> bool {
    let has_floats = matches!(facts.weights, AnyWeights::F32(_) | AnyWeights::F64(_));
    rule.bound == ErrorBound::PerSegment && has_floats && is_plain(rule)
}

/// Returns how the CPU computes a filter.
pub(super) fn choose_on_cpu(facts: &Facts, rule: &FilterRule) -> CpuChoice {
    let [rows, columns] = facts.shape();
    let is_large = rows.saturating_add(columns) >= LEAST_ON_CPU;
    if rule.boxes && facts.are_equal && is_large && rule.window.has_unit_steps() {
        CpuChoice::Segments
    } else if may_be_transformed(facts, rule) && facts.product.is_some() && are_many([rows, columns]) {
        CpuChoice::Transforms
    } else if !rule.renormalise && facts.shorter_product().is_some() {
        CpuChoice::Product
    } else if may_be_transformed(facts, rule) && facts.product.is_none() {
        CpuChoice::Panels
    } else {
        CpuChoice::Dense
    }
}

#[cfg(test)]
mod tests;
