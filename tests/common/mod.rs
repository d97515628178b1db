//! What test programs and operations share: trials on all devices, random numbers, and what kernels are compiled to.

// Not every test program uses all of it, and `pub` reads better than `pub(crate)` in a test.
#![allow(dead_code, unreachable_pub, unused_imports)]

pub mod coverage;
pub mod emulated;
pub mod golden;
pub mod ptx;
pub mod sources;

mod checks;
mod folder;
mod random;
mod trials;

pub use checks::{ensure, equal, same};
pub use folder::Folder;
pub use random::{Draw, Random, SEED};
pub use trials::{Test, is_cuda, is_emulated, on_cuda, on_every_backend};
