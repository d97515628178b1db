//! Requests that exceed a limit, and requests at the limit.

use super::{Failed, Trial, ensure, equal, exclusive_trial, same, shared_trial};
use crate::common::Random;
use ndarray::Array2;
use slm::filter1d::{Filter1dAlgorithm, HaloLoad};
use slm::{Buffer2, Device, Error, Filter1d, Histogram, Transpose};

pub(super) fn trials() -> Vec<Trial> {
    vec![
        shared_trial("ordinal_out_of_range", ordinal_out_of_range),
        shared_trial("shared_memory_to_the_last_tap", shared_memory_to_the_last_tap),
        shared_trial("shared_memory_of_columns", shared_memory_of_columns),
        shared_trial("a_hundred_thousand_taps", a_hundred_thousand_taps),
        shared_trial("out_of_memory", out_of_memory),
        exclusive_trial("no_memory_for_counts", no_memory_for_counts),
        exclusive_trial("kept_memory_is_available", kept_memory_is_available),
        shared_trial("buffers_of_another_handle", buffers_of_another_handle),
        shared_trial("counts_of_another_handle", counts_of_another_handle),
        shared_trial("matrices_of_another_handle", matrices_of_another_handle),
        shared_trial("wrong_length", wrong_length),
    ]
}

fn ordinal_out_of_range(_device: &Device) -> Result<(), Failed> {
    let available = Device::all().len() - 1;
    for ordinal in [available, available + 1, usize::MAX] {
        equal(Device::cuda(ordinal).err(), Some(Error::DeviceOrdinal { ordinal, available }))?;
    }
    let error = Device::named(&format!("cuda:{available}")).err();
    equal(error, Some(Error::DeviceOrdinal { ordinal: available, available }))
}

fn on_cpu(taps: &[i32], x: &[i32]) -> slm::Result<Vec<i32>> {
    Filter1d::correlate(taps).prepare(&Device::cpu())?.apply(x)
}

/// Returns the kernel and the requested and available bytes if a filter needs too much shared memory.
fn exceeded(device: &Device, algorithm: Filter1dAlgorithm, taps: usize) -> Result<Option<(String, u64, u64)>, Failed> {
    match Filter1d::correlate(&vec![1i32; taps]).algorithm(algorithm).prepare(device) {
        Ok(_) => Ok(None),
        Err(Error::SharedMemoryExceeded { kernel, requested, available }) => Ok(Some((kernel, requested, available))),
        Err(error) => Err(error.into()),
    }
}

/// Returns the maximum number of taps of an algorithm, by bisection.
fn maximum_taps(device: &Device, algorithm: Filter1dAlgorithm) -> Result<usize, Failed> {
    let (mut fit, mut too_many) = (1, 1 << 17);
    ensure(exceeded(device, algorithm, fit)?.is_none(), || "one tap is too much".to_owned())?;
    ensure(exceeded(device, algorithm, too_many)?.is_some(), || format!("{too_many} taps fit"))?;
    while too_many - fit > 1 {
        let middle = (fit + too_many) / 2;
        *(if exceeded(device, algorithm, middle)?.is_none() { &mut fit } else { &mut too_many }) = middle;
    }
    Ok(fit)
}

fn shared_memory_to_the_last_tap(device: &Device) -> Result<(), Failed> {
    let limit = device.info().shared_memory.ok_or("a GPU has shared memory")?.max_per_block;
    for halo in [HaloLoad::Cooperative, HaloLoad::EdgeThread] {
        let algorithm = Filter1dAlgorithm::SharedTile(halo);
        let maximum = maximum_taps(device, algorithm)?;
        let (kernel, requested, available) = exceeded(device, algorithm, maximum + 1)?.ok_or("one more fits")?;
        equal((&*kernel, available), ("filter1d_tile_i32", limit))?;
        // One more tap takes one more element in the taps and in the tile, each rounded up to 16 bytes.
        ensure(requested > limit && requested <= limit + 32, || format!("{requested} of {limit} bytes"))?;

        // As many samples as taps, so that none are added up.
        let (taps, x) = (Random::new(1).values(maximum), Random::new(2).values(maximum));
        let filter = Filter1d::correlate(&taps).algorithm(algorithm).prepare(device)?;
        let shared = filter.plan([x.len()])?.launches.first().ok_or("nothing is launched")?.shared_bytes;
        ensure(shared <= limit && shared + 32 > limit, || format!("{shared} of {limit} bytes"))?;
        same(&filter.apply(&x)?, &on_cpu(&taps, &x)?)?;
    }
    Ok(())
}

