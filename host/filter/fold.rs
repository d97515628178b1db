//! Weights that meet the same sample for every output, added up.
//!
//! A continued signal of `n` samples is periodic, or constant beyond its ends. So a filter that is longer than the signal multiplies
//! some samples by several weights, in every output by the same ones:
//!
//! | boundary | weights that are added up |
//! |---|---|
//! | wrapped, reflected, mirrored | those `n`, `2 n` or `2 n - 2` samples apart |
//! | nearest, constant | those before the signal for all outputs, and those behind it for all outputs |
//!
//! The sums are weights of a filter with the same outputs, whose cost depends on the signal alone: at most `2 n` products per output,
//! or about `n` plus the number of outputs. Sums of floats have twice the double precision and are rounded to `f64`, then to their own
//! type; sums of integers wrap.

use crate::Result;
use crate::cpu::allocation;
use slm_kernels::signal::Border;

/// Maximum number of weights along an axis that are never added up: the filter costs little, and it needs no others for pictures of
/// another size.
pub(crate) const MOST_KEPT: usize = 64;

/// Weights along an axis, and the signal that they meet: weight `j` meets the sample at `o · stride + (j - left) · dilation` for output
/// `o`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reached {
    pub(crate) taps: usize,
    pub(crate) left: usize,
    pub(crate) stride: usize,
    pub(crate) dilation: usize,
    pub(crate) samples: usize,
    pub(crate) outputs: usize,
}

/// Which weights along an axis are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fold {
    /// Weights afterwards.
    pub(crate) taps: usize,
    /// Weights before that at an output's own place.
    pub(crate) left: usize,
    groups: Groups,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Groups {
    /// Those that are a multiple of the number of weights apart.
    Periodic,
    /// This number and the next one at the beginning, and the last ones.
    Ends { before: usize },
}

impl Fold {
    /// Returns which weights are added up, or `None` if all have samples of their own. The signal has samples and outputs.
    pub(crate) fn new(border: Border, reached: Reached) -> Option<Self> {
        let Reached { taps, left, dilation, samples, .. } = reached;
        let periodic = |period: usize| {
            let taps = period / greatest_common_divisor(period, dilation);
            Fold { taps, left: left % taps, groups: Groups::Periodic }
        };
        let fold = match border {
            _ if taps <= MOST_KEPT => return None,
            Border::Constant | Border::Nearest => Self::ends(reached),
            // Signals whose period overflows are longer than the weights.
            Border::Reflect => periodic(samples.checked_mul(2)?),
            Border::Mirror => periodic((samples - 1).checked_mul(2)?.max(1)),
            Border::Wrap => periodic(samples),
        };
        (fold.taps < taps).then_some(fold)
    }

    fn ends(Reached { taps, left, stride, dilation, samples, outputs }: Reached) -> Self {
        // Weights from each end on whose samples are outside for all outputs. One of them remains.
        let before = (left * dilation).saturating_sub((outputs - 1).saturating_mul(stride)).div_ceil(dilation);
        let behind = taps.saturating_sub(left.saturating_add(samples.div_ceil(dilation)));
        let [before, behind] = [before, behind].map(|count| count.saturating_sub(1));
        Fold { taps: taps - before - behind, left: left - before, groups: Groups::Ends { before } }
    }

    /// Returns the number of the sum that a weight is part of.
    fn target(&self, tap: usize) -> usize {
        match self.groups {
            Groups::Periodic => tap % self.taps,
            Groups::Ends { before } => tap.saturating_sub(before).min(self.taps - 1),
        }
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Returns the sums of weights that stand row after row, with `columns` of them per row, for the folds of rows and columns. `None`
/// if a sum of finite weights is not finite.
pub(crate) fn folded<W: Foldable>(weights: &[W], columns: usize, folds: [Option<Fold>; 2]) -> Result<Option<Vec<W>>> {
    let taps = |fold: Option<Fold>, all| fold.map_or(all, |fold| fold.taps);
    let target = |fold: Option<Fold>, tap| fold.map_or(tap, |fold| fold.target(tap));
    let (rows, width) = (taps(folds[0], weights.len() / columns), taps(folds[1], columns));
    let mut sums: Vec<W::Sum> = allocation::reserved(rows.saturating_mul(width))?;
    sums.resize(rows * width, W::Sum::default());
    for (row, weights) in weights.chunks_exact(columns).enumerate() {
        let sums = &mut sums[target(folds[0], row) * width..][..width];
        for (column, &weight) in weights.iter().enumerate() {
            weight.add_to(&mut sums[target(folds[1], column)]);
        }
    }
    let sums = allocation::collected(sums.into_iter().map(W::of_sum))?;
    let are_finite = |weights: &[W]| weights.iter().all(|weight| weight.is_finite());
    Ok((are_finite(&sums) || !are_finite(weights)).then_some(sums))
}

/// A type of weights that can be added up.
pub(crate) trait Foldable: Copy {
    type Sum: Copy + Default;

    fn add_to(self, sum: &mut Self::Sum);

    fn of_sum(sum: Self::Sum) -> Self;

    fn is_finite(self) -> bool;
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Foldable for $t {
            type Sum = $t;

            fn add_to(self, sum: &mut $t) {
                *sum = sum.wrapping_add(self);
            }

            fn of_sum(sum: $t) -> $t {
                sum
            }

            fn is_finite(self) -> bool {
                true
            }
        }
    )*};
}
integers!(i32 i64);

