//! What every error of two-dimensional filters says, when the errors come, that a failed call changes nothing, and what is no
//! error.

use crate::errors::{fails, matrix, says};
use ndarray::{Array2, Array3, ArrayD, ArrayView2, IxDyn, array, aview0, aview1};
use slm::emulator::Profile;
use slm::filter2d::{Filter2dError, PreparedFilter2d, Unsupported};
use slm::{Boundary, Buffer2, Device, Error, Extent, Filter2d, Filter2dAlgorithm, Gaussian, NanPolicy};

type Integers = Filter2d<i32, i32>;

fn ones(rows: usize, columns: usize) -> Integers {
    Filter2d::correlate(Array2::from_elem((rows, columns), 1).view())
}

/// Checks the error of a filter. NaN is not equal to itself, so its text is compared.
#[track_caller]
fn is_refused<T>(result: slm::Result<T>, expected: impl Into<Error>) {
    let (error, expected) = (result.err().expect("there is no such filter"), expected.into());
    assert_eq!(error.to_string(), expected.to_string());
    assert_eq!(std::mem::discriminant(&error), std::mem::discriminant(&expected));
}

#[test]
fn texts() {
    let texts = [
        (
            Filter2dError::NoWeights { rows: 3, columns: 0 },
            "a filter must have at least 1 row and 1 column of weights, not 3 x 0",
        ),
        (
            Filter2dError::WeightsTooLarge { magnitudes: 12, limit: 11 },
            "the magnitudes of the weights sum to 12, but must sum to at most 11 for exact sums of this sample type",
        ),
        (
            Filter2dError::Parameter { what: "sigma", range: "from 0 to 128", value: f64::NAN },
            "sigma must be from 0 to 128, not NaN",
        ),
        (
            Filter2dError::Parameter { what: "sigma", range: "from 0 to 2^20", value: -1e-300 },
            "sigma must be from 0 to 2^20, not -1e-300",
        ),
        (
            Filter2dError::BoxTooHigh { rows: 1024, columns: 3, channels: 1, most: 441 },
            "Box takes at most 441 rows of 3 columns of weights for 1 channel on this device, not 1024",
        ),
        (
            Filter2dError::Zero { what: "the row stride of a filter" },
            "the row stride of a filter must be at least 1, not 0",
        ),
        (
            Filter2dError::Constants { rows: 0.0, columns: 0.1f32.into() },
            "the boundaries of rows and columns must have the same constant, but have 0 and 0.1",
        ),
        (
            Filter2dError::Origin { what: "the row origin of a filter", origin: 2, weights: 4 },
            "the row origin of a filter must be from -2 to 1 for 4 weights, not 2",
        ),
        (
            Filter2dError::ProductTooLarge { column: 16.0, row: -9.0, weights: "i8" },
            "the product of the weights 16 and -9 exceeds i8",
        ),
        (
            Filter2dError::UnequalWeights { weights: [3, 5] },
            "Box needs weights that are finite and all equal, but these 3 x 5 weights are not",
        ),
        (
            Filter2dError::Interleaving { columns: 7, channels: 3 },
            "7 columns cannot be divided evenly among 3 channels",
        ),
        (Filter2dError::Planes { rows: 7, planes: 0 }, "7 rows cannot be divided evenly among 0 planes"),
        (Filter2dError::Planes { rows: 1, planes: 2 }, "1 row cannot be divided evenly among 2 planes"),
        (
            Filter2dError::Channels { expected: 3, actual: 4 },
            "the last axis of the array has the length 4, but the filter has 3 channels",
        ),
        (
            Filter2dError::Dimensions { dimensions: 1, needed: 2 },
            "the array has 1 axis, but needs at least 2: rows, columns, and channels if they were set",
        ),
    ];
    texts.into_iter().for_each(|(error, text)| says(error, text, None));
}

