//! Emulated GPUs: kernels run on the CPU, and every access is checked.
//!
//! | file | contents |
//! |---|---|
//! | `emulation.rs` | an emulator, with its findings and counts |
//! | `memory.rs` | memory of an emulated device |
//! | `kernel.rs` | kernels, which run when they are launched |

mod emulation;
mod kernel;
mod memory;

use super::{by_clock_of_host, number};
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
use std::time::Duration;

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

    fn id(&self) -> QueueId {
        self.queue_id()
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
        Ok(())
    }

    /// Measures with the host's clock.
    fn time<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<(R, Duration)> {
        by_clock_of_host(work)
    }
}
