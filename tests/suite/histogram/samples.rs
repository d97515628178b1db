//! Samples in matrices with gaps and in arrays with strides: the counts equal those of a slice.

use super::SUITE;
use super::oracle::{Case, flat};
use crate::common::{Random, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::ndarray::{Array3, ArrayView2, Axis, ShapeBuilder, s};
use slm::{Buffer2, Device, Error, Result};

/// Rows, columns and the row pitch of matrices.
const LAYOUTS: [[usize; 3]; 8] =
    [[7, 12, 12], [7, 12, 17], [1, 12, 900], [40, 3, 64], [33, 30, 31], [0, 12, 12], [3, 0, 5], [5, 0, 0]];

pub(super) fn trials() -> Vec<Trial> {
    let trials = [
        on_every_backend(SUITE, "u8::matrices", |device| matrices(device, &case())),
        on_every_backend(SUITE, "f64::matrices", |device| matrices(device, &Case::even(40, -1.0f64..2.0))),
        on_every_backend(SUITE, "u8::arrays", arrays),
    ];
    trials.into_iter().flatten().collect()
}

fn case() -> Case<u8> {
    Case { channels: 3, counted: 2, ..Case::even(40, 10..200) }
}

/// Counts matrices with and without gaps. The gaps contain numbers in the range of the bins.
fn matrices<T: super::Number>(device: &Device, case: &Case<T>) -> std::result::Result<(), Failed> {
    let histogram = case.described().prepare(device)?;
    for [rows, columns, pitch] in LAYOUTS {
        let numbers = case.samples(rows * pitch + 5, &mut Random::new(pitch as u64));
        let mut samples = Vec::new();
        for row in numbers.chunks(pitch.max(1)).take(rows) {
            samples.extend_from_slice(&row[..columns]);
        }
        let matrix = Buffer2::from_buffer(device.upload(&numbers)?, rows, columns, pitch)?;
        let expected = case.counts(&samples);
        let mut counts = device.upload(&vec![3; expected.len()])?;
        histogram.accumulate_into(&matrix, &mut counts)?;
        same(&counts.download()?, &expected.iter().map(|count| 3 + count).collect::<Vec<_>>(), [rows, columns, pitch])?;
        histogram.apply_into(&matrix, &mut counts)?;
        same(&counts.download()?, &expected, [rows, columns, pitch])?;
        // The weights have different gaps.
        let ones: Vec<f64> = expected.iter().map(|count| *count as f64).collect();
        let weight = |at: usize| if at % (columns + 2) < columns { 1.0f32 } else { 9.0 };
        let weights: Vec<f32> = (0..rows * (columns + 2)).map(weight).collect();
        let weights = Buffer2::from_buffer(device.upload(&weights)?, rows, columns, columns + 2)?;
        same(&flat(&histogram.apply_weighted(&matrix, &weights)?.sums), &ones, [rows, columns, pitch])?;
        let weights = device.upload(&vec![1.0f64; rows * columns])?;
        same(&flat(&histogram.apply_weighted(&matrix, &weights)?.sums), &ones, [rows, columns, pitch])?;
        if rows * columns > 0 {
            let other: Result<_> = histogram
                .apply_weighted(&matrix, &Buffer2::<f32>::zeroed(device, columns, rows)?)
                .map(|counts| flat(&counts.sums));
            let error = Error::Shape { what: "the weights", expected: [rows, columns], actual: [columns, rows] };
            same(&[other.err()], &[(rows != columns).then_some(error)], [rows, columns, pitch])?;
        }
    }
    Ok(())
}

/// Counts views with various strides. The last index always changes fastest, whatever the order in memory.
fn arrays(device: &Device) -> std::result::Result<(), Failed> {
    let (case, single) = (case(), Case::<u8>::even(40, 10..200));
    let numbers = case.samples(6 * 10 * 3, &mut Random::new(1));
    let picture = Array3::from_shape_vec((6, 10, 3), numbers.clone())?;
    let fortran = Array3::from_shape_vec((6, 10, 3).f(), numbers)?;
    let mut flipped = picture.view();
    flipped.invert_axis(Axis(1));
    let views = [
        picture.view(),
        picture.slice(s![1..4, ..;2, ..]),
        picture.slice(s![.., 3..3, ..]),
        fortran.view(),
        flipped,
        picture.view().permuted_axes([1, 0, 2]),
    ];
    let (histogram, histogram_of_one) = (case.described().prepare(device)?, single.described().prepare(device)?);
    for (number, view) in views.into_iter().enumerate() {
        let samples: Vec<u8> = view.iter().copied().collect();
        same(&flat(&histogram.apply(view)?), &case.counts(&samples), [number; 3])?;
        same(&flat(&histogram_of_one.apply(view)?), &single.counts(&samples), [number; 3])?;
        // Stored in another order than the samples, but paired by index.
        let weights: Vec<f32> = (0..view.len()).map(|i| (i % 7) as f32 - 2.5).collect();
        let expected = case.counted(&samples).sums(&weights);
        let mut other_order = Array3::zeros(view.raw_dim().f());
        other_order.iter_mut().zip(weights).for_each(|(to, from)| *to = from);
        let mut weighted = histogram.apply_weighted(view, other_order.view())?;
        same(&flat(&weighted.sums), &expected, [number; 3])?;
        histogram.accumulate_weighted(view, other_order.view(), &mut weighted)?;
        same(&flat(&weighted.sums), &expected.iter().map(|sum| 2.0 * sum).collect::<Vec<_>>(), [number; 3])?;
    }
    let one = ArrayView2::from_shape((2, 2), &[9u8, 10, 11, 12])?;
    same(&flat(&histogram_of_one.apply(one)?), &single.counts(&[9, 10, 11, 12]), [2; 3])
}

fn same<T: PartialEq + std::fmt::Debug>(
    actual: &[T],
    expected: &[T],
    what: [usize; 3],
) -> std::result::Result<(), Failed> {
    if actual == expected { Ok(()) } else { Err(format!("{what:?}: {actual:?}, expected {expected:?}").into()) }
}
