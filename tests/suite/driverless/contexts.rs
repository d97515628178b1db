//! Handles of one GPU share its context. The tests use a fake driver that computes nothing and logs its calls.

use super::fake::trial;
use super::{Failed, Trial, child, equal};
use crate::common::driver::Driver;
use crate::common::ensure;
use slm::{Backend, Device, Error, Filter1d, Transpose};
use std::ffi::OsStr;
use std::sync::Barrier;
use std::{fs, thread};

/// Number of threads that do the same at the same time.
const THREADS: usize = 16;

/// Tasks of child processes, by name.
const TASKS: [(&str, fn()); 7] = [
    ("handles", handles),
    ("opening", opening),
    ("same_module", same_module),
    ("two_modules", two_modules),
    ("failures", failures),
    ("shapes", shapes),
    ("matrices", matrices),
];

/// Runs the task if it is one of these. Returns whether it is.
pub(super) fn runs(task: &str) -> bool {
    let found = TASKS.iter().find(|(name, _)| *name == task);
    found.map(|(_, work)| work()).is_some()
}

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("contexts::a_second_handle_loads_nothing_again", a_second_handle_loads_nothing_again),
        trial("contexts::threads_open_one_context", threads_open_one_context),
        trial("contexts::threads_wait_for_the_same_module", threads_wait_for_the_same_module),
        trial("contexts::threads_do_not_wait_for_other_modules", threads_do_not_wait_for_other_modules),
        trial("contexts::a_load_that_fails_is_tried_again", a_load_that_fails_is_tried_again),
        trial("contexts::matrices_are_copied_at_once", matrices_are_copied_at_once),
        trial("contexts::shapes_load_nothing", shapes_load_nothing),
    ]
}

/// Runs a task in a child process. Returns its output, and the driver's calls in order.
pub(super) fn run(task: &str, settings: &[(&str, &str)]) -> Result<(String, Vec<String>), Failed> {
    let driver = Driver::compile(include_str!("gpu.c"))?;
    let [path, log, faults] = ["", "log", "faults"].map(|name| driver.0.path(name));
    let mut variables: Vec<(&str, &OsStr)> =
        vec![("LD_LIBRARY_PATH", path.as_ref()), ("FAKE_LOG", log.as_ref()), ("FAKE_FAULTS", faults.as_ref())];
    variables.extend(settings.iter().map(|(name, value)| (*name, value.as_ref())));
    let printed = child(task, variables)?;
    Ok((printed, fs::read_to_string(&log)?.lines().map(str::to_owned).collect()))
}

fn count(calls: &[String], name: &str) -> usize {
    calls.iter().filter(|call| *call == name).count()
}

/// Runs `work` in several threads that begin at the same time. Returns the results.
fn at_once<R: Send>(work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let barrier = Barrier::new(THREADS);
    let (barrier, work) = (&barrier, &work);
    thread::scope(|scope| {
        let begin = |number| {
            scope.spawn(move || {
                barrier.wait();
                work(number)
            })
        };
        let threads: Vec<_> = (0..THREADS).map(begin).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    })
}

pub(super) fn open() -> Device {
    let device = Device::cuda(0).expect("the driver has one GPU");
    assert_eq!(device.info().backend, Backend::Cuda);
    device
}

/// Loads the module for filters along rows.
fn filter_f32(device: &Device) -> Result<(), Error> {
    Filter1d::correlate(&[1.0f32]).prepare(device).map(drop)
}

fn filter_i32(device: &Device) -> Result<(), Error> {
    Filter1d::correlate(&[1]).prepare(device).map(drop)
}

/// Uses two handles, a clone, and another thread with its own handle. Repeats this after all handles have been dropped.
fn handles() {
    for _ in 0..2 {
        let (first, second) = (open(), open());
        let prepared = Filter1d::correlate(&[1.0f32]).prepare(&first).expect("the module is good");
        for device in [&second, &first.clone()] {
            assert_eq!(filter_f32(device), Ok(()));
        }
        thread::scope(|scope| scope.spawn(|| assert_eq!(filter_f32(&open()), Ok(()))).join()).expect("it works");
        assert_eq!(first.release_unused_memory(), Ok(()));
        // A prepared filter keeps the context of its handle.
        drop(first);
        drop(second);
        assert_eq!(filter_f32(prepared.device()), Ok(()));
    }
}

