//! One suite for every backend: `Transpose` against the formula, and against NumPy.
//!
//! The cases combine every algorithm and element type with elements of one and several numbers, one and several matrices,
//! rows with and without gaps, and awkward shapes. The numbers are random bits, which include NaNs, and must arrive
//! unchanged; the gaps must stay as they are.
//!
//! On emulated devices the shapes are few and small.

mod counted;
mod golden;
mod in_place;
mod large_elements;

use crate::common::{is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use oracle::{Bits, Matrices, same};
use slm::emulator::{Action, Profile, Report, Space};
use slm::ndarray::Array2;
use slm::transpose::TransposeAlgorithm;
use slm::{Backend, Device, Transpose};
use slm_test_support::transpose as oracle;

/// The name of the suite.
const SUITE: &str = "transpose";

const ALGORITHMS: [TransposeAlgorithm; 4] = [
    TransposeAlgorithm::Auto,
    TransposeAlgorithm::Naive,
    TransposeAlgorithm::SharedUnpadded,
    TransposeAlgorithm::SharedPadded,
];

/// Rows, columns, matrices, and the gaps between rows of the input and of the output.
const SHAPES: [(usize, usize, usize, [usize; 2]); 29] = [
    (0, 5, 2, [0, 0]),
    (5, 0, 1, [1, 0]),
    (5, 5, 0, [0, 0]),
    (1, 1, 1, [0, 0]),
    (1, 1000, 1, [0, 3]),
    (1000, 1, 1, [4, 0]),
    (2, 2, 1001, [0, 0]),
    (7, 5, 33, [0, 0]),
    (7, 5, 1801, [0, 0]),
    (3, 4, 70_001, [0, 0]),
    (31, 33, 3, [1, 2]),
    (33, 30, 1, [1, 0]),
    (129, 17, 1, [0, 0]),
    (32, 32, 1, [0, 0]),
    (32, 32, 1, [1, 1]),
    (33, 31, 1, [0, 0]),
    (64, 64, 9, [0, 0]),
    (64, 48, 3, [16, 32]),
    (65, 127, 2, [0, 0]),
    (128, 128, 1, [0, 0]),
    (128, 129, 1, [0, 0]),
    (256, 192, 2, [0, 0]),
    (300, 212, 1, [4, 8]),
    (255, 257, 1, [3, 0]),
    (7, 10_007, 1, [0, 0]),
    (10_007, 7, 2, [0, 0]),
    (300_007, 3, 1, [0, 0]),
    (1024, 768, 1, [0, 0]),
    (1025, 1023, 1, [0, 0]),
];

/// Matrices of a shape from which only `Auto` transposes them on emulated devices: other algorithms have a block for each of them.
const MANY: usize = 448;

/// The shapes on emulated devices: whole and partial tiles for each kernel, and blocks of several matrices, which end with whole words or not.
const FEW_SHAPES: [(usize, usize, usize, [usize; 2]); 13] = [
    (0, 5, 2, [0, 0]),
    (1, 40, 1, [0, 3]),
    (2, 2, 5, [0, 0]),
    (7, 301, 1, [0, 0]),
    (70, 33, 1, [1, 2]),
    (33, 30, 1, [1, 0]),
    (129, 17, 1, [0, 0]),
    (48, 80, 2, [0, 16]),
    (192, 80, 1, [0, 0]),
    (133, 130, 1, [0, 0]),
    (1003, 5, 2, [0, 0]),
    (5, 3, 1795, [0, 0]),
    (3, 32, 448, [0, 0]),
];

/// Sides of square matrices that are transposed in place.
const SQUARES: [usize; 10] = [0, 1, 2, 31, 32, 33, 70, 96, 128, 200];

pub(super) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("transpose::emulated::conflicts_as_documented", conflicts_as_documented),
        Trial::test("transpose::emulated::long_tiles", long_tiles),
        Trial::test("transpose::emulated::wavefronts_are_those_of_an_h200", counted::wavefronts_are_those_of_an_h200),
        Trial::test("transpose::cpu::several_threads", several_threads),
    ];
    // Together, elements of 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 28 and 64 bytes. Kernels do not depend on the types, so
    // emulated devices test only the types that reach all kernels.
    trials.extend(of_type::<u8>("u8", &[1, 3, 5]));
    trials.extend(of_type::<u16>("u16", &[1, 3]));
    trials.extend(of_type::<u32>("u32", &[1, 2, 3, 4]));
    trials.extend(of_type::<u64>("u64", &[1, 2]));
    let others = [
        of_type::<u8>("u8", &[4, 16]),
        of_type::<i8>("i8", &[1, 12]),
        of_type::<i16>("i16", &[2]),
        of_type::<i32>("i32", &[1, 16]),
        of_type::<f32>("f32", &[1, 2, 3, 7]),
        of_type::<i64>("i64", &[1]),
        of_type::<f64>("f64", &[1, 2, 3]),
    ];
    trials.extend(golden::trials());
    trials.extend(in_place::trials());
    trials.extend(large_elements::trials());
    trials.extend(others.into_iter().flatten().filter(|trial| !trial.name().contains("::emulated::")));
    trials
}

