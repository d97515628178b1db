//! Buffers, contexts and streams of a program that uses `cust`, with the fake driver of `contexts`.

use super::contexts::{open, run};
use super::fake::trial;
use super::{Failed, Trial, equal};
use slm::cust::context::Context;
use slm::cust::context::legacy::{Context as LegacyContext, ContextFlags};
use slm::cust::memory::DeviceBuffer;
use slm::cust::stream::{Stream, StreamFlags};
use slm::{Buffer, Device, Error, Filter1d};
use std::sync::Arc;

/// Tasks of child processes, by name.
const TASKS: [(&str, fn()); 5] = [
    ("cust_buffers", buffers),
    ("cust_copies", copies),
    ("cust_full", full),
    ("cust_legacy", legacy),
    ("cust_streams", streams),
];

/// Runs the task if it is one of these. Returns whether it is.
pub(super) fn runs(task: &str) -> bool {
    let found = TASKS.iter().find(|(name, _)| *name == task);
    found.map(|(_, work)| work()).is_some()
}

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("interop::memory_of_cust_is_converted_both_ways", memory_of_cust_is_converted_both_ways),
        trial("interop::memory_of_a_device_is_copied", memory_of_a_device_is_copied),
        trial("interop::a_failed_copy_returns_the_buffer", a_failed_copy_returns_the_buffer),
        trial("interop::other_contexts_are_refused", other_contexts_are_refused),
        trial("interop::a_device_uses_the_programs_stream", a_device_uses_the_programs_stream),
        Trial::test("driverless::interop::other_devices_are_refused", other_devices_are_refused),
    ]
}

/// Returns the driver's calls of a task, in order, that begin with one of `kinds`.
fn calls(task: &str, settings: &[(&str, &str)], kinds: &[&str]) -> Result<Vec<String>, Failed> {
    let (_, mut calls) = run(task, settings)?;
    calls.retain(|call| kinds.iter().any(|kind| call.starts_with(kind)));
    Ok(calls)
}

/// Lets `cust` initialise the driver, before any call of `slm`.
fn initialise() -> Context {
    slm::cust::quick_init().expect("the driver has one GPU")
}

fn buffers() {
    let context = initialise();
    let device = open();
    let buffer = DeviceBuffer::from_slice(&[1, 2, 3]).expect("there is memory");
    let address = buffer.as_device_ptr();
    let mut taken = Buffer::from_cust(&device, buffer).expect("it is in the primary context");
    assert_eq!((taken.len(), taken.download()), (3, Ok(vec![1, 2, 3])));
    taken.upload(&[4, 5, 6]).expect("the lengths are the same");
    let given = taken.into_cust(&context).expect("it came from cust");
    assert_eq!((given.as_device_ptr(), given.as_host_vec()), (address, Ok(vec![4, 5, 6])));
    drop(Buffer::from_cust(&device, given).expect("as before"));

    let nothing = Buffer::from_cust(&device, DeviceBuffer::<u8>::from_slice(&[]).expect("this takes no memory"));
    let nothing =
        nothing.and_then(|buffer| Buffer::from_cust(&device, buffer.into_cust(&context).expect("it is empty")));
    assert_eq!(nothing.expect("it is empty").download(), Ok(vec![]));
    assert!(device.zeroed::<u8>(0).expect("it is empty").into_cust(&context).expect("it is empty").is_empty());
}

fn memory_of_cust_is_converted_both_ways() -> Result<(), Failed> {
    let kinds = ["allocate", "copy", "free", "wait"];
    let calls = calls("cust_buffers", &[("FAKE_WAITS", "1")], &kinds)?;
    let expected = [
        &["allocate", "wait for context"][..],
        // Download, upload, into_cust.
        &["wait for stream"; 3],
        &["wait for context", "wait for stream", "free"],
        // Empty buffers from cust, to it and from it; the download; the device's empty buffer; the end of the queue.
        &["wait for context", "wait for stream", "wait for context"],
        &["wait for stream"; 3],
    ];
    equal(calls, expected.concat().into_iter().map(str::to_owned).collect())
}

fn copies() {
    let context = initialise();
    let buffer = open().upload(&[7, 8, 9]).expect("there is memory");
    let copy = buffer.into_cust(&context).expect("there is memory");
    assert_eq!(copy.as_host_vec(), Ok(vec![7, 8, 9]));
}

