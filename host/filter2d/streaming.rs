//! The choice of a kernel that goes down bands of rows, for weights that are not summed as a box.

use super::Filter2dAlgorithm;
use super::banded::{BandFilter, Banded};
use super::compiled::{Compiled, Floats, Sizes};
use super::passes::Passes;
use super::rule::{Filter2d, Rule, no_kernel};
use super::sums::Sums;
use super::weights::{Values, Weights};
use crate::info::SharedMemory;
use crate::{Device, Result};
use slm_kernels::filter2d::Bytes;
use slm_kernels::signal::{Kind, Types};
use std::sync::Arc;

/// A filter, if there is a kernel for it.
type Found = Result<Option<Box<dyn Filter2d>>>;

/// Returns the filter if there is a kernel for it that the algorithm allows: that for an outer product, or else that for any weights
/// of a size.
///
/// # Errors
///
/// [`Filter2dError::NoKernel`] if the algorithm requires such a kernel.
pub(super) fn prepare(device: &Device, shared: SharedMemory, sums: &Sums, rule: Rule) -> Found {
    if !matches!(rule.algorithm, Filter2dAlgorithm::Auto | Filter2dAlgorithm::Separable | Filter2dAlgorithm::Streaming)
    {
        return Ok(None);
    }
    let found = match sums {
        Sums::F32(weights) if rule.allows_bands() => {
            let factors = factors(weights, rule.algorithm);
            // Two passes take less time than sums in registers: 8192 x 8192 samples on an H200 took 153 instead of 160 µs with
            // 7 x 7 weights, and 289 instead of 389 with 31 x 31. They also take less than kernels for all weights at once: 148
            // instead of 156 with 3 x 3 (`Streaming`), 147 instead of 240 with 1 x 9, 149 instead of 298 with 9 x 1, and 185
            // instead of 353 with 2 x 30 (`RegisterTiled`).
            match passes(device, shared, rule, factors.as_ref())? {
                None => compiled::<Floats>(device, shared, rule, (weights, factors.as_ref()))?,
                found => found,
            }
        }
        Sums::F32(weights) if rule.allows_pixels() => {
            let factors = factors(weights, rule.algorithm);
            compiled::<Bytes>(device, shared, rule, (weights, factors.as_ref()))?
        }
        _ => None,
    };
    match found {
        None if rule.algorithm == Filter2dAlgorithm::Streaming => Err(no_kernel(sums, &rule).into()),
        found => Ok(found),
    }
}

/// A column and a row whose outer product the weights are.
type Factors = [Arc<Vec<f32>>; 2];

/// Returns the factors of the weights if there are any, and the algorithm allows kernels for them.
fn factors(weights: &Weights<f32>, algorithm: Filter2dAlgorithm) -> Option<Factors> {
    let product = match algorithm {
        // All weights at once.
        Filter2dAlgorithm::Streaming => return None,
        Filter2dAlgorithm::Auto if !weights.shape.contains(&1) => weights.clone().factorised(),
        _ => weights.clone().into_product(),
    };
    match product.values {
        Values::Separable { column, row } => Some([column, row]),
        Values::Dense(_) => None,
    }
}

/// Why a kernel for products is taken.
const PRODUCT: &str = "an outer product";

/// Returns the filter by the kernel for outer products of any size.
fn passes(device: &Device, shared: SharedMemory, rule: Rule, factors: Option<&Factors>) -> Found {
    let Some([column, row]) = factors else { return Ok(None) };
    let kernel = Passes::product(device, shared, [column, row])?;
    kernel.map(|kernel| filter(device, shared, rule, kernel, PRODUCT)).transpose()
}

/// Returns the filter by a kernel that is compiled for the size of the weights.
fn compiled<F: Types>(
    device: &Device,
    shared: SharedMemory,
    rule: Rule,
    (weights, factors): (&Weights<f32>, Option<&Factors>),
) -> Found
where
    Compiled<F>: Sizes + Banded + 'static,
{
    if let Some([column, row]) = factors
        && let Some(kernel) = Compiled::<F>::product(device, [column, row])?
    {
        return filter(device, shared, rule, kernel, PRODUCT).map(Some);
    }
    if rule.algorithm == Filter2dAlgorithm::Separable {
        return Ok(None);
    }
    let reason = "weights of a size that the kernel is compiled for";
    let kernel = Compiled::<F>::dense(device, weights)?;
    kernel.map(|kernel| filter(device, shared, rule, kernel, reason)).transpose()
}

/// Returns the filter by a kernel.
fn filter(
    device: &Device,
    shared: SharedMemory,
    rule: Rule,
    kernel: impl Banded + 'static,
    reason: &'static str,
) -> Result<Box<dyn Filter2d>> {
    Ok(Box::new(BandFilter::new(device, shared, rule, kernel, reason)?))
}

impl Rule {
    /// Returns whether types, channels, steps and treatment of NaNs are those of the kernels for `f32`.
    pub(super) fn allows_bands(&self) -> bool {
        self.allows(Kind::F32, Compiled::<Floats>::CHANNELS)
    }

    /// Returns the same for the kernels for pixels of four bytes.
    fn allows_pixels(&self) -> bool {
        self.allows(Kind::U8, Compiled::<Bytes>::CHANNELS)
    }

    /// Returns whether a kernel that goes down bands, for these types and channels, has the steps and the treatment of NaNs. None
    /// divides sums.
    fn allows(&self, kind: Kind, channels: usize) -> bool {
        let Rule { window, kinds, renormalise, divisor, .. } = *self;
        let is_plain = window.has_unit_steps() && !renormalise && divisor.is_none();
        kinds == [kind; 2] && window.channels() == channels && is_plain
    }

    /// Returns the sizes of weights that `Streaming` has kernels for, with the types and channels of this rule.
    pub(super) fn streamed_sizes(&self, sums: &Sums) -> Option<&'static [usize]> {
        match sums {
            Sums::F32(_) if self.allows_bands() => Some(Compiled::<Floats>::DENSE),
            Sums::F32(_) if self.allows_pixels() => Some(Compiled::<Bytes>::DENSE),
            _ => None,
        }
    }
}
