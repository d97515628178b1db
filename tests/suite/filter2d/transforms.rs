//! Outer products with many weights, by sums and with the bound that allows transforms: the same outputs within less than this bound.

use super::SUITE;
use crate::common::{Random, ensure, equal, is_cuda, is_slow, on_every_backend, same};
use libtest_mimic::{Failed, Trial};
use ndarray::{Array2, Array3, Array4, s};
use slm::filter1d::ErrorBound;
use slm::filter2d::PreparedFilter2d;
use slm::{Backend, Boundary, Buffer2, Device, Extent, Filter2d, Filter2dAlgorithm, FilterSample, FilterWeight};
use std::ops::Range;

const BOUNDARIES: [Boundary<f32>; 6] =
    [Boundary::Zero, Boundary::Constant(-0.5), Boundary::Nearest, Boundary::Reflect, Boundary::Mirror, Boundary::Wrap];
const EXTENTS: [Extent; 3] = [Extent::Same, Extent::Valid, Extent::Full];

/// Rows and columns of weights: both long, or one of them.
const WEIGHTS: [[usize; 2]; 4] = [[197, 130], [301, 1], [1, 192], [200, 96]];

/// Planes, rows, columns and channels. GPUs take transforms for the last two.
const SHAPES: [[usize; 4]; 5] = [[1, 1, 1, 1], [1, 3, 140, 2], [2, 150, 64, 3], [1, 400, 310, 1], [2, 900, 1100, 3]];

pub(super) fn trials() -> Vec<Trial> {
    let tests: [(&str, fn(&Device) -> Result<(), Failed>); 7] = [
        ("transforms::every_border", every_border),
        ("transforms::pitched", pitched),
        ("transforms::means", means),
        ("transforms::chosen", chosen),
        ("transforms::not_finite", not_finite),
        ("transforms::badly_scaled", badly_scaled),
        ("transforms::not_finite_far_away", not_finite_far_away),
    ];
    tests.into_iter().flat_map(|(name, test)| on_every_backend(SUITE, name, test)).collect()
}

/// Compares with sums.
fn every_border(device: &Device) -> Result<(), Failed> {
    let (shapes, every) =
        if is_slow(device) { (&SHAPES[..1], 9) } else { (&SHAPES[..if is_cuda(device) { 5 } else { 4 }], 1) };
    for number in (0..BOUNDARIES.len() * EXTENTS.len()).step_by(every) {
        let (boundary, extent) = (BOUNDARIES[number % 6], EXTENTS[number / 6]);
        for (place, &shape) in shapes.iter().enumerate() {
            let random = &mut Random::new((number * SHAPES.len() + place) as u64);
            let [column, row] = WEIGHTS[(number + place) % WEIGHTS.len()].map(|taps| random.values::<f32>(taps));
            let samples = random.values::<f32>(shape.iter().product());
            let total = [&column, &row].map(|weights| weights.iter().map(|weight| weight.abs()).sum::<f32>());
            let [planes, rows, columns, channels] = shape;
            let picture = Array4::from_shape_vec((planes, rows, columns, channels), samples)?;
            let filter = Filter2d::separable(&column, &row).boundary(boundary).extent(extent).channels(channels);
            let outputs = by_both(device, &filter, |filter| filter.apply(&picture))?;
            let [expected, outputs @ ..] = outputs.map(|outputs| outputs.into_raw_vec_and_offset().0);
            for outputs in outputs {
                near(&expected, &outputs, 1e-5 * total[0] * total[1])?;
            }
        }
    }
    Ok(())
}

/// Returns the outputs by sums on the CPU, and those of the device with each bound.
fn by_both<S: FilterSample, W: FilterWeight, R>(
    device: &Device,
    filter: &Filter2d<S, W>,
    apply: impl Fn(&PreparedFilter2d<S>) -> slm::Result<R>,
) -> slm::Result<[R; 3]> {
    let with = |device, bound| apply(&filter.clone().error_bound(bound).prepare(device)?);
    let [per_output, per_segment] = [ErrorBound::PerOutput, ErrorBound::PerSegment];
    Ok([with(&Device::cpu(), per_output)?, with(device, per_output)?, with(device, per_segment)?])
}

