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

/// The taps of a launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct TapsAtOnce {
    /// Number of taps; of each phase, with a stride; of steps, on tensor cores.
    pub(super) entries: usize,
    /// Number of phases: 1 without a stride.
    pub(super) phases: usize,
    pub(super) stride: usize,
}

/// Returns how a GPU with this shared memory filters lines, with these taps in a launch.
///
/// # Errors
///
/// [`Error::SharedMemoryExceeded`](crate::Error::SharedMemoryExceeded) if the kernel needs more than a block can have.
pub(super) fn choose<T: Number>(
    lines: &Lines,
    TapsAtOnce { entries, phases, stride }: TapsAtOnce,
    algorithm: Filter1dAlgorithm,
    shared: SharedMemory,
) -> Result<Choice> {
    let (kernel, reason) = (kernel_of(algorithm, stride), reason_for(algorithm, stride));
    let Lines { lines, outputs, orientation, .. } = *lines;
    let [lines, outputs, taps, phases] = [lines, outputs, entries, phases].map(|count| count as u64);
    let problem = Filter1dProblem { lines, outputs, taps, phases, orientation };
    let geometry = Geometry::new::<Same<T>>(kernel, &problem, &tuning());
    let name = T::entry_point(kernel, orientation).name;
    shared.check(name, geometry.shared_bytes)?;
    Ok(Choice { kernel, name, geometry, reason })
}

/// Returns the choice for rows. A block needs the same shared memory for rows of any length.
pub(super) fn choose_for_rows<T: Number>(
    taps: TapsAtOnce,
    algorithm: Filter1dAlgorithm,
    shared: SharedMemory,
) -> Result<Choice> {
    let orientation = Orientation::Rows;
    let lines = Lines { lines: 1, samples: 1, outputs: 1, start: 0, orientation, input_pitch: 1, output_pitch: 1 };
    choose::<T>(&lines, taps, algorithm, shared)
}

/// Returns the kernel of an algorithm. With strides there is only one for each orientation.
pub(super) fn kernel_of(algorithm: Filter1dAlgorithm, stride: usize) -> Filter1dKernel {
    match algorithm {
        _ if stride > 1 => Filter1dKernel::with_stride(stride as u64),
        Filter1dAlgorithm::GlobalMemory => Filter1dKernel::Global,
        Filter1dAlgorithm::SharedTile(_) => Filter1dKernel::Tile,
        Filter1dAlgorithm::RegisterTiled | Filter1dAlgorithm::Auto => Filter1dKernel::Register,
        Filter1dAlgorithm::TensorCore => Filter1dKernel::Tensor,
        Filter1dAlgorithm::Fft => unreachable!("transforms have kernels of their own"),
    }
}

fn reason_for(algorithm: Filter1dAlgorithm, stride: usize) -> &'static str {
    match algorithm {
        Filter1dAlgorithm::Auto if stride > 1 => "computes the outputs of the stride alone",
        Filter1dAlgorithm::Auto => "the fastest kernel",
        Filter1dAlgorithm::TensorCore => "exact products of bytes on tensor cores",
        _ => "requested",
    }
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

    fn taps(taps: usize) -> TapsAtOnce {
        TapsAtOnce { entries: taps, phases: 1, stride: 1 }
    }

    const TILE: Filter1dAlgorithm = Filter1dAlgorithm::SharedTile(HaloLoad::Cooperative);

    #[test]
    fn algorithms_have_kernels() {
        let chosen = |algorithm| {
            let choice = choose_for_rows::<f32>(taps(31), algorithm, SharedMemory::T4).unwrap();
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
        let choice = choose::<i32>(&lines, taps(3), Filter1dAlgorithm::Auto, SharedMemory::T4).unwrap();
        assert_eq!(choice.name, "filter1d_register_columns_i32");
    }

    #[test]
    fn tiles_must_fit() {
        let refused = choose_for_rows::<f64>(taps(100_000), TILE, SharedMemory::T4).err();
        assert!(matches!(refused, Some(Error::SharedMemoryExceeded { available: 0x10000, .. })), "{refused:?}");
        assert!(
            choose_for_rows::<f64>(taps(100_000), Filter1dAlgorithm::GlobalMemory, SharedMemory::of_kib(0, 0)).is_ok()
        );
    }
}
