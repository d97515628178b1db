//! The tests that are the same on every machine; together in one program, because each program compiles the operations for
//! all element types anew. Those of an operation stand in the folder `api` of its folder in `tests/suite`.

mod dependencies;
mod dlpack;
mod emulated;
mod errors;
mod guide;
mod kernels;
#[cfg(target_os = "linux")]
mod memory;
mod properties;
mod refused;

// The tests of operations, which stand beside their trials.
#[path = "../suite/banks/api/mod.rs"]
mod banks;
#[path = "../suite/filter1d/api/mod.rs"]
mod filter1d;
#[path = "../suite/filter2d/api/mod.rs"]
mod filter2d;
#[path = "../suite/histogram/api/mod.rs"]
mod histogram;
#[path = "../suite/life/api/mod.rs"]
mod life;
#[path = "../suite/morphology2d/api/mod.rs"]
mod morphology2d;
#[path = "../suite/pointwise/api/mod.rs"]
mod pointwise;
#[path = "../suite/rank1d/api.rs"]
mod rank1d;
#[path = "../suite/rank2d/api/mod.rs"]
mod rank2d;
#[path = "../suite/transpose/api/mod.rs"]
mod transpose;

// Under the name that files have for it which are part of `suite` too.
use slm_test_support::random as common;
