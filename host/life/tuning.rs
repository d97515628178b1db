//! Constants of boards on GPUs.

use crate::device::info::{Backend, DeviceInfo};

/// Constants for a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct LifeTuning {
    /// Number of multiprocessors, which determines the number of blocks of a census and of `Blocked`.
    pub(super) processors: u64,
    /// Nanoseconds for a row of each warp of `Blocked`, if a scheduler has one, two or three warps.
    pub(super) times_of_row: [u64; 3],
}

/// Measured on an H200 (`benches/RESULTS.md`), and on no other GPU. Only the ratios matter.
const TIMES_OF_ROW: [u64; 3] = [267, 484, 709];

/// Multiprocessors of an emulated device. More of them would only take longer.
const EMULATED: u64 = 1;

impl LifeTuning {
    pub(super) fn new(info: &DeviceInfo) -> Self {
        let processors = match info.backend {
            Backend::Cuda => info.processors as u64,
            Backend::Cpu | Backend::Emulated => EMULATED,
        };
        LifeTuning { processors, times_of_row: TIMES_OF_ROW }
    }
}
