//! Properties of devices, from the driver.

use super::driver::{self, check};
use super::module::lowest_target;
use crate::device::info::{Backend, DeviceInfo, SharedMemory};
use crate::device::launch::LaunchLimits;
use crate::{Error, Result};
use cuda_driver::api::{self, CUdevice};
use std::ffi::{CStr, c_char, c_int};

/// First version of CUDA with stream-ordered allocation (`cuMemAllocFromPoolAsync`).
const ORDERED_ALLOCATION: (u32, u32) = (11, 2);

/// Limits for launches and modules.
#[derive(Debug)]
pub(super) struct Limits {
    /// Name of the device.
    pub(super) device: String,
    pub(super) capability: (u32, u32),
    pub(super) launch: LaunchLimits,
    pub(super) threads_per_multiprocessor: u32,
}

/// Returns the number of devices of the driver.
pub(super) fn count() -> Result<usize> {
    driver::initialise()?;
    let mut count = 0;
    // SAFETY: writes one integer, which outlives the call.
    check("cuDeviceGetCount", unsafe { api::cuDeviceGetCount(&mut count) })?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// Returns device `ordinal`, which must be less than [`count`].
pub(super) fn device(ordinal: usize) -> Result<CUdevice> {
    let mut device = 0;
    // The driver counts devices in an `int`.
    let ordinal = c_int::try_from(ordinal).unwrap_or(c_int::MAX);
    // SAFETY: writes one integer, which outlives the call; the driver returns an error for numbers without a device.
    check("cuDeviceGet", unsafe { api::cuDeviceGet(&mut device, ordinal) })?;
    Ok(device)
}

/// Returns the name of a device, or "unnamed" if the driver returns no terminated name.
fn name(device: CUdevice) -> Result<String> {
    let mut text = [0u8; 256];
    // SAFETY: writes at most `text.len()` bytes, which outlive the call; the device exists.
    let code = unsafe { api::cuDeviceGetName(text.as_mut_ptr().cast::<c_char>(), text.len() as c_int, device) };
    check("cuDeviceGetName", code)?;
    Ok(CStr::from_bytes_until_nul(&text)
        .map_or_else(|_| "unnamed".to_owned(), |name| name.to_string_lossy().into_owned()))
}

/// Returns the size of a device's memory in bytes.
fn memory(device: CUdevice) -> Result<u64> {
    let mut bytes = 0;
    // SAFETY: writes one number, which outlives the call; the device exists.
    check("cuDeviceTotalMem", unsafe { api::cuDeviceTotalMem_v2(&mut bytes, device) })?;
    Ok(bytes as u64)
}

/// Values of `CUdevice_attribute`.
mod attribute {
    pub(super) const THREADS_PER_BLOCK: i32 = 1;
    pub(super) const BLOCK: [i32; 3] = [2, 3, 4];
    pub(super) const GRID: [i32; 3] = [5, 6, 7];
    pub(super) const SHARED_PER_BLOCK: i32 = 8;
    pub(super) const MULTIPROCESSORS: i32 = 16;
    pub(super) const L2_CACHE: i32 = 38;
    pub(super) const THREADS_PER_MULTIPROCESSOR: i32 = 39;
    pub(super) const CAPABILITY_MAJOR: i32 = 75;
    pub(super) const CAPABILITY_MINOR: i32 = 76;
    pub(super) const SHARED_PER_MULTIPROCESSOR: i32 = 81;
    pub(super) const MOST_SHARED_PER_BLOCK: i32 = 97;
    pub(super) const MEMORY_POOLS: i32 = 115;
}

fn get(device: CUdevice, attribute: i32) -> Result<u32> {
    let mut value = 0;
    // SAFETY: writes one integer, which outlives the call; the device exists.
    check("cuDeviceGetAttribute", unsafe { api::cuDeviceGetAttribute(&mut value, attribute, device) })?;
    Ok(value.unsigned_abs())
}

/// Returns the values of attributes along x, y and z.
fn get_each(device: CUdevice, [x, y, z]: [i32; 3]) -> Result<[u32; 3]> {
    Ok([get(device, x)?, get(device, y)?, get(device, z)?])
}

pub(super) fn describe(device: CUdevice, ordinal: usize) -> Result<DeviceInfo> {
    let capability = (get(device, attribute::CAPABILITY_MAJOR)?, get(device, attribute::CAPABILITY_MINOR)?);
    Ok(DeviceInfo {
        backend: Backend::Cuda,
        name: name(device)?,
        selection: format!("CUDA device {ordinal}"),
        compute_capability: Some(capability),
        processors: get(device, attribute::MULTIPROCESSORS)? as usize,
        threads_per_multiprocessor: Some(get(device, attribute::THREADS_PER_MULTIPROCESSOR)?),
        memory: Some(memory(device)?),
        l2_cache: Some(get(device, attribute::L2_CACHE)?.into()),
        shared_memory: Some(SharedMemory {
            default_per_block: get(device, attribute::SHARED_PER_BLOCK)?.into(),
            max_per_block: get(device, attribute::MOST_SHARED_PER_BLOCK)?.into(),
            per_multiprocessor: get(device, attribute::SHARED_PER_MULTIPROCESSOR)?.into(),
            reserved_per_block: reserved(capability),
            // The same for every device since compute capability 5.0 (CUDA C++ Programming Guide, "Compute Capabilities").
            banks: 32,
            bank_bytes: 4,
        }),
    })
}

/// Returns the bytes of shared memory that the hardware reserves per block: none before compute capability 8.0 (CUDA C++
/// Programming Guide, "Compute Capabilities").
fn reserved(capability: (u32, u32)) -> u64 {
    if capability < (8, 0) { 0 } else { 1024 }
}

pub(super) fn limits(device: CUdevice, info: &DeviceInfo) -> Result<Limits> {
    let version = driver::version()?;
    if version < ORDERED_ALLOCATION {
        let needed_for = "stream-ordered allocation".to_owned();
        return Err(Error::DriverTooOld { required: ORDERED_ALLOCATION, actual: version, needed_for });
    }
    if get(device, attribute::MEMORY_POOLS)? == 0 {
        // Some virtual GPUs have no memory pools.
        return Err(Error::DeviceUnsupported { device: info.name.clone(), lacks: "stream-ordered allocation" });
    }
    let capability = info.compute_capability.expect("a GPU has a compute capability");
    if capability < lowest_target() {
        let (device, required) = (info.name.clone(), lowest_target());
        return Err(Error::DeviceTooOld { device, required, actual: capability });
    }
    Ok(Limits {
        device: info.name.clone(),
        capability,
        launch: LaunchLimits {
            grid: get_each(device, attribute::GRID)?,
            block: get_each(device, attribute::BLOCK)?,
            threads: get(device, attribute::THREADS_PER_BLOCK)?,
            shared: info.shared_memory.expect("a GPU has shared memory"),
        },
        threads_per_multiprocessor: info.threads_per_multiprocessor.expect("a GPU has this property"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_is_reserved_since_8_0() {
        assert_eq!([(7, 5), (8, 0), (9, 0)].map(reserved), [0, 1024, 1024]);
    }
}