/// Blocks take 32 columns, so fewer taps fit than along rows. The error occurs when the axis is known.
fn shared_memory_of_columns(device: &Device) -> Result<(), Failed> {
    let taps: Vec<i32> = Random::new(1).values(2000);
    let forced =
        Filter1d::correlate(&taps).algorithm(Filter1dAlgorithm::SharedTile(HaloLoad::Cooperative)).prepare(device)?;
    let (x, untouched) = (Random::new(2).values(90 * 70), Random::new(3).values(90 * 70));
    let x = Array2::from_shape_vec((90, 70), x)?;
    let input = Buffer2::upload(device, x.view())?;
    let mut output = Buffer2::from_buffer(device.upload(&untouched)?, 90, 70, 70)?;
    let error = forced.along(0).apply_into(&input, &mut output).err();
    let exceeded = matches!(&error, Some(Error::SharedMemoryExceeded { requested, available, .. })
        if requested > available && *requested > 2000 * 32 * 4);
    ensure(exceeded, || format!("{error:?}"))?;
    equal(forced.along(0).apply(x.view()).err(), error.clone())?;
    equal(forced.along(0).plan([90, 70]).err(), error)?;
    same(&output.buffer().download()?, &untouched)?;

    let cpu = Filter1d::correlate(&taps).prepare(&Device::cpu())?;
    forced.along(1).apply_into(&input, &mut output)?;
    equal(output.download()?, cpu.along(1).apply(x.view())?)?;
    let auto = Filter1d::correlate(&taps).prepare(device)?;
    auto.along(0).apply_into(&input, &mut output)?;
    equal(output.download()?, cpu.along(0).apply(x.view())?)
}

/// Far too many taps for shared memory: `Auto` selects another kernel and gives the reason.
fn a_hundred_thousand_taps(device: &Device) -> Result<(), Failed> {
    let (taps, x) = (Random::new(1).values(100_000), Random::new(2).values(5000));
    let expected = on_cpu(&taps, &x)?;
    let auto = Filter1d::correlate(&taps).prepare(device)?;
    same(&auto.apply(&x)?, &expected)?;
    let plan = auto.plan([x.len()])?;
    let text = plan.to_string();
    ensure(!plan.reason.is_empty() && text.contains(&plan.reason), || text.clone())?;
    let launch = plan.launches.first().ok_or("nothing is launched")?;
    ensure(launch.shared_bytes <= launch.shared_available, || text)?;
    let global = Filter1d::correlate(&taps).algorithm(Filter1dAlgorithm::GlobalMemory).prepare(device)?;
    same(&global.apply(&x)?, &expected)
}

const TERABYTE: u64 = 1 << 40;

/// Returns the available bytes, which a refused request says.
fn available(device: &Device) -> Result<u64, Failed> {
    match device.zeroed::<u8>(TERABYTE as usize).err() {
        Some(Error::OutOfDeviceMemory { requested: TERABYTE, available: Some(available) }) => Ok(available),
        error => Err(format!("{error:?}").into()),
    }
}

/// Memory that was used and is kept for later calls is available, and so is what was given back.
fn kept_memory_is_available(device: &Device) -> Result<(), Failed> {
    const USED: u64 = 1 << 30;
    // Other processes and the driver itself may take a little.
    const SLACK: u64 = 1 << 28;
    let before = available(device)?;
    let used = device.zeroed::<u8>(USED as usize)?;
    let during = available(device)?;
    drop(used);
    let kept = available(device)?;
    device.release_unused_memory()?;
    let released = available(device)?;
    let states = format!("{before} bytes, {during} without the buffer, {kept} kept, {released} released");
    ensure(during + USED <= before + SLACK && kept + SLACK >= before && released + SLACK >= before, || states)
}

fn out_of_memory(device: &Device) -> Result<(), Failed> {
    let before = device.upload(&[1, 2, 3])?;
    let available = available(device)?;
    let memory = device.info().memory.ok_or("a GPU has memory")?;
    ensure(available > 0 && available <= memory, || format!("{available} of {memory} bytes free"))?;
    let wide = device.zeroed::<f64>(1 << 37).err();
    ensure(matches!(wide, Some(Error::OutOfDeviceMemory { requested: TERABYTE, .. })), || format!("{wide:?}"))?;
    let error = device.zeroed::<i32>(usize::MAX).err();
    ensure(matches!(error, Some(Error::TooLarge { .. })), || format!("{error:?}"))?;

    let filter = Filter1d::correlate(&[1, 1, 1]).prepare(device)?;
    let mut after = device.zeroed(3)?;
    filter.apply_into(&before, &mut after)?;
    equal(after.download()?, vec![3, 6, 5])?;
    device.synchronize().map_err(Failed::from)
}

/// Prepares a histogram with 17 GB of counts when less than that is free.
fn no_memory_for_counts(device: &Device) -> Result<(), Failed> {
    const BYTES: u64 = 8 * 127 * ((1 << 24) + 3);
    let many = Histogram::even(1 << 24, 0.0f32..1.0).channels(127).prepare(device)?;
    let few = Histogram::even(2, 0.0f32..1.0).prepare(device)?;
    let samples = device.upload(&[0.1, 0.7, 0.8])?;
    let mut taken = Vec::new();
    while let Ok(buffer) = device.zeroed::<u8>(BYTES as usize) {
        taken.push(buffer);
    }
    let error = many.apply(&[]).err();
    ensure(matches!(error, Some(Error::OutOfDeviceMemory { requested: BYTES, .. })), || format!("{error:?}"))?;
    drop(taken);

    let mut counts = device.zeroed(few.counts_len())?;
    few.apply_into(&samples, &mut counts)?;
    equal(counts.download()?, vec![1, 2, 0, 0, 0])
}

