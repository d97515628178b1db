//! What all backends that run kernels have in common. Free of `unsafe`, and nothing here allocates once an operation is
//! prepared.
//!
//! | file | what |
//! |---|---|
//! | `limits.rs` | what a device allows of a launch |
//! | `filter1d.rs`, `histogram/` | one file per operation: which kernels it launches, how often, in which shape and with which arguments |

mod filter1d;
pub(crate) mod histogram;
mod limits;

pub(crate) use filter1d::{FilterKernels, Kernel, Launch, Launches};
pub(crate) use limits::LaunchLimits;
