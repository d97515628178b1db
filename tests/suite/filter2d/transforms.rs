//! Outer products with many weights, by sums and with the bound that allows transforms: the same outputs within less than this bound.

use super::SUITE;
use crate::common::{Random, ensure, equal, is_cuda, is_emulated, on_every_backend, same};
use libtest_mimic::{Failed, Trial};
use ndarray::{Array2, Array3, Array4};
use slm::filter1d::ErrorBound;
use slm::{Backend, Boundary, Buffer2, Device, Extent, Filter2d, Filter2dAlgorithm, FilterSample, FilterWeight};

const BOUNDARIES: [Boundary<f32>; 6] =
    [Boundary::Zero, Boundary::Constant(-0.5), Boundary::Nearest, Boundary::Reflect, Boundary::Mirror, Boundary::Wrap];
const EXTENTS: [Extent; 3] = [Extent::Same, Extent::Valid, Extent::Full];

/// Rows and columns of weights: both long, or one of them.
const WEIGHTS: [[usize; 2]; 4] = [[197, 130], [301, 1], [1, 192], [200, 96]];

/// Planes, rows, columns and channels. GPUs take transforms for the last two.
const SHAPES: [[usize; 4]; 5] = [[1, 1, 1, 1], [1, 3, 140, 2], [2, 150, 64, 3], [1, 400, 310, 1], [2, 900, 1100, 3]];

pub(super) fn trials() -> Vec<Trial> {
    let tests: [(&str, fn(&Device) -> Result<(), Failed>); 5] = [
        ("transforms::every_border", every_border),
        ("transforms::pitched", pitched),
        ("transforms::means", means),
        ("transforms::chosen", chosen),
        ("transforms::not_finite", not_finite),
    ];
    tests.into_iter().flat_map(|(name, test)| on_every_backend(SUITE, name, test)).collect()
}

/// Compares with sums.
fn every_border(device: &Device) -> Result<(), Failed> {
    let (shapes, every) =
        if is_emulated(device) { (&SHAPES[..1], 9) } else { (&SHAPES[..if is_cuda(device) { 5 } else { 4 }], 1) };
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
    apply: impl Fn(&slm::filter2d::PreparedFilter2d<S>) -> slm::Result<R>,
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
    let [rows, columns] = if is_emulated(device) { [2, 3] } else { [75, 64] };
    let samples = Random::new(3).values::<f32>(2 * rows * columns * 3);
    let filter = Filter2d::<f32, f32>::gaussian(30.0).channels(3).boundary(Boundary::Mirror);
    let filter = filter.error_bound(ErrorBound::PerSegment).prepare(device)?;
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
    let shape = if is_emulated(device) { (2, 9, 3) } else { (130, 170, 3) };
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
    if is_emulated(device) {
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
