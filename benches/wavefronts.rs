//! Launches every kernel on its own data. `wavefronts.sh` compares the wavefronts of shared memory that a GPU counts with
//! the emulator's.
//!
//! An emulated device prints a line for each launch: kernel, blocks, wavefronts of shared loads and of shared stores. Other
//! devices do the same work in the same order, without output. The emulated device has a single multiprocessor, so the
//! problems are small enough that more multiprocessors would not mean more blocks.

#[path = "common/random.rs"]
mod random;

use cuda_std::{Entry, shared_bytes};
use ndarray::Array2;
use random::random;
use slm::banks::Accumulation;
use slm::emulator::{Action, Space};
use slm::filter1d::{Filter1dAlgorithm, FilterElement, HaloLoad};
use slm::histogram::{HistogramAlgorithm, HistogramElement, HistogramError, MemoryOrder};
use slm::transpose::{TransposeAlgorithm, TransposeElement};
use slm::{Buffer2, Device, Error, Filter1d, Histogram, LaunchShape, Result, Transpose};
use slm_kernels::banks::{self, ProbeArgs, banks_probe};

/// The library's kernels. Probes are launched from here, because the library's own launches of them depend on the device.
mod modules {
    cuda_std::include_kernels!();
}

const FILTER_ALGORITHMS: [Filter1dAlgorithm; 4] = [
    Filter1dAlgorithm::GlobalMemory,
    Filter1dAlgorithm::SharedTile(HaloLoad::EdgeThread),
    Filter1dAlgorithm::SharedTile(HaloLoad::Cooperative),
    Filter1dAlgorithm::RegisterTiled,
];

/// Taps, rows and columns, and the axis of the lines: one line; one line whose first tap is not the first of a pack; short
/// lines that are not all aligned; and columns, with an incomplete last block.
const FILTER_PROBLEMS: [(usize, [usize; 2], usize); 4] =
    [(33, [1, 5003], 1), (30, [1, 3001], 1), (33, [5, 501], 1), (33, [101, 45], 0)];

/// Algorithms, each with its maximum number of samples.
const ALGORITHMS: [(HistogramAlgorithm, usize); 6] = [
    (HistogramAlgorithm::Critical, 99),
    (HistogramAlgorithm::GlobalAtomic(MemoryOrder::Relaxed), usize::MAX),
    (HistogramAlgorithm::CachedAtomic, usize::MAX),
    (HistogramAlgorithm::PrivatePerThread, usize::MAX),
    (HistogramAlgorithm::SharedAtomic(MemoryOrder::Relaxed), usize::MAX),
    (HistogramAlgorithm::LanePrivate, usize::MAX),
];

/// Bytes of a histogram's samples: 750 packs of 16 bytes, fewer than a block has threads, and the maximum number of samples
/// after the last pack.
const SAMPLE_BYTES: usize = 751 * 16 - 1;

/// Samples with weights, for six blocks, which fit on a single multiprocessor.
const WEIGHTED_SAMPLES: usize = 1401;

/// Upper bound of samples other than bytes, exclusive.
const SAMPLES_END: u16 = 1000;

const TRANSPOSE_ALGORITHMS: [TransposeAlgorithm; 4] = [
    TransposeAlgorithm::Auto,
    TransposeAlgorithm::Naive,
    TransposeAlgorithm::SharedUnpadded,
    TransposeAlgorithm::SharedPadded,
];

/// Rows, columns, and the gap between rows in numbers: whole packs, with whole and partial tiles; unaligned rows; short
/// rows.
const TRANSPOSE_SHAPES: [[usize; 3]; 3] = [[224, 144, 0], [133, 131, 1], [1003, 5, 0]];

/// Side of a matrix that is transposed in place, with whole and partial tiles.
const SQUARE: usize = 150;

/// Rows and columns of a matrix whose transposition in place takes all steps, with one block each.
const OBLONG: [usize; 2] = [2, 4];

/// Strides between lanes, in elements: a broadcast, no conflicts, and some conflicts.
const STRIDES: [u32; 3] = [0, 1, 4];

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
    powers_of_two::<f32>(&device)?;
    powers_of_two::<f64>(&device)?;
    other_paths(&device)?;
    transposes::<u8>(&device, &[1, 3])?;
    transposes::<u16>(&device, &[1, 3])?;
    transposes::<u32>(&device, &[1, 2, 3, 4])?;
    transposes::<u64>(&device, &[1, 2])?;
    probes(&device)
}

