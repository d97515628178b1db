//! Numbers in the text of errors.

use std::fmt;

/// Displays the first number, without hundreds of digits. The second one is another number of the same element type. If both
/// are `f32`, a fraction has the digits that distinguish it from other `f32`: 0.1 instead of 0.10000000149011612.
pub(crate) struct Number(pub(crate) f64, pub(crate) f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Number(number, other) = self;
        let is_f32 = |x: f64| x.is_nan() || f64::from(x as f32) == x;
        let is_short = number == 0.0 || !number.is_finite() || (1e-5..1e16).contains(&number.abs());
        match (is_short, is_f32(number) && is_f32(other)) {
            // Whole numbers have all digits, even if fewer would distinguish them from other `f32`.
            (true, true) if number.fract() != 0.0 => write!(f, "{}", number as f32),
            (true, _) => write!(f, "{number}"),
            (false, true) => write!(f, "{:e}", number as f32),
            (false, false) => write!(f, "{number:e}"),
        }
    }
}

/// Displays a number of things, such as `1 row` or `3 rows`. The noun is in the singular.
pub(crate) struct Count(pub(crate) usize, pub(crate) &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Count(1, noun) => write!(f, "1 {noun}"),
            Count(count, "axis") => write!(f, "{count} axes"),
            Count(count, noun) => write!(f, "{count} {noun}s"),
        }
    }
}