fn of_type<T: Bits>(name: &str, components: &[usize]) -> Vec<Trial> {
    let mut trials = Vec::new();
    for &components in components {
        let name = format!("{name}::components_{components}");
        trials.extend(on_every_backend(SUITE, &name, move |device| check_all::<T>(device, components)));
        let name = format!("{name}::in_place");
        trials.extend(on_every_backend(SUITE, &name, move |device| check_all_in_place::<T>(device, components)));
    }
    trials
}

fn check_all<T: Bits>(device: &Device, components: usize) -> Result<(), Failed> {
    let shapes = if is_slow(device) { &FEW_SHAPES[..] } else { &SHAPES };
    for &(rows, columns, count, gaps) in shapes {
        let only_auto = device.info().backend == Backend::Cpu || is_slow(device) && count >= MANY;
        let algorithms = if only_auto { &ALGORITHMS[..1] } else { &ALGORITHMS };
        let shape = [rows, columns, count, components];
        let input = Matrices::<T>::new([count * rows, columns * components], gaps[0], 1);
        let untouched = Matrices::<T>::new([count * columns, rows * components], gaps[1], 2);
        let expected = input.transposed(shape, untouched.clone());
        for &algorithm in algorithms {
            let transpose = Transpose::new(rows, columns).batch(count).components(components).algorithm(algorithm);
            check(device, transpose, &input, &untouched, &expected)
                .map_err(|e| format!("{rows} x {columns}, {count} times, gaps {gaps:?}, {algorithm:?}: {e}"))?;
        }
    }
    Ok(())
}

/// Transposes a matrix with few columns and very many rows, whose tiles have the maximum length. It is emulated only for
/// elements of one byte, which take long enough.
fn long_tiles() -> Result<(), Failed> {
    const SHAPE: [usize; 4] = [950_003, 2, 1, 1];
    let device = Device::emulated(Profile::SM_90, 3);
    let input = Matrices::<u8>::new([SHAPE[0], SHAPE[1]], 0, 1);
    let untouched = Matrices::new([SHAPE[1], SHAPE[0]], 0, 2);
    let expected = input.transposed(SHAPE, untouched.clone());
    check(&device, Transpose::new(SHAPE[0], SHAPE[1]), &input, &untouched, &expected)?;
    Ok(())
}

/// Transposes buffers, and also data of the host where there are no gaps.
fn check<T: Bits>(
    device: &Device,
    transpose: Transpose<T>,
    input: &Matrices<T>,
    untouched: &Matrices<T>,
    expected: &Matrices<T>,
) -> Result<(), String> {
    let text = |e: slm::Error| e.to_string();
    let transpose = transpose.prepare(device).map_err(text)?;
    let (source, mut target) = (input.on_device(device).map_err(text)?, untouched.on_device(device).map_err(text)?);
    transpose.apply_into(&source, &mut target).map_err(text)?;
    same(&target.into_buffer().download().map_err(text)?, &expected.numbers)?;
    // Data of the host takes the same path, and emulated accesses are slow.
    if is_slow(device) || [input, expected].iter().any(|matrices| matrices.pitch > matrices.shape[1]) {
        return Ok(());
    }
    same(&transpose.apply(&input.numbers).map_err(text)?, &expected.numbers)?;
    let [rows, columns] = input.shape;
    let view = Array2::from_shape_vec((rows, columns), input.numbers.clone()).map_err(|e| e.to_string())?;
    let result = transpose.apply(view.view()).map_err(text)?;
    if result.dim() != (expected.shape[0], expected.shape[1]) {
        return Err(format!("a result of {:?}", result.dim()));
    }
    same(&result.into_raw_vec_and_offset().0, &expected.numbers)
}

