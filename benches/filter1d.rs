//! `Filter1d` in all its variants: 2^26 samples and 257 taps on a GPU, 2^24 on the CPU.
//!
//! Times are the device's own (CUDA events), data stay on the device, and every variant's result is checked. First, a table
//! with medians is printed, in the columns that `peers/README.md` explains. Its runs alternate between the variants, so that
//! a drift of the clocks affects all alike. Then Criterion measures each variant for longer.
//! `cargo bench --bench filter1d -- --table` ends with the table.

mod common;

use common::{Times, begin, columns, end, random, report};
use criterion::{BenchmarkId, Criterion, Throughput};
use slm::filter1d::{Filter1dAlgorithm, FilterElement, HaloLoad, PreparedFilter1d};
use slm::{Backend, Buffer, Device, Filter1d, Result};
use std::time::Instant;

const TAPS: usize = 257;
const ROUNDS: usize = 25;

const VARIANTS: [(&str, Filter1dAlgorithm); 4] = [
    ("global", Filter1dAlgorithm::GlobalMemory),
    ("tile, edge thread", Filter1dAlgorithm::SharedTile(HaloLoad::EdgeThread)),
    ("tile, cooperative", Filter1dAlgorithm::SharedTile(HaloLoad::Cooperative)),
    ("register-tiled", Filter1dAlgorithm::RegisterTiled),
];

