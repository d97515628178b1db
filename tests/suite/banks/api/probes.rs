//! Probes on emulated devices. They count passes, which must equal the model's.

use super::indices;
use crate::common::SEED;
use cuda_std::Entry;
use cuda_std::image::Modules;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use slm::banks::{AccessKind, AccessPattern, Accumulation, BankError, BankModel, Named, Width};
use slm::emulator::Profile;
use slm::{Device, Error, LaunchShape};
use slm_kernels::banks::{self, ACCESSES, NOBODY, ProbeArgs, banks_probe};

/// Returns a device for each number of banks, and the model of its banks.
fn devices() -> [(Device, BankModel); 2] {
    [(Profile::SM_90, BankModel::NVIDIA), (Profile::SMALL, BankModel::SIXTEEN)]
        .map(|(profile, model)| (Device::emulated(profile, SEED), model))
}

/// Returns the kinds and widths that have kernels.
fn accesses() -> Vec<(AccessKind, Width)> {
    let all = AccessKind::ALL.into_iter().flat_map(|kind| Width::ALL.map(|width| (kind, width)));
    all.filter(|(kind, width)| *kind != AccessKind::Atomic || [Width::B4, Width::B8].contains(width)).collect()
}

#[track_caller]
fn agrees(device: &Device, model: BankModel, pattern: &AccessPattern) {
    let probe = pattern.probe(device).unwrap();
    let [passes, conflict_free_passes] = [pattern, &pattern.conflict_free()].map(|pattern| model.cost(pattern).passes);
    let cycles = [probe.cycles, probe.conflict_free_cycles];
    assert_eq!(cycles, [passes, conflict_free_passes].map(|passes| passes * probe.accesses), "{model:?}, {pattern:?}");
    assert_eq!(probe.cycles_per_access(), passes as f64);
    assert_eq!(probe.serialisation(), passes as f64 / conflict_free_passes as f64);
}

/// Strides 0 to 64 and the named patterns, by whole warps, with all kinds and widths and both numbers of banks.
#[test]
fn probes_count_the_models_passes() {
    for (device, model) in devices() {
        for (kind, width) in accesses() {
            for indices in indices().step_by(8) {
                agrees(&device, model, &AccessPattern::new(kind, width, |lane| indices[lane as usize]));
            }
        }
    }
}

