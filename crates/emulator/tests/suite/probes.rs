//! The emulator's counts of the catalogue's probes.

use crate::planted::{launch, run};
use catalogue::probes::{Probe, ProbeVisitor, visit};
use catalogue::{Args, turns};
use cuda_std::Entry;
use cuda_std::host::Space;
use emulator::Action;

/// Wavefronts of loads, stores and atomic operations of each probe.
const WAVEFRONTS: &[(&str, [u64; 3])] = &[
    ("words", [1, 1, 0]),
    ("words_2", [2, 2, 0]),
    ("words_3", [1, 1, 0]),
    ("words_4", [4, 4, 0]),
    ("words_8", [8, 8, 0]),
    ("words_16", [16, 16, 0]),
    ("words_17", [1, 1, 0]),
    ("words_32", [32, 32, 0]),
    ("words_33", [1, 1, 0]),
    ("words_reversed", [1, 1, 0]),
    ("words_permuted", [1, 1, 0]),
    ("words_scattered", [3, 3, 0]),
    ("words_scattered_far", [4, 4, 0]),
    ("words_broadcast", [1, 1, 0]),
    ("words_two_broadcasts", [1, 1, 0]),
    ("words_two_broadcasts_in_a_bank", [2, 2, 0]),
    ("words_two_halves_in_a_bank", [2, 2, 0]),
    ("words_of_1", [1, 1, 0]),
    ("words_of_7", [1, 1, 0]),
    ("words_of_16", [1, 1, 0]),
    ("words_of_17", [1, 1, 0]),
    ("words_of_31", [1, 1, 0]),
    ("words_of_evens", [1, 1, 0]),
    ("words_of_evens_32", [16, 16, 0]),
    ("words_of_some_32", [13, 13, 0]),
    ("words_of_three_warps", [5, 5, 0]),
    ("bytes", [1, 1, 0]),
    ("bytes_4", [1, 1, 0]),
    ("bytes_8", [2, 2, 0]),
    ("bytes_128", [32, 32, 0]),
    ("bytes_scattered", [3, 3, 0]),
    ("shorts", [1, 1, 0]),
    ("shorts_64", [32, 32, 0]),
    ("byte_fours", [1, 1, 0]),
    ("longs", [2, 2, 0]),
    ("word_pairs", [2, 2, 0]),
    ("longs_2", [4, 4, 0]),
    ("longs_3", [2, 2, 0]),
    ("longs_16", [32, 32, 0]),
    ("longs_15", [2, 2, 0]),
    ("longs_permuted", [4, 4, 0]),
    ("longs_scattered", [6, 6, 0]),
    ("longs_broadcast", [1, 2, 0]),
    ("longs_shared_by_1", [1, 2, 0]),
    ("longs_shared_by_2", [1, 2, 0]),
    ("longs_shared_by_4", [2, 2, 0]),
    ("longs_shared_by_16", [2, 2, 0]),
    ("longs_shared_but_one", [3, 3, 0]),
    ("longs_by_parity", [4, 4, 0]),
    ("longs_of_16", [1, 1, 0]),
    ("longs_of_the_middle", [2, 2, 0]),
    ("longs_of_evens", [1, 2, 0]),
    ("longs_of_evens_apart", [2, 2, 0]),
    ("longs_of_odds", [1, 2, 0]),
    ("longs_of_first_pairs", [1, 2, 0]),
    ("longs_of_second_pairs", [1, 2, 0]),
    ("longs_shared_without_8", [1, 2, 0]),
    ("longs_shared_without_9", [1, 2, 0]),
    ("longs_shared_by_halves", [2, 2, 0]),
    ("longs_shared_in_a_half", [2, 2, 0]),
    ("longs_of_17", [2, 2, 0]),
    ("longs_of_2", [2, 2, 0]),
    ("fours", [4, 4, 0]),
    ("long_pairs", [4, 4, 0]),
    ("fours_2", [8, 8, 0]),
    ("fours_3", [4, 4, 0]),
    ("fours_8", [32, 32, 0]),
    ("fours_reversed", [4, 4, 0]),
    ("fours_permuted", [16, 16, 0]),
    ("fours_scattered", [11, 11, 0]),
    ("fours_broadcast", [2, 4, 0]),
    ("fours_shared_by_1", [2, 4, 0]),
    ("fours_shared_by_2", [2, 4, 0]),
    ("fours_shared_by_4", [2, 4, 0]),
    ("fours_shared_by_16", [4, 4, 0]),
    ("fours_shared_by_quarters", [4, 4, 0]),
    ("fours_shared_but_one", [5, 5, 0]),
    ("fours_by_4", [16, 16, 0]),
    ("fours_by_parity", [8, 8, 0]),
    ("fours_with_a_swap", [6, 6, 0]),
    ("fours_of_8", [1, 1, 0]),
    ("fours_of_8_across", [2, 2, 0]),
    ("fours_of_4", [4, 4, 0]),
    ("fours_of_evens", [2, 4, 0]),
    ("fours_of_evens_apart", [4, 4, 0]),
    ("fours_of_odds", [2, 4, 0]),
    ("fours_of_first_pairs", [2, 4, 0]),
    ("fours_of_second_pairs", [2, 4, 0]),
    ("fours_shared_without_8", [2, 4, 0]),
    ("fours_shared_without_9", [2, 4, 0]),
    ("fours_shared_by_halves", [4, 4, 0]),
    ("fours_shared_in_a_half", [4, 4, 0]),
    ("fours_of_31", [4, 4, 0]),
    ("add_own", [0, 1, 1]),
    ("add_own_and_ask", [0, 1, 1]),
    ("add_same", [0, 1, 1]),
    ("add_same_and_ask", [0, 1, 1]),
    ("add_pairs", [0, 1, 1]),
    ("add_32", [0, 32, 32]),
    ("add_scattered", [0, 2, 2]),
    ("add_of_7", [0, 1, 1]),
    ("swap_own", [0, 1, 1]),
    ("swap_same", [0, 1, 1]),
    ("swap_long", [0, 2, 2]),
];

