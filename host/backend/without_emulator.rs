//! Emulated GPUs in a build without them: opening one returns an error.

pub(crate) use super::absent::Absent as Emulation;
use crate::device::info::DeviceInfo;
use crate::{Error, Result};
use std::sync::Arc;

/// Opens the device called `PROFILE` or `PROFILE:SEED`.
pub(crate) fn open(_name: &str) -> Option<Result<(Arc<Emulation>, DeviceInfo)>> {
    Some(Err(Error::FeatureDisabled { device: "the emulated device", feature: "emulator" }))
}
