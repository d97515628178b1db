//! Driver calls that fail: each call of each operation in turn, with each kind of fault.
//!
//! The fake driver fails as the file `FAKE_FAULTS` says. A child process runs an operation again and again; each time another call fails.
//! The operation must then return an error, unless the call releases something; then it has launched and copied the same as without a
//! fault. After a single failure the same device works as before, and nothing stays allocated. A device that is lost stays lost. A new one
//! works; NVIDIA's driver allows it to a new process only. Memory of a lost device is lost with it, but contexts, pools, pinned memory,
//! streams, events and modules must be released. If one of two GPUs is lost, the other one and its buffers can be used. The fake driver
//! computes nothing, so the contents of outputs are not compared.
//!
//! | file | contents |
//! |---|---|
//! | `operations.rs` | operations that fail |
//! | `table.rs` | the table of the guide for operators, which has what comes of each fault |

mod operations;
mod table;

use super::contexts::{open, run};
use super::fake::trial;
use super::{Failed, Trial};
use crate::common::ensure;
use operations::{OPERATIONS, Operation};
use slm::distributed::{Devices, DistributedBuffer, Link};
use slm::{Device, Error, Filter1d, Histogram, Result};
use std::cell::Cell;
use std::path::PathBuf;
use std::{env, fs};

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
const RELEASES: [&str; 9] = [
    "cuMemFreeAsync",
    "cuMemFree_v2",
    "cuMemFreeHost",
    "cuMemPoolDestroy",
    "cuStreamDestroy_v2",
    "cuEventDestroy_v2",
    "cuModuleUnload",
    "cuDevicePrimaryCtxRelease_v2",
    // Asks whether memory is pinned. Other memory is copied, more slowly.
    "cuPointerGetAttributes",
];

/// Every other call follows one of these.
const ENTER: &str = "cuCtxSetCurrent";

const WAIT: &str = "cuStreamSynchronize";

/// The first call for a tensor that is deleted.
const CURRENT: &str = "cuCtxGetCurrent";

/// Prefix of the names of tasks.
const TASK: &str = "faults of ";

/// Task of the operations on two GPUs.
const TWO_GPUS: &str = "one of two GPUs is lost";

/// The name of the trial of data on the host that are computed in parts, and its task.
const IN_PARTS: &str = "in_parts";

pub(super) fn runs(task: &str) -> bool {
    if task == IN_PARTS {
        fail_first_calls();
        return true;
    }
    if task == TWO_GPUS {
        lose_one_everywhere();
        return true;
    }
    let operation = OPERATIONS.iter().find(|(name, _)| task.strip_prefix(TASK) == Some(name));
    operation.map(|(_, operation)| fail_everywhere(*operation)).is_some()
}

pub(super) fn trials() -> Vec<Trial> {
    let operations = OPERATIONS.iter().map(|&(name, _)| trial(&format!("faults::{name}"), move || check(name)));
    let others = [
        trial("faults::one_of_two_gpus", one_of_two_gpus),
        trial(&format!("faults::{IN_PARTS}"), || table::check(IN_PARTS, &run(IN_PARTS, &[])?.0)),
        Trial::test("driverless::faults::table", table::has_all_calls),
    ];
    operations.chain(others).collect()
}

/// Data on the host are computed in parts from 256 MiB on. That takes too long for each call, so the first ones fail, up to the one that
/// asks whether the data are pinned.
fn fail_first_calls() {
    let (driver, samples) = (Control::new(), vec![0u8; 256 << 20]);
    for fault in &FAULTS {
        for number in 1.. {
            driver.clear();
            let histogram = Histogram::bytes().prepare(&open()).expect("no fault yet");
            driver.fail(number, fault);
            let result = histogram.apply(&samples).map(drop);
            let call = driver.failed().expect("it asks before its last call");
            println!("{}: {call}: {}", fault.name, outcome(&result));
            if call == "cuPointerGetAttributes" {
                break;
            }
        }
    }
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
    let printed = run(&format!("{TASK}{name}"), &[("FAKE_GPUS", "2")])?.0;
    let count = |fault: &Fault| printed.lines().filter(|line| line.starts_with(fault.name)).count();
    // To open the device takes more calls.
    ensure(FAULTS.iter().all(|fault| count(fault) > 20), || format!("too few faults:\n{printed}"))?;
    table::check(name, &printed)
}

