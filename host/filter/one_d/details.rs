//! What plans say about filters of lines.

use super::Lines;
use crate::plan::{Details, Planned};
use std::fmt;
use std::time::Duration;

/// A type of sums.
pub(crate) trait Rounding {
    /// Half the distance between 1 and the next number, or `None` for integers.
    const ROUNDOFF: Option<f64>;
}

impl Rounding for i32 {
    const ROUNDOFF: Option<f64> = None;
}

impl Rounding for f32 {
    const ROUNDOFF: Option<f64> = Some(f32::EPSILON as f64 / 2.0);
}

impl Rounding for f64 {
    const ROUNDOFF: Option<f64> = Some(f64::EPSILON / 2.0);
}

/// Details of the [plan](crate::Plan) of a filter of lines.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Filtering {
    /// The method, which [`Filter1dAlgorithm::Auto`](super::Filter1dAlgorithm::Auto) has chosen for lines of this shape, or the requested one.
    pub method: Filter1dMethod,
    /// Multiplications and additions that the method takes: those of bytes on tensor cores, of numbers otherwise. Sums by the kernels for
    /// pictures may take fewer.
    pub operations: u64,
    /// Time that an NVIDIA H200 takes if the data are on it, from measurements in `benches/record` of this crate's repository. `Auto` compares
    /// these times on every GPU. Most are within a fourth of what was measured. Down columns with more than about 500 taps they are wrong by a
    /// factor of up to three and a half. `None` on the CPU, and for what was not measured: strides, several channels, samples of another type
    /// than the taps, and the algorithms that `Auto` never takes.
    pub predicted: Option<Duration>,
    /// Bound of the errors.
    pub accuracy: Accuracy,
}

/// How the outputs of a filter of lines are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Filter1dMethod {
    /// Products of samples and taps, added up for each output.
    Sums,
    /// Products of bytes on tensor cores.
    TensorCores,
    /// [Fourier transforms](super#fourier-transforms) of segments.
    Transforms {
        /// Number of points of a transform.
        points: usize,
    },
}

/// Bound of the error of each output before its conversion, as far as nothing overflows or is below the smallest normal number. The
/// [module](super) has the complete bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Accuracy {
    /// Sums of integers have no error; those of `i32` wrap around.
    Exact,
    /// The error is at most this number times `Σ_j |w[j] · x[k]|`, the magnitudes of the output's own products. Infinite if
    /// there are so many taps that no bound holds.
    PerOutput(f64),
    /// The error is at most this number times `‖x‖ · Σ_j |w[j]|`, with the norm of all samples of the output's segments.
    PerSegment(f64),
}

impl Accuracy {
    /// Returns the accuracy of sums of a type with this number of roundings.
    pub(crate) fn of_sums<A: Rounding>(roundings: usize) -> Self {
        let Some(roundoff) = A::ROUNDOFF else { return Accuracy::Exact };
        let error = roundings as f64 * roundoff;
        Accuracy::PerOutput(if error > 0.5 { f64::INFINITY } else { error / (1.0 - error) })
    }

    /// Returns the accuracy of transforms of a type, with taps in this number of parts.
    pub(super) fn of_transforms<T: Rounding>(points: usize, parts: u32) -> Self {
        let Some(roundoff) = T::ROUNDOFF else { return Accuracy::Exact };
        let of_sums = if parts > 1 { 2.0 * f64::from(parts) } else { 0.0 };
        Accuracy::PerSegment(roundoff * (32.0 * (points as f64).log2() + of_sums))
    }
}

impl Filtering {
    /// Returns whether transforms filter the lines.
    pub(crate) fn is_transformed(&self) -> bool {
        matches!(self.method, Filter1dMethod::Transforms { .. })
    }
}

/// What a filter does for some lines.
pub(crate) struct PlannedLines {
    pub(crate) planned: Planned,
    pub(crate) details: Filtering,
}

impl PlannedLines {
    /// Returns the plan of sums with this number of taps.
    pub(super) fn of_sums(planned: Planned, lines: &Lines, taps: usize, accuracy: Accuracy) -> Self {
        let operations = products(lines, taps).saturating_mul(2);
        PlannedLines {
            planned,
            details: Filtering { method: Filter1dMethod::Sums, operations, predicted: None, accuracy },
        }
    }
}

/// Returns the number of products of all outputs.
pub(super) fn products(lines: &Lines, taps: usize) -> u64 {
    [lines.lines, lines.outputs, taps].iter().fold(1, |product: u64, &count| product.saturating_mul(count as u64))
}

/// Returns about the number of operations of transforms of this many complex points in all, forwards and backwards, and of the product with
/// the spectrum: `5 · log2(N)` for each point of a transform (Cooley and Tukey).
pub(super) fn operations_of_transforms(all: u64, points: usize) -> u64 {
    all.saturating_mul(10 * u64::from(points.ilog2()) + 6)
}

impl fmt::Display for Filter1dMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Filter1dMethod::Sums => f.write_str("sums of products"),
            Filter1dMethod::TensorCores => f.write_str("products of bytes on tensor cores"),
            Filter1dMethod::Transforms { points } => write!(f, "transforms of {points} points"),
        }
    }
}

impl fmt::Display for Accuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Accuracy::Exact => f.write_str("none"),
            Accuracy::PerOutput(factor) => write!(f, "at most {factor:.1e} of the magnitudes of the output's products"),
            Accuracy::PerSegment(factor) => {
                write!(f, "at most {factor:.1e} of the norm of a segment's samples times the magnitudes of the taps")
            }
        }
    }
}

/// Writes the line of a predicted time, if there is one.
pub(crate) fn write_time(f: &mut fmt::Formatter<'_>, predicted: Option<Duration>) -> fmt::Result {
    match predicted {
        Some(time) => write!(f, "\ntime       {:.0} us on an NVIDIA H200", time.as_secs_f64() * 1e6),
        None => Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracies_are_those_of_the_documentation() {
        assert_eq!(Accuracy::of_sums::<i32>(100), Accuracy::Exact);
        let error = 0.5f64.powi(23);
        assert_eq!(Accuracy::of_sums::<f32>(2), Accuracy::PerOutput(error / (1.0 - error)));
        assert_eq!(Accuracy::of_sums::<f32>(1 << 23), Accuracy::PerOutput(1.0));
        assert_eq!(Accuracy::of_sums::<f32>((1 << 23) + 1), Accuracy::PerOutput(f64::INFINITY));
        assert_eq!(Accuracy::of_transforms::<f64>(1024, 1), Accuracy::PerSegment(320.0 * 0.5f64.powi(53)));
        assert_eq!(Accuracy::of_transforms::<f64>(1024, 3), Accuracy::PerSegment(326.0 * 0.5f64.powi(53)));
    }
}
