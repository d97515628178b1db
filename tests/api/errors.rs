//! What the errors say that operations have in common, when those come that need no GPU, and that a failed call changes
//! nothing.

use ndarray::{Array2, ArrayView2, array, aview0};
use slm::dlpack::DlpackError;
use slm::dlpark::ffi::{DLDataType, DLDataTypeCode, DLDevice, DLDeviceType};
use slm::emulator::{Finding, Launch, LaunchError, Line, Problem, Report};
use slm::pictures::PictureError;
use slm::{
    Backend, Buffer, Buffer2, Device, DriverError, Error, Extent, Filter1d, ModuleError, Morphology2d, Rank2d, Result,
    SharedMemory,
};
use std::error::Error as _;

/// Checks an error's text, and that of its cause.
#[track_caller]
pub(crate) fn says(error: impl Into<Error>, text: &str, source: Option<&str>) {
    let error = error.into();
    assert_eq!(error.to_string(), text);
    assert_eq!(error.source().map(ToString::to_string).as_deref(), source);
}

#[track_caller]
pub(crate) fn fails<T: std::fmt::Debug>(result: Result<T>, expected: impl Into<Error>) {
    assert_eq!(result.expect_err("this cannot work"), expected.into());
}

mod texts;

const LARGEST: u64 = isize::MAX as u64;

/// The sum of each sample and its two neighbours.
pub(crate) fn sum_of_three(device: &Device) -> slm::filter1d::PreparedFilter1d<i32> {
    Filter1d::correlate(&[1, 1, 1]).prepare(device).unwrap()
}

/// Two buffers, to see afterwards that they still are what they were, and still work.
pub(crate) struct Untouched {
    pub(crate) device: Device,
    pub(crate) input: Buffer<i32>,
    pub(crate) output: Buffer<i32>,
}

impl Untouched {
    pub(crate) fn new() -> Self {
        let device = Device::cpu();
        let input = device.upload(&[1, 2, 3, 4]).unwrap();
        let output = device.upload(&[-1, -2, -3, -4]).unwrap();
        Untouched { device, input, output }
    }

    #[track_caller]
    pub(crate) fn check(mut self) {
        assert_eq!(self.input.download().unwrap(), [1, 2, 3, 4]);
        assert_eq!(self.output.download().unwrap(), [-1, -2, -3, -4]);
        sum_of_three(&self.device).apply_into(&self.input, &mut self.output).unwrap();
        assert_eq!(self.output.download().unwrap(), [3, 6, 9, 7]);
    }
}

#[test]
fn copies_of_the_wrong_length() {
    let mut data = Untouched::new();
    let length = |what, actual| Error::Length { what, expected: 4, actual };
    let mut target = [9; 5];
    fails(data.input.download_into(&mut target), length("the slice to download into", 5));
    assert_eq!(target, [9; 5]);
    fails(data.output.upload(&[1, 2, 3]), length("the slice to upload", 3));
    let longer = data.device.upload(&[5; 6]).unwrap();
    fails(data.output.copy_from(&longer), length("the source", 6));
    assert_eq!(longer.download().unwrap(), [5; 6]);
    data.check();
}

#[test]
fn buffers_of_another_handle() {
    let mut data = Untouched::new();
    let mut other = Untouched::new();
    let mismatch = |operand| Error::DeviceMismatch { operand, expected: "CPU".to_owned(), actual: "CPU".to_owned() };
    let filter = sum_of_three(&data.device);
    fails(filter.apply_into(&other.input, &mut data.output), mismatch("the input"));
    fails(filter.apply_into(&data.input, &mut other.output), mismatch("the output"));
    fails(data.output.copy_from(&other.input), mismatch("the source"));
    data.check();
    other.check();
}

#[test]
fn a_clone_is_no_other_handle() {
    let mut data = Untouched::new();
    let filter = sum_of_three(&data.device.clone());
    let input = data.device.clone().upload(&[1, 0, 0, 0]).unwrap();
    filter.apply_into(&input, &mut data.output).unwrap();
    assert_eq!(data.output.download().unwrap(), [1, 1, 0, 0]);
}

pub(crate) fn matrix(device: &Device, data: ArrayView2<'_, i32>) -> Buffer2<i32> {
    Buffer2::upload(device, data).unwrap()
}

