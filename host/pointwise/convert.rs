//! Description of a conversion: plain data.

use super::rule::{PointwiseRule, UNCHANGED};
use super::{PointwiseElement, PreparedMap};
use crate::{Device, Result};
use std::marker::PhantomData;

/// A conversion of samples of type `S` to outputs of type `O`: `y = scale · x + offset`, described but not yet bound to a
/// device.
///
/// Outputs of integer types are rounded to the nearest integer, ties to even, and saturate. The [module](super) has the
/// rules for all types.
///
/// ```
/// use slm::{Convert, Device};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// let to_bytes = Convert::<f32, u8>::new().scale(255.0).prepare(&device)?;
/// assert_eq!(to_bytes.apply(&[-1.0, 0.0, 0.5, 1.0, 2.0])?, [0, 0, 128, 255, 255]);
/// let inverted = Convert::<u8, u8>::new().scale(-1.0).offset(255.0).prepare(&device)?;
/// assert_eq!(inverted.apply(&[0, 100, 255])?, [255, 155, 0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convert<S, O> {
    scale: f64,
    offset: f64,
    types: PhantomData<fn(S) -> O>,
}

impl<S: PointwiseElement, O: PointwiseElement> Default for Convert<S, O> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: PointwiseElement, O: PointwiseElement> Convert<S, O> {
    /// Returns the conversion without scale and offset: numbers that `O` can represent keep their values.
    #[must_use]
    pub fn new() -> Self {
        let [scale, offset] = UNCHANGED;
        Convert { scale, offset, types: PhantomData }
    }

    /// Returns the conversion that multiplies samples by this factor. The default is 1.
    ///
    /// The factor, rounded to the [type of the computation](super#numbers), must be finite; otherwise [`prepare`](Self::prepare)
    /// fails.
    ///
    /// ```
    /// use slm::{Convert, Device};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let large = Convert::<f64, f64>::new().scale(1e39).prepare(&device)?;
    /// assert_eq!(large.apply(&[1.0, -1e300])?, [1e39, f64::NEG_INFINITY]);
    /// assert!(Convert::<f32, f32>::new().scale(1e39).prepare(&device).is_err()); // infinite in `f32`
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn scale(mut self, scale: f64) -> Self {
        self.scale = scale;
        self
    }

    /// Returns the conversion that adds this number after the multiplication; otherwise as [`scale`](Self::scale). The default is 0.
    #[must_use]
    pub fn offset(mut self, offset: f64) -> Self {
        self.offset = offset;
        self
    }

    /// Checks the conversion and binds it to a device: loads the kernel. Returns the prepared conversion.
    ///
    /// # Errors
    ///
    /// * [`PointwiseError::NotFinite`] for a scale or an offset that is not finite in the type of the computation.
    /// * On a GPU, the errors of [`Device::kernel`].
    pub fn prepare(&self, device: &Device) -> Result<PreparedMap<S, O>> {
        PreparedMap::new(device, PointwiseRule::affine::<S, O>(self.scale, self.offset)?)
    }
}

#[cfg(doc)]
use super::PointwiseError;
