//! A picture that is large and whose lengths are odd, and many small ones, on devices that are fast enough for them.

use super::cases::plain;
use super::missing::types;
use super::oracle::{Case, Sums, Weights};
use super::{SUITE, equal_shapes};
use crate::common::numbers::{Kind, Number, converted};
use crate::common::{Random, ensure, equal, is_cuda, on_cuda};
use libtest_mimic::{Failed, Trial};
use ndarray::{ArrayD, ArrayView2};
use slm::{Boundary, Device, Filter2d, Filter2dAlgorithm, FilterSample, FilterWeight};

const SHAPE: [usize; 2] = [8191, 4097];

/// Outputs that are compared with the oracle.
const PLACES: usize = 4000;

type Test = fn(&Device) -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 5] = [
        ("large::many_planes", many_planes),
        ("large::u8_i32_i16", bytes),
        ("large::f32_f32_f32", floats),
        ("large::bands", |device| bands(device, false)),
        ("large::bands_of_products", |device| bands(device, true)),
    ];
    let on_both = tests.into_iter().flat_map(|(name, test)| {
        let on_cpu = Trial::test(format!("{SUITE}::cpu::{name}"), move || test(&Device::cpu()));
        [on_cpu, on_cuda(SUITE, name, || (), test)]
    });
    // The CPU ignores the algorithms of these.
    let others: [(&str, Test); 4] = [
        ("large::box", boxes),
        ("large::passes", passes),
        ("large::register_tiled", register_tiled),
        ("large::channels", channels),
    ];
    on_both.chain(others.map(|(name, test)| on_cuda(SUITE, name, || (), test))).collect()
}

fn bytes(device: &Device) -> Result<(), Failed> {
    let case = Case { boundary: Boundary::Mirror, dilation: [1, 2], ..large("u8_i32_i16") };
    check::<u8, i32, i16>(device, &case, Boundary::Mirror, Filter2dAlgorithm::Auto)
}

fn floats(device: &Device) -> Result<(), Failed> {
    let case = Case { boundary: Boundary::Wrap, stride: [2, 1], ..large("f32_f32_f32") };
    check::<f32, f32, f32>(device, &case, Boundary::Wrap, Filter2dAlgorithm::Auto)
}

/// Filters that GPUs compute in bands.
fn bands(device: &Device, is_product: bool) -> Result<(), Failed> {
    let mut case = Case { boundary: Boundary::Nearest, ..large("f32_f32_f32") };
    if is_product {
        case.weights = Weights::Separable(vec![0.5, -2.0, 1.0, 3.0, -0.25], vec![1.0, 4.0, -1.5, 0.75, 2.0]);
    }
    let algorithm = if is_product { Filter2dAlgorithm::Separable } else { Filter2dAlgorithm::Streaming };
    if is_cuda(device) {
        let plan = types("f32_f32_f32").runs.plan(device, &case, algorithm)?;
        let several = 2..SHAPE[0] as u64 / 2;
        ensure(several.contains(&plan.launches[0].grid[1]), || plan.to_string())?;
    }
    check::<f32, f32, f32>(device, &case, Boundary::Nearest, algorithm)
}

/// The product of a column and a row of these lengths.
fn product([rows, columns]: [usize; 2]) -> Weights {
    let weights = |count: usize| (0..count).map(|i| f64::from((i * 37 % 19) as u8) / 64.0 - 0.125).collect();
    Weights::Separable(weights(rows), weights(columns))
}

fn boxes(device: &Device) -> Result<(), Failed> {
    let weights = Weights::Separable(vec![0.25; 31], vec![0.5; 30]);
    let case = Case { boundary: Boundary::Mirror, weights, ..large("f32_f32_f32") };
    check::<f32, f32, f32>(device, &case, Boundary::Mirror, Filter2dAlgorithm::Box)
}

fn passes(device: &Device) -> Result<(), Failed> {
    let case = Case { boundary: Boundary::Reflect, weights: product([18, 12]), ..large("f32_f32_f32") };
    let plan = types("f32_f32_f32").runs.plan(device, &case, Filter2dAlgorithm::Separable)?;
    equal(&*plan.kernels().join(", "), "filter2d_passes_f32")?;
    check::<f32, f32, f32>(device, &case, Boundary::Reflect, Filter2dAlgorithm::Separable)
}

