//! The bins of a rule, restricted to the range of the sample type.
//!
//! Bounds of integers may lie outside the range of the sample type. Kernels only compare samples with numbers of the sample
//! type, so a rule is restricted to the range of that type. Bins outside the range have no samples, and kernels do not need
//! them: bins before the first sample value are skipped by counting from a later cell ([`Fitted::first`]), and bins after the
//! last sample value are omitted. The counter of each sample stays the same.

use super::{Bins, HistogramElement, Rule};
use slm_kernels::histogram::{Bordered, Countable, Even, FromRange, Grid, Halfway, Lattice, OUTSIDE, Ratio};
use std::sync::Arc;

/// A rule restricted to the range of its sample type.
#[derive(Clone, Debug)]
pub(super) struct Fitted<T: HistogramElement> {
    pub(super) rule: Rule<T>,
    pub(super) bins: SampleBins<T>,
    /// Index of the first of `bins` among the cells of a channel.
    pub(super) first: usize,
}

/// Bins between numbers of the sample type.
#[derive(Clone, Debug)]
pub(crate) enum SampleBins<T: HistogramElement> {
    /// One bin per value of this number of low bits. Samples are `u16`.
    LowBits(u32),
    /// Bins of equal width.
    Even(EvenBins<T>),
    /// Bins between these numbers; `last` is the largest number inside.
    Edges { edges: Arc<[T]>, last: T },
}

/// Bins of equal width that begin with a number of the sample type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EvenBins<T: HistogramElement> {
    bins: u32,
    ends: [T::Bound; 2],
    /// Smallest number inside.
    lower: T,
    /// Largest number inside.
    last: T,
}

impl<T: Fit> Fitted<T> {
    /// Returns the bins of a valid rule with these borders.
    pub(super) fn new(rule: &Rule<T>, borders: &Arc<[T::Bound]>) -> Self {
        let (bins, first) = T::fit(rule, borders);
        Fitted { rule: rule.clone(), bins, first }
    }

    /// Returns the number of keys per channel.
    pub(super) fn keys(&self) -> usize {
        let bins = match &self.bins {
            SampleBins::LowBits(bits) => 1 << bits,
            SampleBins::Even(even) => even.bins as usize,
            SampleBins::Edges { edges, .. } => edges.len() - 1,
        };
        bins + OUTSIDE as usize
    }
}

impl<T: Fit> EvenBins<T> {
    /// Returns the bins with this scale, or `None` if the scale cannot represent them.
    pub(super) fn scaled<S: FromEnds<T>>(&self) -> Option<Even<T, S>> {
        let &EvenBins { bins, ends, lower, last } = self;
        S::from_ends(bins, ends).map(|scale| Even { scale, lower, last, bins, last_bin: bins - 1 })
    }

    /// Returns the same bins as borders to search.
    pub(super) fn searched(&self, edges: Arc<[T]>) -> SampleBins<T> {
        SampleBins::Edges { edges, last: self.last }
    }
}

/// A scale constructed from the ends of a range.
pub(crate) trait FromEnds<T: HistogramElement>: FromRange<T> {
    /// Returns the scale of `bins` bins between the ends, or `None` if it cannot represent them.
    fn from_ends(bins: u32, ends: [T::Bound; 2]) -> Option<Self>;
}

impl<T: HistogramElement<Bound = i64>> FromEnds<T> for Ratio
where
    Ratio: FromRange<T>,
{
    fn from_ends(bins: u32, [lower, upper]: [i64; 2]) -> Option<Self> {
        Some(Ratio::new(bins, lower.abs_diff(upper)))
    }
}

macro_rules! float_scales {
    ($($t:ty: $($scale:ty)*;)*) => {$($(
        impl FromEnds<$t> for $scale {
            fn from_ends(bins: u32, [lower, upper]: [$t; 2]) -> Option<Self> {
                Self::new(bins, lower, upper)
            }
        }
    )*)*};
}
float_scales! {
    f32: Lattice<f32> Halfway;
    f64: Lattice<f64> Grid;
}

