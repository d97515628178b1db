//! Fibres and OS threads: whatever safe code does, the launch ends with a finding, or the process with a message.

use crate::alone;
use crate::planted::{launch, run};
use catalogue::hosting::{
    ODD, all_panic, deep_calls, deep_loads, deep_splits, endless_circles, endless_splits, large_locals,
};
use catalogue::{Args, Case, CaseVisitor, visit_cases};
use cuda_std::{Entry, kernel, thread};
use emulator::{Emulator, Launch, Problem, Profile, Report};
use std::cell::Cell;
use std::panic::{catch_unwind, panic_any, set_hook};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Returns the only problem of each of three orders. Checks that the thread `ODD` has it.
fn problems<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(launch: Launch) -> Vec<Problem> {
    let problem = |seed| {
        let (report, _) = run::<E>(launch.seed(seed), false);
        let [finding] = &report.findings[..] else { panic!("{report}") };
        assert_eq!((finding.kernel, finding.thread[0]), (E::NAME, ODD), "{finding}");
        finding.problem.clone()
    };
    (0..3).map(problem).collect()
}

/// Visitor that asserts that every case of the catalogue runs on fibres.
struct Fast;

impl CaseVisitor for Fast {
    fn visit<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(&mut self, case: &Case) {
        assert!(E::WITHOUT_STD, "{}", case.name);
    }
}

#[test]
fn only_crates_without_std_run_on_fibres() {
    visit_cases(&mut Fast);
    assert_eq!([endless_circles::WITHOUT_STD, lazy::WITHOUT_STD], [true, false]);
}

/// A thread's own value, which counts its drops.
struct Own(String);

static DROPS: AtomicU32 = AtomicU32::new(0);

impl Drop for Own {
    fn drop(&mut self) {
        DROPS.fetch_add(1, Ordering::Relaxed);
    }
}

thread_local! {
    static OWN: Own = {
        let name = format!("the thread {} of its block", thread::thread_idx_x());
        thread::sync_threads();
        Own(name)
    };
}

kernel! {
    /// Each thread initialises its own value in two steps, with a barrier in between.
    pub fn lazy<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        let first = OWN.with(|own| {
            thread::sync_threads();
            own.0.clone()
        });
        let expected = format!("the thread {t} of its block");
        let same = OWN.with(|own| own.0 == expected) && first == expected;
        args.output.set(t.into(), same.into());
    }
}

/// On fibres, all but one of these values would be dropped while they are in use.
#[test]
fn each_thread_has_thread_locals_of_its_own() {
    for seed in 0..3 {
        DROPS.store(0, Ordering::Relaxed);
        let (report, output) = run::<lazy>(launch(1, 64).seed(seed), false);
        assert!(report.is_clean(), "{report}");
        assert_eq!(output[..64], [1; 64]);
        assert_eq!(DROPS.load(Ordering::Relaxed), 64);
    }
}

#[test]
fn a_stack_that_overflows_is_found() {
    let is = |problem: &Problem| matches!(problem, Problem::StackOverflow { bytes } if *bytes >= 1 << 20);
    assert!(problems::<large_locals>(launch(2, 64)).iter().all(is));
    assert!(problems::<deep_loads>(launch(2, 64)).iter().all(is));
    assert!(problems::<deep_calls>(launch(2, 64)).iter().all(is));
    assert!(problems::<deep_splits>(launch(2, 64)).iter().all(is));
}

#[test]
fn an_overflow_is_reported_with_its_line_and_does_not_affect_the_next_launch() {
    let (report, _) = run::<large_locals>(launch(1, 64), false);
    assert!(report.findings[0].at.file.ends_with("catalogue/hosting.rs"), "{report}");
    assert!(report.to_string().contains("stack overflow: "), "{report}");
    for _ in 0..3 {
        assert!(run::<large_locals>(launch(2, 64), true).0.is_clean());
        assert!(run::<deep_loads>(launch(2, 64), true).0.is_clean());
    }
}

/// Overflows the stack of its OS thread.
#[allow(unconditional_recursion)]
fn overflow(depth: u64) -> u64 {
    std::hint::black_box(depth) + overflow(std::hint::black_box(depth + 1))
}

#[test]
#[ignore = "aborts"]
fn an_ordinary_overflow() {
    run::<large_locals>(launch(1, 64), false);
    println!("{}", overflow(0));
}

kernel! {
    /// Overflows the stack of an OS thread.
    pub fn overflows_with_std<'l>(_arena, args: Args<'l>) {
        let numbers = std::hint::black_box(vec![0u64; 1]);
        args.output.set(0, overflow(numbers[0]) as u32);
    }
}

