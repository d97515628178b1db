//! Driver calls that fail: each call of each operation in turn, with each kind of fault.
//!
//! The fake driver fails as the file `FAKE_FAULTS` says. A child process runs an operation again and again; each time another call fails.
//! The operation must then return an error, unless the call releases something. After a single failure the same device works as before,
//! and nothing stays allocated. A device that is lost stays lost, and a new one works. If one of two GPUs is lost, the other one and its
//! buffers can be used.

use super::contexts::{open, run};
use super::fake::trial;
use super::{Failed, Trial};
use crate::common::ensure;
use slm::distributed::{Devices, DistributedBuffer, DistributedError, Link};
use slm::filter1d::{ErrorBound, Filter1dAlgorithm};
use slm::ndarray::Array2;
use slm::{Arithmetic, Boundary, Device, Error, Filter1d, Filter2d, Histogram, Life, Map, Result, Transpose};
use std::cell::Cell;
use std::io::Cursor;
use std::path::PathBuf;
use std::{env, fs, io};

/// An operation that gets a device and uses it.
type Operation = fn(&Device) -> Result<()>;

const OPERATIONS: [(&str, Operation); 14] = [
    ("filter1d", filter1d),
    ("transforms", transforms),
    ("filter2d", filter2d),
    ("histogram", histogram),
    ("weights", weights),
    ("transpose", transpose),
    ("in_place", in_place),
    ("life", life),
    ("pointwise", pointwise),
    ("slices", slices),
    ("queues", queues),
    ("stream", stream),
    ("weighted_stream", weighted_stream),
    ("distributed", distributed),
];

/// A kind of fault.
struct Fault {
    name: &'static str,
    code: i32,
    /// Whether all further calls fail, too.
    lasts: bool,
}

const FAULTS: [Fault; 4] = [
    Fault { name: "out of memory", code: 2, lasts: false },
    Fault { name: "out of resources", code: 701, lasts: false },
    Fault { name: "launch failed", code: 719, lasts: true },
    Fault { name: "context lost", code: 709, lasts: true },
];

/// Calls that release something, whose failure nobody can do anything about. All others must be noticed.
const RELEASES: [&str; 7] = [
    "cuMemFreeAsync",
    "cuMemFreeHost",
    "cuStreamDestroy_v2",
    "cuEventDestroy_v2",
    "cuModuleUnload",
    "cuDevicePrimaryCtxRelease_v2",
    // Asks whether memory is pinned. Other memory is copied, more slowly.
    "cuPointerGetAttribute",
];

/// Every other call follows one of these.
const ENTER: &str = "cuCtxSetCurrent";

const WAIT: &str = "cuStreamSynchronize";

/// Prefix of the names of tasks.
const TASK: &str = "faults of ";

/// Task of the operations on two GPUs.
const TWO_GPUS: &str = "one of two GPUs is lost";

pub(super) fn runs(task: &str) -> bool {
    if task == TWO_GPUS {
        lose_one_everywhere();
        return true;
    }
    let operation = OPERATIONS.iter().find(|(name, _)| task.strip_prefix(TASK) == Some(name));
    operation.map(|(_, operation)| fail_everywhere(*operation)).is_some()
}

pub(super) fn trials() -> Vec<Trial> {
    let operations = OPERATIONS.iter().map(|&(name, _)| trial(&format!("faults::{name}"), move || check(name)));
    operations.chain([trial("faults::one_of_two_gpus", one_of_two_gpus)]).collect()
}

/// The second GPU is lost at each call of an operation on two.
fn one_of_two_gpus() -> std::result::Result<(), Failed> {
    let printed = run(TWO_GPUS, &[("FAKE_GPUS", "2")])?.0;
    ensure(printed.lines().count() > 20, || format!("too few faults:\n{printed}"))
}

