//! Tests of the host side. They are one program, because linking each program takes time.

// Modules are features of a crate that is compiled for a device. This crate is not.
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