fn check_all_in_place<T: Bits>(device: &Device, components: usize) -> Result<(), Failed> {
    let shapes = if is_slow(device) { &FEW_SHAPES[..] } else { &SHAPES };
    let squares = SQUARES.map(|side| (side, side, 2, [0, 0]));
    let squares = if is_slow(device) { &squares[..9] } else { &squares };
    let pitched = [(33, 33, 3, [1, 1]), (40, 40, 1, [24, 24]), (1, 1, 5, [2, 2])];
    for &(rows, columns, count, gaps) in shapes.iter().chain(squares).chain(&pitched) {
        // Emulated accesses are slow.
        let maximum = if is_slow(device) { 20_000 } else { 1_000_000 };
        if rows * columns * count * components > maximum {
            continue;
        }
        let shape = [rows, columns, count, components];
        let input = Matrices::<T>::new([count * rows, columns * components], 0, 1);
        let expected = input.transposed(shape, Matrices::new([count * columns, rows * components], 0, 2));
        let mut data = device.upload(&input.numbers)?;
        let transpose = Transpose::new(rows, columns).batch(count).components(components);
        let place = |e: String| format!("{rows} x {columns}, {count} times: {e}");
        transpose.prepare_in_place(device)?.apply(&mut data).map_err(|e| place(e.to_string()))?;
        same(&data.download()?, &expected.numbers).map_err(place)?;
        // Back again.
        let back = Transpose::new(columns, rows).batch(count).components(components);
        back.prepare_in_place(device)?.apply(&mut data).map_err(|e| place(e.to_string()))?;
        same(&data.download()?, &input.numbers).map_err(|e| place(format!("and back: {e}")))?;
        let input = Matrices::<T>::new(input.shape, gaps[0], 3);
        matrices_in_place(device, shape, &input).map_err(|e| place(format!("gaps of {}: {e}", gaps[0])))?;
        arrays_in_place(device, shape, &input).map_err(|e| place(format!("an array: {e}")))?;
    }
    Ok(())
}

/// Transposes pitched buffers in place. Square matrices keep their gaps, others lose them.
fn matrices_in_place<T: Bits>(device: &Device, shape: [usize; 4], input: &Matrices<T>) -> Result<(), String> {
    let text = |e: slm::Error| e.to_string();
    let [rows, columns, count, components] = shape;
    let mut data = input.on_device(device).map_err(text)?;
    let transpose = Transpose::new(rows, columns).batch(count).components(components);
    transpose.prepare_in_place(device).and_then(|transpose| transpose.apply(&mut data)).map_err(text)?;
    let target =
        if rows == columns { input.clone() } else { Matrices::new([count * columns, rows * components], 0, 4) };
    let expected = input.transposed(shape, target);
    if ([data.rows(), data.columns()], data.pitch()) != (expected.shape, expected.pitch) {
        return Err(format!("{data:?}, expected {:?}, {}", expected.shape, expected.pitch));
    }
    let numbers = data.into_buffer().download().map_err(text)?;
    same(&numbers[..expected.numbers.len().min(numbers.len())], &expected.numbers)
}

/// Transposes arrays with strides in place: first with gaps between rows, then in column-major order.
fn arrays_in_place<T: Bits>(device: &Device, shape: [usize; 4], input: &Matrices<T>) -> Result<(), String> {
    let [rows, columns, count, components] = shape;
    let transpose = Transpose::new(rows, columns).batch(count).components(components);
    let transpose = transpose.prepare_in_place(device).map_err(|e| e.to_string())?;
    let expected = input.transposed(shape, Matrices::new([count * columns, rows * components], 0, 4));
    let mut memory =
        Array2::from_shape_vec((input.shape[0], input.pitch), input.numbers.clone()).map_err(|e| e.to_string())?;
    let (mut view, gap) = memory.view_mut().split_at(slm::ndarray::Axis(1), input.shape[1]);
    let before = gap.to_owned();
    transpose.apply(view.view_mut()).map_err(|e| e.to_string())?;
    same(&T::numbers(view.view()), &expected.numbers)?;
    same(&T::numbers(gap.view()), &before.into_raw_vec_and_offset().0)?;

    let mut column_major = input.column_major();
    transpose.apply(column_major.view_mut()).map_err(|e| e.to_string())?;
    same(&T::numbers(column_major.view()), &expected.numbers)
}