fn near(sums: &[f32], outputs: &[f32], most: f32) -> Result<(), Failed> {
    equal(outputs.len(), sums.len())?;
    let worst = sums.iter().zip(outputs).map(|(sum, output)| (sum - output).abs()).fold(0.0, f32::max);
    ensure(worst <= most, || format!("an error of {worst} instead of at most {most}"))
}

/// Two planes with gaps between their rows: outputs are those of pictures without gaps, and the gaps stay.
fn pitched(device: &Device) -> Result<(), Failed> {
    let [rows, columns] = if is_slow(device) { [2, 3] } else { [75, 64] };
    let filter = Filter2d::<f32, f32>::gaussian(30.0).channels(3).boundary(Boundary::Mirror);
    gaps_stay(device, &filter.error_bound(ErrorBound::PerSegment).prepare(device)?, [rows, columns])
}

/// The same for a filter and two planes of this many rows and columns of pixels with three channels.
pub(super) fn gaps_stay(
    device: &Device,
    filter: &PreparedFilter2d<f32>,
    [rows, columns]: [usize; 2],
) -> Result<(), Failed> {
    let samples = Random::new(3).values::<f32>(2 * rows * columns * 3);
    let expected = filter.apply(&Array4::from_shape_vec((2, rows, columns, 3), samples.clone())?)?;
    let (height, width) = (2 * rows, 3 * columns);
    let picture = Array2::from_shape_vec((height, width), samples)?;
    let input = Buffer2::upload_pitched(device, &picture, width + 3)?;
    let mut output = Buffer2::zeroed_pitched(device, height, width, width + 7)?;
    filter.apply_into(input.planes(2), &mut output)?;
    same(output.download()?.as_slice().unwrap_or_default(), expected.as_slice().unwrap_or_default())?;
    let all = output.into_buffer().download()?;
    ensure(all.chunks(width + 7).all(|row| row[width.min(row.len())..].iter().all(|gap| *gap == 0.0)), || {
        "a gap".into()
    })
}

/// Gaussians of integers leave a constant picture as it is, and differ from sums by one in few places.
fn means(device: &Device) -> Result<(), Failed> {
    let shape = if is_slow(device) { (2, 9, 3) } else { (130, 170, 3) };
    let blur = Filter2d::<u8, f32>::gaussian(30.0).channels(3).boundary(Boundary::Reflect);
    let wide = Filter2d::<u8, f32>::gaussian(400.0).channels(3).boundary(Boundary::Nearest);
    for (blur, value) in [(&blur, 201), (&blur, 255), (&wide, 254), (&wide, 255)] {
        let constant = Array3::from_elem(shape, value);
        for outputs in by_both(device, blur, |filter| filter.apply(&constant))? {
            equal(&outputs, &constant)?;
        }
    }
    let random = Array3::from_shape_vec(shape, Random::new(7).values::<u8>(shape.0 * shape.1 * shape.2))?;
    let [sums, outputs @ ..] = by_both(device, &blur, |filter| filter.apply(&random))?;
    for outputs in outputs {
        let differences = sums.iter().zip(&outputs).filter(|(sum, output)| sum != output).count();
        let is_near = sums.iter().zip(&outputs).all(|(sum, output)| sum.abs_diff(*output) <= 1);
        ensure(is_near, || "a difference of 2".into())?;
        ensure(1000 * differences <= outputs.len(), || format!("{differences} of {} outputs differ", outputs.len()))?;
    }
    Ok(())
}