/// For words, the serialisation is the degree.
#[test]
fn the_serialisation_of_words_is_the_degree() {
    let (device, model) = (Device::emulated(Profile::SM_90, 1), BankModel::NVIDIA);
    let strides = (0..=64).map(Named::Strided);
    for named in Named::SEVEN.into_iter().chain(strides) {
        for kind in AccessKind::ALL {
            let pattern = named.pattern(kind, Width::B4);
            let serialisation = pattern.probe(&device).unwrap().serialisation();
            assert_eq!(serialisation, f64::from(model.conflict_degree(&pattern)), "{named}, {kind}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: RngSeed::Fixed(SEED), ..ProptestConfig::default() })]

    /// Arbitrary elements and lanes.
    #[test]
    fn probes_of_anything(
        places in prop::sample::select(vec![4u32, 40, 4000]).prop_flat_map(|places| vec(0..places, 32)),
        lanes in prop_oneof![1..=u32::MAX, (0u32..32).prop_map(|lane| 1 << lane)],
        access in prop::sample::select(accesses()),
        bit in prop::sample::select(vec![0usize, 1, 2]),
    ) {
        let (kind, width) = access;
        let pattern = AccessPattern::new(kind, width, |lane| Some(places[lane as usize & !bit])).only(lanes);
        for (device, model) in devices() {
            agrees(&device, model, &pattern);
        }
    }
}

#[test]
fn accesses_that_cannot_be_measured() {
    let device = Device::emulated(Profile::SMALL, 0);
    let own = |kind, width| Named::Own.pattern(kind, width);
    assert_eq!(own(AccessKind::Load, Width::B4).only(0).probe(&device), Err(BankError::NoLanes.into()));
    for width in [Width::B1, Width::B2, Width::B16] {
        let error = Error::from(BankError::AtomicWidth { bytes: width.bytes() });
        assert_eq!(own(AccessKind::Atomic, width).probe(&device), Err(error));
    }
    let cpu = own(AccessKind::Store, Width::B8).probe(&Device::cpu());
    assert_eq!(cpu, Err(Error::KernelOnCpu { kernel: "banks_probe_store_8" }));
    // All of the memory, one element more, and the largest index.
    let last = |index| AccessPattern::load(Width::B8, |_| index).probe(&device).map(|probe| probe.cycles_per_access());
    let exceeded = |requested| {
        Err(Error::SharedMemoryExceeded { kernel: "banks_probe_load_8".to_owned(), requested, available: 64 << 10 })
    };
    assert_eq!(last(8191), Ok(4.0));
    assert_eq!(last(8192), exceeded((64 << 10) + 16));
    assert_eq!(last(u32::MAX), exceeded(8 << 32));
}

#[test]
fn a_conflict_free_pattern_has_the_same_lanes() {
    let pattern = AccessPattern::store(Width::B16, |lane| 32 * lane).only(0x8000_0011);
    let free = pattern.conflict_free();
    assert_eq!((free.kind(), free.width(), free.lanes()), (AccessKind::Store, Width::B16, 0x8000_0011));
    assert_eq!([0, 1, 4, 31].map(|lane| free.index(lane)), [Some(0), None, Some(4), Some(31)]);
}

/// Checks that each thread ends at its first index, because it read only zeros.
fn ends_at_its_first_index<E: for<'l> Entry<Args<'l> = ProbeArgs<'l>, Constants = ()>>(ways: u32) {
    let device = Device::emulated(Profile::SM_90, 5);
    let places: Vec<u32> = (0..32).map(|lane| if lane % 5 == 0 { NOBODY } else { 3 * lane }).collect();
    let input = device.upload(&places).unwrap();
    let (mut begins, mut ends) = (device.zeroed(3).unwrap(), device.zeroed(3).unwrap());
    let mut places_after = device.zeroed(96).unwrap();
    let shape = LaunchShape::new([1; 3], [96, 1, 1]).shared_bytes(94 * 16).allow_same_value_writes();
    let kernel = device.kernel::<E>(&Modules::NONE).unwrap();
    let launched = kernel.launch(shape, |windows| ProbeArgs {
        places: windows.input(&input),
        elements: 94,
        rounds: 2,
        zero: 0,
        begins: windows.output(&mut begins),
        ends: windows.output(&mut ends),
        places_after: windows.output(&mut places_after),
    });
    launched.unwrap();
    let expected = places.iter().cycle().map(|place| place.wrapping_mul(ways));
    assert!(places_after.download().unwrap().into_iter().eq(expected.take(96)), "{}", E::NAME);
    let [begins, ends] = [begins, ends].map(|times| times.download().unwrap());
    assert!(begins.iter().zip(&ends).all(|(begin, end)| end - begin >= (2 * ACCESSES).into()), "{begins:?} {ends:?}");
}

#[test]
fn every_probe_reads_zeros() {
    ends_at_its_first_index::<banks_probe<banks::Load<u8>>>(4);
    ends_at_its_first_index::<banks_probe<banks::Load<u16>>>(4);
    ends_at_its_first_index::<banks_probe<banks::Load<u32>>>(4);
    ends_at_its_first_index::<banks_probe<banks::Load<u64>>>(4);
    ends_at_its_first_index::<banks_probe<banks::LoadFour<u32>>>(4);
    ends_at_its_first_index::<banks_probe<banks::Store<u8>>>(1);
    ends_at_its_first_index::<banks_probe<banks::Store<u16>>>(1);
    ends_at_its_first_index::<banks_probe<banks::Store<u32>>>(1);
    ends_at_its_first_index::<banks_probe<banks::Store<u64>>>(1);
    ends_at_its_first_index::<banks_probe<banks::StoreFour<u32>>>(1);
    ends_at_its_first_index::<banks_probe<banks::Add<u32>>>(1);
    ends_at_its_first_index::<banks_probe<banks::Exchange<u64>>>(1);
}

/// Each iteration has a load and a store.
#[test]
fn accumulations_add_and_count() {
    for (device, model) in devices() {
        for stride in [1, 2, 15, 16, 17, 32, 33, 64] {
            let (iterations, factor) = (20, 0x2000_0001u32);
            let run = Accumulation { stride, iterations, factor }.run(&device).unwrap();
            assert_eq!(run.sums, [factor.wrapping_mul(19 * 20 / 2); 32]);
            let cost = model.cost(&Named::Strided(stride).pattern(AccessKind::Store, Width::B4));
            assert_eq!(run.cycles, 2 * 20 * cost.passes, "{model:?}, {stride}");
        }
    }
    let nothing = Accumulation { stride: 1, iterations: 0, factor: 1 }.run(&devices()[0].0).unwrap();
    assert_eq!((nothing.sums, nothing.cycles), (vec![0; 32], 0));
}

#[test]
fn invalid_accumulations() {
    let run = |stride, device: &Device| Accumulation { stride, iterations: 1, factor: 1 }.run(device).err();
    let (kernel, what) = ("banks_accumulate", "words between lanes");
    let small = Device::emulated(Profile::SMALL, 0);
    let none = Error::LaunchOutOfRange { kernel, what, requested: 0, available: u32::MAX.into() };
    assert_eq!(run(0, &small), Some(none));
    assert_eq!(run(1, &Device::cpu()), Some(Error::KernelOnCpu { kernel }));
    let exceeded = |requested| Error::SharedMemoryExceeded { kernel: kernel.to_owned(), requested, available: 65536 };
    assert_eq!(run(528, &small), None);
    assert_eq!(run(529, &small), Some(exceeded(65_600)));
    assert_eq!(run(u32::MAX, &small), Some(exceeded(4 * (31 * u64::from(u32::MAX) + 1).next_multiple_of(4))));
}
