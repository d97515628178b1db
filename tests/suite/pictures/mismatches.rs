//! Pictures that do not fit to the operation: errors, and nothing changes.

use super::{Named, Picture, picture};
use crate::common::equal;
use libtest_mimic::Failed;
use slm::filter1d::Filter1dError;
use slm::image::{ImageBuffer, Luma, LumaA, Pixel, Rgb, Rgba};
use slm::ndarray::Array2;
use slm::pictures::PictureError;
use slm::{Buffer2, Device, Error, Filter1d, Filter2d, Histogram, Transpose};

pub(super) const NAMED: [Named; 3] =
    [("mismatches::channels", channels), ("mismatches::shapes", shapes), ("mismatches::columns", columns)];

fn error(operation: &'static str, expected: usize, actual: usize) -> Error {
    PictureError::Channels { operation, expected, actual }.into()
}

fn channels(device: &Device) -> Result<(), Failed> {
    let (gray, colour) = (picture::<Luma<u8>>([4, 3]), picture::<Rgb<u8>>([4, 3]));
    let lines = Filter1d::correlate(&[1, 2, 1]).channels(3).prepare(device)?;
    let numbers = ImageBuffer::<Luma<i32>, Vec<i32>>::from_raw(1, 2, vec![5, 6]).expect("two pixels");
    equal(lines.along(0).apply(&numbers).err(), Some(error("the filter", 3, 1)))?;
    let lines = Filter1d::correlate(&[1, 2, 1]).prepare(device)?;
    let no_axis = Filter1dError::Axis { axis: 2, dimensions: 2 };
    equal(lines.along(2).apply(&numbers).err(), Some(no_axis.into()))?;
    let filter = Filter2d::box_blur(3, 3).prepare(device)?;
    equal(filter.apply(&colour).err(), Some(error("the filter", 1, 3)))?;
    let filter = Filter2d::box_blur(3, 3).channels(4).prepare(device)?;
    equal(filter.apply(&gray).err(), Some(error("the filter", 4, 1)))?;
    equal(filter.apply(&picture::<LumaA<u8>>([0, 0])).err(), Some(error("the filter", 4, 2)))?;
    let histogram = Histogram::bytes().prepare(device)?;
    equal(histogram.apply(&colour).err(), Some(error("the histogram", 1, 3)))?;
    let histogram = Histogram::bytes().channels(4).count(3).prepare(device)?;
    equal(histogram.apply(&colour).err(), Some(error("the histogram", 4, 3)))?;
    let weights = picture::<Rgb<f32>>([4, 3]);
    equal(histogram.apply_weighted(&colour, &weights).err(), Some(error("the histogram", 4, 3)))?;
    let histogram = Histogram::bytes().channels(3).prepare(device)?;
    let turned = Error::Axes { what: "the weights", expected: vec![3, 4, 3], actual: vec![4, 3, 3] };
    equal(histogram.apply_weighted(&colour, &picture::<Rgb<f32>>([3, 4])).err(), Some(turned))?;
    let transpose = Transpose::new(3, 4).components(4);
    let of_transposition = Some(error("the transposition", 4, 3));
    equal(transpose.prepare(device)?.apply(&colour).err(), of_transposition.clone())?;
    equal(in_place(device, &transpose, &colour)?, of_transposition)
}

/// Returns the error of a transposition in place, which must leave the picture as it is.
fn in_place<P>(device: &Device, transpose: &Transpose<u8>, picture: &Picture<P>) -> Result<Option<Error>, Failed>
where
    P: Pixel<Subpixel = u8> + PartialEq + std::fmt::Debug,
{
    let mut actual = picture.clone();
    let result = transpose.prepare_in_place(device)?.apply(&mut actual);
    equal(&actual, picture)?;
    Ok(result.err())
}

fn shapes(device: &Device) -> Result<(), Failed> {
    let picture = picture::<Rgba<u8>>([4, 3]);
    for (rows, columns, count) in [(4, 3, 1), (3, 5, 1), (1, 4, 2), (3, 4, 0), (12, 1, 1)] {
        let transpose = Transpose::new(rows, columns).batch(count).components(4);
        let expected = [count * rows, columns];
        let error = Some(Error::Shape { what: "the picture", expected, actual: [3, 4] });
        equal(transpose.prepare(device)?.apply(&picture).err(), error.clone())?;
        equal(in_place(device, &transpose, &picture)?, error)?;
    }
    Ok(())
}

fn columns(device: &Device) -> Result<(), Failed> {
    let matrix = Buffer2::upload(device, Array2::from_elem((2, 7), 5u8).view())?;
    let error = |channels| Some(PictureError::Interleaving { columns: 7, channels }.into());
    equal(matrix.download_image::<LumaA<u8>>().err(), error(2))?;
    equal(matrix.download_image::<Rgb<u8>>().err(), error(3))?;
    equal(matrix.download_image::<Rgba<u8>>().err(), error(4))?;
    equal(matrix.download_image::<Luma<u8>>()?.dimensions(), (7, 2))?;
    // Columns without rows, which a picture cannot have as many of.
    let wide = 3 << 32;
    let none = Buffer2::<u8>::zeroed(device, 0, wide)?;
    let too_large = Error::TooLarge { what: "the width of a picture", factors: [1 << 32, 1], limit: u32::MAX.into() };
    equal(none.download_image::<Rgb<u8>>().err(), Some(too_large))?;
    let none = Buffer2::<u8>::zeroed(device, wide, 0)?;
    let too_large = Error::TooLarge { what: "the height of a picture", factors: [3 << 32, 1], limit: u32::MAX.into() };
    equal(none.download_image::<Rgb<u8>>().err(), Some(too_large))
}
