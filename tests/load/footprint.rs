//! Memory of the device and of the process.

use crate::common::{ensure, is_cuda};
use cap::Cap;
use libtest_mimic::Failed;
use slm::{Device, Error};
use std::alloc::System;
use std::fmt;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Bytes that the process may have allocated since: longer queues of work, and handles and kernels that were needed for the first time.
/// What drivers allocate is not counted.
const HOST_SLACK: u64 = 1 << 20;

/// Bytes that a GPU's driver may have taken since. In two minutes on an H200 it was 4 MiB, in the first ten seconds. An emulated device has
/// no driver.
const DRIVER_SLACK: u64 = 8 << 20;

/// Memory at a moment without work, in bytes.
pub(crate) struct Footprint {
    /// Free memory of the device without what it keeps for later calls. The CPU does not say it.
    free: Option<u64>,
    /// What the process has allocated.
    allocated: u64,
}

impl Footprint {
    pub(crate) fn of(device: &Device) -> slm::Result<Self> {
        Ok(Footprint { free: free(device)?, allocated: ALLOCATOR.allocated() as u64 })
    }

    /// Returns an error if there is less free memory of the device than there was.
    pub(crate) fn check_device(&self, before: &Self, device: &Device) -> Result<(), Failed> {
        let slack = if is_cuda(device) { DRIVER_SLACK } else { 0 };
        let has_lost = before.free.zip(self.free).is_some_and(|(before, after)| after + slack < before);
        ensure(!has_lost, || format!("memory of the device was lost: {before}, then {self}"))
    }

    /// Returns an error if the process has grown.
    pub(crate) fn check_process(&self, before: &Self) -> Result<(), Failed> {
        let has_grown = before.allocated + HOST_SLACK < self.allocated;
        ensure(!has_grown, || format!("memory of the process was lost: {before}, then {self}"))
    }
}

/// Returns the free memory, which a refused request for far too much says.
fn free(device: &Device) -> slm::Result<Option<u64>> {
    device.release_unused_memory()?;
    match device.zeroed::<u8>(1 << 50) {
        Err(Error::OutOfDeviceMemory { available, .. }) => Ok(available),
        Err(Error::OutOfHostMemory { .. }) => Ok(None),
        Err(error) => Err(error),
        Ok(_) => panic!("{device} has a pebibyte"),
    }
}

impl fmt::Display for Footprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(free) = self.free {
            write!(f, "{} KiB free and ", free >> 10)?;
        }
        write!(f, "{} KiB allocated", self.allocated >> 10)
    }
}
