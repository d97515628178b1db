//! The operations. The program `suite` has their trials, the program `api` their tests for every machine: with `cfg(api)`.
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

#[cfg_attr(api, path = "banks/api.rs")]
mod banks;
#[cfg_attr(api, path = "filter1d/api.rs")]
pub(crate) mod filter1d;
#[cfg_attr(api, path = "filter2d/api.rs")]
mod filter2d;
#[cfg_attr(api, path = "histogram/api.rs")]
mod histogram;
#[cfg_attr(api, path = "life/api.rs")]
mod life;
#[cfg_attr(api, path = "pointwise/api.rs")]
mod pointwise;
#[cfg_attr(api, path = "transpose/api.rs")]
mod transpose;

/// The trials of all operations.
#[cfg(not(api))]
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
