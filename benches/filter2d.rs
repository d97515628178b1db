//! `Filter2d` of several sizes: pictures of 8192 x 8192 on a GPU, of 4096 x 4096 on the CPU.
//!
//! Times are the device's own (CUDA events), data stay on the device, and every variant's result is checked. First, a table
//! with medians is printed, in the columns that `peers/README.md` explains. Its runs alternate between the variants, so that
//! a drift of the clocks affects all alike. Then Criterion measures each variant for longer.
//! `cargo bench --bench filter2d -- --table` ends with the table.

mod common;
#[path = "filter2d/peer.rs"]
mod peer;

use common::{Times, begin, columns, end, random, report};
use criterion::{BenchmarkId, Criterion, Throughput};
use slm::filter1d::ErrorBound;
use slm::filter2d::{Filter2dAlgorithm, Filter2dError, Filter2dMethod, PreparedFilter2d};
use slm::ndarray::Array2;
use slm::{Backend, Buffer2, Device, Error, Filter2d, FilterSample, Result};

const ROUNDS: usize = 15;

/// Number of random outputs that are compared.
const INNER: usize = 500;

/// Filters of one picture of `f32`, and of one of four interleaved channels of `u8`.
const F32: [Kernel; 13] = [
    Kernel::Dense(3),
    Kernel::Dense(5),
    Kernel::Dense(7),
    Kernel::Dense(9),
    Kernel::Dense(17),
    Kernel::Dense(31),
    Kernel::Separable(7),
    Kernel::Separable(15),
    Kernel::Separable(31),
    Kernel::Separable(63),
    Kernel::Box(3),
    Kernel::Box(31),
    Kernel::Box(101),
];
const RGBA: [Kernel; 6] = [
    Kernel::Dense(3),
    Kernel::Dense(7),
    Kernel::Separable(3),
    Kernel::Separable(7),
    Kernel::Separable(21),
    Kernel::Box(31),
];

