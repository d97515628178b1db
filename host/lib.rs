//! Fast, safe GPU operations whose speed depends on shared memory. Without a GPU, they run on the CPU.
//!
//! ```
//! use slm::{Boundary, Device, Filter1d};
//!
//! # fn main() -> slm::Result<()> {
//! // A GPU if there is one, otherwise the CPU. SLM_DEVICE selects another device.
//! let device = Device::open()?;
//! let smooth = Filter1d::correlate(&[0.25f32, 0.5, 0.25])
//!     .boundary(Boundary::Nearest)
//!     .prepare(&device)?;
//! assert_eq!(smooth.apply(&[0.0, 4.0, 0.0, 4.0])?, [1.0, 2.0, 2.0, 3.0]);
//! # Ok(())
//! # }
//! ```
//!
//! | operation | what it computes |
//! |---|---|
//! | [`Filter1d`] | correlation and convolution of signals and of matrices along either axis |
//! | [`Filter2d`] | correlation and convolution of pictures |
//! | [`Rank1d`] | medians, minima, maxima and other ranks of the samples around each sample of lines |
//! | [`Rank2d`] | medians, minima, maxima and other ranks of the samples around each pixel |
//! | [`Morphology2d`] | erosion, dilation, opening, closing, gradient and top hats of pictures |
//! | [`Histogram`] | counts of samples in bins, and sums of their weights |
//! | [`Transpose`] | transposition of matrices, out of place and in place |
//! | [`Convert`] | conversion of samples to another type, with scale and offset |
//! | [`Lookup`] | entries of a table, for each value or between edges; equalises histograms |
//! | [`Map`] | magnitude, square, square root, power and range limit of each sample |
//! | [`Arithmetic`] | sum, difference, product, minimum and others of two inputs |
//! | [`Channels`] | interleaved channels to planes, and back |
//! | [`Life`] | generations of the Game of Life and of other rules, on boards of several topologies |
//!
//! All operations are used in a similar way. A *description* is plain data. [`prepare`](Filter1d::prepare) checks it and binds
//! it to a [`Device`]. `apply` runs it on data of the host or in device [`Buffer`]s, and `apply_into` writes where you say, any number of times and from any
//! thread. Matrices are [`Buffer2`]s on a device, and arrays of [`ndarray`] on the host. A prepared [`Life`] is a
//! [`Board`](life::Board), which keeps its cells on the device: [`step`](life::Board::step) computes generations of them.
//!
//! [`Device::kernel`] returns a kernel of another crate, which safe code can launch. [`banks`] predicts the bank conflicts
//! of accesses to shared memory, and finds layouts without conflicts.
//!
//! The pages of the `guide` describe [what is safe and what is trusted](guide::safety),
//! [limits, memory, faults and threads](guide::operators), [platforms, environment variables and emulated GPUs](guide::platforms),
//! [own kernels](guide::own_kernels) and [how kernels are compiled](guide::compilation).
//!
//! # Data of any size, and several devices
//!
//! [`stream`] reads, computes and writes at the same time, so a file of any size goes through limited memory. [`distributed`] divides
//! work among several devices of one machine, or of several.
//!
//! # Order and completion
//!
//! A [`Device`] handle has one queue, which its clones share. Work runs in the order of the calls. If an operation launches
//! several kernels on a GPU, no kernels of other threads run between them.
//!
//! `apply`, `apply_into` and `accumulate_into` with results on the device, [`Kernel::launch`], [`Buffer::copy_from`] and
//! [`Board::step`](life::Board::step) return when the work is enqueued. The following functions wait for all work that was enqueued
//! before: uploads and downloads, operations with results on the host, counts and sums of histograms among them, `prepare` (which uploads
//! taps or edges), [`Device::synchronize`], [`Device::time`], and all functions of a [`Board`](life::Board) that read or write
//! cells, take censuses or run until it is stable. If enqueued work fails, the next call that waits returns the error.
//!
//! # Features
//!
//! No feature is on by default. The crate then runs on the CPU and builds on every platform.
//!
//! * `cuda`: NVIDIA GPUs on Linux, x86-64 and aarch64. The program also starts without a GPU, driver or toolkit, and then
//!   uses the CPU.
//! * `cust`: turns `cuda` on, and exchanges buffers, contexts and streams with programs that use Rust-CUDA's `cust`:
//!   `Buffer::from_cust`, `Buffer::into_cust` and `Device::from_cust`. `cust` needs a CUDA toolkit to build, or the
//!   environment variable `CUDA_LIBRARY_PATH` with a folder that contains an empty folder `lib64`.
//! * `dlpack`: exchanges memory with other libraries as tensors of DLPack, without copies on a GPU and in the order of its streams:
//!   `Buffer::into_dlpack`, `Buffer::from_dlpack`, the same of `Buffer2`, and the page of `slm::dlpack`.
//! * `image`: operations on pictures of the crate `image`, such as `RgbImage`, and their copies to
//!   and from devices (`slm::pictures`).
//! * `emulator`: emulated GPUs (`Device::emulated`). They run the kernels on the CPU and check every access, which is slow. A
//!   race, a wrong access or a missing barrier in a kernel is an error.

