//! The order of tensors of DLPack, with the fake driver of `contexts`.

use super::contexts::{open, run};
use super::fake::trial;
use super::{Failed, Trial, equal};
use slm::dlpack::ConsumerStream;
use slm::dlpark::ffi::DLDevice;
use slm::dlpark::versioned::Dlpack;
use slm::ndarray::array;
use slm::{Buffer, Buffer2, Device};
use std::thread;

/// Tasks of child processes, by name.
const TASKS: [(&str, fn()); 5] = [
    ("dlpack_default", || give(ConsumerStream::LEGACY_DEFAULT)),
    ("dlpack_thread", || give(ConsumerStream::PER_THREAD_DEFAULT)),
    ("dlpack_unordered", || give(ConsumerStream::UNORDERED)),
    ("dlpack_readers", readers),
    ("dlpack_exchange", exchange),
];

/// Runs the task if it is one of these. Returns whether it is.
pub(super) fn runs(task: &str) -> bool {
    #[cfg(cust)]
    if task == "dlpack_context" {
        context::task();
        return true;
    }
    let found = TASKS.iter().find(|(name, _)| *name == task);
    found.map(|(_, work)| work()).is_some()
}

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("dlpack::the_default_stream_waits", the_default_stream_waits),
        trial("dlpack::streams_that_may_be_gone_are_waited_for_with_the_context", streams_that_may_be_gone),
        trial("dlpack::all_queues_are_waited_for", all_queues_are_waited_for),
        trial("dlpack::queues_exchange_memory", queues_exchange_memory),
        #[cfg(cust)]
        trial("dlpack::the_context_of_the_consumer_stays_current", context::stays_current),
    ]
}

/// Checks what happens to streams in a task, in order. Each line has the stream before the colon.
fn calls(task: &str, expected: &[&str]) -> Result<(), Failed> {
    let (_, mut calls) = run(task, &[("FAKE_EVENTS", "1")])?;
    calls.retain(|call| call.contains(": ") || call == "wait for context");
    equal(calls, expected.iter().map(|call| (*call).to_owned()).collect())
}

/// Gives a buffer to a consumer, which deletes it in another thread.
fn give(consumer: ConsumerStream) {
    let device = open();
    let tensor: Dlpack =
        device.upload(&[1, 2, 3]).expect("there is memory").into_dlpack(consumer).expect("it is on a GPU");
    let description = tensor.validate_export().expect("it is valid");
    assert_eq!((description.device(), description.shape()), (DLDevice::cuda(0), &[3][..]));
    thread::spawn(|| drop(tensor)).join().expect("it does not panic");
}

fn the_default_stream_waits() -> Result<(), Failed> {
    let expected = [
        "stream 1: synchronised", // The upload.
        "stream 1: event",
        "legacy stream: waits",
        // The deletion, and the end of the queue.
        "legacy stream: event",
        "stream 1: waits",
        "stream 1: free",
        "stream 1: synchronised",
    ];
    calls("dlpack_default", &expected)
}

fn streams_that_may_be_gone() -> Result<(), Failed> {
    let expected = [
        "stream 1: synchronised",
        "stream 1: event",
        "stream of the thread: waits",
        "wait for context",
        "stream 1: free",
        "stream 1: synchronised",
    ];
    calls("dlpack_thread", &expected)?;
    let expected = ["stream 1: synchronised", "wait for context", "stream 1: free", "stream 1: synchronised"];
    calls("dlpack_unordered", &expected)
}

/// Another queue has written the matrix.
fn readers() {
    let device = open();
    let queue = device.queue().expect("there can be many");
    let mut matrix = Buffer2::upload_pitched(&device, &array![[1, 2], [3, 4]], 4).expect("there is memory");
    let source = Buffer2::upload(&queue, &array![[5, 6], [7, 8]]).expect("there is memory");
    matrix.copy_from(&source).expect("the shapes are the same");
    let tensor: Dlpack = source.into_dlpack(ConsumerStream::LEGACY_DEFAULT).expect("it is on a GPU");
    assert_eq!(tensor.validate().expect("it is valid").strides(), Some(&[2, 1][..]));
    let tensor: Dlpack = matrix.into_dlpack(ConsumerStream::UNORDERED).expect("it is on a GPU");
    assert_eq!(tensor.validate().expect("it is valid").strides(), Some(&[4, 1][..]));
    std::process::exit(0);
}

