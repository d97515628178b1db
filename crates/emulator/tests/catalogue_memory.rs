//! Planted accesses that are out of range, misaligned, too early or too late. With `right` the same kernel has none.

mod cases;

use cases::{Case, LEN, block, blocks, check, run};
use cuda_std::host::Space;
use cuda_std::{GlobalIn, GlobalInOut, Ordering, Table, arguments, kernel, thread};
use emulator::{Emulator, Launch, Problem, Profile};

kernel! {
    /// A tile with a halo of one on each side, of which the right one is forgotten.
    pub fn forgotten_halo(arena, args: Case) {
        let (tile, _) = arena.split::<u32>(66);
        let t = thread::thread_idx_x();
        tile.set(t + 1, t);
        if t == 0 {
            tile.set(0, 0);
        }
        if args.right != 0 && t == 63 {
            tile.set(65, 0);
        }
        thread::sync_threads();
        args.output.set(t.into(), tile.get(t).wrapping_add(tile.get(t + 2)));
    }
}

kernel! {
    /// Adds to sums that nobody has set to zero.
    pub fn unset_sums(_arena, args: Case) {
        let t = thread::thread_idx_x();
        let sums = if args.right != 0 { args.zeros } else { args.output };
        sums.fetch_add(u64::from(t % 4), t, Ordering::Relaxed);
    }
}

kernel! {
    /// Goes on with sums that are not there yet.
    pub fn resumed_too_early(_arena, args: Case) {
        let i = thread::global_x();
        let sum = if args.right != 0 { 0 } else { args.output.get(i) };
        args.output.set(i, sum.wrapping_add(args.input.get(i)));
    }
}

kernel! {
    /// What one block leaves in shared memory is not there for the next one.
    pub fn left_by_a_block(arena, args: Case) {
        let (tile, _) = arena.split::<u32>(32);
        let t = thread::thread_idx_x();
        if args.right != 0 || args.zeros.fetch_add(0, 1, Ordering::Relaxed) < 32 {
            tile.set(t, t);
        }
        args.output.set(thread::global_x(), tile.get(t));
    }
}

