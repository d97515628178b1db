//! `Histogram` on data of six kinds, from uniform to constant, to show how times depend on the data.
//!
//! Times are the device's own (CUDA events), samples and counts stay on the device, and every case is checked: the counts
//! must be those of the generated samples. First, a table with medians is printed, in the columns that `peers/README.md`
//! explains. Then Criterion measures the uniform cases for longer. `cargo bench --bench histogram -- --table` ends with the
//! table, and `--weighted` measures nothing but sums of weights.

mod common;

use common::{Times, begin, columns, end, random, report};
use criterion::{BenchmarkId, Criterion, Throughput};
use rayon::prelude::*;
use slm::histogram::{HistogramAlgorithm, HistogramElement, HistogramWeight, MemoryOrder, PreparedHistogram};
use slm::{Backend, Buffer, Device, Histogram, Result};
use std::fmt::Display;
use std::ops::Range;
use std::time::Duration;

/// Bins of the cases of `f32`.
const BINS: [usize; 7] = [256, 1024, 4096, 16_384, 57_344, 65_536, 1 << 20];

/// Bins of the cases of `f64` and of edges.
const MANY_BINS: [usize; 2] = [65_536, 1 << 18];

/// Bins of the cases of edges at irregular and at growing distances, and of those in two crowds.
const SEARCHED_BINS: [usize; 3] = [256, 4096, 65_536];

/// Bins of [`CROOKED`].
const CROOKED_BINS: [usize; 3] = [256, 4096, 65_536];

/// A range whose borders between bins are not floats.
const CROOKED: Range<f32> = -3.7..4.1;

/// The same in double precision.
const DOUBLE_CROOKED: Range<f64> = CROOKED.start as f64..CROOKED.end as f64;

/// Bins of the cases of integers of 32 bits.
const INTEGER_BINS: [usize; 2] = [256, 65_536];

/// Width of these bins.
const INTEGER_WIDTH: u32 = 1000;

/// Bins with separate counters for each thread.
const FEW_BINS: [usize; 3] = [2, 16, 64];

/// Bins of the cases with weights: with sums that fit into shared memory, and with sums that do not.
const WEIGHTED_BINS: [usize; 2] = [256, 65_536];

/// Algorithms that count the types of items, and the number of items. The lock is so slow that it gets few.
const ITEM_ALGORITHMS: [(&str, HistogramAlgorithm, usize); 5] = [
    ("critical", HistogramAlgorithm::Critical, 1 << 16),
    ("global relaxed", HistogramAlgorithm::GlobalAtomic(MemoryOrder::Relaxed), 1 << 26),
    ("global seq_cst", HistogramAlgorithm::GlobalAtomic(MemoryOrder::SeqCst), 1 << 26),
    ("shared relaxed", HistogramAlgorithm::SharedAtomic(MemoryOrder::Relaxed), 1 << 26),
    ("shared seq_cst", HistogramAlgorithm::SharedAtomic(MemoryOrder::SeqCst), 1 << 26),
];

/// Algorithms that count bytes, except the lock, which would take minutes.
const BYTE_ALGORITHMS: [(&str, HistogramAlgorithm); 7] = [
    ("private", HistogramAlgorithm::PrivatePerThread),
    ("lane private", HistogramAlgorithm::LanePrivate),
    ("shared relaxed", HistogramAlgorithm::SharedAtomic(MemoryOrder::Relaxed)),
    ("shared seq_cst", HistogramAlgorithm::SharedAtomic(MemoryOrder::SeqCst)),
    ("cached", HistogramAlgorithm::CachedAtomic),
    ("global relaxed", HistogramAlgorithm::GlobalAtomic(MemoryOrder::Relaxed)),
    ("global seq_cst", HistogramAlgorithm::GlobalAtomic(MemoryOrder::SeqCst)),
];

/// Numbers of bins that take three to nineteen ranges on an H200.
const RANGES_OF_BINS: [usize; 5] = [1 << 17, 1 << 18, 3 << 17, 1 << 19, 1 << 20];

/// Algorithms for many bins.
const MANY_BINS_ALGORITHMS: [(&str, HistogramAlgorithm); 2] =
    [("shared", HistogramAlgorithm::SharedAtomic(MemoryOrder::Relaxed)), ("cached", HistogramAlgorithm::CachedAtomic)];

