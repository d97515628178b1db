//! `Transpose` of large matrices with elements of all sizes, compared with a copy of the same bytes.
//!
//! Times are the device's own (CUDA events), matrices stay on the device, and every element of every result is checked.
//! First, a table with medians is printed, in the columns that `peers/README.md` explains. Then Criterion measures the
//! square matrix of `f32` for longer. `cargo bench --bench transpose -- --table` ends with the table, and `--in-place` prints only its rows
//! of transpositions in place.

mod common;

use common::{Times, begin, columns, end, random, report};
use criterion::{Criterion, Throughput};
use rayon::prelude::*;
use slm::transpose::{PreparedTranspose, TransposeAlgorithm, TransposeElement};
use slm::{Backend, Buffer, Device, Result, Transpose, ndarray};
use std::time::{Duration, Instant};

/// Rows and columns of matrices that are transposed in place: square, with rows of whole sectors, whole packs and neither, and others
/// whose greatest common divisor is 4096, 6 and 1; then rows that do not fit into shared memory.
const SHAPES_IN_PLACE: [(usize, usize); 7] = [
    (16_384, 16_384),
    (16_388, 16_388),
    (16_383, 16_383),
    (16_384, 12_288),
    (16_386, 12_282),
    (16_384, 12_289),
    (1023, 200_000),
];

fn main() -> Result<()> {
    let is_asked = |option: &str| std::env::args().any(|argument| argument == option);
    let in_place_only = is_asked("--in-place");
    let device = Device::open()?;
    begin();
    println!("# slm {} on {device}", env!("CARGO_PKG_VERSION"));
    println!("# median of {} runs, by the device's clock", rounds(&device));
    columns(&["bytes_per_s", "elements_per_s"]);
    let shapes = if in_place_only { vec![] } else { shapes(&device) };
    for (rows, columns, count) in shapes {
        let case = Case { rows, columns, count };
        case.measure::<u8>(&device, 1, |bits| bits as u8)?;
        case.measure::<u16>(&device, 1, |bits| bits as u16)?;
        case.measure::<u8>(&device, 3, |bits| bits as u8)?;
        case.measure::<u32>(&device, 1, |bits| bits as u32)?;
        case.measure::<u64>(&device, 1, |bits| bits)?;
        case.measure::<u32>(&device, 3, |bits| bits as u32)?;
        case.measure::<u64>(&device, 2, |bits| bits)?;
    }
    if is_cpu(&device) {
        on_host(&device)?;
    } else {
        for (rows, columns) in SHAPES_IN_PLACE {
            in_place::<u8>(&device, rows, columns, |bits| bits as u8)?;
            in_place::<u32>(&device, rows, columns, |bits| bits as u32)?;
            in_place::<u64>(&device, rows, columns, |bits| bits)?;
        }
    }
    end();
    if !in_place_only && !is_asked("--table") {
        criterion(&device)?;
    }
    Ok(())
}

fn is_cpu(device: &Device) -> bool {
    device.info().backend == Backend::Cpu
}

fn rounds(device: &Device) -> usize {
    if is_cpu(device) { 5 } else { 21 }
}

/// Returns the rows, columns and number of matrices of each case.
fn shapes(device: &Device) -> Vec<(usize, usize, usize)> {
    let narrow = [(1_000_003, 7, 1), (7, 1_000_003, 1), (3, 1 << 22, 1)];
    let (large, small) = if is_cpu(device) {
        ([(8192, 8192, 1), (8191, 4095, 1)], [(64, 64, 1 << 12), (63, 65, 1 << 12), (28, 28, 1 << 14), (3, 3, 1 << 20)])
    } else {
        (
            [(16_384, 16_384, 1), (16_383, 8191, 1)],
            [(64, 64, 1 << 14), (63, 65, 1 << 14), (28, 28, 1 << 16), (3, 3, 1 << 22)],
        )
    };
    [&large[..], &narrow, &small].concat()
}

