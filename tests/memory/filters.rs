//! Filters, ranks and morphology.

use crate::call::{Attempt, Case, Left, replaced, returned, written};
use crate::common::{Draw, Random};
use slm::filter1d::ErrorBound;
use slm::ndarray::Array2;
use slm::{
    Boundary, Buffer2, Device, Extent, Filter1d, Filter2d, Morphology2d, NanPolicy, Rank1d, Rank2d, RankWindow, Result,
    StructuringElement,
};

/// Samples of a line.
const LEN: usize = 1 << 18;

/// Shape of a picture.
const SHAPE: (usize, usize) = (400, 500);

/// Shape of a picture whose outputs take long.
const SMALL: (usize, usize) = (150, 240);

/// A number of taps for which transforms take less time.
const MANY: usize = 10_001;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "filter1d::description", attempt: description },
        Case { name: "filter1d::generated", attempt: generated },
        Case { name: "filter1d::preparation", attempt: preparation },
        Case { name: "filter1d::direct", attempt: || lines(Filter1d::correlate(&taps(9))) },
        Case { name: "filter1d::box", attempt: || lines(Filter1d::box_blur(101)) },
        Case { name: "filter1d::strides", attempt: || lines(Filter1d::correlate(&taps(40)).stride(3)) },
        Case { name: "filter1d::channels", attempt: || lines(Filter1d::correlate(&taps(40)).channels(4)) },
        Case { name: "filter1d::into", attempt: lines_into },
        Case { name: "filter1d::bytes", attempt: bytes },
        Case { name: "filter1d::down_columns", attempt: || down_columns(Filter1d::correlate(&taps(9)), (20, 20_000)) },
        Case { name: "filter1d::views", attempt: || views(Filter1d::correlate(&taps(9))) },
        Case { name: "filter1d::fft", attempt: || lines(transformed()) },
        Case { name: "filter1d::fft_into", attempt: transformed_into },
        Case { name: "filter1d::fft_down_columns", attempt: || down_columns(transformed(), (100_000, 3)) },
        Case { name: "filter1d::fft_preparation", attempt: || preparation_of(transformed()) },
        Case { name: "filter2d::description", attempt: picture_description },
        Case { name: "filter2d::generated", attempt: generated_weights },
        Case { name: "filter2d::dense", attempt: || pictures(Filter2d::correlate(&weights(7, 5))) },
        Case { name: "filter2d::many_weights", attempt: || pictures(Filter2d::correlate(&weights(51, 60))) },
        Case { name: "filter2d::separable", attempt: || pictures(Filter2d::separable(&taps(9), &taps(31))) },
        Case { name: "filter2d::gaussian", attempt: || pictures(Filter2d::gaussian(4.0)) },
        Case { name: "filter2d::box", attempt: || pictures(Filter2d::box_blur(31, 51)) },
        Case { name: "filter2d::strides", attempt: || pictures(Filter2d::gaussian(2.0).stride(2, 3).dilation(2, 2)) },
        Case {
            name: "filter2d::nans",
            attempt: || pictures(Filter2d::gaussian(2.0).nan_policy(NanPolicy::Renormalise)),
        },
        Case { name: "filter2d::fft", attempt: || pictures(transformed_pictures()) },
        Case { name: "filter2d::fft_dense", attempt: || pictures(transformed_dense()) },
        Case { name: "filter2d::fft_preparation", attempt: picture_preparation },
        Case { name: "filter2d::with_gaps", attempt: with_gaps },
        Case { name: "filter2d::into_bytes", attempt: into_bytes },
        Case { name: "rank1d::median", attempt: || line_ranks(Rank1d::median(9)) },
        Case { name: "rank1d::minimum", attempt: || line_ranks(Rank1d::minimum(50)) },
        Case { name: "rank2d::small_median", attempt: || ranks(Rank2d::median(RankWindow::rectangle(3, 3))) },
        Case { name: "rank2d::large_median", attempt: || ranks(Rank2d::median(RankWindow::rectangle(15, 21))) },
        Case { name: "rank2d::percentile", attempt: || ranks(Rank2d::percentile(RankWindow::disc(5), 30.0)) },
        Case { name: "rank2d::minimum", attempt: || ranks(Rank2d::minimum(RankWindow::rectangle(21, 33))) },
        Case { name: "rank2d::maximum_of_a_disc", attempt: || ranks(Rank2d::maximum(RankWindow::disc(9))) },
        Case { name: "rank2d::floats", attempt: float_ranks },
        Case { name: "rank2d::footprint", attempt: footprint },
        Case { name: "morphology2d::erosion", attempt: || morphology(Morphology2d::erosion(RankWindow::disc(3))) },
        Case {
            name: "morphology2d::opening",
            attempt: || morphology(Morphology2d::opening(RankWindow::rectangle(9, 40))),
        },
        Case { name: "morphology2d::gradient", attempt: || morphology(Morphology2d::gradient(RankWindow::disc(5))) },
        Case { name: "morphology2d::heights", attempt: || morphology(Morphology2d::dilation(heights(9))) },
        Case { name: "morphology2d::description", attempt: morphology_description },
    ]
}