fn main() -> Result<()> {
    let has_argument = |wanted: &str| std::env::args().any(|argument| argument == wanted);
    let table_only = has_argument("--table");
    let device = Device::open()?;
    begin();
    println!("# slm {} on {device}", env!("CARGO_PKG_VERSION"));
    println!("# median of {} runs, by the device's clock", rounds(&device));
    columns(&["bytes_per_s", "samples_per_s"]);
    let mut criterion = (!table_only).then(|| Criterion::default().sample_size(20).configure_from_args());
    let (bytes, samples) = if is_cpu(&device) { (1 << 30, 1 << 24) } else { (1 << 27, 1 << 26) };
    if has_argument("--weighted") {
        weighted(&device, samples)?;
        end();
        return Ok(());
    }
    measure(&device, "bytes u8", &Histogram::bytes(), bytes, |bin| bin as u8, &mut criterion)?;
    measure(&device, "low bits u16", &Histogram::low_bits(10), samples, |bin| bin as u16, &mut criterion)?;
    for bins in BINS {
        measure(&device, "even f32", &Histogram::even(bins, 0.0..1.0), samples, middle(bins), &mut criterion)?;
    }
    for bins in CROOKED_BINS {
        let sample = move |bin| CROOKED.start + (CROOKED.end - CROOKED.start) * middle(bins)(bin);
        measure(&device, "crooked f32", &Histogram::even(bins, CROOKED), samples, sample, &mut criterion)?;
        let (even, sample) = (Histogram::even(bins, DOUBLE_CROOKED), move |bin| f64::from(sample(bin)));
        measure(&device, "crooked f64", &even, samples / 2, sample, &mut criterion)?;
    }
    for bins in MANY_BINS {
        let (even, ends) = (Histogram::even(bins, 0.0..1.0), edges(bins));
        measure(&device, "even f64", &even, samples / 2, |bin| middle(bins)(bin).into(), &mut criterion)?;
        measure(&device, "edges f32", &Histogram::edges(&ends), samples, middle(bins), &mut criterion)?;
    }
    for bins in SEARCHED_BINS {
        let irregular = ("irregular", irregular_edges(bins));
        for (shape, ends) in [irregular, ("growing", growing_edges(bins)), ("crowded", crowded_edges(bins))] {
            let sample = |bin: u32| f32::midpoint(ends[bin as usize], ends[bin as usize + 1]);
            let name = format!("{shape} edges f32");
            measure(&device, &name, &Histogram::edges(&ends), samples, sample, &mut criterion)?;
        }
    }
    for bins in INTEGER_BINS {
        let (half, end) = ((bins as u32 / 2 * INTEGER_WIDTH) as i32, bins as u32 * INTEGER_WIDTH);
        let unsigned = |bin: u32| bin * INTEGER_WIDTH + INTEGER_WIDTH / 2;
        let signed = |bin: u32| unsigned(bin) as i32 - half;
        let ends: Vec<i32> = (0..=bins as u32).map(|edge| (edge * INTEGER_WIDTH) as i32 - half).collect();
        measure(&device, "even u32", &Histogram::even(bins, 0..end), samples, unsigned, &mut criterion)?;
        measure(&device, "even i32", &Histogram::even(bins, -half..half), samples, signed, &mut criterion)?;
        measure(&device, "edges i32", &Histogram::edges(&ends), samples, signed, &mut criterion)?;
    }
    weighted(&device, samples)?;
    if !is_cpu(&device) {
        byte_algorithms(&device, bytes, &mut criterion)?;
        few_bins(&device, samples)?;
        many_bins(&device, samples)?;
        items(&device)?;
    }
    end();
    if let Some(criterion) = criterion {
        criterion.final_summary();
    }
    Ok(())
}

/// Returns the middle of one of `bins` bins from 0 to 1.
fn middle(bins: usize) -> impl Fn(u32) -> f32 + Sync {
    move |bin| ((f64::from(bin) + 0.5) / bins as f64) as f32
}

/// Returns the edges of `bins` bins from 0 to 1 with equal distances.
fn edges(bins: usize) -> Vec<f32> {
    (0..=bins).map(|edge| (edge as f64 / bins as f64) as f32).collect()
}