fn a_second_handle_loads_nothing_again() -> Result<(), Failed> {
    let (_, calls) = run("handles", &[])?;
    let begin = ["retain", "pool", "stream", "stream", "load", "stream", "end of stream", "trim"];
    let expected = [&begin[..], &["end of stream"; 2], &["unload", "end of pool", "release"]].concat();
    equal(calls, [expected.clone(), expected].concat().into_iter().map(str::to_owned).collect())
}

fn opening() {
    let devices = at_once(|_| open());
    assert_eq!(devices.len(), THREADS);
}

fn threads_open_one_context() -> Result<(), Failed> {
    let (_, calls) = run("opening", &[])?;
    equal(["retain", "pool", "stream", "release"].map(|call| count(&calls, call)), [1, 1, THREADS, 1])
}

fn same_module() {
    let device = open();
    let loaded = at_once(|number| if number % 2 == 0 { filter_f32(&device) } else { filter_f32(&open()) });
    assert!(loaded.iter().all(Result::is_ok), "{loaded:?}");
}

fn threads_wait_for_the_same_module() -> Result<(), Failed> {
    let (_, calls) = run("same_module", &[])?;
    equal(["load", "unload"].map(|call| count(&calls, call)), [1, 1])
}

fn two_modules() {
    let device = open();
    let loaded = at_once(|number| if number % 2 == 0 { filter_f32(&device) } else { filter_i32(&device) });
    assert!(loaded.iter().all(Result::is_ok), "{loaded:?}");
}

/// The driver finishes no load before two have begun.
fn threads_do_not_wait_for_other_modules() -> Result<(), Failed> {
    let (_, calls) = run("two_modules", &[("FAKE_MEETING", "2")])?;
    equal(count(&calls, "load"), 2)
}

fn failures() {
    let device = open();
    let loaded = at_once(|_| filter_f32(&device));
    let failed = loaded.iter().filter_map(|result| result.as_ref().err());
    let all: Vec<_> = failed
        .map(|error| matches!(error, Error::Driver { call: "cuModuleLoadData", source } if source.code == 2))
        .collect();
    println!("{all:?}");
    assert_eq!(filter_f32(&device), Ok(()));
}

/// The threads whose loads fail return the error. Then one of the other threads loads the module.
fn a_load_that_fails_is_tried_again() -> Result<(), Failed> {
    let (printed, calls) = run("failures", &[("FAKE_FAILURES", "3")])?;
    equal(&*printed, "[true, true, true]")?;
    equal(["load", "unload"].map(|call| count(&calls, call)), [4, 1])
}

/// Plans more pitches than are cached, twice.
fn shapes() {
    let device = open();
    let transpose = Transpose::<f32>::new(3, 5).prepare(&device).expect("the module is good");
    let pitches: Vec<_> = (5..105).chain(5..105).collect();
    let plans: Vec<_> =
        pitches.iter().map(|pitch| transpose.plan_pitched([*pitch, *pitch]).expect("is long enough")).collect();
    assert_eq!(plans[..100], plans[100..]);
    assert!(plans.iter().all(|plan| plan.launches.len() == 1));
}

fn shapes_load_nothing() -> Result<(), Failed> {
    let (_, calls) = run("shapes", &[])?;
    ensure((1..=2).contains(&count(&calls, "load")), || format!("{calls:?}"))
}

/// Copies matrices with and without gaps between rows.
fn matrices() {
    let result = crate::matrices::copies(&open(), |bits| bits as u16);
    assert!(result.is_ok(), "{:?}", result.map_err(|failed| failed.message().map(str::to_owned)));
}

/// The fake GPU's memory is host memory, so it really copies. Each copy takes one call, for any number of rows.
fn matrices_are_copied_at_once() -> Result<(), Failed> {
    let (_, calls) = run("matrices", &[])?;
    let (copies, shapes) = (count(&calls, "copy of rows"), crate::matrices::SHAPES.len());
    ensure((shapes..=8 * shapes).contains(&copies), || format!("{copies} copies of {shapes} matrices"))
}
