//! Bank conflicts: the model compared with a naive oracle and with the counts of a GPU and of the emulator, properties of
//! the model, and probes.

mod counted;
mod errors;
mod pictures;
mod probes;
mod properties;
mod tiles;

use slm::Result;
use slm::banks::{AccessKind, AccessPattern, BankError, BankModel, Named, Width};
use slm_test_support::banks::Prediction;

/// Returns models with various numbers of banks and bytes.
fn models() -> Vec<BankModel> {
    let others = [(1, 16), (2, 8), (4, 4), (8, 4), (32, 1), (32, 2), (32, 8), (32, 16)];
    let others = others.map(|(banks, bytes)| BankModel::new(banks, bytes).unwrap());
    [BankModel::NVIDIA, BankModel::SIXTEEN].into_iter().chain(others).collect()
}

/// Returns the elements of each pattern, for all kinds and widths: for whole warps and for some of the lanes.
fn indices() -> impl Iterator<Item = [Option<u32>; 32]> {
    let all = |index: &dyn Fn(u32) -> u32| std::array::from_fn(|lane| Some(index(lane as u32)));
    let named = Named::SEVEN.map(|named| all(&|lane| named.index(lane)));
    let strided = (0..=64).map(move |stride| all(&|lane| stride * lane));
    let whole: Vec<[Option<u32>; 32]> = strided.chain(named).collect();
    whole.into_iter().flat_map(|indices| {
        const SOME: [u32; 8] = [u32::MAX, 0, 1, 0x7f, 0xffff, 0x5555_5555, 0x3333_cccc, 0x8421_3579];
        SOME.map(|lanes| std::array::from_fn(|lane| indices[lane].filter(|_| lanes >> lane & 1 == 1)))
    })
}

#[track_caller]
fn agrees(model: BankModel, pattern: &AccessPattern) {
    let (cost, predicted) = (model.cost(pattern), Prediction::of(model, pattern));
    assert_eq!(Prediction::from(cost), predicted, "{model:?}, {pattern:?}");
    assert_eq!(model.conflict_degree(pattern), cost.degree);
    assert_eq!(cost.requests, u64::from(pattern.lanes() != 0));
    assert_eq!(cost.is_conflict_free(), cost.passes == cost.phases);
    assert!(cost.phases <= cost.wavefronts && cost.wavefronts <= cost.passes);
    let slowdown = if cost.phases == 0 { 1.0 } else { cost.passes as f64 / cost.phases as f64 };
    assert_eq!(cost.slowdown(), slowdown);
}

/// Strides 0 to 64 and the named patterns, by whole and partial warps, with all kinds, widths and models.
#[test]
fn costs_are_those_of_the_definition() {
    for indices in indices() {
        for model in models() {
            for (kind, width) in AccessKind::ALL.into_iter().flat_map(|kind| Width::ALL.map(|width| (kind, width))) {
                agrees(model, &AccessPattern::new(kind, width, |lane| indices[lane as usize]));
            }
        }
    }
}

/// The textbook rule: the conflict degree of words at a stride is the greatest common divisor of the stride and the number
/// of banks.
#[test]
fn the_degree_of_a_stride_is_a_greatest_common_divisor() {
    let divisor = |a: u32, b: u32| (1..=b).rev().find(|k| a.is_multiple_of(*k) && b.is_multiple_of(*k)).unwrap();
    for stride in 1..=64 {
        for model in [BankModel::NVIDIA, BankModel::SIXTEEN] {
            for pattern in [AccessPattern::load, AccessPattern::store].map(|of| of(Width::B4, |lane| stride * lane)) {
                assert_eq!(model.conflict_degree(&pattern), divisor(stride, model.banks()), "{stride}");
            }
        }
    }
}

/// A degree of 1 is full bandwidth, 2 is half of it, and so on.
#[test]
fn the_seven_named_patterns() {
    let degrees =
        |model: BankModel, kind| Named::SEVEN.map(|named| model.conflict_degree(&named.pattern(kind, Width::B4)));
    for model in [BankModel::NVIDIA, BankModel::SIXTEEN] {
        assert_eq!(degrees(model, AccessKind::Load), [1, 1, 1, 1, 2, 16, 1]);
        assert_eq!(degrees(model, AccessKind::Store), [1, 1, 1, 1, 2, 16, 1]);
        // Two lanes update the same word.
        assert_eq!(degrees(model, AccessKind::Atomic), [1, 1, 1, 2, 2, 16, 1]);
    }
    let formulas = ["g", "g + 1", "N - 1 - g", "g & !1", "g * 2", "g * 16", "g * 17"];
    assert_eq!(Named::SEVEN.map(|named| named.to_string()), formulas);
    assert_eq!(Named::SEVEN.map(|named| named.index(5)), [5, 6, 26, 4, 10, 80, 85]);
}