/// Returns the edges of up to 65,536 bins, from 0 to at most 1. Their distances are random: 1 to 127 times 2^-23. So the edges, and the
/// numbers in the middle between two, are multiples of 2^-24, which are exact.
fn irregular_edges(bins: usize) -> Vec<f32> {
    let distances = (0..bins as u64).map(|i| 2 * (1 + random(i, 3) % 127));
    let units = std::iter::once(0).chain(distances.scan(0, |end, distance| {
        *end += distance;
        Some(*end)
    }));
    units.map(|units| units as f32 / (1 << 24) as f32).collect()
}

/// Returns edges from 2^-16 to 1, each in the same proportion to the one before it.
fn growing_edges(bins: usize) -> Vec<f32> {
    (0..=bins).map(|edge| (edge as f64 * 16.0 / bins as f64 - 16.0).exp2() as f32).collect()
}

/// Returns edges in two crowds: half of them are close behind 1, the others close behind 1024.
fn crowded_edges(bins: usize) -> Vec<f32> {
    let (half, bins) = (bins as u32 / 2, bins as u32);
    let near = |number: f32, k: u32| number + number * k as f32 / (1 << 20) as f32;
    (0..half).map(|k| near(1.0, k)).chain((half..=bins).map(|k| near(1024.0, k - half))).collect()
}

fn is_cpu(device: &Device) -> bool {
    device.info().backend == Backend::Cpu
}

fn rounds(device: &Device) -> usize {
    if is_cpu(device) { 5 } else { 25 }
}

/// Distribution of samples over bins.
#[derive(Clone, Copy, Debug)]
enum Distribution {
    Uniform,
    Constant,
    /// Bin `k` in proportion to `(k + 1)^-1.1`.
    Zipf,
    Sorted,
    Sawtooth,
    TwoValue,
}

impl Distribution {
    const ALL: [Self; 6] = [Self::Uniform, Self::Constant, Self::Zipf, Self::Sorted, Self::Sawtooth, Self::TwoValue];

    /// Returns the bins of `count` samples.
    fn bins(self, bins: usize, count: usize) -> impl IndexedParallelIterator<Item = u32> {
        let mut sum = 0.0;
        let cumulated: Vec<f64> = match self {
            Self::Zipf => (1..=bins)
                .map(|k| {
                    sum += (k as f64).powf(-1.1);
                    sum
                })
                .collect(),
            _ => Vec::new(),
        };
        (0..count).into_par_iter().map(move |i| {
            let random = random(i as u64, 1);
            let bin = match self {
                Self::Uniform => ((random >> 32) as usize * bins) >> 32,
                Self::Constant => bins / 3,
                Self::Zipf => {
                    let place = (random >> 11) as f64 / (1u64 << 53) as f64 * sum;
                    cumulated.partition_point(|&end| end <= place).min(bins - 1)
                }
                Self::Sorted => (i as u128 * bins as u128 / count as u128) as usize,
                Self::Sawtooth => i % bins,
                Self::TwoValue => bins / 3 * (1 + (random >> 63) as usize),
            };
            bin as u32
        })
    }
}

/// Samples on a device, and their expected counts.
struct Data<T: HistogramElement> {
    samples: Buffer<T>,
    expected: Vec<u64>,
}

impl<T: HistogramElement> Data<T> {
    fn new(
        device: &Device,
        distribution: Distribution,
        bins: usize,
        count: usize,
        sample: impl Fn(u32) -> T + Sync,
    ) -> Result<Self> {
        let mut samples = vec![T::default(); count];
        distribution.bins(bins, count).zip(&mut samples).for_each(|(bin, place)| *place = sample(bin));
        let mut expected = vec![0; bins];
        let counted = distribution.bins(bins, count).fold_chunks(
            count.div_ceil(16),
            || vec![0u64; bins],
            |mut counts, bin| {
                counts[bin as usize] += 1;
                counts
            },
        );
        for counts in counted.collect::<Vec<_>>() {
            expected.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        Ok(Data { samples: device.upload(&samples)?, expected })
    }

    /// Counts once, and compares all counts. Returns the verdict.
    fn check(&self, histogram: &PreparedHistogram<T>, counts: &mut Buffer<u64>) -> Result<&'static str> {
        *counts = histogram.device().zeroed(histogram.counts_len())?;
        histogram.accumulate_into(&self.samples, counts)?;
        let counts = histogram.counts(counts)?;
        assert!(counts.bins()? == self.expected, "the counts are wrong");
        assert_eq!(counts.total(), self.samples.len() as u64);
        Ok("ok exact")
    }