fn line<T: Draw>() -> Vec<T> {
    Random::new(1).values(LEN)
}

fn picture<T: Draw>(shape: (usize, usize)) -> Array2<T> {
    Array2::from_shape_vec(shape, Random::new(2).values(shape.0 * shape.1)).expect("a number for each pixel")
}

fn taps(count: usize) -> Vec<f32> {
    Random::new(3).values(count)
}

fn weights(rows: usize, columns: usize) -> Array2<f32> {
    Array2::from_shape_vec((rows, columns), Random::new(4).values(rows * columns)).expect("a number for each weight")
}

fn heights(size: usize) -> StructuringElement<u8> {
    StructuringElement::with_heights(&Array2::from_shape_fn((size, size), |(row, column)| (row * column % 7) as u8))
}

fn transformed() -> Filter1d<f32, f32> {
    Filter1d::correlate(&taps(MANY)).error_bound(ErrorBound::PerSegment).boundary(Boundary::Reflect)
}

fn transformed_pictures() -> Filter2d<f32, f32> {
    Filter2d::gaussian(300.0).error_bound(ErrorBound::PerSegment).boundary(Boundary::Nearest)
}

fn transformed_dense() -> Filter2d<f32, f32> {
    Filter2d::correlate(&weights(51, 60)).error_bound(ErrorBound::PerSegment).boundary(Boundary::Nearest)
}

fn description() -> Result<Attempt> {
    let taps = taps(LEN);
    returned(move || {
        let [correlation, convolution] = [Filter1d::<f32>::correlate(&taps), Filter1d::convolve(&taps)];
        Ok([correlation.taps()?[0], convolution.taps()?[0]])
    })
}

fn generated() -> Result<Attempt> {
    returned(|| Ok([Filter1d::<f32>::box_blur(LEN).taps()?[0], Filter1d::<f32>::gaussian(2e4).taps()?[0]]))
}

/// With taps that are added up because most are outside of the signal.
fn preparation() -> Result<Attempt> {
    let (filter, samples) = (Filter1d::correlate(&taps(LEN)).boundary(Boundary::Nearest), taps(9000));
    returned(move || filter.prepare(&Device::cpu())?.apply(&samples))
}

fn lines(filter: Filter1d<f32, f32>) -> Result<Attempt> {
    let (filter, samples) = (filter.extent(Extent::Full).prepare(&Device::cpu())?, line::<f32>());
    returned(move || filter.apply(&samples))
}

fn lines_into() -> Result<Attempt> {
    let device = Device::cpu();
    let (filter, samples) = (Filter1d::correlate(&taps(30)).prepare(&device)?, device.upload(&line::<f32>())?);
    written(device.zeroed::<f32>(LEN)?, move |outputs| filter.apply_into(&samples, outputs))
}

fn transformed_into() -> Result<Attempt> {
    let device = Device::cpu();
    let (filter, samples) = (transformed().prepare(&device)?, device.upload(&line::<f32>())?);
    written(device.zeroed::<f32>(LEN)?, move |outputs| filter.apply_into(&samples, outputs))
}

fn bytes() -> Result<Attempt> {
    let device = Device::cpu();
    let filter = Filter1d::correlate(&[1, 2, 3, 2, 1]).samples::<u8>().prepare(&device)?;
    let samples = device.upload(&line::<u8>())?;
    written(device.zeroed::<u8>(LEN)?, move |outputs| filter.apply_into(&samples, outputs))
}

fn down_columns(filter: Filter1d<f32, f32>, shape: (usize, usize)) -> Result<Attempt> {
    let device = Device::cpu();
    let filter = filter.prepare(&device)?.along(0);
    let samples = Buffer2::upload(&device, &picture(shape))?;
    let outputs = Buffer2::zeroed(&device, shape.0, shape.1)?;
    let set = move |outputs: &mut Buffer2<f32>| outputs.upload_into(&Array2::ones(shape));
    replaced(outputs, Left::Anything, set, Buffer2::download, move |outputs| filter.apply_into(&samples, outputs))
}