#[test]
fn matrices_of_another_handle() {
    let (device, other) = (Device::cpu(), Device::cpu());
    let samples = Array2::from_elem((2, 3), 5);
    let input = matrix(&other, samples.view());
    let mut output = matrix(&device, samples.view());
    let error = Error::DeviceMismatch { operand: "the input", expected: "CPU".into(), actual: "CPU".into() };
    fails(sum_of_three(&device).along(0).apply_into(&input, &mut output), error);
    assert_eq!(output.download().unwrap(), samples);
}

#[test]
fn a_matrix_that_its_buffer_cannot_hold() {
    let device = Device::cpu();
    let buffer = |len| device.zeroed::<f32>(len).unwrap();
    let make = |len, rows, columns, pitch| Buffer2::from_buffer(buffer(len), rows, columns, pitch);
    fails(make(100, 2, 5, 4), Error::Pitch { columns: 5, pitch: 4 });
    fails(make(0, 0, 1, 0), Error::Pitch { columns: 1, pitch: 0 });
    let short = |expected, actual| Error::Length { what: "the buffer of a matrix", expected, actual };
    fails(make(17, 3, 4, 7), short(18, 17));
    assert_eq!(make(18, 3, 4, 7).unwrap().pitch(), 7);
    let most = usize::MAX as u64;
    fails(make(18, 2, 4, usize::MAX), no_matrix([2, most]));
    fails(make(18, usize::MAX, 4, usize::MAX), no_matrix([most, 4]));
    fails(make(18, usize::MAX / 8, 4, usize::MAX), no_matrix([most / 8, most]));
}

/// `buffer_len` tells before the buffer is given away.
#[test]
fn lengths_of_buffers_for_matrices() {
    let device = Device::cpu();
    for (rows, columns, pitch, len) in [(2, 3, 4, 7), (2, 3, 3, 6), (1, 3, usize::MAX, 3), (0, 3, 3, 0), (3, 0, 9, 0)] {
        assert_eq!(Buffer2::<u8>::buffer_len(rows, columns, pitch), Ok(len));
        let make = |len| Buffer2::from_buffer(device.zeroed::<u8>(len).unwrap(), rows, columns, pitch);
        assert_eq!(make(len).unwrap().into_buffer().len(), len);
        if let Some(short) = len.checked_sub(1) {
            let error = Error::Length { what: "the buffer of a matrix", expected: len, actual: short };
            fails(make(short), error);
        }
        assert_eq!(Buffer2::<f64>::zeroed_pitched(&device, rows, columns, pitch).unwrap().buffer().len(), len);
    }
    fails(Buffer2::<u8>::buffer_len(2, 5, 4), Error::Pitch { columns: 5, pitch: 4 });
    fails(Buffer2::<u8>::zeroed_pitched(&device, 2, 5, 4), Error::Pitch { columns: 5, pitch: 4 });
    fails(Buffer2::<u8>::upload_pitched(&device, array![[1, 2]].view(), 1), Error::Pitch { columns: 2, pitch: 1 });
    fails(Buffer2::<u8>::buffer_len(usize::MAX, 0, 0), no_matrix([usize::MAX as u64, 1]));
}

#[test]
fn matrices_of_other_shapes_are_not_copied() {
    let (device, other) = (Device::cpu(), Device::cpu());
    let numbers = array![[1, 2, 3], [4, 5, 6]];
    let mut matrix = matrix(&device, numbers.view());
    let shape = |what, actual| Error::Shape { what, expected: [2, 3], actual };
    let tall = Array2::from_elem((3, 2), 7);
    fails(matrix.upload_into(tall.view()), shape("the matrix to upload", [3, 2]));
    let mut target = tall.clone();
    fails(matrix.download_into(target.view_mut()), shape("the matrix to download into", [3, 2]));
    assert_eq!(target, tall);
    fails(matrix.copy_from(&self::matrix(&device, tall.view())), shape("the source", [3, 2]));
    let error = Error::DeviceMismatch { operand: "the source", expected: "CPU".into(), actual: "CPU".into() };
    fails(matrix.copy_from(&self::matrix(&other, numbers.view())), error);
    assert_eq!(matrix.download().unwrap(), numbers);
}

