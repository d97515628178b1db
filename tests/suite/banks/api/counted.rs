//! The model compared with the counts of an H200 and of the emulator.

use super::{BankModel, indices};
use cuda_std::Entry;
use slm::banks::{AccessKind, AccessPattern, Width};
use slm::emulator::{Action, Counts, Emulator, Launch, Profile, Space};
use slm_kernels::banks::{ACCESSES, Add, Exchange, Load, LoadFour, NOBODY, ProbeArgs, Store, StoreFour, banks_probe};

/// Wavefronts of loads and stores by Nsight Compute on an H200, for accesses that distinguish possible rules.
/// `crates/emulator/catalogue` has more of them, and the method of measurement.
#[test]
fn wavefronts_are_those_of_an_h200() {
    use Width::{B1, B4, B8, B16};
    let all = u32::MAX;
    type Index = fn(u32) -> u32;
    let measured: [(Width, Index, u32, [u64; 2]); 29] = [
        (B4, |t| t, all, [1, 1]),
        (B4, |t| 3 * t, all, [1, 1]),
        (B4, |t| 16 * t, all, [16, 16]),
        (B4, |t| 33 * t, all, [1, 1]),
        (B4, |_| 5, all, [1, 1]),
        (B4, |t| t % 2 * 32, all, [2, 2]),
        (B4, |t| t / 16 * 32, all, [2, 2]),
        (B4, |t| 32 * t, 0x5555_5555, [16, 16]),
        (B4, |t| 32 * t, 0x8421_3579, [13, 13]),
        (B1, |t| 8 * t, all, [2, 2]),
        (B1, |t| 128 * t, all, [32, 32]),
        (B8, |t| t, all, [2, 2]),
        (B8, |t| 15 * t, all, [2, 2]),
        (B8, |t| 16 * t, all, [32, 32]),
        (B8, |_| 3, all, [1, 2]),
        (B8, |t| t / 2, all, [1, 2]),
        (B8, |t| t / 8 * 4 + t % 4, all, [2, 2]),
        (B8, |t| if t == 9 { 20 } else { t / 2 }, all, [3, 3]),
        (B8, |t| t % 2 * 16 + t / 2, all, [4, 4]),
        (B8, |t| t, 0x00ff_ff00, [2, 2]),
        (B8, |t| t / 2, 0x5555_5555, [1, 2]),
        (B16, |t| t, all, [4, 4]),
        (B16, |t| 2 * t, all, [8, 8]),
        (B16, |_| 2, all, [2, 4]),
        (B16, |t| t / 4 * 2 + t % 2, all, [2, 4]),
        (B16, |t| t % 4 * 8 + t / 4, all, [16, 16]),
        (B16, |t| t, 0x0000_0ff0, [2, 2]),
        (B16, |t| t, 0x2020_2020, [4, 4]),
        (B16, |t| t / 2, 0x5555_5555, [2, 4]),
    ];
    for (k, (width, index, lanes, expected)) in measured.into_iter().enumerate() {
        let patterns = [AccessPattern::load, AccessPattern::store].map(|of| of(width, index).only(lanes));
        assert_eq!(patterns.map(|pattern| BankModel::NVIDIA.cost(&pattern).wavefronts), expected, "number {k}");
    }
}

/// The same for additions to words. If all lanes add to the same word, and the compiler knows it, one wavefront was measured
/// instead of the model's 32 passes.
#[test]
fn passes_of_additions_are_wavefronts_of_an_h200() {
    let scattered = |lane: u32| {
        let mut bits = (lane + 1).wrapping_mul(0x9e37_79b9) ^ 6u32.wrapping_mul(0x85eb_ca6b);
        bits = (bits ^ bits >> 15).wrapping_mul(0x2c1b_3c6d);
        (bits ^ bits >> 13) % 64
    };
    let passes = |pattern: AccessPattern| BankModel::NVIDIA.cost(&pattern).passes;
    let add = |index: fn(u32) -> u32| AccessPattern::atomic(Width::B4, index);
    assert_eq!(passes(add(|t| t)), 1);
    assert_eq!(passes(add(|t| t / 2)), 2);
    assert_eq!(passes(add(|t| 32 * t)), 32);
    assert_eq!(passes(AccessPattern::atomic(Width::B4, scattered)), 3);
    assert_eq!(passes(add(|t| t).only(0x7f)), 1);
}

