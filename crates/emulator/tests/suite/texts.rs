//! Texts of findings, and results of shuffles.

use crate::planted::{launch, run};
use catalogue::{Args, arena, blocks, races, together};
use cuda_std::{Entry, GlobalIn, GlobalInOut, GlobalOut, arguments, kernel, thread, warp};
use emulator::{BlockStates, Emulator, Launch, LaunchError, Problem, Profile};

/// Returns the texts of all findings of a kernel's bug.
fn texts<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(launch: Launch) -> Vec<String> {
    run::<E>(launch, false).0.findings.iter().map(|finding| finding.problem.to_string()).collect()
}

kernel! {
    /// Lanes shuffle from lane 16, in a block of 16 threads.
    pub fn no_such_lane<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        args.output.set(t.into(), warp::shuffle(warp::FULL, t, 16));
    }
}

kernel! {
    /// Lanes shuffle from lane 20, which has ended.
    pub fn ended_lane<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        if t != 20 {
            args.output.set(t.into(), warp::shuffle(warp::FULL, t, 20));
        }
    }
}

kernel! {
    /// Lanes shuffle from lane 20, which waits at the block's barrier.
    pub fn lane_elsewhere<'l>(_arena, args: Args<'l>) {
        let t = thread::thread_idx_x();
        if t != 20 {
            args.output.set(t.into(), warp::shuffle(warp::FULL, t, 20));
        }
        thread::sync_threads();
    }
}

#[test]
fn a_shuffle_finding_says_why_a_lane_has_no_value() {
    let foreign =
        |texts: Vec<String>| texts.into_iter().find(|text| text.starts_with("a shuffle")).expect("it is found");
    assert_eq!(
        foreign(texts::<no_such_lane>(launch(1, 16))),
        "a shuffle from lane 16, which the block does not have, although it is in the mask 0xffffffff"
    );
    assert_eq!(
        foreign(texts::<ended_lane>(launch(1, 32))),
        "a shuffle from lane 20, which has ended, although it is in the mask 0xffffffff"
    );
    assert_eq!(
        foreign(texts::<lane_elsewhere>(launch(1, 32))),
        "a shuffle from lane 20, which waits elsewhere, although it is in the mask 0xffffffff"
    );
    let text = foreign(texts::<together::foreign_lane>(launch(1, 32)));
    assert!(text.contains(", which is not in the mask 0x"), "{text}");
}

#[test]
fn races_of_the_same_bits_say_that_they_can_be_allowed() {
    let remark = "; both store the same bits, which `allow_same_value_writes` of the launch allows";
    let same = texts::<races::same_value>(launch(1, 64));
    assert!(same[0].starts_with("data race: store") && same[0].ends_with(remark), "{same:?}");
    let other = texts::<races::wide_store>(launch(1, 64));
    assert!(other[0].starts_with("data race: store") && !other[0].contains("same bits"), "{other:?}");
}

#[test]
fn a_wait_for_another_block_reports_the_states_of_all_blocks() {
    let (report, _) = run::<blocks::look_back_by_index>(launch(32, 1), false);
    let [finding] = &report.findings[..] else { panic!("{report}") };
    let Problem::OutOfSteps { blocks: BlockStates { ended, begun, waiting }, .. } = finding.problem else {
        panic!("{finding}")
    };
    assert!(ended + begun + waiting == 32 && begun > 1 && waiting > 0, "{finding}");
    let text = format!(
        "(of 32 blocks {ended} have ended, {begun} are running, {waiting} have not begun; a block may wait only for \
         blocks that have begun)"
    );
    assert!(finding.to_string().contains(&text), "{finding}");
    // A single block can only wait for its own threads.
    let alone = texts::<together::endless_loads>(launch(1, 32));
    assert!(!alone[0].contains("blocks"), "{alone:?}");
}

