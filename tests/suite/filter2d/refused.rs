//! Which filters the algorithms must refuse, and what the tiled kernels need of shared memory, counted from their layouts.

use super::oracle::Case;
use super::types::Types;
use crate::common::numbers::Kind;
use slm::filter2d::{Filter2dError, Unsupported};
use slm::{Device, Error, Filter2dAlgorithm};

/// Rows and pixels of a tile.
const TILE: [usize; 2] = [16, 32];

/// Rows of the lowest register tile, and packs of its rows.
const REGISTER_TILE: [usize; 2] = [8, 48];

/// Bytes of weights that are kernel parameters of a register-tiled kernel, in whole rows.
const TABLE: usize = 3712;

/// The dilations that matter: a single weight has no distance to others.
fn dilations(case: &Case) -> [usize; 2] {
    let taps = case.weights.shape();
    [0, 1].map(|axis| if taps[axis] == 1 { 1 } else { case.dilation[axis] })
}

/// The bytes of a block with sums of this size: all weights, then the samples of a tile, each rounded up to 16 bytes. Rows of
/// samples are rounded up to a multiple of the stride. More than 64 bits count as the most that they hold.
fn tile_bytes(case: &Case, sum_bytes: u128) -> u64 {
    let taps = case.weights.shape();
    let samples =
        |axis: usize| ((TILE[axis] - 1) * case.stride[axis] + (taps[axis] - 1) * case.dilation[axis] + 1) as u128;
    let tile = samples(0) * samples(1).next_multiple_of(case.stride[1] as u128) * case.channels() as u128;
    let weights = (taps[0] * taps[1]) as u128;
    let bytes: u128 = [weights, tile].map(|count| (count * sum_bytes).next_multiple_of(16)).iter().sum();
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// The same for the lowest blocks of the register-tiled kernel: two numbers of 8 bytes, the weights that are not in the table,
/// and samples. Rows of weights are rounded up to 16 bytes, and a row of samples is as many longer than a tile.
fn register_tile_bytes(case: &Case, sum_bytes: usize) -> u64 {
    let (taps, pack) = (case.weights.shape(), 16 / sum_bytes);
    let row_of_weights = taps[1].next_multiple_of(pack);
    let rows = REGISTER_TILE[0] + (taps[0] - 1) * case.dilation[0];
    let tile = rows * (REGISTER_TILE[1] * pack + row_of_weights);
    let weights = taps[0].saturating_sub(TABLE / sum_bytes / row_of_weights) * row_of_weights;
    (2 * 8 + (weights + tile) * sum_bytes) as u64
}

/// Sizes of the weights of kernels that are compiled for dense ones.
static DENSE: [usize; 4] = [3, 5, 7, 9];

/// The same for pixels of four bytes.
static OF_PIXELS: [usize; 3] = [3, 5, 7];

/// The error on a device. The CPU refuses nothing.
pub(super) fn refused(device: &Device, types: &Types, case: &Case, algorithm: Filter2dAlgorithm) -> Option<Error> {
    let sums = types.sums_name(&case.weights);
    let bytes = if sums.ends_with("64") { 8 } else { 4 };
    let available = device.info().shared_memory?.max_per_block;
    // Integers are never missing.
    let renormalise = case.renormalise && types.samples.range().is_none();
    let (strides, dilation) = (case.stride, dilations(case)[1]);
    let (kernel, requested) = match algorithm {
        Filter2dAlgorithm::SharedTile => ("tile", tile_bytes(case, bytes as u128)),
        Filter2dAlgorithm::RegisterTiled if (strides, dilation, renormalise) == ([1, 1], 1, false) => {
            ("register", register_tile_bytes(case, bytes))
        }
        Filter2dAlgorithm::RegisterTiled => {
            return Some(Filter2dError::RegisterTiled { strides, dilation, renormalise }.into());
        }
        Filter2dAlgorithm::Separable if !case.weights.is_outer_product() => {
            return Some(Filter2dError::NotSeparable { weights: case.weights.shape() }.into());
        }
        // Two launches do what a kernel for both passes does not, except for these.
        Filter2dAlgorithm::Separable if renormalise || sums == "i64" => {
            return Some(no_kernel(case, types, algorithm, renormalise));
        }
        Filter2dAlgorithm::Streaming | Filter2dAlgorithm::Box if !has_kernel(case, types, algorithm, renormalise) => {
            return Some(no_kernel(case, types, algorithm, renormalise));
        }
        Filter2dAlgorithm::Box if !case.weights.are_equal() => {
            return Some(Filter2dError::UnequalWeights { weights: case.weights.shape() }.into());
        }
        _ => return None,
    };
    let kernel = format!("filter2d_{kernel}_{sums}");
    (requested > available).then_some(Error::SharedMemoryExceeded { kernel, requested, available })
}

/// Whether there is a kernel for the size of the weights, the types, and what else the filter has.
fn has_kernel(case: &Case, types: &Types, algorithm: Filter2dAlgorithm, renormalise: bool) -> bool {
    let [rows, columns] = case.weights.shape();
    let has_size = |sizes: &[usize]| rows == columns && sizes.contains(&rows);
    let has_types = match (types.samples, types.outputs, case.channels(), types.sums_name(&case.weights)) {
        _ if algorithm == Filter2dAlgorithm::Box => true,
        (Kind::F32, Kind::F32, 1, "f32") => has_size(&DENSE),
        (Kind::U8, Kind::U8, 4, "f32") => has_size(&OF_PIXELS),
        _ => false,
    };
    has_types && (case.stride, dilations(case), renormalise) == ([1, 1], [1, 1], false)
}

fn no_kernel(case: &Case, types: &Types, algorithm: Filter2dAlgorithm, renormalise: bool) -> Error {
    let (strides, dilations, channels) = (case.stride, dilations(case), case.channels());
    let (sums, takes_steps) = (types.sums_name(&case.weights), algorithm == Filter2dAlgorithm::Separable);
    let sizes: Option<&[usize]> = match (types.samples, types.outputs, channels, sums) {
        (Kind::F32, Kind::F32, 1, "f32") => Some(&DENSE),
        (Kind::U8, Kind::U8, 4, "f32") => Some(&OF_PIXELS),
        _ => None,
    };
    let unsupported = match sizes {
        _ if !takes_steps && strides != [1, 1] => Unsupported::Strides(strides),
        _ if !takes_steps && dilations != [1, 1] => Unsupported::Dilations(dilations),
        _ if renormalise => Unsupported::MissingSamples,
        Some(sizes) => Unsupported::Weights { actual: case.weights.shape(), sizes },
        None => Unsupported::Types {
            types: Box::new([types.samples.name(), types.weights.name(), sums, types.outputs.name()]),
            channels,
            needed: if takes_steps {
                "sums of i32, f32 or f64"
            } else {
                "samples and outputs of f32 in one channel or of u8 in four, and sums of f32"
            },
        },
    };
    Filter2dError::NoKernel { algorithm, unsupported }.into()
}
