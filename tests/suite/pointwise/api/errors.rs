//! What every error of pointwise operations says, when the errors come, and that a failed call changes nothing.

use crate::errors::{fails, matrix, says};
use ndarray::{Array2, Array3, Array4, array};
use slm::emulator::Profile;
use slm::image::RgbImage;
use slm::pictures::PictureError;
use slm::pointwise::PointwiseError;
use slm::{Arithmetic, Channels, Convert, Device, Error, Histogram, Lookup, Map};

fn devices() -> [Device; 2] {
    [Device::cpu(), Device::emulated(Profile::SM_90, 0)]
}

#[test]
fn texts() {
    let texts = [
        (PointwiseError::Entries { expected: 256, actual: 255 }, "the length of the table is 255, but must be 256"),
        (PointwiseError::Edges { edges: 1, limit: 9 }, "a table needs from 2 to 9 edges, not 1"),
        (
            PointwiseError::EdgeOrder { index: 1, edge: 2.5, next: f64::NAN },
            "edges must ascend strictly, but edge 1 is 2.5 and the next one NaN",
        ),
        (
            PointwiseError::NotFinite { what: "scale", value: 1e39, kind: "f32" },
            "as a number of type f32 the scale must be finite, but 1e39 is not",
        ),
        (
            PointwiseError::Exponent { exponent: 1e-60, kind: "f32" },
            "as a number of type f32 the exponent must be finite and larger than 0, but 1e-60 is not",
        ),
        (
            PointwiseError::Bounds { lower: 2.0, upper: 1.0 },
            "the lower bound must not exceed the upper bound, but they are 2 and 1",
        ),
        (PointwiseError::Channels { channels: 0, limit: 9 }, "pixels must have from 1 to 9 channels, not 0"),
        (
            PointwiseError::ChannelAxis { expected: 3, actual: 4 },
            "the axis of channels has the length 4, but must have 3",
        ),
        (
            PointwiseError::Division { what: "columns", len: 7, channels: 3 },
            "7 columns cannot be divided evenly among 3 channels",
        ),
        (PointwiseError::Dimensions { dimensions: 4 }, "pixels and planes have from 1 to 3 axes, not 4"),
    ];
    texts.into_iter().for_each(|(error, text)| says(error, text, None));
}

#[test]
fn wrong_numbers_of_entries() {
    for device in devices() {
        for actual in [0, 255, 257] {
            let table = Lookup::<u8, f32>::values(&vec![0.0; actual]);
            fails(table.prepare(&device), PointwiseError::Entries { expected: 256, actual });
        }
        let error = PointwiseError::Entries { expected: 65_536, actual: 256 };
        fails(Lookup::<u16, u16>::values(&[0; 256]).prepare(&device), error);
        let between = Lookup::between(&[0, 1, 2], &[0u8]).below(1).above(2).nan(3);
        fails(between.prepare(&device), PointwiseError::Entries { expected: 2, actual: 1 });
    }
}

#[test]
fn wrong_numbers_of_counts() {
    for device in devices() {
        let what = "the buffer for the counts of Histogram::bytes()";
        for actual in [0, 256, 260, 65_539] {
            let counts = device.zeroed(actual).unwrap();
            fails(Lookup::<u8, u8>::equalise(&counts), Error::Length { what, expected: 259, actual });
        }
        let what = "the buffer for the counts of Histogram::low_bits(16)";
        let counts = device.zeroed(259).unwrap();
        fails(Lookup::<u16, u16>::equalise(&counts), Error::Length { what, expected: 65_539, actual: 259 });
        let counts = device.zeroed(Histogram::<u16>::low_bits(12).prepare(&device).unwrap().counts_len()).unwrap();
        let text = "the length of the buffer for the counts of Histogram::low_bits(16) is 4099, but must be 65539";
        says(Lookup::<u16, u16>::equalise(&counts).unwrap_err(), text, None);
    }
}

