//! Load: sixteen threads run all operations at once in several queues of a device, and nothing is left over.
//!
//! A round begins with cases that are drawn from its seed: operations, sizes and data, with the outputs of the CPU at rest. Each thread runs
//! all of them once, which loads kernels and fills caches. Then threads run cases at random until the time is over. Every result must be that
//! of the CPU. Whatever is not needed any more goes to a pile, from which any thread drops anything, while work that uses it may still run.
//! In between, closures of the program panic, and requests are refused. In the end of a round the memory of the process must be what it was
//! after the round's first pass, and that of the device what it was after the first pass of all. When the cases of a round are dropped, the
//! process must have no more than after the first round.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `SLM_LOAD_SECONDS` | time of the load on each device | 1 |
//! | `SLM_LOAD_SEED` | seed of the first round; each round has the next one | 1 |
//!
//! A trial is named like those of the program `suite`: `load::cpu::all_operations`.
//!
//! | file | contents |
//! |---|---|
//! | `cases.rs` | operations with data and expected outputs |
//! | `place.rs` | queues that a case runs in, and the pile |
//! | `disturbances.rs` | panics and refused requests |
//! | `footprint.rs` | memory of the device and of the process |

mod cases;
#[path = "../common/mod.rs"]
mod common;
mod disturbances;
mod footprint;
mod place;

use cases::{Case, OPERATIONS};
use common::{Random, is_emulated, on_every_backend};
use footprint::Footprint;
use libtest_mimic::{Arguments, Failed};
use place::{Pile, Place};
use slm::Device;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

const THREADS: usize = 16;

const QUEUES: usize = 4;

/// Cases of each operation in a round.
const CASES: usize = 2;

/// The longest round.
const ROUND: Duration = Duration::from_secs(10);

fn main() {
    common::enter_repository();
    let mut arguments = Arguments::from_args();
    // A trial must have the memory of the process and of the device for itself.
    arguments.test_threads = Some(1);
    let trials = on_every_backend("load", "all_operations", all_operations);
    libtest_mimic::run(&arguments, trials.into()).exit();
}

fn all_operations(device: &Device) -> Result<(), Failed> {
    let seconds = Duration::from_secs(number("SLM_LOAD_SECONDS"));
    let (start, first) = (Instant::now(), number("SLM_LOAD_SEED"));
    let (mut at_first, mut between) = (None, None);
    for seed in first.. {
        let rest = seconds.saturating_sub(start.elapsed());
        if rest.is_zero() && seed > first {
            break;
        }
        let failed = |error: Failed| format!("SLM_LOAD_SEED={seed}: {}", error.message().unwrap_or("failed"));
        let [before, after] = round(device, seed, rest.min(ROUND)).map_err(failed)?;
        after.check_process(&before).map_err(failed)?;
        after.check_device(at_first.get_or_insert(before), device).map_err(failed)?;
        let now = Footprint::of(device)?;
        match &between {
            Some(between) => now.check_process(between).map_err(failed)?,
            None => between = Some(now),
        }
    }
    Ok(())
}

/// Returns the number in an environment variable; 1 if it is not set.
fn number(variable: &str) -> u64 {
    env::var(variable).map_or(1, |text| text.parse().unwrap_or_else(|_| panic!("{variable} is '{text}'")))
}

/// Returns the memory before and after the load, when nothing runs.
fn round(device: &Device, seed: u64, time: Duration) -> Result<[Footprint; 2], Failed> {
    let queues = (1..QUEUES).map(|_| device.queue()).chain([Ok(device.clone())]).collect::<slm::Result<Vec<_>>>()?;
    let cases = cases(device, seed)?;
    // Every thread begins with another case.
    let order = |thread: usize| (0..cases.len()).map(move |number| number + thread);
    let warm = run(&queues, &cases, seed, |thread, _| order(thread))?;
    let before = Footprint::of(device)?;
    let end = Instant::now() + time;
    let many = run(&queues, &cases, seed, |_, mut random| {
        std::iter::from_fn(move || (Instant::now() < end).then(|| random.below(usize::MAX)))
    })?;
    let after = Footprint::of(device)?;
    eprintln!("{device}, seed {seed}: {} cases, {warm} and {many} runs, {before}, then {after}", cases.len());
    Ok([before, after])
}

/// Returns the cases of a round.
fn cases(device: &Device, seed: u64) -> slm::Result<Vec<Case>> {
    // Every access of an emulated device takes its time.
    let most = match device.info().memory {
        _ if is_emulated(device) => 150,
        Some(_) => 200_000,
        None => 5_000,
    };
    let draw = |number: usize| {
        let (name, draw) = OPERATIONS[number % OPERATIONS.len()];
        draw(name, &mut Random::new(seed << 32 | number as u64), most)
    };
    (0..CASES * OPERATIONS.len()).map(draw).collect()
}

/// Runs cases in all threads, as long as each gets numbers of them, and waits for all work. Returns how many were run.
fn run<I: Iterator<Item = usize>>(
    queues: &[Device],
    cases: &[Case],
    seed: u64,
    numbers: impl Fn(usize, Random) -> I + Sync,
) -> Result<u64, Failed> {
    let (pile, runs) = (Pile::default(), AtomicU64::new(0));
    let work = |thread: usize| -> Result<(), Failed> {
        let random = |purpose: u64| Random::new(seed << 32 | purpose << 16 | thread as u64);
        let place = Place::new(queues, &pile, random(1 << 8));
        for number in numbers(thread, random(1 << 9)) {
            cases[number % cases.len()].run(&place)?;
            runs.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || work(thread))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })?;
    drop(pile);
    queues.iter().try_for_each(Device::synchronize)?;
    Ok(runs.into_inner())
}
