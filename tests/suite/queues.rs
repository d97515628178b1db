//! Several queues of one device: random programs give what one queue gives.
//!
//! Emulated devices check that queues wait for each other, whatever the results are. On a GPU, long buffers give accesses time to be
//! mixed up.

use crate::common::{equal, is_slow, on_every_backend, same};
use libtest_mimic::{Failed, Trial};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use slm::filter1d::PreparedFilter1d;
use slm::{Backend, Buffer, Device, Error, Filter1d, Histogram};
use std::time::Duration;

const SEED: [u8; 32] = [0x44; 32];
const QUEUES: usize = 3;
const BUFFERS: usize = 3;

/// Weights of the filter that programs apply.
const WEIGHTS: [i32; 3] = [1, -2, 3];

pub(super) fn trials() -> Vec<Trial> {
    let trials = [
        on_every_backend("queues", "programs", programs),
        on_every_backend("queues", "threads", threads),
        on_every_backend("queues", "dropped_queues", dropped_queues),
        on_every_backend("queues", "counts", counts),
        on_every_backend("queues", "marks", marks),
        on_every_backend("queues", "pinned", pinned),
        on_every_backend("queues", "other_devices", other_devices),
    ];
    trials.into_iter().flatten().collect()
}

/// A step of a program. Buffers and queues are numbers.
#[derive(Clone, Debug)]
enum Step {
    /// Replaces a buffer by a new one of a queue.
    Create { queue: usize, buffer: usize, value: i32 },
    /// Writes a buffer from the host.
    Upload { buffer: usize, value: i32 },
    /// Copies a buffer on the device.
    Copy { from: usize, to: usize },
    /// Filters a buffer in a queue.
    Filter { queue: usize, from: usize, to: usize },
    /// Replaces a buffer by a filtered one, which belongs to the queue.
    Replace { queue: usize, from: usize, to: usize },
    /// Reads a buffer.
    Download { buffer: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let (queue, buffer, value) = (0..QUEUES, 0..BUFFERS, any::<i32>());
    let two = (0..BUFFERS, 1..BUFFERS).prop_map(|(from, distance)| (from, (from + distance) % BUFFERS));
    prop_oneof![
        1 => (queue.clone(), buffer.clone(), value)
            .prop_map(|(queue, buffer, value)| Step::Create { queue, buffer, value }),
        1 => (buffer.clone(), value).prop_map(|(buffer, value)| Step::Upload { buffer, value }),
        2 => two.clone().prop_map(|(from, to)| Step::Copy { from, to }),
        2 => (queue.clone(), two.clone()).prop_map(|(queue, (from, to))| Step::Filter { queue, from, to }),
        1 => (queue, two).prop_map(|(queue, (from, to))| Step::Replace { queue, from, to }),
        1 => buffer.prop_map(|buffer| Step::Download { buffer }),
    ]
}

/// Returns the elements of a buffer that was written with a value.
fn elements(len: usize, value: i32) -> Vec<i32> {
    (0..len as i32).map(|i| value.wrapping_mul(i | 1).wrapping_add(i)).collect()
}

/// Returns the filtered elements, by the formula.
fn filtered(x: &[i32]) -> Vec<i32> {
    let at = |i: usize| if i < x.len() { x[i] } else { 0 };
    (0..x.len())
        .map(|i| {
            let products = WEIGHTS.iter().zip([i.wrapping_sub(1), i, i + 1]).map(|(w, i)| w.wrapping_mul(at(i)));
            products.fold(0, i32::wrapping_add)
        })
        .collect()
}

fn filters(queues: &[Device]) -> slm::Result<Vec<PreparedFilter1d<i32>>> {
    queues.iter().map(|queue| Filter1d::correlate(&WEIGHTS).prepare(queue)).collect()
}

/// A device's queues, and what they need to run programs.
struct Machine {
    queues: Vec<Device>,
    filters: Vec<PreparedFilter1d<i32>>,
    /// Elements of each buffer.
    len: usize,
}

impl Machine {
    fn new(device: &Device, len: usize) -> slm::Result<Self> {
        let mut queues = vec![device.clone()];
        for _ in 1..QUEUES {
            queues.push(device.queue()?);
        }
        Ok(Machine { filters: filters(&queues)?, queues, len })
    }

