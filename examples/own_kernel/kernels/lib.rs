//! The kernels of the program, compiled for the device one module at a time and for the host all at once.

#![cfg_attr(target_os = "cuda", no_std, feature(abi_ptx))]

#[cfg(any(feature = "dilate", not(target_os = "cuda")))]
pub mod dilate;
