//! Two-dimensional filters on CUDA and emulated GPUs: the launches of what [`choose`](super::choose) has chosen.
//!
//! | file | kernels |
//! |---|---|
//! | `direct.rs` | all products of an output at once, for any weights |
//! | `two_passes.rs` | two launches of these for an outer product |
//! | `line_passes.rs` | filters of lines for an outer product with many weights |
//! | `passes.rs` | both passes of an outer product in one launch |
//! | `streaming.rs` | those that are compiled for a size of weights |
//! | `segments.rs` | equal weights: sums of segments |
//! | `running.rs` | equal weights and pixels of four bytes: running sums |
//! | `banded.rs` | what the last four have in common: they go down bands of rows |
//! | `pixels.rs` | windows on samples and outputs for these four |

mod banded;
mod direct;
mod line_passes;
mod passes;
mod pixels;
mod running;
mod segments;
#[cfg(all(test, feature = "emulator"))]
mod several_bands;
mod streaming;
mod two_passes;

pub(super) use direct::DirectSum;
pub(super) use line_passes::Steps;
pub(super) use passes::Fitting;
pub(super) use running::RunningKernel;
pub(super) use segments::SegmentKernel;
pub(super) use streaming::{Streaming, StreamingTypes};

use super::choose::{Choice, Decision, LinePasses};
use super::details::{Filter2dMethod, PlannedPicture};
use super::element::{BufferMut, BufferRef};
use super::rule::FilterRule;
use super::window::PictureProblem;
use crate::device::gpu::Gpu;
use crate::device::kernel::OnDemand;
use crate::filter1d::GpuOfLines;
use crate::plan::Planned;
use crate::{LaunchPlan, Result};
use banded::BandLaunches;
use line_passes::ByLines;
use passes::Passes;
use two_passes::TwoPasses;

/// Launches of the kernels of a filter.
trait Launches: Send + Sync {
    /// Enqueues the launches for a picture that is not empty. Both buffers are on this device and have the types of the
    /// [`FilterRule`]. The caller holds the device's [submission lock](crate::Device::submission_lock).
    fn enqueue(&self, problem: &PictureProblem, samples: BufferRef<'_>, outputs: BufferMut<'_>) -> Result<()>;

    /// Returns the number of output rows that parts of a picture begin at multiples of, so that sums are those of the whole.
    fn segment_rows(&self, _: &PictureProblem) -> usize {
        1
    }

    /// Returns the plans of the launches for a picture that is not empty.
    fn plan(&self, problem: &PictureProblem) -> Vec<LaunchPlan>;
}

/// A filter on a GPU.
pub(super) struct GpuFilter {
    gpu: Gpu,
    reason: &'static str,
    method: Filter2dMethod,
    launches: Box<dyn Launches>,
    /// For pictures that take less time by them.
    line_passes: Option<LinePasses>,
    by_lines: OnDemand<Box<dyn ByLines>>,
}

impl GpuFilter {
    /// Loads the kernels that have been chosen, and uploads the weights that they read.
    pub(super) fn new(gpu: Gpu, decision: Decision, rule: &FilterRule) -> Result<Self> {
        let Decision { choice, reason, line_passes } = decision;
        let method = choice.method();
        let launches = load(choice, &gpu, rule)?;
        Ok(GpuFilter { gpu, reason, method, launches, line_passes, by_lines: OnDemand::default() })
    }

    /// Returns the choice of filters of lines, if they take less time for a picture.
    fn line_passes(&self, problem: &PictureProblem) -> Option<&LinePasses> {
        let gpu = GpuOfLines::new(&self.gpu);
        self.line_passes.as_ref().filter(|passes| passes.are_aligned(problem) && passes.are_faster(gpu, problem))
    }

    fn load_lines(&self, passes: &LinePasses) -> Result<&dyn ByLines> {
        Ok(&**self.by_lines.get(|| passes.load(&self.gpu))?)
    }

    /// Returns whether windows are summed by segments.
    pub(super) fn sums_segments(&self) -> bool {
        self.method == Filter2dMethod::Segments
    }

    /// Returns the number of output rows that parts of a picture begin at multiples of.
    pub(super) fn segment_rows(&self, problem: &PictureProblem) -> usize {
        if problem.is_empty() { 1 } else { self.launches.segment_rows(problem) }
    }

    /// Filters a picture. Both buffers are on this device and have the types of the [`FilterRule`].
    pub(super) fn run(&self, problem: &PictureProblem, samples: BufferRef<'_>, outputs: BufferMut<'_>) -> Result<()> {
        if problem.is_empty() {
            return Ok(());
        }
        if let Some(passes) = self.line_passes(problem) {
            return self.load_lines(passes)?.run(problem, samples, outputs);
        }
        let _submission = self.gpu.submission_lock()?;
        self.launches.enqueue(problem, samples, outputs)
    }

    pub(super) fn plan(&self, problem: &PictureProblem) -> Result<PlannedPicture> {
        let of_sums = |planned| Ok(PlannedPicture::of_sums(planned, self.method, problem));
        if problem.is_empty() {
            return of_sums(Planned::nothing());
        }
        match self.line_passes(problem) {
            Some(passes) => {
                let planned = self.load_lines(passes)?.plan(problem)?;
                Ok(planned.with_time(passes.predicted(GpuOfLines::new(&self.gpu), problem)))
            }
            None => of_sums(Planned::new(self.reason, self.launches.plan(problem))),
        }
    }
}

fn load(choice: Choice, gpu: &Gpu, rule: &FilterRule) -> Result<Box<dyn Launches>> {
    Ok(match choice {
        Choice::Segments(kernel, strips) => return kernel.load(gpu, rule, strips),
        Choice::Running(kernel) => return kernel.load(gpu, rule),
        Choice::Passes(fitting, factors) => {
            Box::new(BandLaunches::new(gpu, *rule, Passes::new(gpu, fitting, &factors)?)?)
        }
        Choice::Streaming(streaming) => return streaming.load(gpu, rule),
        Choice::TwoPasses(passes) => Box::new(TwoPasses::new(gpu, *passes)?),
        Choice::Direct(direct) => return direct.load(gpu),
    })
}
