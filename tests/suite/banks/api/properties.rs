//! Properties of all accesses.

use super::{agrees, models};
use crate::common::SEED;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use slm::banks::{AccessKind, AccessPattern, BankModel, Width};
use slm_test_support::banks::Prediction;

/// The element of each lane: few or many different ones. Some lanes are inactive, and in some cases lanes agree in pairs.
fn indices() -> impl Strategy<Value = Vec<Option<u32>>> {
    let places = prop::sample::select(vec![4u32, 40, 4000]).prop_flat_map(|places| vec(0..places, 32));
    let active = vec(prop::bool::weighted(0.8), 32);
    (places, active, prop::sample::select(vec![0usize, 1, 2])).prop_map(|(places, active, bit)| {
        (0..32).map(|lane: usize| active[lane].then_some(places[lane & !bit])).collect()
    })
}

fn kinds() -> impl Strategy<Value = AccessKind> {
    prop::sample::select(AccessKind::ALL.to_vec())
}

fn widths() -> impl Strategy<Value = Width> {
    prop::sample::select(Width::ALL.to_vec())
}

fn any_model() -> impl Strategy<Value = BankModel> {
    prop::sample::select(models())
}

fn pattern(kind: AccessKind, width: Width, indices: &[Option<u32>]) -> AccessPattern {
    AccessPattern::new(kind, width, |lane| indices[lane as usize])
}

/// Returns the number of lanes of a phase, if pairs of lanes make no difference.
fn lanes_of_a_phase(model: BankModel, width: Width) -> usize {
    (model.banks() * model.bank_bytes() / width.bytes().max(model.bank_bytes())).min(32) as usize
}

/// Returns whether the phases are independent of the addresses. For wide loads they are not.
fn has_one_length_of_phases(model: BankModel, kind: AccessKind, width: Width) -> bool {
    kind != AccessKind::Load || width <= Width::B4 || model != BankModel::NVIDIA
}

/// Returns a configuration with the same cases in every run.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(SEED), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn costs_are_those_of_the_definition(
        model in any_model(), kind in kinds(), width in widths(), indices in indices(),
    ) {
        agrees(model, &pattern(kind, width, &indices));
    }

    /// The cost depends on the addresses of a phase, not on their order.
    #[test]
    fn lanes_of_a_phase_can_change_places(
        model in any_model(), kind in kinds(), width in widths(), indices in indices(),
        order in Just((0..32usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        prop_assume!(has_one_length_of_phases(model, kind, width));
        let lanes = lanes_of_a_phase(model, width);
        let mut permuted = Vec::new();
        for phase in 0..32 / lanes {
            permuted.extend(order.iter().filter(|lane| *lane / lanes == phase).map(|lane| indices[*lane]));
        }
        let [one, other] = [&indices, &permuted].map(|indices| model.cost(&pattern(kind, width, indices)));
        prop_assert_eq!(one, other);
    }

    /// A lane with the address of another lane of its phase costs nothing, unless both update it.
    #[test]
    fn broadcast_is_free(
        model in any_model(), kind in kinds(), width in widths(), indices in indices(),
        from in 0..32usize, to in 0..32usize,
    ) {
        prop_assume!(kind != AccessKind::Atomic && has_one_length_of_phases(model, kind, width));
        let lanes = lanes_of_a_phase(model, width);
        let to = from / lanes * lanes + to % lanes;
        prop_assume!(from != to);
        let [mut alone, mut both] = [indices.clone(), indices];
        alone[from] = alone[from].or(Some(17));
        alone[to] = None;
        both[from] = alone[from];
        both[to] = alone[from];
        let [one, other] = [alone, both].map(|indices| model.cost(&pattern(kind, width, &indices)));
        prop_assert_eq!((one.phases, one.wavefronts, one.degree), (other.phases, other.wavefronts, other.degree));
    }

    /// More lanes never make a store or an atomic operation cheaper.
    #[test]
    fn lanes_cost_something(
        model in any_model(), store in any::<bool>(), width in widths(), indices in indices(), lanes in any::<u32>(),
    ) {
        let kind = if store { AccessKind::Store } else { AccessKind::Atomic };
        let all = pattern(kind, width, &indices);
        let [fewer, all] = [all.clone().only(lanes), all].map(|pattern| model.cost(&pattern));
        prop_assert!(fewer.passes <= all.passes && fewer.wavefronts <= all.wavefronts && fewer.degree <= all.degree);
    }

    /// Adding whole rows of banks to all addresses does not change the cost.
    #[test]
    fn rows_of_banks_can_be_added(
        model in any_model(), kind in kinds(), width in widths(), indices in indices(), rows in 0..1000u32,
    ) {
        let row = (model.banks() * model.bank_bytes()).div_ceil(width.bytes());
        let shifted: Vec<_> = indices.iter().map(|index| index.map(|index| index + rows * row)).collect();
        let [one, other] = [&indices, &shifted].map(|indices| model.cost(&pattern(kind, width, indices)));
        prop_assert_eq!(one, other);
    }

    #[test]
    fn padded_strides_are_free_of_conflicts(
        model in any_model(), width in widths(), stride in any::<u32>(), column in any::<u32>(),
    ) {
        let padded = model.padded_stride(stride, width);
        let pattern = AccessPattern::store(width, |row| padded.wrapping_mul(row).wrapping_add(column));
        let prediction = Prediction::of(model, &pattern);
        prop_assert_eq!(prediction.passes, prediction.phases);
        prop_assert!((stride..stride.saturating_add(32)).contains(&padded) || padded == stride);
    }

    /// A picture has no lines that are too long, and a row for each pass.
    #[test]
    fn pictures_are_complete(model in any_model(), kind in kinds(), width in widths(), indices in indices()) {
        let pattern = pattern(kind, width, &indices);
        let picture = model.explain(&pattern);
        prop_assert!(picture.lines().all(|line| line.len() <= 100 && line == line.trim_end()), "{}", picture);
        let rows = picture.lines().take_while(|line| !line.starts_with('+')).filter(|line| line.starts_with(' '));
        prop_assert_eq!(rows.count() as u64, model.cost(&pattern).passes, "{}", picture);
    }
}
