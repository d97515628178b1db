//! The host's memory.

use slm::{Buffer, Device, Error};

/// What is larger than all free memory once it is [`filled`].
pub const LARGE: usize = 64 << 20;

/// What then still fits, for small things.
const SLACK: usize = 8 << 20;

/// Takes all memory but a little more than 8 MiB, the first [`LARGE`] piece of it first.
///
/// # Panics
///
/// For another error than too little memory.
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
