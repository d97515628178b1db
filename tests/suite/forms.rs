//! Input of every form: operations compute the same for all, and return the form that they were given.

use crate::common::{Random, equal, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::filter1d::Filter1dError;
use slm::filter2d::Filter2dError;
use slm::image::{ImageBuffer, Luma};
use slm::ndarray::{Array1, Array2, Array3, Axis, s};
use slm::{Arithmetic, Buffer, Buffer2, Device, Error, Filter1d, Filter2d, Histogram, Input, Map, Transpose};

/// Rows and columns.
const SHAPE: [usize; 2] = [5, 7];

/// Row pitch of matrices on devices.
const PITCH: usize = 9;

type Picture = ImageBuffer<Luma<f32>, Vec<f32>>;

pub(super) fn trials() -> Vec<Trial> {
    let trials = [
        on_every_backend("forms", "rows", rows),
        on_every_backend("forms", "matrices", matrices),
        on_every_backend("forms", "batches", batches),
        on_every_backend("forms", "two_inputs", two_inputs),
        on_every_backend("forms", "in_place", in_place),
        on_every_backend("forms", "slices", slices),
        on_every_backend("forms", "outputs", outputs),
        on_every_backend("forms", "unfit", unfit),
    ];
    trials.into_iter().flatten().collect()
}

fn numbers() -> Array2<f32> {
    let mut random = Random::new(44);
    Array2::from_shape_simple_fn(SHAPE, || (random.bits() % 100) as f32)
}

fn elements<T: Copy>(array: &Array2<T>) -> Vec<T> {
    array.iter().copied().collect()
}

/// Slices, vectors, arrays of a fixed length, arrays with one axis, and buffers.
fn rows(device: &Device) -> Result<(), Failed> {
    let (square, sum) = (Map::square().prepare(device)?, Filter1d::correlate(&[1.0f32, 2.0]).prepare(device)?);
    let numbers = [3.0f32, 0.0, 5.0, 1.0];
    let (vector, array) = (numbers.to_vec(), Array1::from_iter(numbers));
    let buffer = device.upload(&numbers)?;
    // By hand.
    let squares = [9.0, 0.0, 25.0, 1.0];
    let sums = [6.0, 3.0, 10.0, 7.0];
    equal(square.apply(&numbers)?, squares.to_vec())?;
    equal(square.apply(&vector)?, squares.to_vec())?;
    equal(square.apply(&vector[..])?, squares.to_vec())?;
    equal(square.apply(&array)?, Array1::from_iter(squares))?;
    let on_device: Buffer<f32> = square.apply(&buffer)?;
    equal(on_device.download()?, squares.to_vec())?;
    equal(sum.apply(&vector)?, sums.to_vec())?;
    equal(sum.along(0).apply(&array)?, Array1::from_iter(sums))?;
    equal(sum.apply(array.slice(s![..;-1]))?, Array1::from_iter([2.0, 11.0, 5.0, 6.0]))?;
    equal(sum.apply(&buffer)?.download()?, sums.to_vec())
}

/// Arrays in any order, pictures, and matrices with gaps, by each operation.
fn matrices(device: &Device) -> Result<(), Failed> {
    let numbers = numbers();
    let turned = numbers.t().as_standard_layout().into_owned();
    let picture = Picture::from_raw(SHAPE[1] as u32, SHAPE[0] as u32, elements(&numbers)).ok_or("a picture")?;
    let pitched = Buffer2::upload_pitched(device, numbers.view(), PITCH)?;

    let square = Map::square().prepare(device)?;
    let smooth = Filter1d::correlate(&[1.0f32, 2.0, 1.0]).prepare(device)?;
    let cross = Filter2d::separable(&[1.0f32, 2.0], &[1.0, 0.0, 3.0]).prepare(device)?;
    let transpose = Transpose::new(SHAPE[0], SHAPE[1]).prepare(device)?;
    let expected = numbers.mapv(|x| x * x);
    check(
        &expected,
        square.apply(&numbers)?,
        square.apply(turned.t())?,
        square.apply(&picture)?,
        square.apply(&pitched)?,
    )?;
    for filter in [smooth.along(0), smooth.along(1)] {
        let expected = filter.apply(&numbers)?;
        equal(expected.dim(), numbers.dim())?;
        let from_turned = filter.apply(turned.t())?;
        check(&expected, from_turned.clone(), from_turned, filter.apply(&picture)?, filter.apply(&pitched)?)?;
    }
    let expected = cross.apply(&numbers)?;
    check(
        &expected,
        cross.apply(numbers.view())?,
        cross.apply(turned.t())?,
        cross.apply(&picture)?,
        cross.apply(&pitched)?,
    )?;
    let from_turned = transpose.apply(turned.t())?;
    check(&turned, transpose.apply(&numbers)?, from_turned, transpose.apply(&picture)?, transpose.apply(&pitched)?)?;
    equal(transpose.apply(&elements(&numbers))?, elements(&turned))?;

    let tens = Histogram::even(10, 0.0f32..100.0).prepare(device)?;
    let counts = tens.apply(&elements(&numbers))?;
    equal(counts.total(), 35)?;
    equal(&tens.apply(turned.t())?, &counts)?;
    equal(&tens.apply(&picture)?, &counts)?;
    equal(&tens.apply(&pitched)?, &counts)
}

fn check(
    expected: &Array2<f32>,
    from_array: Array2<f32>,
    from_view: Array2<f32>,
    from_picture: Picture,
    from_matrix: Buffer2<f32>,
) -> Result<(), Failed> {
    equal(&from_array, expected)?;
    equal(&from_view, expected)?;
    let (rows, columns) = expected.dim();
    equal(from_picture.dimensions(), (columns as u32, rows as u32))?;
    equal(from_picture.into_raw(), elements(expected))?;
    equal(from_matrix.pitch(), columns)?;
    equal(&from_matrix.download()?, expected)
}

/// The pictures of an array with more axes, and of a matrix with planes.
fn batches(device: &Device) -> Result<(), Failed> {
    let numbers = numbers();
    let filter = Filter2d::box_blur(2, 3).prepare(device)?;
    let [first, second] = [filter.apply(&numbers)?, filter.apply(&(&numbers * 2.0))?];
    let batch = Array3::from_shape_fn((2, SHAPE[0], SHAPE[1]), |(i, r, c)| numbers[[r, c]] * (i + 1) as f32);
    let filtered = filter.apply(&batch)?;
    equal(filtered.slice(s![0, .., ..]), first.view())?;
    equal(filtered.slice(s![1, .., ..]), second.view())?;
    let below = batch.into_shape_with_order((2 * SHAPE[0], SHAPE[1]))?;
    let (x, mut y) = (Buffer2::upload(device, below.view())?, Buffer2::zeroed(device, 2 * SHAPE[0], SHAPE[1])?);
    filter.apply_into(x.planes(2), &mut y)?;
    let outputs = y.download()?;
    equal(outputs.slice(s![..SHAPE[0], ..]), first.view())?;
    equal(outputs.slice(s![SHAPE[0].., ..]), second.view())?;
    let planes = Filter2dError::Planes { rows: 10, planes: 3 };
    equal(filter.apply_into(x.planes(3), &mut y).err(), Some(planes.into()))?;
    equal(filter.plan([2, SHAPE[0], SHAPE[1]])?.outputs, vec![2, SHAPE[0], SHAPE[1]])
}

/// One input on the host and the other one on the device. Results have the form of the first one.
fn two_inputs(device: &Device) -> Result<(), Failed> {
    let (numbers, difference) = (numbers(), Arithmetic::sub().prepare(device)?);
    let double = &numbers * 2.0;
    let on_device = Buffer2::upload_pitched(device, double.view(), PITCH)?;
    equal(difference.apply(&numbers, &on_device)?, -&numbers)?;
    let result: Buffer2<f32> = difference.apply(&on_device, numbers.view())?;
    equal(result.download()?, numbers.clone())?;
    equal(difference.apply(&double, &on_device)?, &double * 0.0)?;
    let picture = Picture::from_raw(SHAPE[1] as u32, SHAPE[0] as u32, elements(&numbers)).ok_or("a picture")?;
    equal(difference.apply(&picture, &on_device)?.into_raw(), elements(&-&numbers))?;
    equal(difference.apply(&double, &picture)?, numbers.clone())?;
    let channels = numbers.clone().insert_axis(Axis(2));
    equal(difference.apply(&picture, &channels)?.into_raw(), vec![0.0; 35])?;

    let tens = Histogram::even(10, 0.0f32..100.0).prepare(device)?;
    let weights = elements(&numbers);
    let expected = tens.apply_weighted(&numbers, &numbers)?;
    let samples = Buffer2::upload_pitched(device, numbers.view(), PITCH)?;
    equal(&tens.apply_weighted(&samples, &weights)?.sums, &expected.sums)?;
    equal(&tens.apply_weighted(&weights, &samples)?.sums, &expected.sums)?;
    let mut sums = tens.apply_weighted(&samples, &device.upload(&weights)?)?;
    equal(&sums.sums, &expected.sums)?;
    tens.accumulate_weighted(&numbers, &samples, &mut sums)?;
    let twice: Vec<f64> = expected.sums.bins()?.iter().map(|sum| 2.0 * sum).collect();
    equal(sums.sums.bins()?.to_vec(), twice)
}

fn in_place(device: &Device) -> Result<(), Failed> {
    let numbers = numbers();
    let expected: Vec<f32> = numbers.t().iter().copied().collect();
    let transpose = Transpose::new(SHAPE[0], SHAPE[1]).prepare_in_place(device)?;
    let mut vector = elements(&numbers);
    transpose.apply(&mut vector)?;
    equal(&vector, &expected)?;
    let mut vector = elements(&numbers);
    transpose.apply(&mut vector[..])?;
    equal(&vector, &expected)?;
    let mut four = [1.0, 2.0, 3.0, 4.0];
    Transpose::new(2, 2).prepare_in_place(device)?.apply(&mut four)?;
    equal(four, [1.0, 3.0, 2.0, 4.0])?;
    let mut array = numbers.clone();
    transpose.apply(&mut array)?;
    equal(elements(&array), expected)
}

/// Parts of buffers, from a position of any alignment.
fn slices(device: &Device) -> Result<(), Failed> {
    let mut random = Random::new(45);
    let numbers: Vec<f32> = (0..300).map(|_| (random.bits() % 100) as f32).collect();
    let bytes: Vec<u8> = numbers.iter().map(|&number| number as u8).collect();
    let (x, of_bytes) = (device.upload(&numbers)?, device.upload(&bytes)?);
    let (square, sum) = (Map::square().prepare(device)?, Arithmetic::add().prepare(device)?);
    let of_lines = Filter1d::correlate(&[1.0f32, 2.0, 1.0]).prepare(device)?;
    let (transpose, in_place) = (Transpose::new(6, 10), Transpose::new(10, 6).prepare_in_place(device)?);
    let transpose = transpose.prepare(device)?;
    let tens = Histogram::even(10, 0.0f32..100.0).prepare(device)?;
    let of_values = Histogram::bytes().prepare(device)?;
    for first in [0, 1, 2, 3, 4, 7, 64, 239] {
        let (range, part) = (first..first + 60, &numbers[first..first + 60]);
        let slice = x.slice(range.clone())?;
        equal(slice.download()?, part.to_vec())?;
        equal(square.apply(slice)?.download()?, square.apply(part)?)?;
        equal(sum.apply(slice, part)?.download()?, sum.apply(part, part)?)?;
        equal(of_lines.apply(slice)?.download()?, of_lines.apply(part)?)?;
        equal(transpose.apply(slice)?.download()?, transpose.apply(part)?)?;
        equal(tens.apply(slice)?, tens.apply(part)?)?;
        equal(tens.apply_weighted(slice, slice)?, tens.apply_weighted(part, part)?)?;
        equal(of_values.apply(of_bytes.slice(range.clone())?)?, of_values.apply(&bytes[range.clone()])?)?;

        let mut y = device.upload(&numbers)?;
        let mut around = numbers.clone();
        of_lines.apply_into(slice, &mut y.slice_mut(range.clone())?)?;
        around[range.clone()].copy_from_slice(&of_lines.apply(part)?);
        equal(y.download()?, around.clone())?;
        in_place.apply(&mut y.slice_mut(range.clone())?)?;
        in_place.apply(&mut around[range.clone()])?;
        equal(y.download()?, around.clone())?;
        let mut target = y.slice_mut(1..)?;
        target.slice_mut(range.clone())?.copy_from(slice.slice(..)?)?;
        around[1 + first..][..60].copy_from_slice(part);
        equal(y.download()?, around.clone())?;
        y.slice_mut(range.clone())?.upload(&[7.0; 60])?;
        around[range].fill(7.0);
        equal(y.download()?, around)?;

        let mut counts = device.zeroed(300)?;
        tens.accumulate_into(slice, &mut counts.slice_mut(first..first + tens.counts_len())?)?;
        tens.accumulate_into(slice, &mut counts.slice_mut(first..first + tens.counts_len())?)?;
        let twice: Vec<u64> = tens.apply(part)?.bins()?.iter().map(|count| 2 * count).collect();
        equal(counts.slice(first..first + 10)?.download()?, twice)?;
        equal(counts.download()?.iter().sum::<u64>(), 120)?;
    }
    equal(square.apply(x.slice(300..)?)?.len(), 0)?;
    fails(x.slice(5..301), Error::Range { start: 5, end: 301, len: 300 })?;
    fails(x.slice(..)?.slice(301..), Error::Range { start: 301, end: 300, len: 300 })
}

/// Outputs of every form, with inputs on the host and on the device.
fn outputs(device: &Device) -> Result<(), Failed> {
    let numbers = numbers();
    let on_device = Buffer2::upload_pitched(device, numbers.view(), PITCH)?;
    let smooth = Filter1d::correlate(&[1.0f32, 2.0, 1.0]).prepare(device)?;
    let transpose = Transpose::new(SHAPE[0], SHAPE[1]).prepare(device)?;
    let (expected, turned) = (smooth.apply(&numbers)?, transpose.apply(&numbers)?);
    let mut array = Array2::zeros(SHAPE);
    smooth.apply_into(&numbers, &mut array)?;
    equal(&array, &expected)?;
    smooth.apply_into(&on_device, &mut array)?;
    equal(&array, &expected)?;
    let mut strided = Array2::zeros([SHAPE[1], SHAPE[0]]).reversed_axes();
    smooth.apply_into(&on_device, &mut strided)?;
    equal(&strided, &expected)?;
    let mut picture = Picture::new(SHAPE[1] as u32, SHAPE[0] as u32);
    smooth.apply_into(&numbers, &mut picture)?;
    equal(picture.into_raw(), elements(&expected))?;
    let mut matrix = Buffer2::zeroed_pitched(device, SHAPE[0], SHAPE[1], PITCH)?;
    smooth.apply_into(&numbers, &mut matrix)?;
    equal(matrix.download()?, expected)?;

    let (mut vector, mut pinned) = (vec![0.0; 35], device.pinned(35)?);
    transpose.apply_into(&numbers, &mut vector)?;
    transpose.apply_into(&on_device, &mut pinned)?;
    equal(&vector, &elements(&turned))?;
    equal(&pinned[..], &vector[..])?;
    transpose.apply_into(&on_device, &mut vector[..])?;
    equal(vector, elements(&turned))?;
    let mut four = [0.0; 4];
    Map::square().prepare(device)?.apply_into(&device.upload(&[1.0f32, 2.0, 3.0, 4.0])?, &mut four)?;
    equal(four, [1.0, 4.0, 9.0, 16.0])?;

    let tens = Histogram::even(10, 0.0f32..100.0).prepare(device)?;
    let once = tens.apply(&numbers)?.bins()?.to_vec();
    let mut counts = vec![u64::MAX; tens.counts_len()];
    tens.accumulate_into(&on_device, &mut counts)?;
    equal(counts[..10].iter().map(|count| count.wrapping_add(1)).collect::<Vec<_>>(), once.clone())?;
    tens.apply_into(&numbers, &mut counts)?;
    equal(&counts[..10], &once[..])?;
    equal(&counts[10..], &[0, 0, 0][..])?;
    let length = Error::Length { what: "the output", expected: 35, actual: 34 };
    fails(Map::square().prepare(device)?.apply_into(&[0.0f32; 35], &mut [0.0f32; 34]), length)
}

/// Forms and axes that an operation does not have.
fn unfit(device: &Device) -> Result<(), Failed> {
    let line = Filter1d::correlate(&[1.0f32]).prepare(device)?;
    let picture = Filter2d::<f32, f32>::box_blur(1, 1).prepare(device)?;
    let transpose = Transpose::<f32>::new(2, 3).prepare(device)?;
    let cube = Array3::<f32>::zeros((2, 3, 1));
    fails(line.apply(&cube), Filter1dError::Dimensions { dimensions: 3 })?;
    fails(line.along(1).apply(&[1.0]), Filter1dError::Axis { axis: 1, dimensions: 1 })?;
    fails(line.along(1).plan([4]), Filter1dError::Axis { axis: 1, dimensions: 1 })?;
    fails(picture.apply(&[1.0]), Filter2dError::Dimensions { dimensions: 1, needed: 2 })?;
    fails(picture.apply(&device.upload(&[1.0])?), Filter2dError::Dimensions { dimensions: 1, needed: 2 })?;
    fails(transpose.apply(&cube), Error::Axes { what: "the input", expected: vec![2, 3], actual: vec![2, 3, 1] })?;
    let sum = Arithmetic::<f32>::add().prepare(device)?;
    let axes = Error::Axes { what: "the second input", expected: vec![2, 3, 1], actual: vec![6] };
    fails(sum.apply(&cube, &[0.0; 6]), axes)?;
    fails(refused(&sum, &[1.0], &[1.0, 2.0]), Error::Length { what: "the second input", expected: 1, actual: 2 })
}

/// Generic code needs nothing but [`Input`].
fn refused<I: Input<f32>>(
    sum: &slm::pointwise::PreparedArithmetic<f32>,
    a: I,
    b: impl Input<f32>,
) -> slm::Result<I::Output> {
    sum.apply(a, b)
}

fn fails<T>(result: slm::Result<T>, expected: impl Into<Error>) -> Result<(), Failed> {
    equal(result.err(), Some(expected.into()))
}
