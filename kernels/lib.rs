//! The GPU kernels of slm.
//!
//! A kernel is a generic function over its element type, written with the accessors of `cuda_std` and without
//! `unsafe`, and one entry point per element type. Beside each operation's kernels stands what their host code has
//! to know about them, so that there is one place for it: the arguments, the block's shape, and the way from a
//! problem's size to grid and shared memory.
//!
//! The compiled modules are in `ptx/`, one or several per operation. On the device a feature of this crate selects one of
//! them; on the host all of the code is there.

// Without `std` on the host as well, so that an emulator may run several threads on one OS thread.
// A device build exports some of the kernels, so the rest is dead code there.
#![no_std]
#![cfg_attr(target_os = "cuda", feature(abi_ptx), allow(dead_code, unused_imports, unused_macros, unused_features))]

// On the device that of the module alone (build.rs).
#[cfg(any(operation = "banks", not(target_os = "cuda")))]
pub mod banks;
#[cfg(any(operation = "filter1d", not(target_os = "cuda")))]
pub mod filter1d;
#[cfg(any(operation = "filter2d", not(target_os = "cuda")))]
pub mod filter2d;
#[cfg(any(operation = "histogram", not(target_os = "cuda")))]
pub mod histogram;
#[cfg(any(operation = "transpose", not(target_os = "cuda")))]
pub mod transpose;

#[cfg(any(operation = "filter1d", operation = "filter2d", not(target_os = "cuda")))]
pub mod signal;

#[cfg(not(target_os = "cuda"))]
mod cast;

#[cfg(not(target_os = "cuda"))]
pub use cast::{Cast, Misaligned, cast};

/// The files that this crate is compiled from, which compiled modules are checked against.
#[cfg(not(target_os = "cuda"))]
pub const SOURCES: &str = env!("SLM_KERNEL_SOURCES");

#[cfg(test)]
mod tests {
    use cuda_std::Entry;

    /// An emulator runs them fast only then.
    #[test]
    fn all_kernels_do_without_std() {
        const { assert!(crate::banks::banks_accumulate::WITHOUT_STD) }
    }
}