#[test]
#[ignore = "aborts"]
fn an_overflow_with_std() {
    run::<overflows_with_std>(launch(1, 32), false);
}

#[test]
fn other_overflows_are_reported_by_the_standard_library() {
    for (test, says) in
        [("an_ordinary_overflow", "an_ordinary_overflow"), ("an_overflow_with_std", "of an emulated kernel")]
    {
        let (output, text) = alone(&format!("hosting::{test}"));
        assert!(!output.status.success() && text.contains("has overflowed its stack") && text.contains(says), "{text}");
    }
}

#[test]
fn a_loop_without_accesses_is_found() {
    let limit = Duration::from_millis(50);
    let expected = Problem::NoAccess { limit };
    assert!(problems::<endless_circles>(launch(2, 64).time_limit(limit)).iter().all(|problem| *problem == expected));
    let out = |problem: &Problem| matches!(problem, Problem::OutOfSteps { .. });
    assert!(problems::<endless_splits>(launch(2, 64)).iter().all(out));
    assert!(run::<endless_circles>(launch(2, 64), true).0.is_clean());
    assert!(run::<endless_splits>(launch(2, 64), true).0.is_clean());
}

kernel! {
    /// One thread loops forever, in a crate with `std`.
    pub fn circles_with_std<'l>(_arena, _args: Args<'l>) {
        while thread::thread_idx_x() == ODD {
            std::hint::spin_loop();
        }
    }
}

#[test]
#[ignore = "aborts"]
fn a_loop_with_std() {
    run::<circles_with_std>(launch(1, 32).time_limit(Duration::from_millis(50)), false);
}

#[test]
fn a_loop_that_cannot_be_ended_ends_the_process_with_a_message() {
    let (output, text) = alone("hosting::a_loop_with_std");
    let says =
        "circles_with_std has called no accessor for 50ms, and cannot be ended: thread [5, 0, 0] of block [0, 0, 0]";
    assert!(!output.status.success() && text.contains(says), "{text}");
}

kernel! {
    /// Catches every unwinding that should end it.
    pub fn unending<'l>(_arena, args: Args<'l>) {
        loop {
            let _ = catch_unwind(|| {
                thread::sync_threads();
                args.output.set(0, args.zeros.get(thread::thread_idx_x().into()));
            });
        }
    }
}

#[test]
fn threads_that_catch_their_unwinding_are_suspended() {
    let (report, _) = run::<unending>(launch(1, 32), false);
    let out = |problem: &Problem| matches!(problem, Problem::OutOfSteps { .. });
    assert!(report.findings.iter().any(|finding| out(&finding.problem)), "{report}");
}

/// Panics on drop, with another `Bomb` as payload.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any(Bomb);
    }
}

kernel! {
    /// Panics with a payload that panics on drop.
    pub fn panics_with_a_bomb<'l>(_arena, _args: Args<'l>) {
        if thread::thread_idx_x() == ODD {
            panic_any(Bomb);
        }
        thread::sync_threads();
    }
}

#[test]
fn a_payload_that_panics_is_not_dropped() {
    let problem = Problem::Panic { message: "with a payload that is not text".to_owned() };
    assert!(problems::<panics_with_a_bomb>(launch(1, 32)).iter().all(|found| *found == problem));
}

kernel! {
    /// Panics with a message.
    pub fn panics_with_a_text<'l>(_arena, _args: Args<'l>) {
        assert_ne!(thread::thread_idx_x(), ODD, "a kernel's");
    }
}

static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
#[ignore = "sets the panic hook"]
fn a_hook_set_later() {
    assert_eq!(problems::<panics_with_a_text>(launch(1, 32)).len(), 3);
    set_hook(Box::new(|panic| SEEN.lock().unwrap().push(panic.to_string())));
    let (report, _) = run::<panics_with_a_text>(launch(1, 32), false);
    assert!(report.findings[0].at.file.ends_with("hosting.rs") && report.findings[0].at.line > 0, "{report}");
    assert!(catch_unwind(|| panic!("not a kernel's")).is_err());
    let seen = SEEN.lock().unwrap();
    assert!(seen.len() == 1 && seen[0].contains("not a kernel's"), "{seen:?}");
}

#[test]
fn a_hook_set_later_sees_only_the_programs_panics() {
    let (output, text) = alone("hosting::a_hook_set_later");
    assert!(output.status.success(), "{text}");
}

thread_local! {
    /// Initialised in two steps, with a barrier in between.
    static OF_THE_HOOK: Own = {
        MADE.fetch_add(1, Ordering::Relaxed);
        thread::sync_threads();
        Own("the hook's".to_owned())
    };
}

