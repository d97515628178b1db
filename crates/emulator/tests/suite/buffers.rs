//! Guarantees of buffers and constant tables, and accesses beyond their ends.

use cuda_std::host::Space;
use cuda_std::{GlobalIn, GlobalInOut, Ordering, Table, arguments, copy as async_copy, kernel, thread};
use emulator::{Action, Emulator, Launch, Problem, Profile};
use std::sync::Mutex;

#[path = "../../../../tests/support/lengthened.rs"]
mod lengthened;

arguments! {
    /// Two windows.
    pub struct Pair<'l> {
        /// Memory that is read.
        pub input: GlobalIn<'l, u32>,
        /// Memory that is written.
        pub output: GlobalInOut<'l, u32>,
    }
}

kernel! {
    /// Copies 32 elements, with a barrier in between.
    pub fn copy<'l>(_arena, args: Pair<'l>) {
        let i = thread::global_x();
        let value = args.input.get(i);
        thread::sync_threads();
        args.output.set(i, value);
    }
}

/// `GlobalIn` promises that nothing writes it. If the same buffer is also an output, loads may return stale data from a
/// cache.
#[test]
fn read_only_memory_is_not_written() {
    for blocks in [1, 3] {
        let mut emulator = Emulator::new(Profile::SM_80);
        let (a, b) = (emulator.upload(&[1u32; 96]), emulator.allocate(96));
        let launch = Launch::new([blocks, 1, 1], [32, 1, 1]);
        let args = Pair { input: a.input(), output: b.in_out() };
        assert!(emulator.launch::<copy>(launch, args, ()).unwrap().is_clean());
        let report = emulator.launch::<copy>(launch, Pair { output: a.in_out(), ..args }, ()).unwrap();
        let [finding] = &report.findings[..] else { panic!("{report}") };
        assert!(matches!(finding.problem, Problem::ConstantWritten { .. }), "{finding}");
        assert!(finding.to_string().contains("read-only memory is written: store of element"), "{finding}");
        // Data of an earlier launch may be read.
        let args = Pair { input: b.input(), output: a.in_out() };
        assert!(emulator.launch::<copy>(launch, args, ()).unwrap().is_clean());
    }
}

kernel! {
    /// Writes a buffer, then reads it through a read-only window.
    pub fn read_after_write<'l>(_arena, args: Pair<'l>) {
        let t = thread::thread_idx_x();
        args.output.set(t.into(), t);
        thread::sync_threads();
        args.output.set(t.into(), args.input.get(u64::from(31 - t)));
    }
}

#[test]
fn written_memory_is_not_read_only() {
    let mut emulator = Emulator::new(Profile::SM_80);
    let a = emulator.upload(&[1u32; 32]);
    let args = Pair { input: a.input(), output: a.in_out() };
    let report = emulator.launch::<read_after_write>(Launch::new([1; 3], [32, 1, 1]), args, ()).unwrap();
    let load = report.findings.iter().find(|f| f.to_string().starts_with("read-only memory is written: load"));
    assert!(load.is_some(), "{report}");
}

kernel! {
    /// Updates a number atomically, then reads it through a read-only window.
    pub fn read_after_update<'l>(_arena, args: Pair<'l>) {
        let t = thread::thread_idx_x();
        args.output.fetch_add(0, 1, Ordering::Relaxed);
        thread::sync_threads();
        args.output.set(u64::from(t) + 1, args.input.get(0));
    }
}

/// A store of an earlier launch does not hide the finding.
#[test]
fn updated_memory_is_not_read_only() {
    let mut emulator = Emulator::new(Profile::SM_80);
    let (zeros, sums) = (emulator.upload(&[0u32; 33]), emulator.allocate(33));
    let args = Pair { input: zeros.input(), output: sums.in_out() };
    let launch = Launch::new([1; 3], [32, 1, 1]);
    assert!(emulator.launch::<copy>(launch, args, ()).unwrap().is_clean());
    let args = Pair { input: sums.input(), ..args };
    let report = emulator.launch::<read_after_update>(launch, args, ()).unwrap();
    let [finding] = &report.findings[..] else { panic!("{report}") };
    let Problem::ConstantWritten { action: Action::Load, other, .. } = &finding.problem else { panic!("{finding}") };
    assert_eq!((other.action, finding.times), (Action::Atomic, 32));
}

#[test]
fn freed_memory_is_not_used() {
    let mut emulator = Emulator::new(Profile::SM_80);
    let (a, b) = (emulator.upload(&[1u32; 32]), emulator.allocate(32));
    let args = Pair { input: a.input(), output: b.in_out() };
    emulator.free(&a);
    let report = emulator.launch::<copy>(Launch::new([1; 3], [32, 1, 1]), args, ()).unwrap();
    let [finding] = &report.findings[..] else { panic!("{report}") };
    assert!(matches!(finding.problem, Problem::NoMemory { .. }), "{finding}");
    assert!(finding.to_string().contains("load of element"), "{finding}");
}

/// Windows of an earlier launch.
static KEPT: Mutex<Option<Pair<'static>>> = Mutex::new(None);

kernel! {
    /// Keeps its windows.
    pub fn keep<'l>(_arena, args: Pair<'l>) {
        let Pair { input, output } = args;
        *KEPT.lock().unwrap() = Some(Pair { input: lengthened::input(input), output: lengthened::in_out(output) });
    }
}