/// The text names the property at fault, and what would not be at fault.
#[test]
fn texts_of_filters_without_kernels() {
    let types = Box::new(["u8", "f32", "f64", "u16"]);
    let texts = [
        (Unsupported::Strides([1, 2]), "strides of 1 and 2: it needs strides of 1"),
        (Unsupported::Dilations([3, 1]), "dilations of 3 and 1: it needs dilations of 1"),
        (Unsupported::MissingSamples, "NaNs that are left out: it needs NanPolicy::Propagate"),
        (
            Unsupported::Types { types, channels: 3, needed: "sums of f32" },
            "3-channel samples of u8, weights of f32, sums of f64 and outputs of u16: it needs sums of f32",
        ),
        (
            Unsupported::Weights { actual: [3, 5], sizes: &[3, 7] },
            "3 x 5 weights: it needs as many rows as columns, and one of the numbers [3, 7]",
        ),
    ];
    for (unsupported, text) in texts {
        let error = Filter2dError::NoKernel { algorithm: Filter2dAlgorithm::Streaming, unsupported };
        says(error, &format!("Streaming has no kernel for {text}"), None);
    }
}

#[test]
fn filters_without_weights() {
    for (rows, columns) in [(0, 0), (0, 3), (2, 0)] {
        let error = Filter2dError::NoWeights { rows, columns };
        let weights = Array2::<i32>::zeros((rows, columns));
        fails(ones(rows, columns).prepare(&Device::cpu()), error.clone());
        fails(Integers::convolve(weights.view()).prepare(&Device::cpu()), error.clone());
        fails(Integers::separable(&vec![1; rows], &vec![1; columns]).prepare(&Device::cpu()), error.clone());
        fails(Filter2d::<u8, f32>::box_blur(rows, columns).prepare(&Device::emulated(Profile::SM_90, 0)), error);
    }
}

#[test]
fn boundaries_with_two_constants() {
    let device = Device::cpu();
    let prepared = |rows, columns| Filter2d::<f32, _>::laplacian().boundaries(rows, columns).prepare(&device);
    let constant = Boundary::Constant;
    let (two, three, nan) = (constant(2.0), constant(3.0), constant(f32::NAN));
    let pairs = [(two, three, [2.0, 3.0]), (Boundary::Zero, two, [0.0, 2.0]), (two, Boundary::Zero, [2.0, 0.0])];
    for (above, before, [rows, columns]) in pairs {
        fails(prepared(above, before), Filter2dError::Constants { rows, columns });
    }
    for (above, before) in [(nan, two), (two, nan)] {
        assert!(matches!(prepared(above, before), Err(Error::Filter2d(Filter2dError::Constants { .. }))));
    }
    // The same constant, and one alone.
    for (above, before) in [
        (two, two),
        (nan, nan),
        (Boundary::Zero, constant(0.0)),
        (constant(-0.0), Boundary::Zero),
        (two, Boundary::Wrap),
    ] {
        assert!(prepared(above, before).is_ok(), "{above:?}, {before:?}");
        assert!(prepared(before, above).is_ok(), "{before:?}, {above:?}");
    }
}

#[test]
fn origins_outside_of_the_weights() {
    let device = Device::cpu();
    let [rows, columns] = ["the row origin of a filter", "the column origin of a filter"];
    let weights = Array2::from_elem((3, 4), 1);
    for filter in [Integers::correlate(weights.view()), Integers::convolve(weights.view())] {
        for origin in [-2, 2, isize::MIN, isize::MAX] {
            let error = Filter2dError::Origin { what: rows, origin, weights: 3 };
            fails(filter.clone().origin(origin, 9).prepare(&device), error);
        }
        for origin in [-3, 2, isize::MIN, isize::MAX] {
            let error = Filter2dError::Origin { what: columns, origin, weights: 4 };
            fails(filter.clone().origin(1, origin).extent(Extent::Full).prepare(&device), error);
        }
        for (row, column) in [(-1, -2), (1, 1)] {
            assert!(filter.clone().origin(row, column).prepare(&device).is_ok());
        }
    }
    // Without weights there is no range.
    fails(ones(0, 3).origin(1, 0).prepare(&device), Filter2dError::NoWeights { rows: 0, columns: 3 });
}

#[test]
fn steps_of_zero() {
    let zero = |what| Filter2dError::Zero { what };
    let of_rows = ["the row stride of a filter", "the row dilation of a filter"];
    let of_columns = ["the column stride of a filter", "the column dilation of a filter"];
    for ((rows, columns), [stride, dilation]) in [((0, 1), of_rows), ((1, 0), of_columns), ((0, 0), of_rows)] {
        fails(ones(3, 3).stride(rows, columns).prepare(&Device::cpu()), zero(stride));
        fails(ones(3, 3).dilation(rows, columns).prepare(&Device::cpu()), zero(dilation));
        // Also where a dilation makes no difference.
        fails(ones(1, 1).dilation(rows, columns).prepare(&Device::cpu()), zero(dilation));
    }
    fails(ones(3, 3).channels(0).prepare(&Device::cpu()), zero("the number of channels of a filter"));
}

