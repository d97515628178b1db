//! The problem in the form that CPU and GPU code use: lines of samples, and taps.

use super::Filter1dError;
use crate::filter::fold::{Fold, Foldable, Reached, folded};
use crate::filter::generated::WeightSource;
use crate::{Error, Extent, Result};
use slm_kernels::filter1d::Orientation;
use slm_kernels::signal::Border;
use std::ops::Deref;
use std::sync::Arc;

/// Maximum number of taps and of the stride, so that distances between a sample and its inputs fit into 32 bits.
const MOST_TAPS: usize = i32::MAX as usize;

/// Taps, boundary and extent of a filter. Output `o` of a line is `Σ_j taps[j] · X(start + o · stride + j)`.
#[derive(Clone, Debug)]
pub(crate) struct Taps<S, W = S> {
    pub(crate) taps: Arc<Vec<W>>,
    pub(crate) source: WeightSource,
    pub(crate) border: Border,
    pub(crate) outside: S,
    pub(crate) reach: Reach,
}

impl<T: Foldable> Taps<T> {
    /// Returns which taps meet the same samples of all lines, or `None` if none do.
    pub(super) fn fold(&self, lines: &Lines) -> Option<Fold> {
        let &Lines { samples, outputs, start, .. } = lines;
        // In a part of a line, the first window may be behind its beginning.
        let left = (-start).max(0) as usize;
        let reached = Reached { taps: self.taps.len(), left, stride: self.reach.stride, dilation: 1, samples, outputs };
        if lines.is_empty() { None } else { Fold::new(self.border, reached) }
    }

    /// Returns the number of taps of these lines that do not meet the same samples.
    pub(super) fn fewest(&self, lines: &Lines) -> usize {
        self.fold(lines).map_or(self.taps.len(), |fold| fold.taps)
    }

    /// Returns the taps of a filter with the same outputs, or `None` if a sum of taps overflows.
    pub(super) fn folded(&self, fold: Fold) -> Result<Option<Self>> {
        let sums = folded(&self.taps, self.taps.len(), [None, Some(fold)])?;
        // The number of outputs is known, and the first one has the place that it has for `Same`.
        let reach = Reach { taps: fold.taps, left: fold.left, extent: Extent::Same, ..self.reach };
        Ok(sums.map(|sums| Taps { taps: sums.into(), reach, ..self.clone() }))
    }
}

/// What the numbers of outputs depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    /// Number of taps.
    pub(crate) taps: usize,
    /// Number of samples before sample `i` that output `i` depends on.
    pub(crate) left: usize,
    pub(crate) extent: Extent,
    /// Interleaved channels.
    pub(crate) channels: usize,
    /// Samples from one output to the next one.
    pub(crate) stride: usize,
}

impl Reach {
    /// Returns an error if there are no taps, channels or steps, or too many.
    pub(crate) fn check(&self) -> Result<()> {
        match *self {
            Reach { taps: 0, .. } => Err(Filter1dError::NoTaps.into()),
            Reach { channels: 0, .. } => Err(Filter1dError::NoChannels.into()),
            Reach { stride: 0, .. } => Err(Filter1dError::NoStride.into()),
            Reach { taps, .. } if taps > MOST_TAPS => Err(too_large("the number of taps", [taps, 1], MOST_TAPS)),
            Reach { stride, .. } if stride > MOST_TAPS => {
                Err(too_large("the stride of a filter", [stride, 1], MOST_TAPS))
            }
            _ => Ok(()),
        }
    }

    /// Returns the number of outputs of a channel with `samples` samples.
    pub(crate) fn outputs(&self, samples: usize) -> Result<usize> {
        let halo = self.taps - 1;
        if samples == 0 {
            return Ok(0);
        }
        let positions = match self.extent {
            Extent::Same => samples,
            Extent::Valid => samples.saturating_sub(halo),
            Extent::Full => samples
                .checked_add(halo)
                .ok_or_else(|| too_large("the number of samples", [samples, 1], usize::MAX - halo))?,
        };
        Ok(positions.div_ceil(self.stride))
    }

    /// Returns the number of samples per channel of a line with `samples` samples.
    fn per_channel(&self, samples: usize) -> Result<usize> {
        let channels = self.channels;
        if !samples.is_multiple_of(channels) {
            return Err(Filter1dError::Interleaving { samples, channels }.into());
        }
        Ok(samples / channels)
    }

