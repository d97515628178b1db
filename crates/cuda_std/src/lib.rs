//! What GPU kernels are written with: thread indices, barriers, typed windows on shared and global memory,
//! atomics, fences and warp operations.
//!
//! A kernel made of these contains no `unsafe`: there are no pointers, only accessors that cannot reach memory
//! which was not handed to the kernel.
//!
//! ```
//! use cuda_std::{GlobalIn, GlobalOut, arguments, kernel, thread};
//!
//! arguments! {
//!     /// What `double` works on.
//!     pub struct Doubling {
//!         /// The numbers to double.
//!         pub input: GlobalIn<f32>,
//!         /// Receives `2 * input[i]`.
//!         pub output: GlobalOut<f32>,
//!     }
//! }
//!
//! kernel! {
//!     /// Thread `i` of the grid doubles element `i`.
//!     pub fn double(_arena, args: Doubling) {
//!         let i = thread::global_x();
//!         args.output.set(i, 2.0 * args.input.get(i));
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! # One source, two targets
//!
//! Compiled for `nvptx64-nvidia-cuda` every accessor is one instruction (a predicated one for global memory).
//! Compiled for the host every accessor is a call into the [`host::Machine`] installed for the thread, which is
//! how kernels run, and are examined, without a GPU. Without a machine such a call panics and says so.
//!
//! # What is promised
//!
//! * **Global memory is checked on the device.** A load outside a window gives zero, a store there does nothing;
//!   the kernel continues. [`GlobalIn::get_or`] and [`GlobalOut::set_if`] are for the places where being outside is
//!   intended.
//! * **Shared memory is not checked on the device**: the window belongs to the block and the hardware faults
//!   beyond it, so no other memory can be reached. A machine on the host checks every access.
//! * **Every bit pattern of a [`Value`] is valid**, so memory that nobody wrote gives an unspecified value and
//!   nothing worse. The same holds for a data race.
//! * **Order between threads** comes from [`thread::sync_threads`], [`warp::sync_warp`], the [`fence`]s and the
//!   atomics. Shuffles, votes and products of matrices order nothing, and lanes of a warp do not run in step by themselves.

#![cfg_attr(
    target_os = "cuda",
    no_std,
    feature(allow_internal_unstable, stdarch_nvptx, asm_experimental_arch, link_llvm_intrinsics),
    // The types of the host's seam are public only there.
    allow(internal_features, unreachable_pub)
)]
// This crate is where device code's unsafe lives: every instruction that touches memory is written here.
#![allow(unsafe_code)]

mod argument;
mod atomic;
mod constants;
pub mod copy;
#[cfg(target_os = "cuda")]
mod device;
pub mod digest;
#[doc(hidden)]
pub mod expansion;
pub mod fence;
mod global;
mod half;
mod kernel;
mod layout;
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

pub use argument::Argument;
#[doc(hidden)]
pub use argument::layout_of;
pub use atomic::{Atomic, AtomicInteger, Ordering};
pub use constants::{Constants, Table};
pub use global::{GlobalIn, GlobalIn2, GlobalInOut, GlobalInOut2, GlobalOut, GlobalOut2};
pub use half::{Bf16, F16};
pub use kernel::Entry;
#[doc(hidden)]
pub use kernel::layout;
#[cfg(not(target_os = "cuda"))]
#[doc(hidden)]
pub use kernel::{Given, is_without_std, library};
pub use shared::{Arena, Shared, shared_bytes};
pub use value::Value;

#[cfg(target_os = "cuda")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    device::trap()
}

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
