//! Weights of rank one: outer products of a column and a row, which take `h + v` products per output instead of `h · v`.

use super::accumulator::Accumulator;
use super::weights::{Values, Weights};
use crate::cpu::allocation;
use std::sync::Arc;

/// A type of weights that can be factorised.
pub(super) trait Factor: Sized {
    /// Returns a column and a row whose outer product equals the weights, for `columns` weights per row, or `None` if the weights
    /// are no outer product, or if there is no memory for the factors. Products of integer factors are exact. Products of float
    /// factors differ from each weight by at most 8 roundings, are 0 where a factor is 0, and never underflow.
    fn factors(weights: &[Self], columns: usize) -> Option<[Vec<Self>; 2]>;
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Factor for $t {
            fn factors(weights: &[$t], columns: usize) -> Option<[Vec<$t>; 2]> {
                // The row has no common divisor, so the factors of the column are integers if all rows are multiples of it.
                let pivot = weights.iter().position(|&weight| weight != 0)?;
                let first = &weights[pivot / columns * columns..][..columns];
                let divisor = first.iter().fold(0, |divisor, &weight| greatest_common_divisor(divisor, weight as i128));
                let row = allocation::collected(first.iter().map(|&weight| (weight as i128 / divisor) as $t)).ok()?;
                let place = pivot % columns;
                let column = allocation::collected(weights.chunks(columns).map(|line| line[place] / row[place])).ok()?;
                let is_product = |(i, &weight): (usize, &$t)| {
                    column[i / columns] as i128 * row[i % columns] as i128 == weight as i128
                };
                weights.iter().enumerate().all(is_product).then_some([column, row])
            }
        }
    )*};
}
integers!(i32 i64);

fn greatest_common_divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { greatest_common_divisor(b, a % b) }
}

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Factor for $t {
            fn factors(weights: &[$t], columns: usize) -> Option<[Vec<$t>; 2]> {
                let largest = |a: &usize, b: &usize| weights[*a].abs().total_cmp(&weights[*b].abs());
                let pivot = (0..weights.len()).max_by(largest)?;
                if weights[pivot] == 0.0 || !weights[pivot].is_finite() {
                    return None;
                }
                let mut column =
                    allocation::collected(weights.chunks(columns).map(|line| line[pivot % columns])).ok()?;
                let first = &weights[pivot / columns * columns..][..columns];
                let mut row = allocation::collected(first.iter().map(|weight| weight / weights[pivot])).ok()?;
                // Magnitudes whose sums are about the same: then sums along one axis overflow only if the largest possible outputs do.
                let sum = |factor: &[$t]| factor.iter().map(|value| value.abs()).sum::<$t>();
                let scale = (sum(&column) / sum(&row)).sqrt();
                // Without its fraction it is a power of two, so nothing is rounded.
                let scale = $t::from_bits(scale.to_bits() & $t::INFINITY.to_bits());
                column.iter_mut().for_each(|value| *value /= scale);
                row.iter_mut().for_each(|value| *value *= scale);
                let is_product = |(i, &weight): (usize, &$t)| {
                    let (c, r) = (column[i / columns], row[i % columns]);
                    let is_near = (c * r - weight).abs() <= 4.0 * $t::EPSILON * weight.abs();
                    if weight == 0.0 { c == 0.0 || r == 0.0 } else { weight.abs() >= $t::MIN_POSITIVE && is_near }
                };
                weights.iter().enumerate().all(is_product).then_some([column, row])
            }
        }
    )*};
}
floats!(f32 f64);

impl<A: Accumulator + Factor> Weights<A> {
    /// Returns the weights as an outer product, or `None` if they are not one. A single row or column is the product with a weight
    /// of 1, which changes no sum but the sign of a zero.
    pub(super) fn product(&self) -> Option<Self> {
        let Values::Dense(weights) = &self.values else { return Some(self.clone()) };
        let one = || Arc::new(vec![A::ONE]);
        let [column, row] = match self.shape {
            [1, _] => [one(), weights.clone()],
            [_, 1] => [weights.clone(), one()],
            [_, columns] => A::factors(weights, columns)?.map(Arc::new),
        };
        Some(Weights { values: Values::Separable { column, row }, ..*self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_factorised_exactly() {
        let product = |column: &[i32], row: &[i32]| -> Vec<i32> {
            column.iter().flat_map(|c| row.iter().map(move |r| c * r)).collect()
        };
        for (column, row) in [([1, 2, 1], [-1, 0, 1]), ([0, -6, 4], [0, 9, 15]), ([0, 0, 5], [3, 3, 3])] {
            let weights = product(&column, &row);
            let [c, r] = i32::factors(&weights, 3).unwrap();
            assert_eq!(product(&c, &r), weights);
        }
        assert_eq!(i32::factors(&[0, 1, 0, 1, -4, 1, 0, 1, 0], 3), None);
        assert_eq!(i32::factors(&[0; 9], 3), None);
        assert_eq!(i64::factors(&[i64::MIN, i64::MAX, 1, 1], 2), None);
    }

    #[test]
    fn floats_are_factorised_within_the_bound() {
        let column: Vec<f32> = (0..7).map(|i| (-0.1 * (i as f32 - 3.0).powi(2)).exp()).collect();
        let weights: Vec<f32> = column.iter().flat_map(|c| column.iter().map(move |r| c * r)).collect();
        let [c, r] = f32::factors(&weights, 7).unwrap();
        for (i, weight) in weights.iter().enumerate() {
            assert!((c[i / 7] * r[i % 7] - weight).abs() <= 8.0 * f32::EPSILON / 2.0 * weight);
        }
        let sums = [&c, &r].map(|factor| factor.iter().sum::<f32>());
        assert!(sums[0] / sums[1] < 4.0 && sums[1] / sums[0] < 4.0, "{sums:?}");
        let mut other = weights;
        other[3] *= 1.00001;
        assert_eq!(f32::factors(&other, 7), None);
        assert_eq!(f64::factors(&[1.0, f64::NAN, 1.0, 1.0], 2), None);
        assert_eq!(f64::factors(&[0.0; 4], 2), None);
        assert_eq!(f32::factors(&[f32::INFINITY, 1.0, 1.0, 1.0], 2), None);
        // Products that underflow, to 0 and to a subnormal number.
        assert_eq!(f32::factors(&[1.0, 1e-30, 0.0, 1e-30, 0.0, 0.0, 0.0, 0.0, 0.0], 3), None);
        assert_eq!(f32::factors(&[1.0, 1e-20, 1e-20, 1e-20 * 1e-20], 2), None);
    }
}
