//! One kernel for both axes.

use super::{Launches, first_shape, limits, moved_bytes, problem, shape, without_outputs};
use crate::cpu::allocation;
use crate::device::gpu::Gpu;
use crate::filter::rank::element::{Loaded, Sortable};
use crate::filter::rank::rule::RankRule;
use crate::filter::two_d::window::PictureProblem;
use crate::{Buffer, BufferSlice, BufferSliceMut, LaunchPlan, Result, Windows};
use slm_kernels::filter2d::Geometry;
use slm_kernels::rank2d::{Args, Extreme, RankKernel, RankProblem, rank_geometry, sorted_tile};

/// Maximum number of rows of outputs of a plane for which a kernel for few rows is taken.
const FEW_ROWS: usize = 16;

/// A kernel, and the window, the ranks and the heights on the device.
pub(super) struct Direct<T: Sortable> {
    gpu: Gpu,
    kernel: Kernel<T>,
    /// Another one for pictures of few rows: a block of the kernel for small extremes has up to 128 rows.
    of_few_rows: Option<Kernel<T>>,
    runs: Buffer<u32>,
    ranks: Buffer<u32>,
    heights: Buffer<T>,
    /// Samples of a window.
    count: u32,
    extreme: Option<Extreme>,
    omit: bool,
    outside: T,
}

/// A kernel that is loaded.
struct Kernel<T: Sortable> {
    kernel: RankKernel,
    loaded: Loaded<T>,
}

impl<T: Sortable> Kernel<T> {
    fn load(gpu: &Gpu, kernel: RankKernel) -> Result<Self> {
        Ok(Kernel { kernel, loaded: T::load(gpu, kernel)? })
    }

    /// Loads the kernel for pictures of few rows, if there is another one for these, and a tile of it fits into shared memory.
    fn load_for_few_rows(gpu: &Gpu, kernel: RankKernel, rule: &RankRule<T>) -> Result<Option<Self>> {
        if kernel != RankKernel::SmallExtreme {
            return Ok(None);
        }
        let geometry = rank_geometry::<T>(RankKernel::Extreme, &without_outputs(rule)?, limits(gpu));
        let fits = geometry.shared_bytes <= gpu.shared.max_per_block;
        fits.then(|| Kernel::load(gpu, RankKernel::Extreme)).transpose()
    }
}

impl<T: Sortable> Direct<T> {
    /// Loads the kernel and uploads what it needs.
    pub(super) fn new(gpu: &Gpu, kernel: RankKernel, rule: &RankRule<T>) -> Result<Self> {
        Ok(Direct {
            gpu: gpu.clone(),
            kernel: Kernel::load(gpu, kernel)?,
            of_few_rows: Kernel::load_for_few_rows(gpu, kernel, rule)?,
            runs: gpu.upload(rule.runs.runs.as_flattened())?,
            ranks: gpu.upload(&allocation::copied(&rule.ranks)?)?,
            heights: gpu.upload(rule.heights.as_deref().map_or(&[][..], Vec::as_slice))?,
            count: rule.runs.count,
            extreme: rule.extreme,
            omit: rule.omit,
            outside: rule.outside,
        })
    }

    /// Returns the kernel for a picture, and how it is launched.
    fn launch(&self, picture: &PictureProblem) -> (&Loaded<T>, RankProblem, Geometry) {
        let Kernel { kernel, loaded } = match &self.of_few_rows {
            Some(kernel) if picture.rows.outputs <= FEW_ROWS => kernel,
            _ => &self.kernel,
        };
        let problem = problem(picture, (self.runs.len() / 3) as u32);
        (loaded, problem, rank_geometry::<T>(*kernel, &problem, limits(&self.gpu)))
    }
}

impl<T: Sortable> Launches<T> for Direct<T> {
    fn enqueue(
        &self,
        picture: &PictureProblem,
        samples: BufferSlice<'_, T>,
        outputs: BufferSliceMut<'_, T>,
    ) -> Result<()> {
        let (loaded, problem, geometry) = self.launch(picture);
        let [tile_rows, tile_columns] = sorted_tile::<T>(&problem, self.gpu.shared.max_per_block);
        let _submission = self.gpu.submission_lock()?;
        let mut windows = Windows::new(&self.gpu);
        let (input, output) = (windows.input_slice(samples), windows.output_slice(outputs));
        // Kernels load quicker with small offsets between rows, and a long line has no second row.
        let input_pitch = if picture.planes * picture.rows.samples == 1 { 0 } else { picture.input_pitch as u64 };
        let (window, ranks) = (windows.input(&self.runs), windows.input(&self.ranks));
        let heights = windows.input(&self.heights);
        geometry.parts().try_for_each(|part| {
            let args = Args {
                input,
                output,
                window,
                ranks,
                heights,
                rows: problem.rows,
                columns: problem.columns,
                input_pitch,
                output_pitch: picture.output_pitch as u64,
                planes: problem.planes,
                first_group: part.first_group,
                outside: self.outside,
                channels: problem.channels,
                // At most the number of blocks, which the launch checks against 31 bits.
                tiles: geometry.tiles as u32,
                runs: problem.runs,
                count: self.count,
                omit: self.omit.into(),
                greatest: self.extreme.is_some_and(|extreme| extreme.greatest).into(),
                tile_rows,
                tile_columns,
            };
            loaded.launch(&windows, shape(&geometry, part.blocks), args, &())
        })
    }

    fn plan(&self, picture: &PictureProblem) -> Vec<LaunchPlan> {
        let (loaded, _, geometry) = self.launch(picture);
        let shape = first_shape(&geometry);
        let launch = self.gpu.launch_plan(loaded.name(), shape, loaded.residency(shape));
        vec![LaunchPlan { times: geometry.launches(), moved_bytes: moved_bytes::<T>(picture), ..launch }]
    }
}
