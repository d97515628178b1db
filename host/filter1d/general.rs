//! Filters of interleaved channels, and of types without kernels of their own, on the kernels of [`filter2d`](crate::filter2d): a
//! line is a row or a column of a picture, and the taps are one row or one column of weights. Those kernels sum in the order of the taps, too.

use super::element::OnDevice;
use super::{FilterAlgorithm, Lines, Plan, Taps};
use crate::filter2d::{Filter2dAlgorithm, LineFilter, PreparedFilter2d};
use crate::kernel::OnDemand;
use crate::{Buffer, Device, FilterSample, FilterWeight, Result};
use slm_kernels::filter1d::Orientation;

/// A filter of pictures.
pub(super) struct Filter1d<S: FilterSample, W> {
    device: Device,
    filter: LineFilter<S, W>,
    rows: PreparedFilter2d<S>,
    columns: OnDemand<PreparedFilter2d<S>>,
    algorithm: FilterAlgorithm,
}

impl<S: FilterSample, W: FilterWeight> Filter1d<S, W> {
    pub(super) fn new(device: &Device, taps: &Taps<S, W>, algorithm: FilterAlgorithm) -> Result<Self> {
        let Taps { taps, border, outside, reach } = taps.clone();
        let filter = LineFilter {
            taps,
            left: reach.left,
            border,
            outside,
            extent: reach.extent,
            algorithm: kernel_of(algorithm),
        };
        let rows = filter.along_rows(device, reach.channels)?;
        Ok(Filter1d { device: device.clone(), filter, rows, columns: OnDemand::default(), algorithm })
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
}

impl<S: FilterSample, W: FilterWeight> OnDevice<S> for Filter1d<S, W> {
    fn run(&self, lines: &Lines, samples: &Buffer<S>, outputs: &mut Buffer<S>) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let (filter, shape) = self.filter(lines)?;
        filter.run_pitched(shape, [lines.input_pitch, lines.output_pitch], samples, outputs)
    }

    fn run_on_host(&self, lines: &Lines, samples: &[S], _len: usize) -> Result<Vec<S>> {
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        let (filter, shape) = self.filter(lines)?;
        filter.run_shape_on_host(shape, samples)
    }

    fn plan(&self, device: &Device, lines: &Lines) -> Plan {
        if device.info().shared_memory.is_none() {
            return Plan::cpu(device, self.algorithm, lines);
        }
        let plan = self.filter(lines).and_then(|(filter, shape)| filter.plan(shape));
        let (kernel, reason, launches) = match plan {
            Ok(plan) => (plan.kernel, plan.reason, plan.launches),
            Err(error) => ("none".to_owned(), error.to_string(), Vec::new()),
        };
        let outputs = lines.plan_outputs();
        Plan { device: device.to_string(), algorithm: self.algorithm, kernel, reason, outputs, launches }
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