/// Matrices of one shape.
#[derive(Clone, Copy)]
struct Case {
    rows: usize,
    columns: usize,
    count: usize,
}

impl Case {
    fn elements(&self) -> usize {
        self.rows * self.columns * self.count
    }

    fn name(&self, bytes: usize) -> String {
        let Case { rows, columns, count } = self;
        format!("{count} x {rows} x {columns}, {bytes} bytes")
    }

    /// Measures a copy and all algorithms. On the CPU, `Auto` is the only one.
    fn measure<T: TransposeElement>(
        &self,
        device: &Device,
        components: usize,
        of: impl Fn(u64) -> T + Sync,
    ) -> Result<()> {
        let bytes = components * size_of::<T>();
        let len = self.elements() * components;
        let mut numbers = vec![T::default(); len];
        numbers.par_iter_mut().enumerate().for_each(|(i, number)| *number = of(random(i as u64, 1)));
        let (input, mut output) = (device.upload(&numbers)?, device.zeroed(len)?);
        let copy = |_| Ok(device.time(|| output.copy_from(&input))?.1);
        let mut times = (0..rounds(device)).map(copy).collect::<Result<Vec<_>>>()?;
        self.report("copy", bytes, Times::of(&mut times), "ok");
        let all = [
            ("naive", TransposeAlgorithm::Naive),
            ("shared unpadded", TransposeAlgorithm::SharedUnpadded),
            ("shared padded", TransposeAlgorithm::SharedPadded),
            ("auto", TransposeAlgorithm::Auto),
        ];
        let all = if is_cpu(device) { &all[3..] } else { &all[..] };
        for (name, algorithm) in all {
            let transpose = Transpose::new(self.rows, self.columns).batch(self.count).components(components);
            let transpose = transpose.algorithm(*algorithm).prepare(device)?;
            self.row(name, bytes, &transpose, &input, &mut output)?;
            self.check(&output.download()?, components, &of);
            if *algorithm == TransposeAlgorithm::Auto {
                println!("# {}", transpose.plan()?.to_string().replace('\n', "\n# "));
            }
        }
        Ok(())
    }

    fn row<T: TransposeElement>(
        &self,
        name: &str,
        bytes: usize,
        transpose: &PreparedTranspose<T>,
        input: &Buffer<T>,
        output: &mut Buffer<T>,
    ) -> Result<()> {
        let device = transpose.device();
        let run = |_| Ok(device.time(|| transpose.apply_into(input, output))?.1);
        let mut times = (0..rounds(device)).map(run).collect::<Result<Vec<_>>>()?;
        self.report(name, bytes, Times::of(&mut times), "ok exact");
        Ok(())
    }

    /// Prints a line. Its bytes are those that are read and written.
    fn report(&self, name: &str, bytes: usize, times: Times, verdict: &str) {
        let elements = self.elements() as u64;
        report(name, &self.name(bytes), times, &[2 * elements * bytes as u64, elements], verdict);
    }

    fn check<T: TransposeElement>(&self, output: &[T], components: usize, of: impl Fn(u64) -> T + Sync) {
        let Case { rows, columns, .. } = *self;
        let wrong = output.par_chunks(rows * components).enumerate().any(|(line, numbers)| {
            let (matrix, column) = (line / columns, line % columns);
            let source =
                |at: usize| ((matrix * rows + at / components) * columns + column) * components + at % components;
            numbers.iter().enumerate().any(|(at, number)| *number != of(random(source(at) as u64, 1)))
        });
        assert!(!wrong, "an element is wrong");
    }
}

