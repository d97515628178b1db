//! What `SharedTile` needs of shared memory, counted from its layout, and what it must answer where that is too much.

use super::Case;
use slm::{Device, Error};

/// Pixels and rows of a tile.
const TILE: [usize; 2] = [16, 32];

impl Case {
    /// The bytes of a block with sums of this size: all weights, then the samples of a tile, each rounded up to 16 bytes. Rows of
    /// samples are rounded up to a multiple of the stride. More than 64 bits count as the most that they hold.
    fn tile_bytes(&self, sum_bytes: u128) -> u64 {
        let taps = self.weights.shape();
        let samples =
            |axis: usize| ((TILE[axis] - 1) * self.stride[axis] + (taps[axis] - 1) * self.dilation[axis] + 1) as u128;
        let tile = samples(0) * samples(1).next_multiple_of(self.stride[1] as u128) * self.channels() as u128;
        let weights = (taps[0] * taps[1]) as u128;
        let bytes: u128 = [weights, tile].map(|count| (count * sum_bytes).next_multiple_of(16)).iter().sum();
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// The error on a device, for sums of this type; one without shared memory never lacks it.
pub(in super::super) fn exceeded(device: &Device, case: &Case, sums: &str) -> Option<Error> {
    let bytes = if sums.ends_with("64") { 8 } else { 4 };
    let (requested, available) = (case.tile_bytes(bytes), device.info().shared_memory?.max_per_block);
    let kernel = format!("filter2d_tile_{sums}");
    (requested > available).then_some(Error::SharedMemoryExceeded { kernel, requested, available })
}
