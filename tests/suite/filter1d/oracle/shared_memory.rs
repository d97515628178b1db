//! The shared memory that `SharedTile` needs, computed from its layout, and its error where that is too much.

use super::Sample;
use slm::filter1d::Filter1dAlgorithm;
use slm::{Device, Error};

/// Returns the bytes of a block: all taps, then a tile with its halo, each rounded up to 16 bytes. A tile along rows (axis
/// 1) has 256 outputs of one line; along columns it has 64 outputs of each of 32 lines.
pub fn tile_bytes<T>(taps: usize, axis: usize) -> u64 {
    let (outputs, lines) = if axis == 1 { (256, 1) } else { (64, 32) };
    let [taps, tile] = [taps, (outputs + taps - 1) * lines].map(|n| (n * size_of::<T>()).next_multiple_of(16) as u64);
    taps + tile
}

/// Returns the error for `taps` taps along `axis` where a block can have `available` bytes, or `None` if the filter must
/// succeed. The other algorithms split the taps into pieces that fit, or need no shared memory.
pub fn exceeded<T: Sample>(available: u64, algorithm: Filter1dAlgorithm, taps: usize, axis: usize) -> Option<Error> {
    let requested = tile_bytes::<T>(taps, axis);
    let kernel = format!("filter1d_tile_{}", T::NAME);
    let error = Error::SharedMemoryExceeded { kernel, requested, available };
    (matches!(algorithm, Filter1dAlgorithm::SharedTile(_)) && requested > available).then_some(error)
}

/// Returns the error on a device, or `None` for a device without shared memory.
pub fn exceeded_on<T: Sample>(
    device: &Device,
    algorithm: Filter1dAlgorithm,
    taps: usize,
    axis: usize,
) -> Option<Error> {
    exceeded::<T>(device.info().shared_memory?.max_per_block, algorithm, taps, axis)
}
