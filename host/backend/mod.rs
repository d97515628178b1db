//! What does the work.
//!
//! * `cpu`: safe Rust on all cores.
//! * `cuda`: kernels on an NVIDIA GPU, through `cust`. The only folder of the library with `unsafe` in it.

pub(crate) mod cpu;
#[cfg(cuda)]
pub(crate) mod cuda;
