//! What `SharedTile` needs of shared memory, counted from its layout, and what it must answer where that is too much.

use super::Sample;
use slm::filter1d::FilterAlgorithm;
use slm::{Device, Error};

/// The bytes of a block: all taps, then a tile with its halo, each rounded up to 16 bytes. A tile along rows (axis 1)
/// is 256 outputs of one line, along columns 64 outputs of each of 32 lines.
pub fn tile_bytes<T>(taps: usize, axis: usize) -> u64 {
    let (outputs, lines) = if axis == 1 { (256, 1) } else { (64, 32) };
    let [taps, tile] = [taps, (outputs + taps - 1) * lines].map(|n| (n * size_of::<T>()).next_multiple_of(16) as u64);
    taps + tile
}

/// The error of `taps` taps along `axis` where a block can have `available` bytes; `None` if there must be a result.
/// The other algorithms cut the taps into pieces that fit, or need no shared memory.
pub fn exceeded<T: Sample>(available: u64, algorithm: FilterAlgorithm, taps: usize, axis: usize) -> Option<Error> {
    let requested = tile_bytes::<T>(taps, axis);
    let kernel = format!("filter1d_tile_{}", T::NAME);
    let error = Error::SharedMemoryExceeded { kernel, requested, available };
    (matches!(algorithm, FilterAlgorithm::SharedTile(_)) && requested > available).then_some(error)
}

/// The same on a device; one without shared memory never lacks it.
pub fn exceeded_on<T: Sample>(device: &Device, algorithm: FilterAlgorithm, taps: usize, axis: usize) -> Option<Error> {
    exceeded::<T>(device.info().shared_memory?.max_per_block, algorithm, taps, axis)
}
