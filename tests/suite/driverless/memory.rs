//! Device memory that operations need beside their inputs and outputs: the table of the guide's page for operators.
//!
//! The fake driver of `contexts` computes nothing, but it allocates what it is asked for, and logs how much that is.

use super::contexts::{open, run};
use super::fake::trial;
use super::{Failed, Trial, equal};
use slm::distributed::Devices;
use slm::filter1d::Filter1dAlgorithm;
use slm::histogram::PreparedHistogram;
use slm::morphology2d::PreparedMorphology2d;
use slm::ndarray::Array2;
use slm::transpose::PreparedTranspose;
use slm::{
    Arithmetic, Buffer, Buffer2, Device, Element, Filter1d, Filter2d, Histogram, Life, Lookup, Map, Morphology2d,
    Rank2d, RankWindow, Result, Transpose,
};
use std::cell::Cell;
use std::{env, fs};

/// The task of the child process.
const TASK: &str = "memory of operations";

/// Runs the task if it is this one. Returns whether it is.
pub(super) fn runs(task: &str) -> bool {
    let is_this = task == TASK;
    if is_this {
        measure(&open()).expect("the driver does all");
    }
    is_this
}

pub(super) fn trials() -> Vec<Trial> {
    vec![trial("memory::the_table_for_operators", the_table_for_operators)]
}

/// The rows of the table, without their last column.
fn the_table_for_operators() -> std::result::Result<(), Failed> {
    let (measured, _) = run(TASK, &[("FAKE_BYTES", "1"), ("FAKE_GPUS", "2")])?;
    let page = include_str!("../../../host/guide/operators.md");
    let (_, table) = page.split_once("| example | kept | during a call | rule |").ok_or("the page has the table")?;
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |row: &str| match row.split('|').map(str::trim).collect::<Vec<_>>()[..] {
        [_, example, kept, during, ..] => [example, &kept.replace(',', ""), &during.replace(',', "")].join(" | "),
        _ => row.to_owned(),
    };
    let documented: Vec<_> = rows.map(row).collect();
    equal(measured.lines().map(str::to_owned).collect(), documented)
}

/// The device memory in use, as the driver logs it.
struct Meter {
    log: String,
    now: Cell<u64>,
}

impl Meter {
    fn new() -> Self {
        Meter { log: env::var("FAKE_LOG").expect("the parent sets it"), now: Cell::new(0) }
    }

    /// Returns what `work` returns, and the additional bytes that were in use at most.
    fn most<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<(T, u64)> {
        fs::write(&self.log, "").expect("the log is written");
        let result = work()?;
        let log = fs::read_to_string(&self.log).expect("the log is read");
        let sizes = log.lines().filter_map(|line| line.strip_prefix("bytes ")?.parse().ok());
        let before = self.now.get();
        let most = sizes.fold(before, |most: u64, bytes| {
            self.now.set(bytes);
            most.max(bytes)
        });
        Ok((result, most - before))
    }

    /// Prints what a prepared operation keeps after its first call, and what a further call needs for its time. Calls get the buffers of
    /// `buffers`.
    fn row<P, B>(
        &self,
        example: &str,
        buffers: impl FnOnce() -> Result<B>,
        prepare: impl FnOnce() -> Result<P>,
        call: impl Fn(&mut P, &mut B) -> Result<()>,
    ) -> Result<()> {
        let (mut buffers, _) = self.most(buffers)?;
        let before = self.now.get();
        let (mut prepared, _) = self.most(|| {
            let mut prepared = prepare()?;
            call(&mut prepared, &mut buffers)?;
            Ok(prepared)
        })?;
        let kept = self.now.get() - before;
        let ((), during) = self.most(|| call(&mut prepared, &mut buffers))?;
        println!("{example} | {kept} | {during}");
        self.most(|| {
            drop((prepared, buffers));
            Ok(())
        })?;
        Ok(())
    }
}

/// Prints the rows of the table.
fn measure(device: &Device) -> Result<()> {
    let meter = Meter::new();
    filters(&meter, device)?;
    ranks(&meter, device)?;
    histograms(&meter, device)?;
    transpositions(&meter, device)?;
    boards(&meter, device)?;
    pointwise(&meter, device)?;
    copies(&meter, device)?;
    two_gpus(&meter, &Devices::all()?)
}

/// Returns two buffers of samples.
fn lines(device: &Device, len: usize) -> Result<[Buffer<f32>; 2]> {
    Ok([device.zeroed(len)?, device.zeroed(len)?])
}