fn memory_of_a_device_is_copied() -> Result<(), Failed> {
    let calls = calls("cust_copies", &[], &["allocate", "copy", "free"])?;
    equal(calls, ["allocate", "copy", "free"].map(str::to_owned).to_vec())
}

fn full() {
    let (context, device) = (initialise(), open());
    let buffer = device.upload(&[7, 8, 9]).expect("the pool has memory");
    let failure = buffer.into_cust(&context).expect_err("nothing else is free");
    assert_eq!(failure.error(), &Error::OutOfDeviceMemory { requested: 12, available: Some(1 << 32) });
    assert_eq!(failure.into_buffer().download(), Ok(vec![7, 8, 9]));
}

fn a_failed_copy_returns_the_buffer() -> Result<(), Failed> {
    equal(calls("cust_full", &[("FAKE_FULL", "1")], &["allocate", "copy"])?, vec!["allocate".to_owned()])
}

/// Tests a context that ends when the program drops it.
fn legacy() {
    let context = initialise();
    let gpu = slm::cust::device::Device::get_device(0).expect("the driver has one GPU");
    let legacy = LegacyContext::create_and_push(ContextFlags::SCHED_AUTO, gpu).expect("there can be another one");
    let stream = Arc::new(Stream::new(StreamFlags::DEFAULT, None).expect("there can be many"));
    let buffer = DeviceBuffer::from_slice(&[1, 2, 3]).expect("there is memory");
    let error = |operand| Error::ForeignContext { operand, device: "fake GPU".to_owned() };

    assert_eq!(Device::from_cust(&context, stream).expect_err("the stream is in the other one"), error("the stream"));
    let failure = Buffer::from_cust(&open(), buffer).expect_err("the buffer is in the other one");
    assert_eq!(failure.error(), &error("the buffer"));
    assert_eq!(failure.into_buffer().as_host_vec(), Ok(vec![1, 2, 3]));
    drop(legacy);

    for device in [Device::cpu(), Device::named("emulated").expect("it can be named")] {
        let failure = device.upload(&[1, 2, 3]).expect("there is memory").into_cust(&context);
        let failure = failure.expect_err("it is not on a GPU");
        assert_eq!(failure.error(), &no_memory(&device));
        assert_eq!(failure.into_buffer().download(), Ok(vec![1, 2, 3]));
    }
}

fn other_contexts_are_refused() -> Result<(), Failed> {
    // The refused stream and buffer are freed exactly once.
    let ends = calls("cust_legacy", &[], &["retain", "release", "stream", "end of stream", "allocate", "free"])?;
    let count = |name: &str| ends.iter().filter(|call| *call == name).count();
    equal(
        [count("retain"), count("stream"), count("allocate")],
        [count("release"), count("end of stream"), count("free")],
    )
}

/// The program drops its context and stream before the device runs.
fn streams() {
    let context = initialise();
    let stream = Arc::new(Stream::new(StreamFlags::DEFAULT, None).expect("there can be many"));
    let device = Device::from_cust(&context, stream.clone()).expect("both are of the primary context");
    assert_eq!(device.to_string(), "CUDA device 0, fake GPU");
    let filter = Filter1d::correlate(&[1]).prepare(&device).expect("the module is good");
    let (x, mut y) = (device.zeroed(3).expect("there is memory"), device.zeroed(3).expect("there is memory"));
    filter.apply_into(&x, &mut y).expect("the lengths are right");
    drop((context, stream));
    device.synchronize().expect("the stream is there");
}

fn a_device_uses_the_programs_stream() -> Result<(), Failed> {
    let (_, calls) = run("cust_streams", &[])?;
    let expected = [
        &["retain", "stream", "retain", "pool", "load", "launch on the program's stream", "release"][..],
        &["end of stream", "unload", "end of pool", "release"],
    ];
    equal(calls, expected.concat().into_iter().map(str::to_owned).collect())
}

/// This needs no driver.
fn other_devices_are_refused() -> Result<(), Failed> {
    for device in [Device::cpu(), Device::named("emulated")?] {
        let failure =
            Buffer::from_cust(&device, DeviceBuffer::<f32>::from_slice(&[])?).expect_err("it has no such memory");
        equal(failure.to_string(), no_memory(&device).to_string())?;
        equal(Error::from(failure), no_memory(&device))?;
    }
    Ok(())
}

fn no_memory(device: &Device) -> Error {
    Error::DeviceUnsupported { device: device.info().name.clone(), lacks: "CUDA memory" }
}
