//! The emulator's tests of whole kernels: one program, because each takes its time to link.

// `pub` reads better than `pub(crate)` in a test, and kernels are public anyway.
#![allow(unreachable_pub)]

mod buffers;
mod calls;
mod compared;
mod correct;
mod counts;
mod ends;
mod hosting;
mod launches;
mod planted;
mod probes;
mod readme;
mod texts;
mod turns;
mod warps;
