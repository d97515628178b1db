//! The problem as it is computed: lines of samples, and the taps that meet them.

use super::{FilterElement, FilterError};
use crate::{Error, Extent, Result};
use slm_kernels::filter1d::Orientation;
use slm_kernels::signal::Border;
use std::sync::Arc;

/// The most taps: distances from a sample to what it is made of fit into 32 bits.
const MOST_TAPS: usize = i32::MAX as usize;

/// A filter's numbers. Output `o` of a line is `Σ_j taps[j] · X(start + o + j)`.
#[derive(Clone, Debug)]
pub(crate) struct Taps<T> {
    pub(crate) taps: Arc<[T]>,
    pub(crate) left: usize,
    pub(crate) border: Border,
    pub(crate) outside: T,
    pub(crate) extent: Extent,
}

impl<T: FilterElement> Taps<T> {
    pub(crate) fn check(&self) -> Result<()> {
        match self.taps.len() {
            0 => Err(FilterError::NoTaps.into()),
            count if count > MOST_TAPS => {
                Err(Error::TooLarge { what: "the number of taps", factors: [count as u64, 1], limit: MOST_TAPS as u64 })
            }
            _ => Ok(()),
        }
    }

    /// The number of outputs for `samples` samples.
    pub(crate) fn outputs(&self, samples: usize) -> Result<usize> {
        let halo = self.taps.len() - 1;
        if samples == 0 {
            return Ok(0);
        }
        match self.extent {
            Extent::Same => Ok(samples),
            Extent::Valid => Ok(samples.saturating_sub(halo)),
            Extent::Full => samples.checked_add(halo).ok_or(Error::TooLarge {
                what: "the number of samples",
                factors: [samples as u64, 1],
                limit: (usize::MAX - halo) as u64,
            }),
        }
    }

    /// The place of the first output's first sample.
    pub(crate) fn start(&self) -> i64 {
        match self.extent {
            Extent::Same => -(self.left as i64),
            Extent::Valid => 0,
            Extent::Full => 1 - self.taps.len() as i64,
        }
    }
}

/// Lines of samples in memory and where their outputs go. Lengths, steps and pitches are in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    /// Lines.
    pub(crate) lines: usize,
    /// Samples of a line.
    pub(crate) samples: usize,
    /// Outputs of a line.
    pub(crate) outputs: usize,
    /// How the lines run.
    pub(crate) orientation: Orientation,
    /// From row to row of the input.
    pub(crate) input_pitch: usize,
    /// From row to row of the output.
    pub(crate) output_pitch: usize,
}

impl Lines {
    /// One line of `samples` samples.
    pub(crate) fn single<T: FilterElement>(taps: &Taps<T>, samples: usize) -> Result<Self> {
        let outputs = taps.outputs(samples)?;
        Ok(Lines {
            lines: 1,
            samples,
            outputs,
            orientation: Orientation::Rows,
            input_pitch: samples,
            output_pitch: outputs,
        })
    }

    /// The lines along `axis` of a matrix whose rows are `pitch` apart, and the shape of the result.
    pub(crate) fn of_matrix<T: FilterElement>(
        taps: &Taps<T>,
        [rows, columns]: [usize; 2],
        pitch: usize,
        axis: usize,
    ) -> Result<(Self, [usize; 2])> {
        let along_rows = match axis {
            0 => false,
            1 => true,
            _ => return Err(FilterError::Axis { axis, dimensions: 2 }.into()),
        };
        let (lines, samples) = if along_rows { (rows, columns) } else { (columns, rows) };
        let outputs = taps.outputs(samples)?;
        let shape = if along_rows { [rows, outputs] } else { [outputs, columns] };
        let orientation = if along_rows { Orientation::Rows } else { Orientation::Columns };
        Ok((Lines { lines, samples, outputs, orientation, input_pitch: pitch, output_pitch: shape[1] }, shape))
    }

    /// Whether there is nothing to compute.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines == 0 || self.outputs == 0
    }
}