fn lose_one_everywhere() {
    let driver = Control::new();
    for number in 1.. {
        driver.clear();
        let devices = Devices::all().expect("the driver has two GPUs");
        assert_eq!((devices.len(), devices.link(0, 1)), (2, Some(Link::Peer)));
        let filter = Filter1d::correlate(&[1, 2, 3]).prepare_on(&devices).expect("no fault yet");
        let mut x = devices.distribute(&[1; 3000]).expect("no fault yet");
        driver.set(&format!("{number} 719 1 1"));
        // Each reads samples of the other one.
        let result = filter.apply(&x).and_then(|y| y.download().map(drop));
        let Some(call) = driver.failed() else { break };
        println!("{number} {call}");
        assert!(is_lost(&result) || RELEASES.contains(&&*call) || call == ENTER, "call {number}, {call}: {result:?}");
        use_first(&devices, &mut x).unwrap_or_else(|error| panic!("call {number}, {call}, then {error:?}"));
    }
}

/// Uses the first GPU and its buffer, from which the second one may have read.
fn use_first(devices: &Devices, x: &mut DistributedBuffer<i32>) -> Result<()> {
    let (Some(device), Some(mut part)) = (devices.get(0), x.part_mut(0)) else {
        panic!("both GPUs are of this process")
    };
    let filter = Filter1d::correlate(&[1, 2, 3]).prepare(device)?;
    // A kernel writes what the second GPU has read, then the host does.
    filter.apply_into(&device.upload(&vec![1; part.len()])?, &mut part)?;
    part.upload(&vec![2; part.len()])?;
    filter.apply(&[1, 2, 3])?;
    filter.apply(part.as_slice())?.download()?;
    device.synchronize()
}

/// Runs an operation in a child process, which prints a line for each call and fault.
fn check(name: &str) -> std::result::Result<(), Failed> {
    let printed = run(&format!("{TASK}{name}"), &[])?.0;
    let count = |fault: &Fault| printed.lines().filter(|line| line.starts_with(fault.name)).count();
    // To open the device takes more calls.
    ensure(FAULTS.iter().all(|fault| count(fault) > 20), || format!("too few faults:\n{printed}"))
}

/// Runs an operation until no call fails any more, for each kind of fault.
fn fail_everywhere(operation: Operation) {
    let driver = Control::new();
    driver.clear();
    assert_eq!(operation(&open()), Ok(()), "without a fault");
    for fault in &FAULTS {
        for number in 1.. {
            let before = driver.live();
            let Some(call) = fail_once(&driver, operation, fault, number) else { break };
            println!("{}: {number} {call}", fault.name);
            driver.clear();
            assert_eq!(operation(&open()), Ok(()), "a new device after {call}: {}", fault.name);
            // What was not released stays allocated.
            let kept = u32::from(call == ENTER || RELEASES.contains(&&*call));
            let kept = if fault.lasts { u32::MAX } else { before + kept };
            assert!(driver.live() <= kept, "{before} allocations, then {}: {call}: {}", driver.live(), fault.name);
        }
    }
}

/// Opens a device and runs an operation, while call `number` fails. Returns the call, or `None` if there are fewer calls.
fn fail_once(driver: &Control, operation: Operation, fault: &Fault, number: u32) -> Option<String> {
    driver.fail(number, fault);
    let device = Device::cuda(0);
    let result = device.as_ref().map_err(Clone::clone).and_then(operation);
    let call = driver.failed();
    if let Some(call) = &call {
        let what = || format!("call {number}, {call}: {}: {result:?}", fault.name);
        let next = driver.lines("then ");
        assert!(result.is_err() || may_fail(call, &next, fault), "{}, then {next:?}", what());
        if !fault.lasts {
            driver.clear();
        }
        if let Ok(device) = &device {
            let again = operation(device);
            assert!(if fault.lasts { is_lost(&again) } else { again == Ok(()) }, "{}, then {again:?}", what());
        }
    }
    drop(device);
    call.or_else(|| driver.failed())
}

/// Returns whether an operation succeeds although a call fails. `next` are the calls of the same thread after it.
fn may_fail(call: &str, next: &[String], fault: &Fault) -> bool {
    match call {
        // A release whose context cannot be entered is left out, or it does not need it. The next one enters it again.
        ENTER => next.iter().find(|next| *next != WAIT).is_none_or(|next| next == ENTER || RELEASES.contains(&&**next)),
        // A thread waits instead of a queue, unless the device is lost: a release cannot say so, but the next operation does.
        "cuEventCreate" | "cuEventRecord" | "cuStreamWaitEvent" => fault.lasts || next.iter().any(|next| next == WAIT),
        // A queue that is dropped waits first.
        WAIT => next.first().is_some_and(|next| next == "cuStreamDestroy_v2"),
        call => RELEASES.contains(&call),
    }
}