#[test]
fn steps_that_are_too_large() {
    const MOST: usize = i32::MAX as usize;
    let large = |what, factors: [usize; 2], limit: usize| Error::TooLarge {
        what,
        factors: factors.map(|factor| factor as u64),
        limit: limit as u64,
    };
    let device = Device::cpu();
    for stride in [MOST + 1, usize::MAX] {
        let error = |what| large(what, [stride, 1], MOST);
        fails(ones(3, 3).stride(stride, 1).prepare(&device), error("the row stride of a filter"));
        fails(ones(3, 3).stride(1, stride).prepare(&device), error("the column stride of a filter"));
    }
    for (taps, dilation) in [(2, MOST), (3, MOST / 2 + 1), (5, usize::MAX / 2), (4, usize::MAX)] {
        let error = |what| large(what, [taps - 1, dilation], MOST - 1);
        let [rows, columns] = ["(rows of weights - 1) x row dilation", "(columns of weights - 1) x column dilation"];
        fails(ones(taps, 1).dilation(dilation, 1).prepare(&device), error(rows));
        fails(ones(1, taps).dilation(1, dilation).prepare(&device), error(columns));
    }
    for channels in [1 << 16, usize::MAX] {
        let error = large("the number of channels", [channels, 1], 65_535);
        fails(ones(3, 3).channels(channels).prepare(&device), error);
    }
    assert_eq!(
        large("the row stride of a filter", [MOST + 1, 1], MOST).to_string(),
        "the row stride of a filter is too large: 2147483648 exceeds 2147483647"
    );
    // The largest ones are fine.
    let far = ones(3, 1).dilation(MOST / 2, usize::MAX).stride(MOST, MOST).boundary(Boundary::Wrap);
    assert_eq!(far.prepare(&device).unwrap().apply(array![[1], [2]].view()), Ok(array![[5]]));
    assert_eq!(ones(1, 1).channels(65_535).prepare(&device).unwrap().output_shape([2, 3, 65_535]), Ok([2, 3, 65_535]));
}

/// For `i32` the limit is `(2^63 - 1) / 2^31`, rounded down.
#[test]
fn integer_weights_that_are_too_large() {
    let device = Device::cpu();
    let limit = (1 << 32) - 1;
    let error = Filter2dError::WeightsTooLarge { magnitudes: 1 << 32, limit };
    let most = array![[i32::MIN, i32::MIN]];
    fails(Integers::correlate(most.view()).prepare(&device), error.clone());
    fails(Integers::convolve(most.view()).prepare(&Device::emulated(Profile::SM_80, 0)), error);
    let sum = Integers::correlate(array![[i32::MIN, i32::MIN + 1]].view()).output::<f64>().prepare(&device).unwrap();
    assert_eq!(sum.apply(array![[i32::MIN, i32::MIN]].view()).unwrap()[[0, 1]], (2f64.powi(32) - 1.0) * 2f64.powi(31));
    let error = Filter2dError::WeightsTooLarge { magnitudes: 1 << 62, limit: ((1 << 63) - 1) / 255 };
    fails(Filter2d::<u8, i32>::separable(&[i32::MIN], &[i32::MIN]).prepare(&device), error);
    let error = Filter2dError::WeightsTooLarge { magnitudes: 1 << 64, limit: ((1 << 63) - 1) / 65_535 };
    fails(Filter2d::<u16, i32>::separable(&[i32::MIN; 2], &[i32::MIN; 2]).prepare(&device), error);
    // Sums of floats have no such limit.
    assert!(Filter2d::<f32, i32>::separable(&[i32::MIN; 2], &[i32::MIN; 2]).prepare(&device).is_ok());
}

