//! Every planted bug of the catalogue is found, and its twin is clean.

use catalogue::{Args, Bug, Case, CaseVisitor, LEN, SHARED_BYTES, helpers, memory, races, together, visit_cases};
use cuda_std::{Entry, Ordering, fence, kernel, thread};
use emulator::{Action, Emulator, Finding, Launch, Line, Problem, Profile, Report, Space};

/// Seeds of the orders that each case runs in.
const SEEDS: std::ops::Range<u64> = 0..10;

/// Returns a launch with the given grid and block, and a small budget that soon ends endless waits.
pub fn launch(blocks: u32, threads: u32) -> Launch {
    Launch::new([blocks, 1, 1], [threads, 1, 1]).shared_bytes(SHARED_BYTES).budget(20_000).partial_outputs()
}

/// Runs a kernel. Returns its report and its output.
pub fn run<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(launch: Launch, right: bool) -> (Report, Vec<u32>) {
    let mut emulator = Emulator::new(Profile::SM_90);
    let numbers: Vec<u32> = (0..LEN).collect();
    let input = emulator.upload(&numbers);
    let output = emulator.allocate::<u32>(LEN as usize);
    let zeros = emulator.upload(&[0u32; LEN as usize]);
    let result = emulator.allocate::<u32>(LEN as usize);
    let args = Args {
        input: input.input(),
        output: output.in_out(),
        zeros: zeros.in_out(),
        result: result.output(),
        right: right.into(),
    };
    let report = emulator.launch::<E>(launch, args, ()).expect("within the limits");
    (report, emulator.download(&output))
}

fn is(problem: &Problem, bug: Bug) -> bool {
    match problem {
        Problem::Race { .. } => bug == Bug::Race,
        Problem::CopyUnderWay { .. } => bug == Bug::Copy,
        Problem::Uninitialised { .. } => bug == Bug::Uninitialised,
        Problem::OutOfRange { .. } => bug == Bug::OutOfRange,
        Problem::Misaligned { .. } => bug == Bug::Misaligned,
        Problem::BarrierDivergence { .. } | Problem::BarrierFromTwoPlaces { .. } => bug == Bug::BarrierDivergence,
        Problem::MissingLanes { .. }
        | Problem::NotInMask { .. }
        | Problem::ForeignLane { .. }
        | Problem::WarpFromTwoPlaces { .. } => bug == Bug::Lanes,
        Problem::Panic { .. } => bug == Bug::Panic,
        Problem::OutOfSteps { .. } => bug == Bug::Endless,
        Problem::SplitDivergence { .. } => bug == Bug::Split,
        Problem::UnwrittenOutput { whole, .. } => bug == if *whole { Bug::NotWhole } else { Bug::Unwritten },
        _ => false,
    }
}

/// Returns the lines that a finding names.
fn lines(finding: &Finding) -> Vec<&Line> {
    match &finding.problem {
        Problem::Race { other, .. } | Problem::CopyUnderWay { other, .. } => vec![&finding.at, &other.at],
        Problem::SplitDivergence { other, .. } => vec![&finding.at, &other.at],
        Problem::UnwrittenOutput { left_out, .. } => left_out.iter().collect(),
        Problem::BarrierDivergence { waiting, .. } => waiting.iter().map(|(at, _)| at).collect(),
        // The lines where the call paths differ.
        Problem::BarrierFromTwoPlaces { calls, other_calls, .. }
        | Problem::WarpFromTwoPlaces { calls, other_calls, .. } => {
            [calls, other_calls].into_iter().filter_map(|calls| calls.last()).collect()
        }
        _ => vec![&finding.at],
    }
}

/// Returns whether a comment marks the line as part of a planted bug.
fn is_planted(at: &Line) -> bool {
    let (_, file) = at.file.rsplit_once('/').expect("a file in a folder");
    let source = match file {
        "arena.rs" => include_str!("../../catalogue/arena.rs"),
        "blocks.rs" => include_str!("../../catalogue/blocks.rs"),
        "outputs.rs" => include_str!("../../catalogue/outputs.rs"),
        "copies.rs" => include_str!("../../catalogue/copies.rs"),
        "helpers.rs" => include_str!("../../catalogue/helpers.rs"),
        "memory.rs" => include_str!("../../catalogue/memory.rs"),
        "races.rs" => include_str!("../../catalogue/races.rs"),
        "together.rs" => include_str!("../../catalogue/together.rs"),
        _ => panic!("{at} is not in the catalogue"),
    };
    source.lines().nth(at.line as usize - 1).is_some_and(|line| line.ends_with("// planted"))
}

/// Visitor that checks each case in every order: the bug is found, with the case's text and at its lines, and nothing else.
/// The twin is clean.
#[derive(Default)]
struct Check {
    cases: u32,
}

