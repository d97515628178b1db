//! The emulator's tests of whole kernels. They are one program, because each program takes long to link.

// `pub` is shorter than `pub(crate)`, and kernels are public anyway.
#![allow(unreachable_pub)]

mod buffers;
mod calls;
mod compared;
mod correct;
mod counts;
mod ends;
mod hosting;
mod launches;
mod other_threads;
mod planted;
mod probes;
mod readme;
mod texts;
mod turns;
mod warps;

use std::process::{Command, Output};

/// Runs an ignored test in a process of its own. Returns its output, and its standard error as text.
fn alone(test: &str) -> (Output, String) {
    let program = std::env::current_exe().expect("it runs");
    let output = Command::new(program).args([test, "--exact", "--ignored", "--nocapture"]).output();
    let output = output.expect("it can be started");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, text)
}
