//! The numbers of weights, and the sums of their multiples.

use crate::histogram::weight::{LEAST, STORED};
use crate::histogram::{Quantum, Span, Weight, result_shift};

/// Binary logarithm of the number of weights up to which the quantum does not depend on the number.
const COUNT_LOG2: u32 = 30;

/// Returns the binary logarithm, rounded up, of a number of weights; at least 30, so that the quantum does not depend on the
/// number of weights in usual cases.
#[must_use]
pub fn count_log2(count: u64) -> u32 {
    (u64::BITS - count.saturating_sub(1).leading_zeros()).max(COUNT_LOG2)
}

impl Span {
    /// Returns the quantum of the sums that `weigh_once.rs` makes of weights of type `W`.
    #[must_use]
    pub fn quantum_of_sums<W: Weight>(self) -> Quantum {
        Quantum { exponent: self.least as i32 - 1 + W::LEAST - result_shift::<W>() as i32 }
    }
}

impl Quantum {
    /// Returns whether weights of at least this [`magnitude`](crate::histogram::magnitude), whose last `zeros` bits are 0, are
    /// multiples of the quantum.
    #[must_use]
    pub fn divides(&self, least: u32, zeros: u32) -> bool {
        least.max(1) as i32 - 1 + LEAST + zeros as i32 >= self.exponent
    }

    /// Returns the sum of weights for a sum of multiples, rounded once. It is infinite beyond the largest `f64`.
    ///
    /// The multiplication by a power of two is exact: a result below the smallest normal `f64` is a multiple of the smallest
    /// positive one, and so small that the conversion is exact too.
    #[must_use]
    pub fn sum(&self, multiples: i128) -> f64 {
        multiples as f64 * self.value()
    }

