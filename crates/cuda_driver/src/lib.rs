//! One binary for machines with and without a CUDA driver.
//!
//! A program that is linked with `libcuda` does not even start where no driver is installed. This crate defines the driver's
//! functions itself: each is a single jump through a table. [`load`] looks for the driver and fills the table. [`api`]
//! declares the functions that the library `slm` calls. In a program that contains this crate, other crates that are linked
//! with `libcuda`, such as `cust`, call the functions of this crate instead. With the feature `link` they do not need
//! `libcuda`.
//!
//! The behaviour of the functions in [`FUNCTIONS`]:
//!
//! | state | call of a `cu*` function |
//! |---|---|
//! | before [`load`] | `cuInit` calls [`load`]; others return `CUDA_ERROR_NOT_INITIALIZED` (3) |
//! | [`load`] failed | returns `CUDA_ERROR_NOT_INITIALIZED` (3) |
//! | loaded, and the driver has the function | runs in the driver |
//! | loaded, and the driver lacks the function | returns `CUDA_ERROR_NOT_FOUND` (500) |
//!
//! The functions that return these errors ignore all arguments and write to no memory.
//!
//! A call is guaranteed to see the loaded driver if [`load`] or `cuInit` has returned on the same thread, or on a thread
//! that has synchronised with the calling thread since.
//!
//! The crate supports Linux on x86-64 and on aarch64. Elsewhere it compiles, defines no functions, and [`load`]
//! returns [`LoadError::UnsupportedPlatform`].
#![allow(unsafe_code)] // Loads a shared library and defines foreign functions.

#[cfg(supported)]
pub mod api;
mod driver;
mod error;
#[macro_use]
mod functions;
#[cfg(supported)]
mod linux;
#[cfg(supported)]
mod trampolines;

pub use driver::{Driver, load};
pub use error::{Attempt, Failure, LoadError};
pub use functions::FUNCTIONS;
