//! Errors of filters: their texts, when they are returned, and that a failed call changes nothing.

use crate::errors::{Untouched, fails, matrix, says, sum_of_three};
use ndarray::{Array2, array};
use slm::emulator::Profile;
use slm::filter1d::{Filter1dAlgorithm, Filter1dError, HaloLoad};
use slm::filter2d::Filter2dError;
use slm::{Boundary, Device, Error, Extent, Filter1d, Gaussian};

#[test]
fn no_taps() {
    says(Filter1dError::NoTaps, "a filter must have at least 1 tap", None);
}

#[test]
fn texts_of_channels_and_parameters() {
    says(Filter1dError::NoChannels, "a filter must have at least 1 channel", None);
    let error = Filter1dError::Interleaving { samples: 7, channels: 3 };
    says(error, "7 samples cannot be divided evenly among 3 channels", None);
    let error = Filter1dError::Parameter { what: "sigma", range: "from 0 to 2^20", value: -1.0 };
    says(error, "sigma must be from 0 to 2^20, not -1", None);
    let error = Filter1dError::Parameter { what: "sigma", range: "from 0 to 2^20", value: -1e-300 };
    says(error, "sigma must be from 0 to 2^20, not -1e-300", None);
    let error = Filter1dError::Interleaving { samples: 1, channels: 2 };
    says(error, "1 sample cannot be divided evenly among 2 channels", None);
}

#[test]
fn axis() {
    let error = Filter1dError::Axis { axis: 2, dimensions: 2 };
    says(error, "there is no axis 2: the array has 2 axes, numbered from 0", None);
    let error = Filter1dError::Axis { axis: 1, dimensions: 1 };
    says(error, "there is no axis 1: the array has 1 axis, numbered from 0", None);
}

#[test]
fn a_filter_without_taps() {
    let device = Device::cpu();
    fails(Filter1d::<f32>::correlate(&[]).prepare(&device), Filter1dError::NoTaps);
    fails(Filter1d::<f64>::convolve(&[]).prepare(&device), Filter1dError::NoTaps);
    fails(Filter1d::<i32>::convolve(&[]).extent(Extent::Full).prepare(&device), Filter1dError::NoTaps);
}

#[test]
fn origins_outside_of_the_taps() {
    let error = |origin, taps| Filter1dError::Origin { origin, taps };
    says(error(2, 3), "the origin of a filter must be from -1 to 1 for 3 taps, not 2", None);
    says(error(-3, 4), "the origin of a filter must be from -2 to 1 for 4 taps, not -3", None);
    says(error(-1, 1), "the origin of a filter must be from 0 to 0 for 1 tap, not -1", None);
    let device = Device::cpu();
    for (taps, origin) in [(1, 1), (1, -1), (3, 2), (3, -2), (4, 2), (4, -3), (5, isize::MIN), (5, isize::MAX)] {
        let ones = vec![1i32; taps];
        fails(Filter1d::correlate(&ones).origin(origin).prepare(&device), error(origin, taps));
        fails(Filter1d::convolve(&ones).origin(origin).extent(Extent::Valid).prepare(&device), error(origin, taps));
        fails(Filter1d::correlate(&ones).origin(origin).samples::<u8>().prepare(&device), error(origin, taps));
    }
    // Without taps there is no range.
    fails(Filter1d::<f32>::correlate(&[]).origin(1).prepare(&device), Filter1dError::NoTaps);
}

#[test]
fn generated_taps_without_a_valid_parameter() {
    for device in [Device::cpu(), Device::emulated(Profile::SM_80, 3)] {
        for sigma in [-1.0, f64::INFINITY, 1_048_577.0] {
            let error = Filter1dError::Parameter { what: "sigma", range: "from 0 to 2^20", value: sigma };
            fails(Filter1d::<f32>::gaussian(sigma).prepare(&device), error);
        }
        assert!(Filter1d::<f64>::gaussian(f64::NAN).prepare(&device).is_err());
        let error = Filter1dError::Parameter {
            what: "the truncation of a Gaussian",
            range: "finite and at least 0",
            value: -0.5,
        };
        fails(Filter1d::<f32>::gaussian(Gaussian::new(1.0).truncate(-0.5)).prepare(&device), error);
        let what = "the radius of a Gaussian";
        let error = Filter1dError::Parameter { what, range: "from 0 to 2^22", value: 4_194_305.0 };
        fails(Filter1d::<f32>::gaussian(Gaussian::new(1.0).radius(4_194_305)).prepare(&device), error.clone());
        fails(Filter1d::<f32>::gaussian(Gaussian::new(1.0).truncate(4_194_305.0)).prepare(&device), error);
        let factors = [usize::MAX as u64, 1];
        let error = Error::TooLarge { what: "the length of a box", factors, limit: 1 << 24 };
        let text = "the length of a box is too large: 18446744073709551615 exceeds 16777216";
        says(error.clone(), text, None);
        fails(Filter1d::<f32>::box_blur(usize::MAX).prepare(&device), error);
        fails(Filter1d::<f32>::box_blur(0).prepare(&device), Filter1dError::NoTaps);
    }
}