#[test]
fn splits_name_both_threads_lines_and_sizes() {
    let (report, _) = run::<arena::split_of_another_type>(launch(1, 64), false);
    let Problem::SplitDivergence { split, other } = &report.findings[0].problem else { panic!("{report}") };
    assert_eq!([split.bytes.min(other.bytes), split.bytes.max(other.bytes), split.base, other.base], [256, 512, 0, 0]);
    assert!((split.thread[0] < 32) != (other.thread[0] < 32) && split.at != other.at, "{report}");
    let text = report.findings[0].to_string();
    assert!(text.starts_with("different splits of shared memory: thread ["), "{text}");
    assert!(text.contains(&other.at.to_string()) && text.contains(&split.at.to_string()), "{text}");
}

arguments! {
    /// Arguments of `shuffles`.
    pub struct Shuffling<'l> {
        /// Distance of the shuffles.
        pub distance: u32,
        /// Receives the results of the four shuffles for each of 32 lanes.
        pub output: GlobalOut<'l, u32>,
    }
}

kernel! {
    /// The lanes of a warp exchange their indices by four shuffles.
    pub fn shuffles<'l>(_arena, args: Shuffling<'l>) {
        let (t, n) = (thread::thread_idx_x(), args.distance);
        let answers = [
            warp::shuffle(warp::FULL, t, n),
            warp::shuffle_up(warp::FULL, t, n),
            warp::shuffle_down(warp::FULL, t, n),
            warp::shuffle_xor(warp::FULL, t, n),
        ];
        for (k, answer) in answers.into_iter().enumerate() {
            args.output.set(32 * k as u64 + u64::from(t), answer);
        }
    }
}

/// GPUs take distances modulo 32.
#[test]
fn distances_of_shuffles_are_modulo_32() {
    for distance in [0, 1, 31, 32, 33, 64, u32::MAX] {
        let mut emulator = Emulator::new(Profile::SM_90);
        let output = emulator.allocate(128);
        let args = Shuffling { distance, output: output.output() };
        let report = emulator.launch::<shuffles>(Launch::new([1; 3], [32, 1, 1]), args, ()).unwrap();
        assert!(report.is_clean(), "{report}");
        let n = distance % 32;
        let down = |t: u32| if t + n < 32 { t + n } else { t };
        let expected = (0..32).map(|_| n).chain((0..32).map(|t: u32| t.checked_sub(n).unwrap_or(t)));
        let expected = expected.chain((0..32).map(down)).chain((0..32).map(|t| t ^ n));
        assert_eq!(emulator.download(&output), expected.collect::<Vec<u32>>(), "{distance}");
    }
}

kernel! {
    /// Writes a part of an output without a name.
    pub fn half<'l>(_arena, output: GlobalOut<'l, u16>) {
        output.set_if(thread::thread_idx_x() < 16, thread::thread_idx_x().into(), 1);
    }
}

/// Launches `half` on an output of 32 elements, the last of which already contain `written`. Returns the texts of its
/// findings.
fn half_of(launch: Launch, written: &[u16]) -> Vec<String> {
    let mut emulator = Emulator::new(Profile::SM_90);
    let output = emulator.allocate::<u16>(32);
    emulator.overwrite(&output, 32 - written.len(), written);
    let report = emulator.launch::<half>(launch, output.output(), ()).unwrap();
    report.findings.iter().map(|finding| finding.problem.to_string()).collect()
}

#[test]
fn outputs_must_be_written() {
    let launch = Launch::new([1; 3], [32, 1, 1]);
    let found = half_of(launch, &[0; 10]);
    let text = "unwritten output: 6 of 32 elements of the output have never been written, the first is element 16, which \
                the masked store at ";
    assert!(found.len() == 1 && found[0].starts_with(text) && found[0].contains("texts.rs:"), "{found:?}");
    assert_eq!(half_of(launch, &[0; 16]), [""; 0]);
    assert_eq!(half_of(launch.partial_outputs(), &[]), [""; 0]);
}

