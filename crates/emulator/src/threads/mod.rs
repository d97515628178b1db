//! What runs the code of a kernel: a fibre or an OS thread for each thread of the blocks in progress.
//!
//! ```text
//!  launch ── Fibres::run ──► fibre, or OS thread ──► code of the kernel ──► accessor
//!    ▲                                                                        │
//!    └────────────────────────── Control::pause, or the end ◄─────────────────┘
//! ```
//!
//! * `hosting`: fibres or OS threads, and why a thread yields
//! * `fibres`: both kinds behind one interface, and fibres themselves; `os_threads`: the OS threads
//! * `panics`: panics of kernels, and the unwinding that ends threads
//! * `launches`: the launches of the process, and the watchdog that looks for threads that do not end
//! * `watch`: what the watchdog and signal handlers know of the running thread
//! * `trap`: signal handlers that abandon a fibre, on systems that have them
//! * `paths`: the calls by which a thread reached a barrier, read from its stack

mod fibres;
mod hosting;
mod launches;
mod os_threads;
mod panics;
mod paths;
mod trap;
mod watch;

pub(crate) use fibres::{Control, Fibres, kernel_code};
pub(crate) use hosting::{Hosting, STACK_BYTES};
pub use launches::EmulatorId;
pub(crate) use launches::{LaunchGuard, Stray};
pub(crate) use panics::{Panic, UNWIND, catch, in_kernel, keep_panics, unwinds};
pub(crate) use paths::{PATHS_ARE_FAST, Paths, TwoPlaces};
pub(crate) use trap::{Target, Trap, install};