    /// Returns the index of the first output's first sample.
    pub(crate) fn start(&self) -> i64 {
        match self.extent {
            Extent::Same => -(self.left as i64),
            Extent::Valid => 0,
            Extent::Full => 1 - self.taps as i64,
        }
    }
}

fn too_large(what: &'static str, factors: [usize; 2], limit: usize) -> Error {
    Error::TooLarge { what, factors: factors.map(|factor| factor as u64), limit: limit as u64 }
}

/// Layout of lines of samples and of their outputs in memory. Pitches are in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    /// Number of lines.
    pub(crate) lines: usize,
    /// Samples per line and channel.
    pub(crate) samples: usize,
    /// Outputs per line and channel.
    pub(crate) outputs: usize,
    /// Index of the first output's first sample.
    pub(crate) start: i64,
    /// Direction of the lines.
    pub(crate) orientation: Orientation,
    /// Row pitch of the input.
    pub(crate) input_pitch: usize,
    /// Row pitch of the output.
    pub(crate) output_pitch: usize,
}

impl Lines {
    /// Returns the lines of samples without gaps: those along an axis of a matrix, or along the last axis of anything for `None`. Also
    /// returns the lengths of the axes of the outputs.
    pub(crate) fn of(reach: &Reach, axis: Option<usize>, axes: &[usize]) -> Result<(Self, OutputAxes)> {
        let axis = axis.unwrap_or(axes.len().saturating_sub(1));
        match *axes {
            [samples] if axis == 0 => {
                let lines = Self::single(reach, samples)?;
                Ok((lines, OutputAxes::Line([lines.output_pitch])))
            }
            [_] => Err(Filter1dError::Axis { axis, dimensions: 1 }.into()),
            [rows, columns] => {
                let (lines, shape) = Self::of_matrix(reach, [rows, columns], axis)?;
                Ok((lines, OutputAxes::Matrix(shape)))
            }
            _ => Err(Filter1dError::Dimensions { dimensions: axes.len() }.into()),
        }
    }

    /// Returns one line of `samples` samples, the total of all channels.
    pub(crate) fn single(reach: &Reach, samples: usize) -> Result<Self> {
        Self::along_rows(reach, [1, samples])
    }

    /// Returns the lines along `axis` of a matrix without gaps, and the shape of the result.
    pub(crate) fn of_matrix(reach: &Reach, shape: [usize; 2], axis: usize) -> Result<(Self, [usize; 2])> {
        let [rows, columns] = shape;
        match axis {
            0 => {
                reach.per_channel(columns)?;
                let lines = Self::along_columns(reach, shape)?;
                Ok((lines, [lines.outputs, columns]))
            }
            1 => {
                let lines = Self::along_rows(reach, shape)?;
                Ok((lines, [rows, lines.output_pitch]))
            }
            _ => Err(Filter1dError::Axis { axis, dimensions: 2 }.into()),
        }
    }

    fn along_rows(reach: &Reach, [lines, columns]: [usize; 2]) -> Result<Self> {
        let (samples, channels) = (reach.per_channel(columns)?, reach.channels);
        let outputs = reach.outputs(samples)?;
        let output_pitch = outputs
            .checked_mul(channels)
            .ok_or_else(|| too_large("the number of outputs", [outputs, channels], usize::MAX))?;
        let (start, orientation) = (reach.start(), Orientation::Rows);
        Ok(Lines { lines, samples, outputs, start, orientation, input_pitch: columns, output_pitch })
    }

    fn along_columns(reach: &Reach, [samples, lines]: [usize; 2]) -> Result<Self> {
        let outputs = reach.outputs(samples)?;
        let (start, orientation) = (reach.start(), Orientation::Columns);
        Ok(Lines { lines, samples, outputs, start, orientation, input_pitch: lines, output_pitch: lines })
    }

    /// Returns the strides between elements of a line, and between lines, for a row pitch.
    pub(super) fn steps(&self, pitch: usize) -> [u64; 2] {
        match self.orientation {
            Orientation::Rows => [1, pitch as u64],
            Orientation::Columns => [pitch as u64, 1],
        }
    }

    /// Returns whether there is nothing to compute.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines == 0 || self.outputs == 0
    }
}

/// Lengths of the axes of outputs.
pub(crate) enum OutputAxes {
    Line([usize; 1]),
    Matrix([usize; 2]),
}

impl Deref for OutputAxes {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        match self {
            OutputAxes::Line(axes) => axes,
            OutputAxes::Matrix(axes) => axes,
        }
    }
}
