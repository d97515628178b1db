//! Checking what must hold for everything, instead of examples.

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

const SEED: [u8; 32] = [0x5e; 32];

pub(crate) type Checked = Result<(), TestCaseError>;

/// Checks a property with the same cases in every run.
pub(crate) fn check<S: Strategy>(cases: u32, strategy: S, property: impl Fn(S::Value) -> Checked) {
    println!("ChaCha, seed {SEED:02x?}");
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &SEED);
    let result = TestRunner::new_with_rng(config, rng).run(&strategy, property);
    result.unwrap_or_else(|error| panic!("{error}"));
}
