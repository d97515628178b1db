//! The choice of the kernel: all of it, as a plain value.

use super::element::Number;
use super::tuning::tuning;
use super::{Filter1dAlgorithm, Lines};
use crate::device::info::SharedMemory;
use crate::{LaunchShape, Result};
use slm_kernels::filter1d::{Filter1dKernel, Filter1dProblem, Geometry, Orientation};
use slm_kernels::signal::Same;

/// Kernel for some lines, and the reason for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    kernel: Filter1dKernel,
    pub(super) name: &'static str,
    pub(super) geometry: Geometry,
    pub(super) reason: &'static str,
}

/// Returns how a GPU with this shared memory filters lines, by `taps` taps at a time.
///
/// # Errors
///
/// [`Error::SharedMemoryExceeded`](crate::Error::SharedMemoryExceeded) if the kernel needs more than a block can have.
pub(super) fn choose<T: Number>(
    lines: &Lines,
    taps: usize,
    algorithm: Filter1dAlgorithm,
    shared: SharedMemory,
) -> Result<Choice> {
    let (kernel, reason) = (kernel_of(algorithm), reason_for(algorithm));
    let Lines { lines, outputs, orientation, .. } = *lines;
    let problem = Filter1dProblem { lines: lines as u64, outputs: outputs as u64, taps: taps as u64, orientation };
    let geometry = Geometry::new::<Same<T>>(kernel, &problem, &tuning());
    let name = T::entry_point(kernel, orientation).name;
    shared.check(name, geometry.shared_bytes)?;
    Ok(Choice { kernel, name, geometry, reason })
}

/// Returns the choice for rows. A block needs the same shared memory for rows of any length.
pub(super) fn choose_for_rows<T: Number>(
    taps: usize,
    algorithm: Filter1dAlgorithm,
    shared: SharedMemory,
) -> Result<Choice> {
    let orientation = Orientation::Rows;
    let lines = Lines { lines: 1, samples: 1, outputs: 1, start: 0, orientation, input_pitch: 1, output_pitch: 1 };
    choose::<T>(&lines, taps, algorithm, shared)
}

/// Returns the kernel of an algorithm.
pub(super) fn kernel_of(algorithm: Filter1dAlgorithm) -> Filter1dKernel {
    match algorithm {
        Filter1dAlgorithm::GlobalMemory => Filter1dKernel::Global,
        Filter1dAlgorithm::SharedTile(_) => Filter1dKernel::Tile,
        Filter1dAlgorithm::RegisterTiled | Filter1dAlgorithm::Auto => Filter1dKernel::Register,
        Filter1dAlgorithm::Fft => unreachable!("transforms have kernels of their own"),
    }
}

fn reason_for(algorithm: Filter1dAlgorithm) -> &'static str {
    if algorithm == Filter1dAlgorithm::Auto { "the fastest kernel" } else { "requested" }
}

impl Choice {
    pub(super) fn shape(&self, blocks: u64) -> LaunchShape {
        let [x, y] = self.geometry.block;
        LaunchShape::new([blocks, 1, 1], [x, y, 1]).shared_bytes(self.geometry.shared_bytes)
    }

    /// Returns an upper bound for a block's steps, for the kernel without shared memory, whose number of taps is not limited.
    /// A thread loads a tap and a sample at a time.
    pub(super) fn steps(&self, taps: usize) -> Option<u64> {
        let threads = u64::from(self.geometry.block.iter().product::<u32>());
        (self.kernel == Filter1dKernel::Global).then(|| threads * (2 * taps as u64 + 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::filter1d::HaloLoad;

    const TILE: Filter1dAlgorithm = Filter1dAlgorithm::SharedTile(HaloLoad::Cooperative);

    #[test]
    fn algorithms_have_kernels() {
        let chosen = |algorithm| {
            let choice = choose_for_rows::<f32>(31, algorithm, SharedMemory::T4).unwrap();
            (choice.name, choice.reason, choice.geometry.shared_bytes > 0, choice.steps(31).is_some())
        };
        assert_eq!(chosen(Filter1dAlgorithm::Auto), ("filter1d_register_rows_f32", "the fastest kernel", true, false));
        assert_eq!(chosen(Filter1dAlgorithm::RegisterTiled).1, "requested");
        assert_eq!(chosen(TILE), ("filter1d_tile_f32", "requested", true, false));
        assert_eq!(chosen(Filter1dAlgorithm::GlobalMemory), ("filter1d_global_f32", "requested", false, true));
    }

    #[test]
    fn orientations_have_kernels_of_their_own() {
        let orientation = Orientation::Columns;
        let lines =
            Lines { lines: 50, samples: 80, outputs: 80, start: -1, orientation, input_pitch: 50, output_pitch: 50 };
        let choice = choose::<i32>(&lines, 3, Filter1dAlgorithm::Auto, SharedMemory::T4).unwrap();
        assert_eq!(choice.name, "filter1d_register_columns_i32");
    }

    #[test]
    fn tiles_must_fit() {
        let refused = choose_for_rows::<f64>(100_000, TILE, SharedMemory::T4).err();
        assert!(matches!(refused, Some(Error::SharedMemoryExceeded { available: 0x10000, .. })), "{refused:?}");
        assert!(choose_for_rows::<f64>(100_000, Filter1dAlgorithm::GlobalMemory, SharedMemory::of_kib(0, 0)).is_ok());
    }
}
