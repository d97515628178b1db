//! What a filter does, apart from its weights, in the form that CPU and GPU code use.

use super::element::Scalar;
use super::window::Window;
use super::{Filter2dAlgorithm, window};
use crate::Result;
use crate::filter1d::ErrorBound;
use slm_kernels::filter2d::{Axis, Filter2dProblem};
use slm_kernels::signal::Kind;

/// A filter without its weights.
#[derive(Clone, Copy, Debug)]
pub(super) struct FilterRule {
    pub(super) window: Window,
    /// The value outside, for constant borders.
    pub(super) outside: Scalar,
    /// Whether NaNs are missing samples. The weights are dense then.
    pub(super) renormalise: bool,
    /// Whether samples with equal weights may be added up before they are multiplied: such a sum may overflow where that of the
    /// products does not.
    pub(super) boxes: bool,
    /// What sums are divided by: those of integers, with weights of 1.
    pub(super) divisor: Option<f64>,
    pub(super) algorithm: Filter2dAlgorithm,
    /// What the error of an output may depend on.
    pub(super) bound: ErrorBound,
    /// Types of samples and outputs.
    pub(super) kinds: [Kind; 2],
    /// Name of the type of the weights.
    pub(super) weights: &'static str,
}

impl FilterRule {
    /// Returns the problem of an empty picture.
    pub(super) fn without_outputs(&self) -> Result<Filter2dProblem> {
        Ok(problem(&window::PictureProblem::new(&self.window, 0, [1, 1])?))
    }

    /// Returns whether samples and outputs are pixels of this type and number of channels.
    pub(super) fn has_pixels(&self, kind: Kind, channels: usize) -> bool {
        self.kinds == [kind; 2] && self.window.channels() == channels
    }

    /// Returns the bytes of samples and outputs of a picture.
    pub(super) fn moved_bytes(&self, picture: &window::PictureProblem) -> u64 {
        let [sample, output] = self.kinds.map(Kind::bytes);
        let input =
            (picture.planes * picture.rows.samples) as u64 * (picture.columns.samples * picture.channels) as u64;
        let outputs = picture.output_rows() as u64 * picture.output_width() as u64;
        input.saturating_mul(sample).saturating_add(outputs.saturating_mul(output))
    }
}

/// Returns the problem as kernels see it. `Window::new` has checked strides, dilations and channels against 32 bits.
pub(super) fn problem(picture: &window::PictureProblem) -> Filter2dProblem {
    let axis = |axis: &window::Axis| Axis {
        samples: axis.samples as u64,
        outputs: axis.outputs as u64,
        start: axis.start,
        stride: axis.stride as u32,
        dilation: axis.dilation as u32,
        taps: axis.taps as u32,
        border: axis.border as u32,
    };
    Filter2dProblem {
        planes: picture.planes as u64,
        rows: axis(&picture.rows),
        columns: axis(&picture.columns),
        channels: picture.channels as u32,
    }
}
