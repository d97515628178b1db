//! Launches that end early: kernels' destructors run, but their accesses have no effect.

use crate::alone;
use crate::planted::{launch, run};
use catalogue::Args;
use cuda_std::{Entry, GlobalInOut, Ordering, kernel, thread, warp};
use emulator::{Problem, Report};

/// A lock in the first element, released on drop.
struct Lock<'l>(GlobalInOut<'l, u32>);

impl<'l> Lock<'l> {
    fn take(lock: GlobalInOut<'l, u32>) -> Self {
        while lock.compare_exchange(0, 0, 1, Ordering::SeqCst) != 0 {}
        Lock(lock)
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        self.0.exchange(0, 0, Ordering::SeqCst);
    }
}

kernel! {
    /// The thread with the lock waits for the others, which wait for the lock.
    pub fn barrier_in_lock<'l>(_arena, args: Args<'l>) {
        let lock = Lock::take(args.zeros);
        thread::sync_threads();
        drop(lock);
    }
}

/// Calls accessors of all kinds on drop.
struct Everything<'l>(Args<'l>);

impl Drop for Everything<'_> {
    fn drop(&mut self) {
        let Args { output, zeros, .. } = self.0;
        let t = thread::thread_idx_x();
        output.set(t.into(), zeros.get(t.into()));
        thread::sync_threads();
        zeros.fetch_add(0, 1, Ordering::SeqCst);
        let _ = warp::shuffle_xor(warp::FULL, t, 1);
        warp::sync_warp(warp::FULL);
    }
}

kernel! {
    /// One thread never reaches the barrier.
    pub fn endless<'l>(_arena, args: Args<'l>) {
        let _everything = Everything(args);
        if thread::thread_idx_x() == 5 {
            while args.zeros.get(7) == 0 {}
        }
        thread::sync_threads();
    }
}

kernel! {
    /// One thread panics while the others wait.
    pub fn panics<'l>(_arena, args: Args<'l>) {
        let _everything = Everything(args);
        assert_ne!(thread::thread_idx_x(), 5, "five");
        thread::sync_threads();
    }
}

/// Panics on drop.
struct Panics;

impl Drop for Panics {
    fn drop(&mut self) {
        panic!("thread {} drops it", thread::thread_idx_x());
    }
}

kernel! {
    /// One thread drops a `Panics`, the others wait.
    pub fn panics_when_dropped<'l>(_arena, _args: Args<'l>) {
        if thread::thread_idx_x() == 5 {
            drop(Panics);
        }
        thread::sync_threads();
    }
}

kernel! {
    /// One thread panics while the others have a `Panics`.
    pub fn panics_twice<'l>(_arena, _args: Args<'l>) {
        if thread::thread_idx_x() == 5 {
            panic!("the first");
        }
        let _panics = Panics;
        thread::sync_threads();
    }
}

/// Returns the only problem of each of ten orders. Checks that no thread has stored anything.
fn problems<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>() -> Vec<Problem> {
    let reports = (0..10).map(|seed| run::<E>(launch(1, 96).seed(seed), false)).collect::<Vec<(Report, _)>>();
    let only = |(report, output): (Report, Vec<u32>)| {
        assert!(output.iter().all(|element| *element == u32::MAX), "{report}");
        let [finding] = &report.findings[..] else { panic!("{report}") };
        finding.problem.clone()
    };
    reports.into_iter().map(only).collect()
}

#[test]
fn destructors_do_nothing_when_steps_run_out() {
    let out = |problem: &Problem| matches!(problem, Problem::OutOfSteps { .. });
    assert!(problems::<barrier_in_lock>().iter().all(out));
    assert!(problems::<endless>().iter().all(out));
}

#[test]
fn destructors_do_nothing_when_a_thread_panics() {
    let is = |text: &str, problem: &Problem| matches!(problem, Problem::Panic { message } if message.contains(text));
    assert!(problems::<panics>().iter().all(|problem| is("five", problem)));
    assert!(problems::<panics_when_dropped>().iter().all(|problem| is("thread 5 drops it", problem)));
}

/// Run by `aborts_with_a_message`: as everywhere in Rust, a panic in a destructor during another panic aborts.
#[test]
#[ignore = "aborts"]
fn panics_in_a_destructor() {
    run::<panics_twice>(launch(1, 64), false);
}

#[test]
fn aborts_with_a_message() {
    let (output, text) = alone("ends::panics_in_a_destructor");
    assert!(!output.status.success() && text.contains("ends.rs") && text.contains("drops it"), "{text}");
}

/// Launches a kernel on drop.
struct Launches;

impl Drop for Launches {
    fn drop(&mut self) {
        assert_eq!(problems::<panics>().len(), 10);
    }
}

/// Run by `destructors_launch_kernels`: the first launch of a process finds the original panic hook.
#[test]
#[ignore = "needs a process of its own"]
fn a_launch_while_unwinding() {
    let result = std::panic::catch_unwind(|| {
        let _launches = Launches;
        panic!("not a kernel's");
    });
    assert!(result.is_err());
    destructors_do_nothing_when_a_thread_panics();
}

#[test]
fn destructors_launch_kernels() {
    let (output, text) = alone("ends::a_launch_while_unwinding");
    assert!(output.status.success() && text.contains("not a kernel's") && !text.contains("five"), "{text}");
}
