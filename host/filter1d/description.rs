//! Description of a filter: plain data.

use super::{FilterElement, PreparedFilter1d, Taps};
use crate::{Boundary, Device, Extent, Result};
use std::sync::Arc;

/// A one-dimensional filter, described but not yet bound to a device.
///
/// The [module](super) has the formulas.
///
/// ```
/// use slm::{Boundary, Device, Extent, Filter1d};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// let difference = Filter1d::convolve(&[1, -1]).extent(Extent::Valid).prepare(&device)?;
/// assert_eq!(difference.apply(&[2, 3, 5, 8])?, [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Filter1d<T> {
    taps: Arc<[T]>,
    /// Number of samples before sample `i` that output `i` depends on.
    left: usize,
    boundary: Boundary<T>,
    extent: Extent,
    algorithm: FilterAlgorithm,
}

/// Kernel that computes a filter on a GPU. The CPU ignores this setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilterAlgorithm {
    /// The fastest algorithm: [`RegisterTiled`](FilterAlgorithm::RegisterTiled). It supports any number of taps, in several
    /// launches if there are very many.
    #[default]
    Auto,
    /// Each thread computes one output and reads everything from global memory. It needs no shared memory, so it supports any
    /// number of taps.
    GlobalMemory,
    /// A block keeps a tile of samples and its halo in shared memory; each thread computes one output at a time. Shows the
    /// effect of shared memory alone.
    SharedTile(HaloLoad),
    /// A tile in shared memory, and several neighbouring outputs per thread in registers. The fastest algorithm.
    RegisterTiled,
}

/// The threads that load the halo of a [`SharedTile`](FilterAlgorithm::SharedTile): the `taps - 1` samples that a block needs
/// beyond its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HaloLoad {
    /// All threads of the block together.
    #[default]
    Cooperative,
    /// One thread, while the others wait. Shows the cost of this common habit.
    EdgeThread,
}

impl<T: FilterElement> Filter1d<T> {
    /// Returns a correlation: `y[i] = Σ_j taps[j] · x[i + j - m / 2]`.
    #[must_use]
    pub fn correlate(taps: &[T]) -> Self {
        Self::new(taps.into(), taps.len() / 2)
    }

    /// Returns a convolution: `y[i] = Σ_j taps[j] · x[i - j + m / 2]`. With an even number of taps, [`Extent::Same`] differs
    /// from `np.convolve`.
    #[must_use]
    pub fn convolve(taps: &[T]) -> Self {
        Self::new(taps.iter().rev().copied().collect(), taps.len().saturating_sub(1 + taps.len() / 2))
    }

    fn new(taps: Arc<[T]>, left: usize) -> Self {
        Filter1d { taps, left, boundary: Boundary::Zero, extent: Extent::Same, algorithm: FilterAlgorithm::Auto }
    }

    /// Returns the filter with these values outside the signal. The default is [`Boundary::Zero`].
    #[must_use]
    pub fn boundary(mut self, boundary: Boundary<T>) -> Self {
        self.boundary = boundary;
        self
    }

    /// Returns the filter with this range of outputs. The default is [`Extent::Same`].
    #[must_use]
    pub fn extent(mut self, extent: Extent) -> Self {
        self.extent = extent;
        self
    }

    /// Returns the filter with this algorithm. The default is [`FilterAlgorithm::Auto`].
    #[must_use]
    pub fn algorithm(mut self, algorithm: FilterAlgorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Checks the filter and binds it to a device: loads the kernel and uploads the taps, after all work that was enqueued
    /// before. Returns the prepared filter.
    ///
    /// # Errors
    ///
    /// * [`FilterError::NoTaps`] without taps, and [`Error::TooLarge`] for 2^31 taps or more.
    /// * [`Error::SharedMemoryExceeded`] if the requested algorithm needs more shared memory than the device has.
    /// * The errors of [`Device::upload`] and, on a GPU, of [`Device::kernel`].
    pub fn prepare(&self, device: &Device) -> Result<PreparedFilter1d<T>> {
        PreparedFilter1d::new(device, self.taps(), self.algorithm)
    }

    pub(super) fn taps(&self) -> Taps<T> {
        let (border, outside) = self.boundary.border();
        Taps { taps: self.taps.clone(), left: self.left, border, outside, extent: self.extent }
    }
}

#[cfg(doc)]
use super::FilterError;
#[cfg(doc)]
use crate::Error;
