//! The problem in the form that CPU and GPU code use: lines of samples, and taps.

use super::{FilterElement, FilterError};
use crate::{Error, Extent, Result};
use slm_kernels::filter1d::Orientation;
use slm_kernels::signal::Border;
use std::sync::Arc;

/// Maximum number of taps, so that distances between a sample and its inputs fit into 32 bits.
const MOST_TAPS: usize = i32::MAX as usize;

/// Taps, boundary and extent of a filter. Output `o` of a line is `Σ_j taps[j] · X(start + o + j)`.
#[derive(Clone, Debug)]
pub(crate) struct Taps<T> {
    pub(crate) taps: Arc<[T]>,
    pub(crate) left: usize,
    pub(crate) border: Border,
    pub(crate) outside: T,
    pub(crate) extent: Extent,
}

impl<T: FilterElement> Taps<T> {
    /// Returns an error if there are no taps, or too many.
    pub(crate) fn check(&self) -> Result<()> {
        match self.taps.len() {
            0 => Err(FilterError::NoTaps.into()),
            count if count > MOST_TAPS => {
                Err(Error::TooLarge { what: "the number of taps", factors: [count as u64, 1], limit: MOST_TAPS as u64 })
            }
            _ => Ok(()),
        }
    }

    /// Returns the number of outputs for `samples` samples.
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

    /// Returns the index of the first output's first sample.
    pub(crate) fn start(&self) -> i64 {
        match self.extent {
            Extent::Same => -(self.left as i64),
            Extent::Valid => 0,
            Extent::Full => 1 - self.taps.len() as i64,
        }
    }
}

/// Layout of lines of samples and of their outputs in memory. Lengths and pitches are in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    /// Number of lines.
    pub(crate) lines: usize,
    /// Samples per line.
    pub(crate) samples: usize,
    /// Outputs per line.
    pub(crate) outputs: usize,
    /// Direction of the lines.
    pub(crate) orientation: Orientation,
    /// Row pitch of the input.
    pub(crate) input_pitch: usize,
    /// Row pitch of the output.
    pub(crate) output_pitch: usize,
}

impl Lines {
    /// Returns one line of `samples` samples.
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

    /// Returns the lines along `axis` of a matrix with this row pitch, and the shape of the result.
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

    /// Returns whether there is nothing to compute.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines == 0 || self.outputs == 0
    }
}
