//! Order, completion, sharing, lifetimes, and calls without allocations.

use super::{Failed, Trial, ensure, equal, same, shared_trial};
use crate::common::Random;
use crate::filter1d::ALGORITHMS;
use crate::filter1d::shared_memory::exceeded_on;
use crate::histogram;
use allocation_counter::measure;
use ndarray::Array2;
use slm::filter1d::PreparedFilter1d;
use slm::{
    Boundary, Buffer, Buffer2, Device, Extent, Filter1d, Filter1dAlgorithm, Histogram, HistogramAlgorithm, Transpose,
    TransposeAlgorithm,
};
use std::hint::black_box;
use std::thread;

const TRANSPOSITIONS: [TransposeAlgorithm; 4] = [
    TransposeAlgorithm::Auto,
    TransposeAlgorithm::Naive,
    TransposeAlgorithm::SharedUnpadded,
    TransposeAlgorithm::SharedPadded,
];

pub(super) fn trials() -> Vec<Trial> {
    vec![
        shared_trial("apply_into_allocates_nothing", apply_into_allocates_nothing),
        shared_trial("counting_allocates_nothing", counting_allocates_nothing),
        shared_trial("transposing_allocates_nothing", transposing_allocates_nothing),
        shared_trial("threads_share_a_filter", threads_share_a_filter),
        shared_trial("threads_share_transpositions", threads_share_transpositions),
        shared_trial("work_runs_in_order", work_runs_in_order),
        shared_trial("counts_add_up_in_order", counts_add_up_in_order),
        shared_trial("transpositions_run_in_order", transpositions_run_in_order),
        shared_trial("inputs_dropped_while_in_use", inputs_dropped_while_in_use),
        shared_trial("matrices_dropped_while_transposed", matrices_dropped_while_transposed),
        shared_trial("samples_dropped_while_counted", samples_dropped_while_counted),
        shared_trial("handles_dropped_while_in_use", handles_dropped_while_in_use),
        shared_trial("handles_dropped_while_counting", handles_dropped_while_counting),
        shared_trial("modules_of_two_handles", modules_of_two_handles),
    ]
}

fn on_cpu(filter: &Filter1d<i32>) -> slm::Result<PreparedFilter1d<i32>> {
    filter.prepare(&Device::cpu())
}

fn apply_into_allocates_nothing(device: &Device) -> Result<(), Failed> {
    ensure(measure(|| drop(black_box(vec![1u8]))).count_total == 1, || "allocations are not counted".to_owned())?;
    let x = device.upload(&Random::new(1).values::<f32>(5000))?;
    let mut y = device.zeroed(5000)?;
    let matrix = Buffer2::<f32>::zeroed(device, 50, 60)?;
    let mut filtered = Buffer2::zeroed(device, 50, 60)?;
    // The last number of taps needs several launches.
    for taps in [5, 300, 2001] {
        let taps: Vec<f32> = Random::new(2).values(taps);
        for algorithm in ALGORITHMS {
            let filter = Filter1d::correlate(&taps).algorithm(algorithm).prepare(device)?;
            // Along columns fewer taps fit, and the error would allocate its text.
            let columns = exceeded_on::<f32>(device, algorithm, taps.len(), 0).is_none();
            allocates_nothing(&format!("{algorithm:?}, {} taps", taps.len()), || {
                filter.apply_into(&x, &mut y)?;
                filter.along(1).apply_into(&matrix, &mut filtered)?;
                if columns { filter.along(0).apply_into(&matrix, &mut filtered) } else { Ok(()) }
            })?;
        }
    }
    Ok(())
}

/// Runs `work` twice, since the first run may load modules, and checks that the second run allocates nothing.
fn allocates_nothing(what: &str, mut work: impl FnMut() -> slm::Result<()>) -> Result<(), Failed> {
    work()?;
    let mut result = Ok(());
    let info = measure(|| result = work());
    result?;
    ensure(info.count_total == 0, || format!("{what}: {info:?}"))
}

fn counting_allocates_nothing(device: &Device) -> Result<(), Failed> {
    let samples = device.upload(&Random::new(1).values::<i32>(5000))?;
    for algorithm in histogram::ALGORITHMS {
        let histogram = hundred_bins().algorithm(algorithm).prepare(device)?;
        let mut counts = device.zeroed(histogram.counts_len())?;
        allocates_nothing(&format!("{algorithm:?}"), || histogram.accumulate_into(&samples, &mut counts))?;
    }
    Ok(())
}

/// Bins for half of all numbers, so that some samples are below and some above.
fn hundred_bins() -> Histogram<i32> {
    Histogram::even(100, i32::MIN / 2..i32::MAX / 2)
}

