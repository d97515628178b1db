//! Filters of interleaved channels, and of types without kernels of their own, on the kernels of [`filter2d`](crate::filter2d): a
//! line is a row or a column of a picture, and the taps are one row or one column of weights. Those kernels sum in the order of the taps, too.

use super::details::PlannedLines;
use super::{Filter1dAlgorithm, Lines, Taps};
use crate::device::data::{Elements, Target};
use crate::device::kernel::OnDemand;
use crate::filter2d::{Filter2dAlgorithm, LineFilter, PreparedFilter2d};
use crate::{Device, FilterSample, FilterWeight, Result};
use slm_kernels::filter1d::Orientation;

/// A filter of pictures.
pub(super) struct OnPictures<S: FilterSample> {
    device: Device,
    filter: LineFilter<S>,
    rows: PreparedFilter2d<S>,
    columns: OnDemand<PreparedFilter2d<S>>,
}

impl<S: FilterSample> OnPictures<S> {
    pub(super) fn new<W: FilterWeight>(
        device: &Device,
        taps: &Taps<S, W>,
        algorithm: Filter1dAlgorithm,
    ) -> Result<Self> {
        let &Taps { ref taps, source, border, outside, reach } = taps;
        let filter = LineFilter::new((taps, source), reach, (border, outside), kernel_of(algorithm))?;
        let rows = filter.along_rows(device)?;
        Ok(OnPictures { device: device.clone(), filter, rows, columns: OnDemand::default() })
    }

    /// Returns the filter for lines of this orientation, and the rows and columns of a picture that consists of the lines.
    fn filter(&self, lines: &Lines) -> Result<(&PreparedFilter2d<S>, [usize; 2])> {
        Ok(match lines.orientation {
            Orientation::Rows => (&self.rows, [lines.lines, lines.samples]),
            Orientation::Columns => {
                (self.columns.get(|| self.filter.along_columns(&self.device))?, [lines.samples, lines.lines])
            }
        })
    }

    pub(super) fn run(&self, lines: &Lines, samples: &Elements<'_, S>, outputs: Target<'_, S>) -> Result<()> {
        let (filter, shape) = self.filter(lines)?;
        filter.run_lines(shape, lines, samples, outputs)
    }

    pub(super) fn plan(&self, lines: &Lines) -> Result<PlannedLines> {
        let (filter, shape) = self.filter(lines)?;
        // A line has the outputs of all its channels.
        let all = Lines { outputs: lines.outputs.saturating_mul(self.filter.channels()), ..*lines };
        Ok(PlannedLines::of_sums(filter.planned_for(shape)?, &all, self.filter.taps(), self.filter.accuracy()))
    }
}

/// Returns the algorithm for pictures. Its tiles have only one way to load the halo.
fn kernel_of(algorithm: Filter1dAlgorithm) -> Filter2dAlgorithm {
    match algorithm {
        Filter1dAlgorithm::Auto => Filter2dAlgorithm::Auto,
        Filter1dAlgorithm::Fft | Filter1dAlgorithm::TensorCore => unreachable!("they filter no pictures"),
        Filter1dAlgorithm::GlobalMemory => Filter2dAlgorithm::GlobalMemory,
        Filter1dAlgorithm::SharedTile(_) => Filter2dAlgorithm::SharedTile,
        Filter1dAlgorithm::RegisterTiled => Filter2dAlgorithm::RegisterTiled,
    }
}
