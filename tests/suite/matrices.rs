//! Copies between matrices on a device and the host: the elements that they move, and those that they leave unchanged.

use crate::common::{Random, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::ndarray::{Array2, Axis, s};
use slm::{Buffer2, Device, Element};

/// Rows, columns, and the row pitches of two matrices.
pub(super) const SHAPES: [[usize; 4]; 9] = [
    [3, 4, 4, 4],
    [3, 4, 7, 4],
    [3, 4, 4, 9],
    [33, 65, 66, 70],
    [1, 5, 1 << 60, 5],
    [1, 5, 5, usize::MAX],
    [17, 1, 3, 1],
    [0, 4, 6, 4],
    [4, 0, 0, 3],
];

pub(super) fn trials() -> Vec<Trial> {
    let trials = [
        on_every_backend("matrices", "u8", |device| copies(device, |bits| bits as u8)),
        on_every_backend("matrices", "f64", |device| copies(device, |bits| bits as f64)),
    ];
    trials.into_iter().flatten().collect()
}

pub(super) fn copies<T: Element>(device: &Device, number: impl Fn(u64) -> T) -> Result<(), Failed> {
    for shape in SHAPES {
        copies_of(device, shape, &number).map_err(|failed| format!("{shape:?}: {}", failed.message().unwrap_or("")))?;
    }
    Ok(())
}

fn copies_of<T: Element>(
    device: &Device,
    [rows, columns, pitch, other_pitch]: [usize; 4],
    number: impl Fn(u64) -> T,
) -> Result<(), Failed> {
    let mut random = Random::new(pitch as u64);
    let mut numbers = |rows, columns| Array2::from_shape_simple_fn((rows, columns), || number(random.next()));
    // The expected contents of the memory, with gaps.
    let len = Buffer2::<T>::buffer_len(rows, columns, pitch)? + 3;
    let mut memory = numbers(1, len).into_raw_vec_and_offset().0;
    let mut matrix = Buffer2::from_buffer(device.upload(&memory)?, rows, columns, pitch)?;
    let wide = numbers(columns, rows + 2);
    let data = wide.slice(s![.., 1..rows + 1]).reversed_axes();
    for (row, data) in data.axis_iter(Axis(0)).enumerate() {
        data.iter().enumerate().for_each(|(column, number)| memory[row * pitch + column] = *number);
    }

    matrix.upload_into(data)?;
    equal(&matrix.download()?, &data.to_owned())?;
    equal(&matrix.buffer().download()?, &memory)?;

    let mut other = Buffer2::zeroed_pitched(device, rows, columns, other_pitch)?;
    let uploaded = Buffer2::upload_pitched(device, data, other_pitch)?;
    other.copy_from(&matrix)?;
    equal(&other.download()?, &data.to_owned())?;
    // The gaps of both contain zeros.
    equal(&other.buffer().download()?, &uploaded.buffer().download()?)?;

    let mut target = numbers(rows, columns);
    other.download_into(target.view_mut())?;
    equal(&target, &data.to_owned())?;
    let mut target = numbers(columns + 1, rows);
    let last = target.row(columns).to_owned();
    matrix.download_into(target.slice_mut(s![..columns, ..]).reversed_axes())?;
    equal(&target.slice(s![..columns, ..]).reversed_axes().to_owned(), &data.to_owned())?;
    equal(&target.row(columns).to_owned(), &last)
}

fn equal<T: PartialEq + std::fmt::Debug>(actual: &T, expected: &T) -> Result<(), Failed> {
    if actual == expected { Ok(()) } else { Err(format!("{actual:?}, expected {expected:?}").into()) }
}
