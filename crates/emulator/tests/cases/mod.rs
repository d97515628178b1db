//! Runs kernels with a planted bug, and their correct twins.

// Not every test program uses all of it, and `pub` reads better than `pub(crate)` in a test.
#![allow(dead_code, unreachable_pub)]

use cuda_std::{Entry, GlobalIn, GlobalInOut, arguments};
use emulator::{Emulator, Launch, Problem, Profile, Report};

/// Elements of each buffer.
pub const LEN: u32 = 256;

arguments! {
    /// What a case works on: buffers of `LEN` elements.
    pub struct Case {
        /// Element `i` is `i`.
        pub input: GlobalIn<u32>,
        /// Not written yet.
        pub output: GlobalInOut<u32>,
        /// Zeros.
        pub zeros: GlobalInOut<u32>,
        /// 1 for the correct twin, 0 for the bug.
        pub right: u32,
    }
}

/// Orders to run a case in.
const SEEDS: std::ops::Range<u64> = 0..10;

/// One run of a case, and its output.
pub fn run<E: Entry<Args = Case, Constants = ()>>(launch: Launch, right: bool) -> (Report, Vec<u32>) {
    let mut emulator = Emulator::new(Profile::SM_80);
    let numbers: Vec<u32> = (0..LEN).collect();
    let input = emulator.upload(&numbers);
    let output = emulator.allocate::<u32>(LEN as usize);
    let zeros = emulator.upload(&[0u32; LEN as usize]);
    let args = Case { input: input.input(), output: output.in_out(), zeros: zeros.in_out(), right: right.into() };
    let report = emulator.launch::<E>(launch, args, ()).expect("within the limits");
    (report, emulator.download(&output))
}

/// The bug is found in every order, with this text, and nothing else but that a thread comes before the one that writes
/// what it reads; the twin is clean in every order.
#[track_caller]
pub fn check<E: Entry<Args = Case, Constants = ()>>(launch: Launch, is: fn(&Problem) -> bool, text: &str) {
    check_bug::<E>(launch, is, text);
    check_twin::<E>(launch);
}

#[track_caller]
pub fn check_bug<E: Entry<Args = Case, Constants = ()>>(launch: Launch, is: fn(&Problem) -> bool, text: &str) {
    for seed in SEEDS {
        let (report, _) = run::<E>(launch.seed(seed), false);
        assert!(report.findings.iter().any(|finding| is(&finding.problem)), "{} is not found: {report}", E::NAME);
        for finding in &report.findings {
            let early = matches!(finding.problem, Problem::Uninitialised { .. });
            assert!(early || is(&finding.problem), "{} with seed {seed}: {finding}", E::NAME);
            assert!(finding.at.file.contains("catalogue"), "{finding}");
            assert_eq!(finding.kernel, E::NAME);
        }
        assert!(report.to_string().contains(text), "{report} does not say '{text}'");
    }
}

#[track_caller]
pub fn check_twin<E: Entry<Args = Case, Constants = ()>>(launch: Launch) {
    for seed in SEEDS {
        let (report, _) = run::<E>(launch.seed(seed), true);
        assert!(report.is_clean(), "the twin: {report}");
    }
}

/// One block of so many threads with 4096 bytes of shared memory.
pub fn block(threads: u32) -> Launch {
    blocks(1, threads)
}

/// Blocks of so many threads with 4096 bytes of shared memory each.
pub fn blocks(blocks: u32, threads: u32) -> Launch {
    Launch::new([blocks, 1, 1], [threads, 1, 1]).shared_bytes(4096)
}

/// Stamps out a test for each kernel.
#[macro_export]
macro_rules! catalogue {
    ($($kernel:ident: $launch:expr, $problem:ident, $text:literal;)*) => {
        mod is_found_and_its_twin_is_clean {
            use super::*;

            $(#[test]
            fn $kernel() {
                check::<super::$kernel>($launch, |problem| matches!(problem, Problem::$problem { .. }), $text);
            })*
        }
    };
}
