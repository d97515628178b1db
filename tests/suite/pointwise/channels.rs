//! Interleaved channels to planes, and back, against the definition.

use super::SUITE;
use super::numbers::samples;
use crate::common::numbers::{KINDS, Kind, Number};
use crate::common::{Random, equal, is_emulated, on_every_backend};
use libtest_mimic::{Failed, Trial};
use ndarray::{Array2, Array3};
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
        equal(split.apply_array(pixels.view())?, planes.clone())?;
        equal(merge.apply_array(planes.view())?, pixels.clone())?;
        if !is_emulated(device) {
            // Any strides.
            equal(split.apply_array(planes.view().permuted_axes([1, 2, 0]))?, planes.clone())?;
        }

        let flat = |array: &Array3<T>, shape| Array2::from_shape_vec(shape, array.iter().copied().collect());
        let pixels = flat(&pixels, (rows, columns * channels))?;
        let planes = flat(&planes, (channels * rows, columns))?;
        let [pixel_pitch, plane_pitch] = [columns * channels + pixel_gap, columns + plane_gap];
        let on_device = Buffer2::upload_pitched(device, pixels.view(), pixel_pitch)?;
        let mut output = Buffer2::zeroed_pitched(device, channels * rows, columns, plane_pitch)?;
        split.apply_matrix_into(&on_device, &mut output)?;
        equal(output.download()?, planes)?;
        let mut back = Buffer2::zeroed_pitched(device, rows, columns * channels, pixel_pitch)?;
        merge.apply_matrix_into(&output, &mut back)?;
        // Gaps are zeros on both sides.
        equal(back.buffer().download()?, on_device.buffer().download()?)?;
    }
    Ok(())
}
