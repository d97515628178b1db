//! Which filters the algorithms must refuse, and what the tiled kernels need of shared memory, counted from their layouts.

use super::super::types::Types;
use super::{Case, Kind};
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
        Filter2dAlgorithm::Box => {
            let weights = case.weights.shape();
            let unequal = (!case.weights.are_equal()).then(|| Filter2dError::UnequalWeights { weights }.into());
            return no_streaming(types, case, algorithm, renormalise).or(unequal);
        }
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
    let weights = case.weights.shape();
    let is_square = weights[0] == weights[1];
    if algorithm == Filter2dAlgorithm::Separable && is_square && weights[0] > 2 && !case.weights.is_outer_product() {
        return Some(Filter2dError::NotSeparable { weights }.into());
    }
    let is_compiled = is_square && sizes.contains(&weights[0]);
    no_streaming(types, case, algorithm, renormalise)
        .or_else(|| (!is_compiled).then(|| no_kernel_error(types, case, algorithm, renormalise)))
}

/// The error if the kernels for floats without steps do not support the filter.
fn no_streaming(types: &Types, case: &Case, algorithm: Filter2dAlgorithm, renormalise: bool) -> Option<Error> {
    let is_supported = [types.samples, types.outputs] == [Kind::F32; 2]
        && types.sums_name(&case.weights) == "f32"
        && (case.channels(), case.stride, case.dilations(), renormalise) == (1, [1, 1], [1, 1], false);
    (!is_supported).then(|| no_kernel_error(types, case, algorithm, renormalise))
}

fn no_kernel_error(types: &Types, case: &Case, algorithm: Filter2dAlgorithm, renormalise: bool) -> Error {
    let (weights, channels, strides, dilations) =
        (case.weights.shape(), case.channels(), case.stride, case.dilations());
    let types = [types.samples, types.outputs].map(name);
    Filter2dError::NoKernel { algorithm, weights, types, channels, strides, dilations, renormalise }.into()
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::U8 => "u8",
        Kind::U16 => "u16",
        Kind::I16 => "i16",
        Kind::I32 => "i32",
        Kind::F32 => "f32",
        Kind::F64 => "f64",
    }
}