fn is_lost(result: &Result<()>) -> bool {
    result.as_ref().is_err_and(|error| matches!(error.root(), Error::DeviceLost { .. }))
}

/// The files that control the driver, and that it writes.
struct Control {
    faults: PathBuf,
    log: PathBuf,
    /// How often the faults have changed, so that each text is another one.
    changes: Cell<u32>,
}

impl Control {
    fn new() -> Self {
        let path = |name| PathBuf::from(env::var_os(name).expect("the parent sets it"));
        Control { faults: path("FAKE_FAULTS"), log: path("FAKE_LOG"), changes: Cell::new(0) }
    }

    /// Lets call `number` fail, counted from the next one on.
    fn fail(&self, number: u32, fault: &Fault) {
        self.set(&format!("{number} {} {} -1", fault.code, u8::from(fault.lasts)));
    }

    /// Lets no call fail.
    fn clear(&self) {
        self.set("none 0 0 0");
    }

    fn set(&self, text: &str) {
        fs::write(&self.log, "").expect("the log is written");
        self.changes.update(|changes| changes + 1);
        fs::write(&self.faults, format!("{text} {}", self.changes.get())).expect("the faults are written");
    }

    /// Returns what follows a word at the beginning of lines of the log.
    fn lines(&self, word: &str) -> Vec<String> {
        let log = fs::read_to_string(&self.log).expect("the log is read");
        log.lines().filter_map(|line| Some(line.strip_prefix(word)?.to_owned())).collect()
    }

    /// Returns the call that has failed.
    fn failed(&self) -> Option<String> {
        self.lines("fault ").pop()
    }

    /// Returns the number of allocations, while no device is open.
    fn live(&self) -> u32 {
        // The driver records it when the faults change.
        self.clear();
        let _ = Device::cuda(0);
        self.lines("live ").pop().and_then(|live| live.parse().ok()).expect("the driver has recorded it")
    }
}

fn filter1d(device: &Device) -> Result<()> {
    let filter = Filter1d::correlate(&[1, 2, 3]).boundary(Boundary::Nearest).prepare(device)?;
    let (x, mut y) = (device.upload(&[1; 100])?, device.zeroed(100)?);
    filter.apply_into(&x, &mut y)?;
    filter.apply_into(y.slice(1..99)?, &mut [0; 98])?;
    device.synchronize()?;
    y.download()?;
    filter.apply(&[1, 2, 3]).map(drop)
}

/// Filters by transforms, as requested and as chosen, of lines for which there are different kernels.
fn transforms(device: &Device) -> Result<()> {
    let filter = Filter1d::correlate(&[1.0f32; 300]);
    for filter in [filter.clone().algorithm(Filter1dAlgorithm::Fft), filter.error_bound(ErrorBound::PerSegment)] {
        let filter = filter.prepare(device)?;
        filter.apply(&[1.0; 400])?;
        filter.apply(&[1.0; 9000])?;
    }
    Ok(())
}

fn filter2d(device: &Device) -> Result<()> {
    let picture = Array2::<f32>::zeros((40, 50));
    Filter2d::<f32, _>::gaussian(2.0).prepare(device)?.apply(&picture)?;
    Filter2d::<f32, _>::box_blur(5, 5).prepare(device)?.apply(&picture).map(drop)
}

fn histogram(device: &Device) -> Result<()> {
    let bytes = Histogram::bytes().prepare(device)?;
    let mut counts = device.zeroed(bytes.counts_len())?;
    bytes.accumulate_into(&[1, 2, 3], &mut counts)?;
    bytes.counts(&counts)?;
    bytes.apply(&[1, 2, 3])?;
    Histogram::edges(&[0.0f32, 1.0, 7.0]).prepare(device)?.apply(&[1.0, 2.0]).map(drop)
}

