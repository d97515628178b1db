//! The device of a rank.

use slm::{Device, Error, Result};
use std::env;

/// Returns the device of a rank, which has this number among the ranks on its node. [`run`](crate::run) says which one.
pub(crate) fn of_rank(number: usize) -> Result<Device> {
    let name = env::var_os("SLM_DEVICE").unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match &*name {
        "" | "auto" => match gpu(number) {
            Err(Error::NoDevice { .. } | Error::FeatureDisabled { .. }) => Device::named("auto"),
            // Not the CPU: floats would differ from those of the other ranks.
            result => result,
        },
        "cuda" => gpu(number),
        name => Device::named(name),
    }
}

/// Returns the GPU with this number, which starts again from 0 behind the last GPU. Other GPUs are not opened: each would take memory.
fn gpu(number: usize) -> Result<Device> {
    match Device::cuda(number) {
        Err(Error::DeviceOrdinal { available, .. }) if available > 0 => Device::cuda(number % available),
        result => result,
    }
}
