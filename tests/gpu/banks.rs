//! Accesses to shared memory take as long as the model of its banks says.

use super::{Failed, Trial, alone, ensure};
use slm::Device;
use slm::banks::{AccessKind, AccessPattern, Accumulation, BankModel, Named, Width};

pub(super) fn trials() -> Vec<Trial> {
    vec![
        alone("serialisation_of_loads", |device| serialisation(device, AccessKind::Load)),
        alone("serialisation_of_stores", |device| serialisation(device, AccessKind::Store)),
        alone("a_broadcast_is_free", a_broadcast_is_free),
        alone("parts_of_a_warp", parts_of_a_warp),
        alone("atomic_operations_are_measured", atomic_operations_are_measured),
        alone("accumulations", accumulations),
    ]
}

/// Within 10 % of what the model says.
fn is_predicted(device: &Device, pattern: &AccessPattern) -> Result<(), Failed> {
    let [passes, fewest] =
        [pattern, &pattern.conflict_free()].map(|pattern| BankModel::NVIDIA.cost(pattern).passes as f64);
    let (expected, probe) = (passes / fewest, pattern.probe(device)?);
    let off = (probe.serialisation() - expected).abs();
    ensure(off <= 0.1 * expected, || format!("{expected} expected of {pattern:?}: {probe:?}"))
}

/// The textbooks' patterns and all strides, of words. Wider elements with strides, which share nothing.
fn serialisation(device: &Device, kind: AccessKind) -> Result<(), Failed> {
    for named in Named::SEVEN.into_iter().chain((1..=64).map(Named::Strided)) {
        is_predicted(device, &named.pattern(kind, Width::B4))?;
    }
    for width in Width::ALL {
        for stride in 1..=64 {
            is_predicted(device, &Named::Strided(stride).pattern(kind, width))?;
        }
    }
    Ok(())
}

fn a_broadcast_is_free(device: &Device) -> Result<(), Failed> {
    for kind in [AccessKind::Load, AccessKind::Store] {
        is_predicted(device, &Named::Strided(0).pattern(kind, Width::B4))?;
        is_predicted(device, &AccessPattern::new(kind, Width::B4, |lane| Some(lane / 8)))?;
    }
    Ok(())
}

fn parts_of_a_warp(device: &Device) -> Result<(), Failed> {
    for kind in [AccessKind::Load, AccessKind::Store] {
        for lanes in [1, 0x7f, 0x5555_5555, 0x8421_3579] {
            is_predicted(device, &Named::Strided(32).pattern(kind, Width::B4).only(lanes))?;
        }
    }
    Ok(())
}

/// How long they take is not promised, only that more passes take longer.
fn atomic_operations_are_measured(device: &Device) -> Result<(), Failed> {
    for width in [Width::B4, Width::B8] {
        let probe = |stride| Named::Strided(stride).pattern(AccessKind::Atomic, width).probe(device);
        let [own, conflicting] = [probe(1)?, probe(32)?];
        ensure(conflicting.cycles > 4 * own.cycles, || format!("{own:?}, {conflicting:?}"))?;
    }
    Ok(())
}

fn accumulations(device: &Device) -> Result<(), Failed> {
    let run = |stride| Accumulation { stride, iterations: 1 << 20, factor: 5 }.run(device);
    let [conflicting, padded] = [run(32)?, run(33)?];
    let n = 1u64 << 20;
    let expected = vec![(5 * (n * (n - 1) / 2)) as u32; 32];
    ensure(conflicting.sums == expected && padded.sums == expected, || format!("{:?}", padded.sums))?;
    ensure(conflicting.cycles > padded.cycles, || format!("{} and {} cycles", conflicting.cycles, padded.cycles))
}
