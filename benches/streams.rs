//! Host memory to host memory, and files: what copies allow, and what filters and histograms reach.
//!
//! * Copies of pinned memory up, down, and in both directions at once: the ceiling.
//! * A filter with 65 weights, from pinned to pinned memory, and from pageable to pageable memory; and the latter as one upload, one
//!   filter and one download, without overlap.
//! * A stream of as many bytes from a reader to a writer in memory, and a histogram of a reader.
//!
//! Medians are printed in the columns that `peers/README.md` explains, by the host's clock. Run it as `cargo bench --bench streams`.

#[path = "common/table.rs"]
mod table;

use slm::filter1d::PreparedFilter1d;
use slm::{Backend, Buffer, Device, Filter1d, Histogram, Pinned, Result};
use std::io::{self, Read};
use std::thread;
use std::time::Instant;
use table::{Times, begin, columns, end, report};

const ROUNDS: usize = 5;
const TAPS: usize = 65;

/// Samples of a copy: 256 MiB.
const COPIED: usize = 1 << 26;

fn main() -> Result<()> {
    let device = Device::open()?;
    // 4 GiB, or 64 MiB without a GPU.
    let samples = if device.info().backend == Backend::Cuda { 1 << 30 } else { 1 << 24 };
    begin();
    println!("# slm {} on {device}; median of {ROUNDS} rounds, by the host's clock", env!("CARGO_PKG_VERSION"));
    columns(&[]);
    copies(&device)?;
    filters(&device, samples)?;
    streams(&device, samples)?;
    end();
    Ok(())
}

fn copies(device: &Device) -> Result<()> {
    let (up, down) = (device.queue()?, device.queue()?);
    let (from, mut to) = (device.pinned::<f32>(COPIED)?, device.pinned::<f32>(COPIED)?);
    let (mut target, source) = (up.zeroed(COPIED)?, down.zeroed(COPIED)?);
    report("copies", "256 MiB up", time(|| target.upload(&from))?, &[], "ok");
    report("copies", "256 MiB down", time(|| source.download_into(&mut to))?, &[], "ok");
    // Several copies in a row, so that their beginnings and ends count little.
    let both = time(|| both_ways(&mut target, &source, &from, &mut to, 8))? / 8;
    report("copies", "256 MiB both ways", both, &[], "ok");
    Ok(())
}

fn both_ways(
    target: &mut Buffer<f32>,
    source: &Buffer<f32>,
    from: &Pinned<f32>,
    to: &mut Pinned<f32>,
    times: usize,
) -> Result<()> {
    thread::scope(|scope| {
        let up = scope.spawn(|| (0..times).try_for_each(|_| target.upload(from)));
        let down = (0..times).try_for_each(|_| source.download_into(to));
        up.join().expect("a copy does not panic").and(down)
    })
}

fn filters(device: &Device, samples: usize) -> Result<()> {
    let filter = Filter1d::correlate(&[1.0f32; TAPS]).prepare(device)?;
    let mut pinned = device.pinned(samples)?;
    pinned.fill(1.0);
    let mut outputs = device.pinned(samples)?;
    let case = |name: &str| format!("{name}, {} MiB", samples >> 18);
    let time_pinned = time(|| filter.apply_into(&pinned, &mut outputs))?;
    report("filter", &case("pinned"), time_pinned, &[], check(&outputs));
    drop(outputs);
    let pageable = pinned.to_vec();
    drop(pinned);
    let mut results = Vec::new();
    let time_pageable = time(|| {
        results = filter.apply(&pageable)?;
        Ok(())
    })?;
    report("filter", &case("pageable"), time_pageable, &[], check(&results));
    let time_into = time(|| filter.apply_into(&pageable, &mut results))?;
    report("filter", &case("pageable, into"), time_into, &[], check(&results));
    drop(results);
    let mut results = Vec::new();
    let at_once = time(|| {
        results = at_once(&filter, &pageable)?;
        Ok(())
    })?;
    report("filter", &case("pageable, at once"), at_once, &[], check(&results));
    Ok(())
}

/// Filters without overlap.
fn at_once(filter: &PreparedFilter1d<f32>, samples: &[f32]) -> Result<Vec<f32>> {
    filter.apply(&filter.device().upload(samples)?)?.download()
}

fn streams(device: &Device, samples: usize) -> Result<()> {
    let bytes = 4 * samples as u64;
    let case = |name: &str| format!("{name}, {} MiB", bytes >> 20);
    let filter = Filter1d::correlate(&[1.0f32; TAPS]).prepare(device)?;
    let zeros = || io::repeat(0).take(bytes);
    let filtering = time(|| filter.stream(zeros(), io::sink()).run().map(drop))?;
    report("stream", &case("filter"), filtering, &[], "ok");
    let counter = Histogram::bytes().prepare(device)?;
    let counting = time(|| counter.stream(zeros())?.run().map(drop))?;
    report("stream", &case("bytes counted"), counting, &[], "ok");
    Ok(())
}

fn check(outputs: &[f32]) -> &'static str {
    if outputs[outputs.len() / 2] == TAPS as f32 && outputs[0] == 33.0 { "ok" } else { "wrong" }
}

fn time(mut work: impl FnMut() -> Result<()>) -> Result<Times> {
    work()?;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed());
    }
    Ok(Times::of(&mut times))
}
