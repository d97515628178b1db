//! Buffers, contexts and streams of a program that uses `cust`.

use super::{Failed, Trial, equal, same, shared_trial};
use crate::common::Random;
use slm::cust::context::Context;
use slm::cust::context::legacy::{Context as LegacyContext, ContextFlags};
use slm::cust::memory::DeviceBuffer;
use slm::cust::stream::{Stream, StreamFlags};
use slm::filter1d::PreparedFilter1d;
use slm::{Boundary, Buffer, Device, Error, Filter1d, cust};
use std::sync::Arc;
use std::thread;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        shared_trial("interop::memory_of_cust_is_converted_both_ways", memory_of_cust_is_converted_both_ways),
        shared_trial("interop::fills_of_cust_are_waited_for", fills_of_cust_are_waited_for),
        shared_trial("interop::memory_of_cust_dropped_while_in_use", memory_of_cust_dropped_while_in_use),
        shared_trial("interop::memory_of_a_device_is_copied", memory_of_a_device_is_copied),
        shared_trial("interop::devices_share_the_programs_stream", devices_share_the_programs_stream),
        shared_trial("interop::a_device_outlives_the_program", a_device_outlives_the_program),
        shared_trial("interop::other_contexts_are_refused", other_contexts_are_refused),
        shared_trial("interop::another_gpu_is_refused", another_gpu_is_refused),
    ]
}

fn context(ordinal: u32) -> Result<Context, Failed> {
    Ok(Context::new(cust::device::Device::get_device(ordinal)?)?)
}

fn stream() -> Result<Arc<Stream>, Failed> {
    Ok(Arc::new(Stream::new(StreamFlags::DEFAULT, None)?))
}

fn filter(device: &Device) -> slm::Result<PreparedFilter1d<i32>> {
    Filter1d::correlate(&[3, -1, 2]).boundary(Boundary::Wrap).prepare(device)
}

/// Returns samples and their filtered outputs.
fn case(seed: u64, len: usize) -> Result<[Vec<i32>; 2], Failed> {
    let x = Random::new(seed).values(len);
    let y = filter(&Device::cpu())?.apply(&x)?;
    Ok([x, y])
}

/// Buffers are converted from `cust` and back, and keep their addresses.
fn memory_of_cust_is_converted_both_ways(device: &Device) -> Result<(), Failed> {
    let (context, filter) = (context(0)?, filter(device)?);
    for len in [1, 255, 100_003] {
        let [x, expected] = case(len as u64, len)?;
        let (input, output) = (DeviceBuffer::from_slice(&x)?, DeviceBuffer::<i32>::zeroed(len)?);
        let addresses = [&input, &output].map(|buffer| buffer.as_device_ptr());
        let (input, mut output) = (Buffer::from_cust(device, input)?, Buffer::from_cust(device, output)?);
        filter.apply_into(&input, &mut output)?;
        let (input, output) = (input.into_cust(&context)?, output.into_cust(&context)?);
        equal([&input, &output].map(|buffer| buffer.as_device_ptr()), addresses)?;
        same(&input.as_host_vec()?, &x)?;
        same(&output.as_host_vec()?, &expected)?;
    }
    equal(Buffer::from_cust(device, DeviceBuffer::<i32>::from_slice(&[])?)?.into_cust(&context)?.len(), 0)
}

/// Fills still run on the default stream when `cust` has returned. The device's stream does not wait for that stream by
/// itself.
fn fills_of_cust_are_waited_for(device: &Device) -> Result<(), Failed> {
    let _context = context(0)?;
    for byte in 1..=20 {
        let mut buffer = DeviceBuffer::<u8>::zeroed(64 << 20)?;
        buffer.set_8(byte)?;
        let taken = Buffer::from_cust(device, buffer)?;
        let bytes = taken.download()?;
        equal(bytes.iter().position(|found| *found != byte), None)?;
    }
    Ok(())
}