    /// Runs a program on buffers of the first queue, and returns what it has downloaded, and what is in the buffers then.
    fn run(&self, program: &[Step]) -> slm::Result<Vec<Vec<i32>>> {
        let mut downloads = Vec::new();
        let mut buffers = Vec::new();
        for value in 0..BUFFERS {
            buffers.push(self.queues[0].upload(&elements(self.len, value as i32))?);
        }
        for step in program {
            match *step {
                Step::Create { queue, buffer, value } => {
                    buffers[buffer] = self.queues[queue].upload(&elements(self.len, value))?;
                }
                Step::Upload { buffer, value } => buffers[buffer].upload(&elements(self.len, value))?,
                Step::Copy { from, to } => {
                    let [from, to] = two(&mut buffers, from, to);
                    to.copy_from(from)?;
                }
                Step::Filter { queue, from, to } => {
                    let [from, to] = two(&mut buffers, from, to);
                    self.filters[queue].apply_into(&*from, to)?;
                }
                Step::Replace { queue, from, to } => buffers[to] = self.filters[queue].apply(&buffers[from])?,
                Step::Download { buffer } => downloads.push(buffers[buffer].download()?),
            }
        }
        downloads.extend(buffers.iter().map(Buffer::download).collect::<slm::Result<Vec<_>>>()?);
        drop(buffers);
        // Errors that a free cannot return come here.
        self.queues.iter().try_for_each(Device::synchronize)?;
        Ok(downloads)
    }

    /// Returns the same by the definition of the steps.
    fn expected(&self, program: &[Step]) -> Vec<Vec<i32>> {
        let mut downloads = Vec::new();
        let mut buffers: Vec<_> = (0..BUFFERS).map(|value| elements(self.len, value as i32)).collect();
        for step in program {
            match *step {
                Step::Create { buffer, value, .. } | Step::Upload { buffer, value } => {
                    buffers[buffer] = elements(self.len, value);
                }
                Step::Copy { from, to } => buffers[to] = buffers[from].clone(),
                Step::Filter { from, to, .. } | Step::Replace { from, to, .. } => {
                    buffers[to] = filtered(&buffers[from])
                }
                Step::Download { buffer } => downloads.push(buffers[buffer].clone()),
            }
        }
        downloads.extend(buffers);
        downloads
    }
}

/// Returns two different buffers.
fn two(buffers: &mut [Buffer<i32>], from: usize, to: usize) -> [&mut Buffer<i32>; 2] {
    buffers.get_disjoint_mut([from, to]).expect("different buffers")
}

/// Returns the number of programs, and the elements of a buffer.
fn effort(device: &Device) -> (u32, usize) {
    match device.info().backend {
        Backend::Cpu => (1_000, 33),
        Backend::Emulated => (4_000, 5),
        _ => (100, 1 << 18),
    }
}

fn programs(device: &Device) -> Result<(), Failed> {
    let (cases, len) = effort(device);
    let machine = Machine::new(device, len)?;
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &SEED);
    let result = TestRunner::new_with_rng(config, rng).run(&vec(step(), 1..12), |program| {
        let actual = machine.run(&program).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let is_same = actual == machine.expected(&program);
        // Not `prop_assert_eq`, which would print all elements.
        prop_assert!(is_same, "the results differ");
        Ok(())
    });
    Ok(result.map_err(|error| error.to_string())?)
}