/// A name, the algorithm, and the bound of errors.
type Variant = (&'static str, Filter2dAlgorithm, ErrorBound);

const ON_GPUS: [Variant; 6] = [
    ("global", Filter2dAlgorithm::GlobalMemory, ErrorBound::PerOutput),
    ("tile", Filter2dAlgorithm::SharedTile, ErrorBound::PerOutput),
    ("register-tiled", Filter2dAlgorithm::RegisterTiled, ErrorBound::PerOutput),
    ("streaming", Filter2dAlgorithm::Streaming, ErrorBound::PerOutput),
    ("separable", Filter2dAlgorithm::Separable, ErrorBound::PerOutput),
    ("box", Filter2dAlgorithm::Box, ErrorBound::PerOutput),
];
const ON_CPU: [Variant; 2] = [
    ("cpu", Filter2dAlgorithm::Auto, ErrorBound::PerOutput),
    ("cpu per segment", Filter2dAlgorithm::Auto, ErrorBound::PerSegment),
];

fn main() -> Result<()> {
    let table_only = std::env::args().any(|argument| argument == "--table");
    let device = Device::open()?;
    let side = side(&device);
    begin();
    println!("# slm {} on {device}; {side} x {side} pixels", env!("CARGO_PKG_VERSION"));
    println!("# median of {ROUNDS} runs, alternating, by the device's clock");
    columns(&["bytes_per_s", "multiply_adds_per_s"]);
    let mut criterion = (!table_only).then(|| Criterion::default().sample_size(10).configure_from_args());
    let mut floats = Problem::<f32>::new(&device, 1)?;
    floats.table(&F32, &mut criterion)?;
    let mut bytes = Problem::<u8>::new(&device, 4)?;
    bytes.table(&RGBA, &mut criterion)?;
    end();
    if let Some(criterion) = criterion {
        criterion.final_summary();
    }
    Ok(())
}

fn side(device: &Device) -> usize {
    if device.info().backend == Backend::Cpu { 4096 } else { 8192 }
}

/// Square weights.
#[derive(Clone, Copy, Debug)]
enum Kernel {
    /// Random weights.
    Dense(usize),
    /// An outer product of random vectors.
    Separable(usize),
    /// Equal weights.
    Box(usize),
}

impl Kernel {
    fn side(self) -> usize {
        match self {
            Kernel::Dense(side) | Kernel::Separable(side) | Kernel::Box(side) => side,
        }
    }

    /// Returns a number from -1 to 1.
    fn weight(i: usize) -> f32 {
        (random(i as u64, 2) >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn vectors(self) -> [Vec<f32>; 2] {
        let side = self.side();
        [0, side].map(|first| (first..first + side).map(Self::weight).collect())
    }

    /// Returns all weights.
    fn weights(self) -> Array2<f32> {
        let side = self.side();
        let [column, row] = self.vectors();
        Array2::from_shape_fn([side, side], |(i, j)| match self {
            Kernel::Dense(_) => Self::weight(i * side + j) / (side * side) as f32,
            Kernel::Separable(_) => column[i] * row[j],
            Kernel::Box(_) => (1.0 / side as f32).powi(2),
        })
    }

    fn filter<S: FilterSample<Weight = f32>>(self) -> Filter2d<S, f32> {
        let [column, row] = self.vectors();
        match self {
            Kernel::Dense(_) => Filter2d::correlate(self.weights().view()),
            Kernel::Separable(_) => Filter2d::separable(&column, &row),
            Kernel::Box(side) => Filter2d::box_blur(side, side),
        }
    }
}

/// A sample type of the benchmark.
trait Number: FilterSample<Weight = f32> {
    const NAME: &'static str;

    fn random(bits: u64) -> Self;

    fn to_f64(self) -> f64;

    /// Returns whether an output is right, for an exact sum and the sum of the magnitudes of its products.
    fn is_right(self, exact: f64, magnitudes: f64) -> bool;
}

impl Number for f32 {
    const NAME: &'static str = "f32";

    fn random(bits: u64) -> Self {
        (bits >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn to_f64(self) -> f64 {
        self.into()
    }

    fn is_right(self, exact: f64, magnitudes: f64) -> bool {
        (f64::from(self) - exact).abs() <= 1e-5 * magnitudes
    }
}

impl Number for u8 {
    const NAME: &'static str = "u8 rgba";

    fn random(bits: u64) -> Self {
        bits as u8
    }

    fn to_f64(self) -> f64 {
        self.into()
    }

    fn is_right(self, exact: f64, magnitudes: f64) -> bool {
        (f64::from(self) - exact.clamp(0.0, 255.0)).abs() <= 0.5 + 1e-5 * magnitudes
    }
}

/// A picture on the device.
struct Problem<T: Number> {
    device: Device,
    channels: usize,
    host: Array2<T>,
    samples: Buffer2<T>,
    outputs: Buffer2<T>,
}

impl<T: Number> Problem<T> {
    fn new(device: &Device, channels: usize) -> Result<Self> {
        let (rows, columns) = (side(device), side(device) * channels);
        let host = Array2::from_shape_fn([rows, columns], |(r, c)| T::random(random((r * columns + c) as u64, 1)));
        let samples = Buffer2::upload(device, host.view())?;
        let outputs = Buffer2::zeroed(device, rows, columns)?;
        Ok(Problem { device: device.clone(), channels, host, samples, outputs })
    }

    fn variants(&self) -> &'static [Variant] {
        if self.is_on_cpu() { &ON_CPU } else { &ON_GPUS }
    }

    /// Returns a filter, or `None` if the algorithm cannot compute it, or its bound changes nothing.
    fn prepared(&self, kernel: Kernel, &(_, algorithm, bound): &Variant) -> Result<Option<PreparedFilter2d<T>>> {
        let filter = kernel.filter().channels(self.channels).algorithm(algorithm).error_bound(bound);
        let filter = match filter.prepare(&self.device) {
            Err(Error::Filter2d(
                Filter2dError::NoKernel { .. }
                | Filter2dError::NotSeparable { .. }
                | Filter2dError::UnequalWeights { .. },
            ))
            | Err(Error::SharedMemoryExceeded { .. }) => return Ok(None),
            filter => filter?,
        };
        let (rows, width) = self.host.dim();
        let plan = filter.plan([rows, width / self.channels, self.channels])?;
        let is_transformed =
            matches!(plan.details.method, Filter2dMethod::Lines { .. } | Filter2dMethod::Panels { .. });
        Ok((bound == ErrorBound::PerOutput || is_transformed).then_some(filter))
    }

    fn is_on_cpu(&self) -> bool {
        self.device.info().backend == Backend::Cpu
    }

    /// Prints a line for the copy and for every variant of every filter, and on the CPU for `imageproc`.
    fn table(&mut self, kernels: &[Kernel], criterion: &mut Option<Criterion>) -> Result<()>
    where
        T: peer::Sample,
    {
        self.outputs.copy_from(&self.samples)?;
        assert!(self.outputs.download()? == self.host, "the copy differs");
        for &kernel in kernels {
            let mut filters = Vec::new();
            for variant in self.variants() {
                filters.extend(self.prepared(kernel, variant)?.map(|filter| (variant.0, filter)));
            }
            for (name, filter) in &filters {
                self.check(kernel, name, filter)?;
            }
            self.rows_of_table(kernel, &filters)?;
            if self.is_on_cpu() {
                peer::measure(self, kernel);
            }
            if let Some(criterion) = criterion {
                self.benchmark(criterion, kernel, &filters);
            }
        }
        Ok(())
    }

    fn rows_of_table(&mut self, kernel: Kernel, filters: &[(&str, PreparedFilter2d<T>)]) -> Result<()> {
        let mut times = vec![Vec::new(); filters.len() + 1];
        for _ in 0..ROUNDS {
            times[0].push(self.device.time(|| self.outputs.copy_from(&self.samples))?.1);
            for ((_, filter), times) in filters.iter().zip(&mut times[1..]) {
                times.push(self.device.time(|| filter.apply_into(&self.samples, &mut self.outputs))?.1);
            }
        }
        let case = self.case(kernel);
        let names = std::iter::once(("copy", 0)).chain(filters.iter().map(|(name, _)| (*name, self.products(kernel))));
        for ((name, products), times) in names.zip(&mut times) {
            report(name, &case, Times::of(times), &[self.bytes(), products], "ok");
        }
        Ok(())
    }

    /// Filters once, and compares outputs at the borders and some others with the definition.
    fn check(&mut self, kernel: Kernel, name: &str, filter: &PreparedFilter2d<T>) -> Result<()> {
        let (rows, columns) = self.host.dim();
        self.outputs = Buffer2::zeroed(&self.device, rows, columns)?;
        filter.apply_into(&self.samples, &mut self.outputs)?;
        let near = |n: usize| (0..40).chain(n - 40..n);
        let corners = near(rows).step_by(7).flat_map(|r| near(columns).step_by(3).map(move |c| [r, c]));
        self.compare(kernel, name, &self.outputs.download()?, corners.chain(self.inner()));
        Ok(())
    }

    /// Returns random places.
    fn inner(&self) -> impl Iterator<Item = [usize; 2]> {
        let (rows, columns) = self.host.dim();
        (0..INNER as u64).map(move |i| [random(i, 3) as usize % rows, random(i, 4) as usize % columns])
    }

    /// Compares outputs with the definition.
    fn compare(&self, kernel: Kernel, name: &str, outputs: &Array2<T>, places: impl IntoIterator<Item = [usize; 2]>) {
        let weights = kernel.weights();
        for [r, c] in places {
            let (exact, magnitudes) = self.exact(&weights, [r, c]);
            assert!(outputs[[r, c]].is_right(exact, magnitudes), "{kernel:?}, {name}: {:?}, {exact}", outputs[[r, c]]);
        }
    }

    /// Returns an output by definition, and the sum of the magnitudes of its products.
    fn exact(&self, weights: &Array2<f32>, [r, c]: [usize; 2]) -> (f64, f64) {
        let centre = weights.nrows() / 2;
        let (mut sum, mut magnitudes) = (0.0, 0.0);
        for ((i, j), &weight) in weights.indexed_iter() {
            let row = (r + i).checked_sub(centre);
            let column = (c + j * self.channels).checked_sub(centre * self.channels);
            let sample = row.zip(column).and_then(|place| self.host.get(place));
            let product = sample.map_or(0.0, |sample| sample.to_f64() * f64::from(weight));
            (sum, magnitudes) = (sum + product, magnitudes + product.abs());
        }
        (sum, magnitudes)
    }

    fn benchmark(&mut self, criterion: &mut Criterion, kernel: Kernel, filters: &[(&str, PreparedFilter2d<T>)]) {
        let mut group = criterion.benchmark_group(format!("filter2d {} {kernel:?}", T::NAME));
        group.throughput(Throughput::ElementsAndBytes { elements: self.products(kernel), bytes: self.bytes() });
        for (name, filter) in filters {
            let (device, samples, outputs) = (&self.device, &self.samples, &mut self.outputs);
            group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
                bencher.iter_custom(|rounds| {
                    let work = || (0..rounds).try_for_each(|_| filter.apply_into(samples, outputs));
                    device.time(work).expect("it ran before").1
                });
            });
        }
    }

    fn case(&self, kernel: Kernel) -> String {
        format!("{} n={} {kernel:?}", T::NAME, self.host.len())
    }

    /// Returns the bytes that a filter must move: every sample is read, every output written.
    fn bytes(&self) -> u64 {
        2 * (self.host.len() * size_of::<T>()) as u64
    }

    /// Returns the products of the definition.
    fn products(&self, kernel: Kernel) -> u64 {
        (self.host.len() * kernel.side() * kernel.side()) as u64
    }
}
