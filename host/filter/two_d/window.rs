//! Windows of samples: which samples an output depends on, without the samples themselves.

use super::Filter2dError;
use super::weights::Weights;
use crate::device::buffer2::extent;
use crate::filter::fold::Fold;
use crate::filter::part::{PACK, Placement};
use crate::{Error, Extent, Result};
use slm_kernels::signal::Border;
use std::ops::Range;

/// Maximum of strides and spans, so that distances between an output's samples fit into 32 bits.
const MOST_STEPS: usize = i32::MAX as usize;

/// Maximum number of channels, of filters and of [`Channels`](crate::Channels).
pub(crate) const MOST_CHANNELS: usize = u16::MAX as usize;

/// The windows of all outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::filter) struct Window {
    pub(in crate::filter) rows: AxisRule,
    pub(in crate::filter) columns: AxisRule,
    /// `None` if arrays have no axis for channels.
    pub(in crate::filter) channels: Option<usize>,
}

impl Window {
    /// Returns the windows of valid weights, or an error.
    pub(super) fn new<W: Copy>(
        weights: &Weights<W>,
        borders: [Border; 2],
        extent: Extent,
        stride: [usize; 2],
        dilation: [usize; 2],
        channels: Option<usize>,
    ) -> Result<Self> {
        weights.check()?;
        Self::of_shape([weights.shape, weights.left], borders, extent, [stride, dilation], channels)
    }

    /// Returns the windows of at least one row and one column, with fewer samples before an output's own place, or an error.
    pub(in crate::filter) fn of_shape(
        [shape, left]: [[usize; 2]; 2],
        borders: [Border; 2],
        extent: Extent,
        [stride, dilation]: [[usize; 2]; 2],
        channels: Option<usize>,
    ) -> Result<Self> {
        match channels {
            Some(0) => return Err(Filter2dError::Zero { what: "the number of channels of a filter" }.into()),
            Some(channels) if channels > MOST_CHANNELS => {
                return Err(too_large("the number of channels", [channels, 1], MOST_CHANNELS));
            }
            _ => {}
        }
        let rule = |axis: usize| -> Result<AxisRule> {
            NAMES[axis].check(shape[axis], stride[axis], dilation[axis])?;
            let (taps, left, border) = (shape[axis], left[axis], borders[axis]);
            Ok(AxisRule::new([taps, left], border, extent, [stride[axis], dilation[axis]]))
        };
        Ok(Window { rows: rule(0)?, columns: rule(1)?, channels })
    }

    /// Returns the windows of the two passes of an outer product: along the rows, then down the columns.
    pub(in crate::filter) fn passes(&self) -> [Self; 2] {
        [Window { rows: AxisRule::SINGLE, ..*self }, Window { columns: AxisRule::SINGLE, ..*self }]
    }

    /// Returns the strides of rows and columns.
    pub(in crate::filter) fn strides(&self) -> [usize; 2] {
        [self.rows.stride, self.columns.stride]
    }

    /// Returns the dilations of rows and columns.
    pub(in crate::filter) fn dilations(&self) -> [usize; 2] {
        [self.rows.dilation, self.columns.dilation]
    }

    /// Returns whether all strides and dilations are 1.
    pub(in crate::filter) fn has_unit_steps(&self) -> bool {
        [self.strides(), self.dilations()] == [[1; 2]; 2]
    }

    /// Returns the channels of a pixel.
    pub(in crate::filter) fn channels(&self) -> usize {
        self.channels.unwrap_or(1)
    }
}

/// Names of the parameters of an axis, for messages.
struct Names {
    stride: &'static str,
    dilation: &'static str,
    span: &'static str,
}

const NAMES: [Names; 2] = [
    Names {
        stride: "the row stride of a filter",
        dilation: "the row dilation of a filter",
        span: "(rows of weights - 1) x row dilation",
    },
    Names {
        stride: "the column stride of a filter",
        dilation: "the column dilation of a filter",
        span: "(columns of weights - 1) x column dilation",
    },
];

