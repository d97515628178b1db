//! Filters whose weights are one row or one column: one-dimensional filters on the kernels for pictures.

use super::prepared::Treatment;
use super::sums::Sums;
use super::weights::{Values, Weights};
use super::window::{Problem, Window};
use super::{Filter2dAlgorithm, FilterSample, FilterWeight, PreparedFilter2d};
use crate::{Buffer, Device, Extent, Result, allocation};
use slm_kernels::signal::{Border, Kind};
use std::sync::Arc;

/// A one-dimensional filter.
#[derive(Clone, Debug)]
pub(crate) struct LineFilter<S, W> {
    /// In the order in which they meet the samples.
    pub(crate) taps: Arc<[W]>,
    /// Number of samples before sample `i` that output `i` depends on.
    pub(crate) left: usize,
    pub(crate) border: Border,
    pub(crate) outside: S,
    pub(crate) extent: Extent,
    pub(crate) algorithm: Filter2dAlgorithm,
}

impl<S: FilterSample, W: FilterWeight> LineFilter<S, W> {
    /// Returns the filter along the rows of pictures whose pixels have this number of channels.
    pub(crate) fn along_rows(&self, device: &Device, channels: usize) -> Result<PreparedFilter2d<S>> {
        self.prepare(device, [1, self.taps.len()], [0, self.left], channels)
    }

    /// Returns the filter along the columns of pictures with one channel.
    pub(crate) fn along_columns(&self, device: &Device) -> Result<PreparedFilter2d<S>> {
        self.prepare(device, [self.taps.len(), 1], [self.left, 0], 1)
    }

    fn prepare(
        &self,
        device: &Device,
        shape: [usize; 2],
        left: [usize; 2],
        channels: usize,
    ) -> Result<PreparedFilter2d<S>> {
        let weights = Weights { shape, values: Values::Dense(allocation::copied(&self.taps)?.into()), left };
        let window = Window::new(&weights, self.extent, [1, 1], [1, 1], Some(channels))?;
        let outside = (self.border, self.outside);
        let treatment = Treatment { renormalise: false, boxes: false };
        let sums = (Self::sums(&weights)?, W::NAME);
        PreparedFilter2d::with_sums(device, sums, window, outside, treatment, self.algorithm)
    }

    /// Returns the weights in the type of the sums. Sums of one-dimensional filters of `i32` wrap around.
    fn sums(weights: &Weights<W>) -> Result<Sums> {
        match S::KIND {
            Kind::I32 if W::IS_INTEGER => Ok(Sums::I32(weights.converted(|weight| weight.to_f64() as i32)?)),
            kind => Sums::new(weights, kind),
        }
    }
}

/// Pictures in buffers, for operations that have checked them.
impl<S: FilterSample> PreparedFilter2d<S> {
    /// Filters a picture of `shape` (rows, columns), in pixels, with the given row pitches of input and output. The buffers are on
    /// this device and long enough.
    pub(crate) fn run_pitched(
        &self,
        shape: [usize; 2],
        [input_pitch, output_pitch]: [usize; 2],
        samples: &Buffer<S>,
        outputs: &mut Buffer<S>,
    ) -> Result<()> {
        let problem = Problem { input_pitch, output_pitch, ..Problem::new(&self.window, 1, shape)? };
        self.run(&problem, samples, outputs)
    }

    /// Returns the outputs for a picture of `shape` (rows, columns), in pixels, whose samples have no gaps.
    pub(crate) fn run_shape_on_host(&self, shape: [usize; 2], samples: &[S]) -> Result<Vec<S>> {
        self.run_on_host(&Problem::new(&self.window, 1, shape)?, samples)
    }
}
