//! Filters whose weights are one row or one column: one-dimensional filters on the kernels for pictures.

use super::any_weights::{AnyWeights, with_weights};
use super::details::accuracy_of_sums;
use super::mean::{Added, Mean};
use super::rule::FilterRule;
use super::weights::{Values, Weights};
use super::window::{PictureProblem, Window};
use super::{Filter2dAlgorithm, FilterSample, FilterWeight, PreparedFilter2d};
use crate::cpu::allocation;
use crate::device::data::{Elements, Target};
use crate::filter::generated::WeightSource;
use crate::filter1d::{Accuracy, ErrorBound, Lines, Reach};
use crate::plan::Planned;
use crate::{Device, Result};
use slm_kernels::filter1d::Orientation;
use slm_kernels::signal::{Border, Kind};

/// A one-dimensional filter.
#[derive(Clone, Debug)]
pub(crate) struct LineFilter<S> {
    /// One row of weights.
    weights: AnyWeights,
    /// What sums are divided by.
    divisor: Option<f64>,
    /// Name of the taps' type.
    taps: &'static str,
    outside: (Border, S),
    reach: Reach,
    algorithm: Filter2dAlgorithm,
}

impl<S: FilterSample> LineFilter<S> {
    /// Returns a filter. The taps are in the order in which they meet the samples, and `outside` has the value outside of a constant
    /// border.
    pub(crate) fn new<W: FilterWeight>(
        (taps, source): (&[W], WeightSource),
        reach: Reach,
        outside: (Border, S),
        algorithm: Filter2dAlgorithm,
    ) -> Result<Self> {
        let weights = Weights {
            shape: [1, taps.len()],
            values: Values::Dense(allocation::copied(taps)?.into()),
            left: [0, reach.left],
        };
        let (weights, divisor) = Self::weights(&weights, source)?;
        Ok(LineFilter { weights, divisor, taps: W::NAME, outside, reach, algorithm })
    }

    /// Returns the weights in the type of the sums, and their divisor. Sums of one-dimensional filters of `i32` wrap around.
    fn weights<W: FilterWeight>(weights: &Weights<W>, source: WeightSource) -> Result<(AnyWeights, Option<f64>)> {
        match S::KIND {
            Kind::I32 if W::IS_INTEGER => {
                Ok((AnyWeights::I32(weights.converted(|weight| weight.to_f64() as i32)?), None))
            }
            kind => AnyWeights::new(weights, kind, Mean::new(source, weights.shape, [kind; 2], Added::InPasses)),
        }
    }

    pub(crate) fn taps(&self) -> usize {
        self.reach.taps
    }

    pub(crate) fn channels(&self) -> usize {
        self.reach.channels
    }

    /// Returns the accuracy of the sums.
    pub(crate) fn accuracy(&self) -> Accuracy {
        accuracy_of_sums(&self.weights, S::KIND, self.divisor, self.reach.taps)
    }

    /// Returns the filter along the rows of pictures whose pixels have its channels.
    pub(crate) fn along_rows(&self, device: &Device) -> Result<PreparedFilter2d<S>> {
        self.prepare(device, self.weights.clone(), [1, self.reach.stride], self.reach.channels)
    }

    /// Returns the filter along the columns of pictures with one channel.
    pub(crate) fn along_columns(&self, device: &Device) -> Result<PreparedFilter2d<S>> {
        self.prepare(device, self.weights.clone().into_column(), [self.reach.stride, 1], 1)
    }

    fn prepare(
        &self,
        device: &Device,
        weights: AnyWeights,
        strides: [usize; 2],
        channels: usize,
    ) -> Result<PreparedFilter2d<S>> {
        let ((border, outside), extent, channels) = (self.outside, self.reach.extent, Some(channels));
        let window = with_weights!(
            &weights,
            weights => Window::new(weights, [border; 2], extent, strides, [1, 1], channels)
        )?;
        let rule = FilterRule {
            window,
            outside: outside.scalar(),
            renormalise: false,
            // Sums of integers, which are divided later, do not overflow.
            boxes: self.divisor.is_some(),
            divisor: self.divisor,
            algorithm: self.algorithm,
            bound: ErrorBound::PerOutput,
            kinds: [S::KIND; 2],
            weights: self.taps,
        };
        PreparedFilter2d::new(device, weights, rule)
    }
}

/// Pictures that the caller has checked: of a `shape` (rows, columns), in pixels.
impl<S: FilterSample> PreparedFilter2d<S> {
    /// Filters a picture that consists of lines. Samples and outputs are on this device and long enough.
    pub(crate) fn run_lines(
        &self,
        shape: [usize; 2],
        lines: &Lines,
        samples: &Elements<'_, S>,
        outputs: Target<'_, S>,
    ) -> Result<()> {
        let &Lines { input_pitch, output_pitch, .. } = lines;
        let mut problem = PictureProblem { input_pitch, output_pitch, ..PictureProblem::new(&self.window, 1, shape)? };
        let axis = match lines.orientation {
            Orientation::Rows => &mut problem.columns,
            Orientation::Columns => &mut problem.rows,
        };
        (axis.outputs, axis.start) = (lines.outputs, lines.start);
        self.run(&problem, samples, outputs)
    }

    /// Returns the plan for a picture without gaps.
    pub(crate) fn planned_for(&self, shape: [usize; 2]) -> Result<Planned> {
        Ok(self.planned(&PictureProblem::new(&self.window, 1, shape)?)?.planned)
    }
}