/// Which filters are transformed.
fn chosen(device: &Device) -> Result<(), Failed> {
    let is_cpu = device.info().backend == Backend::Cpu;
    // GPUs take transforms for long lines only.
    let shape = if is_cpu { [500, 400] } else { [8192, 8192] };
    let reason = |filter: Filter2d<f32, f32>| -> slm::Result<String> {
        Ok(filter.error_bound(ErrorBound::PerSegment).prepare(device)?.plan(shape)?.reason)
    };
    let is_transformed = |filter| Ok::<_, slm::Error>(reason(filter)?.contains("transforms"));
    let long: Vec<_> = (0..400).map(|weight| weight as f32).collect();
    equal(is_transformed(Filter2d::separable(&long, &long))?, true)?;
    if is_cpu {
        let column = Array2::from_shape_vec((192, 1), long[..192].to_vec()).unwrap();
        equal(is_transformed(Filter2d::correlate(&column))?, true)?;
        equal(is_transformed(Filter2d::separable(&[1.0], &long[..192]))?, true)?;
        for (rows, columns, expected) in [(192, 96, true), (192, 95, false), (191, 191, false)] {
            equal(is_transformed(Filter2d::separable(&long[..rows], &long[..columns]))?, expected)?;
        }
    } else {
        equal(is_transformed(Filter2d::separable(&long[..65], &long[..65]))?, false)?;
    }
    equal(is_transformed(Filter2d::separable(&long, &long).algorithm(Filter2dAlgorithm::Separable))?, false)?;
    equal(is_transformed(Filter2d::gaussian(30.0).stride(2, 1))?, false)?;
    equal(is_transformed(Filter2d::gaussian(30.0).dilation(1, 2))?, false)?;
    // Boxes have sums of segments.
    let side = if is_cpu { 201 } else { 51 };
    equal(is_transformed(Filter2d::box_blur(side, side))?, false)?;
    let plain = Filter2d::<f32, f32>::gaussian(50.0).prepare(device)?.plan(shape)?;
    equal([plain.reason.contains("transforms"), plain.reason.contains("lines")], [false, !is_cpu])?;
    // Sums of integers are exact.
    let exact = Filter2d::<u8, i32>::separable(&[1; 200], &[1, 2]).error_bound(ErrorBound::PerSegment);
    equal(exact.prepare(device)?.plan(shape)?.reason.contains("transforms"), false)
}

/// A NaN reaches the outputs of its window at least.
fn not_finite(device: &Device) -> Result<(), Failed> {
    if is_slow(device) {
        return Ok(());
    }
    let mut picture = Array2::<f32>::ones((300, 300));
    picture[[150, 150]] = f32::NAN;
    let filter = Filter2d::<f32, f32>::gaussian(25.0).boundary(Boundary::Nearest);
    let [sums, _, outputs] = by_both(device, &filter, |filter| filter.apply(&picture))?;
    let reached = sums.iter().zip(&outputs).filter(|(sum, _)| sum.is_nan());
    let (count, kept) = reached.fold((0, 0), |(all, kept), (_, output)| (all + 1, kept + usize::from(output.is_nan())));
    equal((count, kept), (201 * 201, count))
}

/// A picture with a large or bad sample near its upper end, and a filter with many weights along both axes.
struct Tall {
    shape: [usize; 2],
    place: [usize; 2],
    column: Vec<f32>,
    row: Vec<f32>,
}

impl Tall {
    fn new(device: &Device) -> Self {
        let shape = if is_cuda(device) { [40_000, 140] } else { [4000, if is_slow(device) { 3 } else { 140 }] };
        let [column, row] = [(20, 201), (21, 131)].map(|(seed, weights)| Random::new(seed).values(weights));
        Tall { shape, place: [100, 1], column, row }
    }

