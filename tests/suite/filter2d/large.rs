//! A picture that is large and whose lengths are odd, on devices that are fast enough for it.

use super::cases::plain;
use super::missing::types;
use super::oracle::{Case, Sums, Weights};
use super::{SUITE, equal_shapes};
use crate::common::numbers::{Number, converted};
use crate::common::{Random, ensure, is_cuda, on_cuda};
use libtest_mimic::{Failed, Trial};
use ndarray::{Array2, ArrayView2};
use slm::{Boundary, Device, Filter2d, Filter2dAlgorithm, FilterSample, FilterWeight};

const SHAPE: [usize; 2] = [8191, 4097];

/// Outputs that are compared with the oracle.
const PLACES: usize = 4000;

type Test = fn(&Device) -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 4] = [
        ("large::u8_i32_i16", bytes),
        ("large::f32_f32_f32", floats),
        ("large::bands", |device| bands(device, false)),
        ("large::bands_of_products", |device| bands(device, true)),
    ];
    let trials = tests.into_iter().flat_map(|(name, test)| {
        let on_cpu = Trial::test(format!("{SUITE}::cpu::{name}"), move || test(&Device::cpu()));
        [on_cpu, on_cuda(SUITE, name, || (), test)]
    });
    trials.collect()
}

fn bytes(device: &Device) -> Result<(), Failed> {
    let case = Case { boundary: Boundary::Mirror, dilation: [1, 2], ..large("u8_i32_i16") };
    check::<u8, i32, i16>(device, &case, Boundary::Mirror, Sums::Integer)
}

fn floats(device: &Device) -> Result<(), Failed> {
    let case = Case { boundary: Boundary::Wrap, stride: [2, 1], ..large("f32_f32_f32") };
    check::<f32, f32, f32>(device, &case, Boundary::Wrap, Sums::F32)
}

/// Filters that GPUs compute in bands.
fn bands(device: &Device, is_product: bool) -> Result<(), Failed> {
    let mut case = Case { boundary: Boundary::Nearest, ..large("f32_f32_f32") };
    if is_product {
        case.weights = Weights::Separable(vec![0.5, -2.0, 1.0, 3.0, -0.25], vec![1.0, 4.0, -1.5, 0.75, 2.0]);
    }
    if is_cuda(device) {
        let algorithm = if is_product { Filter2dAlgorithm::Separable } else { Filter2dAlgorithm::Streaming };
        let plan = types("f32_f32_f32").runs.plan(device, &case, algorithm)?;
        let several = 2..SHAPE[0] as u64 / 2;
        ensure(several.contains(&plan.launches[0].grid[1]), || plan.to_string())?;
    }
    check::<f32, f32, f32>(device, &case, Boundary::Nearest, Sums::F32)
}

/// A case without its samples, which are `sample(number)`.
fn large(name: &str) -> Case {
    Case { shape: SHAPE, ..plain(types(name), 21, [0, 0], [5, 5]) }
}

/// An integer from 0 to 255.
fn sample(number: usize) -> f64 {
    f64::from((number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[1])
}

fn check<S, W, O>(device: &Device, case: &Case, boundary: Boundary<S>, sums: Sums) -> Result<(), Failed>
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
    let filter = filter.boundary(boundary).output::<O>().prepare(device)?;
    let picture = Array2::from_shape_fn(SHAPE, |(r, c)| S::of(sample(r * SHAPE[1] + c)));
    compare(&filter.apply(picture.view())?, case, sums)
}

fn compare<O: Number>(actual: &Array2<O>, case: &Case, sums: Sums) -> Result<(), Failed> {
    let outputs = case.outputs_of(sample);
    let [rows, columns] = outputs.shape();
    equal_shapes(actual.shape(), &[rows, columns])?;
    let mut random = Random::new(22);
    for place in 0..PLACES {
        // The last row and column among them.
        let [r, c] = match place % 4 {
            0 => [rows - 1, random.below(columns)],
            1 => [random.below(rows), columns - 1],
            _ => [random.below(rows), random.below(columns)],
        };
        let (actual, expected) = (actual[[r, c]].to(), outputs.expected(r * columns + c, sums));
        if !expected.agrees(actual, sums, O::KIND, outputs.count()) {
            return Err(format!("output {r}, {c} is {actual}, expected {expected:?}").into());
        }
    }
    Ok(())
}