    /// Checks and measures a case, prints a line, and returns the median. The total counts of all runs are compared too.
    fn row(&self, peer: &str, case: &str, histogram: &PreparedHistogram<T>) -> Result<Duration> {
        let device = histogram.device();
        let mut counts = device.zeroed(histogram.counts_len())?;
        let verdict = self.check(histogram, &mut counts)?;
        let run = |_| Ok(device.time(|| histogram.accumulate_into(&self.samples, &mut counts))?.1);
        let mut times = (0..rounds(device)).map(run).collect::<Result<Vec<_>>>()?;
        let (summary, samples, runs) = (Times::of(&mut times), self.samples.len() as u64, 1 + times.len() as u64);
        let counts = histogram.counts(&counts)?;
        assert!(counts.bins()? == self.of_runs(runs), "the counts of {runs} runs are wrong");
        assert_eq!(counts.total(), runs * samples);
        report(peer, case, summary, &[samples * size_of::<T>() as u64, samples], verdict);
        Ok(summary.median)
    }

    /// Returns the expected counts of `runs` runs.
    fn of_runs(&self, runs: u64) -> Vec<u64> {
        self.expected.iter().map(|count| runs * count).collect()
    }

    /// Adds up weights, checks every sum, and prints a line. Each call waits for its sums, since no other can be measured.
    fn weighted_row<W: HistogramWeight>(
        &self,
        case: &str,
        histogram: &PreparedHistogram<T>,
        weights: &[W],
        expected: &[f64],
    ) -> Result<()> {
        let device = histogram.device();
        let weights = device.upload(weights)?;
        let run = |_| {
            let (weighted, time) = device.time(|| histogram.apply_weighted(&self.samples, &weights))?;
            assert!(weighted.sums.bins()? == expected, "the sums are wrong");
            Ok(time)
        };
        let mut times = (0..=rounds(device)).map(run).collect::<Result<Vec<_>>>()?;
        let samples = self.samples.len() as u64;
        let bytes = samples * (size_of::<T>() + size_of::<W>()) as u64;
        report("weighted", case, Times::of(&mut times[1..]), &[bytes, samples], "ok exact");
        Ok(())
    }
}

/// Measures a histogram on data of all kinds.
fn measure<T: HistogramElement>(
    device: &Device,
    name: &str,
    description: &Histogram<T>,
    count: usize,
    sample: impl Fn(u32) -> T + Sync,
    criterion: &mut Option<Criterion>,
) -> Result<()> {
    let histogram = description.prepare(device)?;
    let bins = histogram.bins();
    for distribution in Distribution::ALL {
        let data = Data::new(device, distribution, bins, count, &sample)?;
        let case = format!("{name} n={count} bins={bins} {distribution:?}");
        data.row(if is_cpu(device) { "cpu" } else { "auto" }, &case, &histogram)?;
        if let (Some(criterion), Distribution::Uniform) = (criterion.as_mut(), distribution) {
            benchmark(criterion, name, histogram.bins(), &histogram, &data.samples)?;
        }
    }
    println!("# {}", histogram.plan([count])?.to_string().replace('\n', "\n# "));
    Ok(())
}

fn benchmark<T: HistogramElement>(
    criterion: &mut Criterion,
    name: &str,
    parameter: impl Display,
    histogram: &PreparedHistogram<T>,
    samples: &Buffer<T>,
) -> Result<()> {
    let device = histogram.device();
    let mut counts = device.zeroed(histogram.counts_len())?;
    let mut group = criterion.benchmark_group(format!("histogram {name}"));
    group.throughput(Throughput::Bytes((samples.len() * size_of::<T>()) as u64));
    group.bench_function(BenchmarkId::from_parameter(parameter), |bencher| {
        bencher.iter_custom(|rounds| {
            let work = || (0..rounds).try_for_each(|_| histogram.apply_into(samples, &mut counts));
            device.time(work).expect("it ran before").1
        });
    });
    Ok(())
}

/// Counts bytes by every algorithm, in a separate table.
fn byte_algorithms(device: &Device, count: usize, criterion: &mut Option<Criterion>) -> Result<()> {
    println!("# bytes, by every algorithm");
    for distribution in Distribution::ALL {
        let data = Data::new(device, distribution, 256, count, |bin| bin as u8)?;
        for (name, algorithm) in BYTE_ALGORITHMS {
            let histogram = Histogram::bytes().algorithm(algorithm).prepare(device)?;
            data.row(name, &format!("ways u8 n={count} bins=256 {distribution:?}"), &histogram)?;
            if let (Some(criterion), Distribution::Uniform) = (criterion.as_mut(), distribution) {
                benchmark(criterion, "ways u8", name, &histogram, &data.samples)?;
            }
        }
    }
    Ok(())
}

