//! Extremes of rectangles with strides of 1: along the rows, then down the columns of the results.
//!
//! The first results are samples again, in temporary memory: the extreme of a row of the window, or NaN if that is without a sample or if NaNs
//! propagate. Outside of a constant border, a row consists of the constant, and so does its extreme.

use super::direct::Direct;
use super::{Launches, first_shape, limits, moved_bytes, problem, shape, without_outputs};
use crate::device::gpu::Gpu;
use crate::filter::rank::element::{LoadedPass, Sortable};
use crate::filter::rank::rule::RankRule;
use crate::filter::two_d::window::PictureProblem;
use crate::{BufferSlice, BufferSliceMut, LaunchPlan, Result, Windows};
use slm_kernels::rank2d::{Extreme, PassArgs, PassKernel, RankKernel, RankPass, RankProblem};

/// The launches of one axis, and those of the other one. An axis of the window with one sample has an output for each sample, so it needs none.
pub(super) struct Passes<T: Sortable> {
    gpu: Gpu,
    first: Box<dyn Launches<T>>,
    second: Option<Box<dyn Launches<T>>>,
}

impl<T: Sortable> Passes<T> {
    /// Loads the kernels for a filter with a separable extreme.
    pub(super) fn new(gpu: &Gpu, rule: &RankRule<T>) -> Result<Self> {
        let [rows, columns] = rule.runs.shape.map(|taps| taps as u32);
        let load = |kernel: PassKernel, taps: u32| -> Result<Box<dyn Launches<T>>> {
            Ok(match rule.extreme {
                Some(extreme) if taps >= RankPass::LEAST_TAPS => {
                    let (loaded, outside) = (T::load_pass(gpu, kernel)?, rule.outside);
                    // With outputs, a tile may have more runs, as far as these fit.
                    let least = RankPass::new::<T>(kernel, &without_outputs(rule)?, limits(gpu));
                    gpu.shared.check(loaded.name(), least.geometry.shared_bytes)?;
                    Box::new(OneAxis { gpu: gpu.clone(), kernel, loaded, extreme, outside })
                }
                _ => Box::new(Direct::new(gpu, RankKernel::SmallExtreme, rule)?),
            })
        };
        let down = || load(PassKernel::Down, rows);
        let (first, second) = match (rows, columns) {
            (2.., 1) => (down()?, None),
            (1, _) => (load(PassKernel::Along, columns)?, None),
            _ => (load(PassKernel::Along, columns)?, Some(down()?)),
        };
        Ok(Passes { gpu: gpu.clone(), first, second })
    }
}

impl<T: Sortable> Launches<T> for Passes<T> {
    fn enqueue(
        &self,
        picture: &PictureProblem,
        samples: BufferSlice<'_, T>,
        outputs: BufferSliceMut<'_, T>,
    ) -> Result<()> {
        let Some(second) = &self.second else { return self.first.enqueue(picture, samples, outputs) };
        let [along, down] = picture.passes();
        let mut lines = self.gpu.unwritten(along.len()?)?;
        self.first.enqueue(&along, samples, (&mut lines).into())?;
        second.enqueue(&down, (&lines).into(), outputs)
    }

    fn plan(&self, picture: &PictureProblem) -> Vec<LaunchPlan> {
        let Some(second) = &self.second else { return self.first.plan(picture) };
        let [along, down] = picture.passes();
        [self.first.plan(&along), second.plan(&down)].concat()
    }
}

/// Returns the problem of windows along one axis.
fn one_run(picture: &PictureProblem) -> RankProblem {
    problem(picture, 1)
}

/// The kernel of an axis with several runs of samples.
struct OneAxis<T: Sortable> {
    gpu: Gpu,
    kernel: PassKernel,
    loaded: LoadedPass<T>,
    extreme: Extreme,
    outside: T,
}

impl<T: Sortable> OneAxis<T> {
    fn pass(&self, picture: &PictureProblem) -> RankPass {
        RankPass::new::<T>(self.kernel, &one_run(picture), limits(&self.gpu))
    }
}

impl<T: Sortable> Launches<T> for OneAxis<T> {
    fn enqueue(
        &self,
        picture: &PictureProblem,
        samples: BufferSlice<'_, T>,
        outputs: BufferSliceMut<'_, T>,
    ) -> Result<()> {
        let (problem, RankPass { geometry, lines, runs }) = (one_run(picture), self.pass(picture));
        let axis = match self.kernel {
            PassKernel::Along => problem.columns,
            PassKernel::Down => problem.rows,
        };
        let _submission = self.gpu.submission_lock()?;
        let mut windows = Windows::new(&self.gpu);
        let (input, output) = (windows.input_slice(samples), windows.output_slice(outputs));
        geometry.parts().try_for_each(|part| {
            let args = PassArgs {
                input,
                output,
                axis,
                input_pitch: picture.input_pitch as u64,
                output_pitch: picture.output_pitch as u64,
                rows: picture.output_rows() as u64,
                width: picture.output_width() as u64,
                first_group: part.first_group,
                outside: self.outside,
                channels: problem.channels,
                // At most the number of blocks, which the launch checks against 31 bits.
                tiles: geometry.tiles as u32,
                lines,
                runs,
                omit: self.extreme.omit.into(),
                greatest: self.extreme.greatest.into(),
            };
            self.loaded.launch(&windows, shape(&geometry, part.blocks), args, &())
        })
    }

    fn plan(&self, picture: &PictureProblem) -> Vec<LaunchPlan> {
        let geometry = self.pass(picture).geometry;
        let shape = first_shape(&geometry);
        let launch = self.gpu.launch_plan(self.loaded.name(), shape, self.loaded.residency(shape));
        vec![LaunchPlan { times: geometry.launches(), moved_bytes: moved_bytes::<T>(picture), ..launch }]
    }
}
