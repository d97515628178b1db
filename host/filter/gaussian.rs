//! Gaussians along one axis and along two. Weights are computed in double precision and rounded once.

use crate::cpu::allocation;
use crate::filter::generated::OutOfRange;
use crate::{Error, FilterWeight, Result};

/// Distance, in standard deviations, at which a Gaussian is cut off by default.
const TRUNCATE: f64 = 4.0;

/// Maximum standard deviation.
const MAX_SIGMA: f64 = 1_048_576.0;

/// Maximum radius: that of the maximum standard deviation.
const MAX_RADIUS: f64 = TRUNCATE * MAX_SIGMA;

/// A Gaussian along one axis, for [`Filter1d::gaussian`](crate::Filter1d::gaussian): the `2 r + 1` weights
/// `exp(-d² / (2 · sigma²))`, divided by their sum, for the distances `d` from `-r` to `r`.
///
/// The radius `r` is `4 · sigma`, rounded to the nearest integer, unless [`truncate`](Self::truncate) or [`radius`](Self::radius)
/// sets another one. The weights are those of SciPy's `gaussian_filter1d`. A `sigma` of 0 makes the central weight 1 and all others 0.
///
/// A number, `f32` or `f64`, converts to the Gaussian with this standard deviation.
///
/// ```
/// use slm::{Filter1d, Gaussian};
///
/// # fn main() -> slm::Result<()> {
/// let len = |gaussian: Gaussian| Ok::<_, slm::Error>(Filter1d::<f32>::gaussian(gaussian).taps()?.len());
/// assert_eq!(len(2.0.into())?, 17);
/// assert_eq!(len(Gaussian::new(2.0).truncate(3.0))?, 13);
/// assert_eq!(len(Gaussian::new(2.0).radius(1))?, 3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaussian {
    sigma: f64,
    end: End,
}

/// Where a Gaussian is cut off.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// In standard deviations.
    Truncate(f64),
    /// In samples.
    Radius(usize),
}

impl Gaussian {
    /// Returns the Gaussian with this standard deviation, in samples: from 0 to 2^20.
    #[must_use]
    pub fn new(sigma: f64) -> Self {
        Gaussian { sigma, end: End::Truncate(TRUNCATE) }
    }

    /// Returns the Gaussian that is cut off at this number of standard deviations: the radius is `sigmas · sigma`, rounded to the
    /// nearest integer. It must be finite and at least 0, and the radius at most 2^22. The default is 4.
    #[must_use]
    pub fn truncate(mut self, sigmas: f64) -> Self {
        self.end = End::Truncate(sigmas);
        self
    }

    /// Returns the Gaussian with this radius, in samples: at most 2^22. It takes the place of [`truncate`](Self::truncate).
    #[must_use]
    pub fn radius(mut self, samples: usize) -> Self {
        self.end = End::Radius(samples);
        self
    }

    /// Returns the weights, or an error of the operation, `E`.
    pub(crate) fn weights<W: FilterWeight, E: From<OutOfRange> + Into<Error>>(self) -> Result<Vec<W>> {
        self.check_sigma("from 0 to 2^20", MAX_SIGMA).map_err(|error| E::from(error).into())?;
        let weights = self.normalised::<E>("from 0 to 2^22", MAX_RADIUS)?;
        allocation::collected(weights.into_iter().map(W::of_f64))
    }

    /// Returns an error if the standard deviation is not within `range`, whose end is `most`.
    pub(crate) fn check_sigma(self, range: &'static str, most: f64) -> std::result::Result<(), OutOfRange> {
        let value = self.sigma;
        let is_valid = (0.0..=most).contains(&value);
        if is_valid { Ok(()) } else { Err(OutOfRange { what: "sigma", range, value }) }
    }

    /// Returns the weights in double precision, or an error if the radius is not within `range`, whose end is `most`. The standard
    /// deviation is valid.
    pub(crate) fn normalised<E: From<OutOfRange> + Into<Error>>(
        self,
        range: &'static str,
        most: f64,
    ) -> Result<Vec<f64>> {
        let radius = self.radius_within(range, most).map_err(|error| E::from(error).into())?;
        // The central weight is 1 for a sigma of 0, too.
        let weight = |d: i64| if d == 0 { 1.0 } else { (-0.5 * (d as f64 / self.sigma).powi(2)).exp() };
        let mut weights =
            allocation::collected((0..2 * radius as usize + 1).map(|place| weight(place as i64 - radius)))?;
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        Ok(weights)
    }