static MADE: AtomicU32 = AtomicU32::new(0);

kernel! {
    /// Sets a panic hook that waits at a barrier, and launches a kernel whose threads panic.
    pub fn sets_a_hook<'l>(_arena, _args: Args<'l>) {
        set_hook(Box::new(|_| {
            OF_THE_HOOK.with(|own| {
                thread::sync_threads();
                assert_eq!(own.0, "the hook's");
            });
        }));
        assert_eq!(run::<all_panic>(launch(1, 32), false).0.findings.len(), 1);
    }
}

#[test]
#[ignore = "sets the panic hook"]
fn a_hook_set_during_a_launch() {
    let (report, _) = run::<sets_a_hook>(launch(1, 1), false);
    assert!(report.is_clean(), "{report}");
    assert_eq!(MADE.load(Ordering::Relaxed), 1);
}

/// The hook may be any code of the program, and would run where the kernel panics, on a fibre.
#[test]
fn a_hook_does_not_wait() {
    let (output, text) = alone("hosting::a_hook_set_during_a_launch");
    assert!(output.status.success(), "{text}");
}

/// Launches a kernel that panics, during another panic.
struct LaunchesInAPanic;

impl Drop for LaunchesInAPanic {
    fn drop(&mut self) {
        let (report, _) = run::<all_panic>(launch(1, 32), false);
        assert_eq!(report.findings.len(), 1, "{report}");
    }
}

kernel! {
    /// Sets a panic hook that waits at a barrier. Then a destructor, run by a panic, launches a kernel whose threads panic.
    pub fn sets_a_hook_and_panics<'l>(_arena, _args: Args<'l>) {
        set_hook(Box::new(|_| OF_THE_HOOK.with(|_| thread::sync_threads())));
        let result = catch_unwind(|| {
            let _launches = LaunchesInAPanic;
            panic!("not the inner kernel's");
        });
        assert!(result.is_err());
    }
}

#[test]
#[ignore = "sets the panic hook"]
fn a_hook_set_before_a_launch_in_a_panic() {
    let (report, _) = run::<sets_a_hook_and_panics>(launch(1, 1), false);
    assert!(report.is_clean(), "{report}");
}

#[test]
fn a_hook_does_not_wait_in_a_panic_either() {
    let (output, text) = alone("hosting::a_hook_set_before_a_launch_in_a_panic");
    assert!(output.status.success(), "{text}");
}

/// Launches kernels when its OS thread ends.
struct Late;

impl Drop for Late {
    fn drop(&mut self) {
        assert!(run::<large_locals>(launch(1, 64), true).0.is_clean());
        assert!(!run::<large_locals>(launch(1, 64), false).0.is_clean());
        let (report, _) = run::<panics_with_a_text>(launch(1, 32), false);
        assert_eq!(report.findings.len(), 1, "{report}");
        ENDS.fetch_add(1, Ordering::Relaxed);
    }
}

static ENDS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static LATE: Late = const { Late };
}

#[test]
#[ignore = "may abort"]
fn a_launch_in_a_destructor_of_a_thread_local() {
    // Created before and after the emulator's own thread-locals, so that it is dropped after or before them.
    for early in [true, false] {
        let work = move || {
            if early {
                LATE.with(|_| ());
            }
            run::<large_locals>(launch(1, 64), true);
            LATE.with(|_| ());
        };
        std::thread::spawn(work).join().expect("it does not panic");
    }
    assert_eq!(ENDS.load(Ordering::Relaxed), 2);
}

#[test]
fn destructors_of_thread_locals_launch_kernels() {
    let (output, text) = alone("hosting::a_launch_in_a_destructor_of_a_thread_local");
    assert!(output.status.success(), "{text}");
}

thread_local! {
    static INNER: Cell<u32> = const { Cell::new(0) };
}

kernel! {
    /// Each thread launches a kernel on another emulator.
    pub fn launches_another<'l>(_arena, args: Args<'l>) {
        let (report, _): (Report, _) = run::<large_locals>(launch(1, 32), true);
        INNER.set(INNER.get() + 1);
        thread::sync_threads();
        args.output.set(thread::thread_idx_x().into(), u32::from(report.is_clean()) + INNER.get());
    }
}

#[test]
fn kernels_launch_on_other_emulators() {
    let (report, output) = run::<launches_another>(launch(1, 4), false);
    assert!(report.is_clean(), "{report}");
    assert_eq!(output[..4], [2; 4]);
    let emulator = Emulator::new(Profile::SM_90);
    assert!(!emulator.id().runs_the_caller());
}