/// Returns two pictures.
fn pictures<T: Element>(device: &Device) -> Result<[Buffer2<T>; 2]> {
    Ok([Buffer2::zeroed(device, 300, 500)?, Buffer2::zeroed(device, 300, 500)?])
}

fn filters(meter: &Meter, device: &Device) -> Result<()> {
    let taps = Filter1d::correlate(&[1.0f32; 257]);
    let transforms = taps.clone().algorithm(Filter1dAlgorithm::Fft);
    for (name, filter) in
        [("`Filter1d`, 257 taps of `f32`, 3,000 samples", taps), ("257 taps with `Filter1dAlgorithm::Fft`", transforms)]
    {
        meter.row(
            name,
            || lines(device, 3000),
            || filter.prepare(device),
            |filter, [x, y]| filter.apply_into(&*x, y),
        )?;
    }
    let weights = Array2::from_shape_fn((31, 31), |(row, column)| (row * column % 7) as f32);
    for (name, filter) in [
        ("`Filter2d::correlate`, 31 x 31 weights of `f32`", Filter2d::<f32, f32>::correlate(&weights)),
        ("`Filter2d::gaussian(2.0)` of `f32`", Filter2d::gaussian(2.0)),
        ("`Filter2d::gaussian(20.0)` of `f32`", Filter2d::gaussian(20.0)),
        ("`Filter2d::box_blur(31, 31)` of `f32`", Filter2d::box_blur(31, 31)),
        ("`Filter2d::box_blur(301, 301)` of `f32`", Filter2d::box_blur(301, 301)),
    ] {
        meter.row(name, || pictures(device), || filter.prepare(device), |filter, [x, y]| filter.apply_into(&*x, y))?;
    }
    Ok(())
}

fn ranks(meter: &Meter, device: &Device) -> Result<()> {
    let square = |side| RankWindow::rectangle(side, side);
    for (name, filter) in [
        ("`Rank2d::median`, 5 x 5 of `u8`", Rank2d::<u8>::median(square(5))),
        ("`Rank2d::minimum`, 31 x 31", Rank2d::minimum(square(31))),
    ] {
        meter.row(name, || pictures(device), || filter.prepare(device), |filter, [x, y]| filter.apply_into(&*x, y))?;
    }
    for (name, operation) in [
        ("`Morphology2d::erosion`, 3 x 3 of `u8`", Morphology2d::<u8>::erosion(square(3))),
        ("`Morphology2d::opening`, 3 x 3", Morphology2d::opening(square(3))),
        ("`Morphology2d::opening`, 31 x 31", Morphology2d::opening(square(31))),
        ("`Morphology2d::gradient`, 3 x 3", Morphology2d::gradient(square(3))),
    ] {
        let apply = |operation: &mut PreparedMorphology2d<u8>, [x, y]: &mut [_; 2]| operation.apply_into(&*x, y);
        meter.row(name, || pictures(device), || operation.prepare(device), apply)?;
    }
    Ok(())
}

fn histograms(meter: &Meter, device: &Device) -> Result<()> {
    let samples = || Ok((device.zeroed(10_000)?, device.zeroed(1_003)?));
    let histogram = Histogram::<f32>::even(1000, 0.0..1.0);
    let into = |histogram: &mut PreparedHistogram<f32>, (x, counts): &mut _| histogram.apply_into(&*x, counts);
    meter.row("`Histogram::even`, 1,000 bins, into a buffer", samples, || histogram.prepare(device), into)?;
    let edges = Histogram::edges(&(0..=1000).map(|edge| edge as f32).collect::<Vec<_>>());
    for (name, histogram) in [
        ("the same with counts on the host", &histogram),
        ("`Histogram::edges`, 1,000 bins of `f32`, with counts on the host", &edges),
    ] {
        let apply = |histogram: &mut PreparedHistogram<f32>, [x, _]: &mut [_; 2]| histogram.apply(&*x).map(drop);
        meter.row(name, || lines(device, 10_000), || histogram.prepare(device), apply)?;
    }
    let apply =
        |histogram: &mut PreparedHistogram<f32>, [x, w]: &mut [_; 2]| histogram.apply_weighted(&*x, &*w).map(drop);
    let name = "`apply_weighted`, 1,000 bins";
    meter.row(name, || lines(device, 10_000), || histogram.prepare(device), apply)
}