impl Names {
    /// Checks the parameters of the axis.
    fn check(&self, taps: usize, stride: usize, dilation: usize) -> Result<()> {
        for (what, steps) in [(self.stride, stride), (self.dilation, dilation)] {
            if steps == 0 {
                return Err(Filter2dError::Zero { what }.into());
            }
        }
        if stride > MOST_STEPS {
            return Err(too_large(self.stride, [stride, 1], MOST_STEPS));
        }
        if (taps - 1).checked_mul(dilation).is_none_or(|span| span >= MOST_STEPS) {
            return Err(too_large(self.span, [taps - 1, dilation], MOST_STEPS - 1));
        }
        Ok(())
    }
}

/// The windows along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::filter) struct AxisRule {
    taps: usize,
    /// Taps before the one at the output's own place.
    left: usize,
    border: Border,
    extent: Extent,
    stride: usize,
    dilation: usize,
}

impl AxisRule {
    /// One tap, at each output's own place.
    const SINGLE: Self =
        AxisRule { taps: 1, left: 0, border: Border::Constant, extent: Extent::Same, stride: 1, dilation: 1 };

    fn new([taps, left]: [usize; 2], border: Border, extent: Extent, [stride, dilation]: [usize; 2]) -> Self {
        // A single tap has no distance to others.
        let dilation = if taps == 1 { 1 } else { dilation };
        AxisRule { taps, left, border, extent, stride, dilation }
    }

    /// Returns the windows of folded weights. They have their outputs in common with the extent `Same` of another number of outputs.
    pub(in crate::filter) fn folded(&self, fold: &Fold) -> Self {
        Self::new([fold.taps, fold.left], self.border, Extent::Same, [self.stride, self.dilation])
    }

    pub(in crate::filter) fn stride(&self) -> usize {
        self.stride
    }

    /// Returns where the windows are.
    pub(in crate::filter) fn placement(&self) -> Placement {
        let (start, span) = (self.start(), self.span());
        Placement { border: self.border, start, span, stride: self.stride, segment: 1, pack: PACK }
    }

    pub(in crate::filter) fn dilation(&self) -> usize {
        self.dilation
    }

    /// Returns the distance from the first to the last sample of a window.
    fn span(&self) -> usize {
        (self.taps - 1) * self.dilation
    }

    /// Returns the windows over `samples` samples.
    pub(in crate::filter) fn over(&self, samples: usize) -> Result<Axis> {
        Ok(Axis {
            samples,
            outputs: self.outputs(samples)?,
            taps: self.taps,
            start: self.start(),
            stride: self.stride,
            dilation: self.dilation,
            border: self.border,
        })
    }

    fn outputs(&self, samples: usize) -> Result<usize> {
        let positions = match self.extent {
            _ if samples == 0 => 0,
            Extent::Same => samples,
            Extent::Valid => samples.saturating_sub(self.span()),
            Extent::Full => samples
                .checked_add(self.span())
                .ok_or_else(|| too_large("the number of samples", [samples, 1], usize::MAX - self.span()))?,
        };
        Ok(positions.div_ceil(self.stride))
    }

    /// Returns the position of the first output's first sample.
    fn start(&self) -> i64 {
        match self.extent {
            Extent::Same => -((self.left * self.dilation) as i64),
            Extent::Valid => 0,
            Extent::Full => -(self.span() as i64),
        }
    }
}

fn too_large(what: &'static str, factors: [usize; 2], limit: usize) -> Error {
    Error::TooLarge { what, factors: factors.map(|factor| factor as u64), limit: limit as u64 }
}

/// The windows along an axis of known length: output `o` depends on the samples at `position(o, j)` for each tap `j`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::filter) struct Axis {
    pub(in crate::filter) samples: usize,
    pub(in crate::filter) outputs: usize,
    pub(in crate::filter) taps: usize,
    /// Position of the first output's first sample.
    pub(in crate::filter) start: i64,
    pub(in crate::filter) stride: usize,
    pub(in crate::filter) dilation: usize,
    pub(in crate::filter) border: Border,
}

impl Axis {
    /// Returns the axis along which each output depends on the sample at its own place alone.
    pub(in crate::filter) fn single(samples: usize) -> Self {
        // No output depends on samples outside.
        Axis { samples, outputs: samples, taps: 1, start: 0, stride: 1, dilation: 1, border: Border::Constant }
    }

    /// Returns the axis with folded weights.
    pub(in crate::filter) fn folded(&self, fold: &Fold) -> Self {
        // A single tap has no distance to others.
        let dilation = if fold.taps == 1 { 1 } else { self.dilation };
        Axis { taps: fold.taps, start: -((fold.left * dilation) as i64), dilation, ..*self }
    }