/// Measures a copy and transpositions in place.
fn in_place<T: TransposeElement>(
    device: &Device,
    rows: usize,
    columns: usize,
    of: impl Fn(u64) -> T + Sync,
) -> Result<()> {
    let case = Case { rows, columns, count: 1 };
    let numbers: Vec<T> = (0..case.elements()).into_par_iter().map(|i| of(random(i as u64, 1))).collect();
    let mut data = device.upload(&numbers)?;
    let mut target = device.zeroed(numbers.len())?;
    let copy = |_| Ok(device.time(|| target.copy_from(&data))?.1);
    let mut times = (0..rounds(device)).map(copy).collect::<Result<Vec<_>>>()?;
    // The same shapes were copied before, in another order of the runs.
    case.report("copy beside in place", size_of::<T>(), Times::of(&mut times), "ok");
    let [forward, back] = [Transpose::new(rows, columns), Transpose::new(columns, rows)];
    let [forward, back] = [forward.prepare_in_place(device)?, back.prepare_in_place(device)?];
    forward.apply(&mut data)?;
    case.check(&data.download()?, 1, of);
    let mut times = Vec::new();
    for _ in 0..rounds(device) {
        back.apply(&mut data)?;
        times.push(device.time(|| forward.apply(&mut data))?.1);
    }
    case.report("in place", size_of::<T>(), Times::of(&mut times), "ok exact");
    println!("# {}", forward.plan()?.to_string().replace('\n', "\n# "));
    Ok(())
}

/// Measures transpositions on the host: a naive loop, `ndarray` and the crate.
fn on_host(device: &Device) -> Result<()> {
    let case = Case { rows: 8192, columns: 8192, count: 1 };
    let numbers: Vec<f32> = (0..case.elements()).into_par_iter().map(|i| random(i as u64, 1) as u16 as f32).collect();
    let mut output = vec![0.0; numbers.len()];
    let by_clock = |name: &str, work: &mut dyn FnMut(&mut [f32]), output: &mut Vec<f32>| {
        let mut times: Vec<Duration> = (0..rounds(device))
            .map(|_| {
                let start = Instant::now();
                work(output);
                start.elapsed()
            })
            .collect();
        case.check(output, 1, |bits| bits as u16 as f32);
        case.report(name, 4, Times::of(&mut times), "ok exact");
    };
    let mut loops = |output: &mut [f32]| {
        for row in 0..case.rows {
            for column in 0..case.columns {
                output[column * case.rows + row] = numbers[row * case.columns + column];
            }
        }
    };
    by_clock("naive loop", &mut loops, &mut output);
    let mut assigned = |output: &mut [f32]| {
        let view = ndarray::ArrayView2::from_shape((case.rows, case.columns), &numbers).expect("it has this shape");
        let mut target = ndarray::ArrayViewMut2::from_shape((case.columns, case.rows), output).expect("and this one");
        target.assign(&view.t());
    };
    by_clock("ndarray", &mut assigned, &mut output);
    let (input, mut transposed) = (device.upload(&numbers)?, device.zeroed(numbers.len())?);
    let transpose = Transpose::new(case.rows, case.columns).prepare(device)?;
    let mut ours = |_: &mut [f32]| transpose.apply_into(&input, &mut transposed).expect("it fits");
    let mut times: Vec<Duration> = (0..rounds(device))
        .map(|_| {
            let start = Instant::now();
            ours(&mut output);
            start.elapsed()
        })
        .collect();
    case.check(&transposed.download()?, 1, |bits| bits as u16 as f32);
    case.report("apply_into", 4, Times::of(&mut times), "ok exact");
    Ok(())
}

fn criterion(device: &Device) -> Result<()> {
    let side = if is_cpu(device) { 4096 } else { 16_384 };
    let input = device.upload(&vec![1.0f32; side * side])?;
    let mut output = device.zeroed(side * side)?;
    let transpose = Transpose::new(side, side).prepare(device)?;
    let mut criterion = Criterion::default().sample_size(20).configure_from_args();
    let mut group = criterion.benchmark_group("transpose");
    group.throughput(Throughput::Bytes(2 * (side * side * size_of::<f32>()) as u64));
    group.bench_function(format!("f32 {side} x {side}"), |bencher| {
        bencher.iter_custom(|rounds| {
            let work = || (0..rounds).try_for_each(|_| transpose.apply_into(&input, &mut output));
            device.time(work).expect("it ran before").1
        });
    });
    group.finish();
    criterion.final_summary();
    Ok(())
}
