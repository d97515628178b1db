//! Functions of one number and of two.

use super::Number;
use crate::signal::numbered;
use cuda_std::math::{abs, max, min, sqrt};

numbered! {
    /// A function of a number `x` with two parameters `p` and `q`.
    pub enum Function in functions {
        /// `p · x + q`, rounded after each step.
        Affine = 0,
        /// `|x|`
        Abs = 1,
        /// `x²`
        Square = 2,
        /// `√x`
        Sqrt = 3,
        /// `p` below `p`, `q` above `q`, and `x` between them. NaN stays NaN.
        Clamp = 4,
    }
}

numbered! {
    /// A function of two numbers `a` and `b`.
    pub enum Combination in combinations {
        /// `a + b`
        Add = 0,
        /// `a - b`
        Sub = 1,
        /// `a · b`
        Mul = 2,
        /// `a / b`
        Div = 3,
        /// The smaller number; the other one if one is NaN.
        Min = 4,
        /// The larger number; the other one if one is NaN.
        Max = 5,
        /// `|a - b|`
        Difference = 6,
        /// `√(a² + b²)`, rounded after each step.
        Magnitude = 7,
    }
}

/// Returns the values of a [`Function`].
#[inline(always)]
#[must_use]
pub fn mapped<A: Number, const V: usize>(function: u32, x: [A; V], [p, q]: [A; 2]) -> [A; V] {
    match function {
        functions::Affine => x.map(|x| p * x + q),
        functions::Abs => x.map(abs),
        functions::Square => x.map(|x| x * x),
        functions::Sqrt => x.map(sqrt),
        _ => x.map(|x| clamped(x, p, q)),
    }
}

/// Comparisons with NaN are false, so NaN stays.
#[inline(always)]
fn clamped<A: Number>(x: A, lower: A, upper: A) -> A {
    let x = if x < lower { lower } else { x };
    if x > upper { upper } else { x }
}

/// Returns the values of a [`Combination`].
#[inline(always)]
#[must_use]
pub fn combined<A: Number, const V: usize>(combination: u32, a: [A; V], b: [A; V]) -> [A; V] {
    match combination {
        combinations::Add => zip(a, b, |a, b| a + b),
        combinations::Sub => zip(a, b, |a, b| a - b),
        combinations::Mul => zip(a, b, |a, b| a * b),
        combinations::Div => zip(a, b, |a, b| a / b),
        combinations::Min => zip(a, b, min),
        combinations::Max => zip(a, b, max),
        combinations::Difference => zip(a, b, |a, b| abs(a - b)),
        _ => zip(a, b, |a, b| sqrt(a * a + b * b)),
    }
}

#[inline(always)]
fn zip<A: Number, const V: usize>(a: [A; V], b: [A; V], f: impl Fn(A, A) -> A) -> [A; V] {
    core::array::from_fn(|i| f(a[i], b[i]))
}
