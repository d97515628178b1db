//! Launches of one kernel over the lines of a problem.

use super::lines::Lines;
use super::tuning::tuning;
use crate::device::gpu::Gpu;
use crate::device::kernel::{Launch, Loaded};
use crate::{LaunchPlan, LaunchShape, Result, Windows};
use slm_kernels::pointwise::{self as kernels, Geometry, LaunchConstants, RowPart};
use slm_kernels::signal::Kind;

/// A loaded kernel `K`, whose threads compute packs of `pack` elements.
pub(super) struct Launcher<K: ?Sized> {
    pub(super) gpu: Gpu,
    kernel: Box<K>,
    pack: usize,
    /// Bytes that are moved for an element of the lines.
    bytes: u64,
    tuning: LaunchConstants,
}

impl<K: Loaded + ?Sized> Launcher<K> {
    /// Returns the launcher of a kernel that moves this number of bytes for an element of the lines.
    pub(super) fn new(gpu: &Gpu, kernel: Box<K>, pack: usize, bytes: u64) -> Self {
        Launcher { gpu: gpu.clone(), kernel, pack, bytes, tuning: tuning(gpu.info()) }
    }

    /// Enqueues the kernel over all lines. `args` returns the arguments of a launch.
    pub(super) fn run<A, const N: usize>(
        &self,
        windows: &Windows<'_, '_>,
        lines: &Lines<N>,
        args: impl Fn(kernels::Lines) -> A,
    ) -> Result<()>
    where
        K: Launch<A>,
    {
        let geometry = self.geometry(lines);
        let _submission = self.gpu.submission_lock()?;
        geometry.parts().try_for_each(|part| {
            let args = args(lines.of_launch(part.first_group, self.pack));
            self.kernel.launch(windows, shape(&geometry, part), args, &())
        })
    }

    fn geometry<const N: usize>(&self, lines: &Lines<N>) -> Geometry {
        Geometry::new(lines.shape(), self.pack, &self.tuning)
    }

    /// Returns the launches over all lines, which must not be empty.
    pub(super) fn plan<const N: usize>(&self, lines: &Lines<N>) -> LaunchPlan {
        let geometry = self.geometry(lines);
        let shape = shape(&geometry, RowPart { first_group: 0, groups: geometry.groups_per_launch() });
        let [rows, columns] = lines.shape();
        LaunchPlan {
            times: geometry.launches(),
            moved_bytes: rows.saturating_mul(columns).saturating_mul(self.bytes),
            ..self.gpu.launch_plan(self.kernel.name(), shape, self.kernel.residency(shape))
        }
    }
}

/// Returns the bytes that are moved for an output, for samples and outputs of these types.
pub(super) fn moved_bytes(kinds: &[Kind]) -> u64 {
    kinds.iter().map(|kind| kind.bytes()).sum()
}

fn shape(geometry: &Geometry, part: RowPart) -> LaunchShape {
    let [x, y] = geometry.block;
    LaunchShape::new([geometry.tiles, part.groups, 1], [x, y, 1])
}