fn bytes(seed: u64, count: usize) -> Vec<u8> {
    Random::new(seed).values::<i32>(count).into_iter().map(|number| (number >> 16) as u8).collect()
}

/// Transposes square and other matrices, with and without gaps, and in place.
fn transposing_allocates_nothing(device: &Device) -> Result<(), Failed> {
    let (x, mut y) = (device.upload(&bytes(1, 37 * 53))?, device.zeroed(37 * 53)?);
    let with_gaps = Buffer2::<u8>::zeroed(device, 37, 53)?;
    let mut transposed = Buffer2::zeroed(device, 53, 37)?;
    let (transpose, in_place) = (Transpose::new(37, 53), Transpose::new(53, 37).prepare_in_place(device)?);
    let square = Transpose::new(44, 44).prepare_in_place(device)?;
    let mut of_square = device.upload(&bytes(2, 44 * 44))?;
    for algorithm in TRANSPOSITIONS {
        let transpose = transpose.algorithm(algorithm).prepare(device)?;
        allocates_nothing(&format!("{algorithm:?}"), || {
            transpose.apply_into(&x, &mut y)?;
            transpose.apply_into(&with_gaps, &mut transposed)?;
            in_place.apply(&mut y)?;
            square.apply(&mut of_square)
        })?;
    }
    Ok(())
}

fn threads_share_a_filter(device: &Device) -> Result<(), Failed> {
    const THREADS: u64 = 8;
    let description = Filter1d::correlate(&Random::new(1).values::<i32>(67)).boundary(Boundary::Reflect);
    let (filter, cpu) = (description.prepare(device)?, on_cpu(&description)?);
    let work = |thread: u64| -> Result<(), Failed> {
        for round in 0..25 {
            let x: Vec<i32> = Random::new(100 * thread + round).values(1000 + 777 * thread as usize);
            let expected = cpu.apply(&x)?;
            let device = filter.device().clone();
            let (input, mut output) = (device.upload(&x)?, device.zeroed(x.len())?);
            filter.apply_into(&input, &mut output)?;
            same(&filter.apply(&x)?, &expected)?;
            same(&output.download()?, &expected)?;
            let matrix = Array2::from_shape_vec((10, 100), x[..1000].to_vec())?;
            equal(filter.along(0).apply(matrix.view())?, cpu.along(0).apply(matrix.view())?)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || work(thread))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })
}

/// Each thread has its own matrices. All share the prepared operations. A transposition in place is a sequence of several
/// launches.
fn threads_share_transpositions(device: &Device) -> Result<(), Failed> {
    const THREADS: u64 = 8;
    let [forward, back] = [Transpose::new(67, 301), Transpose::new(301, 67)].map(|transpose| transpose.components(3));
    let (forward, back) = (forward.prepare(device)?, back.prepare_in_place(device)?);
    let work = |thread: u64| -> Result<(), Failed> {
        for round in 0..25 {
            let x = bytes(100 * thread + round, 3 * 67 * 301);
            let device = forward.device().clone();
            let (input, mut output) = (device.upload(&x)?, device.zeroed(x.len())?);
            forward.apply_into(&input, &mut output)?;
            same(&output.download()?, &transposed(&x, [67, 301], 3))?;
            back.apply(&mut output)?;
            same(&output.download()?, &x)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || work(thread))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })
}

/// Returns the transposed matrix, by definition.
fn transposed<T: Copy>(x: &[T], [rows, columns]: [usize; 2], components: usize) -> Vec<T> {
    let places = (0..columns).flat_map(|column| (0..rows).map(move |row| row * columns + column));
    places.flat_map(|place| x[place * components..][..components].iter().copied()).collect()
}

/// Each step reads the results of the step before, without a wait in between.
fn work_runs_in_order(device: &Device) -> Result<(), Failed> {
    let description = Filter1d::convolve(&[3, -1, 2]).boundary(Boundary::Wrap);
    let x: Vec<i32> = Random::new(1).values(100_003);
    let run = |device: &Device| -> slm::Result<[Vec<i32>; 2]> {
        let filter = description.prepare(device)?;
        let (mut a, mut b) = (device.upload(&x)?, device.zeroed(x.len())?);
        for step in 0..300 {
            filter.apply_into(&a, &mut b)?;
            filter.apply_into(&b, &mut a)?;
            if step % 100 == 50 {
                // New memory in between, dropped before the work is done.
                let mut copy = device.zeroed(x.len())?;
                copy.copy_from(&a)?;
                filter.apply_into(&copy, &mut a)?;
            }
        }
        Ok([a.download()?, b.download()?])
    };
    let ([a, b], [on_cpu_a, on_cpu_b]) = (run(device)?, run(&Device::cpu())?);
    same(&a, &on_cpu_a)?;
    same(&b, &on_cpu_b)
}