#![cfg_attr(docsrs, feature(doc_cfg))]

// First, so that its functions come first on the page of `Device`.
mod device;

mod backend;
pub mod banks;
mod cpu;
pub mod distributed;
#[cfg(feature = "dlpack")]
#[cfg_attr(docsrs, doc(cfg(feature = "dlpack")))]
pub mod dlpack;
mod element;
mod error;
mod filter;
#[cfg(doc)]
pub mod guide;
pub mod histogram;
pub mod life;
#[cfg(feature = "image")]
#[cfg_attr(docsrs, doc(cfg(feature = "image")))]
pub mod pictures;
mod plan;
pub mod pointwise;
pub mod stream;
mod text;
pub mod transpose;

pub use cuda_std::image::ModuleError;
/// The crate `cust`, with which this crate exchanges buffers, contexts and streams.
#[cfg(cust)]
#[cfg_attr(docsrs, doc(cfg(feature = "cust")))]
pub use cust;
pub use device::Device;
pub use device::buffer::Buffer;
pub use device::buffer2::Buffer2;
pub use device::data::{Input, Output};
#[cfg(any(cust, feature = "dlpack"))]
#[cfg_attr(docsrs, doc(cfg(any(feature = "cust", feature = "dlpack"))))]
pub use device::hand_over::HandOverError;
pub use device::info::{Backend, DeviceInfo, SharedMemory};
pub use device::kernel::{Kernel, Windows};
pub use device::launch::{LaunchShape, Residency};
pub use device::mark::Mark;
pub use device::pinned::Pinned;
pub use device::slice::{BufferSlice, BufferSliceMut};
/// The crate `dlpark`, with whose tensors this crate exchanges memory.
#[cfg(feature = "dlpack")]
#[cfg_attr(docsrs, doc(cfg(feature = "dlpack")))]
pub use dlpark;
pub use element::Element;
pub use error::{DriverError, Error, Result};
pub use filter::boundary::{Boundary, Extent};
pub use filter::gaussian::{Gaussian, Gaussian2d};
#[doc(inline)]
pub use filter::{
    morphology as morphology2d, one_d as filter1d, rank as rank2d, rank_line as rank1d, two_d as filter2d,
};
#[doc(inline)]
pub use filter1d::{Filter1d, Filter1dAlgorithm, FilterElement};
#[doc(inline)]
pub use filter2d::{Filter2d, Filter2dAlgorithm, FilterSample, FilterWeight, NanPolicy};
#[doc(inline)]
pub use histogram::{Histogram, HistogramAlgorithm, HistogramBound, HistogramElement, HistogramWeight, MemoryOrder};
/// The crate `image`, whose pictures this crate takes and returns.
#[cfg(feature = "image")]
#[cfg_attr(docsrs, doc(cfg(feature = "image")))]
pub use image;
#[doc(inline)]
pub use life::{Life, LifeAlgorithm};
#[doc(inline)]
pub use morphology2d::{Morphology2d, StructuringElement};
/// The crate `ndarray`, whose matrices this crate takes and returns.
pub use ndarray;
pub use plan::{LaunchPlan, Plan};
#[doc(inline)]
pub use pointwise::{Arithmetic, Channels, Convert, Lookup, LookupElement, Map, PointwiseElement};
#[doc(inline)]
pub use rank1d::Rank1d;
#[doc(inline)]
pub use rank2d::{Rank2d, Rank2dAlgorithm, RankElement, RankNanPolicy, RankWindow};
#[doc(inline)]
pub use transpose::{Transpose, TransposeAlgorithm, TransposeElement};

#[cfg(cuda)]
#[cfg_attr(docsrs, doc(cfg(feature = "cuda")))]
pub use cuda_std::image::Origin;
#[cfg(cuda)]
pub use device::modules::ptx_origin;
/// The crate `slm-emulator`: profiles of emulated devices, and their reports.
#[cfg(feature = "emulator")]
pub use emulator;

/// The examples of the README compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
