//! What the bins are, found once. CPU and GPU code depend on these facts.
//!
//! Bounds of integers may lie outside the range of the sample type. Samples are only compared with numbers of their type, so the
//! bins are restricted to the range of that type. Bins outside the range have no samples, and neither device needs them: bins
//! before the first sample value are skipped by counting from a later cell ([`Facts::first`]), and bins after the last sample value
//! are omitted. The counter of each sample stays the same.

use super::element::SampleType;
use super::rule::CounterLayout;
use super::{CountingRule, HistogramElement};
use crate::Result;
use crate::cpu::allocation;
use slm_kernels::histogram::{Binning, Countable, EdgeSlice, Even, Ratio, Scale};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;

/// A valid rule, and what is known about it.
#[derive(Clone, Debug)]
pub(crate) struct Facts<T: HistogramElement> {
    pub(super) rule: CountingRule<T>,
    pub(super) layout: CounterLayout,
    /// The borders of the rule's bins, one more than bins; empty if bins are not ranges of numbers.
    pub(super) edges: Arc<Vec<T::Bound>>,
    /// The bins in the range of the sample type.
    pub(super) bins: SampleBins<T>,
    /// Index of the first of `bins` among the cells of a channel.
    pub(super) first: usize,
}

impl<T: SampleType> Facts<T> {
    /// Checks a rule and returns the facts.
    pub(super) fn new(rule: CountingRule<T>) -> Result<Self> {
        rule.check()?;
        let edges = rule.edges()?;
        let (bins, first) = T::restricted(&rule, &edges)?;
        Ok(Facts { layout: rule.layout(), rule, edges, bins, first })
    }
}

/// Bins between numbers of the sample type.
#[derive(Clone, Debug)]
pub(crate) enum SampleBins<T: HistogramElement> {
    /// One bin per value of the low bits.
    LowBits(T::LowBits),
    /// Bins of equal width.
    Even(EvenBins<T>),
    /// Bins that are searched.
    Searched(SearchedBins<T>),
}

/// Bins of equal width that begin with a number of the sample type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EvenBins<T: HistogramElement> {
    pub(super) bins: u32,
    pub(super) ends: [T::Bound; 2],
    /// Smallest number inside.
    pub(super) lower: T,
    /// Largest number inside.
    pub(super) last: T,
}

impl<T: HistogramElement + Countable> EvenBins<T> {
    /// Returns the bins with this scale.
    pub(super) fn with_scale<S: Scale<T>>(&self, scale: S) -> Even<T, S> {
        let &EvenBins { bins, lower, last, .. } = self;
        Even { scale, lower, last, bins, last_bin: bins - 1 }
    }
}

impl<T: HistogramElement<Bound = i64> + Countable> EvenBins<T>
where
    Ratio: Scale<T>,
{
    /// Returns bins of integers. All ranges have a scale.
    pub(super) fn of_integers(&self) -> Even<T, Ratio> {
        let [lower, upper] = self.ends;
        self.with_scale(Ratio::new(self.bins, lower.abs_diff(upper)))
    }
}

/// Bins between numbers, for which the number of a sample is searched.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SearchedBins<T> {
    /// The numbers in ascending order, one more than bins.
    pub(super) edges: Arc<Vec<T>>,
    /// Largest number inside.
    pub(super) last: T,
}

impl<T: Countable> SearchedBins<T> {
    pub(super) fn as_slice(&self) -> EdgeSlice<'_, T> {
        EdgeSlice { edges: &self.edges, last: self.last }
    }
}

/// The low bits of a sample type without bins of low bits. It has no values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoLowBits<T>(pub(super) Infallible, PhantomData<T>);

impl<T: Countable> Binning for NoLowBits<T> {
    type Sample = T;

    fn key(&self, _: T) -> u32 {
        match self.0 {}
    }
}

/// Evaluates an expression with the bins of facts of samples `T`, as the CPU uses them. A macro, because bins have different types.
macro_rules! with_bins {
    ($facts:expr, |$binning:ident| $body:expr) => {
        match &$facts.bins {
            SampleBins::LowBits(low_bits) => {
                let $binning = *low_bits;
                $body
            }
            SampleBins::Even(even) => {
                let $binning = T::even_on_cpu(even, &$facts.edges, $facts.rule.closed);
                $body
            }
            SampleBins::Searched(searched) => {
                let $binning = searched.as_slice();
                $body
            }
        }
    };
}
pub(super) use with_bins;

/// Returns the border of bins between integers.
pub(super) fn border(k: u32, bins: u32, [lower, upper]: [i64; 2]) -> i64 {
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
pub(super) struct Cut {
    /// Borders of these bins, each from `least` to `most`.
    pub(super) edges: Vec<i64>,
    /// Largest number inside.
    pub(super) last: i64,
    /// Index of the first of the bins among the cells.
    pub(super) first: usize,
}

impl Cut {
    /// Requires that a border other than the last is at most `most`, or that all borders exceed it. If several borders exceed
    /// `most`, the first border must be at most `least`: then no sample is below, so the cells after fewer bins are not used.
    pub(super) fn new(borders: &[i64], closed: bool, [least, most]: [i64; 2]) -> Result<Self> {
        let bins = borders.len() - 1;
        let (starts, last) = (&borders[..bins], borders[bins] - i64::from(!closed));
        let all_in = |cell| Cut { edges: vec![least, most], last: most, first: cell };
        if borders[0] > most {
            return Ok(all_in(bins));
        }
        if last < least {
            return Ok(all_in(bins + 1));
        }
        let first = starts.partition_point(|start| *start <= least).saturating_sub(1);
        let end = starts.partition_point(|start| *start <= most);
        let edges = allocation::collected(borders[first..=end].iter().map(|border| *border.clamp(&least, &most)))?;
        Ok(Cut { edges, last: last.min(most), first })
    }
}
