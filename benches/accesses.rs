//! Accessor calls per second, with all checks on.
//!
//! Each kernel checks its result once before it is measured. The table has medians on one core, and the emulator's goal.
//! Criterion's figures follow; their elements are accessor calls.
//!
//! `cargo bench --bench accesses -- --table` ends with the table.

use catalogue::speed::{BLOCK, GRID, Numbers, TURNS, broadcast, exchange, histogram, stream, tile};
use criterion::{Criterion, Throughput};
use cuda_std::Entry;
use emulator::{Emulator, Launch, Profile};
use std::hint::black_box;
use std::time::Instant;

/// The accessor calls per second that the emulator is to reach on one core.
const GATE: f64 = 10e6;

/// Launches that the table's median is of.
const ROUNDS: usize = 31;

fn launch<E: for<'l> Entry<Args<'l> = Numbers<'l>, Constants = ()>>(emulator: &mut Emulator, args: Numbers) {
    let launch = Launch::new([GRID, 1, 1], [BLOCK, 1, 1]).shared_bytes(4 * BLOCK);
    let report = emulator.launch::<E>(launch, args, ()).expect("within the limits");
    assert!(black_box(&report).is_clean(), "{report}");
}

/// The median of some launches, in seconds.
fn median_seconds(mut launch: impl FnMut()) -> f64 {
    let mut seconds = [0.0; ROUNDS];
    for taken in &mut seconds {
        let start = Instant::now();
        launch();
        *taken = start.elapsed().as_secs_f64();
    }
    seconds.sort_by(f64::total_cmp);
    seconds[ROUNDS / 2]
}

/// Measures a kernel whose threads make `calls` accessor calls each, and whose threads 0 and 1 have the result `result`.
fn measure<E>(criterion: &mut Option<Criterion>, calls: u32, result: [u32; 2])
where
    E: for<'l> Entry<Args<'l> = Numbers<'l>, Constants = ()>,
{
    let mut emulator = Emulator::new(Profile::SM_90);
    let len = (GRID * BLOCK * TURNS) as usize;
    let input = emulator.upload(&vec![1u32; len]);
    let output = emulator.allocate::<u32>(len);
    let args = Numbers { input: input.input(), output: output.in_out() };
    launch::<E>(&mut emulator, args);
    assert_eq!(emulator.download(&output)[..2], result, "{}", E::NAME);

    let calls = GRID * BLOCK * calls;
    let rate = f64::from(calls) / median_seconds(|| launch::<E>(&mut emulator, args));
    println!("{}\t{rate:.2e}\t{:.2}", E::NAME, rate / GATE);
    if let Some(criterion) = criterion {
        let mut group = criterion.benchmark_group("accesses");
        group.throughput(Throughput::Elements(calls.into())).sample_size(20);
        group.bench_function(E::NAME, |bencher| bencher.iter(|| launch::<E>(&mut emulator, args)));
    }
}

fn main() {
    let table_only = std::env::args().any(|argument| argument == "--table");
    let mut criterion = (!table_only).then(|| Criterion::default().configure_from_args());
    println!("# one core, median of {ROUNDS} launches; the gate is {GATE:.0e} accessor calls per second");
    println!("# kernel\tcalls_per_s\tof_gate");
    measure::<stream>(&mut criterion, 2 * TURNS, [2, 2]);
    measure::<tile>(&mut criterion, TURNS + 4, [TURNS; 2]);
    measure::<broadcast>(&mut criterion, TURNS + 4, [4 * TURNS; 2]);
    measure::<exchange>(&mut criterion, 4 * TURNS + 2, [1 + TURNS; 2]);
    measure::<histogram>(&mut criterion, TURNS + 6, [TURNS; 2]);
    if let Some(criterion) = criterion {
        criterion.final_summary();
    }
}