/// Does some work and prints its counts. The work may launch a kernel several times only if it does not use shared memory.
fn run<R>(device: &Device, work: impl FnOnce() -> Result<R>) -> Result<()> {
    device.reset_emulation_reports();
    work()?;
    for report in device.emulation_reports() {
        let blocks: u32 = report.launch.grid.iter().product();
        let [loads, stores] =
            [Action::Load, Action::Store].map(|action| report.counts(action, Some(Space::Shared)).wavefronts);
        assert!(report.launches == 1 || loads + stores == 0, "{} has no line for each launch", report.kernel);
        for _ in 0..report.launches {
            println!("{}\t{blocks}\t{loads}\t{stores}", report.kernel);
        }
    }
    Ok(())
}

/// Launches all filters of an element type.
fn filters<T: FilterElement + From<i8>>(device: &Device) -> Result<()> {
    let number = |i: usize| T::from(random(i as u64, 1) as i8);
    for algorithm in FILTER_ALGORITHMS {
        for (taps, [rows, columns], axis) in FILTER_PROBLEMS {
            let taps: Vec<T> = (0..taps).map(number).collect();
            let samples = Array2::from_shape_fn((rows, columns), |(row, column)| number(row * columns + column));
            let filter = Filter1d::correlate(&taps).algorithm(algorithm).prepare(device)?;
            run(device, || filter.along(axis).apply(samples.view()))?;
        }
    }
    Ok(())
}

/// Launches a histogram with all algorithms, and with weights.
fn histograms<T: HistogramElement>(device: &Device, bins: &Histogram<T>, sample: impl Fn(u64) -> T) -> Result<()> {
    let samples = samples(sample);
    for (algorithm, maximum) in ALGORITHMS {
        match count(device, bins, algorithm, &samples[..maximum.min(samples.len())]) {
            Err(Error::Histogram(HistogramError::NoKernel { .. })) => {}
            other => other?,
        }
    }
    let weights: Vec<f32> = (0..WEIGHTED_SAMPLES).map(|i| f32::from(random(i as u64, 3) as i8)).collect();
    let histogram = bins.prepare(device)?;
    run(device, || histogram.apply_weighted(&samples[..WEIGHTED_SAMPLES], &weights))
}

fn count<T: HistogramElement>(
    device: &Device,
    bins: &Histogram<T>,
    algorithm: HistogramAlgorithm,
    samples: &[T],
) -> Result<()> {
    let histogram = bins.clone().algorithm(algorithm).prepare(device)?;
    run(device, || histogram.apply(samples))
}

/// Launches histograms with bins of equal width, and with edges.
fn even_and_edges<T: HistogramElement + From<u16>>(device: &Device) -> Result<()> {
    let squares: Vec<T> = (0..32).map(|k| T::from(k * k)).collect();
    histograms(device, &Histogram::even(100, T::from(0)..T::from(SAMPLES_END)), below_end)?;
    histograms(device, &Histogram::edges(&squares), below_end)
}

/// Launches histograms of floats whose borders are multiples of a power of two, which have separate kernels.
fn powers_of_two<T: HistogramElement + From<u16>>(device: &Device) -> Result<()> {
    histograms(device, &Histogram::even(125, T::from(0)..T::from(SAMPLES_END)), below_end)
}

/// Launches histograms that take other paths through the kernels: with channels, with fewer copies of the counters, and with
/// several ranges of counters.
fn other_paths(device: &Device) -> Result<()> {
    let even = |bins| Histogram::even(bins, 0.0..f32::from(SAMPLES_END));
    histograms(device, &even(20).channels(3).count(2), below_end)?;
    count(device, &even(1000), HistogramAlgorithm::LanePrivate, &samples(below_end))?;
    count(device, &even(70_000), HistogramAlgorithm::SharedAtomic(MemoryOrder::Relaxed), &samples(below_end))?;
    alone::<u16>(device)?;
    alone::<u32>(device)?;
    alone::<i32>(device)?;
    alone::<f32>(device)?;
    alone::<f64>(device)?;
    let rounded = Histogram::even(50_001, 0.0..f64::from(SAMPLES_END));
    count(device, &rounded, HistogramAlgorithm::SharedAtomic(MemoryOrder::Relaxed), &samples(below_end))?;
    let low_bits = Histogram::low_bits(16);
    count(device, &low_bits, HistogramAlgorithm::SharedAtomic(MemoryOrder::Relaxed), &samples(|bits| bits as u16))
}

/// Launches histograms with so much shared memory for counters that a multiprocessor has a single block. Bytes have too few
/// bins for that on this device.
fn alone<T: HistogramElement + From<u16>>(device: &Device) -> Result<()> {
    const BINS: u16 = 50_000;
    let edges: Vec<T> = (0..=BINS).map(T::from).collect();
    for histogram in [Histogram::even(BINS.into(), T::from(0)..T::from(BINS)), Histogram::edges(&edges)] {
        count(device, &histogram, HistogramAlgorithm::SharedAtomic(MemoryOrder::Relaxed), &samples(below_end))?;
    }
    Ok(())
}

