//! What plans say: the method, its operations, and the bound of the errors.

use super::SUITE;
use crate::common::{ensure, equal, on_every_backend};
use libtest_mimic::{Failed, Trial};
use ndarray::{Array2, array};
use slm::filter1d::{Accuracy, ErrorBound, Filter1dMethod};
use slm::filter2d::{Filter2dMethod, Filtering};
use slm::{Backend, Boundary, Device, Filter2d, FilterSample, FilterWeight, NanPolicy};

const SHAPE: [usize; 2] = [100, 200];
const OUTPUTS: u64 = 100 * 200;

pub(super) fn trials() -> Vec<Trial> {
    let tests: [(&str, fn(&Device) -> Result<(), Failed>); 4] = [
        ("plans::of_sums", of_sums),
        ("plans::of_lines", of_lines),
        ("plans::of_small_pictures", of_small_pictures),
        ("plans::of_no_picture", of_no_picture),
    ];
    tests.into_iter().flat_map(|(name, test)| on_every_backend(SUITE, name, test)).collect()
}

fn planned<S: FilterSample, W: FilterWeight>(
    device: &Device,
    filter: Filter2d<S, W, S>,
    shape: [usize; 2],
) -> slm::Result<Filtering> {
    Ok(filter.prepare(device)?.plan(shape)?.details)
}

/// Returns the bound for this number of roundings of half a distance of `2^bits`.
fn per_output(roundings: f64, bits: i32) -> Accuracy {
    let error = roundings * 2f64.powi(bits);
    Accuracy::PerOutput(error / (1.0 - error))
}

fn of_sums(device: &Device) -> Result<(), Failed> {
    let facts = |details: Filtering| (details.method, details.operations, details.accuracy);
    let cross = array![[0.0f32, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]];
    let products = (Filter2dMethod::Products, 18 * OUTPUTS, per_output(9.0, -24));
    equal(facts(planned(device, Filter2d::<f32, f32>::correlate(&cross), SHAPE)?), products)?;
    let missing = Filter2d::<f32, f32>::correlate(&cross).nan_policy(NanPolicy::Renormalise);
    equal(facts(planned(device, missing, SHAPE)?), products)?;
    let doubles = Filter2d::<f64, f64>::correlate(&cross.mapv(f64::from));
    equal(planned(device, doubles, SHAPE)?.accuracy, per_output(9.0, -53))?;

    let product = Filter2d::<f32, f32>::separable(&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.0, 3.0, 1.0]);
    let passes = (Filter2dMethod::Passes, 16 * OUTPUTS, per_output(31.0, -24));
    equal(facts(planned(device, product, SHAPE)?), passes)?;

    let integers = Filter2d::<i32, i32>::correlate(&array![[1, 2], [3, 4]]);
    equal(facts(planned(device, integers, SHAPE)?), (Filter2dMethod::Products, 8 * OUTPUTS, Accuracy::Exact))?;

    // Sums of bytes are exact, and divided, or multiplied by an inverse. A box of floats is an outer product.
    let segments = |accuracy| (Filter2dMethod::Segments, 7 * OUTPUTS, accuracy);
    let bytes = Filter2d::<u8, f32>::box_blur(31, 31);
    equal(facts(planned(device, bytes, SHAPE)?), segments(per_output(2.0, -24)))?;
    let floats = Filter2d::<f32, f32>::box_blur(31, 31);
    equal(facts(planned(device, floats, SHAPE)?), segments(per_output(977.0, -24)))
}

fn of_lines(device: &Device) -> Result<(), Failed> {
    let is_cpu = device.info().backend == Backend::Cpu;
    // GPUs take transforms for long lines only.
    let shape = if is_cpu { [500, 400] } else { [8192, 8192] };
    let blur = || Filter2d::<f32, f32>::gaussian(60.0);
    let sums = planned(device, blur(), shape)?;
    let is_expected = match sums.method {
        Filter2dMethod::Passes => is_cpu,
        Filter2dMethod::Lines { down_columns, along_rows } => {
            !is_cpu && [down_columns, along_rows] == [Filter1dMethod::Sums; 2]
        }
        _ => false,
    };
    ensure(is_expected, || format!("{sums:?}"))?;
    equal(sums.operations, (shape[0] * shape[1] * 481 * 2 * 2) as u64)?;
    equal(sums.accuracy, per_output((481 * 481 + 16) as f64, -24))?;

    let plan = blur().error_bound(ErrorBound::PerSegment).prepare(device)?.plan(shape)?;
    let Filter2dMethod::Lines { down_columns, along_rows } = plan.details.method else {
        return Err(format!("{plan}").into());
    };
    let is_transformed = |method| matches!(method, Filter1dMethod::Transforms { points: 1024.. });
    ensure(is_transformed(down_columns) && is_transformed(along_rows), || format!("{plan}"))?;
    ensure(plan.details.operations < sums.operations / 4, || format!("{plan}"))?;
    let Accuracy::PerSegment(factor) = plan.details.accuracy else { return Err(format!("{plan}").into()) };
    // Twice 32 log2(N) roundings for N points.
    ensure((640.0..=858.0).contains(&(factor * 2f64.powi(24))), || format!("{factor:e}"))?;
    let text = plan.to_string();
    let has = |line: &str| text.lines().any(|other| other.starts_with(line));
    ensure(has("method     lines: transforms of ") && has("errors     at most "), || text.clone())
}

/// Weights that meet the same samples are added up, and the bound is that of all weights.
fn of_small_pictures(device: &Device) -> Result<(), Failed> {
    let blur = Filter2d::<f32, f32>::gaussian(60.0).boundary(Boundary::Reflect);
    let details = planned(device, blur, [20, 3000])?;
    ensure(details.operations <= 20 * 3000 * (41 + 481) * 2, || format!("{details:?}"))?;
    equal(details.accuracy, per_output((481 * 481 + 16) as f64, -24))
}

/// Without a picture there are no operations, and the method is that of small pictures.
fn of_no_picture(device: &Device) -> Result<(), Failed> {
    let dense = Array2::from_shape_fn((5, 4), |(row, column)| (row * row + column) as f32);
    let products = planned(device, Filter2d::<f32, f32>::correlate(&dense), [0, 9])?;
    equal((products.method, products.operations), (Filter2dMethod::Products, 0))?;
    let blur = Filter2d::<f32, f32>::gaussian(60.0).error_bound(ErrorBound::PerSegment);
    let passes = planned(device, blur, [0, 9])?;
    equal((passes.method, passes.operations), (Filter2dMethod::Passes, 0))
}
