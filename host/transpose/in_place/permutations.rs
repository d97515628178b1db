//! Matrices that are transposed by permutations of their rows and columns.

use super::Matrices;
use super::launches::{InPlaceLaunch, InPlaceMethod, Passed, Receiver};
use super::permuting::Permuting;
use super::steps::{Step, Submatrix, greatest_common_divisor};
use crate::device::gpu::Gpu;
use crate::device::kernel::Launch;
use crate::{LaunchShape, Result};
use cuda_std::{Entry, GlobalInOut, Value};
use slm_kernels::transpose::{
    Panel, PanelArgs, PartCopy, Region, ShuffleArgs, Shuffled, TransposeKernel, TransposeProblem, transpose_gather,
    transpose_gather_packs, transpose_rotate, transpose_shuffle,
};

/// Bytes of rows of panels, if possible a multiple of this: whole lines of the cache.
const LINE: u64 = 128;

/// Matrices, and how their rows are permuted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permutations {
    matrices: Matrices,
    /// Bytes of a unit.
    unit: u32,
    /// Units per element.
    units: u32,
    /// Rows in shared memory; `None` if they do not fit.
    shuffled: Option<Shuffled>,
}

impl Permutations {
    /// Returns the permutations, on a device with at most `shared` bytes of shared memory for a block.
    pub(super) fn new(matrices: &Matrices, problem: &TransposeProblem, shared: u64) -> Self {
        let unit = TransposeKernel::swap(problem).unit();
        // The cast is exact: `Matrices::problem` has checked the units against 32 bits.
        let units = (problem.element / u64::from(unit)) as u32;
        let (shape, divisor) = ([problem.rows, problem.columns], matrices.divisor() as u64);
        let shuffled = Shuffled::new(problem.matrices, shape, divisor, units, unit);
        let shuffled = shuffled.filter(|shuffled| shuffled.launch(unit).2 <= shared);
        Permutations { matrices: *matrices, unit, units, shuffled }
    }

    /// Returns whether rows are permuted in shared memory.
    pub(super) fn are_shared(&self) -> bool {
        self.shuffled.is_some()
    }

    /// Returns the number of columns of a panel.
    fn panel_columns(&self) -> usize {
        let columns = (self.matrices.part_len() / self.matrices.rows.max(1)).max(1);
        let bytes = u64::from(self.units) * u64::from(self.unit);
        let whole_lines = (LINE / greatest_common_divisor(LINE, bytes)) as usize;
        if columns > whole_lines { columns / whole_lines * whole_lines } else { columns }
    }

    /// Returns the panels of a permutation of columns.
    fn panels(&self, step: Step, matrix: u64) -> impl Iterator<Item = Panel> + use<> {
        let (Matrices { rows, columns, .. }, width) = (self.matrices, self.panel_columns());
        let [m, n, divisor, units] =
            [rows as u64, columns as u64, self.matrices.divisor() as u64, u64::from(self.units)];
        let [alike, factor, divisor] = if step == Step::Rotate { [n / divisor, 1, m] } else { [1, n % m, m / divisor] };
        let (unit, units_of_element) = (self.unit, self.units);
        (0..columns).step_by(width).map(move |first| {
            Panel {
                first: matrix * m * n * units,
                rows: m,
                pitch: n * units,
                first_unit: first as u64 * units,
                width: width.min(columns - first) as u64 * units,
                alike,
                factor,
                divisor,
                units: units_of_element,
                tiles_across: 0,
                lanes_log2: 0,
            }
            .completed(unit)
        })
    }

    /// Returns the region of some rows.
    fn region(&self, matrix: u64, part: &Submatrix, copy: PartCopy) -> Region {
        let [rows, columns, divisor] =
            [self.matrices.rows, self.matrices.columns, self.matrices.divisor()].map(|count| count as u64);
        let [first_row, part_rows, part_columns] = [part.first[0], part.lengths[0], part.lengths[1]].map(|x| x as u64);
        Region {
            first: (matrix * rows + first_row) * columns * u64::from(self.units),
            rows,
            columns,
            divisor,
            first_row,
            part_rows,
            part_columns,
            units: self.units,
            copy: copy as u32,
        }
    }

    /// Loads the kernels.
    pub(super) fn load(self, gpu: &Gpu) -> Result<LoadedPermutations> {
        let (panels, rows) = match self.unit {
            1 => (PanelKernels::load::<u8>(gpu)?, self.load_rows::<u8>(gpu)?),
            2 => (PanelKernels::load::<u16>(gpu)?, self.load_rows::<u16>(gpu)?),
            _ => (PanelKernels::load::<u32>(gpu)?, self.load_rows::<u32>(gpu)?),
        };
        Ok(LoadedPermutations { permutations: self, panels, rows })
    }

    fn load_rows<U: Value>(&self, gpu: &Gpu) -> Result<RowKernel>
    where
        transpose_shuffle<U>: for<'l> Entry<Args<'l> = ShuffleArgs<'l, U>, Constants = ()>,
    {
        Ok(match self.shuffled {
            Some(shuffled) => RowKernel::Shared(shuffled, Box::new(gpu.own_kernel::<transpose_shuffle<U>>()?)),
            None => RowKernel::Parts(Permuting::load(gpu, self.unit)?),
        })
    }
}

/// Arguments of the kernels for panels: matrices and other memory, the panel, and the units of an access.
type PanelLaunch = dyn for<'l> Launch<([GlobalInOut<'l, u8>; 2], Panel, u32)>;

