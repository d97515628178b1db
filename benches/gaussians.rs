//! Gaussians of pictures: times of sums, and those with an error bound per segment, which allows transforms of lines.
//!
//! Times are the device's own, data stay on the device. Medians are printed in the columns that `peers/README.md` explains; the copy of the
//! picture is the least time. Run it as `cargo bench --bench gaussians`.

#[path = "common/table.rs"]
mod table;

use slm::filter1d::ErrorBound;
use slm::{Backend, Boundary, Buffer2, Device, Filter1d, Filter2d, FilterSample, Result};
use std::any::type_name;
use table::{Times, begin, columns, end, report};

const ROUNDS: usize = 9;
const SIGMAS: [f64; 11] = [2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 100.0, 128.0];

fn main() -> Result<()> {
    let device = Device::open()?;
    begin();
    println!(
        "# slm {} on {device}; median of {ROUNDS} runs, alternating, by the device's clock",
        env!("CARGO_PKG_VERSION")
    );
    columns(&["bytes_per_s"]);
    let largest = if device.info().backend == Backend::Cpu { 1 << 11 } else { 1 << 13 };
    for side in [largest >> 4, largest >> 2, largest] {
        blur::<f32>(&device, side, 1)?;
        blur::<f32>(&device, side, 3)?;
        blur::<f64>(&device, side, 1)?;
        blur::<u8>(&device, side, 1)?;
        blur::<u8>(&device, side, 3)?;
    }
    end();
    Ok(())
}

/// Prints the times for all standard deviations.
fn blur<T: FilterSample + From<u8> + Into<f64>>(device: &Device, side: usize, channels: usize) -> Result<()> {
    let width = side * channels;
    let numbers: Vec<T> = (0..side * width).map(|i| T::from((i * 7 % 251) as u8)).collect();
    let x = Buffer2::from_buffer(device.upload(&numbers)?, side, width, width)?;
    let mut y = Buffer2::zeroed(device, side, width)?;
    let case = format!("{} n={side}x{side} channels={channels}", type_name::<T>());
    let moved = 2 * (side * width * size_of::<T>()) as u64;
    let mut copies = (0..ROUNDS).map(|_| Ok(device.time(|| y.copy_from(&x))?.1)).collect::<Result<Vec<_>>>()?;
    report("copy", &case, Times::of(&mut copies), &[moved], "");
    for sigma in SIGMAS {
        let gaussian = Filter2d::<T, T::Weight>::gaussian(sigma).channels(channels).boundary(Boundary::Reflect);
        let bounds = [("bound per output", ErrorBound::PerOutput), ("bound per segment", ErrorBound::PerSegment)];
        let prepare = |(_, bound)| gaussian.clone().error_bound(bound).prepare(device);
        let filters = bounds.into_iter().map(prepare).collect::<Result<Vec<_>>>()?;
        let mut times = vec![Vec::new(); filters.len()];
        for round in 0..=ROUNDS {
            for (filter, times) in filters.iter().zip(&mut times) {
                let time = device.time(|| filter.apply_into(&x, &mut y))?.1;
                if round > 0 {
                    times.push(time);
                }
            }
        }
        let weights = Filter1d::<f64>::gaussian(sigma);
        let case = format!("{case} sigma={sigma} taps={}", weights.taps()?.len());
        let expected = expected(&numbers, side, channels, weights.taps()?);
        for ((name, _), (filter, times)) in bounds.iter().zip(filters.iter().zip(&mut times)) {
            filter.apply_into(&x, &mut y)?;
            report(name, &case, Times::of(times), &[moved], &verdict(&y, &expected)?);
        }
    }
    Ok(())
}

/// Returns some outputs in double precision, with their places.
fn expected<T: Copy + Into<f64>>(
    numbers: &[T],
    side: usize,
    channels: usize,
    weights: &[f64],
) -> Vec<([usize; 2], f64)> {
    let half = weights.len() / 2;
    // The boundary reflects about the edges of the picture.
    let reflected = |place: usize, tap: usize| {
        let place = (place as i64 + tap as i64 - half as i64).rem_euclid(2 * side as i64) as usize;
        place.min(2 * side - 1 - place)
    };
    let output = |[row, column]: [usize; 2]| -> f64 {
        let (pixel, channel) = (column / channels, column % channels);
        let along = |row: usize| -> f64 {
            let sample = |tap| numbers[(row * side + reflected(pixel, tap)) * channels + channel].into();
            weights.iter().enumerate().map(|(tap, weight)| weight * sample(tap)).sum()
        };
        weights.iter().enumerate().map(|(tap, weight)| weight * along(reflected(row, tap))).sum()
    };
    let (last, width) = (side - 1, side * channels);
    let places = [[0, 0], [0, width - 1], [last, 1], [last, width - 1], [side / 2, width / 3], [side / 3, width / 2]];
    places.map(|place| (place, output(place))).to_vec()
}

/// Returns the verdict on the outputs.
fn verdict<T: FilterSample + Into<f64>>(outputs: &Buffer2<T>, expected: &[([usize; 2], f64)]) -> Result<String> {
    let mut worst = 0f64;
    for &([row, column], exact) in expected {
        let place = row * outputs.pitch() + column;
        let output: f64 = outputs.buffer().slice(place..place + 1)?.download()?[0].into();
        worst = worst.max((output - exact).abs());
    }
    // Bytes are rounded.
    let limit = if size_of::<T>() == 1 { 0.51 } else { 0.01 };
    Ok(format!("{} max error {worst:.1e}", if worst <= limit { "ok" } else { "WRONG" }))
}
