//! Kernels to test the emulator with, on the CPU and on a GPU: small ones with a planted bug each, and probes, whose
//! accesses are counted by hand or by lockstep execution.
//!
//! Each file lists its kernels with their launches and expected findings. The emulator's tests and `slm-emulator-runner`,
//! which launches the kernels on a GPU, use the same lists.

#![no_std]
// A device build does not use the lists and their macros.
#![cfg_attr(target_os = "cuda", feature(abi_ptx), allow(unused_imports, unused_macros))]

// On the device, each feature is a module.
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
#[cfg(not(target_os = "cuda"))]
pub mod correct;
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

/// Calls the visitor for every case.
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

/// Calls the visitor for every probe.
#[cfg(not(target_os = "cuda"))]
pub fn visit_probes(visitor: &mut impl probes::ProbeVisitor) {
    probes::visit(visitor);
    turns::visit(visitor);
}
