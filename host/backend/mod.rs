//! What runs kernels. It knows no operation.
//!
//! * `cuda`: NVIDIA GPUs, through `cust`. The only folder of the library with `unsafe` in it.
//! * `emulated`: the same kernels on the CPU, under an emulator that sees every access.
//!
//! What both share with those who use them stands below all of this: what is known of a device in `info.rs`, and what a
//! launch is in `launch/`.
//!
//! In a build without one of them, [`absent`] has types without values in its place: what uses a backend is compiled all
//! the same.

#[cfg(not(all(cuda, feature = "emulator")))]
mod absent;
#[cfg(cuda)]
pub(crate) mod cuda;
#[cfg(not(cuda))]
#[path = "without_cuda.rs"]
pub(crate) mod cuda;
#[cfg(feature = "emulator")]
pub(crate) mod emulated;
#[cfg(not(feature = "emulator"))]
#[path = "without_emulator.rs"]
pub(crate) mod emulated;

use crate::launch::{LaunchShape, QueueId, Residency, WindowRecord};
use crate::rows::Rows;
use crate::{Element, Result};
use cuda_std::image::Modules;
use cuda_std::{Entry, GlobalIn, GlobalInOut, GlobalOut};
use std::str::FromStr;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

/// A device, and the work on it in its order.
pub(crate) trait Queue: Send + Sync {
    /// Memory of the device.
    type Memory<T: Element>: Memory<T, Queue = Self>;
    /// A kernel on the device.
    type Kernel<E: Entry>: Kernel<E> + 'static;

    /// Identifies the queue.
    fn id(&self) -> QueueId;

    /// Finds the kernel `E` in its module, which has to be compiled from the same sources and with the same arguments.
    fn load<E: Entry>(self: &Arc<Self>, modules: &Modules) -> Result<Self::Kernel<E>>;

    /// Keeps other threads from enqueueing kernels until the guard is dropped, if that takes one, and readies the device for
    /// launches: once for work of several.
    fn submission_lock(&self) -> Result<Option<MutexGuard<'_, ()>>>;

    /// Waits for all work.
    fn synchronize(&self) -> Result<()>;

    /// How long the device takes for what `work` enqueues. Waits for it.
    fn time<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<(R, Duration)>;
}

/// Memory for elements on a device, freed in the order of the work.
pub(crate) trait Memory<T>: Sized {
    /// The device.
    type Queue;

    /// Memory with a copy of `data`, which may be changed afterwards.
    fn upload(queue: &Arc<Self::Queue>, data: &[T]) -> Result<Self>;

    /// Memory of zeros. `len` elements are at most `isize::MAX` bytes.
    fn zeroed(queue: &Arc<Self::Queue>, len: usize) -> Result<Self>;

    /// Memory with unspecified contents, which kernels have to write before one reads it; otherwise as `zeroed`.
    fn unwritten(queue: &Arc<Self::Queue>, len: usize) -> Result<Self>;

    /// An error if the device knows of an element that was unwritten, and still is.
    fn check_written(&self) -> Result<()>;

    /// Copies `data`, of the same length, to the memory; `data` may be changed afterwards.
    fn overwrite(&mut self, data: &[T]) -> Result<()>;

    /// Copies the memory to `data`, of the same length, and waits for that.
    fn download(&self, data: &mut [T]) -> Result<()>;

    /// Enqueues a copy of `source`, which has the same length and device.
    fn copy_from(&mut self, source: &Self) -> Result<()>;

    /// Copies rows of `data`, which fit, to the memory; `data` may be changed afterwards.
    fn overwrite_rows(&mut self, data: &[T], rows: Rows) -> Result<()>;

    /// Copies rows of the memory, which fit, to `data`, and waits for that.
    fn download_rows(&self, data: &mut [T], rows: Rows) -> Result<()>;

    /// Enqueues a copy of rows of `source`, which fit and are on the same device.
    fn copy_rows(&mut self, source: &Self, rows: Rows) -> Result<()>;

    /// Enqueues that all elements become zero.
    fn clear(&mut self) -> Result<()>;

    /// The number of elements.
    fn len(&self) -> usize;

    /// All elements, for a kernel to read.
    fn input(&self) -> GlobalIn<T>;

    /// All elements, for a kernel to write.
    fn output(&mut self) -> GlobalOut<T>;

    /// All elements, for a kernel to read and write.
    fn in_out(&mut self) -> GlobalInOut<T>;
}

/// The kernel `E` on a device.
pub(crate) trait Kernel<E: Entry>: Send + Sync {
    /// Enqueues the kernel, or refuses to: `args` and `constants` can have windows that are none of `windows`, and the
    /// device has limits. The caller has the device's [submission lock](Queue::submission_lock).
    fn launch(
        &self,
        shape: &LaunchShape,
        windows: &WindowRecord,
        args: &E::Args,
        constants: &E::Constants,
    ) -> Result<()>;

    /// What a launch of this shape occupies; `None` if the device does not know.
    fn residency(&self, shape: &LaunchShape) -> Result<Option<Residency>>;
}

/// How long `work` takes, if it has done everything when it returns, and what it returned.
pub(crate) fn by_clock_of_host<R>(work: impl FnOnce() -> Result<R>) -> Result<(R, Duration)> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed()))
}

/// The number that `digits` are; no sign, as `parse` would take.
pub(crate) fn number<N: FromStr>(digits: &str) -> Option<N> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}
