//! Tests of filters on devices that every machine has.

mod errors;
mod generated;
mod properties;
mod taps;

use slm_test_support::filter1d as oracle;
