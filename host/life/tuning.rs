//! Constants of boards on GPUs.

use crate::info::{Backend, DeviceInfo};

/// Constants for a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// Number of multiprocessors, which determines the number of blocks of a census and of `Blocked`.
    pub(super) processors: u64,
}

/// Multiprocessors of an emulated device. More of them would only take longer.
const EMULATED: u64 = 1;

impl Tuning {
    pub(super) fn new(info: &DeviceInfo) -> Self {
        let processors = match info.backend {
            Backend::Cuda => info.processors as u64,
            Backend::Cpu | Backend::Emulated => EMULATED,
        };
        Tuning { processors }
    }
}
