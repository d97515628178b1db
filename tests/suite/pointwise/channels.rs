//! Interleaved channels to planes, and back, against the definition.

use super::SUITE;
use super::numbers::samples;
use crate::common::numbers::{KINDS, Kind, Number};
use crate::common::{Random, equal, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use ndarray::{Array1, Array2, Array3};
use slm::pointwise::PreparedChannels;
use slm::{Buffer2, Channels, Device, PointwiseElement};

pub(super) fn trials() -> Vec<Trial> {
    let of_kind = |kind: Kind| {
        let check = match kind {
            Kind::U8 => check::<u8>,
            Kind::U16 => check::<u16>,
            Kind::I16 => check::<i16>,
            Kind::I32 => check::<i32>,
            Kind::F32 => check::<f32>,
            Kind::F64 => check::<f64>,
        };
        on_every_backend(SUITE, &format!("channels::{kind:?}"), check)
    };
    KINDS.into_iter().flat_map(of_kind).collect()
}

/// Rows, columns and channels, and the gaps behind rows of pixels and of planes.
const PICTURES: [[usize; 5]; 8] = [
    [0, 3, 3, 0, 1],
    [3, 0, 3, 1, 0],
    [1, 1, 1, 0, 0],
    [4, 7, 3, 0, 0],
    [4, 7, 3, 5, 2],
    [3, 300, 4, 0, 1],
    [260, 2, 2, 1, 0],
    [2, 5, 19, 3, 4],
];

fn check<T: PointwiseElement + Number>(device: &Device) -> Result<(), Failed> {
    for [rows, columns, channels, pixel_gap, plane_gap] in PICTURES {
        let random = &mut Random::new((rows * columns) as u64);
        let numbers = samples(T::KIND, random, rows * columns * channels);
        // No NaN, which equals nothing.
        let number = |number: f64| T::of(if number.is_nan() { 5.0 } else { number });
        let pixels = Array3::from_shape_fn((rows, columns, channels), |(r, c, k)| {
            number(numbers[(r * columns + c) * channels + k])
        });
        let planes = Array3::from_shape_fn((channels, rows, columns), |(k, r, c)| pixels[[r, c, k]]);
        let (split, merge) = (Channels::split(channels).prepare(device)?, Channels::merge(channels).prepare(device)?);
        equal(split.apply(pixels.view())?, planes.clone())?;
        equal(merge.apply(planes.view())?, pixels.clone())?;
        if !is_slow(device) {
            // Any strides.
            equal(split.apply(planes.view().permuted_axes([1, 2, 0]))?, planes.clone())?;
        }
        single_rows(device, [&split, &merge], [&pixels, &planes])?;

        let flat = |array: &Array3<T>, shape| Array2::from_shape_vec(shape, array.iter().copied().collect());
        let pixels = flat(&pixels, (rows, columns * channels))?;
        let planes = flat(&planes, (channels * rows, columns))?;
        let [pixel_pitch, plane_pitch] = [columns * channels + pixel_gap, columns + plane_gap];
        // Gaps are neither read nor written: they have different numbers in all matrices.
        let matrix = |array: &Array2<T>, pitch, gap: f64| -> slm::Result<Buffer2<T>> {
            let (rows, columns) = array.dim();
            Buffer2::from_buffer(device.upload(&memory(array, pitch, T::of(gap)))?, rows, columns, pitch)
        };
        let none = |array: &Array2<T>| Array2::from_elem(array.dim(), T::of(1.0));
        let mut output = matrix(&none(&planes), plane_pitch, 77.0)?;
        split.apply_into(&matrix(&pixels, pixel_pitch, 55.0)?, &mut output)?;
        equal(output.into_buffer().download()?, memory(&planes, plane_pitch, T::of(77.0)))?;
        let mut back = matrix(&none(&pixels), pixel_pitch, 99.0)?;
        merge.apply_into(&matrix(&planes, plane_pitch, 33.0)?, &mut back)?;
        equal(back.into_buffer().download()?, memory(&pixels, pixel_pitch, T::of(99.0)))?;

        equal(split.apply(&pixels)?, planes.clone())?;
        equal(merge.apply(&planes)?, pixels.clone())?;
        equal(split.apply(&matrix(&pixels, pixel_pitch, 55.0)?)?.download()?, planes.clone())?;
        equal(merge.apply(&matrix(&planes, plane_pitch, 33.0)?)?.download()?, pixels.clone())?;
    }
    Ok(())
}

/// All pixels as one row, in slices, arrays with one axis and buffers.
fn single_rows<T: PointwiseElement + Number>(
    device: &Device,
    operations: [&PreparedChannels<T>; 2],
    arrays: [&Array3<T>; 2],
) -> Result<(), Failed> {
    let [pixels, planes] = arrays.map(|array| array.iter().copied().collect::<Vec<_>>());
    for (operation, input, expected) in [(operations[0], &pixels, &planes), (operations[1], &planes, &pixels)] {
        equal(&operation.apply(input)?, expected)?;
        equal(operation.apply(&Array1::from(input.clone()))?, Array1::from(expected.clone()))?;
        let input = device.upload(input)?;
        equal(&operation.apply(&input)?.download()?, expected)?;
        let mut output = device.zeroed(input.len())?;
        operation.apply_into(&input, &mut output)?;
        equal(&output.download()?, expected)?;
    }
    Ok(())
}

/// The memory of a matrix with this pitch, whose gaps have this number.
fn memory<T: Copy>(matrix: &Array2<T>, pitch: usize, gap: T) -> Vec<T> {
    let gaps = std::iter::repeat_n(gap, pitch - matrix.ncols());
    matrix.rows().into_iter().flat_map(|row| row.to_vec().into_iter().chain(gaps.clone())).collect()
}
