//! Emulated GPUs: kernels run on the CPU, and every access is checked.
//!
//! | file | contents |
//! |---|---|
//! | `emulation.rs` | an emulator, with its findings and counts, and a queue of it |
//! | `clocks.rs` | the order of accesses, as the queues know it |
//! | `memory.rs` | memory of an emulated device |
//! | `kernel.rs` | kernels, which run when they are launched |

mod clocks;
mod emulation;
mod kernel;
mod memory;

use super::number;
use crate::cpu::allocation;
use crate::device::info::DeviceInfo;
use crate::device::launch::QueueId;
use crate::{Element, Result, backend};
use cuda_std::Entry;
use cuda_std::image::Modules;
pub(crate) use emulation::Emulation;
use emulator::Profile;
use kernel::Kernel;
use memory::DeviceMemory;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

/// Opens the device called `PROFILE` or `PROFILE:SEED`, if there is one.
pub(crate) fn open(name: &str) -> Option<Result<(Arc<Emulation>, DeviceInfo)>> {
    let (profile, seed) = name.split_once(':').unwrap_or((name, "0"));
    let profile = Profile::ALL.into_iter().find(|known| known.name() == profile)?;
    let emulation = Emulation::new(profile, number(seed)?);
    let info = emulation.info();
    Some(Ok((Arc::new(emulation), info)))
}

impl backend::Queue for Emulation {
    type DeviceMemory<T: Element> = DeviceMemory<T>;
    type Kernel<E: Entry> = Kernel<E>;
    type Mark = Instant;
    type PinnedMemory<T: Element> = Vec<T>;

    fn id(&self) -> QueueId {
        self.queue_id()
    }

    fn another(&self) -> Result<Arc<Self>> {
        Emulation::another(self).map(Arc::new)
    }

    /// Copies of an emulated device are as fast with any memory.
    fn pinned<T: Element>(self: &Arc<Self>, len: usize) -> Result<Vec<T>> {
        allocation::filled(T::default(), len)
    }

    fn copies_fast<T: Element>(&self, _: &[T]) -> bool {
        true
    }

    /// Devices that were opened apart have nothing in common.
    fn access(&self, _: &Self) -> Result<bool> {
        Ok(false)
    }

    fn wait_for(&self, other: &Self) -> Result<()> {
        Emulation::wait_for(self, other)
    }

    fn is_lost(&self) -> bool {
        false
    }

    /// Kernels are code of this program, so no image is needed.
    fn load<E: Entry>(self: &Arc<Self>, _: &Modules) -> Result<Kernel<E>> {
        Ok(Kernel::new(self))
    }

    /// Returns no lock: a kernel has ended when its launch returns.
    fn submission_lock(&self) -> Result<Option<MutexGuard<'_, ()>>> {
        Ok(None)
    }

    fn synchronize(&self) -> Result<()> {
        self.check_deferred()
    }

    /// Returns `Ok`: no memory is kept.
    fn release_unused_memory(&self) -> Result<()> {
        Ok(())
    }

    fn mark(self: &Arc<Self>) -> Result<Instant> {
        Ok(Instant::now())
    }

    /// Measures with the host's clock.
    fn elapsed(start: &Instant, end: &Instant) -> Result<Duration> {
        Ok(end.saturating_duration_since(*start))
    }
}
