//! Devices that run every input.

use crate::Reader;
use slm::emulator::Profile;
use slm::{Device, Error};

/// Returns the CPU and an emulated GPU, whose profile and order of threads are from the input.
pub fn devices(reader: &mut Reader<'_>) -> [Device; 2] {
    let profile = reader.pick(&Profile::ALL);
    [Device::cpu(), Device::emulated(profile, u64::from(reader.byte()))]
}

/// Returns whether an algorithm that was asked for may refuse a valid description with this error. The default never does.
#[must_use]
pub fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::SharedMemoryExceeded { .. } | Error::Filter1d(_) | Error::Filter2d(_) | Error::Rank(_))
}
