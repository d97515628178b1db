//! Description of a function of one sample: plain data.

use super::rule::PointwiseRule;
use super::{PointwiseElement, PointwiseError, PreparedMap};
use crate::{Device, Result};
use slm_kernels::pointwise::Function;
use std::marker::PhantomData;

/// A function of each sample, described but not yet bound to a device. `S` is the type of the samples, `O` of the outputs.
///
/// Functions are computed in the [type of the computation](super#numbers); outputs of integer types are rounded to the nearest
/// integer, ties to even, and saturate. NaN becomes 0 there.
///
/// ```
/// use slm::{Device, Map};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// assert_eq!(Map::square().prepare(&device)?.apply(&[3u8, 15, 16])?, [9, 225, 255]);
/// assert_eq!(Map::sqrt().output::<f32>().prepare(&device)?.apply(&[16u16, 2])?, [4.0, 2f32.sqrt()]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Map<S, O = S> {
    function: MapFunction,
    types: PhantomData<fn(S) -> O>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum MapFunction {
    Simple(Function),
    Clamp { lower: f64, upper: f64 },
    Gamma { exponent: f64 },
}

impl<S: PointwiseElement> Map<S> {
    fn new(function: MapFunction) -> Self {
        Map { function, types: PhantomData }
    }

    /// Returns the magnitude: `|x|`. Magnitudes of `i16` and `i32` saturate: `|-32768|` is 32767.
    #[must_use]
    pub fn abs() -> Self {
        Self::new(MapFunction::Simple(Function::Abs))
    }

    /// Returns the square: `x²`.
    #[must_use]
    pub fn square() -> Self {
        Self::new(MapFunction::Simple(Function::Square))
    }

    /// Returns the square root: `√x`, rounded once. NaN for `x < 0`.
    #[must_use]
    pub fn sqrt() -> Self {
        Self::new(MapFunction::Simple(Function::Sqrt))
    }

    /// Returns the range limit: `lower` for `x < lower`, `upper` for `x > upper`, otherwise `x`. NaN stays NaN.
    ///
    /// `lower` must not exceed `upper`, and neither may be NaN; otherwise [`prepare`](Self::prepare) fails. An infinite bound limits
    /// nothing.
    ///
    /// ```
    /// # fn main() -> slm::Result<()> {
    /// let unit = slm::Map::clamp(0.0, 1.0).prepare(&slm::Device::cpu())?;
    /// assert_eq!(unit.apply(&[-0.5, 0.25, f64::INFINITY])?, [0.0, 0.25, 1.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn clamp(lower: S, upper: S) -> Self {
        Self::new(MapFunction::Clamp { lower: lower.to_f64(), upper: upper.to_f64() })
    }

    /// Returns the power: `x^exponent`. NaN for `x < 0`, 0 for ±0.
    ///
    /// The relative error is at most 2^-40 before the rounding to the type of the computation, and the bits are the same on
    /// every device. `exponent`, rounded to the type of the computation, must be finite and larger than 0; otherwise
    /// [`prepare`](Self::prepare) fails.
    ///
    /// Samples of integer types are mostly scaled to the range from 0 to 1 first, and back. A [`Lookup`](crate::Lookup) does
    /// that in one step:
    ///
    /// ```
    /// use slm::{Device, Lookup, Map};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// assert_eq!(Map::gamma(0.5).prepare(&device)?.apply(&[0.25f32, 1.0])?, [0.5, 1.0]);
    /// let brighter = Lookup::of(|x: u8| (255.0 * (f64::from(x) / 255.0).powf(0.5)).round() as u8);
    /// assert_eq!(brighter.prepare(&device)?.apply(&[0, 64, 255])?, [0, 128, 255]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn gamma(exponent: f64) -> Self {
        Self::new(MapFunction::Gamma { exponent })
    }
}

impl<S: PointwiseElement, O: PointwiseElement> Map<S, O> {
    /// Returns the function with outputs of another type. The default is the type of the samples.
    #[must_use]
    pub fn output<P: PointwiseElement>(self) -> Map<S, P> {
        Map { function: self.function, types: PhantomData }
    }

    /// Checks the function and binds it to a device: loads the kernel. Returns the prepared function.
    ///
    /// # Errors
    ///
    /// * [`PointwiseError::Bounds`] for a range whose lower bound exceeds the upper one, or for NaN.
    /// * [`PointwiseError::Exponent`] for an exponent that is not finite and larger than 0 in the type of the computation.
    /// * On a GPU, the errors of [`Device::kernel`].
    pub fn prepare(&self, device: &Device) -> Result<PreparedMap<S, O>> {
        let rule = match self.function {
            MapFunction::Simple(function) => PointwiseRule::Function(function, [0.0; 2]),
            MapFunction::Clamp { lower, upper } if lower <= upper => {
                PointwiseRule::Function(Function::Clamp, [lower, upper])
            }
            MapFunction::Clamp { lower, upper } => return Err(PointwiseError::Bounds { lower, upper }.into()),
            MapFunction::Gamma { exponent } => PointwiseRule::power::<S, O>(exponent)?,
        };
        PreparedMap::new(device, rule)
    }
}
