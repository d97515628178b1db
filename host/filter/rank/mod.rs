//! Rank filters of pictures: medians, minima, maxima and percentiles.
//!
//! For samples `x[r, c]`, continued outside by a [`Boundary`] of each axis, and a window of `h` rows and `v` columns, the output `y[r, c]`
//! is one of the samples
//!
//! `x[r + i - h / 2, c + j - v / 2]` for all `(i, j)` of the [window](RankWindow),
//!
//! where `h / 2` and `v / 2` are rounded down, and an [`origin`](Rank2d::origin) adds to both: that with the number `k` in ascending order,
//! counted from 0. `k` is `n / 2` for the [`median`](Rank2d::median) of `n` samples, 0 for the [`minimum`](Rank2d::minimum), `n - 1` for the
//! [`maximum`](Rank2d::maximum), and any other for a [`rank`](Rank2d::rank) or a [`percentile`](Rank2d::percentile). Samples outside count
//! like those inside. The [`Extent`] and the [`stride`](Rank2d::stride) select outputs as for [`Filter2d`](crate::Filter2d).
//!
//! ```
//! use slm::ndarray::array;
//! use slm::{Boundary, Device, Rank2d, RankWindow};
//!
//! # fn main() -> slm::Result<()> {
//! let device = Device::open()?;
//! let noisy = array![[10u8, 10, 10, 80, 80], [10, 255, 10, 80, 80], [10, 10, 10, 0, 80]];
//! let median = Rank2d::median(3).boundary(Boundary::Nearest).prepare(&device)?;
//! assert_eq!(median.apply(&noisy)?.row(1).to_vec(), [10, 10, 10, 80, 80]);
//!
//! let nearly_least = Rank2d::percentile(RankWindow::disc(1), 20.0).boundary(Boundary::Nearest).prepare(&device)?;
//! assert_eq!(nearly_least.apply(&noisy)?.row(1).to_vec(), [10, 10, 10, 10, 80]);
//! # Ok(())
//! # }
//! ```
//!
//! # Order and numbers
//!
//! Samples and outputs are `u8`, `u16`, `i16`, `i32`, `f32` or `f64`. An output is the same as by sorting the window, bit for bit, on every
//! device and with every algorithm. Floats are in the total order
//!
//! `-∞ < … < -0 < +0 < … < +∞`,
//!
//! so of two zeros of different sign the negative one is less, as in [`f32::total_cmp`]; constants of both axes that are such zeros count as
//! the one of the rows. Other equal samples have equal bits, so it makes no difference which of them is the output. NaNs have no place in it:
//! [`RankNanPolicy::Propagate`] makes outputs NaN whose window contains one, and [`RankNanPolicy::Omit`] leaves them out. A NaN means any
//! float that is not a number, quiet or signalling, with either sign. Outputs that are NaN are [`f32::NAN`] or [`f64::NAN`].
//!
//! # Cost
//!
//! | outputs | on the CPU | on a GPU |
//! |---|---|---|
//! | extremes of rectangles | about `1.5 (log2(h) + log2(v))` comparisons, of vectors of neighbouring outputs | from 17 rows or columns on, with strides of 1: about four comparisons along each axis, or one per sample if their tile does not fit into shared memory; otherwise about `h + v`, if that tile fits |
//! | extremes of other windows | two comparisons for each run of neighbouring samples in a row of the window, of vectors of neighbouring outputs; one per sample with heights, or other strides of columns than 1 | two comparisons for each run; one per sample with heights or other strides than 1, or if what the runs share does not fit into shared memory |
//! | other ranks of up to 49 samples | a network of comparisons, of vectors of neighbouring outputs, unless NaNs are left out; in registers for medians of squares of 3, 5 and 7 rows | networks for medians of squares of 3, 5 and 7 rows with strides of 1 that leave no NaNs out, for all windows of up to 25 samples, and for those of up to 49 that are not sorted as below |
//! | others of rectangles, strides of 1 | counts of the samples in each column of the window: hardly more for large windows, and about four times as much if samples have more than 8 bits, which are sorted first; as in the next row if samples of up to 16 bits have `h = 1` | a block sorts a tile and counts those of its samples that are in a window, 32 in one step; bisection if the tile does not fit into shared memory |
//! | others, `u8`, `u16`, `i16` | counts of the window, updated with the ends of its runs | bisection: one pass over the window per bit, so on an H200 a disc of 15 x 15 takes 11 times (`u8`) to 23 times (`f32`) as long as that rectangle |
//! | others | selection in linear time | bisection |

// | file | contents |
// |---|---|
// | `description.rs`, `shape.rs`, `algorithm.rs` | what a user asks for: plain data |
// | `rule.rs`, `element.rs` | the same in the form that CPU and GPU code use |
// | `choose.rs` | the choice of the method, as a plain value |
// | `cpu/`, `gpu/` | what has been chosen |
// | `prepared.rs` | a filter on a device, and its uses |
// | `step.rs` | a filter as a step of another operation |
//
// Windows and the forms of pictures are those of `two_d/`.
mod algorithm;
mod choose;
mod cpu;
mod description;
mod element;
mod error;
mod gpu;
mod prepared;
mod rule;
mod shape;
mod step;

pub use algorithm::Rank2dAlgorithm;
pub use description::{Rank2d, RankNanPolicy};
pub use element::RankElement;
pub use error::RankError;
pub use prepared::PreparedRank2d;
pub use shape::RankWindow;
pub(in crate::filter) use step::Step;

#[cfg(doc)]
use crate::{Boundary, Extent};
