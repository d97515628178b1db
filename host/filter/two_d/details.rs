//! What plans say about filters of pictures.

use super::any_weights::AnyWeights;
use super::element::peak;
use super::facts::Facts;
use super::rule::FilterRule;
use super::window::PictureProblem;
use crate::filter1d::{self, Accuracy, Filter1dMethod, write_time};
use crate::plan::{Details, Planned};
use slm_kernels::signal::Kind;
use std::fmt;
use std::time::Duration;

/// Details of the [plan](crate::Plan) of a filter of pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Filtering {
    /// The method, which [`Filter2dAlgorithm::Auto`](super::Filter2dAlgorithm::Auto) has chosen for pictures of this shape, or the requested
    /// one.
    pub method: Filter2dMethod,
    /// Multiplications and additions for all outputs. Those of [`Lines`](Filter2dMethod::Lines) and [`Panels`](Filter2dMethod::Panels) are counted
    /// as [`filter1d::Filtering`](crate::filter1d::Filtering::operations) does. For other methods, a sum that is computed more than once counts
    /// once, and the first of two passes counts one sum for each output: with a stride it computes more. The sums of weights of
    /// [`NanPolicy::Renormalise`](super::NanPolicy::Renormalise) do not count.
    pub operations: u64,
    /// Time that an NVIDIA H200 takes for [`Lines`](Filter2dMethod::Lines) if the data are on it: that of the filters of lines, as
    /// [`filter1d::Filtering`](crate::filter1d::Filtering::predicted) has it, and of the transpositions and conversions around them. Nine of ten are
    /// within a fourth of what was measured. `None` on the CPU, and for other methods.
    pub predicted: Option<Duration>,
    /// Bound of the errors of sums, as far as nothing overflows or is below the smallest normal number. For
    /// [`NanPolicy::Renormalise`](super::NanPolicy::Renormalise), of each of the three sums. With transforms, the norm is that of all samples
    /// that take part: for [`Panels`](Filter2dMethod::Panels), those of the output's segment; for [`Lines`](Filter2dMethod::Lines), for each line
    /// whose sums are in the output's segments of the second pass, those of its segments of the first pass, as often as a boundary repeats the
    /// line. The [module](super) has the complete bounds.
    pub accuracy: Accuracy,
}

/// How the outputs of a filter of pictures are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Filter2dMethod {
    /// All products of an output are added up.
    Products,
    /// The weights are an outer product: products are added up along one axis, and then along the other one.
    Passes,
    /// The weights are equal: sums of samples that neighbouring outputs share, of segments or as running sums.
    Segments,
    /// The weights are an outer product: filters of lines, one after the other.
    Lines {
        /// Filter of the columns.
        down_columns: Filter1dMethod,
        /// Filter of the rows.
        along_rows: Filter1dMethod,
    },
    /// The weights are no outer product, on the CPU: [Fourier transforms](super#fourier-transforms) of panels, with their rows joined.
    Panels {
        /// Number of points of a transform.
        points: usize,
    },
}

/// Additions and multiplications of an output of equal weights: by segments, three sums along each axis, and the product. Running sums take
/// about as many.
const SEGMENTS: u64 = 7;

impl Filter2dMethod {
    /// Returns the operations of all outputs of a picture, for methods without filters of lines.
    fn operations(self, picture: &PictureProblem) -> u64 {
        let [rows, columns] = [picture.rows.taps, picture.columns.taps].map(|taps| taps as u64);
        let of_output = match self {
            Filter2dMethod::Products => rows.saturating_mul(columns).saturating_mul(2),
            Filter2dMethod::Passes => (rows + columns).saturating_mul(2),
            Filter2dMethod::Segments => SEGMENTS,
            Filter2dMethod::Lines { .. } | Filter2dMethod::Panels { .. } => {
                unreachable!("filters of lines count their own operations")
            }
        };
        (picture.output_rows() as u64).saturating_mul(picture.output_width() as u64).saturating_mul(of_output)
    }
}

/// What a filter does for a picture.
pub(super) struct PlannedPicture {
    pub(super) planned: Planned,
    method: Filter2dMethod,
    operations: u64,
    predicted: Option<Duration>,
    /// Accuracy of transforms.
    transformed: Option<Accuracy>,
}

impl PlannedPicture {
    /// Returns the plan of sums.
    pub(super) fn of_sums(planned: Planned, method: Filter2dMethod, picture: &PictureProblem) -> Self {
        PlannedPicture { planned, method, operations: method.operations(picture), predicted: None, transformed: None }
    }

