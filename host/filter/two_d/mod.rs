//! Two-dimensional filters of pictures and matrices.
//!
//! For samples `x[r, c]`, continued outside by a [`Boundary`] of each axis, and weights `w` of `h` rows and `v` columns:
//!
//! * [`correlate`](Filter2d::correlate): `y[r, c] = Σ_i Σ_j w[i, j] · x[r + d₀ (i - h / 2), c + d₁ (j - v / 2)]`
//! * [`convolve`](Filter2d::convolve): `y[r, c] = Σ_i Σ_j w[i, j] · x[r - d₀ (i - h / 2), c - d₁ (j - v / 2)]`
//!
//! `h / 2` and `v / 2` are rounded down, and an [`origin`](Filter2d::origin) adds to both. `d₀` and `d₁` are the
//! [`dilation`](Filter2d::dilation). The [`Extent`] selects the range of `r` and `c` along each axis, as for [one-dimensional
//! filters](crate::filter1d) with `d (h - 1) + 1` taps. Of this range, the [`stride`](Filter2d::stride) selects every `s`-th element,
//! beginning with the first one. Without samples there are no outputs.
//!
//! ```
//! use slm::ndarray::array;
//! use slm::{Boundary, Device, Filter2d};
//!
//! # fn main() -> slm::Result<()> {
//! let device = Device::open()?;
//! let picture = array![[0u8, 0, 0, 0], [0, 255, 255, 0], [0, 0, 0, 0]];
//! let edges = Filter2d::sobel_y().output::<i16>().prepare(&device)?;
//! assert_eq!(edges.apply(&picture)?[[2, 1]], -765);
//!
//! let blur = Filter2d::gaussian(0.5).boundary(Boundary::Mirror).prepare(&device)?;
//! assert_eq!(blur.apply(&picture)?.row(1).to_vec(), [43, 179, 179, 43]);
//! # Ok(())
//! # }
//! ```
//!
//! # Types and numbers
//!
//! Samples `S` and outputs `O` are `u8`, `u16`, `i16`, `i32`, `f32` or `f64`. Weights `W` are `i32`, `f32` or `f64`, or `i8`, `u8`,
//! `i16` or `u16`, which are treated as `i32`. Samples and weights are converted to the type of the sums before they are multiplied:
//!
//! | samples | weights | sums |
//! |---|---|---|
//! | `u8` `u16` `i16` `i32` | `i32` | `i32` if no sum can exceed it, otherwise `i64`; exact |
//! | `u8` `u16` `i16` `f32` | `f32` | `f32` |
//! | all others | | `f64` |
//!
//! No sum exceeds `i32` if the sum of the magnitudes of the weights, times the largest magnitude of the sample type, is less than
//! 2^31. For `i64` [`prepare`](Filter2d::prepare) checks the same with 2^63, so integer sums never overflow.
//!
//! Sums are converted to integer outputs by rounding to the nearest integer, ties to even, and saturating; NaN becomes 0. They are
//! converted to float outputs by rounding to the nearest number.
//!
//! For sums of floats every output has its own error bound before this conversion, on every device and with every algorithm:
//!
//! `|y - exact| ≤ γ · Σ |w · x| + m · s` with `γ = m · u / (1 - m · u)`
//!
//! `m` is the number of weights, `h · v`; for [`separable`](Filter2d::separable) filters and those that are computed as such it
//! is `h · v + 16`. `u` is `2^-24` for sums of type `f32` and `2^-53` for `f64`, and `s` the smallest positive number of the type.
//! The bound of both holds unless a product of two weights or a sum along one axis overflows or underflows. Filters
//! whose weights are all equal have the bound of separable ones. They may be computed as the weight times the sum of the samples
//! (on the CPU, and with [`Box`](Filter2dAlgorithm::Box)), and then the bound holds unless a sum of samples of a window overflows.
//! [`gaussian`](Filter2d::gaussian) and [`box_blur`](Filter2d::box_blur) of integers have bounds of their own, below.
//! With [`NanPolicy::Renormalise`] each of the three sums has this bound, and the quotient and the product are rounded.
//! [`filter1d`](crate::filter1d#numbers) has the source of the bound, and describes overflow, infinities and NaNs, which are the
//! same here.
//!
//! # Fourier transforms
//!
//! [`Filter2d::error_bound`] allows transforms of lines, along the rows and then down the columns on the CPU, the other way round on a GPU. Each of
//! both passes has the [bound of a line](crate::filter1d#fourier-transforms), the second one with the sums of the first one as its
//! samples: with `E` for the bound of such a sum, an output has at most `E · Σ_i |w[i]|` from the first pass, with the weights `w` of the second
//! one, and that of its own segment. Errors of usual pictures are
//! far below it, about `u · ‖x‖ · ‖w‖`. So integer outputs differ from those of sums by one in few places, and Gaussians leave constant
//! pictures of `u8` and `u16` as they are. A NaN or an infinity reaches all outputs of its segment of a line and, on a GPU, of the
//! segment that is transformed at the same time, which for the last one of a line can be the first one of the next line; and in the second
//! pass those of all segments that have one of these.
//!
//! On the CPU, `error_bound` allows transforms for weights that are no outer product, too. The outputs are cut into panels of some columns. The
//! rows of samples that a panel depends on, joined, are a line, and so are the rows of weights, with zeros between them. An output has the bound
//! of that line, with the norm of its segment's samples. A segment has up to about eight times as many rows of the panel as there are rows of
//! weights, and a NaN or an infinity reaches all outputs of each segment that reads it. Whether there are panels, and how wide they are, depends
//! on the size and the number of the pictures; outputs differ within the bound.
//!
//! # Means of integers
//!
//! A constant picture of integers stays as it is, on every device and with every algorithm, if its boundary continues it:
//!
//! * [`box_blur`](Filter2d::box_blur) adds up samples, which is exact, and divides the sum once. The quotient is rounded to the
//!   nearest integer, ties to even, or for outputs of floats to the nearest number of the type of the sums. That type is `f32` for boxes
//!   of up to 65,536 samples of `u8`, 256 of `u16` and 512 of `i16`, and `f64` otherwise and for outputs of `f64`. It has all integers
//!   up to 2^53: boxes of `i32` are exact with up to 2^22 samples, those of narrower integers with at least 2^37. In larger ones, sums
//!   have the bound of sums of `f64`.
//! * [`gaussian`](Filter2d::gaussian) has sums of `f32` if their error for equal samples is less than half an output, otherwise of
//!   `f64`. The error grows with the number of weights, and faster if an algorithm adds all products at once than if it makes two
//!   passes. For `i32` it always has sums of `f64`.
//!
//! # Weights that are longer than the picture
//!
//! With a boundary that repeats the samples, or outside, several weights may meet the same sample in every output: those `n` samples
//! apart for [`Wrap`](Boundary::Wrap), `2 n` for [`Reflect`](Boundary::Reflect), `2 n - 2` for [`Mirror`](Boundary::Mirror), and all
//! that are before the picture, or behind it, in every output otherwise. Along an axis with more than 64 weights they are added up
//! first, on every device. So the products per output and axis are at most `2 n`, or about `n` plus the outputs, however large the
//! weights are. With [`Extent::Full`] and a stride of 1, all weights meet samples of their own for the constant boundaries and
//! [`Nearest`](Boundary::Nearest), so none are added up. Equal weights are not added up if sums of segments take less time, nor for
//! [`Box`](Filter2dAlgorithm::Box) on a GPU.
//!
//! Weights are added in twice the double precision, rounded to `f64` and then to the type of the sums, integers exactly, so the bounds
//! above hold. If a sum of finite weights overflows, none are added up. The filter for a new size is prepared when it is first used
//! or planned. Both then have the errors of [`prepare`](Filter2d::prepare), too.
//!
//! A NaN among the samples reaches the same outputs as without that. An infinity is multiplied by the sum of its weights: the output is
//! NaN if that is 0, otherwise infinite with its sign, also where weights of both signs would each have made an infinity.
//!
//! # Batches and channels
//!
//! A pixel has one channel, or several interleaved [`channels`](Filter2d::channels). Axes of an array before its rows are a batch.
//! So planar colours are a batch of pictures: an array of the shape (3, rows, columns).