fn transpositions(meter: &Meter, device: &Device) -> Result<()> {
    let transpose = Transpose::<f32>::new(50, 60);
    let into = |transpose: &mut PreparedTranspose<f32>, [x, y]: &mut [_; 2]| transpose.apply_into(&*x, y);
    meter.row("`Transpose`", || lines(device, 3000), || transpose.prepare(device), into)?;
    for [rows, columns] in [[50, 60], [64, 64], [1003, 997], [4096, 3072]] {
        let transpose = Transpose::<f32>::new(rows, columns);
        let name = format!("`Transpose` in place, {rows} x {columns} of `f32`");
        let matrix = || device.zeroed::<f32>(rows * columns);
        meter.row(&name, matrix, || transpose.prepare_in_place(device), |transpose, x| transpose.apply(x))?;
    }
    Ok(())
}

fn boards(meter: &Meter, device: &Device) -> Result<()> {
    let life = Life::new(1000, 1000);
    let (none, prepare) = (|| Ok(()), || life.prepare(device));
    meter.row("`Life`, 1,000 x 1,000, `step`", none, prepare, |board, ()| board.step(100))?;
    meter.row("`Life`, `census`", none, prepare, |board, ()| board.census().map(drop))?;
    meter.row("`Life`, `run_until_stable`", none, prepare, |board, ()| board.run_until_stable(100).map(drop))
}

fn pointwise(meter: &Meter, device: &Device) -> Result<()> {
    let samples = || lines(device, 3000);
    let square = || Map::<f32>::square().prepare(device);
    meter.row("`Map`, `Convert`", samples, square, |map, [x, y]| map.apply_into(&*x, y))?;
    let add = || Arithmetic::<f32>::add().prepare(device);
    meter.row("`Arithmetic`", samples, add, |add, [x, y]| add.apply_into(&*x, &*x, y))?;
    let table = || Lookup::<u8, u8>::of(|sample| sample).prepare(device);
    meter.row("`Lookup` of `u8`", || pictures(device), table, |table, [x, y]| table.apply_into(&*x, y))
}

/// Copies of what kernels cannot use where it is.
fn copies(meter: &Meter, device: &Device) -> Result<()> {
    let square = || Map::<f32>::square().prepare(device);
    meter.row(
        "`Map` of slices from their second sample on, 2,999 of `f32`",
        || lines(device, 3000),
        square,
        |map, [x, y]| map.apply_into(x.slice(1..)?, &mut y.slice_mut(1..)?),
    )?;
    let transpose = || Transpose::<f32>::new(50, 60).prepare_in_place(device);
    meter.row(
        "`Transpose` in place, 50 x 60 of `f32` with a row pitch of 64",
        || Ok(Some(device.zeroed(50 * 64)?)),
        transpose,
        |transpose, numbers| {
            let mut matrix = Buffer2::from_buffer(numbers.take().expect("each call leaves it"), 50, 60, 64)?;
            transpose.apply(&mut matrix)?;
            *numbers = Some(matrix.into_buffer());
            Ok(())
        },
    )?;
    meter.row(
        "`Histogram::even`, of a picture with a row pitch of 512",
        || Ok((Buffer2::zeroed_pitched(device, 300, 500, 512)?, device.zeroed(1_003)?)),
        || Histogram::<f32>::even(1000, 0.0..1.0).prepare(device),
        |histogram, (x, counts)| histogram.apply_into(&*x, counts),
    )
}

/// Operations on two GPUs, which both count.
fn two_gpus(meter: &Meter, devices: &Devices) -> Result<()> {
    let filter = Filter1d::correlate(&[1.0f32; 257]);
    meter.row(
        "`Filter1d`, 257 taps of `f32`, on two GPUs",
        || Ok([devices.zeroed(100_000, 1)?, devices.zeroed(100_000, 1)?]),
        || filter.prepare_on(devices),
        |filter, [x, y]| filter.apply_into(&*x, y),
    )?;
    meter.row(
        "`Transpose`, 300 x 500 of `f32`, on two GPUs",
        || Ok([devices.zeroed(300, 500)?, devices.zeroed(500, 300)?]),
        || Transpose::<f32>::new(300, 500).prepare_on(devices),
        |transpose, [x, y]| transpose.apply_into(&*x, y),
    )?;
    let life = || Life::new(1000, 1000).prepare_on(devices);
    meter.row("`Life`, 1,000 x 1,000, on two GPUs", || Ok(()), life, |board, ()| board.step(100))
}
