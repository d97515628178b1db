//! Expensive computations of the tests. This package is optimised. The tests are not, because compiling them would take
//! longer than they run.
//!
//! Nothing here is generic, because generic code is compiled with the tests that use it.

#[path = "../suite/banks/oracle.rs"]
pub mod banks;
#[path = "../suite/life/oracle.rs"]
pub mod life;
pub mod memory;
