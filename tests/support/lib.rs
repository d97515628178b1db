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
pub mod ptx;
pub mod random;

// The oracles, which stand beside the tests of their operations.
#[path = "../suite/banks/oracle.rs"]
pub mod banks;
#[path = "../suite/filter1d/oracle/mod.rs"]
pub mod filter1d;
#[path = "../suite/filter2d/oracle/mod.rs"]
pub mod filter2d;
#[path = "../suite/histogram/oracle/mod.rs"]
pub mod histogram;
#[path = "../suite/life/oracle.rs"]
pub mod life;
#[path = "../suite/morphology2d/oracle.rs"]
pub mod morphology2d;
#[path = "../suite/pointwise/oracle.rs"]
pub mod pointwise;
#[path = "../suite/rank2d/oracle.rs"]
pub mod rank2d;
#[path = "../suite/transpose/oracle.rs"]
pub mod transpose;
