//! Histograms: counts of samples in bins, and sums of their weights.
//!
//! ```
//! use slm::{Device, Histogram};
//!
//! # fn main() -> slm::Result<()> {
//! let device = Device::open()?;
//! let tenths = Histogram::even(10, 0.0f32..1.0).closed().prepare(&device)?;
//! let counts = tenths.apply(&[0.25, 0.26, 1.0, -0.5, f32::NAN])?;
//! assert_eq!(counts.channel(0).unwrap().bins, [0, 0, 2, 0, 0, 0, 0, 0, 0, 1]);
//! assert_eq!(counts.total(), 5);
//! # Ok(())
//! # }
//! ```
//!
//! | description | bin `k` of a sample `x` |
//! |---|---|
//! | [`bytes`](Histogram::bytes) | `x = k` |
//! | [`low_bits`](Histogram::low_bits) | the low bits of `x` are `k` |
//! | [`even`](Histogram::even) of integers | `k = floor((x - lower) · bins / (upper - lower))`, exactly |
//! | [`even`](Histogram::even) of floats | border `k <= x <` border `k + 1`, where border `k` is the exact `lower + k · (upper - lower) / bins`, rounded to the type of the samples: to nearest, ties to even |
//! | [`edges`](Histogram::edges) | `edges[k] <= x < edges[k + 1]` |
//!
//! Ranges are half-open: a sample that equals the upper end is above the range. If the histogram is
//! [`closed`](Histogram::closed), it is in the last bin. Samples below the range, above it, and NaNs are counted separately, so
//! every sample is counted. Infinities are below or above like other numbers, and -0.0 equals 0.0.
//!
//! The definitions hold for every range of finite numbers. A range may contain numbers that the sample type cannot represent,
//! as `0..256` does for bytes. There may be more bins than different samples, or more than the precision of a float can
//! separate. Then neighbouring borders are equal, and the bin between them stays empty. [`edges`](PreparedHistogram::edges)
//! returns the borders. NumPy's `histogram` compares floats with the borders that its `linspace` computes,
//! `k * ((upper - lower) / bins) + lower` in double precision with every operation rounded. So some of its borders differ from
//! these in their last bits.
//!
//! On a GPU a kernel computes the bin of each float by arithmetic, and [`prepare`](Histogram::prepare) checks the arithmetic at
//! every border. If it is wrong at one of them, the kernel searches the borders, as for [`edges`](Histogram::edges), which is
//! slower. This happens for ends near the smallest or largest numbers of the type, for more bins than numbers, and in rare other
//! cases. With one channel a search takes few steps, because a block has the borders in shared memory, with a table of where to
//! begin. With several channels, or for weights, it is a binary search in global memory, which takes several times as long.
//!
//! # Counts
//!
//! Counts are `u64`, so more than 2^32 samples are counted correctly. They are integers, so they are equal on every device,
//! with every algorithm and any number of threads.
//!
//! In a buffer, the counts of the channels are stored one after another. Each channel has `bins` counts, then the count of
//! samples below, the count of samples above, and the count of NaNs. [`counts_len`](PreparedHistogram::counts_len) returns the
//! total number. [`apply_into`](PreparedHistogram::apply_into) overwrites the counts, and
//! [`accumulate_into`](PreparedHistogram::accumulate_into) adds to them, modulo 2^64.
//!
//! # Weights
//!
//! [`apply_weighted`](PreparedHistogram::apply_weighted) adds a weight for each sample instead of counting it. To make the
//! sums independent of the order of additions, each weight is rounded to the nearest multiple of a *quantum* (ties to even),
//! and the multiples are added exactly in 128 bits. So the result is the same, bit for bit, on every device and for every order
//! of the samples. The idea is that of Demmel and Nguyen's *Fast Reproducible Floating-Point Summation* (2013).
//!
//! Each bin, and each count outside the bins, has its own quantum, which depends on its largest weight. With `2^e <= max|w| <
//! 2^(e + 1)` for the weights of the bin, and `n <= 2^l` weights in the call, it is `2^(e + l - 125)`, for the smallest such `l`
//! that is at least 30. It is never less than the smallest positive `f64`: all weights are multiples of that. The sum of
//! multiples is converted to `f64`, rounded once. It cannot overflow; a sum beyond the largest `f64` becomes infinite.
//!
//! | | |
//! |---|---|
//! | a single weight in a bin | its sum is that weight |
//! | error of a sum of `m` weights | at most `m · 2^(l - 126) · max\|w\| + 2^-53 · \|sum\|`, with the largest weight of the bin |
//! | with up to 2^37 weights in the call | at most `2^-50 · Σ\|w\|`, with the weights of the bin |
//! | weights that are added exactly | those of at least `2^(l - 73) · max\|w\|`; for `f32`, `2^(l - 102) · max\|w\|` |
//!
//! So with up to 2^30 weights in the call, a sum depends on nothing but the weights in its bin, and weights of `f64` within a
//! factor of 2^43 are added exactly. The sum is 0 for a bin without weights; -0.0 counts as 0.0.
//!
//! [`accumulate_weighted`](PreparedHistogram::accumulate_weighted) adds the sums of several calls as `f64`. So its result
//! depends on the order of the calls.

// | file | contents |
// |---|---|
// | `description.rs` | what the caller describes |
// | `rule.rs` | the same as plain data, and the checks of it |
// | `facts.rs` | what the bins are, found once |
// | `element.rs`, `sample_types.rs`, `bound.rs`, `weights.rs` | the types of samples, bounds and weights |
// | `choose.rs`, `tuning.rs` | the choice of the kernel, and its constants |
// | `gpu/` | the launches of the choice |
// | `cpu.rs` | the same on the CPU |
// | `weighing.rs` | sums of weights that come in parts |
// | `prepared.rs`, `weighted.rs`, `counting.rs` | what the caller runs: counts, sums of weights; what plans say |
mod algorithm;
mod bound;
mod choose;
mod counting;
mod counts;
mod cpu;
mod description;
mod element;
mod error;
mod facts;
mod gpu;
mod prepared;
mod rule;
mod sample_types;
mod tuning;
mod weighing;
mod weighted;
mod weights;

pub use algorithm::{HistogramAlgorithm, MemoryOrder};
pub use bound::HistogramBound;
pub use counting::Counting;
pub use counts::{Channel, Counts, WeightedCounts};
pub use description::Histogram;
pub use element::HistogramElement;
pub use error::HistogramError;
pub use prepared::PreparedHistogram;
use rule::{Bins, CountingRule};
pub use weights::HistogramWeight;