/// Checks the documented bank conflicts. With whole tiles, there are none in the padded shared kernels, in the kernels that
/// move packs and in the one for square matrices in place. The skewed kernels, which move words wherever rows begin, have
/// none if elements or rows are whole words. Without padding, all lanes of a warp access the same bank.
fn conflicts_as_documented() -> Result<(), Failed> {
    for (side, element_bytes) in [(128, 1), (128, 2), (64, 3), (64, 4), (64, 8), (32, 12), (32, 16)] {
        for algorithm in [TransposeAlgorithm::Auto, TransposeAlgorithm::SharedPadded] {
            let conflicts: u64 = reports(side, element_bytes, algorithm)?.iter().map(Report::bank_conflicts).sum();
            if conflicts > 0 {
                return Err(format!("{algorithm:?}, elements of {element_bytes} bytes: {conflicts} conflicts").into());
            }
        }
    }
    for (side, element_bytes) in [(300, 1), (300, 2), (133, 4), (133, 8), (133, 12), (133, 16)] {
        let [report] = &reports(side, element_bytes, TransposeAlgorithm::Auto)?[..] else {
            return Err("several kernels".into());
        };
        if !report.kernel.starts_with("transpose_skewed") || report.bank_conflicts() > 0 {
            return Err(report.to_string().into());
        }
    }
    for element_bytes in [1, 2, 4, 8, 16] {
        let device = Device::emulated(Profile::SM_90, 0);
        let mut matrix = device.zeroed::<u8>(128 * 128 * element_bytes)?;
        Transpose::new(128, 128).components(element_bytes).prepare_in_place(&device)?.apply(&mut matrix)?;
        let conflicts: u64 = device.emulation_reports().iter().map(Report::bank_conflicts).sum();
        if conflicts > 0 {
            return Err(format!("in place, elements of {element_bytes} bytes: {conflicts} conflicts").into());
        }
    }
    // Whole matrices, without gaps in shared memory and with them. Lanes in different columns can access one bank.
    for (columns, element_bytes) in [(33, 1), (32, 1), (31, 2), (64, 3), (33, 4), (32, 4), (32, 8)] {
        let device = Device::emulated(Profile::SM_90, 0);
        let transpose = Transpose::new(16, columns).batch(448).components(element_bytes);
        transpose.prepare(&device)?.apply(&vec![1u8; 448 * 16 * columns * element_bytes])?;
        let reports = device.emulation_reports();
        let loads = reports[0].counts(Action::Load, Some(Space::Shared));
        if !reports[0].kernel.starts_with("transpose_whole") || loads.wavefronts > 3 * loads.fewest_wavefronts {
            return Err(reports[0].to_string().into());
        }
    }
    // 64 columns of 4 bytes: each of the 64 x 64 / 32 warp loads takes 32 wavefronts instead of one.
    let conflicts: u64 = reports(64, 4, TransposeAlgorithm::SharedUnpadded)?.iter().map(Report::bank_conflicts).sum();
    if conflicts == 64 * 64 / 32 * 31 { Ok(()) } else { Err(format!("{conflicts} conflicts without padding").into()) }
}

/// Returns the reports for a square matrix.
fn reports(side: usize, element_bytes: usize, algorithm: TransposeAlgorithm) -> Result<Vec<Report>, Failed> {
    let device = Device::emulated(Profile::SM_90, 0);
    let transpose = Transpose::new(side, side).components(element_bytes).algorithm(algorithm);
    transpose.prepare(&device)?.apply(&vec![1u8; side * side * element_bytes])?;
    Ok(device.emulation_reports())
}

/// Several threads use one prepared in-place transposition, which has a single scratch buffer on a GPU.
fn several_threads() -> Result<(), Failed> {
    for device in [Device::cpu(), Device::emulated(Profile::SM_80, 3)] {
        let (forward, back) = (Transpose::new(12, 18), Transpose::new(18, 12));
        let (forward, back) = (forward.prepare_in_place(&device)?, back.prepare_in_place(&device)?);
        let numbers: Vec<u16> = (0..12 * 18).collect();
        std::thread::scope(|scope| {
            let one = || {
                let mut data = device.upload(&numbers)?;
                forward.apply(&mut data)?;
                back.apply(&mut data)?;
                data.download()
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(one)).collect();
            threads.into_iter().all(|thread| thread.join().unwrap().as_ref() == Ok(&numbers))
        })
        .then_some(())
        .ok_or("a thread has wrong numbers")?;
    }
    Ok(())
}
