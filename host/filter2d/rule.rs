//! What filters on GPUs have in common, by [`Kernel`](crate::Kernel) and [`Windows`](crate::Windows): the rule, and the plan.

use super::element::{BufferMut, BufferRef, Scalar};
use super::sums::{Sums, with_sums};
use super::window::{self, Window};
use super::{Filter2dAlgorithm, Filter2dError, Plan, Unsupported};
use crate::info::SharedMemory;
use crate::{Device, LaunchPlan, LaunchShape, Residency, Result};
use slm_kernels::filter2d::{Axis, Problem};
use slm_kernels::signal::{Border, Kind};

/// A filter without its weights.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    pub(super) window: Window,
    pub(super) border: Border,
    pub(super) outside: Scalar,
    /// Whether NaNs are missing samples.
    pub(super) renormalise: bool,
    /// Whether samples with equal weights may be added up before they are multiplied.
    pub(super) boxes: bool,
    /// What sums are divided by: those of integers, with weights of 1.
    pub(super) divisor: Option<f64>,
    pub(super) algorithm: Filter2dAlgorithm,
    /// Types of samples and outputs.
    pub(super) kinds: [Kind; 2],
    /// Name of the type of the weights.
    pub(super) weights: &'static str,
}

/// A filter on a GPU.
pub(super) trait Filter2d: Send + Sync {
    /// Returns whether windows are summed by segments, because all weights are equal.
    fn sums_segments(&self) -> bool {
        false
    }

    /// Enqueues the launches for a picture that is not empty. Both buffers are on this device and have the types of the [`Rule`].
    /// The caller holds the device's [submission lock](Device::submission_lock).
    fn enqueue(&self, problem: &window::Problem, samples: BufferRef<'_>, outputs: BufferMut<'_>) -> Result<()>;

    fn plan(&self, problem: &window::Problem) -> Plan;
}

impl dyn Filter2d {
    /// Filters a picture. Both buffers are on this device and have the types of the [`Rule`].
    pub(super) fn run(
        &self,
        device: &Device,
        problem: &window::Problem,
        samples: BufferRef<'_>,
        outputs: BufferMut<'_>,
    ) -> Result<()> {
        if problem.is_empty() {
            return Ok(());
        }
        let _submission = device.submission_lock()?;
        self.enqueue(problem, samples, outputs)
    }
}

impl Rule {
    /// Returns the problem of an empty picture.
    pub(super) fn without_outputs(&self) -> Result<Problem> {
        Ok(problem(&window::Problem::new(&self.window, 0, [1, 1])?))
    }

    pub(super) fn check_register_tiled(&self) -> Result<()> {
        let Rule { window: Window { rows, columns, .. }, renormalise, .. } = *self;
        let (strides, dilation) = ([rows.stride(), columns.stride()], columns.dilation());
        match (strides, dilation, renormalise) {
            ([1, 1], 1, false) => Ok(()),
            _ => Err(Filter2dError::RegisterTiled { strides, dilation, renormalise }.into()),
        }
    }

    fn moved_bytes(&self, picture: &window::Problem) -> u64 {
        let [sample, output] = self.kinds.map(Kind::bytes);
        let input =
            (picture.planes * picture.rows.samples) as u64 * (picture.columns.samples * picture.channels) as u64;
        let outputs = picture.output_rows() as u64 * picture.output_width() as u64;
        input.saturating_mul(sample).saturating_add(outputs.saturating_mul(output))
    }
}

/// Returns the plan of launches of a kernel (its name, and the reason for it): the first one's shape, and their number. `None` if
/// there is nothing to compute.
pub(super) fn plan(
    device: &Device,
    shared: SharedMemory,
    rule: &Rule,
    picture: &window::Problem,
    launches: Option<(LaunchShape, u64)>,
    kernel: [&'static str; 2],
    residency: impl FnOnce(LaunchShape) -> Result<Option<Residency>>,
) -> Plan {
    let Some((shape, times)) = launches else {
        let nothing = ["none", "there is nothing to compute"];
        return Plan::without_launch(device, rule.algorithm, picture, nothing);
    };
    let launch = LaunchPlan {
        times,
        moved_bytes: rule.moved_bytes(picture),
        ..LaunchPlan::once(kernel[0], shape, shared, residency(shape))
    };
    Plan { launches: vec![launch], ..Plan::without_launch(device, rule.algorithm, picture, kernel) }
}

/// Returns the problem as kernels see it. `Window::new` has checked strides, dilations and channels against 32 bits.
pub(super) fn problem(picture: &window::Problem) -> Problem {
    let axis = |axis: &window::Axis| Axis {
        samples: axis.samples as u64,
        outputs: axis.outputs as u64,
        start: axis.start,
        stride: axis.stride as u32,
        dilation: axis.dilation as u32,
        taps: axis.taps as u32,
    };
    Problem {
        planes: picture.planes as u64,
        rows: axis(&picture.rows),
        columns: axis(&picture.columns),
        channels: picture.channels as u32,
    }
}

/// Returns why there is no kernel.
pub(super) fn no_kernel(sums: &Sums, rule: &Rule) -> Filter2dError {
    let actual = with_sums!(sums, weights => weights.shape);
    if rule.algorithm == Filter2dAlgorithm::Separable && !sums.clone().into_product().is_separable() {
        return Filter2dError::NotSeparable { weights: actual };
    }
    let (window, algorithm) = (rule.window, rule.algorithm);
    let strides = [window.rows.stride(), window.columns.stride()];
    let dilations = [window.rows.dilation(), window.columns.dilation()];
    let takes_steps = algorithm == Filter2dAlgorithm::Separable;
    let unsupported = match rule.streamed_sizes(sums) {
        _ if !takes_steps && strides != [1, 1] => Unsupported::Strides(strides),
        _ if !takes_steps && dilations != [1, 1] => Unsupported::Dilations(dilations),
        _ if rule.renormalise => Unsupported::MissingSamples,
        Some(sizes) => Unsupported::Weights { actual, sizes },
        None => Unsupported::Types {
            types: Box::new([rule.kinds[0].name(), rule.weights, sums.name(), rule.kinds[1].name()]),
            channels: window.channels(),
            needed: match algorithm {
                Filter2dAlgorithm::Streaming => {
                    "samples and outputs of f32 in one channel or of u8 in four, and sums of f32"
                }
                _ => "sums of i32, f32 or f64",
            },
        },
    };
    Filter2dError::NoKernel { algorithm, unsupported }
}