    /// Returns the sample at a position, or `None` for the constant outside.
    pub(in crate::filter) fn source(&self, position: i64) -> Option<usize> {
        self.border.source(position, self.samples as u64).map(|sample| sample as usize)
    }

    /// Returns the position of the sample that tap `tap` of output `output` meets, which may be outside.
    pub(in crate::filter) fn position(&self, output: usize, tap: usize) -> i64 {
        self.start + (output * self.stride) as i64 + (tap * self.dilation) as i64
    }
}

/// Planes of pictures in memory, one below the other, and the windows over each of them. Pitches are in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::filter) struct PictureProblem {
    pub(in crate::filter) planes: usize,
    /// Rows of a plane.
    pub(in crate::filter) rows: Axis,
    /// In pixels.
    pub(in crate::filter) columns: Axis,
    pub(in crate::filter) channels: usize,
    pub(in crate::filter) input_pitch: usize,
    pub(in crate::filter) output_pitch: usize,
    /// Rows of outputs of the whole picture, if this is a part of one: segments are as long as for the whole.
    pub(in crate::filter) whole_rows: Option<usize>,
}

impl PictureProblem {
    /// Returns the problem for planes without gaps, or an error if their outputs exceed the address space.
    pub(in crate::filter) fn new(window: &Window, planes: usize, [rows, columns]: [usize; 2]) -> Result<Self> {
        let (rows, columns, channels) = (window.rows.over(rows)?, window.columns.over(columns)?, window.channels());
        let width = |pixels: usize| {
            pixels.checked_mul(channels).ok_or_else(|| too_large("a row", [pixels, channels], isize::MAX as usize))
        };
        let (input_pitch, output_pitch) = (width(columns.samples)?, width(columns.outputs)?);
        extent(planes.saturating_mul(rows.samples), input_pitch, input_pitch)?;
        extent(planes.saturating_mul(rows.outputs), output_pitch, output_pitch)?;
        let whole_rows = None;
        Ok(PictureProblem { planes, rows, columns, channels, input_pitch, output_pitch, whole_rows })
    }

    /// Returns the problems of the two passes of an outer product: along the rows, and down the columns of the result, which has no
    /// gaps.
    pub(in crate::filter) fn passes(&self) -> [Self; 2] {
        let width = self.output_width();
        let along = PictureProblem { rows: Axis::single(self.rows.samples), output_pitch: width, ..*self };
        let down = PictureProblem { columns: Axis::single(self.columns.outputs), input_pitch: width, ..*self };
        [along, down]
    }

    /// Returns the problem of some columns of the outputs.
    pub(in crate::filter) fn of_columns(&self, first: usize, outputs: usize) -> Self {
        let columns = Axis { start: self.columns.position(first, 0), outputs, ..self.columns };
        PictureProblem { columns, ..*self }
    }

    /// Returns the problem of some rows of a plane's outputs. If the picture is wrapped, they may be beyond its ends.
    pub(in crate::filter) fn of_rows(&self, Range { start, end }: Range<i64>) -> Self {
        let first = self.rows.start + start * self.rows.stride as i64;
        PictureProblem { planes: 1, rows: Axis { start: first, outputs: (end - start) as usize, ..self.rows }, ..*self }
    }

    /// Returns the number of each plane that has some of these output rows of all planes, and its rows.
    pub(in crate::filter) fn pieces(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
        let height = self.rows.outputs;
        (rows.start / height..rows.end.div_ceil(height)).map(move |plane| {
            let first = plane * height;
            (plane, rows.start.max(first) - first..rows.end.min(first + height) - first)
        })
    }

    /// Returns the number of outputs, or an error if they exceed the address space.
    pub(in crate::filter) fn len(&self) -> Result<usize> {
        extent(self.output_rows(), self.output_width(), self.output_width())
    }

    /// Returns whether there is nothing to compute.
    pub(in crate::filter) fn is_empty(&self) -> bool {
        self.output_rows() == 0 || self.columns.outputs == 0
    }

    /// Returns the output rows of all planes.
    pub(in crate::filter) fn output_rows(&self) -> usize {
        self.planes * self.rows.outputs
    }

    /// Returns the outputs of a row.
    pub(in crate::filter) fn output_width(&self) -> usize {
        self.columns.outputs * self.channels
    }
}