#[test]
fn parameters_of_generated_weights() {
    let device = Device::cpu();
    let parameter = |what, range, value| Filter2dError::Parameter { what, range, value };
    for sigma in [f64::NAN, -1.0, -0.001, f64::INFINITY, 1_048_577.0] {
        is_refused(Filter2d::<u8, _>::gaussian(sigma).prepare(&device), parameter("sigma", "from 0 to 2^20", sigma));
        is_refused(
            Filter2d::<f64, _>::unsharp(sigma, 1.0).prepare(&device),
            parameter("sigma", "from 0 to 128", sigma),
        );
    }
    for sigmas in [[-1.0, 1.0], [1.0, -1.0]] {
        is_refused(Filter2d::<u8, _>::gaussian(sigmas).prepare(&device), parameter("sigma", "from 0 to 2^20", -1.0));
    }
    for sigmas in [f64::NAN, -0.5, f64::INFINITY] {
        let error = parameter("the truncation of a Gaussian", "finite and at least 0", sigmas);
        let [good, bad] = [Gaussian::new(1.0), Gaussian::new(1.0).truncate(sigmas)];
        is_refused(Filter2d::<u8, _>::gaussian([good, bad]).prepare(&device), error.clone());
        is_refused(Filter2d::<u8, _>::unsharp([bad, good], 1.0).prepare(&device), error);
    }
    let radius = |range, value| parameter("the radius of a Gaussian", range, value);
    let wide = |radius| Gaussian::new(2.0).radius(radius);
    let error = radius("from 0 to 2^22", 4_194_305.0);
    is_refused(Filter2d::<u8, _>::gaussian([wide(1), wide(4_194_305)]).prepare(&device), error);
    is_refused(Filter2d::<u8, _>::unsharp(wide(513), 1.0).prepare(&device), radius("from 0 to 512", 513.0));
    is_refused(Filter2d::<u8, _>::unsharp(128.5, 1.0).prepare(&device), parameter("sigma", "from 0 to 128", 128.5));
    for amount in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = parameter("the amount", "finite", amount);
        is_refused(Filter2d::<f32, _>::unsharp(1.0, amount).prepare(&device), error);
    }
    for taps in [(1 << 24) + 1, usize::MAX] {
        let error = |what| Error::TooLarge { what, factors: [taps as u64, 1], limit: 1 << 24 };
        fails(Filter2d::<u8, _>::box_blur(taps, 1).prepare(&device), error("the rows of a box"));
        fails(Filter2d::<u8, _>::box_blur(1, taps).prepare(&device), error("the columns of a box"));
    }
    assert_eq!(Filter2d::gaussian(0.0).prepare(&device).unwrap().apply(array![[7u8]].view()), Ok(array![[7]]));
}

#[test]
fn too_much_shared_memory() {
    let device = Device::emulated(Profile::SMALL, 0);
    let wide = ones(1, 2).dilation(1, 5000).algorithm(Filter2dAlgorithm::SharedTile);
    // Two weights rounded up to 16 bytes, and 16 rows of 5,032 samples of 8 bytes.
    let requested = 16 + 16 * 5032 * 8;
    let kernel = "filter2d_tile_i64".to_owned();
    fails(wide.prepare(&device), Error::SharedMemoryExceeded { kernel, requested, available: 65_536 });
    let automatic = wide.algorithm(Filter2dAlgorithm::Auto).prepare(&device).unwrap();
    assert_eq!(automatic.apply(array![[1, 2]].view()), Ok(array![[1, 2]]));
}

#[test]
fn register_tiles_have_no_steps_and_no_missing_samples() {
    let device = Device::emulated(Profile::SM_90, 0);
    let tiled = || Filter2d::<f32, _>::gaussian(1.0).algorithm(Filter2dAlgorithm::RegisterTiled);
    let error = |strides, dilation, renormalise| Filter2dError::RegisterTiled { strides, dilation, renormalise };
    fails(tiled().stride(2, 1).prepare(&device), error([2, 1], 1, false));
    fails(tiled().stride(1, 3).dilation(5, 4).prepare(&device), error([1, 3], 4, false));
    let renormalised = tiled().nan_policy(NanPolicy::Renormalise);
    fails(renormalised.prepare(&device), error([1, 1], 1, true));
    let text = "RegisterTiled needs strides and a column dilation of 1, and NaNs that propagate, but the strides are 1 and 3, \
                the column dilation is 4, and NaNs are left out";
    assert_eq!(error([1, 3], 4, true).to_string(), text);
    assert!(tiled().dilation(2, 1).prepare(&device).is_ok());
    // The CPU ignores the setting.
    assert!(renormalised.stride(2, 2).prepare(&Device::cpu()).is_ok());
}