/// Columns of a matrix, which are copied first.
fn views(filter: Filter1d<f32, f32>) -> Result<Attempt> {
    let (filter, samples) = (filter.prepare(&Device::cpu())?, picture::<f32>(SHAPE));
    returned(move || filter.along(1).apply(samples.t()))
}

fn preparation_of(filter: Filter1d<f32, f32>) -> Result<Attempt> {
    let samples = line::<f32>();
    returned(move || filter.prepare(&Device::cpu())?.apply(&samples))
}

fn picture_description() -> Result<Attempt> {
    let weights = weights(900, 700);
    let line = taps(900 * 700);
    returned(move || {
        let [correlation, convolution] =
            [Filter2d::<f32, f32>::correlate(&weights), Filter2d::<f32, f32>::convolve(&weights)];
        let separable = Filter2d::<f32, f32>::separable(&line, &[1.0]);
        Ok([correlation.weights()?.sum(), convolution.weights()?.sum(), separable.weights()?.sum()])
    })
}

fn generated_weights() -> Result<Attempt> {
    returned(|| {
        let unsharp = Filter2d::<f32, f32>::unsharp(60.0, 0.5).weights()?;
        let blurs =
            [Filter2d::<f32, f32>::gaussian(70.0).weights()?, Filter2d::<f32, f32>::box_blur(700, 900).weights()?];
        Ok((unsharp.sum(), blurs.map(|weights| weights.sum())))
    })
}

fn pictures(filter: Filter2d<f32, f32>) -> Result<Attempt> {
    let device = Device::cpu();
    let filter = filter.prepare(&device)?;
    let samples = Buffer2::upload(&device, &picture(SHAPE))?;
    returned(move || filter.apply(&samples)?.download())
}

fn picture_preparation() -> Result<Attempt> {
    let (filter, samples) = (transformed_pictures(), picture::<f32>(SHAPE));
    returned(move || filter.prepare(&Device::cpu())?.apply(&samples))
}

fn with_gaps() -> Result<Attempt> {
    let device = Device::cpu();
    let filter = Filter2d::<f32, f32>::gaussian(1.5).prepare(&device)?;
    let samples = Buffer2::upload_pitched(&device, &picture(SHAPE), SHAPE.1 + 9)?;
    returned(move || filter.apply(&samples)?.download())
}

fn into_bytes() -> Result<Attempt> {
    let (filter, samples) =
        (Filter2d::<u8, f32>::box_blur(9, 9).output::<u8>().prepare(&Device::cpu())?, picture(SHAPE));
    returned(move || filter.apply(&samples))
}

fn line_ranks(filter: Rank1d<f32>) -> Result<Attempt> {
    let (filter, samples) = (filter.prepare(&Device::cpu())?, line::<f32>());
    returned(move || filter.apply(&samples))
}

fn ranks(filter: Rank2d<u8>) -> Result<Attempt> {
    let (filter, samples) = (filter.prepare(&Device::cpu())?, picture::<u8>(SMALL));
    returned(move || filter.apply(&samples))
}

fn float_ranks() -> Result<Attempt> {
    let (filter, samples) =
        (Rank2d::median(RankWindow::rectangle(15, 11)).prepare(&Device::cpu())?, picture::<f32>(SMALL));
    returned(move || filter.apply(&samples))
}

/// A window of any shape, made and used.
fn footprint() -> Result<Attempt> {
    let (mask, samples) = (Array2::from_shape_fn((400, 700), |(row, column)| (row + column) % 400 == 0), taps(20));
    let samples = Array2::from_shape_vec((4, 5), samples).expect("a number for each pixel");
    returned(move || Rank2d::maximum(RankWindow::footprint(&mask)).prepare(&Device::cpu())?.apply(&samples))
}

fn morphology(operation: Morphology2d<u8>) -> Result<Attempt> {
    let (operation, samples) = (operation.prepare(&Device::cpu())?, picture::<u8>(SMALL));
    returned(move || operation.apply(&samples))
}

fn morphology_description() -> Result<Attempt> {
    let (heights, samples) = (Array2::from_elem((150, 200), 1.0f32), Array2::<f32>::ones((3, 4)));
    returned(move || {
        let element = StructuringElement::with_heights(&heights);
        Morphology2d::opening(element).prepare(&Device::cpu())?.apply(&samples)
    })
}