/// A sum and the sum of its rounding errors: A. Neumaier, *Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen*
/// (ZAMM 54, 1974).
#[derive(Clone, Copy, Default)]
pub(crate) struct Compensated {
    sum: f64,
    errors: f64,
}

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Foldable for $t {
            type Sum = Compensated;

            fn add_to(self, to: &mut Compensated) {
                let weight = f64::from(self);
                let sum = to.sum + weight;
                let [greater, smaller] =
                    if to.sum.abs() >= weight.abs() { [to.sum, weight] } else { [weight, to.sum] };
                *to = Compensated { sum, errors: to.errors + (greater - sum + smaller) };
            }

            fn of_sum(Compensated { sum, errors }: Compensated) -> $t {
                // The errors of an infinite sum are NaN.
                if sum.is_finite() { (sum + errors) as $t } else { sum as $t }
            }

            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
        }
    )*};
}
floats!(f32 f64);

#[cfg(test)]
mod tests {
    use super::*;

    /// The outputs by the definition: each weight meets its sample.
    fn outputs(border: Border, reached: Reached, weights: &[i64]) -> Vec<i64> {
        let sample = |o: usize, j: usize| {
            let place = (o * reached.stride) as i64 + (j as i64 - reached.left as i64) * reached.dilation as i64;
            border.source(place, reached.samples as u64).map_or(1_000_003, |sample| (sample as i64 + 3).pow(3))
        };
        let output = |o| weights.iter().enumerate().map(|(j, weight)| weight * sample(o, j)).sum();
        (0..reached.outputs).map(output).collect()
    }

    const BORDERS: [Border; 5] = [Border::Constant, Border::Nearest, Border::Reflect, Border::Mirror, Border::Wrap];

    #[test]
    fn outputs_are_the_same() {
        let mut folds = 0;
        for border in BORDERS {
            for samples in [1usize, 2, 3, 7, 40, 100] {
                for (taps, left) in [(65, 32), (66, 0), (100, 99), (301, 150), (400, 200)] {
                    for (stride, dilation) in [(1, 1), (2, 1), (1, 2), (3, 4), (50, 7)] {
                        for extra in [0, taps * dilation] {
                            let outputs_of = (samples + extra).div_ceil(stride);
                            let reached = Reached { taps, left, stride, dilation, samples, outputs: outputs_of };
                            let weights: Vec<i64> = (0..taps as i64).map(|j| j * j % 31 - 11).collect();
                            let Some(fold) = Fold::new(border, reached) else { continue };
                            let sums = folded(&weights, taps, [None, Some(fold)]).unwrap().unwrap();
                            assert!(sums.len() == fold.taps && fold.left < fold.taps && fold.taps < taps);
                            let shorter = Reached { taps: fold.taps, left: fold.left, ..reached };
                            let expected = outputs(border, reached, &weights);
                            assert_eq!(outputs(border, shorter, &sums), expected, "{border:?}, {reached:?}");
                            folds += 1;
                        }
                    }
                }
            }
        }
        assert!(folds > 500, "{folds} folds");
    }

    #[test]
    fn the_cost_depends_on_the_signal() {
        for border in BORDERS {
            let reached =
                Reached { taps: 8_388_609, left: 4_194_304, stride: 1, dilation: 1, samples: 10, outputs: 10 };
            let taps = Fold::new(border, reached).unwrap().taps;
            assert!(taps <= 21, "{border:?}: {taps}");
            // Nothing is outside for all outputs, or longer than the period.
            let short = Reached { taps: 20, left: 10, ..reached };
            assert_eq!(Fold::new(border, short), None);
            for samples in [1 << 24, 1 << 63, usize::MAX] {
                assert_eq!(Fold::new(border, Reached { samples, outputs: samples, ..reached }), None, "{border:?}");
            }
        }
    }

    /// A column and rows of weights at the same time, and sums that are rounded once.
    #[test]
    fn both_axes() {
        let fold = |taps| Some(Fold { taps, left: 0, groups: Groups::Periodic });
        let weights = [1.0, 2.0, 3.0, 10.0, 20.0, 30.0, 1e17, 1.0, -1e17];
        assert_eq!(folded(&weights, 3, [fold(2), fold(2)]), Ok(Some(vec![4.0, 3.0, 40.0, 20.0])));
        assert_eq!(folded(&[1e17, 1.0, -1e17f64], 3, [None, fold(1)]), Ok(Some(vec![1.0])));
        assert_eq!(folded(&[1 << 30; 4], 4, [None, fold(1)]), Ok(Some(vec![0i32])));
    }

    #[test]
    fn sums_that_overflow() {
        let fold = Some(Fold { taps: 1, left: 0, groups: Groups::Periodic });
        assert_eq!(folded(&[f32::MAX; 2], 2, [None, fold]), Ok(None));
        assert_eq!(folded(&[f64::MAX; 2], 2, [None, fold]), Ok(None));
        assert_eq!(folded(&[f64::INFINITY, 1.0], 2, [None, fold]), Ok(Some(vec![f64::INFINITY])));
        let opposite = folded(&[f32::INFINITY, f32::NEG_INFINITY], 2, [None, fold]).unwrap().unwrap();
        assert!(opposite[0].is_nan());
    }
}