/// Samples are added to existing counts and to copies of them, without a wait in between.
fn counts_add_up_in_order(device: &Device) -> Result<(), Failed> {
    let x: Vec<Vec<i32>> = (0..3).map(|k| Random::new(k).values(30_000 + k as usize)).collect();
    let run = |device: &Device| -> slm::Result<Vec<u64>> {
        let histogram = hundred_bins().prepare(device)?;
        let samples = x.iter().map(|x| device.upload(x)).collect::<slm::Result<Vec<_>>>()?;
        let mut counts = device.zeroed(histogram.counts_len())?;
        for step in 0..200 {
            histogram.accumulate_into(&samples[step % 3], &mut counts)?;
            if step % 20 == 10 {
                // New memory in between, dropped before the work is done.
                let mut copy = device.zeroed(counts.len())?;
                copy.copy_from(&counts)?;
                histogram.accumulate_into(&samples[0], &mut copy)?;
                counts.copy_from(&copy)?;
            }
        }
        counts.download()
    };
    same(&run(device)?, &run(&Device::cpu())?)
}

/// Each transposition reads the result of the one before, into another buffer or in place, without a wait in between.
fn transpositions_run_in_order(device: &Device) -> Result<(), Failed> {
    const SHAPE: [usize; 2] = [503, 211];
    let x = bytes(1, 503 * 211);
    let [forward, back] = [Transpose::new(503, 211), Transpose::new(211, 503)];
    let (prepared, in_place) = (forward.prepare(device)?, back.prepare_in_place(device)?);
    let backward = back.prepare(device)?;
    let (mut a, mut b) = (device.upload(&x)?, device.zeroed(x.len())?);
    for step in 0..100 {
        prepared.apply_into(&a, &mut b)?;
        if step % 10 == 5 {
            // New memory in between, dropped before the work is done.
            let mut copy = device.zeroed(x.len())?;
            copy.copy_from(&b)?;
            in_place.apply(&mut copy)?;
            a.copy_from(&copy)?;
        } else if step % 2 == 0 {
            backward.apply_into(&b, &mut a)?;
        } else {
            in_place.apply(&mut b)?;
            a.copy_from(&b)?;
        }
    }
    same(&a.download()?, &x)?;
    prepared.apply_into(&a, &mut b)?;
    same(&b.download()?, &transposed(&x, SHAPE, 1))
}

/// Returns a filter and samples that take some milliseconds, so that the calls that follow are made while it runs.
fn slow() -> (Filter1d<i32>, Vec<i32>) {
    let taps: Vec<i32> = Random::new(1).values(1025);
    (Filter1d::correlate(&taps).algorithm(Filter1dAlgorithm::GlobalMemory), Random::new(2).values(1 << 20))
}

fn inputs_dropped_while_in_use(device: &Device) -> Result<(), Failed> {
    let (description, x) = slow();
    let expected = on_cpu(&description)?.apply(&x)?;
    let other = Device::cuda(0)?;
    for _ in 0..5 {
        let filter = description.prepare(device)?;
        let (input, mut output) = (device.upload(&x)?, device.zeroed(x.len())?);
        filter.apply_into(&input, &mut output)?;
        drop(input);
        drop(filter);
        let _others = overwritten([device, &other], [x.len(), 1025])?;
        same(&output.download()?, &expected)?;
    }
    Ok(())
}

/// Returns new, cleared buffers of the given sizes on both devices. If memory in use counted as free, they would get it and
/// overwrite it now.
fn overwritten(devices: [&Device; 2], sizes: [usize; 2]) -> slm::Result<Vec<Buffer<i32>>> {
    let all = devices.into_iter().flat_map(|device| [sizes; 4].into_iter().flatten().map(move |size| (device, size)));
    all.map(|(device, size)| device.zeroed(size)).collect()
}

/// Returns a slow histogram and samples. The cells of the values are on the device.
fn slow_counting() -> (Histogram<u8>, Vec<u8>) {
    let edges: Vec<u8> = (0..16).map(|k| k * k).collect();
    let mut random = Random::new(3);
    let samples = (0..1 << 14).map(|_| random.bits() as u8).collect();
    (Histogram::edges(&edges).algorithm(HistogramAlgorithm::Critical), samples)
}

/// Returns the expected contents of a buffer of counts.
fn counted(histogram: &Histogram<u8>, x: &[u8]) -> slm::Result<Vec<u64>> {
    let device = Device::cpu();
    let histogram = histogram.prepare(&device)?;
    let mut counts = device.zeroed(histogram.counts_len())?;
    histogram.accumulate_into(&device.upload(x)?, &mut counts)?;
    counts.download()
}

