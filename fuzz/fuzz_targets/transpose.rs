//! `Transpose` of batches, out of place and in place, against the formula.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slm::transpose::TransposeAlgorithm;
use slm::{Device, Transpose};
use slm_fuzz::{Reader, devices, expect};
use slm_test_support::transpose::{Bits, Matrices, same};

const ALGORITHMS: [TransposeAlgorithm; 4] = [
    TransposeAlgorithm::Auto,
    TransposeAlgorithm::Naive,
    TransposeAlgorithm::SharedUnpadded,
    TransposeAlgorithm::SharedPadded,
];

#[derive(Clone, Copy, Debug)]
struct Problem {
    /// Rows, columns, matrices and components.
    shape: [usize; 4],
    gaps: [usize; 2],
    algorithm: TransposeAlgorithm,
    stream: u64,
}

type Check = fn(&Problem, &Device);

const TYPES: [Check; 4] = [check::<u8>, check::<u16>, check::<u32>, check::<f64>];

fuzz_target!(|input: &[u8]| {
    let reader = &mut Reader::new(input);
    let (check, devices) = (reader.pick(&TYPES), devices(reader));
    let [components, count] = [reader.pick(&[1, 1, 1, 2, 3, 4, 5, 7, 16]), reader.within(0, 3)];
    let rows = reader.below(70);
    let columns = reader.below(400 / (rows + 1) + 2);
    let problem = Problem {
        shape: [rows, columns, count, components],
        gaps: [reader.below(5), reader.below(5)],
        algorithm: reader.pick(&ALGORITHMS),
        stream: u64::from(reader.byte()),
    };
    devices.iter().for_each(|device| check(&problem, device));
});

fn check<T: Bits>(problem: &Problem, device: &Device) {
    let what = (size_of::<T>(), device.to_string(), problem);
    expect(out_of_place::<T>(problem, device), &what);
    expect(in_place::<T>(problem, device), &what);
}

fn transpose<T: Bits>(problem: &Problem) -> Transpose<T> {
    let [rows, columns, count, components] = problem.shape;
    Transpose::new(rows, columns).batch(count).components(components).algorithm(problem.algorithm)
}

fn out_of_place<T: Bits>(problem: &Problem, device: &Device) -> Result<(), String> {
    let text = |error: slm::Error| error.to_string();
    let [rows, columns, count, components] = problem.shape;
    let input = Matrices::<T>::new([count * rows, columns * components], problem.gaps[0], problem.stream);
    let untouched = Matrices::<T>::new([count * columns, rows * components], problem.gaps[1], problem.stream + 1);
    let expected = input.transposed(problem.shape, untouched.clone());
    let mut target = untouched.on_device(device).map_err(text)?;
    let prepared = transpose(problem).prepare(device).map_err(text)?;
    prepared.apply_into(&input.on_device(device).map_err(text)?, &mut target).map_err(text)?;
    same(&target.into_buffer().download().map_err(text)?, &expected.numbers)
}

fn in_place<T: Bits>(problem: &Problem, device: &Device) -> Result<(), String> {
    let text = |error: slm::Error| error.to_string();
    let [rows, columns, count, components] = problem.shape;
    let input = Matrices::<T>::new([count * rows, columns * components], 0, problem.stream);
    let target = Matrices::<T>::new([count * columns, rows * components], 0, 0);
    let expected = input.transposed(problem.shape, target);
    let mut data = device.upload(&input.numbers).map_err(text)?;
    transpose(problem).prepare_in_place(device).and_then(|prepared| prepared.apply(&mut data)).map_err(text)?;
    same(&data.download().map_err(text)?, &expected.numbers)
}