kernel! {
    /// Half of a pair is written.
    pub fn half_a_pair(arena, args: Case) {
        let (pairs, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        pairs.set(2 * t, t);
        if args.right != 0 {
            pairs.set(2 * t + 1, t);
        }
        let [a, b] = pairs.get2(2 * t);
        args.output.set(t.into(), a.wrapping_add(b));
    }
}

kernel! {
    /// The tile lacks the place for the halo: off by one.
    pub fn off_by_one(arena, args: Case) {
        let (tile, rest) = arena.split::<u32>(64 + u32::from(args.right != 0));
        let (other, _) = rest.split::<u32>(64);
        let t = thread::thread_idx_x();
        other.set(t, 0);
        tile.set(t + 1, t);
        thread::sync_threads();
        args.output.set(t.into(), tile.get(t + 1) + other.get(t));
    }
}

kernel! {
    /// The last block has more threads than there are elements.
    pub fn unguarded_store(_arena, args: Case) {
        let i = thread::global_x();
        if args.right != 0 {
            args.output.set_if(true, i, 1);
        } else {
            args.output.set(i, 1);
        }
    }
}

kernel! {
    /// A border without a mask.
    pub fn unguarded_load(_arena, args: Case) {
        let i = thread::global_x();
        let next = if args.right != 0 { args.input.get_or(i + 1, 0) } else { args.input.get(i + 1) };
        args.output.set(i, next);
    }
}

kernel! {
    /// An atomic operation beyond the bins.
    pub fn bin_out_of_range(arena, args: Case) {
        let (bins, _) = arena.split::<u32>(4);
        let t = thread::thread_idx_x();
        if t < 4 {
            bins.set(t, 0);
        }
        thread::sync_threads();
        let bin = args.input.get(t.into()) / 15;
        bins.fetch_add(if args.right != 0 { bin.min(3) } else { bin }, 1, Ordering::Relaxed);
    }
}

kernel! {
    /// The tail of four is not all there.
    pub fn tail_of_four(_arena, args: Case) {
        let t = thread::thread_idx_x();
        let part = args.input.at(0).first(if args.right != 0 { 128 } else { 126 });
        let [a, b, c, d] = part.get4(4 * t);
        args.output.set(t.into(), a + b + c + d);
    }
}

kernel! {
    /// Four neighbours from any place.
    pub fn misaligned_four(arena, args: Case) {
        let (tile, _) = arena.split::<u32>(128);
        let t = thread::thread_idx_x();
        for k in 0..4 {
            tile.set(4 * t + k, k);
        }
        thread::sync_threads();
        let [a, b, c, d] = tile.get4(if args.right != 0 { 4 * t } else { t / 2 * 8 + t % 2 });
        args.output.set(t.into(), a + b + c + d);
    }
}

kernel! {
    /// A part of a window that begins at an odd element.
    pub fn misaligned_part(_arena, args: Case) {
        let t = thread::thread_idx_x();
        let part = args.output.at(if args.right != 0 { 2 } else { 1 });
        part.set2(2 * t, [t, t]);
    }
}

kernel! {
    /// More shared memory than the launch has.
    pub fn shared_overflow(arena, args: Case) {
        let (tile, _) = arena.split::<f64>(if args.right != 0 { 512 } else { 513 });
        tile.set(thread::thread_idx_x(), 0.0);
    }
}

catalogue! {
    forgotten_halo: block(64), Uninitialised, "uninitialised: load of element 65 of a window of 66 on shared memory";
    unset_sums: block(32), Uninitialised, "uninitialised: atomic of element";
    resumed_too_early: blocks(2, 32), Uninitialised, "uninitialised: load of element";
    left_by_a_block: blocks(2, 32), Uninitialised, "32 times";
    half_a_pair: block(32), Uninitialised, "uninitialised: load";
    off_by_one: block(64), OutOfRange, "out of range: store of 1 from element 64 of a window of 64 on shared memory";
    unguarded_store: blocks(9, 32), OutOfRange, "of a window of 256 on global memory";
    unguarded_load: blocks(8, 32), OutOfRange, "element 256 of a window of 256 on global memory (byte 1024)";
    bin_out_of_range: block(64), OutOfRange, "out of range: atomic of 1 from element 4 of a window of 4";
    tail_of_four: block(32), OutOfRange, "load of 4 from element 124 of a window of 126";
    misaligned_four: block(32), Misaligned, "misaligned: load of 16 bytes at element";
    misaligned_part: block(32), Misaligned, "misaligned: store of 8 bytes at element";
    shared_overflow: block(32), Panic, "a window of 4112 bytes does not fit into the 4096 bytes";
}

kernel! {
    /// An index of Rust's own out of range.
    pub fn rusts_index(_arena, args: Case) {
        let t = thread::thread_idx_x() as usize;
        let table = [1, 2, 3, 4];
        args.output.set(t as u64, table[if args.right != 0 { t % 4 } else { t / 8 }]);
    }
}

#[test]
fn a_panic_of_the_kernels_code() {
    let panic = |problem: &Problem| matches!(problem, Problem::Panic { .. });
    check::<rusts_index>(block(40), panic, "panic: index out of bounds: the len is 4 but the index is 4");
}

arguments! {
    /// Two windows.
    pub struct Pair {
        /// What is read.
        pub input: GlobalIn<u32>,
        /// What is written.
        pub output: GlobalInOut<u32>,
    }
}

kernel! {
    /// Copies 32 elements, with a barrier in between.
    pub fn copy(_arena, args: Pair) {
        let i = thread::global_x();
        let value = args.input.get(i);
        thread::sync_threads();
        args.output.set(i, value);
    }
}

/// `GlobalIn` promises that nothing writes it: with the same buffer for both, reads may come from a stale cache.
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
        // What an earlier launch wrote may be read.
        let args = Pair { input: b.input(), output: a.in_out() };
        assert!(emulator.launch::<copy>(launch, args, ()).unwrap().is_clean());
    }
}

kernel! {
    /// Writes a buffer and then reads it as something that nobody writes.
    pub fn read_after_write(_arena, args: Pair) {
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

kernel! {
    /// Each thread takes two constants.
    pub fn pairs(_arena, args: Case, table: Constants<u32, 8>) {
        let t = thread::thread_idx_x();
        let [a, b] = table.pair(t);
        args.output.set(t.into(), a + b);
    }
}

#[test]
fn constants_beyond_their_table() {
    let mut emulator = Emulator::new(Profile::SM_80);
    let numbers = emulator.upload(&[0u32; LEN as usize]);
    let args = Case { input: numbers.input(), output: numbers.in_out(), zeros: numbers.in_out(), right: 0 };
    let table = Table([1, 2, 3, 4, 5, 6, 7, 8]);
    let launch = |threads| Launch::new([1; 3], [threads, 1, 1]);
    assert!(emulator.launch::<pairs>(launch(4), args, table).unwrap().is_clean());
    assert_eq!(emulator.download(&numbers)[..5], [3, 7, 11, 15, 0]);
    let report = emulator.launch::<pairs>(launch(5), args, table).unwrap();
    let [finding] = &report.findings[..] else { panic!("{report}") };
    let Problem::OutOfRange { place, elements: 2, .. } = &finding.problem else { panic!("{finding}") };
    assert_eq!((place.space, place.index, place.len), (Space::Constant, 8, 8));
}

/// A finding says where it was found.
#[test]
fn a_finding_names_thread_block_and_line() {
    let (report, _) = run::<unguarded_store>(blocks(9, 32), false);
    let [finding] = &report.findings[..] else { panic!("{report}") };
    assert_eq!((finding.block, finding.times), ([8, 0, 0], 32));
    let Problem::OutOfRange { place, .. } = &finding.problem else { panic!("{finding}") };
    assert_eq!(place.index, u64::from(256 + finding.thread[0]));
    assert!(finding.at.file.ends_with("catalogue_memory.rs") && finding.at.line > 80, "{finding}");
}

/// Memory that a kernel has not written is known afterwards.
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