/// Nothing panics near the largest `u32`.
#[test]
fn numbers_wrap() {
    let last = u32::MAX;
    assert_eq!([Named::Next, Named::Reversed, Named::Strided(last)].map(|named| named.index(last)), [0, 32, 1]);
    let far = AccessPattern::load(Width::B16, |lane| last - lane);
    assert_eq!((far.index(0), far.index(31), far.index(32)), (Some(last), Some(last - 31), None));
    for model in models() {
        agrees(model, &far);
    }
}

/// Sums saturate at the largest number.
#[test]
fn costs_add_up() {
    let pattern = AccessPattern::load(Width::B8, |lane| 16 * lane).only(3);
    let one = BankModel::NVIDIA.cost(&pattern);
    let mut sum = one;
    sum += one;
    assert_eq!((sum.requests, sum.phases, sum.wavefronts, sum.passes, sum.degree), (2, 2, 4, 4, 2));
    (sum.requests, sum.passes) = (u64::MAX, u64::MAX - 1);
    sum += one;
    assert_eq!((sum.requests, sum.phases, sum.wavefronts, sum.passes, sum.degree), (u64::MAX, 3, 6, u64::MAX, 2));
}

/// Returns the smallest conflict-free stride by search, over all columns that make a difference.
fn padded_stride(model: BankModel, stride: u32, width: Width) -> u32 {
    let is_free = |stride: u32, column: u32| {
        let pattern = AccessPattern::store(width, |row| stride.wrapping_mul(row).wrapping_add(column));
        let Prediction { phases, passes, .. } = Prediction::of(model, &pattern);
        phases == passes
    };
    (stride..=u32::MAX).find(|stride| (0..16).all(|column| is_free(*stride, column))).unwrap()
}

#[test]
fn padded_strides_are_the_smallest() {
    for model in models() {
        for width in Width::ALL {
            for stride in (0..=64).chain([127, 128, 1000, u32::MAX - 17, u32::MAX - 4, u32::MAX]) {
                let padded = model.padded_stride(stride, width);
                assert_eq!(padded, padded_stride(model, stride, width), "{model:?}, {stride}, {width:?}");
            }
        }
    }
}

#[test]
fn getters_of_patterns() {
    let pattern = AccessPattern::atomic(Width::B8, |lane| 3 * lane).only(0x8000_0005);
    assert_eq!((pattern.kind(), pattern.width(), pattern.lanes()), (AccessKind::Atomic, Width::B8, 0x8000_0005));
    assert_eq!(
        [0, 1, 2, 31, 32, u32::MAX].map(|lane| pattern.index(lane)),
        [Some(0), None, Some(6), Some(93), None, None]
    );
    let same = AccessPattern::new(AccessKind::Atomic, Width::B8, |lane| [0, 2, 31].contains(&lane).then_some(3 * lane));
    assert_eq!(pattern, same);
    assert_eq!(pattern.only(0), AccessPattern::new(AccessKind::Atomic, Width::B8, |_| None));
    assert_eq!(AccessKind::ALL.map(|kind| kind.to_string()), ["load", "store", "atomic"]);
}

#[test]
fn invalid_models() {
    for (banks, bank_bytes) in [(0, 4), (64, 4), (24, 4), (32, 0), (32, 32), (32, 3), (2, 4), (1, 8), (u32::MAX, 4)] {
        assert_eq!(BankModel::new(banks, bank_bytes), Err(BankError::Banks { banks, bank_bytes }.into()));
    }
    for model in models() {
        assert_eq!(BankModel::new(model.banks(), model.bank_bytes()), Ok(model));
    }
    assert_eq!((BankModel::SIXTEEN.banks(), BankModel::SIXTEEN.bank_bytes()), (16, 4));
}

#[test]
fn widths() {
    let widths: Result<Vec<Width>> = [1, 2, 4, 8, 16].into_iter().map(Width::try_from).collect();
    assert_eq!(widths, Ok(Width::ALL.to_vec()));
    assert_eq!(Width::ALL.map(Width::bytes), [1, 2, 4, 8, 16]);
    for bytes in [0usize, 3, 12, 32, usize::MAX] {
        assert_eq!(Width::try_from(bytes), Err(BankError::AccessWidth { bytes }.into()));
    }
}
