//! Tiles of the naive, shared and swap kernels, and their rows in shared memory.

use super::{LaunchConstants, TransposeProblem};
use cuda_std::host::banks::{Banks, WarpAccess};

/// Returns the side, in elements, of the largest square tile with at most `bytes` bytes: a power of two.
pub(super) fn side(element: u64, bytes: u64, tuning: &LaunchConstants) -> u64 {
    let elements = (bytes / element).max(1);
    let side = 1 << (elements.ilog2() / 2);
    tuning.longest_side.min(side)
}

/// Returns the rows and columns of a tile. It is square, or for a narrow matrix longer, with about as many elements.
pub(super) fn tile(problem: &TransposeProblem, tuning: &LaunchConstants) -> [u64; 2] {
    let side = side(problem.element, tuning.tile_bytes, tuning);
    // Whole warps of rows or columns.
    let longest = |other: u64| (side * side / other).max(32) / 32 * 32;
    match (problem.rows < side, problem.columns < side) {
        (_, true) => [longest(problem.columns).min(problem.rows), problem.columns],
        (true, false) => [problem.rows, longest(problem.rows).min(problem.columns)],
        (false, false) => [side, side],
    }
}

/// Returns the row pitch of a tile, in bytes, with the fewest bank conflicts when a warp reads a column of elements unit by
/// unit. It is at least `width`, and at most `most` if possible.
pub(super) fn padded(width: u64, element: u64, unit: u32, most: u64) -> u64 {
    let word = u64::from(Banks::NVIDIA.bytes());
    let step = if element < word { word } else { u64::from(unit) };
    let first = width.next_multiple_of(step);
    let candidates = (0..=u64::from(Banks::NVIDIA.count())).map(|i| first + i * step);
    let cost = |pitch: &u64| {
        let unit = u64::from(unit);
        let mut addresses = [0; 32];
        for (lane, address) in (0..).zip(&mut addresses) {
            let place = lane * unit;
            *address = place / element * pitch + place % element;
        }
        let access = WarpAccess { lanes: u32::MAX, addresses: &addresses, bytes: unit as u32, load: true };
        access.wavefronts(Banks::NVIDIA)[0]
    };
    candidates.take_while(|pitch| *pitch <= most).min_by_key(cost).unwrap_or(first)
}