fn register_tiled(device: &Device) -> Result<(), Failed> {
    let case = Case { boundary: Boundary::Nearest, dilation: [3, 1], ..large("u8_f32_u8") };
    check::<u8, f32, u8>(device, &case, Boundary::Nearest, Filter2dAlgorithm::RegisterTiled)
}

/// An outer product in two launches.
fn channels(device: &Device) -> Result<(), Failed> {
    let case = Case { weights: product([25, 19]), channels: Some(3), ..large("u8_f32_u8") };
    let plan = types("u8_f32_u8").runs.plan(device, &case, Filter2dAlgorithm::Auto)?;
    equal(plan.launches.len(), 2)?;
    check::<u8, f32, u8>(device, &Case { boundary: Boundary::Wrap, ..case }, Boundary::Wrap, Filter2dAlgorithm::Auto)
}

/// More planes than a grid has blocks along an axis: two launches of the kernels that go down bands.
fn many_planes(device: &Device) -> Result<(), Failed> {
    let equal_weights = Weights::Separable(vec![0.5; 5], vec![0.25; 5]);
    let dense = Case { planes: 65_537, shape: [1, 1], ..plain(types("f32_f32_f32"), 22, [0, 0], [3, 3]) };
    for (weights, algorithm) in [
        (dense.weights.clone(), Filter2dAlgorithm::Streaming),
        (product([3, 3]), Filter2dAlgorithm::Separable),
        (product([4, 6]), Filter2dAlgorithm::Separable),
        (equal_weights, Filter2dAlgorithm::Box),
    ] {
        let case = Case { weights, boundary: Boundary::Nearest, ..dense.clone() };
        check::<f32, f32, f32>(device, &case, Boundary::Nearest, algorithm)?;
    }
    Ok(())
}

/// A case without its samples, which are `sample(number)`.
fn large(name: &str) -> Case {
    Case { shape: SHAPE, ..plain(types(name), 21, [0, 0], [5, 5]) }
}

/// An integer from 0 to 255.
fn sample(number: usize) -> f64 {
    f64::from((number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[1])
}

fn check<S, W, O>(
    device: &Device,
    case: &Case,
    boundary: Boundary<S>,
    algorithm: Filter2dAlgorithm,
) -> Result<(), Failed>
where
    S: FilterSample + Number,
    W: FilterWeight + Number,
    O: FilterSample + Number,
{
    let filter = match &case.weights {
        Weights::Dense([rows, columns], weights) => {
            Filter2d::<S, W>::correlate(ArrayView2::from_shape((*rows, *columns), &converted(weights))?)
        }
        Weights::Separable(column, row) => Filter2d::separable(&converted(column), &converted(row)),
    };
    let filter = filter.stride(case.stride[0], case.stride[1]).dilation(case.dilation[0], case.dilation[1]);
    let filter = filter.boundary(boundary).algorithm(algorithm).output::<O>();
    let filter = if let Some(channels) = case.channels { filter.channels(channels) } else { filter };
    let samples = (0..case.sample_count()).map(|number| S::of(sample(number))).collect();
    let picture = ArrayD::from_shape_vec(case.array_shape(case.shape), samples)?;
    compare(&filter.prepare(device)?.apply(picture.view())?, case)
}

fn compare<O: Number>(actual: &ArrayD<O>, case: &Case) -> Result<(), Failed> {
    let sums = if O::KIND == Kind::I16 { Sums::Integer } else { Sums::F32 };
    let outputs = case.outputs_of(sample);
    equal_shapes(actual.shape(), &case.array_shape(outputs.shape()))?;
    let [rows, columns] = outputs.shape();
    let (width, mut random) = (columns * case.channels(), Random::new(22));
    let rows = case.planes * rows;
    for place in 0..PLACES {
        // The last row and column among them.
        let [r, c] = match place % 4 {
            0 => [rows - 1, random.below(width)],
            1 => [random.below(rows), width - 1],
            _ => [random.below(rows), random.below(width)],
        };
        let actual = actual.as_slice().ok_or("not row after row")?[r * width + c].to();
        let expected = outputs.expected(r * width + c, sums);
        if !expected.agrees(actual, sums, O::KIND, outputs.count()) {
            return Err(format!("output {r}, {c} is {actual}, expected {expected:?}").into());
        }
    }
    Ok(())
}
