//! Which filters the algorithms must refuse, and what the tiled kernels need of shared memory, counted from their layouts.

use super::super::types::Types;
use super::Case;
use crate::common::numbers::Kind;
use slm::filter2d::Filter2dError;
use slm::{Device, Error, Filter2dAlgorithm};

/// Rows and pixels of a tile.
const TILE: [usize; 2] = [16, 32];

/// Rows of a register tile, and packs of its rows.
const REGISTER_TILE: [usize; 2] = [32, 96];

impl Case {
    /// The dilations that matter: a single weight has no distance to others.
    fn dilations(&self) -> [usize; 2] {
        let taps = self.weights.shape();
        [0, 1].map(|axis| if taps[axis] == 1 { 1 } else { self.dilation[axis] })
    }

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

    /// The same for the register-tiled kernel. Rows of weights are rounded up to 16 bytes, and a row of samples is as many longer
    /// than a tile.
    fn register_tile_bytes(&self, sum_bytes: usize) -> u64 {
        let (taps, pack) = (self.weights.shape(), 16 / sum_bytes);
        let row_of_weights = taps[1].next_multiple_of(pack);
        let rows = REGISTER_TILE[0] + (taps[0] - 1) * self.dilation[0];
        let tile = rows * (REGISTER_TILE[1] * pack + row_of_weights);
        ((taps[0] * row_of_weights + tile) * sum_bytes) as u64
    }
}

/// Sizes of the weights of compiled kernels: dense ones, and outer products.
const DENSE: [usize; 4] = [3, 5, 7, 9];
const SEPARABLE: [usize; 6] = [3, 5, 7, 9, 15, 31];

/// The error on a device. The CPU refuses nothing.
pub(in super::super) fn refused(
    device: &Device,
    types: &Types,
    case: &Case,
    algorithm: Filter2dAlgorithm,
) -> Option<Error> {
    let sums = types.sums_name(&case.weights);
    let bytes = if sums.ends_with("64") { 8 } else { 4 };
    let available = device.info().shared_memory?.max_per_block;
    // Integers are never missing.
    let renormalise = case.renormalise && types.samples.range().is_none();
    let (strides, dilation) = (case.stride, case.dilations()[1]);
    let (kernel, requested) = match algorithm {
        Filter2dAlgorithm::SharedTile => ("tile", case.tile_bytes(bytes as u128)),
        Filter2dAlgorithm::RegisterTiled if (strides, dilation, renormalise) == ([1, 1], 1, false) => {
            ("register", case.register_tile_bytes(bytes))
        }
        Filter2dAlgorithm::RegisterTiled => {
            return Some(Filter2dError::RegisterTiled { strides, dilation, renormalise }.into());
        }
        Filter2dAlgorithm::Streaming => return no_kernel(types, case, algorithm, renormalise, &DENSE),
        Filter2dAlgorithm::Separable => return no_kernel(types, case, algorithm, renormalise, &SEPARABLE),
        _ => return None,
    };
    let kernel = format!("filter2d_{kernel}_{sums}");
    (requested > available).then_some(Error::SharedMemoryExceeded { kernel, requested, available })
}

/// The error if there is no kernel for the size of the weights, the types, or what else the filter has.
fn no_kernel(
    types: &Types,
    case: &Case,
    algorithm: Filter2dAlgorithm,
    renormalise: bool,
    sizes: &[usize],
) -> Option<Error> {
    let (weights, channels, strides, dilations) =
        (case.weights.shape(), case.channels(), case.stride, case.dilations());
    let names = [types.samples, types.weights, types.outputs].map(Kind::name);
    let is_square = weights[0] == weights[1];
    if algorithm == Filter2dAlgorithm::Separable && is_square && weights[0] > 2 && !case.weights.is_outer_product() {
        return Some(Filter2dError::NotSeparable { weights }.into());
    }
    let is_compiled = is_square
        && sizes.contains(&weights[0])
        && names == ["f32"; 3]
        && types.sums_name(&case.weights) == "f32"
        && (channels, strides, dilations, renormalise) == (1, [1, 1], [1, 1], false);
    let error = Filter2dError::NoKernel {
        algorithm,
        weights,
        types: Box::new(names),
        channels,
        strides,
        dilations,
        renormalise,
    };
    (!is_compiled).then(|| error.into())
}