fn samples_dropped_while_counted(device: &Device) -> Result<(), Failed> {
    let (description, x) = slow_counting();
    let expected = counted(&description, &x)?;
    let other = Device::cuda(0)?;
    for _ in 0..5 {
        let histogram = description.prepare(device)?;
        let (samples, mut counts) = (device.upload(&x)?, device.zeroed(histogram.counts_len())?);
        histogram.accumulate_into(&samples, &mut counts)?;
        drop(samples);
        drop(histogram);
        // As many bytes as the samples and the cells of all values.
        let _others = overwritten([device, &other], [x.len() / 4, 256])?;
        same(&counts.download()?, &expected)?;
    }
    Ok(())
}

fn matrices_dropped_while_transposed(device: &Device) -> Result<(), Failed> {
    // In place and not square: three steps, which take some milliseconds.
    const SHAPE: [usize; 2] = [2049, 1021];
    let x: Vec<i32> = Random::new(1).values(SHAPE[0] * SHAPE[1]);
    let expected = transposed(&x, SHAPE, 1);
    let other = Device::cuda(0)?;
    for _ in 0..5 {
        let transpose = Transpose::new(SHAPE[0], SHAPE[1]).prepare(device)?;
        let in_place = Transpose::new(SHAPE[0], SHAPE[1]).prepare_in_place(device)?;
        let back = Transpose::new(SHAPE[1], SHAPE[0]).prepare_in_place(device)?;
        let (mut input, mut output) = (device.upload(&x)?, device.zeroed(x.len())?);
        in_place.apply(&mut input)?;
        back.apply(&mut input)?;
        transpose.apply_into(&input, &mut output)?;
        drop((input, transpose, in_place, back));
        let _others = overwritten([device, &other], [x.len(), 2049])?;
        same(&output.download()?, &expected)?;
    }
    Ok(())
}

/// A buffer keeps everything alive that its contents depend on.
fn handles_dropped_while_in_use(_device: &Device) -> Result<(), Failed> {
    let (description, x) = slow();
    let output = {
        let device = Device::cuda(0)?;
        let filter = description.prepare(&device)?;
        let (input, mut output) = (device.upload(&x)?, device.zeroed(x.len())?);
        filter.apply_into(&input, &mut output)?;
        output
    };
    same(&output.download()?, &on_cpu(&description)?.apply(&x)?)?;
    output.device().synchronize()?;
    // All handles are dropped while work is pending.
    let device = Device::cuda(0)?;
    let (input, mut output) = (device.upload(&x)?, device.zeroed(x.len())?);
    description.prepare(&device)?.apply_into(&input, &mut output)?;
    Ok(())
}

fn handles_dropped_while_counting(_device: &Device) -> Result<(), Failed> {
    let (description, x) = slow_counting();
    let counts = {
        let device = Device::cuda(0)?;
        let histogram = description.prepare(&device)?;
        let (samples, mut counts) = (device.upload(&x)?, device.zeroed(histogram.counts_len())?);
        histogram.accumulate_into(&samples, &mut counts)?;
        counts
    };
    same(&counts.download()?, &counted(&description, &x)?)?;
    counts.device().synchronize()?;
    // All handles are dropped while work is pending.
    let device = Device::cuda(0)?;
    let histogram = description.prepare(&device)?;
    let mut counts = device.zeroed(histogram.counts_len())?;
    histogram.accumulate_into(&device.upload(&x)?, &mut counts)?;
    Ok(())
}

/// Handles share modules, which stay loaded when one handle is dropped.
fn modules_of_two_handles(_device: &Device) -> Result<(), Failed> {
    let description = Filter1d::correlate(&[1, 2, 3]).extent(Extent::Full).boundary(Boundary::Constant(5));
    let x = Array2::from_shape_vec((40, 50), Random::new(1).values(2000))?;
    let cpu = on_cpu(&description)?;
    let check = |filter: &PreparedFilter1d<i32>| -> Result<(), Failed> {
        equal(filter.along(0).apply(x.view())?, cpu.along(0).apply(x.view())?)?;
        equal(filter.along(1).apply(x.view())?, cpu.along(1).apply(x.view())?)
    };
    let first = description.prepare(&Device::cuda(0)?)?;
    let second = description.prepare(&Device::cuda(0)?)?;
    check(&first)?;
    check(&second)?;
    drop(first);
    check(&second)?;
    check(&description.prepare(&Device::cuda(0)?)?)?;
    check(&second)
}
