//! Shared parts of test programs and operations: trials on all devices, random numbers, and parsers for PTX and sources.

// Not every test program uses everything, and `pub` is shorter than `pub(crate)`.
#![allow(dead_code, unreachable_pub, unused_imports)]

pub mod coverage;
pub mod declarations;
pub mod emulated;
pub mod golden;
pub mod numbers;
pub mod ptx;
pub mod sources;

mod checks;
mod folder;
mod random;
mod trials;

pub use checks::{ensure, equal, same};
pub use folder::Folder;
pub use random::{Draw, Random, SEED};
pub use trials::{Test, is_cuda, is_emulated, on_cuda, on_every_backend, on_profiles};
