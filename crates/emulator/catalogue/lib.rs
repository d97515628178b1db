//! Kernels to examine the emulator with, on the CPU and on a GPU: small ones with a planted bug each, and probes, whose
//! accesses are counted by hand, or turn by turn.
//!
//! Beside the kernels stands what is known about them: how to launch them, and what there is to find. The emulator's
//! tests and `slm-emulator-runner`, which launches them on a GPU, work from the same lists.

#![no_std]
// A device build has no use for the lists, nor for what they are made of.
#![cfg_attr(target_os = "cuda", feature(abi_ptx), allow(unused_imports, unused_macros))]

pub mod arena;
pub mod blocks;
mod case;
pub mod compared;
pub mod copies;
pub mod helpers;
#[cfg(not(target_os = "cuda"))]
pub mod hosting;
pub mod memory;
pub mod outputs;
pub mod probes;
pub mod races;
#[cfg(not(target_os = "cuda"))]
pub mod speed;
pub mod together;
pub mod turns;

pub use case::{Args, LEN, SHARED_BYTES};
#[cfg(not(target_os = "cuda"))]
pub use case::{Bug, Case, CaseVisitor};

/// Shows a visitor every case.
#[cfg(not(target_os = "cuda"))]
pub fn visit_cases(visitor: &mut impl CaseVisitor) {
    arena::visit(visitor);
    blocks::visit(visitor);
    copies::visit(visitor);
    helpers::visit(visitor);
    memory::visit(visitor);
    outputs::visit(visitor);
    races::visit(visitor);
    together::visit(visitor);
}

/// Shows a visitor every probe.
#[cfg(not(target_os = "cuda"))]
pub fn visit_probes(visitor: &mut impl probes::ProbeVisitor) {
    probes::visit(visitor);
    turns::visit(visitor);
}