kernel! {
    /// Accesses memory through windows that it was not given.
    pub fn use_kept(arena, choice: u32) {
        let (shared, _) = arena.split::<u32>(4);
        let Pair { input, output } = KEPT.lock().unwrap().expect("the launch before has kept them");
        match choice {
            0 => output.set(1, 666),
            1 => shared.set(0, output.get(1)),
            2 => shared.set(0, input.get(1)),
            3 => output.add(1, 666, Ordering::Relaxed),
            _ => {
                input.copy_async::<1>(1, &shared, 0);
                async_copy::wait_all();
            }
        }
    }
}

#[test]
fn windows_of_other_launches_are_not_used() {
    let mut emulator = Emulator::new(Profile::SM_80);
    let buffers = [[1u32; 2], [2; 2]].map(|data| emulator.upload(&data));
    let args = Pair { input: buffers[0].input(), output: buffers[1].in_out() };
    let launch = Launch::new([1; 3], [1; 3]).shared_bytes(16);
    assert!(emulator.launch::<keep>(launch, args, ()).unwrap().is_clean());
    for (choice, expected) in
        [Action::Store, Action::Load, Action::Load, Action::Atomic, Action::Load].into_iter().enumerate()
    {
        let report = emulator.launch::<use_kept>(launch, choice as u32, ()).unwrap();
        let [finding] = &report.findings[..] else { panic!("{report}") };
        assert!(matches!(finding.problem, Problem::ForeignWindow { action, .. } if action == expected), "{finding}");
        assert!(finding.to_string().contains("which is not part of the launch's arguments"), "{finding}");
    }
    assert_eq!(buffers.map(|buffer| emulator.download(&buffer)), [[1; 2], [2; 2]]);
}

/// Windows are addresses. They must not refer to another emulator's memory at the same address.
#[test]
fn memory_of_another_emulator_is_not_used() {
    let (mut one, mut other) = (Emulator::new(Profile::SM_80), Emulator::new(Profile::SM_80));
    let (before, own, after) = (one.upload(&[1u32; 32]), other.upload(&[2u32; 32]), one.upload(&[3u32; 32]));
    let mut launch = |output| {
        let args = Pair { input: own.input(), output };
        other.launch::<copy>(Launch::new([1; 3], [32, 1, 1]), args, ()).unwrap()
    };
    for foreign in [before.in_out(), after.in_out()] {
        let report = launch(foreign);
        let [finding] = &report.findings[..] else { panic!("{report}") };
        assert!(matches!(finding.problem, Problem::NoMemory { .. }), "{finding}");
    }
    assert!(launch(own.in_out()).findings.iter().all(|f| !matches!(f.problem, Problem::NoMemory { .. })));
}

#[test]
#[should_panic = "a buffer has 64 GiB at the most"]
fn buffers_do_not_reach_into_each_other() {
    let _ = Emulator::new(Profile::SM_80).allocate::<u8>((1 << 36) + 1);
}

#[test]
#[should_panic = "a buffer has 64 GiB at the most"]
fn sizes_do_not_wrap_around() {
    let _ = Emulator::new(Profile::SM_80).allocate::<u64>(1 << 61);
}

#[test]
#[should_panic = "a buffer of 4 elements"]
fn nothing_is_copied_beyond_a_buffer() {
    let mut emulator = Emulator::new(Profile::SM_80);
    let buffer = emulator.allocate::<u32>(4);
    emulator.overwrite(&buffer, 1 << 62, &[0]);
}

kernel! {
    /// Each thread loads two constants.
    pub fn pairs<'l>(_arena, args: GlobalInOut<'l, u32>, table: Constants<u32, 8>) {
        let t = thread::thread_idx_x();
        let [a, b] = table.pack::<2>(t);
        args.set(t.into(), a + b);
    }
}

#[test]
fn constants_beyond_their_table() {
    let mut emulator = Emulator::new(Profile::SM_80);
    let numbers = emulator.upload(&[0u32; 32]);
    let table = Table([1, 2, 3, 4, 5, 6, 7, 8]);
    let launch = |threads| Launch::new([1; 3], [threads, 1, 1]);
    assert!(emulator.launch::<pairs>(launch(4), numbers.in_out(), table).unwrap().is_clean());
    assert_eq!(emulator.download(&numbers)[..5], [3, 7, 11, 15, 0]);
    let report = emulator.launch::<pairs>(launch(5), numbers.in_out(), table).unwrap();
    let [finding] = &report.findings[..] else { panic!("{report}") };
    let Problem::OutOfRange { place, elements: 2, .. } = &finding.problem else { panic!("{finding}") };
    assert_eq!((place.space, place.index, place.len), (Space::Constant, 8, 8));
}

/// The emulator knows after a launch which memory has not been written.
#[test]
fn unwritten_outputs_are_known() {
    let mut emulator = Emulator::new(Profile::SM_80);
    let (a, b) = (emulator.upload(&[7u32; 64]), emulator.allocate(64));
    let args = Pair { input: a.input(), output: b.in_out() };
    assert_eq!(emulator.first_unwritten(&b), Some(0));
    assert!(emulator.launch::<copy>(Launch::new([1; 3], [32, 1, 1]), args, ()).unwrap().is_clean());
    assert_eq!(emulator.first_unwritten(&b), Some(32));
    emulator.overwrite(&b, 32, &[8; 32]);
    assert_eq!(emulator.first_unwritten(&b), None);
    assert_eq!(emulator.download(&b), [[7; 32], [8; 32]].concat());
}
