//! What an output may be: the exact sum, its documented bound, and the conversion to the type of the outputs.

use crate::filter1d::Real;
use crate::numbers::Kind;

/// What is stored for a sum of integers.
fn stored(sum: i128, output: Kind) -> f64 {
    match output.range() {
        Some([least, greatest]) => sum.clamp(least as i128, greatest as i128) as f64,
        // Rounded once.
        None if output == Kind::F32 => f64::from(sum as f32),
        None => sum as f64,
    }
}

/// A type of sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sums {
    Integer,
    F32,
    F64,
}

impl Sums {
    /// The unit roundoff and the smallest positive number.
    fn precision(self) -> [f64; 2] {
        match self {
            Sums::Integer => [0.0; 2],
            Sums::F32 => [(-24f64).exp2(), (-149f64).exp2()],
            Sums::F64 => [(-53f64).exp2(), f64::from_bits(1)],
        }
    }
}

/// An output before it is rounded.
#[derive(Clone, Copy, Debug)]
pub enum Expected {
    Integer(i128),
    Sum(Real),
    /// The sum of the products whose samples are present, the sum of their weights, and that of all weights.
    Renormalised {
        sum: Real,
        present: Real,
        total: Real,
        /// Whether the sum of the weights whose samples are present has no roundings.
        is_exact: bool,
    },
}

impl Expected {
    /// Whether `actual` is this output, stored as `output`; `count` is the `m` of the bound.
    pub fn agrees(&self, actual: f64, sums: Sums, output: Kind, count: usize) -> bool {
        match *self {
            Expected::Integer(sum) => actual == stored(sum, output),
            Expected::Sum(sum) => is_within(actual, sum, bound(&sum, sums, count), sums, output),
            Expected::Renormalised { present, is_exact: true, .. } if value(present) == 0.0 => {
                is_within(actual, Real { sum: f64::NAN, ..present }, 0.0, sums, output)
            }
            // A quotient by what may be nothing but roundings has no bound.
            Expected::Renormalised { present, is_exact: false, .. } if value(present) == 0.0 => true,
            Expected::Renormalised { sum, present, total, .. } => {
                let (value, error) = renormalised(sum, present, total, sums, count);
                is_within(actual, value, error, sums, output)
            }
        }
    }
}

/// `γ · Σ |w · x| + m · s`
fn bound(sum: &Real, sums: Sums, count: usize) -> f64 {
    let ([unit, smallest], count) = (sums.precision(), count as f64);
    let gamma = count * unit / (1.0 - count * unit);
    gamma * sum.magnitude + count * smallest
}

/// An infinity has no rest.
fn value(real: Real) -> f64 {
    if real.sum.is_finite() { real.sum + real.rest } else { real.sum }
}

/// The output, and the bound that follows from those of the three sums, and from the rounding of a quotient and a product.
fn renormalised(sum: Real, present: Real, total: Real, sums: Sums, count: usize) -> (Real, f64) {
    let [sum_error, present_error, total_error] = [sum, present, total].map(|sum| bound(&sum, sums, count));
    let [sum, present, total] = [sum, present, total].map(value);
    let (ratio, [unit, smallest]) = (total / present, sums.precision());
    let least = present.abs() - present_error;
    let ratio_error = if least > 0.0 {
        (total_error + ratio.abs() * present_error) / least + unit * ratio.abs()
    } else {
        f64::INFINITY
    };
    let output = sum * ratio;
    let error = (ratio.abs() + ratio_error) * sum_error + sum.abs() * ratio_error;
    // Twice what the product is rounded by: `output` is rounded as well.
    let error = error + 4.0 * unit * (output.abs() + error) + smallest;
    (Real { sum: output, rest: 0.0, magnitude: output.abs() }, error)
}

/// Whether `actual` is stored for some sum that is at most `error` from the exact one.
fn is_within(actual: f64, exact: Real, error: f64, sums: Sums, output: Kind) -> bool {
    if !exact.sum.is_finite() {
        let expected = output.stored(exact.sum);
        return actual == expected || (actual.is_nan() && expected.is_nan());
    }
    let is_near = ((actual - exact.sum) - exact.rest).abs() <= error;
    let [least, greatest] = [exact.rest - error, exact.rest + error].map(|rest| exact.sum + rest);
    let rounded = [least.next_down(), greatest.next_up()].map(|end| output.stored(end));
    // A sum of the outputs' own type, or of a narrower one, is not rounded again.
    let is_rounded = !matches!((sums, output), (_, Kind::F64) | (Sums::F32, Kind::F32));
    is_near || (is_rounded && (rounded[0]..=rounded[1]).contains(&actual))
}