/// What `ndarray` says of a shape whose lengths, leaving out zeros, multiply to so much.
fn no_matrix(factors: [u64; 2]) -> Error {
    Error::TooLarge { what: "a matrix", factors, limit: LARGEST }
}

/// Without elements a matrix needs no memory, and still can be too large for `ndarray`.
#[test]
fn shapes_that_no_matrix_has() {
    let device = Device::cpu();
    let most = usize::MAX as u64;
    for length in [usize::MAX, isize::MAX as usize + 1] {
        let error = [no_matrix([length as u64, 1]), no_matrix([1, length as u64])];
        fails(Buffer2::<u8>::zeroed(&device, length, 0), error[0].clone());
        fails(Buffer2::<u8>::zeroed(&device, 0, length), error[1].clone());
        let buffer = || device.upload(&[1, 2, 3]).unwrap();
        fails(Buffer2::from_buffer(buffer(), length, 0, 0), error[0].clone());
        fails(Buffer2::from_buffer(buffer(), length, 0, 2), error[0].clone());
        fails(Buffer2::from_buffer(buffer(), 0, length, length), error[1].clone());
    }
    fails(Buffer2::<u8>::zeroed(&device, usize::MAX, 2), no_matrix([most, 2]));
    assert_eq!(
        no_matrix([most, 1]).to_string(),
        "a matrix is too large: 18446744073709551615 exceeds 9223372036854775807"
    );
}

#[test]
fn the_largest_shapes_without_elements() {
    let device = Device::cpu();
    let filter = sum_of_three(&device);
    let full = Filter1d::correlate(&[1, 1, 1]).extent(Extent::Full).prepare(&device).unwrap();
    let length = isize::MAX as usize;
    for (rows, columns) in [(length, 0), (0, length)] {
        let zeros = Buffer2::<i32>::zeroed(&device, rows, columns).unwrap();
        let samples = zeros.download().unwrap();
        assert_eq!(samples.dim(), (rows, columns));
        assert_eq!(matrix(&device, samples.view()).download().unwrap().dim(), (rows, columns));
        for pitch in [columns, usize::MAX] {
            let buffer = device.upload(&[1, 2, 3]).unwrap();
            let matrix = Buffer2::from_buffer(buffer, rows, columns, pitch).unwrap();
            assert_eq!(matrix.download().unwrap().dim(), (rows, columns));
            assert_eq!(matrix.into_buffer().download().unwrap(), [1, 2, 3]);
        }
        let mut outputs = Buffer2::zeroed(&device, rows, columns).unwrap();
        for axis in [0, 1] {
            assert_eq!(filter.along(axis).apply(samples.view()).unwrap().dim(), (rows, columns));
            filter.along(axis).apply_into(&zeros, &mut outputs).unwrap();
        }
        // The result is two longer than any matrix.
        let axis = if rows > 0 { 0 } else { 1 };
        let error = Error::TooLarge { what: "an array of outputs", factors: [LARGEST + 2, 1], limit: LARGEST };
        fails(full.along(axis).apply(samples.view()), error);
        assert_eq!(full.along(axis).plan([rows, columns]).unwrap().launches, []);
    }
}

#[test]
fn buffers_that_are_too_large() {
    let device = Device::cpu();
    let large = |factors| Error::TooLarge { what: "a buffer", factors, limit: LARGEST };
    let most = usize::MAX as u64;
    fails(device.zeroed::<i32>(usize::MAX), large([most, 4]));
    fails(device.zeroed::<u8>(usize::MAX), large([most, 1]));
    // The product fits into 64 bits, but no allocation is so large.
    fails(device.zeroed::<f64>(usize::MAX / 8), large([most / 8, 8]));
    // A buffer may be so large, and no machine is.
    fails(device.zeroed::<u8>(isize::MAX as usize), Error::OutOfHostMemory { requested: LARGEST });
    fails(Buffer2::<f32>::zeroed(&device, 1 << 50, 2), Error::OutOfHostMemory { requested: 1 << 53 });
    assert_eq!(device.zeroed::<i32>(2).unwrap().download().unwrap(), [0, 0]);
}

