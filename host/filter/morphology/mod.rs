//! Morphology of pictures: erosion, dilation, and what is made of them.
//!
//! For samples `x[r, c]`, continued outside by a [`Boundary`] of each axis, and a [`StructuringElement`] of `h` rows and `v` columns with
//! heights `s[i, j]`, all 0 if it is flat,
//!
//! * the [`erosion`](Morphology2d::erosion) is `min (x[r + p, c + q] - s[i, j])`
//! * the [`dilation`](Morphology2d::dilation) is `max (x[r - p, c - q] + s[i, j])`
//!
//! over all `(i, j)` of the element, where `p = i - h / 2` and `q = j - v / 2`. `h / 2` and `v / 2` are rounded down, and an
//! [`origin`](Morphology2d::origin) adds to both. So the dilation reflects the element about its origin, also if its sides are even, as
//! SciPy's `grey_dilation` does. The others are
//!
//! | operation | definition |
//! |---|---|
//! | [`opening`](Morphology2d::opening) | the dilation of the erosion |
//! | [`closing`](Morphology2d::closing) | the erosion of the dilation |
//! | [`gradient`](Morphology2d::gradient) | dilation - erosion |
//! | [`top_hat`](Morphology2d::top_hat) | `x` - opening |
//! | [`black_hat`](Morphology2d::black_hat) | closing - `x` |
//!
//! They agree with SciPy's `grey_erosion`, `grey_dilation`, `grey_opening`, `grey_closing`, `morphological_gradient`, `white_tophat` and
//! `black_tophat`. There is one output for each sample.
//!
//! ```
//! use slm::ndarray::array;
//! use slm::{Boundary, Device, Morphology2d, RankWindow};
//!
//! # fn main() -> slm::Result<()> {
//! let device = Device::open()?;
//! // A binary picture: 0 and 1.
//! let picture = array![[0u8, 1, 1, 1, 0, 1], [0, 1, 1, 1, 0, 0], [1, 1, 1, 1, 0, 0]];
//! let opening = Morphology2d::opening(RankWindow::rectangle(3, 3)).ignore_outside().prepare(&device)?;
//! assert_eq!(opening.apply(&picture)?, array![[0, 1, 1, 1, 0, 0], [0, 1, 1, 1, 0, 0], [0, 1, 1, 1, 0, 0]]);
//!
//! let edges = Morphology2d::gradient([1, 3]).boundary(Boundary::Nearest).prepare(&device)?;
//! assert_eq!(edges.apply(&array![[10.0f32, 10.0, 70.0, 70.0]])?, array![[0.0, 60.0, 60.0, 0.0]]);
//! # Ok(())
//! # }
//! ```
//!
//! # Borders
//!
//! Erosion and dilation both continue what they are applied to by the boundary, also the second one of an opening or closing. The default is
//! [`Boundary::Zero`]; SciPy's is `Boundary::Reflect`. OpenCV leaves out what is outside unless it is asked for a border:
//! [`ignore_outside`](Morphology2d::ignore_outside). For an erosion, that is the same as a constant which no sample exceeds, and for a
//! dilation, one which none is less than.
//!
//! # Numbers
//!
//! Samples, heights and outputs are `u8`, `u16`, `i16`, `i32`, `f32` or `f64`. Binary pictures are `u8` with 0 and 1. Sums and differences
//! of integers saturate, those of floats are rounded once. A gradient or top hat of integers without a sign that would be negative is 0, as in
//! OpenCV; that needs heights, or elements or constants outside with which the opening of a sample may be greater.
//!
//! The order of floats, and NaNs, are those of [`rank2d`](crate::rank2d#order-and-numbers). Where NaNs are left out, a sample is left out if
//! it is NaN after its height has been added or subtracted, such as `∞ - ∞`. Differences with a NaN, and `∞ - ∞` in gradients and hats, are
//! NaN, of whatever bits.
//!
//! # Cost
//!
//! Erosions and dilations run as the minima and maxima of [`rank2d`](crate::rank2d#cost): flat rectangles at a cost that hardly depends on
//! their size, other elements at one that depends on their number of rows, if they are flat, or of samples. Results in between are on the same
//! device, and nothing waits for them. On the CPU, a thread takes both steps over about 64 rows, or four times as many as an element has,
//! before it goes on to others, so there are results in between for these rows only.

// | file | contents |
// |---|---|
// | `structure.rs`, `description.rs` | what a user asks for: plain data |
// | `prepared.rs` | an operation on a device, and its uses |
// | `bands.rs` | both steps on the CPU |
//
// The steps are rank filters of `rank/`, and differences of `pointwise`.
mod bands;
mod description;
mod prepared;
mod structure;

pub use description::Morphology2d;
pub use prepared::PreparedMorphology2d;
pub use structure::StructuringElement;

#[cfg(doc)]
use crate::Boundary;
