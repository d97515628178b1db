//! One-dimensional filters.
//!
//! For samples `x[0..n]` and taps `w[0..m]`, with `x` continued beyond its ends by a [`Boundary`]:
//!
//! * [`correlate`](Filter1d::correlate): `y[i] = Σ_j w[j] · x[i + j - m / 2]`
//! * [`convolve`](Filter1d::convolve): `y[i] = Σ_j w[j] · x[i - j + m / 2]`
//!
//! `j` from 0 to `m - 1`, and `m / 2` rounded down: with an even number of taps the centre is the later of the two
//! in the middle, as in SciPy's `correlate1d` and `convolve1d`. The [`Extent`] says for which `i`.
//!
//! # Numbers
//!
//! `i32` wraps around. For floats every output has a bound of its own, on every device and with every algorithm:
//!
//! `|y[i] - exact| ≤ γ · Σ_j |w[j] · x[i + j - m / 2]| + m · s` with `γ = m · u / (1 - m · u)`
//!
//! over the samples that it is made of, those outside included, and the same for a convolution. `u` is `2^-24` for `f32` and
//! `2^-53` for `f64`, and `m · u` at most 1/2. The products are added in the order in which the samples stand. A GPU rounds
//! once per product and sum (a fused multiply-add), so `m` times; the CPU rounds each product and each sum but the first,
//! which is that of zero. Either way no product meets more than `m` roundings (Higham, *Accuracy and Stability of Numerical
//! Algorithms*, section 3.1).
//!
//! `s` is the type's smallest positive number, `2^-149` or `2^-1074`. The second term is for underflow: a result below the
//! smallest normal number is rounded to a multiple of `s`, off by `s / 2` at most, once per tap, and the roundings that
//! follow make up to twice as much of that. Without such results the term is zero. Subnormal numbers are not flushed to zero
//! anywhere.
//!
//! All of this as long as no product and no sum of the first products overflows. Nothing overflows if `Σ|w · x|` and the bound
//! together do not exceed the type's largest number. What does overflow becomes infinite, and stays so or becomes NaN in the
//! further sum, even if the exact result is an ordinary number. A product that overflows by itself may do so on the CPU alone.
//! But for this, all algorithms of a GPU agree bit for bit, and results do not depend on the number of threads.
//!
//! A NaN or an infinity among the samples reaches those outputs whose taps touch it, and no others; with a boundary that
//! continues the samples, also those whose taps touch its copies. A NaN makes them NaN. An infinity makes them infinite, with
//! the sign of its product, and NaN where its tap is zero, where another term is NaN, or infinite with the other sign.
//! Samples outside take part like all others: a zero outside times a finite tap adds nothing, times an infinite one it is
//! NaN.

// A description becomes a prepared operation, which runs on a device: `cpu.rs`, or `gpu.rs` with the kernels of `kernels.rs`
// launched as `launches.rs` says, with the numbers of `tuning.rs`. `lines.rs` is the problem that both have.
mod cpu;
mod description;
mod element;
mod error;
mod gpu;
mod kernels;
mod launches;
mod lines;
mod plan;
mod prepared;
mod tuning;

pub use description::{Filter1d, FilterAlgorithm, HaloLoad};
pub use element::FilterElement;
pub use error::FilterError;
use lines::{Lines, Taps};
pub use plan::Plan;
pub use prepared::PreparedFilter1d;

#[cfg(doc)]
use crate::{Boundary, Extent};
