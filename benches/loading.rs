//! Times that a process waits for a GPU and for kernels: to open the device, and to prepare an operation of each kind whose
//! kernels have not been loaded before.
//!
//! Each round is a process of its own, since a process loads a module once. Medians are printed in the columns that
//! `peers/README.md` explains. Run it as `CUDA_CACHE_DISABLE=1 cargo bench --bench loading`: otherwise the driver caches the
//! kernels that it compiled in earlier rounds.

#[path = "common/table.rs"]
mod table;

use slm::filter1d::FilterElement;
use slm::{Device, Filter1d, Histogram, LaunchPlan, Result, Transpose};
use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, io};
use table::{Times, begin, columns, end, report};

const ROUNDS: usize = 5;

/// The environment variable that makes this program run one round.
const ROUND: &str = "SLM_LOADING_ROUND";

fn main() -> Result<()> {
    if env::var_os(ROUND).is_some() {
        return round();
    }
    if let Err(error) = Device::cuda(0) {
        println!("# nothing is loaded: {error}");
        return Ok(());
    }
    let is_cached = env::var_os("CUDA_CACHE_DISABLE").is_none_or(|value| value != "1");
    begin();
    println!("# slm {}; median of {ROUNDS} processes, by the host's clock", env!("CARGO_PKG_VERSION"));
    println!("# the driver may cache compiled kernels: {}", if is_cached { "yes" } else { "no" });
    columns(&[]);
    let mut times: BTreeMap<String, Vec<Duration>> = BTreeMap::new();
    for _ in 0..ROUNDS {
        for (case, time) in measured().expect("this program runs again") {
            times.entry(case).or_default().push(time);
        }
    }
    for (case, times) in &mut times {
        assert_eq!(times.len(), ROUNDS, "{case}: a round has no such line");
        report("loading", case, Times::of(times), &[], "ok");
    }
    end();
    Ok(())
}

/// Runs a round in a process. Returns the times that it prints.
fn measured() -> io::Result<Vec<(String, Duration)>> {
    let output = Command::new(env::current_exe()?).env(ROUND, "1").output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    let line = |line: &str| {
        let (case, nanoseconds) = line.split_once('\t')?;
        Some((case.to_owned(), Duration::from_nanos(nanoseconds.parse().ok()?)))
    };
    Ok(text.lines().filter_map(line).collect())
}

/// Prepares everything once, in an order in which the kernels of no case have been loaded before.
fn round() -> Result<()> {
    let device = timed("the device", || Device::cuda(0))?;
    time_filters(&device, [1.0f32, 2.0, 1.0])?;
    time_filters(&device, [1.0f64, 2.0, 1.0])?;
    time_filters(&device, [1i32, 2, 1])?;
    timed("histogram of u8", || Histogram::bytes().prepare(&device))?;
    timed("histogram of f32, even bins", || Histogram::even(256, 0.0f32..1.0).prepare(&device))?;
    timed("histogram of i32, edges", || Histogram::<i32>::edges(&[0, 3, 7]).prepare(&device))?;
    timed("transposition of u8", || Transpose::<u8>::new(64, 64).prepare(&device))?;
    timed("transposition of f32", || Transpose::<f32>::new(64, 64).prepare(&device))?;
    timed("transposition of f32, odd rows", || Transpose::<f32>::new(65, 67).prepare(&device))?;
    timed("a second handle, filter of f32", || Filter1d::correlate(&[1.0f32, 2.0, 1.0]).prepare(&Device::cuda(0)?))?;
    Ok(())
}

fn time_filters<T: FilterElement>(device: &Device, taps: [T; 3]) -> Result<()> {
    let name = std::any::type_name::<T>();
    let filter = timed(&format!("filter of {name}, rows"), || Filter1d::correlate(&taps).prepare(device))?;
    // The module for filters along columns is loaded on first use. Making a plan uses it.
    let plan = timed(&format!("filter of {name}, columns"), || filter.along(0).plan([64, 64]))?;
    let is_loaded = |launch: &LaunchPlan| launch.residency.is_some_and(|residency| residency.registers > 0);
    assert!(plan.launches.iter().all(is_loaded), "{plan}");
    Ok(())
}

/// Runs `work` and prints its time. Returns its result.
fn timed<R>(case: &str, work: impl FnOnce() -> Result<R>) -> Result<R> {
    let start = Instant::now();
    let result = work()?;
    println!("{case}\t{}", start.elapsed().as_nanos());
    Ok(result)
}
