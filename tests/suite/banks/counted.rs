//! The model compared with the counts of an H200 and of the emulator.

use super::{BankModel, indices};
use cuda_std::{Entry, GlobalIn, GlobalOut, Ordering, Shared, arguments, kernel, thread};
use slm::banks::{AccessKind, AccessPattern, Width};
use slm::emulator::{Action, Counts, Emulator, Launch, Profile, Space};

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

arguments! {
    /// Arguments of the kernels.
    pub struct Access {
        /// The element of each thread, or `u32::MAX` for none.
        pub index: GlobalIn<u32>,
        /// Receives a part of the loaded value.
        pub output: GlobalOut<u32>,
    }
}

/// Shared memory, enough for lane 31 with the largest stride and width.
const SHARED_BYTES: u32 = 64 * 32 * 16;

macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident: $t:ty, $first:expr, $second:expr;)*) => {$(
        kernel! {
            $(#[$doc])*
            pub fn $name(arena, args: Access) {
                let (tile, _) = arena.split::<$t>(SHARED_BYTES / size_of::<$t>() as u32);
                let (first, second): (fn(&Shared<$t>, u32), fn(&Shared<$t>, u32) -> u32) = ($first, $second);
                let t = thread::thread_idx_x().into();
                let i = args.index.get(t);
                if i != u32::MAX {
                    first(&tile, i);
                }
                thread::sync_threads();
                if i != u32::MAX {
                    args.output.set(t, second(&tile, i));
                }
            }
        }
    )*};
}

kernels! {
    /// Stores and loads a byte.
    bytes: u8, |tile, i| tile.set(i, 7), |tile, i| tile.get(i).into();
    /// Stores and loads two bytes.
    shorts: u16, |tile, i| tile.set(i, 7), |tile, i| tile.get(i).into();
    /// Stores and loads a word.
    words: u32, |tile, i| tile.set(i, 7), |tile, i| tile.get(i);
    /// Stores and loads eight bytes.
    longs: u64, |tile, i| tile.set(i, 7), |tile, i| tile.get(i) as u32;
    /// Stores and loads four words.
    fours: u32, |tile, i| tile.set_pack(4 * i, [7; 4]), |tile, i| tile.get_pack::<4>(4 * i)[1];
    /// Stores a word and adds to it.
    word_additions: u32, |tile, i| tile.set(i, 7), |tile, i| tile.fetch_add(i, 1, Ordering::Relaxed);
    /// Stores eight bytes and adds to them.
    long_additions: u64, |tile, i| tile.set(i, 7), |tile, i| tile.fetch_add(i, 1, Ordering::Relaxed) as u32;
}

/// Checks that the emulator's counts of a kernel equal the model's costs, for the store and for the access of `kind`.
fn agrees<E: Entry<Args = Access, Constants = ()>>(width: Width, kind: AccessKind) {
    for (profile, model) in [(Profile::SM_90, BankModel::NVIDIA), (Profile::SMALL, BankModel::SIXTEEN)] {
        for indices in indices() {
            let mut emulator = Emulator::new(profile);
            let index = emulator.upload(&indices.map(|index| index.unwrap_or(u32::MAX)));
            let output = emulator.allocate(32);
            let launch = Launch::new([1, 1, 1], [32, 1, 1])
                .shared_bytes(SHARED_BYTES)
                .allow_same_value_writes()
                .partial_outputs();
            let args = Access { index: index.input(), output: output.output() };
            let report = emulator.launch::<E>(launch, args, ()).unwrap();
            assert!(report.is_clean(), "{report}");
            for kind in [AccessKind::Store, kind] {
                let pattern = AccessPattern::new(kind, width, |lane| indices[lane as usize]);
                let counts = report.counts(action(kind), Some(Space::Shared));
                assert_eq!(predicted(model, &pattern), summary(counts), "{model:?}, {pattern:?}");
            }
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

fn predicted(model: BankModel, pattern: &AccessPattern) -> [u64; 5] {
    let cost = model.cost(pattern);
    // The emulator counts lanes at one address for atomic operations only.
    let lanes = if pattern.kind() == AccessKind::Atomic { cost.lanes_at_one_address } else { 0 };
    [cost.requests, cost.phases, cost.wavefronts, cost.passes, lanes.into()]
}

macro_rules! the_emulator_counts_the_same {
    ($($kernel:ident $width:ident $kind:ident;)*) => {
        /// A test per width, so that they run in parallel.
        mod the_emulator_counts_the_same {
            use super::{AccessKind, Width, agrees};
            $(
                #[test]
                fn $kernel() {
                    agrees::<super::$kernel>(Width::$width, AccessKind::$kind);
                }
            )*
        }
    };
}
the_emulator_counts_the_same! {
    bytes B1 Load;
    shorts B2 Load;
    words B4 Load;
    longs B8 Load;
    fours B16 Load;
    word_additions B4 Atomic;
    long_additions B8 Atomic;
}
