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

// How one build runs:
//
//   CudaBuilder::{build, commit, check}                                                    builder, mode
//    ├─ the kernel crate: its modules and their targets                                    kernel_crate, module_names, arch
//    ├─ the compiler for the device                                                        compiler
//    ├─ Request::compile, for each module                                                  request
//    │   ├─ the committed module, if the same compiler made it of the same files           up_to_date
//    │   └─ DeviceBuild::run, for each target                                              device_build
//    │       ├─ a package that cargo compiles to PTX                                       wrapper_package
//    │       ├─ cargo, with its flags, folder and environment                              flags, target_dir, environment
//    │       ├─ what cargo says: errors, files of the module                               cargo_messages, sources, watched_files
//    │       ├─ a search for copied warp operations, which cannot stay                     convergence/
//    │       └─ changes of the PTX                                                         register_limits, line_directives
//    ├─ or the committed modules: the folder `ptx` and its list                            committed, index
//    └─ Compilation                                                                        compilation
//        ├─ build:  the code that `include_kernels!` includes, and a file for each image   included_code, files
//        ├─ commit: the folder `ptx`                                                       committed, index
//        └─ check:  the differences from it                                                check
//
// What callers get is in `results` and `error`. The tests of a file are in `…_tests`, and `test_dir` has a folder for one test.

mod arch;
mod builder;
mod cargo_messages;
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
mod included_code;
mod index;
mod kernel_crate;
mod line_directives;
mod mode;
mod module_names;
mod register_limits;
mod request;
mod results;
mod sources;
mod target_dir;
#[cfg(test)]
mod test_dir;
mod up_to_date;
mod watched_files;
mod wrapper_package;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use arch::{Arch, UnknownArch};
pub use builder::CudaBuilder;
pub use check::{Check, Difference, DifferenceKind};
pub use error::{BuildError, Rejected};
pub use mode::{Mode, UnknownMode};
pub use results::{Built, Committed, Image, Origin};