    /// Returns the quantum as a number.
    fn value(&self) -> f64 {
        f64::from_bits(match self.exponent {
            exponent @ -1022.. => ((exponent + 1023) as u64) << STORED,
            exponent => 1 << (exponent - LEAST),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::MOST_WEIGHTS;
    use crate::histogram::weight::{Multiple, NOT_FINITE, SUM_BITS, magnitude, rounded_shift};

    const TINY: f64 = f64::from_bits(1);

    /// Returns weights next to powers of two, to halves and to the ends of the binades, from field `first` to field `last`.
    fn weights(first: u32, last: u32) -> impl Iterator<Item = f64> {
        let significands = [0, 1, 2, 3, 1 << 51, (1 << 51) + 1, (1 << 52) - 3, (1 << 52) - 2, (1 << 52) - 1];
        let fields = first..=last.min(NOT_FINITE - 1);
        let positive =
            fields.flat_map(move |field| significands.map(|s| f64::from_bits(u64::from(field) << STORED | s)));
        positive.flat_map(|weight| [weight, -weight])
    }

    #[test]
    fn weights_that_are_multiples_of_the_quantum() {
        for peak in [0, 1, 40, 44, 60, 130, 500, 1023, 2046] {
            for log2 in [30, 37, 64] {
                let quantum = Quantum::new(peak, log2);
                for zeros in [0, 29] {
                    let is_exact = |field: u32| {
                        weights(field, field).all(|weight| {
                            let weight = f64::from_bits(weight.to_bits() >> zeros << zeros);
                            quantum.sum(quantum.multiple(weight)) == weight
                        })
                    };
                    let least = (0..=peak).find(|&field| quantum.divides(field, zeros)).unwrap();
                    assert!((least..=peak).all(is_exact), "{peak}, 2^{log2}, {zeros}");
                    assert!(least == 0 || !is_exact(least - 1), "{peak}, 2^{log2}, {zeros}: {least}");
                }
            }
        }
    }

    /// Returns the multiple of `2^exponent` that is nearest to a number. The division of a number by a power of two is exact in
    /// `f64` if both are moderate.
    fn nearest(weight: f64, exponent: i32) -> i128 {
        // In two steps, because `f64` cannot represent every such power.
        let half = -exponent / 2;
        let scaled = weight * 2f64.powi(half) * 2f64.powi(-exponent - half);
        scaled.round_ties_even() as i128
    }

    #[test]
    fn multiples_are_the_nearest() {
        for peak in [0, 1, 2, 40, 43, 44, 45, 46, 60, 80, 130, 500, 1023, 1900, 2046] {
            for log2 in [30, 31, 38, 47, 63] {
                let quantum = Quantum::new(peak, log2);
                for weight in weights(0, peak) {
                    assert_eq!(
                        quantum.multiple(weight),
                        nearest(weight, quantum.exponent),
                        "{weight:e} of {peak}, {log2}"
                    );
                }
            }
        }
    }

    #[test]
    fn no_sum_overflows() {
        for peak in 0..NOT_FINITE {
            for log2 in COUNT_LOG2..=64 {
                let quantum = Quantum::new(peak, log2);
                let largest = f64::from_bits(u64::from(peak) << STORED | ((1 << STORED) - 1));
                let multiple = quantum.multiple(largest);
                assert!(multiple <= 1 << (SUM_BITS - log2 as i32), "2^{log2} weights of field {peak}");
                // The quantum is as small as possible.
                assert!(quantum.exponent == LEAST || multiple >= 1 << (SUM_BITS - log2 as i32 - 1));
                assert!(quantum.value() > 0.0 && quantum.value().is_finite());
                // The largest weight is not rounded.
                assert_eq!(quantum.sum(-multiple), -largest);
            }
        }
    }

    #[test]
    fn numbers_of_weights() {
        let numbers = [0, 1, 1 << 30, (1 << 30) + 1, 1 << 38, u64::MAX];
        assert_eq!(numbers.map(count_log2), [30, 30, 30, 31, 38, 64]);
    }

    #[test]
    fn extremes() {
        assert_eq!([0.0, -TINY, f64::MIN_POSITIVE, -1.0, f64::MAX].map(magnitude), [0, 0, 1, 1023, 2046]);
        assert_eq!([f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(magnitude), [NOT_FINITE; 4]);
        assert_eq!(Quantum::new(0, 30).multiple(-TINY), -1);
        assert_eq!(Quantum::new(1023, 30).multiple(1.0), 1 << 95);
        assert_eq!(Quantum::new(1023, 30).multiple(-0.0), 0);
        assert_eq!(Quantum::new(0, 30).sum(3), 3.0 * TINY);
        let most = Quantum::new(2046, 30);
        assert_eq!(most.sum(most.multiple(f64::MAX)), f64::MAX);
        assert_eq!(most.sum(2 * most.multiple(f64::MAX)), f64::INFINITY);
        assert_eq!(most.multiple(TINY), 0);
    }

    /// Compares the multiples of spans with the weights, which are those of every field next to powers of two and to halves.
    fn multiples_of_spans<W: Weight + Into<f64>>(weight_of: impl Fn(u64) -> W, step: usize) {
        let (last, one) = (W::NOT_FINITE - 1, 1 << W::STORED);
        let weight = |field: u32, stored: u64| weight_of(u64::from(field) << W::STORED | stored);
        for most in (0..=last).step_by(step) {
            let span = Span::around::<W>(most);
            let quantum = span.quantum_of_sums::<W>();
            let contains = |field: u32| span.multiple(weight(field, 1)).1 == 0;
            for field in (0..=last).filter(|field| contains(*field)) {
                for stored in [1, 2, one / 2 - 1, one / 2, one - 1] {
                    let multiple = span.multiple(weight(field, stored)).0.signed() << result_shift::<W>();
                    assert_eq!(quantum.sum(multiple), weight(field, stored).into(), "{most}");
                    assert!(multiple < 1 << 96);
                }
            }
            // It contains the largest known field of a normal number and four more, as far as they are finite, and is contiguous.
            assert!(contains(most.max(1)) && contains(last.min(most + 4)) && !contains(W::NOT_FINITE), "{most}");
            let changes = (0..last).filter(|field| contains(*field) != contains(field + 1)).count();
            assert!(changes <= 2, "{most}");
            assert_eq!(span.multiple(weight(0, 0)), (Multiple::ZERO, 0));
            assert_eq!(span.multiple(weight(0, 1)), (Multiple::ZERO, 2));
        }
    }

    #[test]
    fn multiples_of_spans_are_exact() {
        multiples_of_spans(|bits| f32::from_bits(bits as u32), 1);
        multiples_of_spans(f64::from_bits, 89);
        let span = Span::around::<f32>(127);
        let negative = Multiple { is_negative: true, ..span.multiple(0.75f32).0 };
        assert_eq!(span.multiple(-0.75f32), (negative, 0));
    }

    /// Otherwise one pass and two would add different multiples of a weight.
    #[test]
    fn quanta_of_cells_divide_those_of_spans() {
        let of_cell = |peak: u32| Quantum::new(peak, count_log2(MOST_WEIGHTS)).exponent;
        for most in 0..f64::NOT_FINITE {
            let span = Span::around::<f64>(most);
            assert!(of_cell(span.least + 43) <= span.quantum_of_sums::<f64>().exponent, "{most}");
        }
        for most in 0..f32::NOT_FINITE {
            let span = Span::around::<f32>(most);
            // The field of the same number as an `f64`.
            assert!(of_cell(span.least + 40 + 1023 - 127) <= span.quantum_of_sums::<f32>().exponent, "{most}");
        }
    }

    #[test]
    fn multiples_have_a_sign_and_a_magnitude() {
        let words = [7, 0, 5];
        assert_eq!(Multiple { is_negative: false, words }.signed(), (5 << 64) + 7);
        assert_eq!(Multiple { is_negative: true, words }.signed(), -(5 << 64) - 7);
    }

    #[test]
    fn shifts_round_to_even() {
        assert_eq!([1, 2, 3, 4].map(|shift| rounded_shift(6, shift)), [3, 2, 1, 0]);
        assert_eq!([1, 2, 3, 4].map(|shift| rounded_shift(5, shift)), [2, 1, 1, 0]);
        assert_eq!([53, 54, 55, 2000].map(|shift| rounded_shift((1 << 53) - 1, shift)), [1, 0, 0, 0]);
        assert_eq!([52, 53, 54].map(|shift| rounded_shift(1 << 52, shift)), [1, 0, 0]);
    }
}
