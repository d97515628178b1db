//! Compiles the fixture's kernels, by calls and from a build script. One program, because each of both parts uses one core most
//! of the time. The tests print a reason and are skipped if there is no compiler for the device.

#![allow(missing_docs, unreachable_pub)]

// By name, the order in which they run: `calls` uses folders of its own while `build_script` uses the others.
mod build_script;
mod calls;
mod compile;
mod fixture;