    fn radius_within(self, range: &'static str, most: f64) -> std::result::Result<i64, OutOfRange> {
        let radius = self.rounded_radius()?;
        if radius > most {
            return Err(OutOfRange { what: "the radius of a Gaussian", range, value: radius });
        }
        Ok(radius as i64)
    }

    fn rounded_radius(self) -> std::result::Result<f64, OutOfRange> {
        match self.end {
            End::Radius(samples) => Ok(samples as f64),
            End::Truncate(sigmas) if sigmas.is_finite() && sigmas >= 0.0 => Ok((sigmas * self.sigma).round()),
            End::Truncate(value) => {
                Err(OutOfRange { what: "the truncation of a Gaussian", range: "finite and at least 0", value })
            }
        }
    }
}

macro_rules! from_sigma {
    ($($number:ident)*) => {$(
        impl From<$number> for Gaussian {
            fn from(sigma: $number) -> Self {
                Gaussian::new(sigma.into())
            }
        }

        impl From<$number> for Gaussian2d {
            fn from(sigma: $number) -> Self {
                Gaussian2d::from([sigma; 2])
            }
        }
    )*};
}
from_sigma!(f32 f64);

/// A Gaussian along each axis of a picture, for [`Filter2d::gaussian`](crate::Filter2d::gaussian) and
/// [`unsharp`](crate::Filter2d::unsharp).
///
/// | converts to it | meaning |
/// |---|---|
/// | `2.0`, of type `f32` or `f64` | the standard deviation along both axes |
/// | `[1.0, 3.0]` | standard deviations down the columns and along the rows, as SciPy's `sigma=(1, 3)` |
/// | a [`Gaussian`] | the same one along both axes |
/// | two of them in an array | down the columns, and along the rows |
///
/// ```
/// use slm::{Filter2d, Gaussian};
///
/// # fn main() -> slm::Result<()> {
/// let blur = Filter2d::<f32, _>::gaussian([1.0, 3.0]);
/// assert_eq!(blur.weights()?.dim(), (9, 25));
/// let cut = Filter2d::<f32, _>::gaussian([Gaussian::new(1.0).radius(2), Gaussian::new(3.0).truncate(2.0)]);
/// assert_eq!(cut.weights()?.dim(), (5, 13));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaussian2d {
    /// Down the columns: its radius is in rows.
    pub rows: Gaussian,
    /// Along the rows: its radius is in columns.
    pub columns: Gaussian,
}

impl<G: Into<Gaussian>> From<[G; 2]> for Gaussian2d {
    fn from([rows, columns]: [G; 2]) -> Self {
        Gaussian2d { rows: rows.into(), columns: columns.into() }
    }
}

impl From<Gaussian> for Gaussian2d {
    fn from(both: Gaussian) -> Self {
        Gaussian2d::from([both; 2])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter1d::Filter1dError;

    #[test]
    fn numbers_are_standard_deviations() {
        assert_eq!([Gaussian::from(0.1f32), Gaussian::from(0.1)], [Gaussian::new(0.1f32.into()), Gaussian::new(0.1)]);
        assert_eq!(Gaussian2d::from([1.5f32, 2.0]), [1.5, 2.0].into());
        assert_eq!(Gaussian2d::from(1.5f32), Gaussian::new(1.5).into());
    }

    #[test]
    fn gaussians_sum_to_one_and_are_symmetric() {
        for sigma in [0.0, 0.1, 0.5, 1.0, 4.0, 10.25] {
            let weights: Vec<f64> = Gaussian::new(sigma).weights::<_, Filter1dError>().expect("a valid sigma");
            assert_eq!(weights.len() % 2, 1);
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-15);
            assert!(weights.iter().eq(weights.iter().rev()));
        }
    }
}
