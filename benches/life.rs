//! `Life`: 1,024 generations of Conway's rule on square tori, with all algorithms.
//!
//! Times are the device's own (CUDA events), boards stay on the device. The cells of each algorithm are compared by their hash after
//! the first run, with those of the CPU or, on the largest board, with those of the other algorithms. The time does not depend on
//! the cells, so each run continues with those of the run before. First, a table with medians is printed, in the columns that
//! `peers/README.md` explains. Then Criterion measures the board of 4096 x 4096 for longer.
//! `cargo bench --bench life -- --table` ends with the table, and `--auto` leaves out all algorithms but `Auto`.

mod common;

use common::{Times, begin, columns, end, random, report};
use criterion::{Criterion, Throughput};
use rayon::prelude::*;
use slm::life::{Board, Census};
use slm::ndarray::Array2;
use slm::{Backend, Device, Life, LifeAlgorithm, Result};
use std::time::Duration;

const GENERATIONS: u64 = 1024;

/// Sides of the boards. On the CPU, the largest one would take minutes.
const SIDES: [usize; 6] = [100, 256, 1024, 4096, 16_384, 65_536];
const SIDES_ON_CPU: usize = 5;

/// Generations between censuses.
const INTERVALS: [u64; 2] = [1, 8];

/// Maximum number of runs, and the time that they may take together, unless it is a single one.
const ROUNDS: usize = 15;
const PATIENCE: Duration = Duration::from_secs(20);

const VARIANTS: [(&str, LifeAlgorithm); 5] = [
    ("global", LifeAlgorithm::GlobalMemory),
    ("tile", LifeAlgorithm::SharedTile),
    ("packed", LifeAlgorithm::BitPacked),
    ("blocked", LifeAlgorithm::Blocked),
    ("auto", LifeAlgorithm::Auto),
];

fn main() -> Result<()> {
    let has = |option| std::env::args().any(|argument| argument == option);
    let (table_only, auto_only) = (has("--table"), has("--auto"));
    let device = Device::open()?;
    begin();
    println!("# slm {} on {device}; {GENERATIONS} generations of B3/S23 on tori", env!("CARGO_PKG_VERSION"));
    println!("# median of up to {ROUNDS} runs, by the device's clock");
    columns(&["cells_per_s"]);
    let sides = if is_cpu(&device) { &SIDES[..SIDES_ON_CPU] } else { &SIDES };
    for &side in sides {
        table(&device, side, auto_only)?;
    }
    end();
    if !table_only {
        criterion(&device)?;
    }
    Ok(())
}

fn is_cpu(device: &Device) -> bool {
    device.info().backend == Backend::Cpu
}

/// Returns words of random cells, of which half are alive.
fn soup(side: usize) -> Array2<u64> {
    let width = side.div_ceil(64);
    let words = (0..side * width).into_par_iter().map(|i| random(i as u64, 1)).collect();
    Array2::from_shape_vec((side, width), words).expect("it has this shape")
}

/// Prints a line for every algorithm, and for censuses with `Auto`.
fn table(device: &Device, side: usize, auto_only: bool) -> Result<()> {
    let soup = soup(side);
    let prepare = |device: &Device, algorithm| {
        let mut board = Life::new(side, side).algorithm(algorithm).prepare(device)?;
        board.set_words(soup.view())?;
        Ok(board)
    };
    let variants = match auto_only {
        _ if is_cpu(device) => &[("cpu", LifeAlgorithm::Auto)][..],
        true => &VARIANTS[VARIANTS.len() - 1..],
        false => &VARIANTS,
    };
    let mut expected = reference(side, || prepare(&Device::cpu(), LifeAlgorithm::Auto))?;
    for &(name, algorithm) in variants {
        let mut board = prepare(device, algorithm)?;
        let (_, first) = device.time(|| board.step(GENERATIONS))?;
        let census = board.census()?;
        assert_eq!(census, *expected.get_or_insert(census), "{name}, {side} x {side}");
        line(&mut board, name, first, |board| board.step(GENERATIONS))?;
        if algorithm != LifeAlgorithm::Auto {
            continue;
        }
        println!("# {}", board.plan()?.to_string().replace('\n', "\n# "));
        for every in INTERVALS {
            let name = format!("{name}, census every {every}");
            line(&mut board, &name, first, |board| board.record(GENERATIONS, every).map(drop))?;
        }
    }
    Ok(())
}

/// Returns the census of the last generation on the CPU, unless the board is the largest one.
fn reference(side: usize, prepare: impl FnOnce() -> Result<Board>) -> Result<Option<Census>> {
    if !SIDES[..SIDES_ON_CPU].contains(&side) {
        return Ok(None);
    }
    let mut board = prepare()?;
    board.step(GENERATIONS)?;
    board.census().map(Some)
}

/// Prints the line of some work, of which one run takes about as long as `first`.
fn line(board: &mut Board, name: &str, first: Duration, work: impl Fn(&mut Board) -> Result<()>) -> Result<()> {
    let device = board.device().clone();
    let rounds = (PATIENCE.as_secs_f64() / first.as_secs_f64()).clamp(1.0, ROUNDS as f64) as usize;
    let run = |_| Ok(device.time(|| work(board))?.1);
    let mut times = (0..rounds).map(run).collect::<Result<Vec<_>>>()?;
    let cells = board.rows() as u64 * board.columns() as u64;
    let case = format!("{0} x {0}", board.rows());
    report(name, &case, Times::of(&mut times), &[GENERATIONS * cells], &format!("ok exact, {rounds} runs"));
    Ok(())
}

fn criterion(device: &Device) -> Result<()> {
    let side = SIDES[1];
    let mut board = Life::new(side, side).prepare(device)?;
    board.set_words(soup(side).view())?;
    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    let mut group = criterion.benchmark_group("life");
    group.throughput(Throughput::Elements(GENERATIONS * (side * side) as u64));
    group.bench_function(format!("{side} x {side}"), |bencher| {
        bencher.iter_custom(|rounds| {
            let work = || (0..rounds).try_for_each(|_| board.step(GENERATIONS));
            device.time(work).expect("it ran before").1
        });
    });
    group.finish();
    criterion.final_summary();
    Ok(())
}