/// `ndarray` multiplies all lengths other than 0, even if one of them is 0.
#[test]
fn outputs_that_no_array_holds() {
    let full = ones(3, 3).extent(Extent::Full).prepare(&Device::cpu()).unwrap();
    let side = 3_037_000_498;
    let result = full.apply(Array3::zeros((0, side, side)).view());
    let limit = isize::MAX as u64;
    fails(result, Error::TooLarge { what: "an array of outputs", factors: [side as u64 + 2; 2], limit });
    let side = side - 2;
    assert_eq!(full.apply(Array3::zeros((0, side, side)).view()).map(|empty| empty.dim()), Ok((0, side + 2, side + 2)));
}

/// A single weight has no distance to others, and a picture may be as small as the largest distance is large.
#[test]
fn dilations_without_effect() {
    for device in [Device::cpu(), Device::emulated(Profile::SM_90, 0)] {
        let far = ones(1, 1).dilation(usize::MAX, 1 << 32).prepare(&device).unwrap();
        assert_eq!(far.apply(array![[1, 2]].view()), Ok(array![[1, 2]]));
        let column = ones(2, 1).dilation(1, 7).algorithm(Filter2dAlgorithm::RegisterTiled).prepare(&device).unwrap();
        assert_eq!(column.apply(array![[1, 2], [4, 8]].view()), Ok(array![[1, 2], [5, 10]]));
        let most = i32::MAX as usize - 1;
        let wide = ones(2, 2).dilation(most, most).extent(Extent::Full).channels(3).prepare(&device).unwrap();
        assert_eq!(wide.apply(Array3::zeros((0, 0, 3)).view()).map(|empty| empty.len()), Ok(0));
    }
}

#[test]
fn arrays_with_other_axes() {
    let device = Device::cpu();
    let dimensions = |dimensions, needed| Filter2dError::Dimensions { dimensions, needed };
    let filter = ones(3, 3).prepare(&device).unwrap();
    fails(filter.apply(aview0(&1)), dimensions(0, 2));
    fails(filter.apply(aview1(&[1, 2])), dimensions(1, 2));
    let colours = ones(3, 3).channels(3).prepare(&device).unwrap();
    fails(colours.apply(array![[1, 2, 3]].view()), dimensions(2, 3));
    for actual in [0, 1, 4] {
        let error = Filter2dError::Channels { expected: 3, actual };
        fails(colours.apply(Array3::zeros((2, 2, actual)).view()), error);
    }
    let grey = ones(1, 1).channels(1).prepare(&device).unwrap();
    assert_eq!(grey.apply(array![[[5], [6]]].view()), Ok(array![[[5], [6]]]));
}

/// Two matrices that a failed call must leave as they are.
struct Untouched {
    device: Device,
    input: Buffer2<i32>,
    output: Buffer2<i32>,
}

impl Untouched {
    fn new(device: Device) -> Self {
        let input = matrix(&device, array![[1, 2, 3, 4], [5, 6, 7, 8]].view());
        let output = matrix(&device, array![[-1, -2, -3, -4], [-5, -6, -7, -8]].view());
        Untouched { device, input, output }
    }

    fn filter(&self) -> PreparedFilter2d<i32> {
        ones(1, 3).prepare(&self.device).unwrap()
    }

    #[track_caller]
    fn check(mut self) {
        assert_eq!(self.input.download().unwrap(), array![[1, 2, 3, 4], [5, 6, 7, 8]]);
        assert_eq!(self.output.download().unwrap(), array![[-1, -2, -3, -4], [-5, -6, -7, -8]]);
        self.filter().apply_into(&self.input, &mut self.output).unwrap();
        assert_eq!(self.output.download().unwrap(), array![[3, 6, 9, 7], [11, 18, 21, 15]]);
    }
}

fn devices() -> [Device; 2] {
    [Device::cpu(), Device::emulated(Profile::SM_75, 4)]
}

#[test]
fn matrices_that_do_not_divide() {
    for device in devices() {
        let mut data = Untouched::new(device);
        let colours = ones(3, 3).channels(3).prepare(&data.device).unwrap();
        let error = Filter2dError::Interleaving { columns: 4, channels: 3 };
        fails(colours.apply_into(&data.input, &mut data.output), error);
        for planes in [0, 3, usize::MAX] {
            let error = Filter2dError::Planes { rows: 2, planes };
            fails(data.filter().apply_into(data.input.planes(planes), &mut data.output), error);
        }
        data.check();
    }
}

