//! The tests that are the same on every machine; together in one program, because each program compiles the operations for
//! all element types anew.

mod banks;
#[path = "../common/mod.rs"]
mod common;
mod emulated;
mod errors;
mod histogram_errors;
mod kernels;
#[cfg(target_os = "linux")]
mod memory;
mod properties;
mod readme;
mod transpose_errors;
mod transpose_properties;