fn main() -> Result<()> {
    let table_only = std::env::args().any(|argument| argument == "--table");
    let device = Device::open()?;
    begin();
    println!("# slm {} on {device}; {} samples, {TAPS} taps", env!("CARGO_PKG_VERSION"), samples(&device));
    println!("# median of {ROUNDS} runs, alternating, by the device's clock");
    columns(&["bytes_per_s", "multiply_adds_per_s"]);
    let mut problems = (Problem::<f32>::new(&device)?, Problem::<i32>::new(&device)?, Problem::<f64>::new(&device)?);
    problems.0.table()?;
    problems.1.table()?;
    problems.2.table()?;
    host_time(&device)?;
    end();
    if !table_only {
        let mut criterion = Criterion::default().sample_size(20).configure_from_args();
        problems.0.benchmark(&mut criterion);
        problems.1.benchmark(&mut criterion);
        problems.2.benchmark(&mut criterion);
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
    /// Maximum error of an output, divided by the sum of the taps' magnitudes. No sample's magnitude exceeds 1.
    const TOLERANCE: f64;
    fn random(bits: u64) -> Self;
    fn magnitude(self) -> f64;
    /// Returns the difference from the exact sum: 0 or infinity for integers.
    fn error(self, products: impl Iterator<Item = (Self, Self)>) -> f64;
}

impl Number for f32 {
    const NAME: &'static str = "f32";
    const TOLERANCE: f64 = 1e-6;
    fn random(bits: u64) -> Self {
        (bits >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
    fn magnitude(self) -> f64 {
        self.abs().into()
    }
    fn error(self, products: impl Iterator<Item = (Self, Self)>) -> f64 {
        f64::from(self).error(products.map(|(x, w)| (x.into(), w.into())))
    }
}

impl Number for f64 {
    const NAME: &'static str = "f64";
    const TOLERANCE: f64 = 1e-14;
    fn random(bits: u64) -> Self {
        f32::random(bits).into()
    }
    fn magnitude(self) -> f64 {
        self.abs()
    }
    fn error(self, products: impl Iterator<Item = (Self, Self)>) -> f64 {
        (self - products.map(|(x, w)| x * w).sum::<f64>()).abs()
    }
}

impl Number for i32 {
    const NAME: &'static str = "i32";
    const TOLERANCE: f64 = 0.0;
    fn random(bits: u64) -> Self {
        bits as i32
    }
    fn magnitude(self) -> f64 {
        f64::from(self).abs()
    }
    fn error(self, products: impl Iterator<Item = (Self, Self)>) -> f64 {
        let exact = products.fold(0, |sum: i32, (x, w)| sum.wrapping_add(x.wrapping_mul(w)));
        if self == exact { 0.0 } else { f64::INFINITY }
    }
}

/// Returns deterministic data.
fn data<T: Number>(count: usize, seed: u64) -> Vec<T> {
    (0..count as u64).map(|i| T::random(random(i, seed))).collect()
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

    fn variants(&self) -> &'static [(&'static str, Filter1dAlgorithm)] {
        if self.device.info().backend == Backend::Cpu { &[("cpu", Filter1dAlgorithm::Auto)] } else { &VARIANTS }
    }

    fn prepare(&self, algorithm: Filter1dAlgorithm) -> Result<PreparedFilter1d<T>> {
        Filter1d::correlate(&self.taps).algorithm(algorithm).prepare(&self.device)
    }

    /// Filters once, and compares the outputs at both ends and some others with the definition. Returns the verdict.
    fn check(&mut self, name: &str, filter: &PreparedFilter1d<T>) -> Result<String> {
        self.outputs = self.device.zeroed(self.host.len())?;
        filter.apply_into(&self.samples, &mut self.outputs)?;
        let outputs = self.outputs.download()?;
        let n = outputs.len();
        let scale: f64 = self.taps.iter().map(|tap| tap.magnitude()).sum();
        let mut worst = 0.0f64;
        for o in (0..600).chain(n - 600..n).chain((0..n).step_by(61)) {
            let first = o as i64 - TAPS as i64 / 2;
            let sample = |j: usize| usize::try_from(first + j as i64).ok().and_then(|i| self.host.get(i)).copied();
            let products = self.taps.iter().enumerate().filter_map(|(j, &w)| Some((sample(j)?, w)));
            let error = outputs[o].error(products) / scale;
            assert!(error <= T::TOLERANCE, "{} {name}: output {o} is {:?}", T::NAME, outputs[o]);
            worst = worst.max(error);
        }
        Ok(if T::TOLERANCE == 0.0 { "ok exact".to_owned() } else { format!("ok error {worst:.1e}") })
    }

    /// Copies the samples, as the lower bound of a filter's time, and checks the copy.
    fn check_copy(&mut self) -> Result<String> {
        self.outputs.copy_from(&self.samples)?;
        assert!(self.outputs.download()? == self.host, "{}: the copy differs", T::NAME);
        Ok("ok exact".to_owned())
    }

    /// Prints a line for the copy and for every variant, and the launches of the last variant.
    fn table(&mut self) -> Result<()> {
        let (mut filters, mut verdicts) = (Vec::new(), vec![self.check_copy()?]);
        for &(name, algorithm) in self.variants() {
            let filter = self.prepare(algorithm)?;
            verdicts.push(self.check(name, &filter)?);
            filters.push((name, filter));
        }
        let mut times = vec![Vec::new(); filters.len() + 1];
        for _ in 0..ROUNDS {
            times[0].push(self.device.time(|| self.outputs.copy_from(&self.samples))?.1);
            for ((_, filter), times) in filters.iter().zip(&mut times[1..]) {
                times.push(self.device.time(|| filter.apply_into(&self.samples, &mut self.outputs))?.1);
            }
        }
        let case = format!("{} n={} taps={TAPS}", T::NAME, self.host.len());
        let cases = std::iter::once(("copy", 0)).chain(filters.iter().map(|(name, _)| (*name, self.products())));
        for (((name, products), times), verdict) in cases.zip(&mut times).zip(&verdicts) {
            report(name, &case, Times::of(times), &[self.bytes(), products], verdict);
        }
        if let Some((_, filter)) = filters.last() {
            println!("# {}", filter.plan([self.host.len()])?.to_string().replace('\n', "\n# "));
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

    /// Returns the bytes that a filter must move: every sample is read, every output written.
    fn bytes(&self) -> u64 {
        2 * (self.host.len() * size_of::<T>()) as u64
    }

    fn products(&self) -> u64 {
        (self.host.len() * TAPS) as u64
    }
}

/// Prints the host time of a call.
fn host_time(device: &Device) -> Result<()> {
    let filter = Filter1d::correlate(&[1.0f32, 2.0, 1.0]).prepare(device)?;
    let (times, verdict) = times_of_a_call(&filter, device)?;
    report("apply_into", "f32 n=1000 taps=3, host time", times, &[0, 0], verdict);
    Ok(())
}

/// Returns the host times of calls. On a GPU this is the time to enqueue the launch: the rounds are short enough for its
/// queue.
fn times_of_a_call(filter: &PreparedFilter1d<f32>, device: &Device) -> Result<(Times, &'static str)> {
    const CALLS: u32 = 1000;
    let samples = device.upload(&[1.0; 1000])?;
    let mut outputs = device.zeroed(1000)?;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..CALLS {
            filter.apply_into(&samples, &mut outputs)?;
        }
        times.push(start.elapsed() / CALLS);
        device.synchronize()?;
    }
    let outputs = outputs.download()?;
    let inside = outputs[1..999].iter().all(|&y| y == 4.0);
    assert!(inside && (outputs[0], outputs[999]) == (3.0, 3.0), "ones are filtered wrongly");
    Ok((Times::of(&mut times), "ok exact"))
}