/// A finding does not name a masked store of an earlier launch.
#[test]
fn outputs_name_masked_stores_of_their_own_launch() {
    let mut emulator = Emulator::new(Profile::SM_90);
    let output = emulator.allocate::<u16>(40);
    let mut found = |threads: u32| {
        let report = emulator.launch::<half>(Launch::new([1; 3], [threads, 1, 1]), output.output(), ()).unwrap();
        report.findings[0].problem.to_string()
    };
    assert!(
        found(40).contains("24 of 40 elements of the output have never been written, the first is element 16, which")
    );
    assert!(found(10).ends_with("24 of 40 elements of the output have never been written, the first is element 16"));
}

arguments! {
    /// Arguments of `changed`.
    pub struct Changes<'l> {
        /// The numbers.
        pub input: GlobalIn<'l, u16>,
        /// Is changed.
        pub x: GlobalInOut<'l, u16>,
        /// Receives the numbers.
        pub output: GlobalOut<'l, u16>,
    }
}

kernel! {
    /// Each thread changes an element, and writes one.
    pub fn changed<'l>(_arena, args: Changes<'l>) {
        let t = u64::from(thread::thread_idx_x());
        args.x.set(t, args.x.get(t) + 1);
        args.output.set_if(t % 2 == 0, t, args.input.get(t));
    }
}

/// Launches `changed` twice on written buffers of 40 elements, the second time as `launch`. Returns the texts of its findings.
fn changed_by(launch: Launch) -> Result<Vec<String>, LaunchError> {
    let mut emulator = Emulator::new(Profile::SM_90);
    let [input, x, output] = [1, 2, 3].map(|value| emulator.upload(&[value; 40]));
    let args = Changes { input: input.input(), x: x.in_out(), output: output.output() };
    let whole = Launch::new([1; 3], [40, 1, 1]);
    assert!(emulator.launch::<changed>(whole, args, ())?.is_clean());
    let report = emulator.launch::<changed>(launch, args, ())?;
    Ok(report.findings.iter().map(|finding| finding.problem.to_string()).collect())
}

/// Elements that an earlier launch or the host has written count only if the launch need not write the output whole.
#[test]
fn whole_outputs_are_written_by_the_launch() {
    let launch = Launch::new([1; 3], [32, 1, 1]);
    assert_eq!(changed_by(launch), Ok(vec![]));
    let x = "unwritten output: 8 of 40 elements of `x` have not been written by this launch, the first is element 32";
    assert_eq!(changed_by(launch.whole_outputs(&["x"])), Ok(vec![x.to_owned()]));
    assert_eq!(changed_by(launch.partial_outputs().whole_outputs(&["x"])), Ok(vec![x.to_owned()]));
    let whole = Launch::new([1; 3], [40, 1, 1]);
    assert_eq!(changed_by(whole.whole_outputs(&["x"])), Ok(vec![]));
    let found = changed_by(whole.whole_outputs(&["output", "x"])).unwrap();
    let output = "unwritten output: 20 of 40 elements of `output` have not been written by this launch, the first is element 1, \
                  which the masked store at ";
    assert!(found.len() == 1 && found[0].starts_with(output) && found[0].contains("texts.rs:"), "{found:?}");
}

#[test]
fn only_outputs_can_be_written_whole() {
    for field in ["input", "y", ""] {
        let fields: &[_] = match field {
            "input" => &["x", "input"],
            "y" => &["y"],
            _ => &[""],
        };
        let launch = Launch::new([1; 3], [40, 1, 1]).whole_outputs(fields);
        assert_eq!(changed_by(launch), Err(LaunchError::NotAnOutput { field }));
    }
}

/// A window that is itself the argument has an empty name. An earlier launch has written its elements.
#[test]
fn a_whole_output_without_a_name() {
    let launch = Launch::new([1; 3], [32, 1, 1]).whole_outputs(&[""]);
    let text = "unwritten output: 16 of 32 elements of the output have not been written by this launch, the first is element 16, \
                which the masked store at ";
    let found = half_of(launch, &[0; 32]);
    assert!(found.len() == 1 && found[0].starts_with(text), "{found:?}");
}
