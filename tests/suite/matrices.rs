//! Copies between matrices on a device and the host: the elements that they move, and those that they leave unchanged.

use crate::common::{Random, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::ndarray::{Array2, Axis, s};
use slm::{Buffer2, Convert, Device, Element, Error, Extent, Filter2d, Transpose};

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
        on_every_backend("matrices", "results_in_new_memory", results_in_new_memory),
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
    let mut numbers = |rows, columns| Array2::from_shape_simple_fn((rows, columns), || number(random.bits()));
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

/// Each operation returns what it writes to a matrix of the result's shape, without gaps, and refuses the same inputs.
fn results_in_new_memory(device: &Device) -> Result<(), Failed> {
    let blur = Filter2d::gaussian(0.8).channels(3).extent(Extent::Full).output::<i16>().prepare(device)?;
    let convert = Convert::<u8, f32>::new().scale(0.5).prepare(device)?;
    let transpose = Transpose::new(4, 5).components(3).prepare(device)?;
    let mut random = Random::new(8);
    let data = Array2::from_shape_simple_fn((4, 15), || random.bits() as u8);
    let pitched = Buffer2::upload_pitched(device, data.view(), 20)?;
    let [rows, columns] = blur.output_shape([4, 15])?;
    results_agree(rows, columns, blur.apply(&pitched)?, |to| blur.apply_into(&pitched, to))?;
    results_agree(4, 15, convert.apply(&pitched)?, |to| convert.apply_into(&pitched, to))?;
    results_agree(5, 12, transpose.apply(&pitched)?, |to| transpose.apply_into(&pitched, to))?;

    let empty = Buffer2::zeroed(device, 0, 15)?;
    equal(&blur.apply(&empty)?.download()?.dim(), &(0, columns))?;
    equal(&convert.apply(&empty)?.download()?.dim(), &(0, 15))?;
    let shape = Error::Shape { what: "the input", expected: [4, 15], actual: [0, 15] };
    equal(&transpose.apply(&empty).err(), &Some(shape))?;
    let of_another = Buffer2::upload(&Device::cpu(), data.view())?;
    let errors = [blur.apply(&of_another).err(), convert.apply(&of_another).err(), transpose.apply(&of_another).err()];
    let expected = device.info().name.clone();
    equal(
        &errors,
        &[(); 3].map(|()| {
            Some(Error::DeviceMismatch { operand: "the input", expected: expected.clone(), actual: "CPU".to_owned() })
        }),
    )
}

/// Compares a result with what `write` writes to a matrix of this shape.
fn results_agree<T: Element>(
    rows: usize,
    columns: usize,
    actual: Buffer2<T>,
    write: impl FnOnce(&mut Buffer2<T>) -> slm::Result<()>,
) -> Result<(), Failed> {
    let mut expected = Buffer2::zeroed(actual.buffer().device(), rows, columns)?;
    write(&mut expected)?;
    equal(&actual.download()?, &expected.download()?)?;
    equal(&actual.buffer().len(), &(rows * columns))
}

fn equal<T: PartialEq + std::fmt::Debug>(actual: &T, expected: &T) -> Result<(), Failed> {
    if actual == expected { Ok(()) } else { Err(format!("{actual:?}, expected {expected:?}").into()) }
}
