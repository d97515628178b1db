//! Filters whose weights are all equal: which filters they are, and their kernel on GPUs.

use super::accumulator::Accumulator;
use super::banded::{BandFilter, Banded};
use super::compiled::Floats;
use super::memory::Windowed;
use super::passes::Passes;
use super::rule::{Filter2d, Rule, no_kernel};
use super::sums::{Sums, with_sums};
use super::tuning::tuning;
use super::weights::{Values, Weights};
use super::window::Window;
use super::{Filter2dAlgorithm, Filter2dError};
use crate::info::SharedMemory;
use crate::kernel::Launch;
use crate::{Device, LaunchShape, Residency, Result, Windows};
use cuda_std::Entry;
use slm_kernels::filter2d::{
    Any, Axis, BandArgs, Bands, BoxArgs, Bytes, Mean, Memory, NoStrips, Problem, Strips, Typed, filter2d_box,
};
use slm_kernels::signal::Kind;

/// Minimum number of rows plus columns of a box that the CPU sums by segments. Smaller ones take less time as other separable
/// filters: 4096 x 4096 samples took 100 ms and 75 ms with 11 x 11 weights, 84 ms and 84 ms with 13 x 13, and 88 ms and 105 ms with
/// 15 x 15.
const LEAST_ON_CPU: usize = 26;

/// Returns whether the CPU should sum windows by segments.
pub(super) fn pays_on_cpu(sums: &Sums, window: &Window) -> bool {
    let [rows, columns] = with_sums!(sums, weights => weights.shape);
    rows + columns >= LEAST_ON_CPU && window.has_unit_steps() && is_uniform(sums)
}

/// Returns whether all weights are equal, and finite.
pub(super) fn is_uniform(sums: &Sums) -> bool {
    with_sums!(sums, weights => weights.common().is_some())
}

impl<A: Accumulator> Weights<A> {
    /// Returns the weight of all samples, if it is the same for all, and finite. An outer product has the same one as its dense form.
    pub(super) fn common(&self) -> Option<A> {
        let (weight, others) = match &self.values {
            Values::Dense(weights) => {
                let [least, most] = extremes(weights)?;
                (least, [most; 3])
            }
            Values::Separable { column, row } => {
                // All other products are between these.
                let ([c, d], [r, s]) = (extremes(column)?, extremes(row)?);
                let product = |c, r| A::multiply_add(A::ZERO, c, r);
                (product(c, r), [product(c, s), product(d, r), product(d, s)])
            }
        };
        // Zero times an infinity or a NaN is NaN.
        let is_finite = !A::multiply_add(A::ZERO, weight, A::ZERO).is_nan();
        (is_finite && others == [weight; 3]).then_some(weight)
    }
}

/// Returns the smallest and the largest one of some numbers, or `None` if one is NaN.
fn extremes<A: Accumulator>(numbers: &[A]) -> Option<[A; 2]> {
    let first = numbers.first().copied()?;
    numbers.iter().try_fold([first; 2], |[least, most], &number| {
        let is_nan = number.is_nan();
        (!is_nan).then(|| [if number < least { number } else { least }, if number > most { number } else { most }])
    })
}

