//! Allocation of all host memory.

use slm::{Buffer, Device, Error};

/// A size in bytes that exceeds all free memory after [`filled`].
pub const LARGE: usize = 64 << 20;

/// Size in bytes that stays free for small allocations.
const SLACK: usize = 8 << 20;

/// Allocates all memory except a little more than 8 MiB, in buffers of [`LARGE`] bytes first. Returns the buffers.
///
/// # Panics
///
/// On an error other than too little memory.
#[must_use]
pub fn filled(device: &Device) -> Vec<Buffer<f64>> {
    let slack = Vec::<u8>::with_capacity(SLACK);
    let mut taken = Vec::with_capacity(1000);
    for size in [LARGE, SLACK / 2] {
        loop {
            match device.zeroed(size / 8) {
                Ok(buffer) => taken.push(buffer),
                Err(error) => break assert_eq!(error, Error::OutOfHostMemory { requested: size as u64 }),
            }
        }
    }
    drop(slack);
    taken
}
