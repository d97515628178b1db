//! Operations on NVIDIA GPUs.
//!
//! The layers, from the driver up:
//!
//! | file | what |
//! |---|---|
//! | `driver.rs` | finding the driver once; its return codes as errors |
//! | `handle.rs` | contexts, streams, events and modules that give themselves back |
//! | `queue.rs` | a device, its primary context and one stream |
//! | `memory.rs` | device memory that frees itself in stream order |
//! | `module.rs` | compiled kernels: choosing, checking and loading them |
//! | `kernel.rs` | a kernel that can only be launched with its own arguments |
//! | `filter1d.rs`, `histogram.rs` | one file per operation: the launches of `../gpu`, enqueued |
//!
//! Contexts are current per thread, so whatever calls the driver begins with [`Queue::enter`]. The device's primary
//! context then stays current.

#![allow(unsafe_code)] // Calls into the CUDA driver.

mod driver;
mod filter1d;
mod handle;
mod histogram;
mod kernel;
mod memory;
mod module;
mod queue;

pub(crate) use filter1d::{Filter1d, FilterModules};
pub(crate) use histogram::{HistogramModules, histogram};
pub(crate) use kernel::Kernel;
pub(crate) use memory::Memory;
pub use module::ptx_origin;
pub(crate) use queue::{Queue, device_count};