/// The kernels for columns.
struct PanelKernels {
    rotate: Box<PanelLaunch>,
    gather: Box<PanelLaunch>,
    gather_packs: Box<PanelLaunch>,
}

impl PanelKernels {
    fn load<U: Value>(gpu: &Gpu) -> Result<Self>
    where
        transpose_rotate<U>: for<'l> Entry<Args<'l> = PanelArgs<'l, U>, Constants = ()>,
        transpose_gather<U>: for<'l> Entry<Args<'l> = PanelArgs<'l, U>, Constants = ()>,
    {
        Ok(PanelKernels {
            rotate: Box::new(gpu.own_kernel::<transpose_rotate<U>>()?),
            gather: Box::new(gpu.own_kernel::<transpose_gather<U>>()?),
            gather_packs: Box::new(gpu.own_kernel::<transpose_gather_packs>()?),
        })
    }

    /// Passes on the launches for a panel.
    fn launches(&self, panel: Panel, unit: u32, receive: Receiver<'_>) -> Result<()> {
        let (threads, blocks, shared) = panel.rotating(unit);
        let shape = LaunchShape::new([blocks, 1, 1], [threads, 1, 1]).shared_bytes(shared);
        // A copy reads and writes.
        let moved_bytes = 2 * panel.rows * panel.width * u64::from(unit);
        let mut launch = |kernel: &PanelLaunch, shape, panel, at_once| {
            receive(InPlaceLaunch {
                kernel,
                shape,
                moved_bytes,
                of_one_matrix: true,
                times: 1,
                enqueue: &|memory| {
                    kernel.launch(memory.windows, shape, ([memory.matrices, memory.scratch], panel, at_once), &())
                },
            })
        };
        launch(&*self.rotate, shape, panel, 1)?;
        let gathering = |panel: &Panel| {
            let (threads, blocks) = panel.gathering();
            LaunchShape::new([blocks, 1, 1], [threads, 1, 1])
        };
        match panel.in_packs(unit) {
            Some(packs) => launch(&*self.gather_packs, gathering(&packs), packs, 4),
            None => launch(&*self.gather, gathering(&panel), panel, 1),
        }
    }
}

/// The kernel for rows.
enum RowKernel {
    Shared(Shuffled, Box<dyn for<'l> Launch<(GlobalInOut<'l, u8>, Shuffled)>>),
    Parts(Permuting),
}

/// The same with the loaded kernels.
pub(super) struct LoadedPermutations {
    permutations: Permutations,
    panels: PanelKernels,
    rows: RowKernel,
}

impl InPlaceMethod for LoadedPermutations {
    fn scratch_bytes(&self) -> u64 {
        let Permutations { matrices, unit, units, shuffled } = &self.permutations;
        let elements = match shuffled {
            _ if matrices.stay() => 0,
            Some(_) => self.permutations.panel_columns() * matrices.rows,
            None => matrices.part_len(),
        };
        elements as u64 * u64::from(*units) * u64::from(*unit)
    }

    fn each_launch(&self, passed: Passed, receive: Receiver<'_>) -> Result<()> {
        let matrices = passed.matrices();
        if self.permutations.matrices.stay() {
            return Ok(());
        }
        if self.permutations.matrices.divisor() > 1 {
            self.columns(Step::Rotate, matrices, receive)?;
        }
        match &self.rows {
            RowKernel::Shared(shuffled, kernel) => self.shuffle(shuffled, &**kernel, receive)?,
            RowKernel::Parts(permuting) => self.permute(permuting, matrices, receive)?,
        }
        self.columns(Step::Columns, matrices, receive)
    }
}

impl LoadedPermutations {
    fn columns(&self, step: Step, matrices: u64, receive: Receiver<'_>) -> Result<()> {
        let panels = (0..matrices).flat_map(|matrix| self.permutations.panels(step, matrix));
        panels.into_iter().try_for_each(|panel| self.panels.launches(panel, self.permutations.unit, receive))
    }

    fn shuffle(
        &self,
        shuffled: &Shuffled,
        kernel: &dyn for<'l> Launch<(GlobalInOut<'l, u8>, Shuffled)>,
        receive: Receiver<'_>,
    ) -> Result<()> {
        let Permutations { unit, units, .. } = self.permutations;
        let (threads, blocks, shared) = shuffled.launch(unit);
        let shape = LaunchShape::new([blocks, 1, 1], [threads, 1, 1]).shared_bytes(shared);
        let row = u64::from(shuffled.columns) * u64::from(units) * u64::from(unit);
        receive(InPlaceLaunch {
            kernel,
            shape,
            moved_bytes: 2 * shuffled.lines * row,
            of_one_matrix: false,
            times: 1,
            enqueue: &|memory| kernel.launch(memory.windows, shape, (memory.matrices, *shuffled), &()),
        })
    }

    fn permute(&self, permuting: &Permuting, matrices: u64, receive: Receiver<'_>) -> Result<()> {
        let parts = || self.permutations.matrices.steps().filter(|(step, _)| *step == Step::Shuffle);
        for (matrix, (_, part)) in (0..matrices).flat_map(|matrix| parts().map(move |part| (matrix, part))) {
            for copy in [PartCopy::Shuffled, PartCopy::Back] {
                let region = self.permutations.region(matrix, &part, copy);
                permuting.launch(&region, [0, u64::MAX], receive)?;
            }
        }
        Ok(())
    }
}
