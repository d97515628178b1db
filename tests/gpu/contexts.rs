//! Handles on one GPU share its modules, threads load modules at the same time, and shapes need no modules of their own.

use super::{Failed, Trial, equal, same, shared_trial};
use crate::common::Random;
use slm::{Buffer2, Device, Filter1d, Histogram, Transpose};
use std::sync::Barrier;
use std::thread;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        shared_trial("contexts::handles_are_opened_and_dropped", handles_are_opened_and_dropped),
        shared_trial("contexts::threads_load_at_the_same_time", threads_load_at_the_same_time),
        shared_trial("contexts::many_shapes", many_shapes),
        shared_trial("contexts::results_of_all_sizes", results_of_all_sizes),
    ]
}

/// Operations of a handle still work after other handles, which loaded their modules, have been dropped.
fn handles_are_opened_and_dropped(_device: &Device) -> Result<(), Failed> {
    let x: Vec<i32> = Random::new(1).values(5000);
    let expected = Filter1d::correlate(&[1, -2, 3]).prepare(&Device::cpu())?.apply(&x)?;
    let mut last = None;
    for _ in 0..10 {
        let device = Device::cuda(0)?;
        let filter = Filter1d::correlate(&[1, -2, 3]).prepare(&device)?;
        drop(device);
        // Replaces the filter of the handle before.
        let before = last.replace(filter);
        same(&last.as_ref().ok_or("there is one")?.apply(&x)?, &expected)?;
        before.map_or(Ok(()), |before| same(&before.apply(&x)?, &expected))?;
    }
    Ok(())
}

/// Half of the threads share a handle, the others open their own. Together they load three modules.
fn threads_load_at_the_same_time(device: &Device) -> Result<(), Failed> {
    const THREADS: usize = 24;
    let barrier = Barrier::new(THREADS);
    let work = |number: usize| -> Result<(), Failed> {
        barrier.wait();
        let device = if number.is_multiple_of(2) { device.clone() } else { Device::cuda(0)? };
        match number % 3 {
            0 => equal(Filter1d::correlate(&[1.0f64, 2.0]).prepare(&device)?.apply(&[3.0, 4.0])?, vec![6.0, 11.0]),
            1 => equal(Histogram::bytes().prepare(&device)?.apply(&[7, 7, 9])?.bins()?[7], 2),
            _ => equal(Transpose::new(2, 3).prepare(&device)?.apply(&[1u16, 2, 3, 4, 5, 6])?, vec![1, 4, 2, 5, 3, 6]),
        }
    };
    let work = &work;
    let results: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || work(number))).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| Failed::from("a thread has panicked"))).collect()
    });
    results.into_iter().try_for_each(|result| result.and_then(|result| result))
}

/// Two threads use more pitches than an operation caches, in two rounds.
fn many_shapes(device: &Device) -> Result<(), Failed> {
    const SIDES: [usize; 2] = [70, 50];
    let transpose = Transpose::<f32>::new(SIDES[0], SIDES[1]).prepare(device)?;
    let run = |pitch: usize| -> Result<(), Failed> {
        let data: Vec<f32> = Random::new(pitch as u64).values(SIDES[0] * pitch);
        let input = Buffer2::from_buffer(device.upload(&data)?, SIDES[0], SIDES[1], pitch)?;
        let mut output = Buffer2::zeroed(device, SIDES[1], SIDES[0])?;
        transpose.apply_into(&input, &mut output)?;
        equal(output.download()?, input.download()?.t().to_owned())
    };
    let rounds = || (0..2).flat_map(|_| SIDES[1]..SIDES[1] + 80).try_for_each(run);
    thread::scope(|scope| {
        let other = scope.spawn(rounds);
        rounds().and(other.join().map_err(|_| Failed::from("a thread has panicked"))?)
    })
}

/// Results of up to 1.25 MiB pass through pinned memory, which one thread uses at a time. Larger ones do not.
fn results_of_all_sizes(device: &Device) -> Result<(), Failed> {
    const MOST: usize = (5 << 18) / size_of::<i32>();
    let data: Vec<i32> = Random::new(2).values(5 * MOST);
    let buffer = device.upload(&data)?;
    let lengths = [0, 1, 1000, MOST - 1, MOST, MOST + 1, 4 * MOST];
    let run = |first: usize| -> Result<(), Failed> {
        for len in lengths {
            let expected = &data[first..first + len];
            let mut result = vec![7; len + 2];
            buffer.slice(first..first + len)?.download_into(&mut result[1..=len])?;
            same(&result[1..=len], expected)?;
            equal([result[0], result[len + 1]], [7, 7])?;
            let mut pinned = device.pinned(len)?;
            buffer.slice(first..first + len)?.download_into(&mut pinned)?;
            same(&pinned, expected)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|number| scope.spawn(move || run(number * 12_345))).collect();
        let result =
            |thread: thread::ScopedJoinHandle<_>| thread.join().map_err(|_| Failed::from("a thread has panicked"))?;
        threads.into_iter().try_for_each(result)
    })
}
