//! `Rank2d` and `Morphology2d` of several sizes: pictures of 8192 x 8192 and of 4096 x 4096 on a GPU, of 4096 x 4096 on the CPU; and on a GPU
//! a picture of one row of 2^26 samples, as `Rank1d` has it.
//!
//! Times are the device's own (CUDA events), data stay on the device, and every variant's result is checked. It prints a table with
//! medians, in the columns that `peers/README.md` explains. The runs alternate between the variants, so that a drift of the clocks
//! affects all alike. Some windows take minutes, so Criterion does not repeat them: `cargo bench --bench rank2d` prints the table alone.

mod common;
#[path = "rank2d/peer.rs"]
mod peer;

use common::{Times, begin, columns, end, random, report};
use rayon::prelude::*;
use slm::ndarray::Array2;
use slm::rank2d::{Rank2dAlgorithm, RankElement};
use slm::{Backend, Boundary, Buffer2, Device, Morphology2d, Rank2d, RankWindow, Result};
use std::time::Duration;

const ROUNDS: usize = 15;

/// A run that takes longer than this is not repeated.
const LONG: Duration = Duration::from_secs(2);

/// Number of random outputs that are compared.
const INNER: usize = 500;

const CASES: &[Case] = &[
    Case::RowMedian(3),
    Case::ColumnMedian(9),
    Case::Median(3),
    Case::Median(4),
    Case::Median(5),
    Case::Median(6),
    Case::Median(7),
    Case::Median(9),
    Case::Median(15),
    Case::Median(25),
    Case::Median(75),
    Case::RowMedian(65),
    Case::RowMedian(257),
    Case::ColumnMedian(65),
    Case::DiscMedian(4),
    Case::DiscMedian(7),
    Case::Minimum(3),
    Case::Minimum(15),
    Case::Minimum(75),
    Case::Minimum(255),
    Case::DiscMinimum(4),
    Case::DiscMinimum(7),
    Case::Opening(15),
    Case::Gradient(3),
];

const CASES_OF_LINES: &[Case] = &[
    Case::LineMedian(3),
    Case::LineMedian(5),
    Case::LineMedian(9),
    Case::LineMedian(25),
    Case::LineMedian(49),
    Case::LineMedian(65),
    Case::LineMedian(257),
    Case::LineMedian(1025),
    Case::LineMinimum(9),
    Case::LineMinimum(1025),
];

/// Samples of a line.
const LINE: usize = 1 << 26;

/// Side of the windows for which the kernel in global memory is measured. It is slow.
const GLOBAL_SIDE: usize = 3;

fn main() -> Result<()> {
    let device = Device::open()?;
    let sides: &[usize] = if is_cpu(&device) { &[4096] } else { &[8192, 4096] };
    begin();
    println!("# slm {} on {device}; sides of pictures: {sides:?}", env!("CARGO_PKG_VERSION"));
    println!("# median of {ROUNDS} runs, alternating, by the device's clock; one run if it takes more than {LONG:?}");
    columns(&["bytes_per_s", "pixels_per_s"]);
    for &side in sides {
        let mut bytes = Problem::<u8>::new(&device, [side; 2])?;
        bytes.table(CASES)?;
        if is_cpu(&device) {
            peer::table(&bytes);
        }
        Problem::<f32>::new(&device, [side; 2])?.table(CASES)?;
    }
    if !is_cpu(&device) {
        Problem::<u8>::new(&device, [1, LINE])?.table(CASES_OF_LINES)?;
        Problem::<f32>::new(&device, [1, LINE])?.table(CASES_OF_LINES)?;
    }
    end();
    Ok(())
}

fn is_cpu(device: &Device) -> bool {
    device.info().backend == Backend::Cpu
}

/// A rank of square windows with this side, of windows of one row or of one column of a picture, of those of a line, or of discs with this
/// radius; or morphology with squares.
#[derive(Clone, Copy, Debug)]
enum Case {
    Median(usize),
    Minimum(usize),
    RowMedian(usize),
    ColumnMedian(usize),
    LineMedian(usize),
    LineMinimum(usize),
    DiscMedian(usize),
    DiscMinimum(usize),
    Opening(usize),
    Gradient(usize),
}

/// What is measured.
type Operation<S> = Box<dyn Fn(&Buffer2<S>, &mut Buffer2<S>) -> Result<()>>;

impl Case {
    /// Returns the rows and columns of the window.
    fn shape(self) -> [usize; 2] {
        match self {
            Case::Median(side) | Case::Minimum(side) | Case::Opening(side) | Case::Gradient(side) => [side; 2],
            Case::RowMedian(len) | Case::LineMedian(len) | Case::LineMinimum(len) => [1, len],
            Case::ColumnMedian(len) => [len, 1],
            Case::DiscMedian(radius) | Case::DiscMinimum(radius) => [2 * radius + 1; 2],
        }
    }

