//! Histograms: how many samples there are in each of some bins.
//!
//! | description | bin `k` of a sample `x` |
//! |---|---|
//! | [`bytes`](Histogram::bytes) | `x = k` |
//! | [`low_bits`](Histogram::low_bits) | the low bits of `x` are `k` |
//! | [`even`](Histogram::even) of integers | `k = floor((x - lower) · bins / (upper - lower))`, exactly |
//! | [`even`](Histogram::even) of floats | `k = floor((x - lower) * (bins / (upper - lower)))` in `f64`, each of the four operations rounded to nearest; the last bin if that is more |
//! | [`edges`](Histogram::edges) | `edges[k] <= x < edges[k + 1]` |
//!
//! Ranges are half-open: a sample that equals the upper end is above, unless the histogram is
//! [`closed`](Histogram::closed): then it is in the last bin. Samples outside are not lost: those below the range, those
//! above it and those that are NaN are counted apart, so that no sample goes uncounted. Infinities are below or above
//! like other numbers, and -0.0 is 0.0.
//!
//! The formulas hold for every range: it may be wider than the largest sample, there may be more bins than different
//! samples, and more than a float's precision tells apart (some bins then stay empty). Who is in the range is decided by
//! comparing the sample itself with the ends, not by the rounded quotient. Of two floats the smaller one is never in a
//! later bin. Where the quotient is rounded, a float next to a border may be in the bin beside: NumPy's `histogram`
//! corrects this by comparing with borders, which are rounded as well; [`edges`](Histogram::edges) has exact ones.
//!
//! # Counts
//!
//! Counts are `u64`, and more than 2^32 samples are counted right. They are whole numbers, so they are the same on every
//! device, with every algorithm and any number of threads.
//!
//! In a buffer the counts of the channels stand one after another, and for each channel there are `bins` counts, one of
//! the samples below, one of those above and one of NaNs: [`counts_len`](PreparedHistogram::counts_len) in all.
//! [`apply_into`](PreparedHistogram::apply_into) adds to what is there, modulo 2^64.
//!
//! # Weights
//!
//! [`apply_weighted`](PreparedHistogram::apply_weighted) adds up a weight for each sample instead of counting it. So that
//! the sums do not depend on the order either, each weight is rounded to the nearest whole multiple of a *quantum* (ties
//! to even), and the multiples are added exactly in 64 bits, as Demmel and Nguyen's *Fast Reproducible Floating-Point
//! Summation* (2013) does with one bin. With `n` weights in all, `2^e <= max|w| < 2^(e + 1)` and `n <= 2^l`, the quantum
//! is `2^(e + l - 61)`: no sum can overflow. A sum of `m` weights is off by `m · quantum / 2` at most, and is rounded
//! once more when it becomes an `f64`. The sums of up to 2^14 weights whose magnitudes differ by a factor of 2^24 at most
//! are exact but for that. The result is the same, bit for bit, on every device.

mod bound;
mod counts;
mod description;
mod plan;
mod prepared;
mod rule;

pub(crate) use bound::Bound;
pub use counts::{Channel, Counts, WeightedCounts};
pub use description::{Algorithm, Histogram, Ordering};
pub use plan::Plan;
pub use prepared::PreparedHistogram;
pub use rule::HistogramElement;
#[cfg(gpu)]
pub(crate) use rule::check_counters;
pub(crate) use rule::{Bins, Rule, check_weights};