/// Runs an operation until no call fails any more, for each kind of fault.
fn fail_everywhere(operation: Operation) {
    let driver = Control::new();
    driver.clear();
    assert_eq!(operation(&open()), Ok(()), "without a fault");
    let trace = driver.trace();
    for fault in &FAULTS {
        for number in 1.. {
            let [live, held] = driver.counts();
            let Some((call, outcome)) = fail_once(&driver, operation, fault, number, &trace) else { break };
            println!("{}: {call}: {outcome}", fault.name);
            driver.clear();
            assert_eq!(operation(&open()), Ok(()), "a new device after {call}: {}", fault.name);
            assert_eq!(driver.trace(), trace, "a new device after {call}: {}", fault.name);
            let [live_after, held_after] = driver.counts();
            // What was not released stays allocated.
            let kept = u32::from(call == ENTER || RELEASES.contains(&&*call));
            let is_kept = fault.lasts || live_after <= live + kept;
            assert!(is_kept, "{live} allocations, then {live_after}: {call}: {}", fault.name);
            assert!(held_after <= held, "{held} handles, then {held_after}: {call}: {}", fault.name);
        }
    }
}

/// Opens a device and runs an operation, while call `number` fails. Returns the call and what came of it, or `None` if there are fewer
/// calls. What succeeds must do what `trace` says.
fn fail_once(
    driver: &Control,
    operation: Operation,
    fault: &Fault,
    number: u32,
    trace: &str,
) -> Option<(String, String)> {
    driver.fail(number, fault);
    let device = Device::cuda(0);
    let result = device.as_ref().map_err(Clone::clone).and_then(operation);
    let call = driver.failed();
    if let Some(call) = &call {
        let what = || format!("call {number}, {call}: {}: {result:?}", fault.name);
        let next = driver.lines("then ");
        assert!(result.is_err() || may_fail(call, &next, fault), "{}, then {next:?}", what());
        if !fault.lasts {
            let done = driver.trace();
            assert!(result.is_err() || done == trace, "{}, and it did {done} instead of {trace}", what());
        }
        if let Ok(device) = &device {
            let again = operation(device);
            assert!(if fault.lasts { is_lost(&again) } else { again == Ok(()) }, "{}, then {again:?}", what());
            if !fault.lasts {
                assert_eq!(driver.trace(), trace, "{}, then again", what());
            }
        }
    }
    drop(device);
    Some((call.or_else(|| driver.failed())?, outcome(&result)))
}

/// Returns the name of an error's variant, or `none`.
fn outcome(result: &Result<()>) -> String {
    let Err(error) = result else { return "none".to_owned() };
    let text = format!("{:?}", error.root());
    text.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

/// Returns whether an operation succeeds although a call fails. `next` are the calls of the same thread after it.
fn may_fail(call: &str, next: &[String], fault: &Fault) -> bool {
    match call {
        // A release whose context cannot be entered is left out, or it does not need it. The next one enters it again.
        ENTER => {
            let is_release = |next: &String| [ENTER, CURRENT].contains(&&**next) || RELEASES.contains(&&**next);
            next.iter().find(|next| *next != WAIT).is_none_or(is_release)
        }
        // A thread waits instead of a queue, unless the device is lost: a release cannot say so, but the next operation does.
        "cuEventCreate" | "cuEventRecord" | "cuStreamWaitEvent" => fault.lasts || next.iter().any(|next| next == WAIT),
        // Without pinned memory for a result, the driver copies it in its own way.
        "cuMemAllocHost_v2" => next.first().is_some_and(|next| next == "cuMemcpyDtoHAsync_v2"),
        // A queue that is dropped waits first, and so does a buffer of a program or of a tensor.
        WAIT => next.first().is_none_or(|next| ["cuStreamDestroy_v2", "cuMemFree_v2", CURRENT].contains(&&**next)),
        // A tensor that is deleted waits for the context, and makes it current again that was current before. A tensor that is taken
        // waits too: if that fails, it is deleted.
        CURRENT => true,
        "cuCtxSynchronize" => next.first().is_none_or(|next| next != CURRENT),
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

    /// Lets no call fail. Returns what was done since the faults changed.
    fn trace(&self) -> String {
        // The driver records it when the faults change.
        self.clear();
        let _ = Device::cuda(0);
        self.lines("trace ").pop().expect("the driver has recorded it")
    }

    /// Returns the number of allocations, and of handles that nobody has tried to release, while no device is open.
    fn counts(&self) -> [u32; 2] {
        self.trace();
        ["live ", "held "].map(|word| {
            self.lines(word).pop().and_then(|count| count.parse().ok()).expect("the driver has recorded it")
        })
    }
}
