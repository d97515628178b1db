//! The tests of the host's side: one program, because each takes its time to link.

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
