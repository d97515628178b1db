//! Functions of one sample in the form that CPU and GPU code use.

use super::{PointwiseElement, PointwiseError};
use crate::Result;
use crate::element::any::{AnyVec, fits_f32};
use slm_kernels::pointwise::Function;
use slm_kernels::signal::Kind;

/// A function of one sample.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PointwiseRule {
    /// A function with its parameters.
    Function(Function, [f64; 2]),
    /// A power with its exponent.
    Power(f64),
    /// A table with an entry for each value of the samples.
    Table(AnyVec),
    /// The edges of a table, and its entries: below, between each two edges, above, NaN.
    Between(Vec<f64>, AnyVec),
}

/// The scale and the offset of a conversion that keeps values. An offset of -0 keeps the signs of zeros: the sum of -0 and -0 is -0.
pub(super) const UNCHANGED: [f64; 2] = [1.0, -0.0];

impl PointwiseRule {
    /// Returns a multiplication and an addition with finite numbers, or an error.
    pub(super) fn affine<S: PointwiseElement, O: PointwiseElement>(scale: f64, offset: f64) -> Result<Self> {
        for (what, value) in [("scale", scale), ("offset", offset)] {
            let (rounded, kind) = parameter::<S, O>(value);
            if !rounded.is_finite() {
                return Err(PointwiseError::NotFinite { what, value, kind }.into());
            }
        }
        Ok(PointwiseRule::Function(Function::Affine, [scale, offset]))
    }

    /// Returns a power with a valid exponent, or an error.
    pub(super) fn power<S: PointwiseElement, O: PointwiseElement>(exponent: f64) -> Result<Self> {
        let (rounded, kind) = parameter::<S, O>(exponent);
        if !(rounded > 0.0 && rounded.is_finite()) {
            return Err(PointwiseError::Exponent { exponent, kind }.into());
        }
        Ok(PointwiseRule::Power(rounded))
    }
}

/// Returns a parameter rounded to the type of the computation, and the name of this type.
fn parameter<S: PointwiseElement, O: PointwiseElement>(value: f64) -> (f64, &'static str) {
    match is_f32(&[S::KIND, O::KIND]) {
        true => ((value as f32).into(), Kind::F32.name()),
        false => (value, Kind::F64.name()),
    }
}

/// Returns whether computations with these types of samples and outputs are in `f32`. Others are in `f64`.
pub(super) fn is_f32(kinds: &[Kind]) -> bool {
    kinds.iter().all(|&kind| fits_f32(kind))
}