impl CaseVisitor for Check {
    fn visit<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(&mut self, case: &Case) {
        self.cases += 1;
        for seed in SEEDS {
            let partial_outputs = case.bug != Bug::Unwritten;
            let whole_outputs: &[_] = if case.bug == Bug::NotWhole { &["zeros"] } else { &[] };
            let launch = Launch { partial_outputs, whole_outputs, ..launch(case.blocks, case.threads).seed(seed) };
            let (report, _) = run::<E>(launch, false);
            let says = |finding: &Finding| is(&finding.problem, case.bug) && finding.to_string().contains(case.says);
            assert!(report.findings.iter().any(says), "nothing says '{}': {report}", case.says);
            for finding in &report.findings {
                let expected = |bug| is(&finding.problem, bug);
                assert!(expected(case.bug) || case.also.is_some_and(expected), "{finding}");
                assert!(lines(finding).into_iter().all(is_planted), "{finding}");
                assert_eq!((finding.kernel, E::NAME), (case.name, case.name));
            }
            let (report, _) = run::<E>(launch, true);
            assert!(report.is_clean(), "the twin: {report}");
        }
    }
}

#[test]
fn every_bug_is_found_and_its_twin_is_clean() {
    let mut check = Check::default();
    visit_cases(&mut check);
    assert_eq!(check.cases, 110);
}

#[test]
fn writes_of_the_same_value_can_be_allowed() {
    let allowed = launch(1, 64).allow_same_value_writes();
    assert!(run::<races::same_value>(allowed, false).0.is_clean());
    assert!(run::<races::same_byte>(allowed, false).0.is_clean());
    // Writes of different values are still found.
    assert!(!run::<races::racing_merge>(allowed, false).0.is_clean());
}

#[test]
fn correct_protocols_give_their_results() {
    for seed in 0..20 {
        assert_eq!(run::<races::relaxed_lock>(launch(1, 64).seed(seed), true).1[..64], [64; 64]);
        assert_eq!(run::<races::last_block>(launch(5, 32).seed(seed), true).1[100], 15);
        assert_eq!(run::<races::fence_on_one_side>(launch(1, 2).seed(seed), true).1[0], 42);
        assert_eq!(run::<races::lanes_in_step>(launch(1, 32).seed(seed), true).1[0], 31 * 16);
    }
}

/// Only the lowest byte of each word is not zero, so each row and column has four such elements.
#[test]
fn the_correct_product_is_that_of_the_matrices() {
    let (_, c) = run::<together::mma_in_a_branch>(launch(1, 32), true);
    for (row, column) in (0..8).flat_map(|row| (0..8).map(move |column| (row, column))) {
        let expected: i32 = (0..4).map(|k| (4 * row + k) * (4 * column + k - 128)).sum();
        assert_eq!(c[(8 * row + column) as usize] as i32, expected, "row {row}, column {column}");
    }
}

/// A finding has the thread, block and line where it was found.
#[test]
fn a_finding_names_thread_block_and_line() {
    let (report, _) = run::<memory::unguarded_store>(launch(9, 32), false);
    let [finding] = &report.findings[..] else { panic!("{report}") };
    assert_eq!((finding.block, finding.times), ([8, 0, 0], 32));
    let Problem::OutOfRange { place, .. } = &finding.problem else { panic!("{finding}") };
    assert_eq!(place.index, u64::from(256 + finding.thread[0]));
    assert!(finding.at.file.ends_with("catalogue/memory.rs") && finding.at.line > 80, "{finding}");
}

/// A race has both sides: blocks, threads, element, and both lines.
#[test]
fn a_race_names_both_sides() {
    let (report, _) = run::<races::fence_too_narrow>(launch(2, 1), false);
    let Problem::Race { place, other, .. } = &report.findings[0].problem else { panic!("{report}") };
    assert_eq!((place.index, place.len, place.byte), (0, LEN.into(), 0));
    assert_ne!(other.block, report.findings[0].block);
    assert!(other.at.line < report.findings[0].at.line);
    assert!(other.at.file.ends_with("catalogue/races.rs"));
}

kernel! {
    /// Adds up three neighbours, and overwrites elements that other threads are still reading.
    pub fn three_points<'l>(arena, args: Args<'l>) {
        let (tile, _) = arena.split::<u32>(64);
        let t = thread::thread_idx_x();
        tile.set(t, args.input.get(t.into()));
        thread::sync_threads();
        let left = tile.get((t + 63) % 64);
        let middle = tile.get(t);
        let right = tile.get((t + 1) % 64);
        tile.set(t, left + middle + right);
    }
}

