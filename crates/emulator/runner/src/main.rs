//! Launches the emulator's catalogue on a GPU, so that other tools can examine it, and prints the emulator's results for it:
//!
//! ```text
//! run-catalogue case NAME bug|twin    launches a case on the GPU; prints "launched NAME" if it ends without an
//!                                     error
//! run-catalogue probes                launches every probe on the GPU
//! run-catalogue compare               a line for each kernel with the same results on host and device: how many results of
//!                                     the GPU differ from the emulator's; fails if any does
//! run-catalogue calls                 a line for each kernel with calls that the compiler copies: right, wrong (differs from
//!                                     the emulator's results) or hangs; each runs in its own process
//! run-catalogue indices               a line for each access beyond a window on shared memory: its effect; fails if other
//!                                     memory has changed
//! run-catalogue ends                  a line for each launch whose blocks end while copies are in progress, or whose threads
//!                                     recurse beyond the end of their stack; fails if a result is wrong or other memory
//!                                     has changed
//! run-catalogue emulate cases         a line for each case: name, whether the accessors prevent the bug on a GPU (bypassed
//!                                     or not), and whether the emulator has findings in the bug and in the twin (found or
//!                                     silent)
//! run-catalogue emulate probes        a line for each probe: name; requests and wavefronts of shared loads, and of shared
//!                                     stores; wavefronts of shared atomic operations; requests and sectors of global
//!                                     loads, and of global stores
//! ```
//!
//! `SLM_DEVICE` selects the GPU.

mod calls;
mod compare;
mod emulated;
mod ends;
mod indices;
mod on_gpu;
mod process;

use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result: Result<(), Box<dyn Error>> = match arguments[..] {
        ["case", name, "bug"] => on_gpu::case(name, false),
        ["case", name, "twin"] => on_gpu::case(name, true),
        ["probes"] => on_gpu::probes(),
        ["compare"] => compare::compare(),
        ["calls"] => calls::all(),
        ["call", name] => calls::one(name),
        ["indices"] => indices::all(),
        ["index", index, action] => indices::one(index, action),
        ["ends"] => ends::all(),
        ["end", "copies"] => ends::copies(),
        ["recursion", depth] => ends::calls(depth),
        ["emulate", "cases"] => emulated::cases(),
        ["emulate", "probes"] => emulated::probes(),
        _ => {
            eprintln!(
                "usage: run-catalogue case NAME bug|twin | probes | compare | calls | indices | ends | emulate cases|probes"
            );
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