#[test]
fn invalid_edges() {
    let device = Device::cpu();
    const LIMIT: usize = (1 << 24) + 1;
    for edges in [0, 1, LIMIT + 1] {
        let ascending: Vec<i32> = (0..edges as i32).collect();
        let error = PointwiseError::Edges { edges, limit: LIMIT };
        fails(Lookup::between(&ascending, &[0u8]).prepare(&device), error);
    }
    let order = |edges: &[f64]| Lookup::between(edges, &vec![0u8; edges.len() - 1]).prepare(&device).err();
    for (edges, index) in [([1.0, 1.0, 2.0], 0), ([0.0, 2.0, 1.0], 1), ([-0.0, 0.0, 1.0], 0)] {
        let error = PointwiseError::EdgeOrder { index, edge: edges[index], next: edges[index + 1] };
        assert_eq!(order(&edges), Some(error.into()));
    }
    for edges in [[f64::NAN, 1.0, 2.0], [0.0, 1.0, f64::NAN]] {
        assert!(matches!(order(&edges), Some(Error::Pointwise(PointwiseError::EdgeOrder { .. }))));
    }
    assert_eq!(order(&[f64::NEG_INFINITY, 0.0, f64::INFINITY]), None);
}

#[test]
fn invalid_parameters() {
    for device in devices() {
        for exponent in [0.0, -1.0, f64::INFINITY, f64::NEG_INFINITY] {
            fails(Map::<f64>::gamma(exponent).prepare(&device), PointwiseError::Exponent { exponent, kind: "f64" });
        }
        // Single precision has no such number.
        for exponent in [1e-60, 1e60] {
            fails(Map::<f32>::gamma(exponent).prepare(&device), PointwiseError::Exponent { exponent, kind: "f32" });
            assert!(Map::<f64>::gamma(exponent).prepare(&device).is_ok());
        }
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e39, -1e39] {
            let not_finite = |kind| {
                move |error: Option<Error>, expected: &str| {
                    let Some(Error::Pointwise(PointwiseError::NotFinite { what, value: actual, kind: of })) = error
                    else {
                        panic!("{error:?}")
                    };
                    assert_eq!((what, actual.to_bits(), of), (expected, value.to_bits(), kind));
                }
            };
            not_finite("f32")(Convert::<f32, u8>::new().scale(value).prepare(&device).err(), "scale");
            not_finite("f32")(Convert::<u8, f32>::new().offset(value).prepare(&device).err(), "offset");
            if value.abs() == 1e39 {
                assert!(Convert::<i32, f32>::new().scale(value).offset(value).prepare(&device).is_ok());
            } else {
                not_finite("f64")(Convert::<i32, f32>::new().scale(value).prepare(&device).err(), "scale");
                not_finite("f64")(Convert::<f64, i16>::new().offset(value).prepare(&device).err(), "offset");
            }
        }
        fails(Map::clamp(2, 1).prepare(&device), PointwiseError::Bounds { lower: 2.0, upper: 1.0 });
        for bounds in [[f32::NAN, 1.0], [1.0, f32::NAN]] {
            let error = Map::clamp(bounds[0], bounds[1]).prepare(&device).err();
            assert!(matches!(error, Some(Error::Pointwise(PointwiseError::Bounds { .. }))));
        }
        assert_eq!(Map::clamp(1, 1).prepare(&device).unwrap().apply(&[0, 1, 2]), Ok(vec![1; 3]));
    }
}

#[test]
fn lengths_and_shapes() {
    for device in devices() {
        let (convert, sum) = (Convert::new().prepare(&device).unwrap(), Arithmetic::add().prepare(&device).unwrap());
        let (x, longer) = (device.upload(&[1, 2, 3]).unwrap(), device.upload(&[1, 2, 3, 4]).unwrap());
        let mut y = device.upload(&[7, 8, 9, 10]).unwrap();
        let length = |what, actual| Error::Length { what, expected: 3, actual };
        fails(convert.apply_into(&x, &mut y), length("the output", 4));
        fails(sum.apply_into(&x, &longer, &mut y), length("the second input", 4));
        fails(sum.apply_into(&x, &x, &mut y), length("the output", 4));
        fails(sum.apply(&[1, 2, 3], &[1]), length("the second input", 1));
        assert_eq!(y.download().unwrap(), [7, 8, 9, 10]);

        let shape = |what, actual| Error::Shape { what, expected: [2, 3], actual };
        let x = matrix(&device, array![[1, 2, 3], [4, 5, 6]].view());
        let turned = matrix(&device, array![[1, 2], [3, 4], [5, 6]].view());
        let mut y = matrix(&device, Array2::from_elem((2, 2), 9).view());
        fails(convert.apply_into(&x, &mut y), shape("the output", [2, 2]));
        fails(sum.apply_into(&x, &turned, &mut y), shape("the second input", [3, 2]));
        fails(sum.apply_into(&x, &x, &mut y), shape("the output", [2, 2]));
        assert_eq!(y.download().unwrap(), Array2::from_elem((2, 2), 9));

        let (a, b) = (array![[1, 2, 3]], array![[1], [2], [3]]);
        let error = Error::Shape { what: "the second input", expected: [1, 3], actual: [3, 1] };
        fails(sum.apply(a.view(), b.view()), error);
    }
}

