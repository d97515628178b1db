//! What plans say about the method, its operations and its accuracy.

use super::SUITE;
use crate::common::{equal, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::filter1d::{Accuracy, ErrorBound, Filter1dAlgorithm, Filter1dMethod, Filtering};
use slm::{Backend, Boundary, Device, Filter1d, FilterSample};

/// Half the distance between 1 and the next number of `f32` and `f64`.
const ROUNDOFF: [f64; 2] = [1.0 / (1 << 24) as f64, 1.0 / (1u64 << 53) as f64];

pub(super) fn trials() -> Vec<Trial> {
    let tests: [(&str, fn(&Device) -> Result<(), Failed>); 3] =
        [("plans::sums", sums), ("plans::points", points), ("plans::methods", methods)];
    tests.into_iter().flat_map(|(name, test)| on_every_backend(SUITE, name, test)).collect()
}

fn planned<S: FilterSample>(
    device: &Device,
    filter: &Filter1d<S, impl slm::FilterWeight>,
    samples: usize,
) -> slm::Result<Filtering> {
    Ok(filter.prepare(device)?.plan([samples])?.details)
}

/// Returns the accuracy of this number of roundings.
fn per_output(roundoff: f64, count: f64) -> Accuracy {
    Accuracy::PerOutput(count * roundoff / (1.0 - count * roundoff))
}

fn sums(device: &Device) -> Result<(), Failed> {
    let is_cpu = device.info().backend == Backend::Cpu;
    let fifth = Filter1d::correlate(&[0.2f32; 5]);
    let plan = planned(device, &fifth, 1000)?;
    equal((plan.method, plan.operations), (Filter1dMethod::Sums, 2 * 5 * 1000))?;
    equal((plan.accuracy, plan.predicted.is_none()), (per_output(ROUNDOFF[0], 5.0), is_cpu))?;
    // Two lines of five hundred samples; those of another type have sums of `f64`.
    let pairs = planned(device, &fifth.clone().channels(2), 1000)?;
    equal((pairs.operations, pairs.accuracy, pairs.predicted), (2 * 5 * 1000, plan.accuracy, None))?;
    equal(planned(device, &fifth.samples::<f64>(), 10)?.accuracy, per_output(ROUNDOFF[1], 5.0))?;
    equal(planned(device, &Filter1d::correlate(&[1; 5]), 10)?.accuracy, Accuracy::Exact)?;
    equal(planned(device, &Filter1d::correlate(&[1; 5]).samples::<u8>(), 10)?.accuracy, Accuracy::Exact)?;
    // A mean is an exact sum, and divided once. Means of bytes may be multiplied by a rounded inverse.
    equal(planned(device, &Filter1d::<i16, _>::box_blur(8), 10)?.accuracy, per_output(ROUNDOFF[0], 1.0))?;
    equal(planned(device, &Filter1d::<u8, _>::box_blur(8), 10)?.accuracy, per_output(ROUNDOFF[0], 2.0))?;
    // Taps that meet the same sample are one, and every second output is none.
    equal(planned(device, &Filter1d::correlate(&[1; 100]).boundary(Boundary::Wrap), 10)?.operations, 2 * 10 * 10)?;
    let strided = planned(device, &Filter1d::correlate(&[1; 5]).stride(2), 1000)?;
    equal((strided.operations, strided.predicted), (2 * 5 * 500, None))?;
    equal(planned(device, &Filter1d::correlate(&[1; 5]), 0)?.operations, 0)
}

/// On the CPU, short lines of the same filter have fewer points than long ones.
fn points(device: &Device) -> Result<(), Failed> {
    if device.info().backend != Backend::Cpu {
        return Ok(());
    }
    for (taps, lines) in [(128, [(200, 512), (1 << 20, 1024)]), (801, [(1000, 2048), (1 << 20, 4096)])] {
        let filter = Filter1d::correlate(&vec![0.5f32; taps]).error_bound(ErrorBound::PerSegment).prepare(device)?;
        for (samples, points) in lines {
            equal(filter.plan([samples])?.details.method, Filter1dMethod::Transforms { points })?;
            let outputs = filter.apply(&vec![1.0; samples])?;
            let expected = 0.5 * taps as f32;
            equal((outputs[samples / 2] - expected).abs() < 1e-3, true)?;
        }
    }
    Ok(())
}

fn methods(device: &Device) -> Result<(), Failed> {
    let long = Filter1d::correlate(&[0.001f32; 1001]).error_bound(ErrorBound::PerSegment);
    let plan = planned(device, &long, 1 << 20)?;
    let Filter1dMethod::Transforms { points } = plan.method else { return Err(format!("{plan:?}").into()) };
    equal(plan.accuracy, Accuracy::PerSegment(32.0 * (points as f64).log2() * ROUNDOFF[0]))?;
    let sums = planned(device, &long.clone().error_bound(ErrorBound::PerOutput), 1 << 20)?;
    equal(sums.method, Filter1dMethod::Sums)?;
    equal(10 * plan.operations < sums.operations, true)?;
    if device.info().backend == Backend::Cpu {
        return equal((plan.predicted, sums.predicted), (None, None));
    }
    equal(plan.predicted < sums.predicted, true)?;
    let tensor = Filter1d::correlate(&[1; 65]).algorithm(Filter1dAlgorithm::TensorCore);
    let tensor = planned(device, &tensor, 1 << 20)?;
    equal((tensor.method, tensor.accuracy), (Filter1dMethod::TensorCores, Accuracy::Exact))?;
    equal(tensor.operations, (20 * 65) << 20)
}
