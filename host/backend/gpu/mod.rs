//! What all backends that run kernels have in common. Free of `unsafe`. Once they are prepared, filters and histograms
//! allocate nothing here; a transposition takes a little of the host's memory for the windows of a launch.
//!
//! | file | what |
//! |---|---|
//! | `limits.rs` | what a device allows of a launch |
//! | `filter1d.rs`, `histogram/` | one file per operation: which kernels it launches, how often, in which shape and with which arguments |
//! | `transpose.rs`, `transpose_in_place.rs` | the same, and the launches themselves |

mod filter1d;
pub(crate) mod histogram;
mod limits;
mod transpose;
mod transpose_in_place;

pub(crate) use filter1d::{FilterKernels, Kernel, Launch, Launches};
pub(crate) use limits::LaunchLimits;
pub(crate) use transpose::Transpose;
pub(crate) use transpose_in_place::TransposeInPlace;
