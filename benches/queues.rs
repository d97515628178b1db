//! What queues cost, and what they gain.
//!
//! * The host's time to enqueue a filter with `apply_into`: always in one queue, in two queues in turn with buffers of their own, and
//!   in two queues that read each other's results, so that each call waits for an event.
//! * The time of a copy from pinned memory of the host, and of one from other memory and of filters, one after the other in one queue, and at once in two.
//!
//! Medians are printed in the columns that `peers/README.md` explains, by the host's clock. Run it as `cargo bench --bench queues`.

#[path = "common/table.rs"]
mod table;

use slm::filter1d::PreparedFilter1d;
use slm::{Buffer, Device, Filter1d, Result};
use std::time::Instant;
use table::{Times, begin, columns, end, report};

const ROUNDS: usize = 21;

/// Calls of a round that measures the time to enqueue.
const CALLS: u32 = 1_000;

/// Samples that take no time on a GPU.
const FEW: usize = 1_024;

/// Samples of the copy and of the filters beside it.
const MANY: usize = 1 << 26;

/// Weights of the filters beside the copy.
const TAPS: usize = 257;

fn main() -> Result<()> {
    let device = Device::open()?;
    begin();
    println!("# slm {} on {device}; median of {ROUNDS} rounds, by the host's clock", env!("CARGO_PKG_VERSION"));
    columns(&[]);
    enqueueing(&device)?;
    overlap(&device)?;
    end();
    Ok(())
}

/// A filter in a queue, with a buffer that it reads and one that it writes.
struct Side {
    filter: PreparedFilter1d<f32>,
    x: Buffer<f32>,
    y: Buffer<f32>,
}

impl Side {
    fn new(queue: &Device) -> Result<Self> {
        let filter = Filter1d::correlate(&[1.0f32]).prepare(queue)?;
        Ok(Side { filter, x: queue.upload(&[1.5; FEW])?, y: queue.zeroed(FEW)? })
    }
}

fn enqueueing(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let (mut a, mut b) = (Side::new(device)?, Side::new(&queue)?);
    let one = per_call(device, || a.filter.apply_into(&a.x, &mut a.y))?;
    report("apply_into", "one queue", one, &[], check(&a.y)?);
    let apart = per_call(device, || {
        a.filter.apply_into(&a.x, &mut a.y)?;
        b.filter.apply_into(&b.x, &mut b.y)
    })?;
    report("apply_into", "two queues apart", apart / 2, &[], check(&b.y)?);
    let in_turn = per_call(device, || {
        a.filter.apply_into(&a.x, &mut a.y)?;
        b.filter.apply_into(&a.y, &mut a.x)
    })?;
    report("apply_into", "two queues in turn", in_turn / 2, &[], check(&a.x)?);
    Ok(())
}

/// Returns the host's times of a call that enqueues work.
fn per_call(device: &Device, mut call: impl FnMut() -> Result<()>) -> Result<Times> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        device.synchronize()?;
        let start = Instant::now();
        for _ in 0..CALLS {
            call()?;
        }
        times.push(start.elapsed() / CALLS);
    }
    Ok(Times::of(&mut times))
}

fn overlap(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let filter = Filter1d::correlate(&[1.0f32; TAPS]).prepare(device)?;
    let (x, mut y) = (device.upload(&vec![1.0f32; MANY])?, device.zeroed(MANY)?);
    let data = vec![2.0f32; MANY];
    let (mut own, mut other) = (device.zeroed(MANY)?, queue.zeroed(MANY)?);
    let copy = time(device, || own.upload(&data))?;
    let once = time(device, || filter.apply_into(&x, &mut y))?;
    // Filters that take about as long as the copy.
    let count = (copy.median.as_secs_f64() / once.median.as_secs_f64()).round().max(1.0) as usize;
    let mut filters = || (0..count).try_for_each(|_| filter.apply_into(&x, &mut y));
    let kernels = time(device, &mut filters)?;
    let one_queue = time(device, || {
        filters()?;
        own.upload(&data)
    })?;
    let two_queues = time(device, || {
        filters()?;
        other.upload(&data)
    })?;
    let middle = if y.download()?[MANY / 2] == TAPS as f32 { "ok" } else { "wrong" };
    let pinned = pinned_copy(device, &mut own, &data)?;
    report("overlap", "copy of pinned memory", pinned, &[], "ok");
    report("overlap", "copy", copy, &[], "ok");
    report("overlap", "filters", kernels, &[], middle);
    report("overlap", "one queue", one_queue, &[], middle);
    report("overlap", "two queues", two_queues, &[], middle);
    Ok(())
}

fn pinned_copy(device: &Device, target: &mut Buffer<f32>, data: &[f32]) -> Result<Times> {
    let mut pinned = device.pinned(data.len())?;
    pinned.copy_from_slice(data);
    time(device, || target.upload(&pinned))
}

/// Returns the times of some work, with the wait for it.
fn time(device: &Device, mut work: impl FnMut() -> Result<()>) -> Result<Times> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        device.synchronize()?;
        let start = Instant::now();
        work()?;
        device.synchronize()?;
        times.push(start.elapsed());
    }
    Ok(Times::of(&mut times))
}

fn check(y: &Buffer<f32>) -> Result<&'static str> {
    Ok(if y.download()?.iter().all(|y| *y == 1.5) { "ok exact" } else { "wrong" })
}
