//! Fast, safe operations whose speed lives in the GPU's shared memory.
//!
//! ```
//! use slm::{Boundary, Device, Filter1d};
//!
//! # fn main() -> slm::Result<()> {
//! let device = Device::open()?; // a GPU if there is one, otherwise the CPU; SLM_DEVICE decides
//! let smooth = Filter1d::correlate(&[0.25f32, 0.5, 0.25]).boundary(Boundary::Nearest).prepare(&device)?;
//! assert_eq!(smooth.apply(&[0.0, 4.0, 0.0, 4.0])?, [1.0, 2.0, 2.0, 3.0]);
//! # Ok(())
//! # }
//! ```
//!
//! | operation | what |
//! |---|---|
//! | [`Filter1d`] | correlation and convolution of signals and of matrices along either axis |
//! | [`Histogram`] | counts of samples in bins, and sums of their weights |
//! | [`Transpose`] | transposition of matrices, in place as well |
//!
//! Every operation goes the same way: a *description* is plain data; [`prepare`](Filter1d::prepare) checks it and
//! binds it to a [`Device`]; `apply` runs it on host data and `apply_into` on device [`Buffer`]s, as often as
//! wanted and from any thread. Matrices are [`Buffer2`]s there, and arrays of [`ndarray`] on the host.
//!
//! [`Device::kernel`] launches kernels of other crates. [`banks`] predicts the bank conflicts of their accesses to
//! shared memory, and finds layouts without them.
//!
//! # Order and completion
//!
//! A [`Device`] handle has one queue, which its clones share. Work runs in the order of the calls; where an `apply_into`
//! takes several kernels on a GPU, none of another thread's come between them. `apply_into`, [`Kernel::launch`] and
//! [`Buffer::copy_from`] return when the work is enqueued. Whatever copies from or to the host waits for all that was
//! enqueued before: downloads and uploads, `apply`, and `prepare`, which uploads the operation's numbers; so do
//! [`Device::synchronize`] and [`Device::time`]. What fails while it runs is reported by the next call that waits.
//!
//! # Features
//!
//! None is on by default, and the crate then runs on the CPU and builds everywhere.
//!
//! * `cuda`: NVIDIA GPUs on Linux, x86-64 and aarch64. The program starts without a GPU, driver or toolkit and then
//!   uses the CPU.
//! * `emulator`: emulated GPUs (`Device::emulated`), on which the kernels run on the CPU and every access is examined:
//!   slow, and a race, a wrong access or a missing barrier in a kernel is an error.

mod allocation;
mod backend;
pub mod banks;
mod boundary;
mod buffer;
mod buffer2;
mod device;
mod element;
mod error;
pub mod filter1d;
pub mod histogram;
mod info;
mod kernel;
mod launch;
mod modules;
mod parallel;
mod plan;
mod rows;
pub mod transpose;

pub use boundary::{Boundary, Extent};
pub use buffer::Buffer;
pub use buffer2::Buffer2;
pub use cuda_std::image::ImageError;
pub use device::Device;
pub use element::Element;
pub use error::{DriverError, Error, Result};
pub use filter1d::{Filter1d, FilterAlgorithm, FilterElement};
pub use histogram::{Histogram, HistogramAlgorithm, HistogramBound, HistogramElement, HistogramWeight, MemoryOrder};
pub use info::{Backend, DeviceInfo, SharedMemory};
pub use kernel::{Kernel, Windows};
pub use launch::{LaunchShape, Residency};
/// The crate whose matrices this one takes and gives.
pub use ndarray;
pub use plan::LaunchPlan;
pub use transpose::{Transpose, TransposeAlgorithm, TransposeElement};

#[cfg(cuda)]
pub use cuda_std::image::Origin;
/// What emulated devices are made of: their profiles, and what they report.
#[cfg(feature = "emulator")]
pub use emulator;
#[cfg(cuda)]
pub use modules::ptx_origin;

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
