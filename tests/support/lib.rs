//! Expensive computations of the tests. This package is optimised. The tests are not, because compiling them would take
//! longer than they run.
//!
//! Generic code is compiled with the code that uses it. What takes long is therefore not generic, or a method of a trait
//! that is implemented for each type.

// Like other tests, it does not say what names say.
#![allow(missing_docs, missing_debug_implementations)]

pub mod large;
pub mod lengthened;
pub mod memory;
pub mod numbers;
#[path = "../suite/operations.rs"]
mod operations;
pub mod ptx;
pub mod random;

pub use operations::*;
