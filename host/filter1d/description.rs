//! What a filter is: plain data.

use super::{FilterElement, PreparedFilter1d, Taps};
use crate::{Boundary, Device, Extent, Result};
use std::sync::Arc;

/// A one-dimensional filter, described but not yet bound to a device.
///
/// See the [module](super) for what it computes.
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
    /// The samples before an output's own one that take part.
    left: usize,
    boundary: Boundary<T>,
    extent: Extent,
    algorithm: FilterAlgorithm,
}

/// How a filter is computed on a GPU. The CPU ignores this setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilterAlgorithm {
    /// The fastest one: [`RegisterTiled`](FilterAlgorithm::RegisterTiled), which takes any number of taps, in several launches
    /// if there are very many.
    #[default]
    Auto,
    /// Each thread computes one output and reads everything from global memory. Needs no shared memory, so it takes
    /// any number of taps.
    GlobalMemory,
    /// A block shares a tile of samples and its halo in shared memory; each thread computes one output at a time.
    /// To see what shared memory alone brings.
    SharedTile(HaloLoad),
    /// A tile in shared memory, and several neighbouring outputs per thread in registers: the fastest.
    RegisterTiled,
}

/// Who loads the halo of a [`SharedTile`](FilterAlgorithm::SharedTile): the `taps - 1` samples that a block needs beyond
/// its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HaloLoad {
    /// All threads of the block together.
    #[default]
    Cooperative,
    /// One thread, while the others wait: the habit that costs.
    EdgeThread,
}

impl<T: FilterElement> Filter1d<T> {
    /// `y[i] = Σ_j taps[j] · x[i + j - m / 2]`.
    #[must_use]
    pub fn correlate(taps: &[T]) -> Self {
        Self::new(taps.into(), taps.len() / 2)
    }

    /// `y[i] = Σ_j taps[j] · x[i - j + m / 2]`: as `correlate`, with the taps reversed.
    #[must_use]
    pub fn convolve(taps: &[T]) -> Self {
        Self::new(taps.iter().rev().copied().collect(), taps.len().saturating_sub(1 + taps.len() / 2))
    }

    fn new(taps: Arc<[T]>, left: usize) -> Self {
        Filter1d { taps, left, boundary: Boundary::Zero, extent: Extent::Same, algorithm: FilterAlgorithm::Auto }
    }

    /// What the signal is outside its samples; [`Boundary::Zero`] unless said otherwise.
    #[must_use]
    pub fn boundary(mut self, boundary: Boundary<T>) -> Self {
        self.boundary = boundary;
        self
    }

    /// Which outputs are wanted; [`Extent::Same`] unless said otherwise.
    #[must_use]
    pub fn extent(mut self, extent: Extent) -> Self {
        self.extent = extent;
        self
    }

    /// How it is computed; [`FilterAlgorithm::Auto`] unless said otherwise.
    #[must_use]
    pub fn algorithm(mut self, algorithm: FilterAlgorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Checks the filter and binds it to a device: loads the kernel, and uploads the taps, after the work that was
    /// enqueued before.
    ///
    /// # Errors
    ///
    /// [`FilterError::NoTaps`]; [`Error::TooLarge`] for 2^31 taps or more; [`Error::SharedMemoryExceeded`] if the algorithm asked
    /// for needs more shared memory than the device has; what [`Device::upload`] gives, and on a GPU what
    /// [`Device::kernel`] gives.
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