    /// Returns the filter, and the rows of which no output is transformed together with one that depends on the sample. A GPU transforms two
    /// segments at the same time, so that the last one of a column may be transformed together with the first one of the next column.
    fn filter(&self, device: &Device) -> Result<(PreparedFilter2d<f32>, Range<usize>), Failed> {
        let filter =
            Filter2d::separable(&self.column, &self.row).error_bound(ErrorBound::PerSegment).prepare(device)?;
        let plan = filter.plan(self.shape)?;
        ensure(plan.reason.contains("transforms"), || format!("{plan}"))?;
        let of_kernels =
            plan.kernels().into_iter().filter_map(|kernel| kernel.strip_prefix("filter1d_fft_f32_")?.parse().ok());
        let points: usize = of_kernels.max().unwrap_or(1024);
        let step = points - self.column.len() + 1;
        Ok((filter, 3 * step..self.shape[0] / step * step))
    }

    /// Returns the outputs in double precision.
    fn exact(&self, picture: &Array2<f32>) -> slm::Result<Array2<f64>> {
        let [column, row] =
            [&self.column, &self.row].map(|weights| weights.iter().copied().map(f64::from).collect::<Vec<_>>());
        Filter2d::separable(&column, &row).prepare(&Device::cpu())?.apply(&picture.mapv(f64::from))
    }

    /// Returns the error that is allowed for samples that are filtered together: a few roundings in each of both passes. The norm of the sums of
    /// the first pass is at most that of its samples times the magnitudes of its weights.
    fn tolerance<'a>(&self, samples: impl IntoIterator<Item = &'a f32>) -> f64 {
        let norm = |numbers: &mut dyn Iterator<Item = &f32>| {
            numbers.map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt()
        };
        let [norms, sums] = [&self.column, &self.row]
            .map(|weights| [norm(&mut weights.iter()), weights.iter().map(|weight| f64::from(weight.abs())).sum()]);
        let of_weights = norms[0] * sums[1] + norms[1] * sums[0];
        12.0 * f64::from(f32::EPSILON) / 2.0 * norm(&mut samples.into_iter()) * of_weights
    }
}

/// An impulse of 10^6 beside noise: errors are relative to the norm of what is filtered together, which far away is that of noise.
fn badly_scaled(device: &Device) -> Result<(), Failed> {
    let tall = Tall::new(device);
    let ([rows, columns], (filter, far)) = (tall.shape, tall.filter(device)?);
    let mut picture = Array2::from_shape_vec(tall.shape, Random::new(22).values::<f32>(rows * columns))?;
    picture[tall.place] = 1e6;
    let outputs = filter.apply(&picture)?;
    let exact = tall.exact(&picture)?;
    // At least as many samples as two segments have, those that outputs of `far` depend on among them.
    let noise = picture.slice(s![far.start - tall.column.len().., ..]);
    let allowed = [tall.tolerance(&picture), tall.tolerance(noise)];
    for ((place, output), exact) in outputs.indexed_iter().zip(&exact) {
        let allowed = allowed[usize::from(far.contains(&place.0))];
        let error = (f64::from(*output) - exact).abs();
        ensure(error <= allowed, || format!("{output} at {place:?} instead of {exact} within {allowed:e}"))?;
    }
    Ok(())
}

/// A NaN or an infinity reaches the outputs of its window at least, and no rows far away.
fn not_finite_far_away(device: &Device) -> Result<(), Failed> {
    let tall = Tall::new(device);
    let (filter, far) = tall.filter(device)?;
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut picture = Array2::<f32>::ones(tall.shape);
        picture[tall.place] = bad;
        let outputs = filter.apply(&picture)?;
        let (window, rest) =
            (outputs.slice(s![..=200, ..=66.min(tall.shape[1] - 1)]), outputs.slice(s![far.clone(), ..]));
        ensure(window.iter().all(|output| !output.is_finite()), || format!("{bad} does not reach its window"))?;
        ensure(rest.iter().all(|output| output.is_finite()), || format!("{bad} reaches rows far away"))?;
    }
    Ok(())
}