/// Checks that the accesses of a probe cost what the model says.
fn agrees<E: for<'l> Entry<Args<'l> = ProbeArgs<'l>, Constants = ()>>(kind: AccessKind, width: Width) {
    for (profile, model) in [(Profile::SM_90, BankModel::NVIDIA), (Profile::SMALL, BankModel::SIXTEEN)] {
        let mut emulator = Emulator::new(profile);
        for indices in indices() {
            let elements = indices.iter().flatten().max().map_or(0, |last| last + 1);
            let launch = Launch::new([1; 3], [32, 1, 1])
                .shared_bytes((elements * width.bytes()).next_multiple_of(16))
                .allow_same_value_writes()
                .partial_outputs();
            let places = emulator.upload(&indices.map(|index| index.unwrap_or(NOBODY)));
            let (begins, ends) = (emulator.allocate(1), emulator.allocate(1));
            let places_after = emulator.allocate(32);
            let args = ProbeArgs {
                places: places.input(),
                elements,
                rounds: 1,
                zero: 0,
                begins: begins.output(),
                ends: ends.output(),
                places_after: places_after.output(),
            };
            let report = emulator.launch::<E>(launch, args, ()).unwrap();
            assert!(report.is_clean(), "{report}");
            let pattern = AccessPattern::new(kind, width, |lane| indices[lane as usize]);
            let counts = report.counts(action(kind), Some(Space::Shared));
            assert_eq!(predicted(model, &pattern), summary(counts), "{model:?}, {pattern:?}");
        }
    }
}

fn action(kind: AccessKind) -> Action {
    match kind {
        AccessKind::Load => Action::Load,
        AccessKind::Store => Action::Store,
        AccessKind::Atomic => Action::Atomic,
    }
}

fn summary(counts: Counts) -> [u64; 5] {
    [counts.requests, counts.fewest_wavefronts, counts.wavefronts, counts.passes, counts.degree.into()]
}

/// Returns the costs of all accesses of a round.
fn predicted(model: BankModel, pattern: &AccessPattern) -> [u64; 5] {
    let cost = model.cost(pattern);
    // The emulator counts lanes at one address for atomic operations only.
    let lanes = if pattern.kind() == AccessKind::Atomic { cost.lanes_at_one_address } else { 0 };
    let [requests, phases, wavefronts, passes] =
        [cost.requests, cost.phases, cost.wavefronts, cost.passes].map(|cost| cost * u64::from(ACCESSES));
    [requests, phases, wavefronts, passes, lanes.into()]
}

macro_rules! the_emulator_counts_the_same {
    ($($kernel:ident: $access:ty, $kind:ident $width:ident;)*) => {
        /// One test per width and kind, so that all cores are busy.
        mod the_emulator_counts_the_same {
            use super::{AccessKind, Add, Exchange, Load, LoadFour, Store, StoreFour, Width, agrees, banks_probe};
            $(
                #[test]
                fn $kernel() {
                    agrees::<banks_probe<$access>>(AccessKind::$kind, Width::$width);
                }
            )*
        }
    };
}
the_emulator_counts_the_same! {
    loads_of_a_byte: Load<u8>, Load B1;
    loads_of_two_bytes: Load<u16>, Load B2;
    loads_of_a_word: Load<u32>, Load B4;
    loads_of_two_words: Load<u64>, Load B8;
    loads_of_four_words: LoadFour<u32>, Load B16;
    stores_of_a_byte: Store<u8>, Store B1;
    stores_of_two_bytes: Store<u16>, Store B2;
    stores_of_a_word: Store<u32>, Store B4;
    stores_of_two_words: Store<u64>, Store B8;
    stores_of_four_words: StoreFour<u32>, Store B16;
    additions_to_a_word: Add<u32>, Atomic B4;
    exchanges_of_two_words: Exchange<u64>, Atomic B8;
}