/// Threads with a queue each read one buffer, and it is dropped while their work may still run.
fn threads(device: &Device) -> Result<(), Failed> {
    let len = if is_slow(device) { 40 } else { 1 << 18 };
    let machine = Machine::new(device, len)?;
    let numbers = elements(len, 7);
    let x = device.upload(&numbers)?;
    let results = std::thread::scope(|scope| {
        let threads: Vec<_> = machine.filters.iter().map(|filter| scope.spawn(|| filter.apply(&x))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<slm::Result<Vec<_>>>()
    })?;
    drop(x);
    let _other = device.upload(&vec![-1; len])?;
    let expected = filtered(&numbers);
    results.iter().try_for_each(|result| same(&result.download()?, &expected))
}

/// Handles can be dropped before the buffers that their queues have used.
fn dropped_queues(device: &Device) -> Result<(), Failed> {
    let len = if is_slow(device) { 40 } else { 1 << 18 };
    let numbers = elements(len, 3);
    let x = device.upload(&numbers)?;
    let y = {
        let queue = device.queue()?;
        Filter1d::correlate(&WEIGHTS).prepare(&queue)?.apply(&x)?
    };
    let mut z = device.zeroed(len)?;
    z.copy_from(&y)?;
    drop((x, y));
    same(&z.download()?, &filtered(&numbers))
}

/// Counts are cleared by the queue that owns them and added up by another one.
fn counts(device: &Device) -> Result<(), Failed> {
    let queue = device.queue()?;
    let histogram = Histogram::<u8>::even(4, 0..4).prepare(&queue)?;
    let x = device.upload(&[0u8, 1, 1, 3, 3, 3])?;
    // The bins, and samples below and above them and NaNs.
    let mut counts = device.upload(&[9u64; 7])?;
    histogram.apply_into(&x, &mut counts)?;
    // Without a download between the two, which would wait.
    histogram.apply_into(&x, &mut counts)?;
    equal(counts.download()?, vec![1, 2, 0, 3, 0, 0, 0])?;
    histogram.accumulate_into(&x, &mut counts)?;
    equal(counts.download()?, vec![2, 4, 0, 6, 0, 0, 0])
}

fn marks(device: &Device) -> Result<(), Failed> {
    let queue = device.queue()?;
    let filter = Filter1d::correlate(&WEIGHTS).prepare(&queue)?;
    let (x, mut y) = (device.upload(&elements(100, 1))?, queue.zeroed(100)?);
    let start = device.mark()?;
    filter.apply_into(&x, &mut y)?;
    let end = queue.mark()?;
    // Marks can be read in any order and more than once, and outlive their handles.
    drop((filter, queue));
    let time = start.elapsed_until(&end)?;
    equal(start.elapsed_until(&end)?, time)?;
    equal(start.elapsed_until(&start)?, Duration::ZERO)?;
    if time > Duration::ZERO {
        equal(end.elapsed_until(&start)?, Duration::ZERO)?;
    }
    let other = Device::cpu().mark()?;
    let name = |device: &Device| device.info().name.clone();
    let (expected, actual) = (name(device), "CPU".to_owned());
    let error = Error::DeviceMismatch { operand: "the later mark", expected, actual };
    equal(start.elapsed_until(&other), Err(error))
}

/// A device that is opened again has other memory.
fn other_devices(device: &Device) -> Result<(), Failed> {
    let again = Device::named(&device.info().selection.replace("CUDA device ", "cuda:").replace("requested", "cpu"))?;
    let x = again.queue()?.upload(&[1, 2, 3])?;
    let error = Filter1d::correlate(&WEIGHTS).prepare(&device.queue()?)?.apply(&x).err();
    let (expected, actual) = (device.info().name.clone(), again.info().name.clone());
    equal(error, Some(Error::DeviceMismatch { operand: "the input", expected, actual }))
}

/// Pinned memory is a slice, also of no elements, of any alignment, of other devices, and after its device was dropped.
fn pinned(device: &Device) -> Result<(), Failed> {
    let mut numbers = device.queue()?.pinned::<i32>(1_000)?;
    equal(numbers.iter().all(|number| *number == 0), true)?;
    numbers.copy_from_slice(&elements(1_000, 5));
    let filter = Filter1d::correlate(&WEIGHTS).prepare(device)?;
    let expected = filtered(&elements(1_000, 5));
    same(&filter.apply(&numbers)?, &expected)?;
    // A part that is not aligned to anything.
    same(&device.upload(&numbers[3..11])?.download()?, &elements(1_000, 5)[3..11])?;
    let y = filter.apply(&device.upload(&numbers)?)?;
    y.download_into(&mut numbers)?;
    same(&numbers, &expected)?;
    same(&Device::cpu().upload(&numbers)?.download()?, &expected)?;
    let mut none = device.pinned::<u8>(0)?;
    device.upload(&none)?.download_into(&mut none)?;
    equal(none.len(), 0)?;
    let factors = [usize::MAX as u64, 8];
    let error = Error::TooLarge { what: "a buffer", factors, limit: isize::MAX as u64 };
    equal(device.pinned::<f64>(usize::MAX).err(), Some(error))
}
