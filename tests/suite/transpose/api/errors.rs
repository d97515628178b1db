//! The texts and conditions of `Transpose`'s errors, on devices that need no GPU, and that a failed call changes nothing.

use crate::errors::{fails, says};
use slm::emulator::Profile;
use slm::ndarray::{Array1, Array2, Array3};
use slm::transpose::{PreparedTranspose, TransposeAlgorithm, TransposeError};
use slm::{Buffer2, Device, Error, Transpose};

fn devices() -> [Device; 2] {
    [Device::cpu(), Device::emulated(Profile::SM_80, 1)]
}

#[test]
fn no_components() {
    says(TransposeError::NoComponents, "components must be at least 1", None);
}

#[test]
fn element_size() {
    let error = TransposeError::ElementSize { bytes: (1 << 32) + 1, unit: 1, limit: 4_294_967_039 };
    let text = "elements of 4294967297 bytes are too large for a GPU: the limit is 4294967039 bytes if units of 1 bytes divide \
                elements and rows";
    says(error, text, None);
}

#[test]
fn elements_without_components() {
    for device in devices() {
        fails(Transpose::<f32>::new(2, 2).components(0).prepare(&device), TransposeError::NoComponents);
        fails(Transpose::<u8>::new(0, 0).components(0).prepare_in_place(&device), TransposeError::NoComponents);
    }
}

#[test]
fn more_elements_than_memory_has_addresses() {
    let limit = isize::MAX as u64;
    let too_large = |factors, limit| Error::TooLarge { what: "the number of elements", factors, limit };
    for device in devices() {
        let side = 1usize << 32;
        fails(Transpose::<u8>::new(side, side).prepare(&device), too_large([1 << 32, 1 << 32], limit));
        let square = Transpose::<f64>::new(side, side);
        fails(square.prepare_in_place(&device), too_large([1 << 32, 1 << 32], limit / 8));
        // Even if there is nothing to transpose.
        let none = Transpose::<u16>::new(0, usize::MAX).batch(3);
        fails(none.prepare(&device), too_large([1, u64::MAX], limit / 2));
        let components = Transpose::<u8>::new(1 << 20, 1 << 20).batch(1 << 20).components(16);
        fails(components.prepare(&device), too_large([1 << 60, 16], limit));
    }
}

/// Threads count the units of an element with 32 bits.
#[test]
fn elements_of_too_many_units() {
    const LIMIT: u64 = (u32::MAX - 256) as u64;
    let device = Device::emulated(Profile::SM_90, 0);
    // Numbers of units: 0, 1 and -1 modulo 2^32, and just above the limit.
    let of_1 = [(1 << 32) + 1, (1 << 33) + 1, (1 << 32) - 1, LIMIT + 2].map(|bytes| (bytes, 1));
    let of_2 = [(1 << 33) + 2, (1 << 33) - 2, 2 * (LIMIT + 2)].map(|bytes| (bytes, 2));
    let of_4 = [1 << 34, (1 << 34) + 4, (1 << 34) - 4, 4 * (LIMIT + 1), 1 << 62].map(|bytes| (bytes, 4));
    for (bytes, unit) in of_1.into_iter().chain(of_2).chain(of_4) {
        let error = TransposeError::ElementSize { bytes, unit, limit: LIMIT * u64::from(unit) };
        let element = Transpose::<u8>::new(1, 1).components(bytes as usize);
        for algorithm in [TransposeAlgorithm::Auto, TransposeAlgorithm::Naive] {
            fails(element.algorithm(algorithm).prepare(&device), error.clone());
        }
        fails(element.prepare_in_place(&device), error);
        assert!(element.prepare(&Device::cpu()).is_ok());
    }
    // The largest permitted element. It has too many units only if the pitch is an odd number of bytes.
    let element: PreparedTranspose<u8> = Transpose::new(1, 1).components(4 * LIMIT as usize).prepare(&device).unwrap();
    assert_eq!(element.plan().unwrap().kernels().join(", "), "transpose_naive_u32");
    let error = TransposeError::ElementSize { bytes: 4 * LIMIT, unit: 1, limit: LIMIT };
    fails(element.plan_pitched([4 * LIMIT as usize + 1, 4 * LIMIT as usize]), error);
}

