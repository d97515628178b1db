//! One device against all of this machine: filters, histograms, transpositions and Life, whose data are distributed.
//!
//! Each case runs on the first device alone and on all, after a first run. Medians are printed in the columns that `peers/README.md`
//! explains, by the host's clock, with a wait at the end; the last column says whether all have the results of one. Run it as
//! `cargo bench --bench distributed`.

#[path = "common/table.rs"]
mod table;

use slm::distributed::{Devices, DistributedBuffer};
use slm::filter1d::PreparedFilter1d;
use slm::{Backend, Device, Filter1d, Filter2d, Histogram, Life, Result, Transpose};
use std::time::Instant;
use table::{Times, begin, columns, end, report};

const ROUNDS: usize = 11;

fn main() -> Result<()> {
    let all = Devices::all()?;
    let first: Device = all.get(0).cloned().unwrap_or_else(Device::cpu);
    let one = Devices::new([first.clone()])?;
    begin();
    println!("# slm {} on {first}; median of {ROUNDS} rounds, by the host's clock", env!("CARGO_PKG_VERSION"));
    for (from, to) in [(0, 1), (1, 0)] {
        println!("# {} devices; from {from} to {to}: {:?}", all.len(), all.link(from, to));
    }
    columns(&[]);
    // Without a GPU, as little as shows that it works.
    let scale = if first.info().backend == Backend::Cuda { 0 } else { 10 };
    filters(&one, &all, 1 << (30 - scale))?;
    pictures(&one, &all, 1 << (15 - scale / 2))?;
    counts(&one, &all, 1 << (30 - scale))?;
    counts(&one, &all, 1 << (32 - scale))?;
    transpositions(&one, &all, 1 << (15 - scale / 2))?;
    life(&one, &all, 1 << (17 - scale / 2))?;
    end();
    Ok(())
}

/// Prints the times of a case on one device and on all.
fn compare<T: PartialEq>(
    case: &str,
    [one, all]: [&Devices; 2],
    mut run: impl FnMut(&Devices) -> Result<(Times, T)>,
) -> Result<()> {
    let (times_of_one, expected) = run(one)?;
    let (times_of_all, result) = run(all)?;
    let verdict = if result == expected { "ok" } else { "wrong" };
    report("one", case, times_of_one, &[], "ok");
    report(&format!("{}", all.len()), case, times_of_all, &[], verdict);
    Ok(())
}

fn time(devices: &Devices, mut work: impl FnMut() -> Result<()>) -> Result<Times> {
    work()?;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        devices.synchronize()?;
        let start = Instant::now();
        work()?;
        devices.synchronize()?;
        times.push(start.elapsed());
    }
    Ok(Times::of(&mut times))
}

/// Returns rows of numbers that differ, made on the devices.
fn numbers(devices: &Devices, rows: usize, width: usize) -> Result<DistributedBuffer<f32>> {
    let mut numbers = devices.zeroed(rows, width)?;
    for member in 0..devices.len() {
        let rows = numbers.rows(member);
        if let Some(mut part) = numbers.part_mut(member) {
            let values: Vec<f32> = (rows.start * width..rows.end * width).map(|i| (i % 1009) as f32 / 1009.0).collect();
            part.upload(&values)?;
        }
    }
    Ok(numbers)
}

fn filters(one: &Devices, all: &Devices, len: usize) -> Result<()> {
    compare(&format!("filter, {len} f32, 65 weights"), [one, all], |devices| {
        let filter: slm::distributed::Distributed<PreparedFilter1d<f32>> =
            Filter1d::correlate(&[1.0f32 / 65.0; 65]).prepare_on(devices)?;
        let x = numbers(devices, len, 1)?;
        let mut y = filter.outputs(&x)?;
        let times = time(devices, || filter.apply_into(&x, &mut y))?;
        Ok((times, digest(&y.download()?)))
    })
}

fn pictures(one: &Devices, all: &Devices, side: usize) -> Result<()> {
    compare(&format!("gaussian of sigma 2, {side} x {side} f32"), [one, all], |devices| {
        let filter = Filter2d::<f32, f32>::gaussian(2.0).prepare_on(devices)?;
        let x = numbers(devices, side, side)?;
        let mut y = filter.outputs(&x)?;
        let times = time(devices, || filter.apply_into(&x, &mut y))?;
        Ok((times, digest(&y.download()?)))
    })
}

fn counts(one: &Devices, all: &Devices, len: usize) -> Result<()> {
    compare(&format!("256 bins of {len} f32"), [one, all], |devices| {
        let histogram = Histogram::even(256, 0.0f32..1.0).prepare_on(devices)?;
        let x = numbers(devices, len, 1)?;
        let mut counts = Vec::new();
        let times = time(devices, || {
            counts = histogram.apply(&x)?.bins()?.to_vec();
            Ok(())
        })?;
        Ok((times, counts))
    })
}

fn transpositions(one: &Devices, all: &Devices, side: usize) -> Result<()> {
    compare(&format!("transposition, {side} x {side} f32"), [one, all], |devices| {
        let transpose = Transpose::new(side, side).prepare_on(devices)?;
        let x = numbers(devices, side, side)?;
        let mut y = devices.zeroed(side, side)?;
        let times = time(devices, || transpose.apply_into(&x, &mut y))?;
        Ok((times, digest(&y.download()?)))
    })
}

fn life(one: &Devices, all: &Devices, side: usize) -> Result<()> {
    compare(&format!("512 generations of {side} x {side} cells"), [one, all], |devices| {
        let mut board = Life::new(side, side).prepare_on(devices)?;
        for member in 0..devices.len() {
            let (rows, width) = (board.distribution().rows(member), side.div_ceil(64));
            let word = |row: usize, k: usize| ((row * width + k) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let words = slm::ndarray::Array2::from_shape_fn((rows.len(), width), |(row, k)| word(rows.start + row, k));
            board.set_words(member, words.view())?;
        }
        let times = time(devices, || board.step(512))?;
        Ok((times, board.population()?))
    })
}

/// Returns a number that differs if numbers or their order do.
fn digest(numbers: &[f32]) -> u64 {
    numbers.iter().fold(0, |digest: u64, number| {
        digest.rotate_left(5) ^ u64::from(number.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}
