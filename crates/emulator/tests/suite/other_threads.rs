//! Kernels that use OS threads of their own, which a GPU does not have. Accessor calls there are findings of the launch, also if
//! nobody sees their panics.
//!
//! Such a finding goes to all launches in progress whose kernels may use `std`, so each test has a process of its own.

use crate::alone;
use crate::planted::{launch, run};
use catalogue::Args;
use cuda_std::{Entry, kernel, thread};
use emulator::{Problem, Report};
use rayon::prelude::*;
use std::hint::black_box;
use std::panic::catch_unwind;

kernel! {
    /// Two halves of the work, by `rayon::join`.
    pub fn joins<'l>(_arena, args: Args<'l>) {
        let t = u64::from(thread::thread_idx_x());
        rayon::join(|| args.output.set(2 * t, 1), || args.output.set(2 * t + 1, 2)); // foreign
    }
}

kernel! {
    /// A parallel loop, by `rayon`.
    pub fn iterates<'l>(_arena, args: Args<'l>) {
        (0..8u64).into_par_iter().for_each(|k| args.output.set(k, 1)); // foreign
    }
}

kernel! {
    /// Work in a scope of `rayon`.
    pub fn opens_a_scope<'l>(_arena, args: Args<'l>) {
        rayon::scope(|scope| scope.spawn(|_| args.output.set(0, args.input.get(0)))); // foreign
    }
}

kernel! {
    /// Starts a thread, and waits for it without a look at its result.
    pub fn starts_a_thread<'l>(_arena, args: Args<'l>) {
        let work = || black_box(thread::block_linear());
        let _ = std::thread::spawn(work).join();
        args.output.set(0, 1);
    }
}

kernel! {
    /// Catches the panic of the other thread.
    pub fn catches_the_panic<'l>(_arena, args: Args<'l>) {
        let _ = catch_unwind(|| std::thread::scope(|scope| drop(scope.spawn(|| args.output.set(0, 1))))); // foreign
        let _ = catch_unwind(|| rayon::join(|| thread::sync_threads(), || ())); // foreign
        args.output.set(1, 1);
    }
}

kernel! {
    /// Uses `rayon` without accessors on its threads.
    pub fn sums_with_rayon<'l>(_arena, args: Args<'l>) {
        args.output.set(0, (0..1000u32).into_par_iter().sum());
    }
}

/// Returns the report of a kernel that one thread executes, after a check that it has findings of foreign threads, first of all.
fn report<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>() -> Report {
    let (report, _) = run::<E>(launch(1, 1), false);
    let first = report.findings.first().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(
        (&first.problem, first.kernel, first.block, first.thread),
        (&Problem::ForeignThread, E::NAME, [0; 3], [0; 3])
    );
    assert!(first.to_string().starts_with("foreign thread: an accessor is called on an OS thread that"), "{first}");
    report
}

/// Returns whether a line of this file is marked as an accessor call on another thread.
fn is_foreign(finding: &emulator::Finding) -> bool {
    let line = include_str!("other_threads.rs").lines().nth(finding.at.line as usize - 1);
    finding.at.file.ends_with("other_threads.rs") && line.is_some_and(|line| line.ends_with("// foreign"))
}

#[test]
#[ignore = "reported to all launches"]
fn passed_on_panics() {
    for report in [report::<joins>(), report::<iterates>(), report::<opens_a_scope>()] {
        let (foreign, others): (Vec<_>, Vec<_>) =
            report.findings.iter().partition(|finding| finding.problem == Problem::ForeignThread);
        assert!(foreign.iter().all(|finding| is_foreign(finding)), "{report}");
        // The kernel's own thread receives the panic.
        let [panic] = others[..] else { panic!("{report}") };
        assert!(
            matches!(&panic.problem, Problem::Panic { message } if message.contains("this is GPU code")),
            "{report}"
        );
    }
}

#[test]
#[ignore = "reported to all launches"]
fn lost_panics() {
    let [finding] = &report::<starts_a_thread>().findings[..] else { panic!("one finding") };
    assert_eq!(finding.times, 1);
    let report = report::<catches_the_panic>();
    assert!(report.findings.len() == 2 && report.findings.iter().all(is_foreign), "{report}");
}

#[test]
#[ignore = "as the others"]
fn work_without_accessors() {
    let (report, output) = run::<sums_with_rayon>(launch(1, 1), false);
    assert!(report.is_clean() && output[0] == 499_500, "{report}");
    // The finding of another launch is not this one's.
    let _ = run::<starts_a_thread>(launch(1, 1), false);
    assert!(run::<sums_with_rayon>(launch(1, 1), false).0.is_clean());
}

#[test]
fn accessors_on_other_threads_are_found() {
    for test in ["passed_on_panics", "lost_panics", "work_without_accessors"] {
        let (output, text) = alone(&format!("other_threads::{test}"));
        assert!(output.status.success(), "{test}: {text}");
    }
}
