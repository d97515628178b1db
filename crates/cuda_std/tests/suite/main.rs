//! The tests of the host's side: one program, because each takes its time to link.

// Modules are features of the crate that a device build compiles, and no device build compiles this one.
#![allow(unexpected_cfgs)]

mod copies;
mod half;
mod hygiene;
mod kernels;
mod layout;
mod layouts;
mod machine;
mod math;
mod packs;
mod seam;
mod together;
mod windows;
