//! NVIDIA GPUs in a build without them: opening one returns an error.

pub(crate) use super::absent::Absent as Queue;
use crate::device::info::DeviceInfo;
use crate::{Error, Result};
use std::sync::Arc;

/// Opens device `ordinal`.
pub(crate) fn open(_ordinal: usize) -> Result<(Arc<Queue>, DeviceInfo)> {
    if cfg!(feature = "cuda") {
        let (os, processor) = (std::env::consts::OS, std::env::consts::ARCH);
        let supported = "CUDA devices are supported on Linux on x86-64 and aarch64 only";
        return Err(Error::NoDevice {
            tried: format!("{supported}, and this program was built for {os} on {processor}"),
        });
    }
    Err(Error::FeatureDisabled { device: "a CUDA device", feature: "cuda" })
}

/// Returns the number of devices.
pub(crate) fn device_count() -> usize {
    0
}
