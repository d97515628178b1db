//! `Filter1d` directly, by Fourier transforms and on tensor cores: times against the number of taps and the number of samples, which the
//! choice between them is made from; and by `Auto`, with all methods allowed, which must not be slower than any of them. Some outputs of each
//! are compared with sums in double precision.
//!
//! Times are the device's own, data stay on the device. Medians are printed in the columns that `peers/README.md` explains; the copy of the
//! samples is the lower bound. `-- --quick` leaves out most sizes. Run it as `cargo bench --bench taps`.

#[path = "common/table.rs"]
mod table;

use slm::filter1d::{ErrorBound, Filter1dAlgorithm, FilterElement};
use slm::{Backend, Buffer2, Device, Filter1d, Result};
use std::any::type_name;
use table::{Times, begin, columns, end, report};

const ROUNDS: usize = 15;

/// Maximum number of products of a direct filter on a GPU and on the CPU, which takes long for more.
const MOST_PRODUCTS: [usize; 2] = [1 << 40, 1 << 33];

const TAPS: [usize; 20] =
    [3, 17, 33, 49, 65, 81, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 8193, 16_384];
const LOG2_SIZES: [u32; 7] = [28, 26, 24, 22, 20, 16, 10];

fn main() -> Result<()> {
    let device = Device::open()?;
    let quick = std::env::args().any(|argument| argument == "--quick");
    begin();
    println!(
        "# slm {} on {device}; median of {ROUNDS} runs, alternating, by the device's clock",
        env!("CARGO_PKG_VERSION")
    );
    columns(&["bytes_per_s"]);
    let scale = if device.info().backend == Backend::Cpu { 2 } else { 0 };
    for log2 in LOG2_SIZES.into_iter().filter(|log2| !quick || *log2 == 26) {
        sweep::<f32>(&device, [1, 1 << (log2 - scale.min(log2 - 10))], 1, FFT)?;
        sweep::<f64>(&device, [1, 1 << (log2 - scale.min(log2 - 10)).min(27)], 1, FFT)?;
        sweep::<i32>(&device, [1, 1 << (log2 - scale.min(log2 - 10))], 1, TENSOR)?;
    }
    // Many short lines, and lines down columns.
    sweep::<f32>(&device, [1 << (16 - scale), 1024], 1, FFT)?;
    sweep::<f64>(&device, [1 << (15 - scale), 1024], 1, FFT)?;
    sweep::<i32>(&device, [1 << (16 - scale), 1024], 1, TENSOR)?;
    sweep::<i32>(&device, [1 << (14 - scale), 4096], 1, TENSOR)?;
    sweep::<f32>(&device, [1 << (13 - scale / 2), 1 << (13 - scale / 2)], 0, FFT)?;
    sweep::<f64>(&device, [1 << (13 - scale / 2), 1 << (13 - scale / 2)], 0, FFT)?;
    sweep::<i32>(&device, [1 << (13 - scale / 2), 1 << (13 - scale / 2)], 0, TENSOR)?;
    end();
    Ok(())
}

