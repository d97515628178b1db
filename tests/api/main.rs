//! The tests that are the same on every machine; together in one program, because each program compiles the operations for
//! all element types anew. Those of an operation stand in its folder of `tests/suite`.

mod emulated;
mod errors;
mod guide;
mod kernels;
#[cfg(target_os = "linux")]
mod memory;
#[path = "../suite/operations.rs"]
mod operations;
mod properties;

// Under the name that files have for it which are part of `suite` too.
use slm_test_support::random as common;