#[test]
fn lengths_and_shapes() {
    for device in devices() {
        let transpose: PreparedTranspose<i32> = Transpose::new(2, 3).batch(2).prepare(&device).unwrap();
        let length = |what, actual| Error::Length { what, expected: 12, actual };
        fails(transpose.apply(&[1; 11]), length("the input", 11));
        let [x, mut y] = [13, 12].map(|len| device.upload(&vec![7; len]).unwrap());
        fails(transpose.apply_into(&x, &mut y), length("the input", 13));
        let [x, mut z] = [12, 0].map(|len| device.upload(&vec![7; len]).unwrap());
        fails(transpose.apply_into(&x, &mut z), length("the output", 0));
        assert_eq!(y.download().unwrap(), [7; 12]);

        let shape = |what, expected, actual| Error::Shape { what, expected, actual };
        let matrix = |rows, columns| Buffer2::<i32>::zeroed(&device, rows, columns).unwrap();
        let result = transpose.apply_into(&matrix(4, 2), &mut matrix(6, 2));
        fails(result, shape("the input", [4, 3], [4, 2]));
        let result = transpose.apply_into(&matrix(4, 3), &mut matrix(4, 3));
        fails(result, shape("the output", [6, 2], [4, 3]));
        fails(transpose.apply(Array2::zeros((3, 4)).view()), shape("the input", [4, 3], [3, 4]));

        let in_place = Transpose::new(2, 3).prepare_in_place(&device).unwrap();
        fails(in_place.apply(&mut y), Error::Length { what: "the data", expected: 6, actual: 12 });
        fails(in_place.apply(Array2::zeros((3, 4)).view_mut()), shape("the data", [2, 3], [3, 4]));
        fails(in_place.apply(Array2::zeros((3, 2)).view_mut()), shape("the data", [2, 3], [3, 2]));
        let length = Error::Length { what: "the data", expected: 6, actual: 5 };
        fails(in_place.apply(Array1::zeros(5).view_mut()), length);
        assert!(in_place.apply(Array1::zeros(6).view_mut()).is_ok());
        assert!(in_place.apply(Array3::zeros((1, 2, 3)).view_mut()).is_ok());
        fails(in_place.apply(&mut matrix(3, 2)), shape("the data", [2, 3], [3, 2]));
    }
}

#[test]
fn buffers_of_another_handle() {
    let [device, other] = [Device::cpu(), Device::cpu()];
    let transpose = Transpose::new(1, 2).prepare(&device).unwrap();
    let [mut ours, mut theirs] = [&device, &other].map(|device| device.upload(&[1u8, 2]).unwrap());
    let mut matrix = Buffer2::zeroed(&other, 1, 2).unwrap();
    for (result, operand) in [
        (transpose.apply_into(&theirs, &mut ours), "the input"),
        (transpose.apply_into(&ours, &mut theirs), "the output"),
        (Transpose::new(1, 2).prepare_in_place(&device).unwrap().apply(&mut theirs), "the data"),
        (Transpose::<u8>::new(1, 2).prepare_in_place(&device).unwrap().apply(&mut matrix), "the data"),
    ] {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::DeviceMismatch { operand: actual, .. } if actual == operand), "{error}");
    }
}

#[test]
fn an_element_that_shared_memory_cannot_hold() {
    let device = Device::emulated(Profile::SM_75, 0);
    let transpose = Transpose::<u8>::new(2, 2).components(1 << 17).algorithm(TransposeAlgorithm::SharedUnpadded);
    let kernel = "transpose_shared_u32".to_owned();
    fails(transpose.prepare(&device), Error::SharedMemoryExceeded { kernel, requested: 1 << 17, available: 64 << 10 });
    // `Auto` selects another kernel.
    let auto = Transpose::<u8>::new(2, 2).components(1 << 17).prepare(&device).unwrap();
    assert_eq!(auto.plan().unwrap().kernels().join(", "), "transpose_naive_u32");
}

#[test]
fn plans_of_whatever_size() {
    for device in devices() {
        let transpose = Transpose::<u8>::new(1 << 30, 1 << 29).prepare(&device).unwrap();
        assert!(
            transpose.plan().unwrap().to_string().contains("outputs    536870912 x 1073741824"),
            "{}",
            transpose.plan().unwrap()
        );
        assert!(transpose.plan_pitched([usize::MAX, usize::MAX]).is_ok());
        let pitch = Error::Pitch { columns: 1 << 30, pitch: 5 };
        fails(transpose.plan_pitched([1 << 29, 5]), pitch);
        let nothing = Transpose::<f32>::new(0, 7).prepare(&device).unwrap();
        assert_eq!(nothing.plan().unwrap().launches, []);
        assert_eq!(nothing.apply(&[]), Ok(vec![]));
    }
}