/// Counts items of 256 types by all algorithms that differ in contention, in a separate table.
fn items(device: &Device) -> Result<()> {
    println!("# items of 256 types, by all algorithms");
    for (name, algorithm, count) in ITEM_ALGORITHMS {
        let histogram = Histogram::bytes().algorithm(algorithm).prepare(device)?;
        let data = Data::new(device, Distribution::Uniform, 256, count, |bin| bin as u8)?;
        let time = data.row(name, &format!("items u8 n={count} bins=256 Uniform"), &histogram)?;
        println!("# {:.4} ns per item", time.as_secs_f64() * 1e9 / count as f64);
    }
    Ok(())
}

/// Measures few bins, to find out when separate counters for each thread are faster.
fn few_bins(device: &Device, count: usize) -> Result<()> {
    println!("# few bins");
    for bins in FEW_BINS {
        for distribution in [Distribution::Uniform, Distribution::Constant] {
            let data = Data::new(device, distribution, bins, count, middle(bins))?;
            for (name, algorithm) in &BYTE_ALGORITHMS[..2] {
                let histogram = Histogram::even(bins, 0.0..1.0).algorithm(*algorithm).prepare(device)?;
                data.row(name, &format!("few bins f32 n={count} bins={bins} {distribution:?}"), &histogram)?;
            }
        }
    }
    Ok(())
}

/// Measures more bins than a block's shared memory can hold, to find out up to which number reading the samples several
/// times is faster.
fn many_bins(device: &Device, count: usize) -> Result<()> {
    println!("# many bins");
    let searched = MANY_BINS.map(|bins| ("edges", Histogram::edges(&edges(bins))));
    let computed = RANGES_OF_BINS.map(|bins| ("even", Histogram::even(bins, 0.0..1.0)));
    for (kind, histogram) in searched.into_iter().chain(computed) {
        let bins = histogram.prepare(device)?.bins();
        for distribution in Distribution::ALL {
            let data = Data::new(device, distribution, bins, count, middle(bins))?;
            for (name, algorithm) in MANY_BINS_ALGORITHMS {
                let histogram = histogram.clone().algorithm(algorithm).prepare(device)?;
                data.row(name, &format!("many bins {kind} f32 n={count} bins={bins} {distribution:?}"), &histogram)?;
            }
        }
    }
    Ok(())
}

/// Measures sums of weights: of a few, and of many.
fn weighted(device: &Device, count: usize) -> Result<()> {
    println!("# weights, on buffers; a run waits for its sums");
    weights_of(device, 1 << 10)?;
    weights_of(device, count)
}

/// Measures sums of halves, and of random weights below 1.
fn weights_of(device: &Device, count: usize) -> Result<()> {
    let singles: Vec<f32> = (0..count).into_par_iter().map(weight).collect();
    let doubles: Vec<f64> = singles.iter().copied().map(f64::from).collect();
    for bins in WEIGHTED_BINS {
        let histogram = Histogram::even(bins, 0.0..1.0).prepare(device)?;
        for distribution in [Distribution::Uniform, Distribution::Constant] {
            let data = Data::new(device, distribution, bins, count, middle(bins))?;
            let case = |kind: &str| format!("{kind} n={count} bins={bins} {distribution:?}");
            let halves: Vec<f64> = data.expected.iter().map(|count| *count as f64 / 2.0).collect();
            data.weighted_row(&case("weighted f32"), &histogram, &vec![0.5f32; count], &halves)?;
            // Exact, because the weights are multiples of 2^-24.
            let mut sums = vec![0.0; bins];
            let places: Vec<u32> = distribution.bins(bins, count).collect();
            places.iter().zip(&doubles).for_each(|(bin, weight)| sums[*bin as usize] += weight);
            data.weighted_row(&case("weighted random f32"), &histogram, &singles, &sums)?;
            data.weighted_row(&case("weighted random f64"), &histogram, &doubles, &sums)?;
        }
    }
    Ok(())
}

/// Returns a random weight below 1, a multiple of 2^-24.
fn weight(i: usize) -> f32 {
    (random(i as u64, 2) >> 40) as f32 / (1u32 << 24) as f32
}
