//! Filters of interleaved channels, and of types without kernels of their own, on the kernels of [`filter2d`](crate::filter2d): a
//! line is a row or a column of a picture, and the taps are one row or one column of weights. Those kernels sum in the order of the taps, too.

use super::{FilterAlgorithm, Lines, Plan, Taps};
use crate::filter2d::{Filter2dAlgorithm, LineFilter, PreparedFilter2d};
use crate::kernel::OnDemand;
use crate::{Buffer, Device, FilterSample, FilterWeight, Result};
use slm_kernels::filter1d::Orientation;

/// A filter of pictures.
pub(super) struct OnPictures<S: FilterSample> {
    device: Device,
    filter: LineFilter<S>,
    rows: PreparedFilter2d<S>,
    columns: OnDemand<PreparedFilter2d<S>>,
}

impl<S: FilterSample> OnPictures<S> {
    pub(super) fn new<W: FilterWeight>(device: &Device, taps: &Taps<S, W>, algorithm: FilterAlgorithm) -> Result<Self> {
        let &Taps { ref taps, source, border, outside, reach } = taps;
        let filter =
            LineFilter::new((taps, source), reach.left, (border, outside), reach.extent, kernel_of(algorithm))?;
        let rows = filter.along_rows(device, reach.channels)?;
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

    pub(super) fn run(&self, lines: &Lines, samples: &Buffer<S>, outputs: &mut Buffer<S>) -> Result<()> {
        let (filter, shape) = self.filter(lines)?;
        filter.run_pitched(shape, [lines.input_pitch, lines.output_pitch], samples, outputs)
    }

    pub(super) fn run_on_host(&self, lines: &Lines, samples: &[S]) -> Result<Vec<S>> {
        let (filter, shape) = self.filter(lines)?;
        filter.run_shape_on_host(shape, samples)
    }

    /// Returns the plan for filtering `lines` on a GPU.
    pub(super) fn plan(&self, algorithm: FilterAlgorithm, lines: &Lines) -> Plan {
        let plan = self.filter(lines).and_then(|(filter, shape)| filter.plan(shape));
        let (kernel, reason, launches) = match plan {
            Ok(plan) => (plan.kernel, plan.reason, plan.launches),
            Err(error) => ("none".to_owned(), error.to_string(), Vec::new()),
        };
        Plan { device: self.device.to_string(), algorithm, kernel, reason, outputs: lines.plan_outputs(), launches }
    }
}

/// Returns the algorithm for pictures. Its tiles have only one way to load the halo.
fn kernel_of(algorithm: FilterAlgorithm) -> Filter2dAlgorithm {
    match algorithm {
        FilterAlgorithm::Auto => Filter2dAlgorithm::Auto,
        FilterAlgorithm::GlobalMemory => Filter2dAlgorithm::GlobalMemory,
        FilterAlgorithm::SharedTile(_) => Filter2dAlgorithm::SharedTile,
        FilterAlgorithm::RegisterTiled => Filter2dAlgorithm::RegisterTiled,
    }
}
