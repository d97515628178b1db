//! Tests of filters on devices that every machine has.

mod errors;
mod generated;
mod properties;

use slm_test_support::filter1d as oracle;
