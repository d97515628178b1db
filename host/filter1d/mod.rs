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
//! `i32` wraps around. For floats `|y[i] - exact| ≤ m · u / (1 - m · u) · max|x| · Σ|w|`, with `max|x|` over the samples
//! and a constant outside, `u = 2^-24` for `f32` and `2^-53` for `f64`, and `m · u < 1`, on every device and with every
//! algorithm (the bound for a sum in order, Higham, *Accuracy and Stability of Numerical Algorithms*, section 3.1), as
//! long as no product underflows, and no product and no sum of the first products overflows. Nothing overflows if
//! `max|x| · Σ|w|` and the bound together do not exceed the type's largest number. What does overflow becomes infinite,
//! and stays so or becomes NaN in the further sum, even if the exact result is an ordinary number.
//!
//! The products are added in the order in which the samples stand; a GPU rounds once per product and sum, the CPU twice.
//! So all algorithms of a GPU agree bit for bit, and results do not depend on the number of threads. A product that
//! overflows by itself may do so on the CPU alone.
//!
//! A NaN or an infinity among the samples reaches those outputs whose taps touch it, and no others. Samples outside
//! take part like all others: an infinite tap times a zero outside is NaN.

mod bound;
mod description;
mod lines;
mod plan;
mod prepared;

pub(crate) use bound::Bound;
pub use description::{Algorithm, Filter1d, HaloLoad};
pub use lines::FilterElement;
pub(crate) use lines::{Lines, Taps};
pub use plan::Plan;
pub use prepared::PreparedFilter1d;

#[cfg(doc)]
use crate::{Boundary, Extent};