/// Samples of another type than the taps, and channels, are filtered by the kernels for pictures, whose tiles contain all taps.
#[test]
fn too_much_shared_memory_for_pictures() {
    let device = Device::emulated(Profile::SMALL, 1);
    let taps = vec![1i32; 20_000];
    for algorithm in [Filter1dAlgorithm::RegisterTiled, Filter1dAlgorithm::SharedTile(HaloLoad::Cooperative)] {
        let filter = Filter1d::correlate(&taps).algorithm(algorithm);
        let is_exceeded = |error| matches!(error, Some(Error::SharedMemoryExceeded { available: 65_536, .. }));
        assert!(is_exceeded(filter.clone().channels(2).prepare(&device).err()));
        assert!(is_exceeded(filter.samples::<u8>().prepare(&device).err()));
    }
    let filter = Filter1d::correlate(&taps).channels(2).boundary(Boundary::Nearest).prepare(&device).unwrap();
    assert_eq!(filter.apply(&[1, 2]).unwrap(), [20_000, 40_000]);
}

#[test]
fn integer_taps_that_are_too_large() {
    let limit = ((1 << 63) - 1) / 65_535;
    let taps = vec![i32::MIN; 65_538];
    for device in [Device::cpu(), Device::emulated(Profile::SM_80, 3)] {
        let filter = Filter1d::correlate(&taps).samples::<u16>();
        fails(filter.prepare(&device), Filter2dError::WeightsTooLarge { magnitudes: 65_538 << 31, limit });
        assert!(Filter1d::correlate(&taps).samples::<u8>().prepare(&device).is_ok());
    }
}

#[test]
fn channels_that_do_not_divide() {
    for device in [Device::cpu(), Device::emulated(Profile::SM_80, 3)] {
        fails(Filter1d::correlate(&[1, 2]).channels(0).prepare(&device), Filter1dError::NoChannels);
        let error = Error::TooLarge { what: "the number of channels", factors: [65_536, 1], limit: 65_535 };
        fails(Filter1d::correlate(&[1, 2]).channels(65_536).prepare(&device), error);
        let filter = Filter1d::correlate(&[1, 2]).channels(3).prepare(&device).unwrap();
        let interleaving = |samples| Filter1dError::Interleaving { samples, channels: 3 };
        fails(filter.apply(&[1, 2, 3, 4]), interleaving(4));
        fails(filter.output_shape([7]), interleaving(7));
        fails(filter.plan([7]), interleaving(7));
        let (input, mut output) = (device.upload(&[1, 2]).unwrap(), device.upload(&[7, 8]).unwrap());
        fails(filter.apply_into(&input, &mut output), interleaving(2));
        assert_eq!(output.download().unwrap(), [7, 8]);
        let samples = array![[1, 2, 3, 4], [5, 6, 7, 8]];
        for axis in [0, 1] {
            fails(filter.along(axis).apply(samples.view()), interleaving(4));
            fails(filter.along(axis).output_shape([2, 4]), interleaving(4));
            fails(filter.along(axis).plan([2, 4]), interleaving(4));
            let (input, mut output) = (matrix(&device, samples.view()), matrix(&device, samples.view()));
            fails(filter.along(axis).apply_into(&input, &mut output), interleaving(4));
            assert_eq!(output.download().unwrap(), samples);
        }
    }
}

