//! Backends, which run kernels. They are independent of the operations.
//!
//! * `cuda`: NVIDIA GPUs, through the CUDA driver API. It contains `unsafe`.
//! * `emulated`: the same kernels on the CPU, under an emulator that checks every access.
//!
//! `dlpack` is how memory of all of them is given to other libraries and taken from them, in the form of tensors. It contains `unsafe`
//! too.
//!
//! The types that they share with their users are in other modules: properties of devices in `info.rs`, launches in
//! `launch/`.
//!
//! In a build without one of them, [`absent`] replaces its types by types without values, so that code that uses a backend
//! always compiles.

#[cfg(not(all(cuda, feature = "emulator")))]
mod absent;
#[cfg(cuda)]
pub(crate) mod cuda;
#[cfg(not(cuda))]
#[path = "without_cuda.rs"]
pub(crate) mod cuda;
#[cfg(feature = "dlpack")]
pub(crate) mod dlpack;
#[cfg(feature = "emulator")]
pub(crate) mod emulated;
#[cfg(not(feature = "emulator"))]
#[path = "without_emulator.rs"]
pub(crate) mod emulated;

use crate::device::launch::{LaunchShape, QueueId, Residency, WindowRecord};
use crate::device::rows::Rows;
use crate::{Element, Result};
use cuda_std::image::Modules;
use cuda_std::{Entry, GlobalIn, GlobalInOut, GlobalOut};
use std::str::FromStr;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

/// A queue of work on a device.
pub(crate) trait Queue: Send + Sync {
    /// Type of the device's memory.
    type DeviceMemory<T: Element>: DeviceMemory<T, Queue = Self>;
    /// Type of the device's kernels.
    type Kernel<E: Entry>: Kernel<E>;

    /// A position in a queue.
    type Mark: Send + Sync;
    /// Elements in host memory that copies are fast with.
    type PinnedMemory<T: Element>: AsRef<[T]> + AsMut<[T]> + Send + Sync;

    /// Returns the identity of the queue.
    fn id(&self) -> QueueId;

    /// Returns another queue of the same device, with the same memory and modules.
    fn another(&self) -> Result<Arc<Self>>;

    /// Returns zeros in host memory that copies are fast with. `len` elements are at most `isize::MAX` bytes.
    fn pinned<T: Element>(self: &Arc<Self>, len: usize) -> Result<Self::PinnedMemory<T>>;

    /// Returns whether copies of these elements are as fast as those of pinned memory.
    fn copies_fast<T: Element>(&self, elements: &[T]) -> bool;

    /// Lets copies of this queue read the memory of another device directly, if they can. Returns whether they can.
    fn access(&self, other: &Self) -> Result<bool>;

    /// Makes later work of this queue wait for the work that `other` has now. It may be of another device.
    fn wait_for(&self, other: &Self) -> Result<()>;

    /// Returns whether the device has failed for good: it does no work any more.
    fn is_lost(&self) -> bool;

    /// Returns the kernel `E` from its module, which must be compiled from the same sources and with the same arguments.
    fn load<E: Entry>(self: &Arc<Self>, modules: &Modules) -> Result<Self::Kernel<E>>;

    /// Keeps other threads from enqueueing kernels until the guard is dropped, and prepares the device for launches. Returns
    /// `None` if the device needs no lock. Called once for all launches of an operation.
    fn submission_lock(&self) -> Result<Option<MutexGuard<'_, ()>>>;

    /// Waits for all work.
    fn synchronize(&self) -> Result<()>;

    /// Waits for all work, and gives memory back that the device keeps for later allocations.
    fn release_unused_memory(&self) -> Result<()>;

    /// Returns a mark behind all work enqueued so far.
    fn mark(self: &Arc<Self>) -> Result<Self::Mark>;

    /// Returns the time between two marks of one device, or zero if `end` was reached first. Waits until both are reached.
    fn elapsed(start: &Self::Mark, end: &Self::Mark) -> Result<Duration>;
}

/// Memory for elements on a device, freed in the order of the queue that it was allocated on.
///
/// Any queue of the device may use it. The caller makes the queues wait for each other
/// ([`AccessOrder`](crate::device::order::AccessOrder)).
pub(crate) trait DeviceMemory<T>: Sized {
    /// The device.
    type Queue;

    /// Returns memory with a copy of `data`, after the copy is done.
    fn upload(queue: &Arc<Self::Queue>, data: &[T]) -> Result<Self>;

    /// Returns memory of zeros. `len` elements are at most `isize::MAX` bytes.
    fn zeroed(queue: &Arc<Self::Queue>, len: usize) -> Result<Self>;

    /// Returns memory with unspecified contents, which kernels must write before they read them; otherwise as `zeroed`.
    fn unwritten(queue: &Arc<Self::Queue>, len: usize) -> Result<Self>;

    /// As `unwritten`, in memory that other processes can open.
    fn shareable(queue: &Arc<Self::Queue>, len: usize) -> Result<Self> {
        Self::unwritten(queue, len)
    }

    /// Returns an error if the device knows of an element that is still unwritten.
    fn check_written(&self) -> Result<()>;

    /// Copies rows of `data` to the memory. The caller has checked that they fit. Returns when the copy is done.
    fn overwrite_rows(&mut self, data: &[T], rows: Rows) -> Result<()>;

    /// Copies rows of the memory to `data`. The caller has checked that they fit. Returns when the copy is done.
    fn download_rows(&self, data: &mut [T], rows: Rows) -> Result<()>;

    /// Enqueues a copy of rows of `source` in a queue whose device has both, or [access](Queue::access) to them. The caller has checked that
    /// they fit.
    fn copy_rows(&mut self, queue: &Self::Queue, source: &Self, rows: Rows) -> Result<()>;

    /// Enqueues work that sets all elements to zero.
    fn clear(&mut self) -> Result<()>;

    /// Returns the number of elements.
    fn len(&self) -> usize;

    /// Returns the address, if it is one of CUDA's memory.
    fn cuda_address(&self) -> Option<u64>;

    /// Returns a window on all elements, for a kernel to read.
    fn input(&self) -> GlobalIn<'_, T>;

    /// Returns a window on all elements, for a kernel to write.
    fn output(&mut self) -> GlobalOut<'_, T>;

    /// Returns a window on all elements, for a kernel to read and write.
    fn in_out(&mut self) -> GlobalInOut<'_, T>;
}

/// The kernel `E` on a device.
pub(crate) trait Kernel<E: Entry>: Clone + Send + Sync {
    /// Enqueues the kernel. Returns an error if `args` or `constants` contain windows that are not among `windows`, or if the
    /// launch exceeds a limit of the device. The caller holds the device's [submission lock](Queue::submission_lock).
    fn launch(
        &self,
        shape: &LaunchShape,
        windows: &WindowRecord,
        args: &E::Args<'_>,
        constants: &E::Constants,
    ) -> Result<()>;

    /// Returns the occupancy of a launch of this shape; `None` if the device does not know it.
    fn residency(&self, shape: &LaunchShape) -> Result<Option<Residency>>;
}

/// Returns the number in a text of digits only; `parse` would also accept a sign.
pub(crate) fn number<N: FromStr>(digits: &str) -> Option<N> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}
