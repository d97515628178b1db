//! Description of a function of two samples: plain data.

use super::{PointwiseElement, PreparedArithmetic};
use crate::{Device, Result};
use slm_kernels::pointwise::Combination;
use std::marker::PhantomData;

/// A function of two samples at the same place of two inputs, described but not yet bound to a device. `S` is the type of the
/// samples, `O` of the outputs.
///
/// Functions are computed in the [type of the computation](super#numbers). With integer outputs, sums, differences and products of
/// integers are exact unless they saturate; others are rounded to the nearest integer, ties to even, and saturate, as in OpenCV:
/// `200 + 100` is 255 for `u8`, and `100 - 200` is 0.
///
/// ```
/// use slm::{Arithmetic, Device};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// assert_eq!(Arithmetic::add().prepare(&device)?.apply(&[200u8, 1], &[100, 2])?, [255, 3]);
/// let difference = Arithmetic::sub().output::<i16>().prepare(&device)?;
/// assert_eq!(difference.apply(&[100u8, 2], &[200, 1])?, [-100, 1]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arithmetic<S, O = S> {
    combination: Combination,
    types: PhantomData<fn(S) -> O>,
}

macro_rules! combinations {
    ($($(#[$doc:meta])* $name:ident: $combination:ident;)*) => {
        impl<S: PointwiseElement> Arithmetic<S> {$(
            $(#[$doc])*
            #[must_use]
            pub fn $name() -> Self {
                Arithmetic { combination: Combination::$combination, types: PhantomData }
            }
        )*}
    };
}
combinations! {
    /// Returns the sum: `a + b`.
    add: Add;
    /// Returns the difference: `a - b`.
    sub: Sub;
    /// Returns the product: `a · b`.
    mul: Mul;
    /// Returns the quotient: `a / b`. Outputs of integer types are 0 for `0 / 0`, and the largest or smallest number for other
    /// divisions by 0.
    div: Div;
    /// Returns the smaller number. If one is NaN, this is the other one.
    min: Min;
    /// Returns the larger number. If one is NaN, this is the other one.
    max: Max;
    /// Returns the absolute difference: `|a - b|`.
    abs_diff: Difference;
    /// Returns the length of the vector `(a, b)`, such as of a gradient: `√(a² + b²)`. It is infinite if a square overflows.
    magnitude: Magnitude;
}

impl<S: PointwiseElement, O: PointwiseElement> Arithmetic<S, O> {
    /// Returns the function with outputs of another type. The default is the type of the samples.
    #[must_use]
    pub fn output<P: PointwiseElement>(self) -> Arithmetic<S, P> {
        Arithmetic { combination: self.combination, types: PhantomData }
    }

    /// Binds the function to a device: loads the kernel. Returns the prepared function.
    ///
    /// # Errors
    ///
    /// On a GPU, the errors of [`Device::kernel`].
    pub fn prepare(&self, device: &Device) -> Result<PreparedArithmetic<S, O>> {
        PreparedArithmetic::new(device, self.combination)
    }
}