/// A view that shows one number again and again needs no memory; a copy of it does.
#[test]
fn samples_that_no_memory_holds() {
    let device = Device::cpu();
    let (number, shape) = (5, (1 << 25, 1 << 25));
    let view = aview0(&number);
    let view = view.broadcast(shape).unwrap();
    let error = Error::OutOfHostMemory { requested: 1 << 52 };
    fails(Buffer2::upload(&device, view), error.clone());
    let filter = sum_of_three(&device);
    fails(filter.along(0).apply(view), error.clone());
    fails(filter.along(1).apply(view), error);
}

/// The pitch of a single row leads nowhere, so it may be anything.
#[test]
fn a_single_row_with_a_huge_pitch() {
    let device = Device::cpu();
    let filter = sum_of_three(&device);
    for pitch in [1 << 60, usize::MAX] {
        let row = |values: &[i32]| Buffer2::from_buffer(device.upload(values).unwrap(), 1, 3, pitch).unwrap();
        let (input, mut output) = (row(&[1, 2, 3]), row(&[0; 3]));
        filter.along(0).apply_into(&input, &mut output).unwrap();
        assert_eq!(output.download().unwrap(), array![[1, 2, 3]]);
        filter.along(1).apply_into(&input, &mut output).unwrap();
        assert_eq!(output.download().unwrap(), array![[3, 6, 5]]);
        Rank2d::median(3).prepare(&device).unwrap().apply_into(&input, &mut output).unwrap();
        assert_eq!(output.download().unwrap(), array![[0, 0, 0]]);
        for (operation, expected) in [
            (Morphology2d::opening([1, 2]), array![[1, 2, 2]]),
            (Morphology2d::gradient([1, 3]), array![[2, 2, 3]]),
            (Morphology2d::top_hat([1, 2]), array![[0, 0, 1]]),
        ] {
            operation.prepare(&device).unwrap().apply_into(&input, &mut output).unwrap();
            assert_eq!(output.download().unwrap(), expected);
        }
    }
}

#[test]
fn names_of_devices() {
    for value in [
        "gpu",
        "cpu ",
        "cpu:",
        "auto:0",
        ":",
        "cuda:",
        "cuda:x",
        "cuda:-1",
        "cuda:+1",
        "cuda:0:1",
        "cuda0",
        "cuda: 0",
        "cuda:١",
        "émulé",
        "emulated:",
        "emulated:sm_91",
        "emulated:sm_90:",
        "emulated:sm_90:-1",
        "emulated:sm_90:x",
        "emulated:sm_90:0:0",
        "emulated:0",
    ] {
        fails(Device::named(value), Error::UnknownDevice { value: value.to_owned() });
    }
    let number = "cuda:99999999999999999999999";
    fails(Device::named(number), Error::UnknownDevice { value: number.to_owned() });
    // A million characters.
    for part in ["cuda:", ":", "0", "emulated:sm_90:", "é", " "] {
        let value = format!("emulated:{}", part.repeat((1 << 20) / part.len()));
        fails(Device::named(&value), Error::UnknownDevice { value: value.clone() });
    }
    for value in ["cpu", "CPU", "Cpu"] {
        let cpu = Device::named(value).unwrap();
        assert_eq!((cpu.info().backend, &*cpu.info().selection), (Backend::Cpu, "named"));
    }
    assert_eq!(Device::named("Emulated:SM_90:7").unwrap().info().selection, "emulated:sm_90:7");
    // The name as it was given.
    fails(Device::named("GPU:X"), Error::UnknownDevice { value: "GPU:X".to_owned() });
}

#[test]
fn shared_memory_limits() {
    let shared = SharedMemory {
        default_per_block: 49_152,
        max_per_block: 101_376,
        per_multiprocessor: 102_400,
        reserved_per_block: 1024,
        banks: 32,
        bank_bytes: 4,
    };
    assert_eq!(shared.check("blur", 0), Ok(()));
    assert_eq!(shared.check("blur", 101_376), Ok(()));
    let error = |requested| Error::SharedMemoryExceeded { kernel: "blur".into(), requested, available: 101_376 };
    fails(shared.check("blur", 101_377), error(101_377));
    fails(shared.check("blur", u64::MAX), error(u64::MAX));
    let threads = [0, 1, 99, 100, 101_376, 101_377, u64::MAX].map(|bytes| shared.max_threads_per_block(bytes));
    assert_eq!(threads, [1024, 1024, 1024, 1013, 1, 0, 0]);
}