#[test]
fn an_output_of_the_wrong_shape() {
    for device in devices() {
        let mut data = Untouched::new(device);
        let shape = |expected| Error::Shape { what: "the output", expected, actual: [2, 4] };
        let mut into = |filter: Integers, planes, expected| {
            let filter = filter.prepare(&data.device).unwrap();
            fails(filter.apply_into(data.input.planes(planes), &mut data.output), shape(expected));
        };
        into(ones(2, 3).extent(Extent::Full), 1, [3, 6]);
        into(ones(2, 3).extent(Extent::Full), 2, [4, 6]);
        into(ones(2, 3).extent(Extent::Valid), 1, [1, 2]);
        into(ones(2, 3).extent(Extent::Valid), 2, [0, 2]);
        into(ones(1, 1).stride(2, 3), 1, [1, 2]);
        into(ones(1, 3).channels(2).stride(1, 2), 1, [2, 2]);
        into(ones(1, 3).channels(4).extent(Extent::Full), 1, [2, 12]);
        data.check();
    }
}

#[test]
fn buffers_of_another_handle() {
    for device in devices() {
        let name = device.info().name.clone();
        let (mut data, mut other) = (Untouched::new(device), Untouched::new(Device::cpu()));
        let mismatch = |operand| Error::DeviceMismatch { operand, expected: name.clone(), actual: "CPU".to_owned() };
        let filter = data.filter();
        fails(filter.apply_into(&other.input, &mut data.output), mismatch("the input"));
        fails(filter.apply_into(&data.input, &mut other.output), mismatch("the output"));
        data.check();
        other.check();
    }
}

#[test]
fn shapes_of_outputs_are_arrays_or_vectors() {
    let full = ones(5, 3).extent(Extent::Full).prepare(&Device::cpu()).unwrap();
    assert_eq!(full.output_shape(vec![4, 7]), Ok(vec![8, 9]));
    assert_eq!(full.output_shape(vec![2, 4, 7]), Ok(vec![2, 8, 9]));
    assert_eq!(full.output_shape([2, 4, 7]), Ok([2, 8, 9]));
    assert!(full.output_shape(vec![4]).is_err());
}

#[test]
fn outputs_that_are_too_many() {
    let device = Device::cpu();
    let matrix = |factors: [usize; 2]| Error::TooLarge {
        what: "a matrix",
        factors: factors.map(|factor| factor as u64),
        limit: isize::MAX as u64,
    };
    let full = ones(5, 1).extent(Extent::Full).prepare(&device).unwrap();
    let samples = Error::TooLarge { what: "the number of samples", factors: [u64::MAX - 3, 1], limit: u64::MAX - 4 };
    assert_eq!(full.output_shape([usize::MAX - 4, 7]), Ok([usize::MAX, 7]));
    fails(full.output_shape([usize::MAX - 3, 7]), samples.clone());
    fails(full.plan([usize::MAX - 3, 7]), samples);
    fails(full.plan([1 << 62, 2]), matrix([1 << 62, 2]));
    let wide = ones(1, 1).channels(4).prepare(&device).unwrap();
    let row = Error::TooLarge { what: "a row", factors: [1 << 62, 4], limit: isize::MAX as u64 };
    fails(wide.plan([1, 1 << 62, 4]), row);
    // Rows of no columns take no memory, but they are counted.
    let far = ones(2, 1).dilation(1 << 30, 1).extent(Extent::Full).prepare(&device).unwrap();
    fails(far.apply(Array3::zeros((1 << 40, 1 << 20, 0)).view()), matrix([usize::MAX, 1]));
}

