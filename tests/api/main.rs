//! The tests that are the same on every machine; together in one program, because each program compiles the operations for
//! all element types anew. Those of an operation stand in its folder of `tests/suite`.

#[path = "../suite/banks/api.rs"]
mod banks;
/// Of what the test programs share these tests need the random numbers alone.
#[path = "../common/random.rs"]
mod common;
mod emulated;
mod errors;
#[path = "../suite/filter1d/api.rs"]
mod filter1d;
#[path = "../suite/filter2d/api.rs"]
mod filter2d;
mod guide;
#[path = "../suite/histogram/api.rs"]
mod histogram;
mod kernels;
#[path = "../suite/life/api.rs"]
mod life;
#[cfg(target_os = "linux")]
mod memory;
#[path = "../suite/pointwise/api.rs"]
mod pointwise;
mod properties;
#[path = "../suite/transpose/api.rs"]
mod transpose;