fn weights(device: &Device) -> Result<()> {
    let weighted = Histogram::bytes().prepare(device)?.apply_weighted(&[1, 2, 3], &[1.0f32, 2.0, 3.0])?;
    weighted.sums.bins().map(drop)
}

fn transpose(device: &Device) -> Result<()> {
    Transpose::<f32>::new(30, 50).prepare(device)?.apply(&vec![0.0; 1500]).map(drop)
}

fn in_place(device: &Device) -> Result<()> {
    let transposition = Transpose::<u8>::new(30, 50).prepare_in_place(device)?;
    let mut matrix = device.upload(&[1u8; 1500])?;
    transposition.apply(&mut matrix)?;
    matrix.download().map(drop)
}

fn life(device: &Device) -> Result<()> {
    let mut board = Life::new(100, 100).prepare(device)?;
    board.set(3, 4, true)?;
    board.step(5)?;
    board.population()?;
    board.cells().map(drop)
}

fn pointwise(device: &Device) -> Result<()> {
    let (a, b) = (device.upload(&[1.0f32, 2.0])?, device.upload(&[3.0f32, 4.0])?);
    let sum = Arithmetic::<f32>::add().prepare(device)?.apply(&a, &b)?;
    Map::<f32>::sqrt().prepare(device)?.apply(&sum)?.download().map(drop)
}

/// Slices that are not aligned, which are copied.
fn slices(device: &Device) -> Result<()> {
    let square = Map::<u8>::square().prepare(device)?;
    let (x, mut y) = (device.upload(&[1u8; 100])?, device.zeroed::<u8>(100)?);
    square.apply_into(x.slice(1..50)?, &mut y.slice_mut(3..52)?)?;
    y.download().map(drop)
}

fn queues(device: &Device) -> Result<()> {
    let (other, mut pinned) = (device.queue()?, device.pinned::<i32>(100)?);
    let (x, mut y) = (device.upload(&[1; 100])?, other.zeroed(100)?);
    let begin = other.mark()?;
    Filter1d::correlate(&[1, 2, 3]).prepare(&other)?.apply_into(&x, &mut y)?;
    begin.elapsed_until(&other.mark()?)?;
    y.download_into(&mut pinned)
}

fn stream(device: &Device) -> Result<()> {
    let sum = Filter1d::correlate(&[1u8, 1, 1].map(f32::from)).samples::<u8>().prepare(device)?;
    sum.stream(&[1; 50][..], io::sink()).memory(1).run()?;
    Histogram::bytes().prepare(device)?.stream(&[1; 20][..])?.memory(1).run().map(drop)
}

fn weighted_stream(device: &Device) -> Result<()> {
    let (samples, weights) = (Cursor::new([1; 20]), Cursor::new([0; 80]));
    Histogram::bytes().prepare(device)?.stream_weighted::<f32>(samples, weights)?.memory(200).run().map(drop)
}

fn distributed(device: &Device) -> Result<()> {
    let devices = Devices::new([device.clone(), Device::cpu()])?;
    let filter = Filter1d::correlate(&[1, 2, 3]).prepare_on(&devices)?;
    with_course(with_course(filter.apply(&with_course(devices.distribute(&[1; 300]))?))?.download())?;
    let histogram = Histogram::bytes().prepare_on(&devices)?;
    let counts = with_course(histogram.apply(&with_course(devices.distribute(&[1u8; 300]))?))?;
    assert_eq!(counts.bins()?.len(), 256);
    let transpose = Transpose::<i32>::new(20, 30).prepare_on(&devices)?;
    with_course(transpose.apply(&with_course(devices.zeroed(20, 30))?))?;
    let mut board = Life::new(200, 100).prepare_on(&devices)?;
    with_course(board.step(100))?;
    with_course(board.population())?;
    with_course(devices.synchronize())
}

/// Checks that an error says how far an operation came, and with which member.
fn with_course<V>(result: Result<V>) -> Result<V> {
    if let Err(error) = &result {
        let Error::Distributed(DistributedError::Incomplete { member: Some(_), done, total, .. }) = error else {
            panic!("{error:?}")
        };
        assert!(done <= total, "{error:?}");
    }
    result
}
