//! `Filter1d` in all its variants: 2^26 samples and 257 taps on a GPU, 2^24 on the CPU.
//!
//! Times are the device's own (CUDA events), data stay on the device, every variant's result is checked. The table
//! beforehand takes the variants in turns, so that a drift of the clocks meets all alike, and gives medians; Criterion
//! then looks at each variant for longer. `cargo bench --bench filter1d -- --table` ends with the table.

use criterion::{BenchmarkId, Criterion, Throughput};
use slm::filter1d::{Algorithm, FilterElement, HaloLoad, PreparedFilter1d};
use slm::{Backend, Buffer, Device, Filter1d, Result};
use std::time::{Duration, Instant};

const TAPS: usize = 257;
const ROUNDS: usize = 25;

const VARIANTS: [(&str, Algorithm); 4] = [
    ("global", Algorithm::GlobalMemory),
    ("tile, edge thread", Algorithm::SharedTile(HaloLoad::EdgeThread)),
    ("tile, cooperative", Algorithm::SharedTile(HaloLoad::Cooperative)),
    ("register-tiled", Algorithm::RegisterTiled),
];

fn main() -> Result<()> {
    let table_only = std::env::args().any(|argument| argument == "--table");
    let device = Device::open()?;
    println!("# {device}; {} samples, {TAPS} taps", samples(&device));
    let mut problems = (Problem::<f32>::new(&device)?, Problem::<i32>::new(&device)?, Problem::<f64>::new(&device)?);
    problems.0.table()?;
    problems.1.table()?;
    problems.2.table()?;
    overheads(&device)?;
    if !table_only {
        let mut criterion = Criterion::default().sample_size(20).configure_from_args();
        problems.0.benchmark(&mut criterion);
        problems.1.benchmark(&mut criterion);
        criterion.final_summary();
    }
    Ok(())
}

fn samples(device: &Device) -> usize {
    if device.info().backend == Backend::Cpu { 1 << 24 } else { 1 << 26 }
}

/// An element type of the benchmark.
trait Number: FilterElement {
    const NAME: &'static str;
    fn random(bits: u64) -> Self;
    /// The exact sum, and how far from it a result may be.
    fn agrees(actual: Self, products: impl Iterator<Item = (Self, Self)>) -> bool;
}