fn samples<T>(sample: impl Fn(u64) -> T) -> Vec<T> {
    (0..SAMPLE_BYTES / size_of::<T>()).map(|i| sample(random(i as u64, 2))).collect()
}

fn below_end<T: From<u16>>(bits: u64) -> T {
    T::from((bits % u64::from(SAMPLES_END)) as u16)
}

/// Launches transpositions of elements with the given numbers of components, by all algorithms and in place.
fn transposes<T: TransposeElement>(device: &Device, components: &[usize]) -> Result<()> {
    for &components in components {
        for algorithm in TRANSPOSE_ALGORITHMS {
            for shape in TRANSPOSE_SHAPES {
                transpose::<T>(device, algorithm, shape, components)?;
            }
        }
        transpose_in_place::<T>(device, [SQUARE; 2], components)?;
    }
    transpose_in_place::<T>(device, OBLONG, 1)
}

fn transpose<T: TransposeElement>(
    device: &Device,
    algorithm: TransposeAlgorithm,
    [rows, columns, gap]: [usize; 3],
    components: usize,
) -> Result<()> {
    let matrix = |rows: usize, columns: usize| -> Result<Buffer2<T>> {
        let (width, pitch) = (columns * components, columns * components + gap);
        Buffer2::from_buffer(device.zeroed(rows * pitch)?, rows, width, pitch)
    };
    let (input, mut output) = (matrix(rows, columns)?, matrix(columns, rows)?);
    let transpose = Transpose::new(rows, columns).components(components).algorithm(algorithm).prepare(device)?;
    run(device, || transpose.apply_into(&input, &mut output))
}

fn transpose_in_place<T: TransposeElement>(
    device: &Device,
    [rows, columns]: [usize; 2],
    components: usize,
) -> Result<()> {
    let mut matrix = device.zeroed::<T>(rows * columns * components)?;
    let transpose = Transpose::new(rows, columns).components(components).prepare_in_place(device)?;
    run(device, || transpose.apply(&mut matrix))
}

/// Launches the kernels that measure accesses.
fn probes(device: &Device) -> Result<()> {
    for stride in STRIDES {
        probe::<banks_probe<banks::Load<u8>>>(device, stride, 1)?;
        probe::<banks_probe<banks::Load<u16>>>(device, stride, 2)?;
        probe::<banks_probe<banks::Load<u32>>>(device, stride, 4)?;
        probe::<banks_probe<banks::Load<u64>>>(device, stride, 8)?;
        probe::<banks_probe<banks::LoadFour<u32>>>(device, stride, 16)?;
        probe::<banks_probe<banks::Store<u8>>>(device, stride, 1)?;
        probe::<banks_probe<banks::Store<u16>>>(device, stride, 2)?;
        probe::<banks_probe<banks::Store<u32>>>(device, stride, 4)?;
        probe::<banks_probe<banks::Store<u64>>>(device, stride, 8)?;
        probe::<banks_probe<banks::StoreFour<u32>>>(device, stride, 16)?;
        probe::<banks_probe<banks::Add<u32>>>(device, stride, 4)?;
        probe::<banks_probe<banks::Exchange<u64>>>(device, stride, 8)?;
    }
    // All lanes access one bank, or each its own.
    for stride in [32, 33] {
        run(device, || Accumulation { stride, iterations: 100, factor: 3 }.run(device))?;
    }
    Ok(())
}

/// Launches a probe with accesses of `bytes` bytes.
fn probe<E: for<'l> Entry<Args<'l> = ProbeArgs<'l>, Constants = ()>>(
    device: &Device,
    stride: u32,
    bytes: u64,
) -> Result<()> {
    const WARPS: u32 = 4;
    let (elements, threads) = (31 * stride + 1, 32 * WARPS);
    let shape = LaunchShape::new([1; 3], [threads, 1, 1])
        .shared_bytes(shared_bytes::<u8>(u64::from(elements) * bytes))
        .allow_same_value_writes();
    let places = device.upload(&(0..32).map(|lane| stride * lane).collect::<Vec<u32>>())?;
    let (mut begins, mut ends) = (device.zeroed(WARPS as usize)?, device.zeroed(WARPS as usize)?);
    let mut places_after = device.zeroed(threads as usize)?;
    let kernel = device.kernel::<E>(&modules::KERNELS)?;
    run(device, || {
        kernel.launch(shape, |windows| ProbeArgs {
            places: windows.input(&places),
            elements,
            rounds: 4,
            zero: 0,
            begins: windows.output(&mut begins),
            ends: windows.output(&mut ends),
            places_after: windows.output(&mut places_after),
        })
    })
}