/// Visitor that collects counts in the format of `WAVEFRONTS`.
#[derive(Default)]
struct Count(Vec<(&'static str, [u64; 3])>);

impl ProbeVisitor for Count {
    fn visit<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(&mut self, probe: &Probe) {
        let launch = launch(1, probe.threads).allow_same_value_writes();
        let (report, _) = run::<E>(launch, false);
        assert!(report.is_clean(), "{report}");
        let counts =
            [Action::Load, Action::Store, Action::Atomic].map(|action| report.counts(action, Some(Space::Shared)));
        // One store of each warp, and one other access of the same number of lanes.
        let [loads, stores, atomics] = counts.map(|counts| [counts.requests, counts.lanes]);
        let others = [loads[0] + atomics[0], loads[1] + atomics[1]];
        assert_eq!((stores[0], stores), (u64::from(probe.threads.div_ceil(32)), others), "{report}");
        self.0.push((probe.name, counts.map(|counts| counts.wavefronts)));
    }
}

#[test]
fn wavefronts() {
    let mut count = Count::default();
    visit(&mut count);
    let rows: String = count.0.iter().map(|(name, counts)| format!("    (\"{name}\", {counts:?}),\n")).collect();
    assert!(count.0 == WAVEFRONTS, "this is counted:\n{rows}");
}

/// Visitor that checks the compiled code of each probe.
struct Compiled(String);

impl ProbeVisitor for Compiled {
    fn visit<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(&mut self, probe: &Probe) {
        let (_, code) = self.0.split_once(&format!(".entry {}(", probe.name)).expect("all are in one module");
        let (code, _) = code.split_once("\n}").expect("the entry point has an end");
        let [all, stores, loads, atomics, aligned, unaligned] =
            [".shared.", "st.shared.", "ld.shared.", ".cta.shared.", "bar.sync", "barrier.sync"]
                .map(|text| code.matches(text).count());
        // Which kind of barrier it is depends on the other kernels of the module.
        let barriers = aligned + unaligned;
        assert_eq!((all, stores, loads + atomics, barriers), (2, 1, 1, 1), "{}:{code}", probe.name);
    }
}

/// The compiled probes have the accesses and the barrier of the source, none added, omitted or copied. So a GPU's counts are
/// comparable.
#[test]
fn compiled_probes_are_as_written() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../catalogue/ptx/catalogue.sm_80.ptx");
    visit(&mut Compiled(std::fs::read_to_string(file).expect("committed")));
}

/// Instructions of each kernel of `turns`: loads, stores and atomic operations of shared memory, loads and stores of global
/// memory.
const INSTRUCTIONS: &[(&str, [usize; 5])] = &[
    ("clamped_tile", [1, 1, 0, 1, 1]),
    ("clamped_tile_at_the_end", [1, 1, 0, 1, 1]),
    ("wrapped_tile", [1, 1, 0, 1, 1]),
    ("torus_tile", [1, 1, 0, 1, 1]),
    ("clamped_fours", [1, 1, 0, 1, 1]),
    ("red_black", [1, 1, 0, 0, 1]),
    ("red_black_of_seven", [1, 1, 0, 0, 1]),
    ("red_black_continued", [1, 1, 0, 0, 1]),
    ("chosen_turns_continued", [1, 1, 0, 1, 1]),
    ("red_black_update", [2, 2, 0, 0, 0]),
    ("three_colours", [1, 1, 0, 0, 1]),
    ("colours_beside_all", [1, 1, 0, 1, 1]),
    ("scattered_turns", [1, 1, 0, 0, 1]),
    ("triangle", [1, 1, 0, 0, 1]),
    ("triangle_unrolled", [1, 1, 0, 0, 1]),
    ("early_exits", [1, 1, 0, 0, 1]),
    ("early_exits_anywhere", [1, 1, 0, 0, 1]),
    ("breaks", [1, 1, 0, 1, 1]),
    ("early_returns", [1, 1, 0, 0, 1]),
    ("ragged_rows", [1, 1, 0, 1, 1]),
    ("ragged_rows_unrolled", [1, 1, 0, 1, 1]),
    ("grid_stride", [0, 0, 0, 1, 1]),
    ("fours_and_a_rest", [0, 0, 0, 5, 1]),
    ("rows_of_sixteen", [1, 1, 0, 1, 1]),
    ("ring", [1, 1, 0, 0, 1]),
    ("histogram_of_data", [1, 1, 1, 1, 1]),
    ("chosen", [0, 1, 0, 1, 1]),
];

/// Visitor that counts the instructions in the compiled code.
struct Instructions(String, Vec<(&'static str, [usize; 5])>);

impl ProbeVisitor for Instructions {
    fn visit<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(&mut self, probe: &Probe) {
        let (_, code) = self.0.split_once(&format!(".entry {}(", probe.name)).expect("all are in one module");
        let (code, _) = code.split_once("\n}").expect("the entry point has an end");
        let texts = ["ld.shared.", "st.shared.", ".cta.shared.", "ld.global.", "st.global."];
        self.1.push((probe.name, texts.map(|text| code.matches(text).count())));
    }
}

/// No loop is unrolled: each access in the source is one instruction.
#[test]
fn compiled_turns_are_as_written() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../catalogue/ptx/catalogue.sm_80.ptx");
    let mut instructions = Instructions(std::fs::read_to_string(file).expect("committed"), Vec::new());
    turns::visit(&mut instructions);
    assert_eq!(instructions.1, INSTRUCTIONS);
}
