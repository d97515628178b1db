//! The library for writing GPU kernels: thread indices, barriers, typed windows on shared and global memory, atomics, fences
//! and warp operations.
//!
//! A kernel contains no `unsafe`. It has no pointers, only accessors, which cannot reach memory that the kernel was not
//! given.
//!
//! ```
//! use cuda_std::{GlobalIn, GlobalOut, arguments, kernel, thread};
//!
//! arguments! {
//!     /// Arguments of `double`.
//!     pub struct Doubling<'l> {
//!         /// The numbers to double.
//!         pub input: GlobalIn<'l, f32>,
//!         /// Receives `2 * input[i]`.
//!         pub output: GlobalOut<'l, f32>,
//!     }
//! }
//!
//! kernel! {
//!     /// Thread `i` of the grid doubles element `i`.
//!     pub fn double<'l>(_arena, args: Doubling<'l>) {
//!         let i = thread::global_x();
//!         args.output.set(i, 2.0 * args.input.get(i));
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! # One source, two targets
//!
//! Compiled for `nvptx64-nvidia-cuda`, every accessor is one instruction (a predicated one for global memory). Compiled for
//! the host, every accessor calls the [`host::Machine`] that is installed for the OS thread. This is how kernels run, and
//! are checked, without a GPU. Without a machine the call panics with a message.
//!
//! # Guarantees
//!
//! * **Windows end with their launch.** They have its lifetime, which kernels are generic over (`pub fn double<'l>(…)`). So no
//!   static, and nothing else, can keep one for a later launch. A kernel whose arguments are numbers needs no lifetime.
//! * **Global memory is checked on the device.** A load outside a window returns zero, and a store there does nothing. The
//!   kernel continues. Use [`GlobalIn::get_or`] and [`GlobalOut::set_if`] if an access may be outside on purpose.
//! * **Shared memory is not checked on the device.** It belongs to the block, and the hardware faults beyond it, so a kernel
//!   cannot reach other memory. A machine on the host can check every access.
//! * **Every bit pattern of a [`Value`] is valid**, so a load of unwritten memory returns an unspecified value, and nothing
//!   worse. The same holds for a data race.
//! * **Order between threads** comes from [`thread::sync_threads`], [`warp::sync_warp`], the [`fence`]s and the atomics.
//!   Shuffles, votes and matrix products order nothing, and lanes of a warp do not run in lockstep.

#![cfg_attr(
    target_os = "cuda",
    no_std,
    feature(allow_internal_unstable, stdarch_nvptx, asm_experimental_arch, link_llvm_intrinsics),
    // Types of the host interface are public only on the host.
    allow(internal_features, unreachable_pub)
)]
// This crate contains every instruction that accesses device memory, and with it the `unsafe` of device code.
#![allow(unsafe_code)]

mod argument;
mod atomic;
mod constants;
pub mod copy;
pub mod digest;
#[doc(hidden)]
pub mod expansion;
pub mod fence;
mod global;
mod half;
mod kernel;
#[cfg(doctest)]
mod launch_lifetime;
mod layout;
mod machine;
pub mod math;
mod shared;
pub mod thread;
mod value;
pub mod warp;

#[cfg(not(target_os = "cuda"))]
pub mod build;
#[cfg(not(target_os = "cuda"))]
pub mod host;
#[cfg(not(target_os = "cuda"))]
pub mod image;

#[doc(hidden)]
pub use argument::layout_of;
pub use argument::{Argument, ArgumentOf};
pub use atomic::{Atomic, AtomicInteger, Ordering};
pub use constants::{Constants, Table};
pub use global::{GlobalIn, GlobalIn2, GlobalInOut, GlobalInOut2, GlobalOut, GlobalOut2};
pub use half::{Bf16, F16};
pub use kernel::Entry;
#[doc(hidden)]
pub use kernel::layout;
pub use shared::{Arena, Shared, shared_bytes};
pub use value::Value;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
