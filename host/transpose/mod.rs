//! Transposing matrices: `y[c][r] = x[r][c]`.
//!
//! Matrices are stored row after row. An element has one or several *components*, which stay together and in order: the
//! three bytes of a pixel, the two numbers of a complex one. Several matrices of one shape lie one after another and are
//! transposed each for itself. In terms of buffers, with `m` the matrix, `r` the row, `c` the column and `k` the component:
//!
//! `y[((m · columns + c) · rows + r) · components + k] = x[((m · rows + r) · columns + c) · components + k]`
//!
//! Numbers are moved and never looked at, so NaNs keep their bits, on every device and with every algorithm.
//!
//! [`Transpose::prepare`] is for another buffer as the output, [`Transpose::prepare_in_place`] for the same one. Either takes
//! buffers, matrices whose rows may have gaps between them, and arrays of `ndarray` with any strides.

// A description becomes a prepared operation, which runs on a device: `cpu.rs`, or `gpu.rs` with the kernels of `kernels.rs`
// and the numbers of `tuning.rs`. `matrices.rs` is the problem that both have, `in_place/` the same for one buffer.
mod cpu;
mod description;
mod element;
mod error;
mod gpu;
mod in_place;
mod kernels;
mod matrices;
mod plan;
mod prepared;
mod tuning;

pub use description::{Transpose, TransposeAlgorithm};
pub use element::TransposeElement;
pub use error::TransposeError;
pub use in_place::PreparedTransposeInPlace;
use matrices::Matrices;
pub use plan::Plan;
pub use prepared::PreparedTranspose;
use prepared::check_shape;