fn all_queues_are_waited_for() -> Result<(), Failed> {
    let expected = [
        "stream 1: synchronised",
        "stream 2: synchronised",
        // The first queue reads what the second has written.
        "stream 2: event",
        "stream 1: waits",
        // The second queue, which owns it, waits for the reader, and the consumer for the second queue.
        "stream 1: event",
        "stream 2: waits",
        "stream 2: event",
        "legacy stream: waits",
    ];
    calls("dlpack_readers", &expected)
}

/// Handles that were opened apart exchange memory as other libraries do.
fn exchange() {
    let [producer, consumer] = [open(), open()];
    let tensor = |device: &Device, stream| {
        let matrix = Buffer2::upload_pitched(device, &array![[1, 2], [3, 4]], 4).expect("there is memory");
        let tensor: Dlpack = matrix.into_dlpack(stream).expect("it is on a GPU");
        tensor
    };
    let given = tensor(&producer, consumer.dlpack_stream());
    let address = given.validate().expect("it is valid").data_ptr();
    let taken = Buffer2::<i32>::from_dlpack(&consumer, given).expect("it is on the same GPU");
    assert_eq!((taken.pitch(), taken.download()), (4, Ok(array![[1, 2], [3, 4]])));
    // It is given to the producer, which takes it as a sequence.
    let given: Dlpack = taken.into_buffer().into_dlpack(producer.dlpack_stream()).expect("it is on a GPU");
    assert_eq!(given.validate().expect("it is valid").data_ptr(), address);
    let taken = Buffer::<i32>::from_dlpack(&producer, given).expect("it is on the same GPU");
    assert_eq!(taken.download(), Ok(vec![1, 2, 0, 0, 3, 4]));
    drop(consumer);
    drop(taken);
    std::process::exit(0);
}

fn queues_exchange_memory() -> Result<(), Failed> {
    let expected = [
        "stream 1: synchronised", // The upload.
        "stream 1: event",
        "stream 2: waits",
        // Whatever stream the producer made the tensor ready for.
        "wait for context",
        "stream 2: synchronised", // The download.
        "stream 2: event",
        "stream 1: waits",
        "wait for context",
        "stream 1: synchronised", // The download.
        // The second tensor is deleted after the work with it, and its queue waits for the consumer's.
        "stream 1: synchronised",
        "stream 1: event",
        "stream 2: waits",
        // The same for the first tensor.
        "stream 2: synchronised",
        "stream 2: event",
        "stream 1: waits",
        "stream 1: free",
        "stream 2: synchronised",
    ];
    calls("dlpack_exchange", &expected)
}

#[cfg(cust)]
pub(super) mod context {
    use super::*;
    use slm::Error;
    use slm::cust::context::legacy::{Context as LegacyContext, ContextFlags};
    use slm::cust::memory::DeviceBuffer;

    /// A thread of the consumer deletes a tensor while its own context is current.
    pub(super) fn task() {
        let _primary = slm::cust::quick_init().expect("the driver has one GPU");
        let device = open();
        let buffer = device.upload(&[1, 2, 3]).expect("there is memory");
        let tensor: Dlpack = buffer.into_dlpack(ConsumerStream::LEGACY_DEFAULT).expect("it is on a GPU");
        let gpu = slm::cust::device::Device::get_device(0).expect("the driver has one GPU");
        let context = LegacyContext::create_and_push(ContextFlags::SCHED_AUTO, gpu).expect("there can be another one");
        drop(tensor);
        let buffer = DeviceBuffer::from_slice(&[1, 2, 3]).expect("there is memory");
        let failure = Buffer::from_cust(&device, buffer).expect_err("the buffer is in the other context");
        assert!(matches!(failure.error(), Error::ForeignContext { .. }));
        drop((failure, context));
    }

    pub(super) fn stays_current() -> Result<(), Failed> {
        run("dlpack_context", &[]).map(drop)
    }
}
