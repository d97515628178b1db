//! Settings of property tests.

use proptest::test_runner::{Config, RngSeed};

/// Returns settings for this number of cases, the same ones in every run.
pub(crate) fn cases(cases: u32, seed: u64) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..Config::default() }
}
