//! Kernels to examine the emulator with, on the CPU and on a GPU: small ones with a planted bug each, and probes, whose
//! shared accesses are counted by hand.
//!
//! Beside the kernels stands what is known about them: how to launch them, and what there is to find. The emulator's
//! tests and `slm-emulator-runner`, which launches them on a GPU, work from the same lists.

#![no_std]
// A device build has no use for the lists, nor for what they are made of.
#![cfg_attr(target_os = "cuda", feature(abi_ptx), allow(unused_imports, unused_macros))]

mod case;
pub mod helpers;
#[cfg(not(target_os = "cuda"))]
pub mod hosting;
pub mod memory;
pub mod probes;
pub mod races;
#[cfg(not(target_os = "cuda"))]
pub mod speed;
pub mod together;

pub use case::{Args, LEN, SHARED_BYTES};
#[cfg(not(target_os = "cuda"))]
pub use case::{Bug, Case, CaseVisitor};

/// Shows a visitor every case.
#[cfg(not(target_os = "cuda"))]
pub fn visit_cases(visitor: &mut impl CaseVisitor) {
    helpers::visit(visitor);
    memory::visit(visitor);
    races::visit(visitor);
    together::visit(visitor);
}
