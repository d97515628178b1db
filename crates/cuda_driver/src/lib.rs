//! One binary for machines with and without a CUDA driver.
//!
//! The crate `cust` calls the driver's `cu*` functions and links with `-lcuda`, so that a program which uses it
//! does not even start where no driver is installed. This crate defines these functions itself: each is a single
//! jump through a table. [`load`] looks for the driver and fills the table. Depend on this crate beside `cust`,
//! and call [`load`] before the first call into `cust`.
//!
//! What a function of [`FUNCTIONS`] does:
//!
//! | state | call of a `cu*` function |
//! |---|---|
//! | before [`load`], or after it failed | returns `CUDA_ERROR_NOT_INITIALIZED` (3) |
//! | loaded, and the driver has the function | runs in the driver |
//! | loaded, and the driver lacks the function | returns `CUDA_ERROR_NOT_FOUND` (500) |
//!
//! The two error returns leave all arguments alone: memory that a pointer argument refers to is not written.
//!
//! A call sees the loaded driver for certain if [`load`] returned on the same thread before, or on a thread that
//! has synchronised with the calling one since.
//!
//! Supported are Linux on x86-64 and on aarch64. Elsewhere the crate compiles, defines no functions, and [`load`]
//! returns [`LoadError::UnsupportedPlatform`].
#![allow(unsafe_code)] // Loads a shared library and defines foreign functions.

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
