//! Functions of one number and of two.

use super::Number;
use cuda_std::math::{abs, max, min, sqrt};

/// A function of a number `x` with two parameters `p` and `q`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Function {
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

/// A function of two numbers `a` and `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Combination {
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

// Patterns cannot contain casts.
const AFFINE: u32 = Function::Affine as u32;
const ABS: u32 = Function::Abs as u32;
const SQUARE: u32 = Function::Square as u32;
const SQRT: u32 = Function::Sqrt as u32;
const ADD: u32 = Combination::Add as u32;
const SUB: u32 = Combination::Sub as u32;
const MUL: u32 = Combination::Mul as u32;
const DIV: u32 = Combination::Div as u32;
const MIN: u32 = Combination::Min as u32;
const MAX: u32 = Combination::Max as u32;
const DIFFERENCE: u32 = Combination::Difference as u32;

/// Returns the values of a [`Function`].
#[inline(always)]
#[must_use]
pub fn mapped<A: Number, const V: usize>(function: u32, x: [A; V], [p, q]: [A; 2]) -> [A; V] {
    match function {
        AFFINE => x.map(|x| p * x + q),
        ABS => x.map(abs),
        SQUARE => x.map(|x| x * x),
        SQRT => x.map(sqrt),
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
        ADD => zip(a, b, |a, b| a + b),
        SUB => zip(a, b, |a, b| a - b),
        MUL => zip(a, b, |a, b| a * b),
        DIV => zip(a, b, |a, b| a / b),
        MIN => zip(a, b, min),
        MAX => zip(a, b, max),
        DIFFERENCE => zip(a, b, |a, b| abs(a - b)),
        _ => zip(a, b, |a, b| sqrt(a * a + b * b)),
    }
}

#[inline(always)]
fn zip<A: Number, const V: usize>(a: [A; V], b: [A; V], f: impl Fn(A, A) -> A) -> [A; V] {
    core::array::from_fn(|i| f(a[i], b[i]))
}
