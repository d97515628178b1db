//! Transposing matrices: `y[c][r] = x[r][c]`.
//!
//! ```
//! use slm::{Device, Transpose};
//!
//! # fn main() -> slm::Result<()> {
//! let transpose = Transpose::new(2, 3).prepare(&Device::open()?)?;
//! assert_eq!(transpose.apply(&[1, 2, 3, 4, 5, 6])?, [1, 4, 2, 5, 3, 6]);
//! # Ok(())
//! # }
//! ```
//!
//! Matrices are row-major. An element has one or several *components*, which stay together and in order, such as the three
//! bytes of a pixel or the two parts of a complex number. Several matrices of one shape are stored one after another and
//! transposed separately. With matrix `m`, row `r`, column `c` and component `k`:
//!
//! `y[((m · columns + c) · rows + r) · components + k] = x[((m · rows + r) · columns + c) · components + k]`
//!
//! Numbers are moved without computation, so NaNs keep their bits, on every device and with every algorithm.
//!
//! [`Transpose::prepare`] is for a separate output, [`Transpose::prepare_in_place`] for transposing in place. Both accept
//! buffers, matrices with gaps between rows, and arrays of `ndarray` with any strides.

// | file | contents |
// |---|---|
// | `description.rs`, `algorithm.rs`, `element.rs` | what a user asks for: plain data |
// | `matrices.rs` | the same in the form that CPU and GPU code use |
// | `choose.rs`, `tuning.rs` | the choice of the kernel, and its constants |
// | `gpu.rs`, `kernels.rs` | what has been chosen, and the kernels for units of all sizes |
// | `cpu.rs` | the same on the CPU |
// | `prepared.rs` | a transposition on a device, and its uses |
// | `in_place/` | the corresponding files for transpositions in place |
// | `pictures.rs` | pictures of the crate `image` in place |
// | `error.rs` | errors |
mod algorithm;
mod choose;
mod cpu;
mod description;
mod element;
mod error;
mod gpu;
mod in_parts;
mod in_place;
mod kernels;
mod matrices;
#[cfg(feature = "image")]
mod pictures;
mod prepared;
mod tuning;

pub use algorithm::TransposeAlgorithm;
pub use description::Transpose;
pub use element::TransposeElement;
pub use error::TransposeError;
pub(crate) use gpu::GpuTranspose;
pub use in_place::{InPlace, PreparedTransposeInPlace};
pub(crate) use matrices::Matrices;
pub use prepared::PreparedTranspose;