/// Another method than sums.
type Method = (&'static str, Filter1dAlgorithm);

const FFT: Method = ("fft", Filter1dAlgorithm::Fft);
const TENSOR: Method = ("tensor", Filter1dAlgorithm::TensorCore);
const AUTO: Method = ("auto", Filter1dAlgorithm::Auto);

/// Prints the times of sums and of another method for all numbers of taps.
fn sweep<T: FilterElement + From<i8> + Into<f64>>(
    device: &Device,
    shape: [usize; 2],
    axis: usize,
    other: Method,
) -> Result<()> {
    let [lines, samples] = shape;
    let numbers: Vec<T> = (0..lines * samples).map(|i| T::from((i * 7 % 251) as u8 as i8)).collect();
    let x = Buffer2::from_buffer(device.upload(&numbers)?, lines, samples, samples)?;
    let mut y = Buffer2::zeroed(device, lines, samples)?;
    let case = format!("{} n={lines}x{samples} axis={axis}", type_name::<T>());
    let bytes = 2 * (lines * samples * size_of::<T>()) as u64;
    let mut copies = (0..ROUNDS).map(|_| Ok(device.time(|| y.copy_from(&x))?.1)).collect::<Result<Vec<_>>>()?;
    report("copy", &case, Times::of(&mut copies), &[bytes], "ok");
    for taps in TAPS {
        let weights: Vec<T> = (0..taps).map(|j| T::from((j * 5 % 101) as u8 as i8)).collect();
        let methods = [("direct", Filter1dAlgorithm::RegisterTiled), other, AUTO];
        let most = MOST_PRODUCTS[usize::from(device.info().backend == Backend::Cpu)];
        let is_short = |name| name != "direct" || lines * samples * taps <= most;
        let methods = methods.into_iter().filter(|(name, _)| is_short(*name));
        let filter = Filter1d::correlate(&weights).error_bound(ErrorBound::PerSegment);
        let prepare = |algorithm| filter.clone().algorithm(algorithm).prepare(device);
        let filters =
            methods.map(|(name, algorithm)| Ok((name, prepare(algorithm)?.along(axis)))).collect::<Result<Vec<_>>>()?;
        let mut times = vec![Vec::new(); filters.len()];
        for round in 0..=ROUNDS {
            for ((_, filter), times) in filters.iter().zip(&mut times) {
                let time = device.time(|| filter.apply_into(&x, &mut y))?.1;
                if round > 0 {
                    times.push(time);
                }
            }
        }
        let expected = expected(&numbers, shape, axis, &weights);
        for ((name, filter), times) in filters.iter().zip(&mut times) {
            filter.apply_into(&x, &mut y)?;
            report(name, &format!("{case} taps={taps}"), Times::of(times), &[bytes], &verdict(&y, &expected)?);
        }
    }
    Ok(())
}

/// An output in double precision.
struct Expected {
    place: [usize; 2],
    sum: f64,
    /// The greatest magnitude of a sample times those of all taps, which errors are relative to.
    magnitude: f64,
}

/// Returns some outputs, at the ends of lines and in between.
fn expected<T: Copy + Into<f64>>(numbers: &[T], shape: [usize; 2], axis: usize, weights: &[T]) -> Vec<Expected> {
    let (length, last) = (shape[axis] as i64, shape.map(|count| count - 1));
    let magnitude = 128.0 * weights.iter().map(|&weight| weight.into().abs()).sum::<f64>();
    let output = |place: [usize; 2]| {
        let first = place[axis] as i64 - weights.len() as i64 / 2;
        let sample = |tap: usize| {
            let mut place = place;
            let at = first + tap as i64;
            place[axis] = usize::try_from(at).ok().filter(|_| at < length)?;
            Some(numbers[place[0] * shape[1] + place[1]].into())
        };
        let products = weights.iter().enumerate().filter_map(|(tap, &weight)| Some(sample(tap)? * weight.into()));
        Expected { place, sum: products.sum(), magnitude }
    };
    let [rows, columns] = shape;
    let places = [[0, 0], [0, last[1]], [last[0], 0], last, [rows / 2, columns / 3], [rows / 3, columns / 2]];
    places.map(output).into()
}

/// Returns the verdict on the outputs. Transforms of few taps have larger errors than sums: they depend on all samples of a segment.
fn verdict<T: FilterElement + Into<f64>>(outputs: &Buffer2<T>, expected: &[Expected]) -> Result<String> {
    let mut worst = 0f64;
    for &Expected { place: [row, column], sum, magnitude } in expected {
        let place = row * outputs.pitch() + column;
        let output: f64 = outputs.buffer().slice(place..place + 1)?.download()?[0].into();
        let error = (output - sum).abs() / magnitude;
        worst = worst.max(if error.is_nan() { f64::INFINITY } else { error });
    }
    Ok(match type_name::<T>() {
        "i32" if worst == 0.0 => "ok exact".to_owned(),
        "f32" if worst <= 1e-5 => format!("ok error {worst:.1e}"),
        "f64" if worst <= 1e-14 => format!("ok error {worst:.1e}"),
        _ => format!("WRONG error {worst:.1e}"),
    })
}
