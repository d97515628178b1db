//! The tests of the host's side: one program, because each takes its time to link.

mod hygiene;
mod kernels;
mod layout;
mod machine;
mod seam;
mod together;
