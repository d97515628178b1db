//! One-dimensional filters.
//!
//! For samples `x[0..n]` and taps `w[0..m]`, with `x` continued beyond its ends by a [`Boundary`]:
//!
//! * [`correlate`](Filter1d::correlate): `y[i] = Σ_j w[j] · x[i + j - m / 2]`
//! * [`convolve`](Filter1d::convolve): `y[i] = Σ_j w[j] · x[i - j + m / 2]`
//!
//! `j` runs from 0 to `m - 1`, and `m / 2` is rounded down. With an even number of taps the centre is the later of the two in
//! the middle, as in SciPy's `correlate1d` and `convolve1d`; an [`origin`](Filter1d::origin) selects another tap. The [`Extent`]
//! selects the `i`, and a [`stride`](Filter1d::stride) every `s`-th of them.
//!
//! ```
//! use slm::{Boundary, Device, Extent, Filter1d};
//!
//! # fn main() -> slm::Result<()> {
//! let device = Device::open()?;
//! let smooth = Filter1d::correlate(&[0.25f32, 0.5, 0.25])
//!     .boundary(Boundary::Nearest)
//!     .prepare(&device)?;
//! assert_eq!(smooth.apply(&[0.0, 4.0, 0.0, 4.0])?, [1.0, 2.0, 2.0, 3.0]);
//! let difference = Filter1d::convolve(&[1, -1]).extent(Extent::Valid).prepare(&device)?;
//! assert_eq!(difference.apply(&[2, 3, 5, 8])?, [1, 2, 3]);
//! # Ok(())
//! # }
//! ```
//!
//! # Types
//!
//! Samples and outputs have one type, which is `u8`, `u16`, `i16`, `i32`, `f32` or `f64`. Taps are `i32`, `f32` or `f64`.
//! [`correlate`](Filter1d::correlate) and [`convolve`](Filter1d::convolve) are for samples of the type of the taps, and
//! [`samples`](Filter1d::samples) sets another one. Samples and taps are converted to the type of the sums before they are
//! multiplied:
//!
//! | samples | taps | sums |
//! |---|---|---|
//! | `i32` | `i32` | `i32`, which wraps around |
//! | `u8` `u16` `i16` | `i32` | `i32` if no sum can exceed it, otherwise `i64`; exact |
//! | `u8` `u16` `i16` `f32` | `f32` | `f32` |
//! | all others | | `f64` |
//!
//! Sums are converted to outputs as those of [`filter2d`](crate::filter2d#types-and-numbers): integers are rounded to the nearest
//! one, ties to even, and saturate.
//!
//! ```
//! use slm::{Boundary, Device, Filter1d};
//!
//! # fn main() -> slm::Result<()> {
//! let device = Device::open()?;
//! let smooth = Filter1d::correlate(&[0.25f32, 0.5, 0.25]).samples::<u8>().boundary(Boundary::Nearest);
//! assert_eq!(smooth.prepare(&device)?.apply(&[0, 40, 0, 255])?, [10, 20, 74, 191]);
//! let double = Filter1d::correlate(&[2]).samples::<u8>();
//! assert_eq!(double.prepare(&device)?.apply(&[7, 200])?, [14, 255]);
//! # Ok(())
//! # }
//! ```
//!
//! [`gaussian`](Filter1d::gaussian) and [`box_blur`](Filter1d::box_blur) of integers leave a constant signal as it is, as those of
//! [pictures](crate::filter2d#means-of-integers): the mean of a box is an exact sum, divided and rounded once.
//!
//! Taps that are longer than the signal, and meet the same samples in every output, are added up first, as for
//! [pictures](crate::filter2d#weights-that-are-longer-than-the-picture). So a filter takes at most `2 n` products per output, or
//! about `n` plus the number of outputs. With [`Extent::Full`] and a stride of 1, taps are not added up for the constant boundaries and
//! [`Nearest`](Boundary::Nearest). Sums of `i32` wrap around as without that. [Transforms](#fourier-transforms) add up none.
//!
//! # Numbers
//!
//! For sums of floats every output has its own error bound before its conversion, on every device and with every
//! algorithm except [`Fft`](Filter1dAlgorithm::Fft):
//!
//! `|y[i] - exact| ≤ γ · Σ_j |w[j] · x[k]| + m · s` with `γ = m · u / (1 - m · u)`
//!
//! `x[k]` is the sample that `w[j]` meets, also outside; a convolution has the same bound. `u` is
//! `2^-24` for sums of type `f32` and `2^-53` for `f64`, and `m · u` is at most 1/2. The products are added in the order of the samples, with a
//! [stride](Filter1d::stride) first those of every `s`-th sample. A
//! GPU rounds once per product and sum (a fused multiply-add), `m` times in all. The CPU rounds each product, and each sum
//! except the first, which adds to zero. In both cases a product is rounded at most `m` times (Higham, *Accuracy and Stability
//! of Numerical Algorithms*, section 3.1).
//!
//! `s` is the smallest positive number of the type, `2^-149` or `2^-1074`. The second term is for underflow: a result below
//! the smallest normal number is rounded to a multiple of `s`. Its error is at most `s / 2`, once per tap, and later roundings
//! at most double it. Without such results the term is zero. Subnormal numbers are never flushed to zero.
//!
//! The bound holds if no product and no partial sum overflows. Nothing overflows if `Σ|w · x|` plus the bound does not exceed
//! the largest number of the type. A value that overflows becomes infinite, and stays infinite or becomes NaN in the rest of
//! the sum, even if the exact result is finite. A single product can only overflow on the CPU. Except for that, all algorithms
//! of a GPU agree bit for bit. Results do not depend on the number of threads.
//!
//! A NaN or an infinity among the samples only affects outputs that depend on it. With a boundary that continues the samples,
//! it also affects outputs that depend on its copies. A NaN makes an output NaN. An infinity makes an output infinite, with the
//! sign of its product; but NaN if its tap is zero, or if another term is NaN or infinite with the opposite sign. Samples
//! outside the signal take part like all others: zero times a finite tap adds nothing, and zero times an infinite tap is NaN. Taps
//! that are added up first count as one.
//!
//! All of this is about sums, and not about [`Fft`](Filter1dAlgorithm::Fft).
//!
//! # Fourier transforms
//!
//! Long filters of `f32` and `f64` take much less time by Fourier transforms, at the price of a weaker bound: of
//! 2^26 samples, a GPU filters 1,025 taps in about a ninth of the time. [`Filter1d::error_bound`] allows `Auto` to take them, and
//! [`Filter1dAlgorithm::Fft`] requires them.
//!
//! ```
//! use slm::filter1d::ErrorBound;
//! use slm::{Device, Filter1d};
//!
//! # fn main() -> slm::Result<()> {
//! let smooth = Filter1d::gaussian(200.0).error_bound(ErrorBound::PerSegment).prepare(&Device::open()?)?;
//! assert_eq!(smooth.apply(&vec![1.0f32; 100_000])?.len(), 100_000);
//! # Ok(())
//! # }
//! ```
//!
//! A line is divided into *segments*. The outputs of a segment, or of two at the same time, are computed together from `N` samples of each
//! (overlap-save), with `N` from 1,024 to 8,192 on a GPU, and four to eight times the number of taps, at least 1,024, on the CPU (half of
//! that for some short lines, unless transforms are requested). For each output
//!
//! `|y[i] - exact| ≤ 32 · u · log2(N) · ‖x‖ · Σ_j |w[j]|`
//!
//! with the Euclidean norm of the samples of its segments, also of those outside of the line (Higham, theorem 24.2; plus `2 · u` for each
//! part of taps that do not fit into a segment). Errors of usual data are far below it, about `u · ‖x‖ · ‖w‖`. The bound holds if neither
//! `N · max|x|` nor `N · max|x| · Σ|w|` exceeds the largest number of the type, and if neither the samples nor the taps divided by `N` are
//! below its smallest normal number, unless they are 0. What this means:
//!
//! * Small outputs beside large samples have large relative errors. Beside a sample of 10^6, an output of `f32` that would be 1 has an error
//!   of about 0.1.
//! * A NaN or an infinity makes all outputs of its segments NaN or infinite.
//! * Outputs that would be 0 are not exactly 0 if there are other samples in their segments.
//! * Outputs depend within the bound on where segments begin: so those of a part of a line, of a stream or of several devices may have other
//!   bits than those of the whole line.

