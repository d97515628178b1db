//! Devices, their memory, and what every operation needs of them.
//!
//! | file | contents |
//! |---|---|
//! | `handle.rs`, `info.rs` | the device that the caller has, and what is known of it |
//! | `gpu.rs` | a device that launches kernels |
//! | `order.rs`, `mark.rs` | accesses to a buffer from several queues; positions in a queue, for times |
//! | `buffer.rs`, `slice.rs`, `buffer2.rs`, `rows.rs` | memory, parts of it, matrices in it, copies of rows |
//! | `pinned.rs` | host memory that a device copies fast |
//! | `data/` | what operations read and write, in any form |
//! | `on_device.rs` | the frame of every operation |
//! | `kernel/`, `launch/`, `modules.rs` | kernels, their launches and the modules that have them |
//! | `interop.rs` | memory and streams of `cust` |
//! | `dlpack.rs` | tensors of DLPack |
//! | `hand_over.rs` | the error of both |

// First, so that its functions come first on the page of `Device`.
mod handle;

pub(crate) mod buffer;
pub(crate) mod buffer2;
pub(crate) mod data;
#[cfg(feature = "dlpack")]
mod dlpack;
pub(crate) mod gpu;
#[cfg(any(cust, feature = "dlpack"))]
pub(crate) mod hand_over;
pub(crate) mod info;
#[cfg(cust)]
pub(crate) mod interop;
pub(crate) mod kernel;
// Only backends that run kernels check launches.
#[cfg_attr(not(gpu), allow(dead_code, unused_imports))]
pub(crate) mod launch;
pub(crate) mod mark;
pub(crate) mod modules;
pub(crate) mod on_device;
pub(crate) mod order;
pub(crate) mod pinned;
pub(crate) mod rows;
pub(crate) mod slice;

pub use handle::Device;
pub(crate) use handle::Engine;
