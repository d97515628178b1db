//! What does the work.
//!
//! * `cpu`: safe Rust on all cores.
//! * `gpu`: what the two below have in common, which is all about launches that needs no device.
//! * `cuda`: kernels on an NVIDIA GPU, through `cust`. The only folder of the library with `unsafe` in it.
//! * `emulated`: the same kernels on the CPU, under an emulator that sees every access.
//! * `modules`: the compiled kernels.

pub(crate) mod cpu;
#[cfg(cuda)]
pub(crate) mod cuda;
#[cfg(feature = "emulator")]
pub(crate) mod emulated;
#[cfg(gpu)]
pub(crate) mod gpu;
pub(crate) mod modules;