#[test]
fn pictures_that_no_memory_holds() {
    let device = Device::cpu();
    let number = 5;
    let view = aview0(&number);
    let view = view.broadcast((1 << 25, 1 << 25)).unwrap();
    fails(ones(1, 3).prepare(&device).unwrap().apply(view), Error::OutOfHostMemory { requested: 1 << 52 });
    let far = ones(2, 2).dilation(1 << 25, 1 << 25).extent(Extent::Full).prepare(&device).unwrap();
    let requested = ((1 << 25) + 1) * ((1 << 25) + 1) * 4;
    fails(far.apply(array![[1]].view()), Error::OutOfHostMemory { requested });
    // More weights than any memory holds: where they are stored one by one.
    let blur = Filter2d::<f32, _>::gaussian(1_048_576.0);
    let requested = 8_388_609 * 8_388_609 * 4;
    let error = Error::OutOfHostMemory { requested };
    fails(blur.clone().nan_policy(NanPolicy::Renormalise).prepare(&device).map(drop), error.clone());
    let dense = blur.clone().algorithm(Filter2dAlgorithm::GlobalMemory);
    fails(dense.prepare(&Device::emulated(Profile::SM_90, 0)).map(drop), error);
    assert!(blur.prepare(&Device::emulated(Profile::SM_90, 0)).is_ok());
}

#[test]
fn empty_pictures() {
    for device in devices() {
        for extent in [Extent::Same, Extent::Valid, Extent::Full] {
            let filter = ones(3, 3).extent(extent).prepare(&device).unwrap();
            let span = if extent == Extent::Full { 2 } else { 0 };
            let inside = |samples: usize| if extent == Extent::Valid { samples - 2 } else { samples + span };
            let empty = |shape: [usize; 2]| filter.apply(Array2::zeros(shape).view()).unwrap().dim();
            assert_eq!(empty([0, 5]), (0, inside(5)));
            assert_eq!(empty([5, 0]), (inside(5), 0));
            assert_eq!(empty([0, 0]), (0, 0));
            let batch = filter.apply(Array3::zeros((0, 4, 5)).view()).unwrap();
            assert_eq!(batch.dim(), (0, inside(4), inside(5)));
            let plan = filter.plan([0, 5]).unwrap();
            assert_eq!((plan.outputs, plan.launches.len()), (vec![0, inside(5)], 0));
        }
        // A kernel that is larger than the picture has no valid output.
        let valid = ones(4, 2).extent(Extent::Valid).prepare(&device).unwrap();
        assert_eq!(valid.apply(Array2::zeros((3, 5)).view()).unwrap().dim(), (0, 4));
        assert!(device.emulation_reports().is_empty());
    }
}

#[test]
fn zero_planes() {
    for device in devices() {
        let filter = ones(3, 3).extent(Extent::Full).prepare(&device).unwrap();
        let input = Buffer2::zeroed(&device, 0, 5).unwrap();
        for planes in [0, 1, 7] {
            let mut output = Buffer2::zeroed(&device, 0, 7).unwrap();
            assert_eq!(filter.apply_into(input.planes(planes), &mut output), Ok(()));
        }
    }
}

/// Any number of axes before the rows.
#[test]
fn batches() {
    let filter = ones(1, 2).channels(2).prepare(&Device::cpu()).unwrap();
    let samples = ArrayD::from_shape_fn(IxDyn(&[2, 1, 3, 2, 3, 2]), |i| (i[0] + 2 * i[2] + 6 * i[3]) as i32);
    let outputs = filter.apply(samples.view()).unwrap();
    assert_eq!(outputs.shape(), samples.shape());
    for (place, &output) in outputs.indexed_iter() {
        let expected = if place[4] == 0 { samples[&place] } else { 2 * samples[&place] };
        assert_eq!(output, expected, "{place:?}");
    }
}

/// A filter is a value: it can be compared, copied and prepared again, and a view may have any strides.
#[test]
fn descriptions() {
    let filter = ones(2, 3).stride(1, 2).boundary(Boundary::Constant(4));
    assert_eq!(filter, filter.clone());
    assert_ne!(filter, filter.clone().stride(2, 2));
    let weights = array![[1, 2, 3], [4, 5, 6]];
    let transposed: ArrayView2<'_, i32> = weights.t();
    let copied = transposed.to_owned();
    assert_eq!(Integers::correlate(transposed), Integers::correlate(copied.view()));
    assert_eq!(Integers::convolve(transposed), Integers::convolve(copied.view()));
    let prepared = filter.prepare(&Device::cpu()).unwrap();
    let several_threads_use = |_: &(dyn Send + Sync)| ();
    several_threads_use(&prepared);
    assert!(format!("{prepared:?}").starts_with("PreparedFilter2d"));
    assert_eq!(prepared.device().info().name, "CPU");
}