// | file | contents |
// |---|---|
// | `description.rs`, `algorithm.rs` | what a user asks for: plain data, with weights of `generated.rs` |
// | `window.rs`, `pictures.rs`, `rule.rs` | the filter without its weights, and problems of known size |
// | `weights.rs`, `any_weights.rs`, `mean.rs` | the weights, and the type in which products are added up |
// | `facts.rs`, `rank.rs` | what is known about the weights |
// | `choose.rs`, `tuning.rs`, `time.rs` | the choice of the kernels, as a plain value |
// | `cpu/`, `gpu/` | what has been chosen |
// | `prepared.rs` | a filter on a device, and its uses |
// | `details.rs` | what its plans say |
// | `folded.rs` | pictures that are smaller than the weights |
// | `line.rs` | one-dimensional filters |
//
// Types are known at run time only, from `rule.rs` on, so that code is not compiled for each combination of samples, weights and
// outputs.
mod accumulator;
mod algorithm;
mod any_weights;
mod choose;
mod cpu;
mod description;
mod details;
mod element;
mod error;
mod facts;
mod folded;
mod generated;
mod gpu;
mod line;
mod mean;
mod pictures;
mod prepared;
mod rank;
mod rule;
mod time;
mod tuning;
mod weights;
pub(in crate::filter) mod window;

pub use crate::device::data::Planes;
pub use crate::filter::signal::{FilterSample, FilterWeight};
pub use algorithm::Filter2dAlgorithm;
pub(in crate::filter) use description::borders;
pub use description::{Filter2d, NanPolicy};
pub use details::{Filter2dMethod, Filtering};
pub use error::{Filter2dError, Unsupported};
pub(crate) use line::LineFilter;
pub use prepared::PreparedFilter2d;
pub(crate) use window::MOST_CHANNELS;

#[cfg(doc)]
use crate::{Boundary, Extent};