impl Number for f32 {
    const NAME: &'static str = "f32";
    fn random(bits: u64) -> Self {
        (bits >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
    fn agrees(actual: Self, products: impl Iterator<Item = (Self, Self)>) -> bool {
        let (sum, weight) = products
            .fold((0.0, 0.0), |(sum, weight), (x, w)| (sum + f64::from(x) * f64::from(w), weight + f64::from(w).abs()));
        (f64::from(actual) - sum).abs() <= TAPS as f64 * (-24f64).exp2() * weight
    }
}

impl Number for f64 {
    const NAME: &'static str = "f64";
    fn random(bits: u64) -> Self {
        f32::random(bits).into()
    }
    fn agrees(actual: Self, products: impl Iterator<Item = (Self, Self)>) -> bool {
        let (sum, weight) = products.fold((0.0, 0.0), |(sum, weight), (x, w)| (sum + x * w, weight + w.abs()));
        (actual - sum).abs() <= TAPS as f64 * (-52f64).exp2() * weight
    }
}

impl Number for i32 {
    const NAME: &'static str = "i32";
    fn random(bits: u64) -> Self {
        bits as i32
    }
    fn agrees(actual: Self, products: impl Iterator<Item = (Self, Self)>) -> bool {
        actual == products.fold(0, |sum: i32, (x, w)| sum.wrapping_add(x.wrapping_mul(w)))
    }
}

/// Deterministic data: SplitMix64.
fn data<T: Number>(count: usize, seed: u64) -> Vec<T> {
    let mix = |i: u64| {
        let z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    (1..=count as u64).map(|i| T::random(mix(i))).collect()
}

/// The data of one element type on the device.
struct Problem<T: Number> {
    device: Device,
    taps: Vec<T>,
    host: Vec<T>,
    samples: Buffer<T>,
    outputs: Buffer<T>,
}

impl<T: Number> Problem<T> {
    fn new(device: &Device) -> Result<Self> {
        let host = data(samples(device), 1);
        let (samples, outputs) = (device.upload(&host)?, device.zeroed(host.len())?);
        Ok(Problem { device: device.clone(), taps: data(TAPS, 2), host, samples, outputs })
    }

    fn variants(&self) -> &'static [(&'static str, Algorithm)] {
        if self.device.info().backend == Backend::Cpu { &[("cpu", Algorithm::Auto)] } else { &VARIANTS }
    }

    fn prepare(&self, algorithm: Algorithm) -> Result<PreparedFilter1d<T>> {
        Filter1d::correlate(&self.taps).algorithm(algorithm).prepare(&self.device)
    }

    /// Filters once, and compares the ends and some other outputs with the definition.
    fn check(&mut self, name: &str, filter: &PreparedFilter1d<T>) -> Result<()> {
        self.outputs = self.device.zeroed(self.host.len())?;
        filter.apply_into(&self.samples, &mut self.outputs)?;
        let outputs = self.outputs.download()?;
        let n = outputs.len();
        for o in (0..600).chain(n - 600..n).chain((0..n).step_by(n / 2003)) {
            let first = o as i64 - TAPS as i64 / 2;
            let sample = |j: usize| usize::try_from(first + j as i64).ok().and_then(|i| self.host.get(i)).copied();
            let products = self.taps.iter().enumerate().filter_map(|(j, &w)| Some((sample(j)?, w)));
            assert!(T::agrees(outputs[o], products), "{} {name}: output {o} is {:?}", T::NAME, outputs[o]);
        }
        Ok(())
    }

    /// Prints a line for the copy and for every variant: median time, bytes and multiply-adds per second.
    fn table(&mut self) -> Result<()> {
        let mut filters = Vec::new();
        for &(name, algorithm) in self.variants() {
            let filter = self.prepare(algorithm)?;
            self.check(name, &filter)?;
            filters.push((name, filter));
        }
        let mut times = vec![Vec::new(); filters.len() + 1];
        for _ in 0..ROUNDS {
            times[0].push(self.device.time(|| self.outputs.copy_from(&self.samples))?.1);
            for ((_, filter), times) in filters.iter().zip(&mut times[1..]) {
                times.push(self.device.time(|| filter.apply_into(&self.samples, &mut self.outputs))?.1);
            }
        }
        println!("{:<6}{:<20}{:>12}{:>12}{:>14}", "", "", "median us", "GB/s", "G mul-add/s");
        let names = std::iter::once("copy").chain(filters.iter().map(|(name, _)| *name));
        for (i, (name, times)) in names.zip(&mut times).enumerate() {
            let seconds = median(times).as_secs_f64();
            let products = if i == 0 { 0.0 } else { self.products() as f64 };
            let (gigabytes, products) = (self.bytes() as f64 / seconds / 1e9, products / seconds / 1e9);
            println!("{:<6}{name:<20}{:>12.1}{gigabytes:>12.1}{products:>14.1}", T::NAME, seconds * 1e6);
        }
        if let Some((_, filter)) = filters.last() {
            println!("{}", filter.plan(self.host.len()));
        }
        Ok(())
    }

    fn benchmark(&mut self, criterion: &mut Criterion) {
        let mut group = criterion.benchmark_group(format!("filter1d {}", T::NAME));
        group.throughput(Throughput::ElementsAndBytes { elements: self.products(), bytes: self.bytes() });
        for &(name, algorithm) in self.variants() {
            let filter = self.prepare(algorithm).expect("the table has prepared it before");
            let (device, samples, outputs) = (&self.device, &self.samples, &mut self.outputs);
            group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
                bencher.iter_custom(|rounds| {
                    let work = || (0..rounds).try_for_each(|_| filter.apply_into(samples, outputs));
                    device.time(work).expect("it ran before").1
                });
            });
        }
    }

    /// Bytes that have to be moved: every sample read, every output written.
    fn bytes(&self) -> u64 {
        2 * (self.host.len() * size_of::<T>()) as u64
    }

    fn products(&self) -> u64 {
        (self.host.len() * TAPS) as u64
    }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// What the host needs: to load an operation's kernels, and for each call.
fn overheads(device: &Device) -> Result<()> {
    const CALLS: u32 = 1000;
    let filter = Filter1d::correlate(&[1.0f32, 2.0, 1.0]);
    if device.info().backend == Backend::Cuda {
        let mut loads = Vec::new();
        for _ in 0..5 {
            // A new handle has no modules yet. Without CUDA_CACHE_DISABLE=1 the driver remembers them from run to run.
            let fresh = Device::named(&device.info().selection.replace("CUDA device ", "cuda:"))?;
            let start = Instant::now();
            filter.prepare(&fresh)?;
            loads.push(start.elapsed());
        }
        println!(
            "prepare on a new handle (loads the module): median {:.1?} of {loads:.1?}",
            median(&mut loads.clone())
        );
    }
    let filter = filter.prepare(device)?;
    let samples = device.upload(&[1.0; 1000])?;
    let mut outputs = device.zeroed(1000)?;
    filter.apply_into(&samples, &mut outputs)?;
    device.synchronize()?;
    let mut calls = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..CALLS {
            filter.apply_into(&samples, &mut outputs)?;
        }
        calls.push(start.elapsed() / CALLS);
        device.synchronize()?;
    }
    println!("apply_into of 1000 samples, host time per call: median {:.2?}", median(&mut calls));
    Ok(())
}
