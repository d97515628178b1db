//! Memory of the device and of the process.

use crate::common::{ensure, is_cuda};
use libtest_mimic::Failed;
use slm::{Device, Error};
use std::fmt;

/// Bytes that the process may have taken since. Its allocator keeps some of the freed memory for each thread, and how much depends on
/// which threads needed memory at the same time. Sixteen threads that lose a kilobyte in each run exceed this within seconds.
const HOST_SLACK: u64 = 64 << 20;

/// Bytes that a GPU's driver may have taken since. In two minutes on an H200 it was 4 MiB, in the first ten seconds. An emulated device has
/// no driver.
const DRIVER_SLACK: u64 = 8 << 20;

/// Memory at a moment without work, in bytes.
pub(crate) struct Footprint {
    /// Free memory of the device, as it says itself. The CPU does not say it.
    free: Option<u64>,
    /// Resident memory of the process, which only Linux says.
    resident: Option<u64>,
}

impl Footprint {
    pub(crate) fn of(device: &Device) -> slm::Result<Self> {
        Ok(Footprint { free: free(device)?, resident: resident() })
    }

    /// Returns an error if there is less free memory of the device than there was.
    pub(crate) fn check_device(&self, before: &Self, device: &Device) -> Result<(), Failed> {
        let slack = if is_cuda(device) { DRIVER_SLACK } else { 0 };
        let has_lost = before.free.zip(self.free).is_some_and(|(before, after)| after + slack < before);
        ensure(!has_lost, || format!("memory of the device was lost: {before}, then {self}"))
    }

    /// Returns an error if the process has grown.
    pub(crate) fn check_process(&self, before: &Self) -> Result<(), Failed> {
        let has_grown = before.resident.zip(self.resident).is_some_and(|(before, after)| before + HOST_SLACK < after);
        ensure(!has_grown, || format!("memory of the process was lost: {before}, then {self}"))
    }
}

/// Returns the free memory, which a refused request for far too much says.
fn free(device: &Device) -> slm::Result<Option<u64>> {
    match device.zeroed::<u8>(1 << 50) {
        Err(Error::OutOfDeviceMemory { available, .. }) => Ok(available),
        Err(Error::OutOfHostMemory { .. }) => Ok(None),
        Err(error) => Err(error),
        Ok(_) => panic!("{device} has a pebibyte"),
    }
}

fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

impl fmt::Display for Footprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (bytes, what) in [(self.free, "free"), (self.resident, "resident")] {
            if let Some(bytes) = bytes {
                write!(f, "{separator}{} KiB {what}", bytes >> 10)?;
                separator = " and ";
            }
        }
        Ok(())
    }
}
