//! Every kernel of the operations, on data of its own: for `wavefronts.sh`, which puts the wavefronts of shared memory that
//! a GPU counts beside those that the emulator does. (The kernels that measure accesses are in the benchmark `banks`.)
//!
//! An emulated device prints a line for each launch: kernel, blocks, wavefronts of shared loads and of shared stores.
//! Other devices just do the same work in the same order. The emulated one has a single multiprocessor, so the sizes are
//! such that more of them would not mean more blocks.

#[path = "common/random.rs"]
mod random;

use ndarray::Array2;
use random::random;
use slm::emulator::{Action, Space};
use slm::filter1d::{Algorithm as FilterAlgorithm, FilterElement, HaloLoad};
use slm::histogram::{Algorithm, HistogramElement, Ordering};
use slm::{Device, Filter1d, Histogram, Result};

const FILTER_ALGORITHMS: [FilterAlgorithm; 4] = [
    FilterAlgorithm::GlobalMemory,
    FilterAlgorithm::SharedTile(HaloLoad::EdgeThread),
    FilterAlgorithm::SharedTile(HaloLoad::Cooperative),
    FilterAlgorithm::RegisterTiled,
];

/// Taps, rows and columns, and the axis of the lines: one line; one whose first tap is not the first of a pack; short lines
/// that are not all aligned; and columns, of which the last block has fewer than it could.
const FILTER_PROBLEMS: [(usize, [usize; 2], usize); 4] =
    [(33, [1, 5003], 1), (30, [1, 3001], 1), (33, [5, 501], 1), (33, [101, 45], 0)];

/// The ways to count, and how many samples there are at most.
const ALGORITHMS: [(Algorithm, usize); 6] = [
    (Algorithm::Critical, 99),
    (Algorithm::GlobalAtomic(Ordering::Relaxed), usize::MAX),
    (Algorithm::CachedAtomic, usize::MAX),
    (Algorithm::PrivatePerThread, usize::MAX),
    (Algorithm::SharedAtomic(Ordering::Relaxed), usize::MAX),
    (Algorithm::LanePrivate, usize::MAX),
];

/// The samples of a histogram: 750 packs of 16 bytes, fewer than a block has threads, and as many samples behind them as
/// there can be.
const SAMPLE_BYTES: usize = 751 * 16 - 1;

/// Samples with weights: six blocks, which are no more than there are on a single multiprocessor.
const WEIGHTED_SAMPLES: usize = 1401;

/// What samples other than bytes are below.
const SAMPLES_END: u16 = 1000;

fn main() -> Result<()> {
    let device = Device::open()?;
    filters::<f32>(&device)?;
    filters::<f64>(&device)?;
    filters::<i32>(&device)?;
    histograms(&device, &Histogram::bytes(), |bits| bits as u8)?;
    histograms(&device, &Histogram::low_bits(7), below_end::<u16>)?;
    even_and_edges::<u16>(&device)?;
    even_and_edges::<u32>(&device)?;
    even_and_edges::<i32>(&device)?;
    even_and_edges::<f32>(&device)?;
    even_and_edges::<f64>(&device)?;
    other_ways(&device)
}

/// Does some work, which launches no kernel twice, and prints what is counted.
fn run<R>(device: &Device, work: impl FnOnce() -> Result<R>) -> Result<()> {
    device.reset_emulation_reports();
    work()?;
    for report in device.emulation_reports() {
        assert_eq!(report.launches, 1, "{} has no line for each launch", report.kernel);
        let blocks: u32 = report.launch.grid.iter().product();
        let of = |action| report.counts(action, Some(Space::Shared)).wavefronts;
        println!("{}\t{blocks}\t{}\t{}", report.kernel, of(Action::Load), of(Action::Store));
    }
    Ok(())
}

/// All filters of an element type.
fn filters<T: FilterElement + From<i8>>(device: &Device) -> Result<()> {
    let number = |i: usize| T::from(random(i as u64, 1) as i8);
    for algorithm in FILTER_ALGORITHMS {
        for (taps, [rows, columns], axis) in FILTER_PROBLEMS {
            let taps: Vec<T> = (0..taps).map(number).collect();
            let samples = Array2::from_shape_fn((rows, columns), |(row, column)| number(row * columns + column));
            let filter = Filter1d::correlate(&taps).algorithm(algorithm).prepare(device)?;
            run(device, || filter.apply_axis(samples.view(), axis))?;
        }
    }
    Ok(())
}

/// A histogram in all ways, without weights and with them.
fn histograms<T: HistogramElement>(device: &Device, bins: &Histogram<T>, sample: impl Fn(u64) -> T) -> Result<()> {
    let samples = samples(sample);
    for (algorithm, most) in ALGORITHMS {
        count(device, bins, algorithm, &samples[..most.min(samples.len())])?;
    }
    let weights: Vec<f32> = (0..WEIGHTED_SAMPLES).map(|i| f32::from(random(i as u64, 3) as i8)).collect();
    let histogram = bins.prepare(device)?;
    run(device, || histogram.apply_weighted(&samples[..WEIGHTED_SAMPLES], &weights))
}

fn count<T: HistogramElement>(device: &Device, bins: &Histogram<T>, algorithm: Algorithm, samples: &[T]) -> Result<()> {
    let histogram = bins.clone().algorithm(algorithm).prepare(device)?;
    run(device, || histogram.apply(samples))
}

/// Bins of equal width, and of others.
fn even_and_edges<T: HistogramElement + From<u16>>(device: &Device) -> Result<()> {
    let squares: Vec<T> = (0..32).map(|k| T::from(k * k)).collect();
    histograms(device, &Histogram::even(100, T::from(0)..T::from(SAMPLES_END)), below_end)?;
    histograms(device, &Histogram::edges(&squares), below_end)
}

/// What takes another way through the kernels: channels, fewer copies of the counters, and two ranges of them.
fn other_ways(device: &Device) -> Result<()> {
    let even = |bins| Histogram::even(bins, 0.0..f32::from(SAMPLES_END));
    histograms(device, &even(20).channels(3).count(2), below_end)?;
    count(device, &even(1000), Algorithm::LanePrivate, &samples(below_end))?;
    count(device, &even(70_000), Algorithm::SharedAtomic(Ordering::Relaxed), &samples(below_end))
}

fn samples<T>(sample: impl Fn(u64) -> T) -> Vec<T> {
    (0..SAMPLE_BYTES / size_of::<T>()).map(|i| sample(random(i as u64, 2))).collect()
}

fn below_end<T: From<u16>>(bits: u64) -> T {
    T::from((bits % u64::from(SAMPLES_END)) as u16)
}
