//! Logarithmic axes.

use std::ops::Range;

#[derive(Debug, PartialEq)]
pub(super) struct Axis {
    /// With the unit.
    pub(super) label: String,
    /// Of the logarithm: labels are at its powers.
    pub(super) base: u32,
}

impl Axis {
    pub(super) fn new(label: &str, base: u32) -> Self {
        Axis { label: label.to_owned(), base }
    }

    /// Returns the range from power to power that contains all numbers, which are positive.
    pub(super) fn range(&self, numbers: impl Iterator<Item = f64> + Clone) -> Range<f64> {
        let base = f64::from(self.base);
        let least = numbers.clone().fold(f64::INFINITY, f64::min);
        let greatest = numbers.fold(0.0, f64::max);
        let mut exponent = least.log(base).floor() as i32;
        let start = base.powi(exponent);
        exponent += 1;
        while base.powi(exponent) < greatest {
            exponent += 1;
        }
        start..base.powi(exponent)
    }

    /// Returns the label of a power: its digits, or with its exponent if they were many.
    pub(super) fn tick(&self, power: f64) -> String {
        if (1.0..1e5).contains(&power) {
            return grouped(power.round() as u64);
        }
        let exponent = power.log(f64::from(self.base)).round() as i32;
        format!("{}{}", self.base, superscript(exponent))
    }
}

/// Returns a number of elements: a power of two with its exponent, another number with its digits.
pub(super) fn count(number: u64) -> String {
    if number > 1 << 16 && number.is_power_of_two() {
        return format!("2{}", superscript(number.ilog2() as i32));
    }
    grouped(number)
}

/// Returns a number in groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let is_start = |i: usize| i > 0 && (digits.len() - i).is_multiple_of(3);
    digits.chars().enumerate().flat_map(|(i, digit)| is_start(i).then_some(',').into_iter().chain([digit])).collect()
}

fn superscript(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = |c: char| c.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]);
    exponent.to_string().chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_end_at_powers() {
        let range = |base, numbers: &[f64]| Axis::new("", base).range(numbers.iter().copied());
        assert_eq!(range(10, &[30.0, 12.0, 4000.0]), 10.0..10_000.0);
        assert_eq!(range(10, &[1.0, 1000.0]), 1.0..1000.0);
        assert_eq!(range(10, &[0.5]), 0.1..1.0);
        assert_eq!(range(2, &[3.0, 16_384.0]), 2.0..16_384.0);
        assert_eq!(range(2, &[8.0, 8.0]), 8.0..16.0);
    }

    #[test]
    fn ticks_are_short() {
        assert_eq!(Axis::new("", 10).tick(1.0), "1");
        assert_eq!(Axis::new("", 10).tick(10_000.0), "10,000");
        assert_eq!(Axis::new("", 10).tick(1e13), "10¹³");
        assert_eq!(Axis::new("", 10).tick(0.1), "10⁻¹");
        assert_eq!(Axis::new("", 2).tick(65_536.0), "65,536");
        assert_eq!(Axis::new("", 2).tick(1_048_576.0), "2²⁰");
    }

    #[test]
    fn counts_are_powers_or_digits() {
        assert_eq!(count(1 << 26), "2²⁶");
        assert_eq!(count(1000), "1,000");
        assert_eq!(count(67_108_865), "67,108,865");
        assert_eq!(count(16_384), "16,384");
    }
}
