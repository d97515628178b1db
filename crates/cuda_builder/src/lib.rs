//! Compiles a crate of GPU kernels, written in Rust with `cuda_std`, to PTX from a build script.
//!
//! ```no_run
//! // build.rs of a crate whose kernels are in the folder `kernels`
//! use cuda_builder::CudaBuilder;
//!
//! fn main() {
//!     CudaBuilder::new("kernels").module("filter1d").build().unwrap_or_else(|error| error.exit());
//! }
//! ```
//!
//! The crate then includes the modules with `cuda_std::include_kernels!()`. The README shows the kernel crate, the
//! crate that uses it, and how compiled modules are committed.
//!
//! An ordinary rustc compiles the kernels for its target `nvptx64-nvidia-cuda`, without a CUDA toolkit or a GPU. It needs
//! the sources of the standard library, because `core` is compiled for the device too. Without such a compiler, a build
//! takes the modules that were compiled and committed before ([`Mode`]).

mod arch;
mod builder;
mod check;
mod committed;
mod compilation;
mod compiler;
mod convergence;
mod device_build;
mod environment;
mod error;
mod files;
mod flags;
mod index;
mod kernel_crate;
mod line_directives;
mod messages;
mod mode;
mod names;
mod output;
mod registers;
mod sources;
mod target_dir;
#[cfg(test)]
mod test_dir;
mod up_to_date;
mod watch;
mod wrapper;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use arch::Arch;
pub use builder::CudaBuilder;
pub use check::{Check, Difference, DifferenceKind};
pub use error::{BuildError, Rejected};
pub use mode::Mode;
pub use output::{Built, Committed, Image, Origin};