/// Returns the filter if its weights are equal, the kernel supports it, and the algorithm allows it.
///
/// # Errors
///
/// If the algorithm requires the kernel:
///
/// * [`Filter2dError::NoKernel`] for steps other than 1, and if NaNs are missing samples.
/// * [`Filter2dError::UnequalWeights`]
/// * [`Filter2dError::BoxTooWide`] and [`Filter2dError::BoxTooHigh`] if the window is too large.
pub(super) fn prepare(
    device: &Device,
    shared: SharedMemory,
    sums: &Sums,
    rule: Rule,
) -> Result<Option<Box<dyn Filter2d>>> {
    let is_possible = rule.boxes && rule.window.has_unit_steps();
    match rule.algorithm {
        Filter2dAlgorithm::Auto if is_possible && is_large(shared, sums, &rule) => {}
        Filter2dAlgorithm::Box if is_possible => {}
        Filter2dAlgorithm::Box => return Err(no_kernel(sums, &rule).into()),
        _ => return Ok(None),
    }
    // Two passes take less time than narrow strips, but there are none for sums of `i64`.
    let takes_narrow = rule.algorithm == Filter2dAlgorithm::Box || matches!(sums, Sums::I64(_));
    match (sums, rule.kinds, rule.window.channels()) {
        (Sums::F32(weights), [Kind::U8, Kind::U8], 1) if rule.divisor.is_some() => {
            Boxes::<Mean<Typed<'static, Bytes>>>::find(device, shared, weights, rule, takes_narrow)
        }
        (Sums::F32(weights), ..) if rule.divisor.is_some() => {
            Boxes::<Mean<Any<'static, f32>>>::find(device, shared, weights, rule, takes_narrow)
        }
        (Sums::F64(weights), ..) if rule.divisor.is_some() => {
            Boxes::<Mean<Any<'static, f64>>>::find(device, shared, weights, rule, takes_narrow)
        }
        (Sums::F32(weights), [Kind::F32, Kind::F32], 1) => {
            Boxes::<Typed<'static, Floats>>::find(device, shared, weights, rule, takes_narrow)
        }
        (Sums::F32(weights), [Kind::U8, Kind::U8], 1) => {
            Boxes::<Typed<'static, Bytes>>::find(device, shared, weights, rule, takes_narrow)
        }
        _ => with_sums!(sums, weights => Boxes::<Any<'static, _>>::find(device, shared, weights, rule, takes_narrow)),
    }
}

/// Returns whether a box of this size takes less time by the kernel than by others.
fn is_large(shared: SharedMemory, sums: &Sums, rule: &Rule) -> bool {
    let [rows, columns] = with_sums!(sums, weights => weights.shape);
    let has_bands = matches!(sums, Sums::F32(_)) && rule.allows_bands();
    let least = if has_bands { tuning().least_box } else { tuning().least_box_of_others };
    // A segment takes as much time as if its rows were rounded up to whole batches.
    let batch = Strips::BATCH as usize;
    let batches = rows.div_ceil(batch).saturating_mul(batch);
    let is_large = rows.saturating_add(columns).saturating_mul(rows) >= batches.saturating_mul(least);
    let is_high = rows > columns.saturating_mul(2);
    rows > 1 && is_large && !(has_bands && is_high && Passes::is_possible(shared, [rows, columns]))
}

/// The kernel for windows of a size, with memory `M` of any launch.
struct Boxes<M: Memory> {
    loaded: Box<dyn for<'l> Launch<BoxArgs<M::At<'l>>>>,
    weight: M::Sum,
    strips: Strips,
}

impl<M: Memory + 'static> Boxes<M>
where
    for<'l> M::At<'l>: Windowed<'l>,
    filter2d_box<M>: for<'l> Entry<Args<'l> = BoxArgs<M::At<'l>>, Constants = ()>,
{
    /// Returns the filter if the weights are equal and the window fits into shared memory, in wide strips unless it `takes_narrow`
    /// ones.
    ///
    /// # Errors
    ///
    /// If not, and the algorithm requires the kernel.
    fn find(
        device: &Device,
        shared: SharedMemory,
        weights: &Weights<M::Sum>,
        rule: Rule,
        takes_narrow: bool,
    ) -> Result<Option<Box<dyn Filter2d>>>
    where
        M::Sum: Accumulator,
    {
        let is_required = rule.algorithm == Filter2dAlgorithm::Box;
        let problem = rule.without_outputs()?;
        let resident = |bytes| shared.resident_blocks(bytes);
        let strips = |problem: &Problem| Strips::new::<M>(problem, shared.max_per_block, resident);
        let (weight, strips) = match (weights.common(), strips(&problem)) {
            (Some(_), Ok(strips)) if !takes_narrow && !strips.is_wide(&problem) => return Ok(None),
            (Some(weight), Ok(strips)) => (weight, strips),
            _ if !is_required => return Ok(None),
            (None, _) => return Err(Filter2dError::UnequalWeights { weights: weights.shape }.into()),
            (_, Err(no_strips)) => {
                let ([rows, columns], channels) = (weights.shape, rule.window.channels());
                return Err(match no_strips {
                    NoStrips::TooWide { most } => Filter2dError::BoxTooWide { columns, channels, most: most as usize },
                    NoStrips::TooHigh => {
                        let most = most_rows(&problem, |problem| strips(problem).is_ok());
                        Filter2dError::BoxTooHigh { rows, columns, channels, most }
                    }
                }
                .into());
            }
        };
        let loaded = Box::new(device.own_kernel::<filter2d_box<M>>()?);
        let kernel = Boxes::<M> { loaded, weight, strips };
        Ok(Some(Box::new(BandFilter::new(device, shared, rule, kernel, "all weights are equal")?)))
    }
}

/// Returns the maximum number of rows of weights with which a problem fits. This one has too many.
fn most_rows(problem: &Problem, fits: impl Fn(&Problem) -> bool) -> usize {
    let with_rows = |taps| Problem { rows: Axis { taps, ..problem.rows }, ..*problem };
    let (mut most, mut too_many) = (0, problem.rows.taps);
    while most + 1 < too_many {
        let middle = most + (too_many - most) / 2;
        *(if fits(&with_rows(middle)) { &mut most } else { &mut too_many }) = middle;
    }
    most as usize
}

impl<M: Memory> Banded for Boxes<M>
where
    for<'l> M::At<'l>: Windowed<'l>,
{
    type Memory<'l> = M::At<'l>;

    const SUMS_SEGMENTS: bool = true;

    fn name(&self) -> &'static str {
        self.loaded.name()
    }

    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>> {
        self.loaded.residency(shape)
    }

    fn block(&self) -> LaunchShape {
        let bytes = self.strips.shared_bytes(Bands::TYPICAL);
        LaunchShape::new([1; 3], [self.strips.threads, 1, 1]).shared_bytes(bytes)
    }

    fn bands(&self, problem: &Problem, resident: u64) -> Bands {
        self.strips.bands(problem, resident)
    }

    fn launch(&self, windows: &Windows<'_, '_>, shape: LaunchShape, picture: BandArgs<M::At<'_>>) -> Result<()> {
        let args = BoxArgs { picture, weight: self.weight, channels: self.strips.channels };
        self.loaded.launch(windows, shape, args, &())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn common(column: Vec<f32>, row: Vec<f32>) -> Option<f32> {
        Weights::separable(Arc::new(column), Arc::new(row)).common()
    }

    #[test]
    fn products_that_are_all_equal() {
        assert_eq!(common(vec![2.0; 3], vec![-0.5; 4]), Some(-1.0));
        assert_eq!(common(vec![0.0, 0.0], vec![3.0, -7.0, 2.0]), Some(0.0));
        assert_eq!(common(vec![1.0, 2.0, 1.0], vec![1.0; 3]), None);
        assert_eq!(common(vec![1.0, -1.0], vec![1.0, -1.0]), None);
        for not_finite in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(common(vec![not_finite; 2], vec![1.0; 2]), None);
            assert_eq!(common(vec![0.0; 2], vec![1.0, not_finite, 2.0]), None);
        }
        // The products of all underflow, or overflow. Each with each would be 10^12 of them.
        let numbers = |unit: f32| (0..1_000_000).map(move |i| (1.0 + i as f32 / 1e6) * unit).collect();
        assert_eq!(common(numbers(1e-30), numbers(1e-30)), Some(0.0));
        assert_eq!(common(numbers(1e30), numbers(1e30)), None);
    }

    #[test]
    fn dense_weights_that_are_all_equal() {
        let common = |weights: Vec<f64>| Weights::dense([1, weights.len()], weights).common();
        assert_eq!(common(vec![0.25; 5]), Some(0.25));
        assert_eq!(common(vec![0.0, -0.0]), Some(0.0));
        assert_eq!([common(vec![1.0, 1.0, 2.0]), common(vec![1.0, f64::NAN])], [None, None]);
    }
}
