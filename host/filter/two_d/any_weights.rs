//! Weights in the type of the sums, which is known at run time only.

use super::element::{fits_f32, peak};
use super::mean::Mean;
use super::weights::Weights;
use super::{Filter2dError, FilterWeight};
use crate::Result;
use slm_kernels::signal::Kind;

/// Weights in the type in which products are added up: samples are converted to it, too.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum AnyWeights {
    I32(Weights<i32>),
    I64(Weights<i64>),
    F32(Weights<f32>),
    F64(Weights<f64>),
}

/// Evaluates an expression with the typed weights.
macro_rules! with_weights {
    ($any:expr, $weights:ident => $result:expr) => {
        match $any {
            AnyWeights::I32($weights) => $result,
            AnyWeights::I64($weights) => $result,
            AnyWeights::F32($weights) => $result,
            AnyWeights::F64($weights) => $result,
        }
    };
}
pub(super) use with_weights;

/// Evaluates an expression with the typed weights, and returns the optional weights of the same type that it makes.
macro_rules! map_weights {
    ($any:expr, $weights:ident => $result:expr) => {
        match $any {
            AnyWeights::I32($weights) => $result.map(AnyWeights::I32),
            AnyWeights::I64($weights) => $result.map(AnyWeights::I64),
            AnyWeights::F32($weights) => $result.map(AnyWeights::F32),
            AnyWeights::F64($weights) => $result.map(AnyWeights::F64),
        }
    };
}
pub(super) use map_weights;

impl AnyWeights {
    /// Returns the weights in the type that sums with these samples have, and the divisor of the sums, if there is one.
    pub(super) fn new<W: FilterWeight>(weights: &Weights<W>, samples: Kind, mean: Mean) -> Result<(Self, Option<f64>)> {
        Ok(match mean {
            Mean::AsGiven => (Self::as_given(weights, samples)?, None),
            Mean::InDouble => (AnyWeights::F64(weights.converted(W::to_f64)?), None),
            Mean::Divided { by, in_double: false } => (AnyWeights::F32(weights.converted(|_| 1.0)?), Some(by)),
            Mean::Divided { by, in_double: true } => (AnyWeights::F64(weights.converted(|_| 1.0)?), Some(by)),
        })
    }

    fn as_given<W: FilterWeight>(weights: &Weights<W>, samples: Kind) -> Result<Self> {
        match peak(samples) {
            Some(peak) if W::IS_INTEGER => Self::of_integers(weights, peak),
            _ if W::FITS_F32 && fits_f32(samples) => {
                Ok(AnyWeights::F32(weights.converted(|weight| weight.to_f64() as f32)?))
            }
            _ => Ok(AnyWeights::F64(weights.converted(W::to_f64)?)),
        }
    }

    /// Returns the narrowest integers that no partial sum exceeds, for samples of magnitudes up to `peak`.
    fn of_integers<W: FilterWeight>(weights: &Weights<W>, peak: u128) -> Result<Self> {
        let magnitudes = weights.magnitudes(|weight| weight.to_f64().abs() as u128);
        let [narrow, wide] = [i32::MAX as u128 / peak, i64::MAX as u128 / peak];
        if magnitudes <= narrow {
            Ok(AnyWeights::I32(weights.converted(|weight| weight.to_f64() as i32)?))
        } else if magnitudes <= wide {
            Ok(AnyWeights::I64(weights.converted(|weight| weight.to_f64() as i64)?))
        } else {
            Err(Filter2dError::WeightsTooLarge { magnitudes, limit: wide }.into())
        }
    }

    /// Returns the same weights, dense.
    pub(super) fn densified(&self) -> Result<Self> {
        map_weights!(self, weights => weights.densified())
    }

    /// Returns one row of weights as one column.
    pub(super) fn into_column(mut self) -> Self {
        with_weights!(&mut self, weights => {
            weights.shape.reverse();
            weights.left.reverse();
        });
        self
    }

    /// Returns the type of the sums if filters of lines have it.
    pub(super) fn kind_of_lines(&self) -> Option<Kind> {
        match self {
            AnyWeights::F32(_) => Some(Kind::F32),
            AnyWeights::F64(_) => Some(Kind::F64),
            AnyWeights::I32(_) => Some(Kind::I32),
            AnyWeights::I64(_) => None,
        }
    }

    /// Returns the weights as the outer product of a column and a row, or `None` if they are not one.
    pub(super) fn product(&self) -> Option<Self> {
        map_weights!(self, weights => weights.product())
    }

    /// Returns the row and the column of an outer product, each as weights of its own, or `None` for dense weights.
    pub(super) fn passes(&self) -> Option<[Self; 2]> {
        Some(match self {
            AnyWeights::I32(weights) => weights.passes()?.map(AnyWeights::I32),
            AnyWeights::I64(weights) => weights.passes()?.map(AnyWeights::I64),
            AnyWeights::F32(weights) => weights.passes()?.map(AnyWeights::F32),
            AnyWeights::F64(weights) => weights.passes()?.map(AnyWeights::F64),
        })
    }

    /// Returns whether all weights are equal, and finite.
    pub(super) fn are_equal(&self) -> bool {
        with_weights!(self, weights => weights.are_equal())
    }

    /// Returns whether the weights are stored as an outer product.
    pub(super) fn is_product(&self) -> bool {
        with_weights!(self, weights => weights.is_product())
    }

    /// Returns the number of rows and columns.
    pub(super) fn shape(&self) -> [usize; 2] {
        with_weights!(self, weights => weights.shape)
    }

    /// Returns the name of the type of the sums.
    pub(super) fn name(&self) -> &'static str {
        match self {
            AnyWeights::I32(_) => "i32",
            AnyWeights::I64(_) => "i64",
            AnyWeights::F32(_) => "f32",
            AnyWeights::F64(_) => "f64",
        }
    }
}
