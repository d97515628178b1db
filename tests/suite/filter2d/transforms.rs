//! Long separable filters of integers of 8 and 16 bits on the CPU, which are computed by Fourier transforms: outputs are the rounded exact
//! sums.

use crate::common::Random;
use libtest_mimic::{Failed, Trial};
use slm::ndarray::{Array2, Array3, Axis, s};
use slm::{Boundary, Buffer2, Device, Extent, Filter2d, FilterSample};

pub(super) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("filter2d::cpu::transforms::u8", || check::<u8>(255.0)),
        Trial::test("filter2d::cpu::transforms::u16", || check::<u16>(65_535.0)),
        Trial::test("filter2d::cpu::transforms::i16", || check::<i16>(32_767.0)),
        Trial::test("filter2d::cpu::transforms::gaps_and_planes", gaps_and_planes),
    ]
}

/// Returns the sums of products for some outputs of a line, with the first product of the first one at `start`.
fn sums(
    line: &[f64],
    weights: &[f64],
    boundary: Boundary<f64>,
    start: i64,
    outputs: impl Iterator<Item = usize>,
) -> Vec<f64> {
    let n = line.len() as i64;
    let place = |i: i64| match boundary {
        Boundary::Wrap => Some(i.rem_euclid(n)),
        Boundary::Reflect => Some(i.rem_euclid(2 * n).min(2 * n - 1 - i.rem_euclid(2 * n))),
        Boundary::Nearest => Some(i.clamp(0, n - 1)),
        _ => (0..n).contains(&i).then_some(i),
    };
    let outside = if let Boundary::Constant(outside) = boundary { outside } else { 0.0 };
    let at = |i: i64| place(i).map_or(outside, |i| line[i as usize]);
    let sum = |o: usize| (0..).zip(weights).map(|(j, weight)| weight * at(o as i64 + start + j)).sum();
    outputs.map(sum).collect()
}

fn as_f64<T: Into<f64>>(boundary: Boundary<T>) -> Boundary<f64> {
    match boundary {
        Boundary::Constant(outside) => Boundary::Constant(outside.into()),
        Boundary::Nearest => Boundary::Nearest,
        Boundary::Reflect => Boundary::Reflect,
        Boundary::Wrap => Boundary::Wrap,
        _ => Boundary::Zero,
    }
}

fn check<T: FilterSample<Weight = f32> + TryFrom<i32> + Into<f64> + Default>(largest: f64) -> Result<(), Failed> {
    let mut random = Random::new(71);
    // Black and white areas, and noise.
    let value = |bits: usize, r: usize, c: usize| match (r / 50 + c / 60) % 3 {
        0 => 0.0,
        1 => largest,
        _ => (bits as f64 / 1000.0 * largest).floor(),
    };
    let number = |value: f64| T::try_from(value as i32).unwrap_or_default();
    for channels in [1, 3] {
        let picture = Array3::from_shape_fn((330, 400, channels), |(r, c, _)| number(value(random.below(1001), r, c)));
        for (boundary, extent) in [
            (Boundary::Zero, Extent::Same),
            (Boundary::Constant(number(largest)), Extent::Same),
            (Boundary::Nearest, Extent::Same),
            (Boundary::Reflect, Extent::Same),
            (Boundary::Wrap, Extent::Same),
            (Boundary::Reflect, Extent::Valid),
        ] {
            let filter = Filter2d::<T, f32>::gaussian(40.0).boundary(boundary).extent(extent).channels(channels);
            let weights = filter.weights()?;
            let outputs = filter.prepare(&Device::cpu())?.apply(&picture)?;
            // The weights are an outer product whose factors add up to 1.
            let [column, row] = [Axis(1), Axis(0)].map(|axis| weights.mapv(f64::from).sum_axis(axis).to_vec());
            let outside = as_f64(boundary);
            let start = |taps: usize| if extent == Extent::Valid { 0 } else { -(taps as i64 / 2) };
            for (channel, row_of_outputs) in
                (0..channels).flat_map(|channel| (0..outputs.dim().0).step_by(41).map(move |r| (channel, r)))
            {
                let samples = picture.slice(s![.., .., channel]);
                let down: Vec<f64> = samples
                    .columns()
                    .into_iter()
                    .flat_map(|line| {
                        let line: Vec<f64> = line.iter().map(|&sample| sample.into()).collect();
                        sums(&line, &column, outside, start(column.len()), row_of_outputs..row_of_outputs + 1)
                    })
                    .collect();
                let exact = sums(&down, &row, outside, start(row.len()), 0..outputs.dim().1);
                for (actual, exact) in outputs.slice(s![row_of_outputs, .., channel]).iter().zip(exact) {
                    let actual: f64 = (*actual).into();
                    // The weights are those of `f32`.
                    if (actual - exact).abs() > 0.5 + 4e-7 * largest {
                        return Err(format!("{boundary:?} {extent:?}: {actual} instead of {exact}").into());
                    }
                }
            }
        }
    }
    Ok(())
}

/// Numbers in gaps between rows stay, and planes are filtered apart.
fn gaps_and_planes() -> Result<(), Failed> {
    let device = Device::cpu();
    let mut random = Random::new(72);
    let planes = [0, 1].map(|_| Array2::from_shape_simple_fn((350, 340), || random.below(256) as u8));
    let filter = Filter2d::<u8, f32>::gaussian(40.0).boundary(Boundary::Mirror).prepare(&device)?;
    let expected = [filter.apply(&planes[0])?, filter.apply(&planes[1])?];
    let both = slm::ndarray::concatenate(Axis(0), &[planes[0].view(), planes[1].view()])?;
    let pitched = Buffer2::upload_pitched(&device, &both, 360)?;
    let mut outputs = Buffer2::from_buffer(device.upload(&[7u8; 360 * 700])?, 700, 340, 360)?;
    filter.apply_into(pitched.planes(2), &mut outputs)?;
    let whole = outputs.into_buffer().download()?;
    for (row, numbers) in whole.chunks(360).enumerate() {
        let expected = &expected[row / 350].row(row % 350).to_vec();
        if numbers[..340] != expected[..] || numbers[340..] != [7; 20] {
            return Err(format!("row {row} differs").into());
        }
    }
    Ok(())
}