#[test]
fn an_output_of_the_wrong_length() {
    let mut data = Untouched::new();
    let filter = sum_of_three(&data.device);
    for actual in [0, 3, 5] {
        let mut output = data.device.upload(&vec![7; actual]).unwrap();
        fails(filter.apply_into(&data.input, &mut output), Error::Length { what: "the output", expected: 4, actual });
        assert_eq!(output.download().unwrap(), vec![7; actual]);
    }
    let full = Filter1d::correlate(&[1, 1, 1]).extent(Extent::Full).prepare(&data.device).unwrap();
    fails(full.apply_into(&data.input, &mut data.output), Error::Length { what: "the output", expected: 6, actual: 4 });
    let valid = Filter1d::correlate(&[1, 1, 1]).extent(Extent::Valid).prepare(&data.device).unwrap();
    fails(
        valid.apply_into(&data.input, &mut data.output),
        Error::Length { what: "the output", expected: 2, actual: 4 },
    );
    data.check();
}

#[test]
fn an_output_of_the_wrong_shape() {
    let device = Device::cpu();
    let samples = array![[1, 2, 3], [4, 5, 6]];
    let untouched = array![[-1, -2], [-3, -4], [-5, -6]];
    let input = matrix(&device, samples.view());
    let mut output = matrix(&device, untouched.view());
    let shape = |expected| Error::Shape { what: "the output", expected, actual: [3, 2] };
    let filter = sum_of_three(&device);
    fails(filter.along(0).apply_into(&input, &mut output), shape([2, 3]));
    fails(filter.along(1).apply_into(&input, &mut output), shape([2, 3]));
    let full = Filter1d::correlate(&[1, 1, 1]).extent(Extent::Full).prepare(&device).unwrap();
    fails(full.along(0).apply_into(&input, &mut output), shape([4, 3]));
    fails(full.along(1).apply_into(&input, &mut output), shape([2, 5]));
    assert_eq!(input.download().unwrap(), samples);
    assert_eq!(output.download().unwrap(), untouched);
}

#[test]
fn an_axis_that_does_not_exist() {
    let device = Device::cpu();
    let filter = sum_of_three(&device);
    let samples = Array2::from_elem((2, 3), 5);
    let input = matrix(&device, samples.view());
    let mut output = matrix(&device, samples.view());
    for axis in [2, usize::MAX] {
        let error = Filter1dError::Axis { axis, dimensions: 2 };
        fails(filter.along(axis).apply(samples.view()), error.clone());
        fails(filter.along(axis).apply_into(&input, &mut output), error.clone());
        fails(filter.along(axis).plan([2, 3]), error);
    }
    assert_eq!(output.download().unwrap(), samples);
}

#[test]
fn shapes_of_outputs_are_arrays_or_vectors() {
    let full = Filter1d::correlate(&[1.0f32; 5]).extent(Extent::Full).prepare(&Device::cpu()).unwrap();
    assert_eq!(full.output_shape(vec![3]), Ok(vec![7]));
    assert_eq!(full.along(0).output_shape(vec![3, 5]), Ok(vec![7, 5]));
    fails(full.output_shape(vec![3; 3]), Filter1dError::Dimensions { dimensions: 3 });
}

#[test]
fn too_many_outputs() {
    let full = Filter1d::correlate(&[1.0f32; 5]).extent(Extent::Full).prepare(&Device::cpu()).unwrap();
    let maximum = usize::MAX - 4;
    let large = |samples: usize| Error::TooLarge {
        what: "the number of samples",
        factors: [samples as u64, 1],
        limit: maximum as u64,
    };
    assert_eq!(full.along(0).output_shape([3, 5]), Ok([full.output_shape([3]).unwrap()[0], 5]));
    assert_eq!(full.along(1).output_shape([3, 5]), Ok([3, full.output_shape([5]).unwrap()[0]]));
    fails(full.along(2).output_shape([3, 5]), Filter1dError::Axis { axis: 2, dimensions: 2 });
    assert_eq!(full.output_shape([maximum]), Ok([usize::MAX]));
    fails(full.output_shape([maximum + 1]), large(maximum + 1));
    fails(full.output_shape([usize::MAX]), large(usize::MAX));
    fails(full.along(0).plan([usize::MAX, 1]), large(usize::MAX));
    fails(full.plan([usize::MAX]), large(usize::MAX));
}

/// A small matrix whose filtered matrix exceeds any memory.
#[test]
fn outputs_that_no_memory_holds() {
    let full = Filter1d::correlate(&vec![1.0f64; 1 << 23]).extent(Extent::Full).prepare(&Device::cpu()).unwrap();
    let wide = Array2::zeros((1, 1 << 23));
    fails(full.along(0).apply(wide.view()), Error::OutOfHostMemory { requested: 1 << 49 });
}
