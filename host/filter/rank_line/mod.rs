//! Rank filters of lines: medians, minima, maxima and percentiles of signals.
//!
//! For samples `x[i]`, continued outside by a [`Boundary`], and windows of `n` samples, the output `y[i]` is one of the samples
//!
//! `x[i + j - n / 2]` for `j` from 0 to `n - 1`,
//!
//! where `n / 2` is rounded down, and an [`origin`](Rank1d::origin) adds to it: that with the number `k` in ascending order, counted from 0.
//! `k` is `n / 2` for the [`median`](Rank1d::median), 0 for the [`minimum`](Rank1d::minimum), `n - 1` for the [`maximum`](Rank1d::maximum),
//! and any other for a [`rank`](Rank1d::rank) or a [`percentile`](Rank1d::percentile). Samples outside count like those inside. The
//! [`Extent`] and the [`stride`](Rank1d::stride) select outputs as for [`Filter1d`](crate::Filter1d).
//!
//! ```
//! use slm::{Boundary, Device, Rank1d};
//!
//! # fn main() -> slm::Result<()> {
//! let median = Rank1d::median(3).boundary(Boundary::Nearest).prepare(&Device::open()?)?;
//! assert_eq!(median.apply(&[1.0f32, 2.0, 99.0, 3.0, 4.0, f32::INFINITY])?, [1.0, 2.0, 3.0, 4.0, 4.0, f32::INFINITY]);
//! # Ok(())
//! # }
//! ```
//!
//! Lines are the rows or columns of pictures, and ranks are those of [`rank2d`](crate::rank2d), with the same order of numbers, treatment of
//! NaNs, methods and cost: outputs are the same as by sorting the window, bit for bit, on every device.

// | file | contents |
// |---|---|
// | `description.rs` | what a user asks for: plain data |
// | `prepared.rs` | a filter on a device, and its uses |
mod description;
mod prepared;

pub use description::Rank1d;
pub use prepared::PreparedRank1d;

#[cfg(doc)]
use crate::{Boundary, Extent};
