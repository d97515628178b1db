//! The kernels of the program, compiled for the device one module at a time and for the host all at once.

// Without `std` on the host as well, so that the emulator runs the kernel fast.
#![no_std]
#![cfg_attr(target_os = "cuda", feature(abi_ptx))]

#[cfg(any(feature = "dilate", not(target_os = "cuda")))]
pub mod dilate;