// | file | contents |
// |---|---|
// | `description.rs` | what a user asks for: plain data |
// | `lines.rs` | the problem, and the taps |
// | `prepared.rs` | a filter on a device, and its uses |
// | `line_filter.rs` | the code that filters: that of one type (`element.rs`), or that for pictures |
// | `cpu.rs` | the code of one type on the CPU |
// | `method.rs`, `time.rs` | by sums, on tensor cores or by transforms, and the times that decide it |
// | `details.rs` | what plans say |
// | `fft/` | filters by transforms |
// | `choose.rs`, `tuning.rs` | the choice of the kernel on a GPU, and its constants |
// | `gpu.rs`, `launches.rs`, `kernels.rs` | the launches of the choice: kernels, shapes and arguments |
// | `on_pictures.rs` | interleaved channels, and types without code of their own, by the kernels of pictures |
mod algorithm;
mod choose;
mod cpu;
mod description;
mod details;
mod element;
mod error;
mod fft;
mod gpu;
mod kernels;
mod launches;
mod line_filter;
mod lines;
mod method;
mod on_pictures;
mod prepared;
mod time;
mod tuning;

pub use algorithm::{ErrorBound, Filter1dAlgorithm, HaloLoad};
pub use description::Filter1d;
pub(crate) use details::write_time;
pub use details::{Accuracy, Filter1dMethod, Filtering};
pub use element::FilterElement;
pub(crate) use element::{LineKernels, Number};
pub use error::Filter1dError;
pub(crate) use fft::points_on_cpu;
pub(crate) use line_filter::{CpuLines, GpuLines};
pub(crate) use lines::{Lines, Reach, Taps};
pub(crate) use method::{GpuOfLines, TAPS_ON_CPU, of_many_taps, on_gpu_by, time_on_gpu};
pub use prepared::PreparedFilter1d;
pub(crate) use time::duration;

#[cfg(doc)]
use crate::{Boundary, Extent};