    /// Returns whether a sample of the window's rows and columns belongs to it.
    fn has(self, row: usize, column: usize) -> bool {
        match self {
            Case::DiscMedian(radius) | Case::DiscMinimum(radius) => {
                radius.abs_diff(row).pow(2) + radius.abs_diff(column).pow(2) <= radius * radius
            }
            _ => true,
        }
    }

    /// Returns the operation, prepared for a device.
    fn prepare<S: RankElement>(self, device: &Device, algorithm: Rank2dAlgorithm) -> Result<Operation<S>> {
        let rank = match self {
            Case::Median(_) | Case::RowMedian(_) | Case::ColumnMedian(_) | Case::LineMedian(_) => {
                Rank2d::median(self.shape())
            }
            Case::Minimum(_) | Case::LineMinimum(_) => Rank2d::minimum(self.shape()),
            Case::DiscMedian(radius) => Rank2d::median(RankWindow::disc(radius)),
            Case::DiscMinimum(radius) => Rank2d::minimum(RankWindow::disc(radius)),
            Case::Opening(_) => return morphology(&Morphology2d::opening(self.shape()), device),
            Case::Gradient(_) => return morphology(&Morphology2d::gradient(self.shape()), device),
        };
        let prepared = rank.boundary(Boundary::Nearest).algorithm(algorithm).prepare(device)?;
        Ok(Box::new(move |samples, outputs| prepared.apply_into(samples, outputs)))
    }

    /// Returns whether another kernel in shared memory is measured beside the choice: bisection, or a network.
    fn has_shared(self) -> bool {
        matches!(self, Case::Median(6 | 9) | Case::LineMedian(49))
    }

    /// Returns whether sorting is measured beside a network.
    fn has_sorting(self) -> bool {
        matches!(self, Case::LineMedian(9 | 25) | Case::Median(4))
    }

    fn variants(self, device: &Device) -> &'static [(&'static str, Rank2dAlgorithm)] {
        if is_cpu(device) {
            &[("cpu", Rank2dAlgorithm::Auto)]
        } else if matches!(self, Case::Median(GLOBAL_SIDE) | Case::Minimum(GLOBAL_SIDE)) {
            &[("auto", Rank2dAlgorithm::Auto), ("global", Rank2dAlgorithm::GlobalMemory)]
        } else if self.has_shared() {
            &[("auto", Rank2dAlgorithm::Auto), ("shared", Rank2dAlgorithm::SharedTile)]
        } else if self.has_sorting() {
            &[("auto", Rank2dAlgorithm::Auto), ("sorted", Rank2dAlgorithm::SortedTile)]
        } else {
            &[("auto", Rank2dAlgorithm::Auto)]
        }
    }
}

fn morphology<S: RankElement>(operation: &Morphology2d<S>, device: &Device) -> Result<Operation<S>> {
    let prepared = operation.clone().boundary(Boundary::Nearest).prepare(device)?;
    Ok(Box::new(move |samples, outputs| prepared.apply_into(samples, outputs)))
}

/// A sample type of the benchmark.
trait Sample: RankElement {
    const NAME: &'static str;

    fn random(bits: u64) -> Self;

    /// Returns an integer that has the order of the samples, and differs for samples with different bits.
    fn order_key(self) -> i32;

    fn minus(self, other: Self) -> Self;
}

impl Sample for u8 {
    const NAME: &'static str = "u8";

    fn random(bits: u64) -> Self {
        bits as u8
    }

    fn order_key(self) -> i32 {
        self.into()
    }

    fn minus(self, other: Self) -> Self {
        self - other
    }
}

impl Sample for f32 {
    const NAME: &'static str = "f32";

