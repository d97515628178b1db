//! NVIDIA GPUs.
//!
//! The layers, from the driver up:
//!
//! | file | contents |
//! |---|---|
//! | `driver.rs` | loading the driver; its return codes as errors |
//! | `handle.rs` | owned resources of the driver, released when dropped |
//! | `places.rs` | values created once per key, without blocking other keys |
//! | `module.rs` | choosing, checking and loading compiled modules |
//! | `pool.rs` | the pool of a GPU's memory |
//! | `staging.rs` | pinned memory that small results pass through |
//! | `properties.rs` | properties and limits of a device |
//! | `context.rs` | a device's primary context, its modules and its memory: one per GPU and process |
//! | `queue.rs` | one stream of a context |
//! | `rows.rs` | copies of rows with gaps between them |
//! | `pinned.rs` | host memory that the GPU copies directly |
//! | `memory.rs` | device memory, freed in stream order |
//! | `kernel.rs` | a kernel that can only be launched with its own arguments |
//! | `interop.rs` | memory, contexts and streams of programs that use `cust`, with the feature `cust` |
//! | `dlpack.rs` | memory and streams of other libraries, with the feature `dlpack` |
//!
//! Each file uses only those above it.
//!
//! Each thread has its own current context, so every call into the driver begins with [`Queue::enter`]. Afterwards the
//! device's primary context stays current.

#![allow(unsafe_code)] // Calls into the CUDA driver.
#![cfg_attr(not(cust), allow(dead_code))] // `interop.rs` alone uses a part of the other files.

mod context;
#[cfg(feature = "dlpack")]
mod dlpack;
mod driver;
mod handle;
#[cfg(cust)]
mod interop;
mod kernel;
mod memory;
mod module;
mod peers;
mod pinned;
mod places;
mod pool;
mod properties;
mod queue;
mod rows;
mod staging;

use crate::device::info::DeviceInfo;
use crate::device::launch::QueueId;
use crate::{Element, Result, backend};
use cuda_std::Entry;
use cuda_std::image::Modules;
#[cfg(cust)]
pub(crate) use interop::open_on_stream;
use kernel::Kernel;
pub(crate) use memory::DeviceMemory;
use pinned::PinnedMemory;
pub(crate) use queue::{Mark, Queue};
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

/// Opens a stream on device `ordinal`. Returns it with the properties of the device.
pub(crate) fn open(ordinal: usize) -> Result<(Arc<Queue>, DeviceInfo)> {
    let (queue, info) = Queue::open(ordinal)?;
    Ok((Arc::new(queue), info))
}

/// Returns the number of devices, 0 if the driver does not answer.
pub(crate) fn device_count() -> usize {
    properties::count().unwrap_or(0)
}

impl backend::Queue for Queue {
    type DeviceMemory<T: Element> = DeviceMemory<T>;
    type Kernel<E: Entry> = Kernel<E>;
    type Mark = Mark;
    type PinnedMemory<T: Element> = PinnedMemory<T>;

    fn id(&self) -> QueueId {
        Queue::id(self)
    }

    fn another(&self) -> Result<Arc<Self>> {
        Queue::another(self).map(Arc::new)
    }

    fn pinned<T: Element>(self: &Arc<Self>, len: usize) -> Result<PinnedMemory<T>> {
        PinnedMemory::zeroed(self, len)
    }

    fn copies_fast<T: Element>(&self, elements: &[T]) -> bool {
        self.enter().is_ok() && pinned::is_pinned(elements)
    }

    fn access(&self, other: &Self) -> Result<bool> {
        peers::enable(self.context(), other.context())
    }

    fn wait_for(&self, other: &Self) -> Result<()> {
        Queue::wait_for(self, other)
    }

    fn is_lost(&self) -> bool {
        Queue::is_lost(self)
    }

    fn load<E: Entry>(self: &Arc<Self>, modules: &Modules) -> Result<Kernel<E>> {
        Kernel::load(self, modules)
    }

    fn submission_lock(&self) -> Result<Option<MutexGuard<'_, ()>>> {
        Queue::submission_lock(self).map(Some)
    }

    fn synchronize(&self) -> Result<()> {
        self.enter()?;
        self.wait()
    }

    fn release_unused_memory(&self) -> Result<()> {
        self.enter()?;
        // Memory that is dropped is freed in the order of the stream.
        self.wait()?;
        self.note(self.context().pool().trim())
    }

    fn mark(self: &Arc<Self>) -> Result<Mark> {
        Queue::mark(self)
    }

    /// Measures with the device's clock.
    fn elapsed(start: &Mark, end: &Mark) -> Result<Duration> {
        start.elapsed_until(end)
    }
}
