//! Histograms by their definition, one sample at a time.

mod exact;
mod sums;

pub use sums::{Weight, weights};

use crate::random::Random;
use slm::Histogram;
use slm::histogram::{Counts, HistogramAlgorithm, HistogramElement, MemoryOrder};
use std::fmt::Display;
use std::ops::Range;

/// Every algorithm for GPUs.
pub const ALGORITHMS: [HistogramAlgorithm; 9] = [
    HistogramAlgorithm::Auto,
    HistogramAlgorithm::Critical,
    HistogramAlgorithm::GlobalAtomic(MemoryOrder::Relaxed),
    HistogramAlgorithm::GlobalAtomic(MemoryOrder::SeqCst),
    HistogramAlgorithm::CachedAtomic,
    HistogramAlgorithm::PrivatePerThread,
    HistogramAlgorithm::SharedAtomic(MemoryOrder::Relaxed),
    HistogramAlgorithm::SharedAtomic(MemoryOrder::SeqCst),
    HistogramAlgorithm::LanePrivate,
];

/// Returns all counters in the order of a buffer.
pub fn flat<T: HistogramElement, N: Copy>(counts: &Counts<T, N>) -> Vec<N> {
    let mut flat = Vec::new();
    for channel in counts.channels() {
        flat.extend_from_slice(channel.bins);
        flat.extend_from_slice(&[channel.below, channel.above, channel.nan]);
    }
    flat
}

/// An element type, as the tests use it. Every value is exact in `f64`.
pub trait Number: HistogramElement + Into<f64> + Display {
    const NAME: &'static str;
    /// The ends of the type and other special values.
    const SPECIAL: &'static [Self];
    /// Returns the nearest value of the type.
    fn nearest(value: f64) -> Self;
    /// Returns the next smaller value, the value itself, and the next larger one.
    fn neighbours(self) -> [Self; 3];
    /// Returns whether border `k`, less than the number of bins, is at most this number, which is in the range.
    fn reaches_border(self, k: usize, bins: usize, range: &Range<Self>) -> bool;
    /// [`Case::samples`], compiled here.
    fn samples(case: &Case<Self>, count: usize, random: &mut Random) -> Vec<Self>;
    /// [`Case::counted`], compiled here.
    fn counted(case: &Case<Self>, samples: &[Self]) -> Counted;
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Number for $t {
            const NAME: &'static str = stringify!($t);
            const SPECIAL: &'static [Self] = &[<$t>::MIN, <$t>::MAX, 0, 1, 2, <$t>::MAX / 2, <$t>::MAX / 2 + 1];
            fn nearest(value: f64) -> Self {
                value.round() as Self
            }
            fn neighbours(self) -> [Self; 3] {
                [self.saturating_sub(1), self, self.saturating_add(1)]
            }
            fn reaches_border(self, k: usize, bins: usize, range: &Range<Self>) -> bool {
                let [x, lower, upper] = [self, range.start, range.end].map(i128::from);
                k as i128 * (upper - lower) <= (x - lower) * bins as i128
            }
            fn samples(case: &Case<Self>, count: usize, random: &mut Random) -> Vec<Self> {
                (0..count).map(|_| case.sample(random)).collect()
            }
            fn counted(case: &Case<Self>, samples: &[Self]) -> Counted {
                case.counted_of_type(samples)
            }
        }
    )*};
}
integers!(u8 u16 u32 i32);

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Number for $t {
            const NAME: &'static str = stringify!($t);
            const SPECIAL: &'static [Self] = &[
                $t::NAN, -$t::NAN, $t::INFINITY, $t::NEG_INFINITY, $t::MIN, $t::MAX, 0.0, -0.0, $t::MIN_POSITIVE,
                -$t::MIN_POSITIVE, $t::from_bits(1), -$t::from_bits(1), $t::EPSILON, 1.0,
            ];
            fn nearest(value: f64) -> Self {
                value as Self
            }
            fn neighbours(self) -> [Self; 3] {
                [self.next_down(), self, self.next_up()]
            }
            fn reaches_border(self, k: usize, bins: usize, range: &Range<Self>) -> bool {
                // No border exceeds the upper end, above which there may be no float.
                self >= range.end || {
                    // Replaces -0 by 0, which is the same sample.
                    let x = self + 0.0;
                    let (neighbours, ends) = ([x, x.next_up()].map(f64::from), [range.start, range.end].map(f64::from));
                    exact::reaches_border(neighbours, x.to_bits() % 2 == 0, k, bins, ends)
                }
            }
            fn samples(case: &Case<Self>, count: usize, random: &mut Random) -> Vec<Self> {
                (0..count).map(|_| case.sample(random)).collect()
            }
            fn counted(case: &Case<Self>, samples: &[Self]) -> Counted {
                case.counted_of_type(samples)
            }
        }
    )*};
}
floats!(f32 f64);

/// The bins of a histogram.
#[derive(Clone, Debug)]
pub enum Bins<T> {
    /// A bin for each number below this one.
    Numbers(usize),
    /// A bin for each remainder modulo this number.
    Remainders(usize),
    Even(usize, Range<T>),
    Edges(Vec<T>),
}

/// A histogram, and its definition.
#[derive(Clone, Debug)]
pub struct Case<T: HistogramElement> {
    /// The histogram with one channel and half-open bins.
    pub histogram: Histogram<T>,
    pub bins: Bins<T>,
    pub closed: bool,
    pub channels: usize,
    pub counted: usize,
}

impl<T: Number> Case<T> {
    pub fn new(histogram: Histogram<T>, bins: Bins<T>) -> Self {
        Case { histogram, bins, closed: false, channels: 1, counted: 1 }
    }