/// The named thread has executed the named line, even if other threads of its warp have read the same element at other
/// lines.
#[test]
fn a_race_names_a_line_of_the_other_thread() {
    for seed in SEEDS {
        let (report, _) = run::<three_points>(launch(1, 64).seed(seed), false);
        let left = report.sites.iter().find(|site| (site.action, site.space) == (Action::Load, Some(Space::Shared)));
        let left = left.expect("the neighbour on the left is read").at.line;
        let stores = report.findings.iter().filter_map(|finding| match &finding.problem {
            Problem::Race { place, action: Action::Store, other, .. } => Some((place.index as u32, other)),
            _ => None,
        });
        // The distance of the element from the thread that has read it.
        let read = stores.map(|(index, other)| (other.at.line - left, (64 + index - other.thread[0]) % 64));
        let read: Vec<_> = read.collect();
        assert!(!read.is_empty() && read.iter().all(|read| [(0, 63), (2, 1)].contains(read)), "{read:?}: {report}");
    }
}

kernel! {
    /// Passes a number to a thread that ignores the flag.
    pub fn ignored_flag<'l>(arena, args: Args<'l>) {
        let (shared, _) = arena.split::<u32>(2);
        let t = thread::thread_idx_x();
        shared.set(t, 0);
        thread::sync_threads();
        if t == 0 {
            shared.set(0, 42);
            fence::fence_block();
            shared.exchange(1, 1, Ordering::Relaxed);
        } else {
            shared.fetch_add(1, 0, Ordering::Relaxed);
            fence::fence_block();
            args.output.set(0, shared.get(0));
        }
    }
}

/// If the atomic operation of the reader is the later one, it synchronises with the earlier one. So not every seed shows the
/// race.
#[test]
fn some_seed_shows_a_race_that_atomics_may_hide() {
    let found = (0..30).filter(|seed| !run::<ignored_flag>(launch(1, 2).seed(*seed), false).0.is_clean()).count();
    assert!((1..30).contains(&found), "{found} seeds of 30");
}

/// Returns the text of the only finding, with its lines replaced by the names in `at`.
#[track_caller]
fn divergence<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(threads: u32, at: &[&str]) -> String {
    let (report, _) = run::<E>(launch(1, threads), false);
    let [finding] = &report.findings[..] else { panic!("{report}") };
    let Problem::BarrierDivergence { waiting, .. } = &finding.problem else { panic!("{finding}") };
    let places = waiting.iter().map(|(place, _)| place.to_string()).zip(at);
    places.fold(finding.problem.to_string(), |text, (place, name)| text.replace(&place, name))
}

kernel! {
    /// Two barriers for most threads. Some threads, which are not adjacent, execute none.
    pub fn scattered<'l>(_arena, _args: Args<'l>) {
        match thread::thread_idx_x() {
            0 => thread::sync_threads(),
            t if t % 10 != 7 => thread::sync_threads(),
            _ => {}
        }
    }
}

/// The finding describes all threads of the block: those that wait, and those that have ended.
#[test]
fn divergence_says_where_all_threads_are() {
    let texts = [
        divergence::<together::early_return>(64, &["A"]),
        divergence::<together::reuse_by_some>(64, &["A"]),
        divergence::<together::two_barriers>(64, &["A", "B"]),
        divergence::<scattered>(50, &["A", "B"]),
    ];
    let expected = [
        "50 threads wait at A (0 to 49), 14 have ended (50 to 63)",
        "63 threads wait at A (0 to 10, 12 to 63), 1 has ended (11)",
        "32 threads wait at A (0 to 31), 32 threads wait at B (32 to 63)",
        "1 thread waits at A (0), 44 threads wait at B (1 to 6, 8 to 16, 18 to 26, 28 to 36 and more), \
         5 have ended (7, 17, 27, 37 and more)",
    ];
    assert_eq!(texts, expected.map(|text| format!("barrier divergence: {text}")));
}

/// A barrier is identified by its line. With `#[track_caller]` on the helper, it is the caller's line.
#[test]
fn barriers_of_helpers_are_distinguished_by_callers() {
    for seed in SEEDS {
        let (report, _) = run::<helpers::told_barriers>(launch(1, 64).seed(seed), false);
        let [finding] = &report.findings[..] else { panic!("{report}") };
        assert!(matches!(finding.problem, Problem::BarrierDivergence { .. }), "{finding}");
    }
}

/// A block ends after the steps of its budget.
#[test]
fn waits_end_when_the_budget_is_exhausted() {
    let (report, _) = run::<together::endless_loads>(launch(1, 32).budget(1234), false);
    let [finding] = &report.findings[..] else { panic!("{report}") };
    assert!(matches!(finding.problem, Problem::OutOfSteps { budget: 1234, .. }), "{finding}");
}

/// The same seed gives the same report, and different seeds give different orders.
#[test]
fn seeds_reproduce() {
    let outputs = |seed| run::<races::racing_merge>(launch(1, 64).seed(seed), false);
    for seed in 0..5 {
        assert_eq!(outputs(seed), outputs(seed));
    }
    let first = |seed| run::<races::missing_barrier>(launch(1, 64).seed(seed), false).0.findings[0].thread;
    assert!((1..20).any(|seed| first(seed) != first(0)));
}
