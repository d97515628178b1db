//! What takes long in the tests. The tests are not optimised, because that takes longer than they do; this is.
//!
//! Nothing here is generic: generic code is compiled with the tests that use it.

#[path = "../suite/banks/oracle.rs"]
pub mod banks;
pub mod memory;
