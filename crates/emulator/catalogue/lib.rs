//! Kernels to examine the emulator with, on the CPU and on a GPU: small ones with a planted bug each, and probes, whose
//! accesses are counted by hand, or turn by turn.
//!
//! Beside the kernels stands what is known about them: how to launch them, and what there is to find. The emulator's
//! tests and `slm-emulator-runner`, which launches them on a GPU, work from the same lists.

#![no_std]
// A device build has no use for the lists, nor for what they are made of.
#![cfg_attr(target_os = "cuda", feature(abi_ptx), allow(unused_imports, unused_macros))]

// On the device there is a module for each feature.
#[cfg(any(feature = "catalogue", not(target_os = "cuda")))]
pub mod arena;
#[cfg(any(feature = "catalogue", not(target_os = "cuda")))]
pub mod blocks;
#[cfg(any(feature = "calls_barriers", feature = "calls_inlined", feature = "calls_outlined", not(target_os = "cuda")))]
pub mod calls;
mod case;
#[cfg(any(feature = "catalogue", not(target_os = "cuda")))]
pub mod compared;
#[cfg(any(feature = "catalogue", not(target_os = "cuda")))]
pub mod copies;
#[cfg(any(feature = "catalogue", not(target_os = "cuda")))]
pub mod ends;
#[cfg(any(feature = "catalogue", not(target_os = "cuda")))]
pub mod helpers;
#[cfg(not(target_os = "cuda"))]
pub mod hosting;
#[cfg(any(feature = "catalogue", not(target_os = "cuda")))]
pub mod indices;
#[cfg(any(feature = "catalogue", not(target_os = "cuda")))]
pub mod memory;
#[cfg(any(feature = "catalogue", not(target_os = "cuda")))]
pub mod outputs;
#[cfg(any(feature = "catalogue", not(target_os = "cuda")))]
pub mod probes;
#[cfg(any(feature = "catalogue", not(target_os = "cuda")))]
pub mod races;
#[cfg(not(target_os = "cuda"))]
pub mod speed;
#[cfg(any(feature = "catalogue", not(target_os = "cuda")))]
pub mod together;
#[cfg(any(feature = "catalogue", not(target_os = "cuda")))]
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