    /// Returns the plan of filters of lines: down the columns, and along the rows.
    pub(super) fn of_lines(planned: Planned, [down, along]: [filter1d::Filtering; 2]) -> Self {
        let is_transformed = [down, along].iter().any(filter1d::Filtering::is_transformed);
        PlannedPicture {
            planned,
            method: Filter2dMethod::Lines { down_columns: down.method, along_rows: along.method },
            operations: down.operations.saturating_add(along.operations),
            predicted: None,
            transformed: is_transformed.then(|| after_each_other([down.accuracy, along.accuracy])),
        }
    }

    /// Returns the plan of transforms of panels.
    pub(super) fn of_panels(planned: Planned, lines: filter1d::Filtering) -> Self {
        let Filter1dMethod::Transforms { points } = lines.method else { unreachable!("panels are transformed") };
        let (method, transformed) = (Filter2dMethod::Panels { points }, Some(lines.accuracy));
        PlannedPicture { planned, method, operations: lines.operations, predicted: None, transformed }
    }

    /// Returns the same plan with this time.
    pub(super) fn with_time(self, predicted: Duration) -> Self {
        PlannedPicture { predicted: Some(predicted), ..self }
    }

    /// Returns the details, for a filter whose sums have this accuracy.
    pub(super) fn details(&self, of_sums: Accuracy) -> Filtering {
        let &PlannedPicture { method, operations, predicted, transformed, .. } = self;
        Filtering { method, operations, predicted, accuracy: transformed.unwrap_or(of_sums) }
    }
}

/// Returns the accuracy of both passes, with transforms in one or in both. The bound of sums holds with the norm, too: the products of an output
/// have at most the magnitude of the norm times that of the weights. Up to 8 roundings of the factors of dense weights, and the errors of the
/// second pass's samples, add less than 3 %.
fn after_each_other(filters: [Accuracy; 2]) -> Accuracy {
    let factors = filters.map(|accuracy| match accuracy {
        Accuracy::Exact => 0.0,
        Accuracy::PerOutput(factor) | Accuracy::PerSegment(factor) => factor,
    });
    Accuracy::PerSegment(1.03 * (factors[0] + factors[1]))
}

/// Returns the accuracy of the sums of a filter, by every algorithm. Those of outer products have the roundings of the products of both
/// factors, too.
pub(super) fn accuracy(facts: &Facts, rule: &FilterRule) -> Accuracy {
    let [rows, columns] = facts.shape();
    let of_products = if facts.product.is_some() { 16 } else { 0 };
    accuracy_of_sums(
        &facts.weights,
        rule.kinds[0],
        rule.divisor,
        rows.saturating_mul(columns).saturating_add(of_products),
    )
}

/// Returns the accuracy of sums of samples of a type with this number of roundings. With a divisor, sums of integers are exact up to
/// 2^53, and are divided once. Running sums of bytes are multiplied by a rounded inverse instead.
pub(super) fn accuracy_of_sums(
    weights: &AnyWeights,
    samples: Kind,
    divisor: Option<f64>,
    roundings: usize,
) -> Accuracy {
    let [rows, columns] = weights.shape().map(|taps| taps as u128);
    let is_exact = peak(samples).is_some_and(|peak| (rows * columns).saturating_mul(peak) <= 1 << 53);
    let roundings = match divisor {
        Some(_) if is_exact && samples == Kind::U8 => 2,
        Some(_) if is_exact => 1,
        Some(_) => roundings.saturating_add(1),
        None => roundings,
    };
    match weights {
        AnyWeights::I32(_) | AnyWeights::I64(_) => Accuracy::Exact,
        AnyWeights::F32(_) => Accuracy::of_sums::<f32>(roundings),
        AnyWeights::F64(_) => Accuracy::of_sums::<f64>(roundings),
    }
}

impl fmt::Display for Filter2dMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Filter2dMethod::Products => f.write_str("all products of an output"),
            Filter2dMethod::Passes => f.write_str("products along both axes of an outer product"),
            Filter2dMethod::Segments => f.write_str("sums of segments"),
            Filter2dMethod::Lines { down_columns, along_rows } => {
                write!(f, "lines: {down_columns} down the columns, {along_rows} along the rows")
            }
            Filter2dMethod::Panels { points } => {
                write!(f, "panels with their rows joined, by transforms of {points} points")
            }
        }
    }
}

impl Details for Filtering {
    fn write_lines(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Filtering { method, operations, predicted, accuracy } = self;
        write!(f, "\nmethod     {method}, {:.2e} operations", *operations as f64)?;
        write_time(f, *predicted)?;
        write!(f, "\nerrors     {accuracy}")
    }
}
