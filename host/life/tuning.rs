//! Constants of boards on GPUs.

use crate::device::info::{Backend, DeviceInfo};

/// Constants for a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct LifeTuning {
    /// Number of multiprocessors, which determines the number of blocks of a census and of `Blocked`.
    pub(super) processors: u64,
    /// Nanoseconds for a row of each warp of `Blocked`, if a scheduler has one, two or three warps.
    pub(super) times_of_row: [u64; 3],
    /// Nanoseconds for a launch of `Blocked`, besides its rows.
    pub(super) launch_of_pass: u64,
    /// Number of bands of `Resident`, at most.
    pub(super) bands: u64,
    pub(super) times_of_bands: TimesOfBands,
    /// Banks of shared memory.
    pub(super) banks: u32,
    /// Bytes of shared memory of a block, at most.
    pub(super) shared_bytes: u64,
}

/// Nanoseconds of launches of `Resident`.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimesOfBands {
    /// For a launch, without its generations.
    pub(super) launch: u64,
    /// For a generation of a small band.
    pub(super) generation: u64,
    /// For each row of a warp, in addition.
    pub(super) row_of_warp: u64,
}

/// Measured on an H200 (`benches/RESULTS.md`), and on no other GPU. Only the ratios matter.
const TIMES_OF_ROW: [u64; 3] = [267, 484, 709];
const LAUNCH_OF_PASS: u64 = 1400;
const TIMES_OF_BANDS: TimesOfBands = TimesOfBands { launch: 3700, generation: 180, row_of_warp: 18 };

/// Multiprocessors of an emulated device. More of them would only take longer.
const EMULATED: u64 = 1;

/// Bands on emulated devices: some that have neighbours on both sides. Launches cost nothing there, so that boards of few rows have bands.
const EMULATED_BANDS: u64 = 3;

impl LifeTuning {
    pub(super) fn new(info: &DeviceInfo) -> Self {
        let (processors, bands, launch) = match info.backend {
            Backend::Cuda => (info.processors as u64, info.processors as u64, TIMES_OF_BANDS.launch),
            Backend::Cpu | Backend::Emulated => (EMULATED, EMULATED_BANDS, 0),
        };
        let times_of_bands = TimesOfBands { launch, ..TIMES_OF_BANDS };
        let (banks, shared_bytes) = info.shared_memory.map_or((32, 0), |shared| (shared.banks, shared.max_per_block));
        let (times_of_row, launch_of_pass) = (TIMES_OF_ROW, LAUNCH_OF_PASS);
        LifeTuning { processors, times_of_row, launch_of_pass, bands, times_of_bands, banks, shared_bytes }
    }
}

#[cfg(test)]
impl LifeTuning {
    /// The tuning of an H200.
    pub(super) const H200: Self = LifeTuning {
        processors: 132,
        times_of_row: TIMES_OF_ROW,
        launch_of_pass: LAUNCH_OF_PASS,
        bands: 132,
        times_of_bands: TIMES_OF_BANDS,
        banks: 32,
        shared_bytes: 227 << 10,
    };
}
