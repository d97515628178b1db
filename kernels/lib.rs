//! The GPU kernels of slm.
//!
//! A kernel is a generic function over its element type, with one entry point per element type. It is written with the
//! accessors of `cuda_std` and without `unsafe`. Each operation's folder also defines what its host code needs: the
//! arguments, the block's shape, and in `host` the computation of grid and shared memory from a problem's size.
//!
//! The compiled modules are in `ptx/`, one or several per operation. A device build compiles the module that a feature of
//! this crate selects; a host build compiles all of the code.

// No `std` on the host either, so that an emulator can run several device threads on one OS thread.
// A device build exports only some of the kernels; the rest is dead code there.
#![no_std]
#![cfg_attr(target_os = "cuda", feature(abi_ptx), allow(dead_code, unused_imports, unused_macros, unused_features))]

// A device build compiles only the operation of its module (build.rs).
#[cfg(any(operation = "banks", not(target_os = "cuda")))]
pub mod banks;
#[cfg(any(operation = "filter1d", not(target_os = "cuda")))]
pub mod filter1d;
#[cfg(any(operation = "filter2d", not(target_os = "cuda")))]
pub mod filter2d;
#[cfg(any(operation = "histogram", not(target_os = "cuda")))]
pub mod histogram;
#[cfg(any(operation = "life", not(target_os = "cuda")))]
pub mod life;
#[cfg(any(operation = "pointwise", not(target_os = "cuda")))]
pub mod pointwise;
#[cfg(any(operation = "rank2d", not(target_os = "cuda")))]
pub mod rank2d;
#[cfg(any(operation = "transpose", not(target_os = "cuda")))]
pub mod transpose;

#[cfg(any(
    operation = "filter1d",
    operation = "filter2d",
    operation = "pointwise",
    operation = "rank2d",
    not(target_os = "cuda")
))]
pub mod signal;

#[cfg(not(target_os = "cuda"))]
mod host;

#[cfg(not(target_os = "cuda"))]
pub use host::{Cast, Misaligned, SOURCES, cast};

#[cfg(test)]
mod tests {
    use cuda_std::Entry;

    /// The emulator runs kernels fast only if they do not use `std`.
    #[test]
    fn all_kernels_do_without_std() {
        const { assert!(crate::banks::banks_accumulate::WITHOUT_STD) }
    }
}
