//! The operations. The program `suite` has their trials, the program `api` their tests for every machine, with `cfg(api)`, and the
//! package `slm-test-support` their oracles, with `cfg(oracle)`.
//!
//! | folder | tests |
//! |---|---|
//! | `filter1d` | `Filter1d` against the naive oracle, SciPy and NumPy, and its properties |
//! | `filter2d` | `Filter2d` against the naive oracle, SciPy, OpenCV and Astropy |
//! | `histogram` | `Histogram` against the naive oracle and NumPy, and its properties |
//! | `transpose` | `Transpose` against the formula and NumPy |
//! | `pointwise` | `Convert`, `Lookup`, `Map`, `Arithmetic` and `Channels` against their definitions |
//! | `life` | `Life` against the naive oracle and known histories |
//! | `banks` | the kernels that measure accesses |

// Public for the package of the oracles.
#![cfg_attr(not(oracle), allow(unreachable_pub))]

#[cfg_attr(api, path = "banks/api.rs")]
#[cfg_attr(oracle, path = "banks/oracle.rs")]
pub mod banks;
#[cfg_attr(api, path = "filter1d/api.rs")]
#[cfg_attr(oracle, path = "filter1d/oracle/mod.rs")]
pub mod filter1d;
#[cfg_attr(api, path = "filter2d/api.rs")]
#[cfg_attr(oracle, path = "filter2d/oracle/mod.rs")]
pub mod filter2d;
#[cfg_attr(api, path = "histogram/api.rs")]
#[cfg_attr(oracle, path = "histogram/oracle/mod.rs")]
pub mod histogram;
#[cfg_attr(api, path = "life/api.rs")]
#[cfg_attr(oracle, path = "life/oracle.rs")]
pub mod life;
#[cfg_attr(api, path = "pointwise/api.rs")]
#[cfg_attr(oracle, path = "pointwise/oracle.rs")]
pub mod pointwise;
#[cfg_attr(api, path = "transpose/api.rs")]
#[cfg_attr(oracle, path = "transpose/oracle.rs")]
pub mod transpose;

/// The trials of all operations.
#[cfg(not(any(api, oracle)))]
pub(crate) fn trials() -> impl Iterator<Item = libtest_mimic::Trial> {
    let trials = [
        filter1d::trials(),
        filter2d::trials(),
        histogram::trials(),
        transpose::trials(),
        pointwise::trials(),
        life::trials(),
        banks::trials(),
    ];
    trials.into_iter().flatten()
}