/// Arithmetic of borders for a sample type.
pub(crate) trait Fit:
    HistogramElement + Bordered + Countable<Scale: FromEnds<Self>, RoundedScale: FromEnds<Self>>
{
    /// Returns border `k` of bins of equal width: the exact `lower + k · (upper - lower) / bins`, rounded up for integers, and
    /// to nearest, ties to even, for floats.
    fn border(k: u32, bins: u32, ends: [Self::Bound; 2]) -> Self::Bound;

    /// Returns the nearest `f64`.
    fn to_f64(bound: Self::Bound) -> f64;

    /// Returns whether a sample can have this value.
    fn is_sample(bound: Self::Bound) -> bool;

    /// Returns the bins of a rule with these borders, and the index of the first bin among the cells of a channel.
    fn fit(rule: &Rule<Self>, borders: &Arc<[Self::Bound]>) -> (SampleBins<Self>, usize);

    /// Returns borders in the sample type, or `None` for integers, whose borders have another type.
    fn of_samples(borders: &Arc<[Self::Bound]>) -> Option<Arc<[Self]>>;
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Fit for $t {
            fn border(k: u32, bins: u32, ends: [i64; 2]) -> i64 {
                border(k, bins, ends)
            }

            fn to_f64(bound: i64) -> f64 {
                bound as f64
            }

            fn is_sample(bound: i64) -> bool {
                <$t>::try_from(bound).is_ok()
            }

            fn fit(rule: &Rule<$t>, borders: &Arc<[i64]>) -> (SampleBins<$t>, usize) {
                let last = |last: i64| last.min(<$t>::MAX.into()) as $t;
                match rule.bins {
                    Bins::LowBits(bits) => (SampleBins::LowBits(bits), 0),
                    Bins::Even { bins, lower, upper } if Self::is_sample(lower) => {
                        // `Rule::check` has checked the bins against 2^24.
                        let (bins, last) = (bins as u32, last(upper - i64::from(!rule.closed)));
                        (SampleBins::Even(EvenBins { bins, ends: [lower, upper], lower: lower as $t, last }), 0)
                    }
                    Bins::Even { .. } | Bins::Edges(_) => {
                        let cut = Cut::new(borders, rule.closed, [<$t>::MIN.into(), <$t>::MAX.into()]);
                        let edges = cut.edges.into_iter().map(|edge| edge as $t).collect();
                        (SampleBins::Edges { edges, last: cut.last as $t }, cut.first)
                    }
                }
            }

            fn of_samples(_: &Arc<[i64]>) -> Option<Arc<[$t]>> {
                None
            }
        }
    )*};
}
integers!(u8 u16 u32 i32);

macro_rules! floats {
    ($($t:ty)*) => {$(
        impl Fit for $t {
            fn border(k: u32, bins: u32, [lower, upper]: [$t; 2]) -> $t {
                Bordered::border(k, bins, lower, upper)
            }

            fn to_f64(bound: $t) -> f64 {
                bound.into()
            }

            fn is_sample(_: $t) -> bool {
                true
            }

            fn fit(rule: &Rule<$t>, borders: &Arc<[$t]>) -> (SampleBins<$t>, usize) {
                let last = |upper: $t| if rule.closed { upper } else { upper.next_down() };
                let bins = match rule.bins {
                    Bins::LowBits(bits) => SampleBins::LowBits(bits),
                    Bins::Even { bins, lower, upper } => {
                        let (bins, ends, last) = (bins as u32, [lower, upper], last(upper));
                        SampleBins::Even(EvenBins { bins, ends, lower, last })
                    }
                    Bins::Edges(_) => {
                        SampleBins::Edges { edges: borders.clone(), last: last(borders[borders.len() - 1]) }
                    }
                };
                (bins, 0)
            }

            fn of_samples(borders: &Arc<[$t]>) -> Option<Arc<[$t]>> {
                Some(borders.clone())
            }
        }
    )*};
}
floats!(f32 f64);

/// Returns the border of bins between integers.
fn border(k: u32, bins: u32, [lower, upper]: [i64; 2]) -> i64 {
    let (k, bins, width) = (u64::from(k), u64::from(bins), lower.abs_diff(upper));
    let distance = match k.checked_mul(width) {
        Some(product) => product.div_ceil(bins),
        // The cast is exact: the quotient does not exceed the width.
        None => (u128::from(k) * u128::from(width)).div_ceil(bins.into()) as u64,
    };
    // Modulo 2^64: every distance is less than that.
    lower.wrapping_add_unsigned(distance)
}

/// The bins between ascending borders that can contain samples from `least` to `most`.
struct Cut {
    /// Borders of these bins, each from `least` to `most`.
    edges: Vec<i64>,
    /// Largest number inside.
    last: i64,
    /// Index of the first of the bins among the cells.
    first: usize,
}

impl Cut {
    /// Requires that a border other than the last is at most `most`, or that all borders exceed it. If several borders exceed
    /// `most`, the first border must be at most `least`: then no sample is below, so the cells after fewer bins are not used.
    fn new(borders: &[i64], closed: bool, [least, most]: [i64; 2]) -> Self {
        let bins = borders.len() - 1;
        let (starts, last) = (&borders[..bins], borders[bins] - i64::from(!closed));
        let all_in = |cell| Cut { edges: vec![least, most], last: most, first: cell };
        if borders[0] > most {
            return all_in(bins);
        }
        if last < least {
            return all_in(bins + 1);
        }
        let first = starts.partition_point(|start| *start <= least).saturating_sub(1);
        let end = starts.partition_point(|start| *start <= most);
        let edges = borders[first..=end].iter().map(|border| *border.clamp(&least, &most)).collect();
        Cut { edges, last: last.min(most), first }
    }
}
