//! The type in which products are added up.

use super::element::{fits_f32, peak};
use super::mean::Mean;
use super::weights::{Values, Weights};
use super::{Filter2dError, FilterWeight};
use crate::Result;
use slm_kernels::signal::Kind;

/// Weights in the type of the sums: samples are converted to it, too.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Sums {
    I32(Weights<i32>),
    I64(Weights<i64>),
    F32(Weights<f32>),
    F64(Weights<f64>),
}

/// Evaluates an expression with the typed weights.
macro_rules! with_sums {
    ($sums:expr, $weights:ident => $result:expr) => {
        match $sums {
            Sums::I32($weights) => $result,
            Sums::I64($weights) => $result,
            Sums::F32($weights) => $result,
            Sums::F64($weights) => $result,
        }
    };
}
pub(super) use with_sums;

impl Sums {
    /// Returns the weights in the type that sums with these samples have, and the divisor of the sums, if there is one.
    pub(super) fn new<W: FilterWeight>(weights: &Weights<W>, samples: Kind, mean: Mean) -> Result<(Self, Option<f64>)> {
        Ok(match mean {
            Mean::AsGiven => (Self::as_given(weights, samples)?, None),
            Mean::InDouble => (Sums::F64(weights.converted(W::to_f64)?), None),
            Mean::Divided { by, in_double: false } => (Sums::F32(weights.converted(|_| 1.0)?), Some(by)),
            Mean::Divided { by, in_double: true } => (Sums::F64(weights.converted(|_| 1.0)?), Some(by)),
        })
    }

    fn as_given<W: FilterWeight>(weights: &Weights<W>, samples: Kind) -> Result<Self> {
        match peak(samples) {
            Some(peak) if W::IS_INTEGER => Self::of_integers(weights, peak),
            _ if W::FITS_F32 && fits_f32(samples) => Ok(Sums::F32(weights.converted(|weight| weight.to_f64() as f32)?)),
            _ => Ok(Sums::F64(weights.converted(W::to_f64)?)),
        }
    }

    /// Returns the same weights, dense.
    pub(super) fn densified(self) -> Result<Self> {
        Ok(match self {
            Sums::I32(weights) => Sums::I32(weights.densified()?),
            Sums::I64(weights) => Sums::I64(weights.densified()?),
            Sums::F32(weights) => Sums::F32(weights.densified()?),
            Sums::F64(weights) => Sums::F64(weights.densified()?),
        })
    }

    /// Returns the weights as outer products if they are, and if that saves products.
    pub(super) fn factorised(self) -> Self {
        match self {
            Sums::I32(weights) => Sums::I32(weights.factorised()),
            Sums::I64(weights) => Sums::I64(weights.factorised()),
            Sums::F32(weights) => Sums::F32(weights.factorised()),
            Sums::F64(weights) => Sums::F64(weights.factorised()),
        }
    }

    /// Returns the weights as outer products if they are.
    pub(super) fn into_product(self) -> Self {
        match self {
            Sums::I32(weights) => Sums::I32(weights.into_product()),
            Sums::I64(weights) => Sums::I64(weights.into_product()),
            Sums::F32(weights) => Sums::F32(weights.into_product()),
            Sums::F64(weights) => Sums::F64(weights.into_product()),
        }
    }

    /// Returns one row of weights as one column.
    pub(super) fn into_column(mut self) -> Self {
        with_sums!(&mut self, weights => {
            weights.shape.reverse();
            weights.left.reverse();
        });
        self
    }

    /// Returns the row and the column of an outer product, each as weights of its own, or `None` for other weights.
    pub(super) fn passes(&self) -> Option<[Self; 2]> {
        Some(match self {
            Sums::I32(weights) => weights.passes()?.map(Sums::I32),
            Sums::I64(weights) => weights.passes()?.map(Sums::I64),
            Sums::F32(weights) => weights.passes()?.map(Sums::F32),
            Sums::F64(weights) => weights.passes()?.map(Sums::F64),
        })
    }

    /// Returns the name of the type of the sums.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Sums::I32(_) => "i32",
            Sums::I64(_) => "i64",
            Sums::F32(_) => "f32",
            Sums::F64(_) => "f64",
        }
    }

    /// Returns whether the weights are an outer product.
    pub(super) fn is_separable(&self) -> bool {
        with_sums!(self, weights => matches!(weights.values, Values::Separable { .. }))
    }

    /// Returns the narrowest integers that no partial sum exceeds, for samples of magnitudes up to `peak`.
    fn of_integers<W: FilterWeight>(weights: &Weights<W>, peak: u128) -> Result<Self> {
        let magnitudes = weights.magnitudes(|weight| weight.to_f64().abs() as u128);
        let [narrow, wide] = [i32::MAX as u128 / peak, i64::MAX as u128 / peak];
        if magnitudes <= narrow {
            Ok(Sums::I32(weights.converted(|weight| weight.to_f64() as i32)?))
        } else if magnitudes <= wide {
            Ok(Sums::I64(weights.converted(|weight| weight.to_f64() as i64)?))
        } else {
            Err(Filter2dError::WeightsTooLarge { magnitudes, limit: wide }.into())
        }
    }
}