    pub fn even(bins: usize, range: Range<T>) -> Self {
        Self::new(Histogram::even(bins, range.clone()), Bins::Even(bins, range))
    }

    pub fn edges(edges: &[T]) -> Self {
        Self::new(Histogram::edges(edges), Bins::Edges(edges.to_vec()))
    }

    /// Returns the histogram with the case's channels and with closed bins if it has them.
    pub fn described(&self) -> Histogram<T> {
        let histogram = self.histogram.clone().channels(self.channels).count(self.counted);
        if self.closed { histogram.closed() } else { histogram }
    }

    pub fn bin_count(&self) -> usize {
        match &self.bins {
            Bins::Numbers(bins) | Bins::Remainders(bins) | Bins::Even(bins, _) => *bins,
            Bins::Edges(edges) => edges.len() - 1,
        }
    }

    /// Returns the number of bins and their range if they have equal width.
    pub fn even_bins(&self) -> Option<(usize, &Range<T>)> {
        match &self.bins {
            Bins::Even(bins, range) => Some((*bins, range)),
            _ => None,
        }
    }

    /// Returns the bin of a sample, or one of the three counters that follow the bins.
    pub fn cell(&self, x: T) -> usize {
        let bins = self.bin_count();
        let (lower, upper) = match &self.bins {
            Bins::Numbers(_) => return x.into() as usize,
            Bins::Remainders(bins) => return x.into() as usize % bins,
            Bins::Even(_, range) => (range.start, range.end),
            Bins::Edges(edges) => (edges[0], edges[bins]),
        };
        if x.into().is_nan() {
            bins + 2
        } else if x > upper || (x == upper && !self.closed) {
            bins + 1
        } else if x < lower {
            bins
        } else {
            let bin = match &self.bins {
                Bins::Even(_, range) => bin(x, bins, range),
                Bins::Edges(edges) => edges.iter().filter(|edge| **edge <= x).count() - 1,
                Bins::Numbers(_) | Bins::Remainders(_) => unreachable!("done above"),
            };
            bin.min(bins - 1)
        }
    }

    /// Returns where samples are counted.
    pub fn counted(&self, samples: &[T]) -> Counted {
        T::counted(self, samples)
    }

    fn counted_of_type(&self, samples: &[T]) -> Counted {
        let cells = self.bin_count() + 3;
        let place = |(i, &x): (usize, &T)| {
            let channel = i % self.channels;
            (channel < self.counted).then(|| channel * cells + self.cell(x))
        };
        Counted { places: samples.iter().enumerate().map(place).collect(), counters: self.counted * cells }
    }

    /// Returns all counters.
    pub fn counts(&self, samples: &[T]) -> Vec<u64> {
        self.counted(samples).counts()
    }

    /// Returns random samples: in the range and a little beyond, at borders and next to them, and special ones.
    pub fn samples(&self, count: usize, random: &mut Random) -> Vec<T> {
        T::samples(self, count, random)
    }

    fn sample(&self, random: &mut Random) -> T {
        let (lower, upper) = match &self.bins {
            Bins::Numbers(bins) | Bins::Remainders(bins) => (0.0, *bins as f64),
            Bins::Even(_, range) => (range.start.into(), range.end.into()),
            Bins::Edges(edges) => {
                let finite = |edge: &&T| (**edge).into().is_finite();
                let ends = [edges.iter().find(finite), edges.iter().rfind(finite)];
                ends.map(|edge| (*edge.expect("an edge is finite")).into()).into()
            }
        };
        // This does not compute the width, which may overflow.
        let between = |part: f64| lower * (1.0 - part) + upper * part;
        match random.below(8) {
            0 => T::SPECIAL[random.below(T::SPECIAL.len())],
            1 | 2 => {
                let border = match &self.bins {
                    Bins::Edges(edges) => edges[random.below(edges.len())],
                    _ => T::nearest(between(random.below(self.bin_count() + 1) as f64 / self.bin_count() as f64)),
                };
                border.neighbours()[random.below(3)]
            }
            _ => T::nearest(between(1.25 * random.unit() - 0.125)),
        }
    }
}

/// Where samples are counted.
#[derive(Clone, Debug)]
pub struct Counted {
    /// For each sample the index of its counter; `None` in channels that are not counted.
    places: Vec<Option<usize>>,
    /// The number of counters: for each counted channel the bins, below, above and NaN.
    counters: usize,
}

impl Counted {
    /// Returns all counters.
    pub fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.counters];
        self.places.iter().flatten().for_each(|&place| counts[place] += 1);
        counts
    }
}

/// Returns the last bin whose border is at most a number in the range. The search starts at an estimate.
fn bin<T: Number>(x: T, bins: usize, range: &Range<T>) -> usize {
    let reaches_border = |k| k == 0 || x.reaches_border(k, bins, range);
    // Halves, because the width may overflow.
    let [x, lower, upper] = [x, range.start, range.end].map(|number| number.into() / 2.0);
    let estimate = (((x - lower) / (upper - lower) * bins as f64) as usize).min(bins - 1);
    let (mut first, mut step) = (estimate, 1);
    while !reaches_border(first) {
        (first, step) = (first.saturating_sub(step), 2 * step);
    }
    let (mut end, mut step) = (first + 1, 1);
    while end < bins && reaches_border(end) {
        (first, end, step) = (end, (end + step).min(bins), 2 * step);
    }
    // `first` is at most the bin, and `end` is above it.
    while end - first > 1 {
        let middle = first + (end - first) / 2;
        if reaches_border(middle) {
            first = middle;
        } else {
            end = middle;
        }
    }
    first
}