/// Returns the error for an operand of the device `actual` in an operation on the device `expected`.
fn mismatch(operand: &'static str, expected: &Device, actual: &Device) -> Option<Error> {
    let [expected, actual] = [expected, actual].map(|device| device.info().name.clone());
    Some(Error::DeviceMismatch { operand, expected, actual })
}

fn buffers_of_another_handle(device: &Device) -> Result<(), Failed> {
    let filter = Filter1d::correlate(&[1, 1, 1]).prepare(device)?;
    let (mine, clone) = (device.upload(&[1, 2, 3])?, device.clone());
    let mut output = clone.upload(&[-1, -2, -3])?;
    for other in [Device::cuda(0)?, Device::cpu()] {
        let mut foreign = other.upload(&[7, 8, 9])?;
        equal(filter.apply_into(&foreign, &mut output).err(), mismatch("the input", device, &other))?;
        equal(filter.apply_into(&mine, &mut foreign).err(), mismatch("the output", device, &other))?;
        equal(output.copy_from(&foreign).err(), mismatch("the source", device, &other))?;
        equal(foreign.copy_from(&mine).err(), mismatch("the source", &other, device))?;
        equal((foreign.download()?, output.download()?), (vec![7, 8, 9], vec![-1, -2, -3]))?;
    }
    filter.apply_into(&mine, &mut output)?;
    equal(output.download()?, vec![3, 6, 5])
}

fn counts_of_another_handle(device: &Device) -> Result<(), Failed> {
    let histogram = Histogram::low_bits(1).prepare(device)?;
    let (samples, mut counts) = (device.upload(&[1u16, 2])?, device.upload(&[7u64; 5])?);
    for other in [Device::cuda(0)?, Device::cpu()] {
        let (foreign, mut foreign_counts) = (other.upload(&[1u16, 2])?, other.upload(&[9u64; 5])?);
        let weights = other.upload(&[1.0f32, 2.0])?;
        equal(histogram.accumulate_into(&foreign, &mut counts).err(), mismatch("the input", device, &other))?;
        equal(histogram.accumulate_into(&samples, &mut foreign_counts).err(), mismatch("the counts", device, &other))?;
        equal(histogram.counts(&foreign_counts).err(), mismatch("the counts", device, &other))?;
        let weighted = histogram.apply_weighted(&samples, &weights);
        equal(weighted.err(), mismatch("the weights", device, &other))?;
        equal((counts.download()?, foreign_counts.download()?), (vec![7; 5], vec![9; 5]))?;
    }
    let error = Error::Length { what: "the buffer of counts", expected: 5, actual: 4 };
    equal(histogram.accumulate_into(&samples, &mut device.zeroed(4)?).err(), Some(error))?;
    histogram.accumulate_into(&samples, &mut counts)?;
    equal(counts.download()?, vec![8, 8, 7, 7, 7])
}

fn matrices_of_another_handle(device: &Device) -> Result<(), Failed> {
    let transpose = Transpose::new(2, 2).prepare(device)?;
    let in_place = Transpose::new(2, 2).prepare_in_place(device)?;
    let (mine, mut output) = (device.upload(&[1, 2, 3, 4])?, device.upload(&[-1, -2, -3, -4])?);
    for other in [Device::cuda(0)?, Device::cpu()] {
        let mut foreign = other.upload(&[6, 7, 8, 9])?;
        equal(transpose.apply_into(&foreign, &mut output).err(), mismatch("the input", device, &other))?;
        equal(transpose.apply_into(&mine, &mut foreign).err(), mismatch("the output", device, &other))?;
        equal(in_place.apply(&mut foreign).err(), mismatch("the data", device, &other))?;
        equal((foreign.download()?, output.download()?), (vec![6, 7, 8, 9], vec![-1, -2, -3, -4]))?;
    }
    transpose.apply_into(&mine, &mut output)?;
    equal(output.download()?, vec![1, 3, 2, 4])
}

fn wrong_length(device: &Device) -> Result<(), Failed> {
    let filter = Filter1d::correlate(&[1, 1, 1]).prepare(device)?;
    let (mut input, mut output) = (device.upload(&[1, 2, 3])?, device.upload(&[-1, -2])?);
    let error = Error::Length { what: "the output", expected: 3, actual: 2 };
    equal(filter.apply_into(&input, &mut output).err(), Some(error))?;
    let error = Error::Length { what: "the slice to upload", expected: 3, actual: 4 };
    equal(input.upload(&[9; 4]).err(), Some(error))?;
    let error = Error::Length { what: "the source", expected: 3, actual: 2 };
    equal(input.copy_from(&output).err(), Some(error))?;
    equal((input.download()?, output.download()?), (vec![1, 2, 3], vec![-1, -2]))
}
