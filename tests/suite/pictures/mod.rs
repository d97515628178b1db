//! Pictures of the crate `image` on every backend: each operation must return the same as on the slice or the array of their
//! subpixels, which the operations' own suites compare with the oracles.
//!
//! The pictures have every number of channels, several types of subpixels, and sizes that include empty ones. Their memory is
//! longer than they are, and their colour space is not the usual one.

mod gaps;
mod mismatches;

use crate::common::{Random, ensure, equal, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::image::metadata::Cicp;
use slm::image::{ImageBuffer, Luma, LumaA, Pixel, Rgb, Rgba};
use slm::ndarray::{Array3, ArrayView3, Axis, stack};
use slm::pictures::WithSubpixel;
use slm::{
    Boundary, Buffer2, Channels, Device, Extent, Filter1d, Filter2d, FilterElement, FilterSample, Histogram,
    HistogramElement, HistogramWeight, Morphology2d, PointwiseElement, Rank1d, Rank2d, RankElement, Transpose,
    TransposeElement,
};
use std::fmt::Debug;

/// The name of the suite.
const SUITE: &str = "pictures";

/// Widths and heights.
const SIZES: [[u32; 2]; 7] = [[0, 0], [0, 4], [3, 0], [1, 1], [1, 5], [7, 3], [19, 18]];

/// Elements of a picture's memory behind its subpixels.
const REST: usize = 5;

/// The colour space of all pictures.
const SPACE: Cicp = Cicp::DISPLAY_P3;

/// A picture that owns its subpixels.
type Picture<P> = ImageBuffer<P, Vec<<P as Pixel>::Subpixel>>;

/// A pixel, filtered to pixels of the same type.
trait SamePixel: Pixel + WithSubpixel<<Self as Pixel>::Subpixel, Pixel = Self> {}

impl<P: Pixel + WithSubpixel<<P as Pixel>::Subpixel, Pixel = P>> SamePixel for P {}

/// A trial with a name.
type Named = (&'static str, fn(&Device) -> Result<(), Failed>);

pub(super) fn trials() -> Vec<Trial> {
    let operations: [Named; 29] = [
        ("filter1d::rgb_f32", |device| lines::<Rgb<f32>, f32>(device)),
        ("filter1d::gray_alpha_f64", |device| lines::<LumaA<f64>, f64>(device)),
        ("filter1d::gray8", |device| lines::<Luma<u8>, f32>(device)),
        ("filter1d::rgb8", |device| lines::<Rgb<u8>, i32>(device)),
        ("filter1d::gray_alpha16", |device| lines::<LumaA<u16>, f32>(device)),
        ("filter1d::rgba16", |device| lines::<Rgba<u16>, i32>(device)),
        ("filter1d::rgb_i16", |device| lines::<Rgb<i16>, f64>(device)),
        ("filter1d::gray_i32", |device| lines::<Luma<i32>, i32>(device)),
        ("filter2d::gray8", |device| filters::<Luma<u8>, u8>(device)),
        ("filter2d::gray_alpha16", |device| filters::<LumaA<u16>, u16>(device)),
        ("filter2d::rgb8_to_i16", |device| filters::<Rgb<u8>, i16>(device)),
        ("filter2d::rgba16_to_f32", |device| filters::<Rgba<u16>, f32>(device)),
        ("filter2d::gray_f64_to_u8", |device| filters::<Luma<f64>, u8>(device)),
        ("filter2d::rgba_f32", |device| filters::<Rgba<f32>, f32>(device)),
        ("rank1d::rgb8", |device| ranks_of_lines::<Rgb<u8>>(device)),
        ("rank2d::gray8", |device| ranks::<Luma<u8>>(device)),
        ("rank2d::rgb16", |device| ranks::<Rgb<u16>>(device)),
        ("rank2d::rgba_f32", |device| ranks::<Rgba<f32>>(device)),
        ("morphology2d::gray_alpha16", |device| morphology::<LumaA<u16>>(device)),
        ("histogram::gray16", |device| histograms::<Luma<u16>>(device)),
        ("histogram::rgba8", |device| histograms::<Rgba<u8>>(device)),
        ("histogram::rgb_f32", |device| histograms::<Rgb<f32>>(device)),
        ("transpose::gray_alpha8", |device| transposes::<LumaA<u8>>(device)),
        ("transpose::rgb16", |device| transposes::<Rgb<u16>>(device)),
        ("transpose::rgba_f32", |device| transposes::<Rgba<f32>>(device)),
        ("channels::gray8", |device| planes::<Luma<u8>>(device)),
        ("channels::rgb8", |device| planes::<Rgb<u8>>(device)),
        ("channels::rgba_f32", |device| planes::<Rgba<f32>>(device)),
        ("sizes_of_batches", sizes_of_batches),
    ];
    let copies: [Named; 3] = [
        ("copies::gray8", |device| copies::<Luma<u8>>(device)),
        ("copies::rgb16", |device| copies::<Rgb<u16>>(device)),
        ("copies::rgba_f32", |device| copies::<Rgba<f32>>(device)),
    ];
    let named = operations.into_iter().chain(copies).chain(gaps::NAMED).chain(mismatches::NAMED);
    named.flat_map(|(name, test)| on_every_backend(SUITE, name, test)).collect()
}

/// Returns a picture of random subpixels from 0 to 255.
fn picture<P: Pixel<Subpixel: From<u8>>>([width, height]: [u32; 2]) -> Picture<P> {
    let len = (width * height) as usize * channels::<P>() + REST;
    let mut random = Random::new(len as u64);
    let samples = (0..len).map(|_| (random.below(256) as u8).into()).collect();
    let mut picture = ImageBuffer::from_raw(width, height, samples).expect("there are enough samples");
    picture.set_color_space(SPACE).expect("it is a space of RGB");
    picture
}

fn channels<P: Pixel>() -> usize {
    P::CHANNEL_COUNT.into()
}

/// The subpixels of a picture, without the rest of its memory.
fn samples<P: Pixel<Subpixel: From<u8>>>(picture: &Picture<P>) -> &[P::Subpixel] {
    let samples = picture.as_raw();
    &samples[..samples.len() - REST]
}

fn view<P: Pixel<Subpixel: From<u8>>>(picture: &Picture<P>) -> ArrayView3<'_, P::Subpixel> {
    let shape = (picture.height() as usize, picture.width() as usize, channels::<P>());
    ArrayView3::from_shape(shape, samples(picture)).expect("a picture has all of its subpixels")
}

fn filters<P, O>(device: &Device) -> Result<(), Failed>
where
    P: Pixel<Subpixel: FilterSample + From<u8>> + WithSubpixel<O>,
    O: FilterSample,
{
    for extent in [Extent::Same, Extent::Valid, Extent::Full] {
        let filter = Filter2d::<P::Subpixel, _>::gaussian(0.7).output::<O>().boundary(Boundary::Reflect).extent(extent);
        let filter = filter.channels(channels::<P>()).prepare(device)?;
        for size in SIZES {
            let picture = picture::<P>(size);
            let (actual, expected) = (filter.apply(&picture)?, filter.apply(view(&picture))?);
            let (rows, columns, _) = expected.dim();
            equal(actual.dimensions(), (columns as u32, rows as u32))?;
            equal(actual.as_raw(), &expected.into_raw_vec_and_offset().0)?;
            equal(actual.color_space(), SPACE)?;
        }
    }
    Ok(())
}

fn ranks<P>(device: &Device) -> Result<(), Failed>
where
    P: SamePixel<Subpixel: RankElement + From<u8>>,
{
    for extent in [Extent::Same, Extent::Valid, Extent::Full] {
        let filter = Rank2d::median(3).boundary(Boundary::Reflect).extent(extent).channels(channels::<P>());
        let filter = filter.prepare(device)?;
        for size in SIZES {
            let picture = picture::<P>(size);
            same_subpixels(&filter.apply(&picture)?, filter.apply(view(&picture))?)?;
        }
    }
    Ok(())
}

/// Ranks along both axes.
fn ranks_of_lines<P>(device: &Device) -> Result<(), Failed>
where
    P: SamePixel<Subpixel: RankElement + From<u8>>,
{
    let filter = Rank1d::maximum(4).boundary(Boundary::Nearest).channels(channels::<P>()).prepare(device)?;
    for (size, axis) in SIZES.into_iter().flat_map(|size| [(size, 0), (size, 1)]) {
        let picture = picture::<P>(size);
        let matrix = view(&picture).into_shape_with_order((size[1] as usize, size[0] as usize * channels::<P>()))?;
        let (actual, expected) = (filter.along(axis).apply(&picture)?, filter.along(axis).apply(matrix)?);
        equal(actual.dimensions(), (size[0], size[1]))?;
        equal(actual.as_raw(), &expected.into_raw_vec_and_offset().0)?;
        equal(actual.color_space(), SPACE)?;
    }
    Ok(())
}

fn morphology<P>(device: &Device) -> Result<(), Failed>
where
    P: SamePixel<Subpixel: RankElement + From<u8>>,
{
    let operations = [Morphology2d::opening([2, 3]), Morphology2d::gradient(3).boundary(Boundary::Mirror)];
    for operation in operations {
        let operation = operation.channels(channels::<P>()).prepare(device)?;
        for size in SIZES {
            let picture = picture::<P>(size);
            same_subpixels(&operation.apply(&picture)?, operation.apply(view(&picture))?)?;
        }
    }
    Ok(())
}

/// Compares a picture with the array of its subpixels.
fn same_subpixels<P: SamePixel>(actual: &Picture<P>, expected: Array3<P::Subpixel>) -> Result<(), Failed>
where
    P::Subpixel: PartialEq + Debug,
{
    let (rows, columns, _) = expected.dim();
    equal(actual.dimensions(), (columns as u32, rows as u32))?;
    equal(actual.as_raw(), &expected.into_raw_vec_and_offset().0)?;
    equal(actual.color_space(), SPACE)
}

/// Filters along both axes. Each channel must be what it is alone.
fn lines<P, W>(device: &Device) -> Result<(), Failed>
where
    P: SamePixel<Subpixel: FilterSample + From<u8>>,
    W: FilterElement + From<i8>,
{
    // Integers are within their range and beyond both ends.
    let taps: [W; 4] = [-1, 2, 1, -1].map(Into::into);
    for extent in [Extent::Same, Extent::Valid, Extent::Full] {
        let filter = Filter1d::correlate(&taps).samples::<P::Subpixel>().boundary(Boundary::Mirror).extent(extent);
        let alone = filter.prepare(device)?;
        let filter = filter.channels(channels::<P>()).prepare(device)?;
        for (size, axis) in SIZES.into_iter().flat_map(|size| [(size, 0), (size, 1)]) {
            let picture = picture::<P>(size);
            let (pixels, actual) = (view(&picture), filter.along(axis).apply(&picture)?);
            let mut planes = Vec::new();
            for channel in 0..channels::<P>() {
                planes.push(alone.along(axis).apply(pixels.index_axis(Axis(2), channel))?);
            }
            let planes: Vec<_> = planes.iter().map(|plane| plane.view()).collect();
            let expected = stack(Axis(2), &planes)?;
            equal(actual.dimensions(), (expected.dim().1 as u32, expected.dim().0 as u32))?;
            equal(actual.as_raw(), &expected.iter().copied().collect())?;
            equal(actual.color_space(), SPACE)?;
        }
    }
    Ok(())
}

fn histograms<P>(device: &Device) -> Result<(), Failed>
where
    P: SamePixel<Subpixel: HistogramElement + From<u8>>,
{
    let edges: [P::Subpixel; 4] = [3, 80, 81, 200].map(Into::into);
    let counted = channels::<P>().min(3);
    let histogram = Histogram::edges(&edges).channels(channels::<P>()).count(counted).prepare(device)?;
    for size in SIZES {
        let picture = picture::<P>(size);
        let counts = histogram.apply(&picture)?;
        equal(&counts, &histogram.apply(samples(&picture))?)?;
        equal(counts.total(), u64::from(size[0] * size[1]) * counted as u64)?;
    }
    weighted_histograms::<P, Rgb<f32>, 3>(device)?;
    weighted_histograms::<P, Luma<f64>, 1>(device)
}

/// Weights are pixels of the same number of channels, if that is `N`.
fn weighted_histograms<P, W, const N: usize>(device: &Device) -> Result<(), Failed>
where
    P: SamePixel<Subpixel: HistogramElement + From<u8>>,
    W: SamePixel<Subpixel: HistogramWeight + From<u8>>,
{
    let edges: [P::Subpixel; 3] = [3, 80, 200].map(Into::into);
    let histogram = Histogram::edges(&edges).channels(channels::<P>()).prepare(device)?;
    for size in SIZES {
        let (picture, weights) = (picture::<P>(size), picture::<W>(size));
        let actual = histogram.apply_weighted(&picture, &weights);
        if channels::<P>() == N {
            equal(&actual?.sums, &histogram.apply_weighted(samples(&picture), samples(&weights))?.sums)?;
        } else {
            let [samples, weights] =
                [channels::<P>(), N].map(|channels| vec![size[1] as usize, size[0] as usize, channels]);
            equal(actual.err(), Some(slm::Error::Axes { what: "the weights", expected: samples, actual: weights }))?;
        }
    }
    Ok(())
}

fn transposes<P>(device: &Device) -> Result<(), Failed>
where
    P: SamePixel<Subpixel: TransposeElement + From<u8>> + PartialEq + std::fmt::Debug,
{
    for [width, height] in SIZES {
        let picture = picture::<P>([width, height]);
        let transpose = Transpose::new(height as usize, width as usize).components(channels::<P>());
        let transposed = transpose.prepare(device)?.apply(&picture)?;
        let mut in_place = picture.clone();
        transpose.prepare_in_place(device)?.apply(&mut in_place)?;
        for actual in [&transposed, &in_place] {
            equal(actual.dimensions(), (height, width))?;
            equal(actual.color_space(), SPACE)?;
            let differs = picture.enumerate_pixels().find(|&(x, y, pixel)| actual.get_pixel(y, x) != pixel);
            ensure(differs.is_none(), || format!("{width} x {height}: {differs:?}"))?;
        }
    }
    Ok(())
}

/// Pixels are divided into planes below each other. These are united to the matrix of the subpixels.
fn planes<P>(device: &Device) -> Result<(), Failed>
where
    P: SamePixel<Subpixel: PointwiseElement + From<u8>>,
{
    let channels = channels::<P>();
    let (split, merge) = (Channels::split(channels).prepare(device)?, Channels::merge(channels).prepare(device)?);
    for [width, height] in SIZES {
        let picture = picture::<P>([width, height]);
        let planes = split.apply(&picture)?;
        equal(planes.dimensions(), (width, height * channels as u32))?;
        equal(planes.as_raw(), &split.apply(view(&picture))?.into_raw_vec_and_offset().0)?;
        equal(planes.color_space(), SPACE)?;
        let pixels = merge.apply(&planes)?;
        equal(pixels.dimensions(), (width * channels as u32, height))?;
        equal(pixels.as_raw().as_slice(), samples(&picture))?;
        equal(pixels.color_space(), SPACE)?;
    }
    Ok(())
}

/// Several matrices below each other are one picture.
fn sizes_of_batches(device: &Device) -> Result<(), Failed> {
    let picture = picture::<Luma<u8>>([3, 8]);
    let transpose = Transpose::new(2, 3).batch(4);
    let transposed = transpose.prepare(device)?.apply(&picture)?;
    equal(transposed.dimensions(), (2, 12))?;
    for (x, y, pixel) in picture.enumerate_pixels() {
        equal(transposed.get_pixel(y % 2, y / 2 * 3 + x), pixel)?;
    }
    let mut in_place = picture;
    transpose.prepare_in_place(device)?.apply(&mut in_place)?;
    equal(in_place.dimensions(), (2, 12))?;
    equal(samples(&in_place), transposed.as_raw().as_slice())
}

fn copies<P>(device: &Device) -> Result<(), Failed>
where
    P: Pixel<Subpixel: slm::Element + From<u8>>,
{
    for size in SIZES {
        let picture = picture::<P>(size);
        let [columns, rows] = size.map(|len| len as usize);
        let width = columns * channels::<P>();
        let matrix = Buffer2::upload_image(device, &picture)?;
        equal([matrix.rows(), matrix.columns(), matrix.buffer().len()], [rows, width, rows * width])?;
        equal_pictures(&matrix.download_image::<P>()?, &picture)?;
        // Gaps between rows are no pixels.
        let mut pitched = Buffer2::zeroed_pitched(device, rows, width, width + 7)?;
        pitched.copy_from(&matrix)?;
        equal_pictures(&pitched.download_image::<P>()?, &picture)?;
        // A picture may borrow its subpixels.
        let borrowed = ImageBuffer::<P, &[P::Subpixel]>::from_raw(size[0], size[1], samples(&picture));
        let borrowed = Buffer2::upload_image(device, &borrowed.expect("they are a picture"))?;
        equal_pictures(&borrowed.download_image::<P>()?, &picture)?;
    }
    Ok(())
}

/// Compares a downloaded picture.
fn equal_pictures<P>(actual: &Picture<P>, expected: &Picture<P>) -> Result<(), Failed>
where
    P: Pixel<Subpixel: slm::Element + From<u8>>,
{
    equal(actual.dimensions(), expected.dimensions())?;
    equal(actual.color_space(), Cicp::SRGB)?;
    equal(actual.as_raw().as_slice(), samples(expected))
}
