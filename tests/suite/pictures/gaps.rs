//! Pictures in matrices with gaps behind their rows: the results are those of the pictures, and gaps do not change.

use super::{Named, channels, picture, samples};
use crate::common::equal;
use libtest_mimic::Failed;
use slm::image::{Luma, Rgb, Rgba};
use slm::{
    Boundary, Buffer2, Convert, Device, Element, Extent, Filter1d, Filter2d, FilterSample, Histogram, HistogramElement,
    PointwiseElement, Transpose, TransposeElement,
};

pub(super) const NAMED: [Named; 4] = [
    ("gaps::gray8", |device| gaps::<Luma<u8>>(device)),
    ("gaps::rgb8", |device| gaps::<Rgb<u8>>(device)),
    ("gaps::rgba16", |device| gaps::<Rgba<u16>>(device)),
    ("gaps::rgb_f32", |device| gaps::<Rgb<f32>>(device)),
];

/// Width and height of the picture.
const SIZE: [u32; 2] = [9, 6];

/// Elements of a gap of the input and of the output. Neither is a multiple of the channels, nor are the pitches of a pack.
const GAPS: [usize; 2] = [5, 2];

/// Numbers in the gaps of the input and of the output.
const IN_GAPS: [u8; 2] = [255, 77];

/// The matrix of these elements, row after row, with a gap behind each row.
fn with_gaps<T: Element + From<u8>>(
    device: &Device,
    elements: &[T],
    [rows, columns]: [usize; 2],
) -> slm::Result<Buffer2<T>> {
    let gap = [T::from(IN_GAPS[0]); GAPS[0]];
    let memory: Vec<T> = elements.chunks(columns).flat_map(|row| row.iter().copied().chain(gap)).collect();
    Buffer2::from_buffer(device.upload(&memory)?, rows, columns, columns + GAPS[0])
}

/// A matrix for results.
fn unwritten<T: Element + From<u8>>(device: &Device, [rows, columns]: [usize; 2]) -> slm::Result<Buffer2<T>> {
    let pitch = columns + GAPS[1];
    Buffer2::from_buffer(device.upload(&vec![T::from(IN_GAPS[1]); rows * pitch])?, rows, columns, pitch)
}

/// Compares the elements of such a matrix, and its gaps with what they were.
fn check<T: Element + From<u8> + PartialEq>(actual: Buffer2<T>, expected: &[T]) -> Result<(), Failed> {
    let gap = [T::from(IN_GAPS[1]); GAPS[1]];
    let rows = expected.chunks(actual.columns());
    let expected: Vec<T> = rows.flat_map(|row| row.iter().copied().chain(gap)).collect();
    equal(actual.into_buffer().download()?, expected)
}

fn gaps<P>(device: &Device) -> Result<(), Failed>
where
    P: super::SamePixel<Subpixel: FilterSample + HistogramElement + TransposeElement + PointwiseElement + From<u8>>,
{
    let (picture, channels) = (picture::<P>(SIZE), channels::<P>());
    let [columns, rows] = SIZE.map(|len| len as usize);
    let shape = [rows, columns * channels];
    let matrix = with_gaps(device, samples(&picture), shape)?;

    for extent in [Extent::Same, Extent::Full] {
        let filter =
            Filter2d::<P::Subpixel, _>::gaussian(0.7).boundary(Boundary::Wrap).extent(extent).channels(channels);
        let filter = filter.prepare(device)?;
        let expected = filter.apply(super::view(&picture))?;
        let (rows, columns, _) = expected.dim();
        let mut output = unwritten(device, [rows, columns * channels])?;
        filter.apply_into(&matrix, &mut output)?;
        check(output, &expected.into_raw_vec_and_offset().0)?;

        let filter =
            Filter1d::<P::Subpixel, _>::gaussian(0.7).boundary(Boundary::Nearest).extent(extent).channels(channels);
        let filter = filter.prepare(device)?;
        for axis in [0, 1] {
            let mut output = unwritten(device, filter.along(axis).output_shape(shape)?)?;
            filter.along(axis).apply_into(&matrix, &mut output)?;
            check(output, filter.along(axis).apply(&picture)?.as_raw())?;
        }
    }

    let mut output = unwritten(device, [columns, rows * channels])?;
    let transpose = Transpose::new(rows, columns).components(channels).prepare(device)?;
    transpose.apply_into(&matrix, &mut output)?;
    check(output, transpose.apply(&picture)?.as_raw())?;

    let histogram =
        Histogram::edges(&[0, 100, 255].map(P::Subpixel::from)).closed().channels(channels).prepare(device)?;
    let mut counts = device.zeroed(histogram.counts_len())?;
    histogram.apply_into(&matrix, &mut counts)?;
    equal(histogram.counts(&counts)?, histogram.apply(&picture)?)?;

    let mut output = unwritten::<f32>(device, shape)?;
    let half = Convert::<P::Subpixel, f32>::new().scale(0.5).prepare(device)?;
    half.apply_into(&matrix, &mut output)?;
    check(output, &half.apply(samples(&picture))?)
}