#[test]
fn buffers_of_another_handle() {
    let (device, other) = (Device::cpu(), Device::cpu());
    let mismatch = |operand| Error::DeviceMismatch { operand, expected: "CPU".to_owned(), actual: "CPU".to_owned() };
    let (x, foreign) = (device.upload(&[1, 2, 3]).unwrap(), other.upload(&[1, 2, 3]).unwrap());
    let mut y = device.upload(&[7, 8, 9]).unwrap();
    let mut of_other = other.upload(&[7, 8, 9]).unwrap();
    let square = Map::square().prepare(&device).unwrap();
    fails(square.apply_into(&foreign, &mut y), mismatch("the input"));
    fails(square.apply_into(&x, &mut of_other), mismatch("the output"));
    let sum = Arithmetic::add().prepare(&device).unwrap();
    fails(sum.apply_into(&foreign, &x, &mut y), mismatch("the first input"));
    fails(sum.apply_into(&x, &foreign, &mut y), mismatch("the second input"));
    fails(sum.apply_into(&x, &x, &mut of_other), mismatch("the output"));
    assert_eq!((y.download(), of_other.download()), (Ok(vec![7, 8, 9]), Ok(vec![7, 8, 9])));
}

#[test]
fn channels_that_do_not_fit() {
    for device in devices() {
        for channels in [0, 65_536, usize::MAX] {
            let error = PointwiseError::Channels { channels, limit: 65_535 };
            fails(Channels::<u8>::split(channels).prepare(&device), error.clone());
            fails(Channels::<u8>::merge(channels).prepare(&device), error);
        }
        let [split, merge] = [Channels::split(3), Channels::merge(3)].map(|it| it.prepare(&device).unwrap());
        let six = || matrix(&device, Array2::from_elem((6, 6), 1).view());
        let seven = || matrix(&device, Array2::from_elem((7, 7), 1).view());
        let division = |what| PointwiseError::Division { what, len: 7, channels: 3 };
        fails(split.apply_into(&seven(), &mut six()), division("columns"));
        fails(merge.apply_into(&seven(), &mut six()), division("rows"));
        let shape = |expected| Error::Shape { what: "the output", expected, actual: [6, 6] };
        fails(split.apply_into(&six(), &mut six()), shape([18, 2]));
        fails(merge.apply_into(&six(), &mut six()), shape([2, 18]));
        let axis = PointwiseError::ChannelAxis { expected: 3, actual: 4 };
        fails(split.apply(Array3::from_elem((3, 3, 4), 1).view()), axis.clone());
        fails(merge.apply(Array3::from_elem((4, 3, 3), 1).view()), axis);
        for operation in [split, merge] {
            fails(operation.apply(&Array4::from_elem((3, 1, 1, 3), 1)), PointwiseError::Dimensions { dimensions: 4 });
            fails(operation.plan([]), PointwiseError::Dimensions { dimensions: 0 });
            fails(operation.apply(&[1; 7]), division("elements"));
            let length = Error::Length { what: "the output", expected: 6, actual: 7 };
            let (input, mut output) = (device.upload(&[1; 6]).unwrap(), device.upload(&[1; 7]).unwrap());
            fails(operation.apply_into(&input, &mut output), length);
        }
        let pixels = |operation, expected| PictureError::Channels { operation, expected, actual: 3 };
        for (operation, error) in [
            (Channels::split(4), pixels("the division into planes", 4)),
            (Channels::split(1), pixels("the division into planes", 1)),
            (Channels::merge(3), pixels("the union of planes", 1)),
        ] {
            fails(operation.prepare(&device).unwrap().apply(&RgbImage::new(3, 3)), error);
        }
    }
}
