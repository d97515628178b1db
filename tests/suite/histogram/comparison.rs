//! Algorithms for comparison, which have kernels for some samples and bins only, and counts that wrap around by every algorithm.

use super::SUITE;
use super::oracle::{ALGORITHMS, Case, Number};
use crate::common::on_every_backend;
use libtest_mimic::{Failed, Trial};
use slm::histogram::{HistogramAlgorithm, HistogramError, PreparedHistogram};
use slm::{Backend, Device, Error, Histogram};

pub(super) fn trials() -> Vec<Trial> {
    on_every_backend(SUITE, "u16::counts_wrap_around", counts_wrap_around).into()
}

/// Counts wrap around modulo 2^64, also when they are added to a user's buffer. Nothing panics.
fn counts_wrap_around(device: &Device) -> Result<(), Failed> {
    for algorithm in ALGORITHMS {
        wraps_around(&Histogram::even(2, 0u32..2).algorithm(algorithm).prepare(device)?)
            .map_err(|error| format!("u32, {algorithm:?}: {error:?}"))?;
        match Histogram::low_bits(1).algorithm(algorithm).prepare(device) {
            Ok(histogram) if is_cpu(device) || !is_for_comparison(algorithm) => {
                wraps_around(&histogram).map_err(|error| format!("u16, {algorithm:?}: {error:?}"))?;
            }
            Err(error) if !is_cpu(device) && error == no_kernel::<u16>(algorithm, false) => {}
            other => return Err(format!("{algorithm:?}: {other:?}").into()),
        }
    }
    Ok(())
}

/// Counts two zeros and a one, in a bin of each.
fn wraps_around<T: Number>(histogram: &PreparedHistogram<T>) -> Result<(), Failed> {
    let device = histogram.device();
    let mut counts = device.upload(&[u64::MAX, u64::MAX - 1, 0, 0, 7])?;
    histogram.accumulate_into(&device.upload(&[0.0, 0.0, 1.0].map(T::nearest))?, &mut counts)?;
    let counts = histogram.counts(&counts)?;
    if (counts.bins()?, counts.nan()?, counts.total()) == (&[1, u64::MAX][..], 7, u64::MAX) {
        Ok(())
    } else {
        Err(format!("{counts:?}").into())
    }
}

fn is_cpu(device: &Device) -> bool {
    device.info().backend == Backend::Cpu
}

/// Returns whether only some samples and bins have kernels of an algorithm.
fn is_for_comparison(algorithm: HistogramAlgorithm) -> bool {
    use HistogramAlgorithm::{Critical, GlobalAtomic, PrivatePerThread};
    matches!(algorithm, Critical | GlobalAtomic(_) | PrivatePerThread)
}

fn no_kernel<T: Number>(algorithm: HistogramAlgorithm, is_searched: bool) -> Error {
    HistogramError::NoKernel { algorithm, samples: T::NAME, is_searched }.into()
}

/// Returns the error for an algorithm that has no kernel for a case, by the documented types and bins. The name of the kernel that
/// `Auto` takes tells whether bins are searched, as those between edges are.
pub(super) fn missing_kernel<T: Number>(
    device: &Device,
    case: &Case<T>,
    algorithm: HistogramAlgorithm,
) -> slm::Result<Option<Error>> {
    if is_cpu(device) || !is_for_comparison(algorithm) || T::NAME == "u8" {
        return Ok(None);
    }
    let is_searched = case.described().prepare(device)?.plan([case.channels])?.kernels().join(", ").contains("_edges_");
    let is_supported = ["u32", "i32", "f32"].contains(&T::NAME) && !is_searched;
    Ok((!is_supported).then(|| no_kernel::<T>(algorithm, is_searched)))
}