/// Buffers that are allocated afterwards could get the same addresses.
fn memory_of_cust_dropped_while_in_use(device: &Device) -> Result<(), Failed> {
    let (_context, filter) = (context(0)?, filter(device)?);
    let [x, expected] = case(1, 1 << 20)?;
    let mut results = Vec::new();
    for _ in 0..20 {
        let input = Buffer::from_cust(device, DeviceBuffer::from_slice(&x)?)?;
        let mut output = device.zeroed(x.len())?;
        filter.apply_into(&input, &mut output)?;
        drop(input);
        drop(DeviceBuffer::from_slice(&vec![-1; x.len()])?);
        results.push(output);
    }
    results.iter().try_for_each(|output| same(&output.download()?, &expected))
}

/// The copy is independent of the buffer and its device.
fn memory_of_a_device_is_copied(_device: &Device) -> Result<(), Failed> {
    let context = context(0)?;
    let [x, expected] = case(1, 100_003)?;
    let copies = (0..10).map(|_| {
        let device = Device::cuda(0)?;
        let mut output = device.zeroed(x.len())?;
        filter(&device)?.apply_into(&device.upload(&x)?, &mut output)?;
        Ok::<_, Failed>(output.into_cust(&context)?)
    });
    let copies = copies.collect::<Result<Vec<_>, _>>()?;
    copies.iter().try_for_each(|copy| same(&copy.as_host_vec()?, &expected))
}

/// Two handles and several threads share one stream. Each has its own buffers.
fn devices_share_the_programs_stream(_device: &Device) -> Result<(), Failed> {
    let (context, stream) = (context(0)?, stream()?);
    let devices = [Device::from_cust(&context, stream.clone())?, Device::from_cust(&context, stream.clone())?];
    let [x, expected] = case(1, 50_021)?;
    let work = |device: &Device| -> Result<(), Failed> {
        let filter = filter(device)?;
        for _ in 0..50 {
            let (input, mut output) = (device.upload(&x)?, device.zeroed(x.len())?);
            filter.apply_into(&input, &mut output)?;
            same(&output.download()?, &expected)?;
        }
        Ok(())
    };
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> = devices.iter().cycle().take(6).map(|device| scope.spawn(move || work(device))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })?;
    drop(devices);
    equal(Arc::strong_count(&stream), 1)?;
    Ok(stream.synchronize()?)
}

fn a_device_outlives_the_program(_device: &Device) -> Result<(), Failed> {
    let [x, expected] = case(1, 5000)?;
    let device = {
        let (context, stream) = (context(0)?, stream()?);
        Device::from_cust(&context, stream)?
    };
    same(&filter(&device)?.apply(&x)?, &expected)?;
    let (result, _) = device.time(|| filter(&device)?.apply(&x))?;
    same(&result, &expected)
}

/// A context other than the primary one ends when the program drops it.
fn other_contexts_are_refused(device: &Device) -> Result<(), Failed> {
    let primary = context(0)?;
    let gpu = cust::device::Device::get_device(0)?;
    let legacy = LegacyContext::create_and_push(ContextFlags::SCHED_AUTO, gpu)?;
    let (stream, buffer) = (stream()?, DeviceBuffer::from_slice(&[1, 2, 3])?);
    let error = |operand| Error::ForeignContext { operand, device: device.info().name.clone() };
    equal(Device::from_cust(&primary, stream).err(), Some(error("the stream")))?;
    let failure = Buffer::from_cust(device, buffer).err().ok_or("it is in the other context")?;
    equal(failure.error(), &error("the buffer"))?;
    drop(failure);
    drop(legacy);
    same(&device.upload(&[1, 2, 3])?.download()?, &[1, 2, 3])
}

/// Needs a machine with two GPUs.
fn another_gpu_is_refused(device: &Device) -> Result<(), Failed> {
    if Device::cuda(1).is_err() {
        return Ok(());
    }
    let context = context(1)?;
    let buffer = DeviceBuffer::from_slice(&[1, 2, 3])?;
    let error = Error::ForeignContext { operand: "the buffer", device: device.info().name.clone() };
    let failure = Buffer::from_cust(device, buffer).err().ok_or("it is on another GPU")?;
    equal(failure.error(), &error)?;
    let error = Error::ForeignContext { operand: "the context", device: device.info().name.clone() };
    equal(device.upload(&[1])?.into_cust(&context).err().map(Error::from), Some(error))?;
    same(&Buffer::from_cust(&Device::cuda(1)?, failure.into_buffer())?.download()?, &[1, 2, 3])
}