    fn random(bits: u64) -> Self {
        (bits >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn order_key(self) -> i32 {
        // As in `f32::total_cmp`: of negative numbers, those with greater magnitudes are less.
        let bits = self.to_bits().cast_signed();
        if bits < 0 { bits ^ i32::MAX } else { bits }
    }

    fn minus(self, other: Self) -> Self {
        self - other
    }
}

/// A picture on the device.
struct Problem<T: Sample> {
    device: Device,
    host: Array2<T>,
    samples: Buffer2<T>,
    outputs: Buffer2<T>,
}

impl<T: Sample> Problem<T> {
    fn new(device: &Device, [rows, columns]: [usize; 2]) -> Result<Self> {
        let host = Array2::from_shape_fn([rows, columns], |(r, c)| T::random(random((r * columns + c) as u64, 1)));
        let samples = Buffer2::upload(device, host.view())?;
        let outputs = Buffer2::zeroed(device, rows, columns)?;
        Ok(Problem { device: device.clone(), host, samples, outputs })
    }

    /// Prints a line for the copy and for every variant of every case.
    fn table(&mut self, cases: &[Case]) -> Result<()> {
        self.outputs.copy_from(&self.samples)?;
        assert!(self.outputs.download()? == self.host, "the copy differs");
        for &case in cases {
            let expected = self.expected(case);
            let mut variants = Vec::new();
            for &(name, algorithm) in case.variants(&self.device) {
                let operation = case.prepare(&self.device, algorithm)?;
                let first = self.check(case, name, &operation, &expected)?;
                variants.push(Variant { name, operation, is_long: first > LONG, times: vec![first] });
            }
            self.rows_of_table(case, &mut variants)?;
        }
        Ok(())
    }

    /// Measures the variants that are not long, and prints the lines of all.
    fn rows_of_table(&mut self, case: Case, variants: &mut [Variant<T>]) -> Result<()> {
        let mut copies = Vec::new();
        for variant in variants.iter_mut().filter(|variant| !variant.is_long) {
            // The first run may have waited for memory.
            variant.times.clear();
        }
        for _ in 0..ROUNDS {
            copies.push(self.device.time(|| self.outputs.copy_from(&self.samples))?.1);
            for variant in variants.iter_mut().filter(|variant| !variant.is_long) {
                let work = || (variant.operation)(&self.samples, &mut self.outputs);
                variant.times.push(self.device.time(work)?.1);
            }
        }
        self.report("copy", case, &mut copies, "ok");
        for variant in variants {
            self.report(variant.name, case, &mut variant.times, "ok exact");
        }
        Ok(())
    }

    fn report(&self, name: &str, case: Case, times: &mut [Duration], verdict: &str) {
        let pixels = self.host.len();
        // Every sample is read, every output written.
        let bytes = 2 * pixels * size_of::<T>();
        let case = format!("{} n={pixels} {case:?}", T::NAME);
        report(name, &case, Times::of(times), &[bytes as u64, pixels as u64], verdict);
    }

    /// Runs once, and compares outputs with the expected ones. Returns the time of the run.
    fn check(&mut self, case: Case, name: &str, operation: &Operation<T>, expected: &[Output]) -> Result<Duration> {
        let (rows, columns) = self.host.dim();
        self.outputs = Buffer2::zeroed(&self.device, rows, columns)?;
        let ((), time) = self.device.time(|| operation(&self.samples, &mut self.outputs))?;
        compare(case, name, &self.outputs.download()?, expected);
        Ok(time)
    }

    /// Returns some outputs near the corners and at random places, by definition.
    fn expected(&self, case: Case) -> Vec<Output> {
        let (rows, columns) = self.host.dim();
        let near = |n: usize| (0..n.min(40)).chain(n - n.min(40)..n);
        let corners = near(rows).step_by(7).flat_map(|r| near(columns).step_by(3).map(move |c| [r, c]));
        let inner = (0..INNER as u64).map(|i| [random(i, 3) as usize % rows, random(i, 4) as usize % columns]);
        let places: Vec<_> = corners.chain(inner).collect();
        places.into_par_iter().map(|place| Output { place, key: self.exact(case, place) }).collect()
    }

    /// Returns the key of an output by definition.
    fn exact(&self, case: Case, place: [usize; 2]) -> i32 {
        let least = |place| self.ascending(case, place)[0];
        let window = self.ascending(case, place);
        match case {
            Case::Median(_)
            | Case::RowMedian(_)
            | Case::ColumnMedian(_)
            | Case::LineMedian(_)
            | Case::DiscMedian(_) => window[window.len() / 2].order_key(),
            Case::Minimum(_) | Case::LineMinimum(_) | Case::DiscMinimum(_) => window[0].order_key(),
            Case::Opening(_) => {
                let eroded = self.window(case, place).map(|place| least(place).order_key());
                eroded.max().expect("a window has samples")
            }
            Case::Gradient(_) => window[window.len() - 1].minus(window[0]).order_key(),
        }
    }

    /// Returns the samples of the window of an output in ascending order.
    fn ascending(&self, case: Case, place: [usize; 2]) -> Vec<T> {
        let mut samples: Vec<_> = self.window(case, place).map(|place| self.host[place]).collect();
        samples.sort_unstable_by_key(|sample| sample.order_key());
        samples
    }

    /// Returns the places of the samples of the window of an output.
    fn window(&self, case: Case, [r, c]: [usize; 2]) -> impl Iterator<Item = [usize; 2]> {
        let (rows, columns) = self.host.dim();
        let [height, width] = case.shape();
        let nearest = |place: usize, taps: usize, length: usize| place.saturating_sub(taps / 2).min(length - 1);
        let row = move |i| (0..width).filter(move |&j| case.has(i, j)).map(move |j| [i, j]);
        (0..height).flat_map(row).map(move |[i, j]| [nearest(r + i, height, rows), nearest(c + j, width, columns)])
    }
}

/// An operation of a case, and the times of its runs.
struct Variant<T: Sample> {
    name: &'static str,
    operation: Operation<T>,
    is_long: bool,
    times: Vec<Duration>,
}

/// An expected output.
struct Output {
    place: [usize; 2],
    /// Its [`Sample::order_key`].
    key: i32,
}

/// Compares outputs with the expected ones, bit for bit.
fn compare<T: Sample>(case: Case, name: &str, outputs: &Array2<T>, expected: &[Output]) {
    for &Output { place, key } in expected {
        assert_eq!(outputs[place].order_key(), key, "{case:?} of {}, {name}, at {place:?}", T::NAME);
    }
}
