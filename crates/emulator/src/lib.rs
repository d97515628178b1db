//! Runs GPU kernels on the CPU, and checks every access.
//!
//! The kernels are those that run on the GPU, written with [`cuda_std`]. Compiled for
//! the host, every accessor calls the emulator. It runs the threads of a few blocks
//! alternately, in an order that depends on a seed, and sees every access. It finds
//! * data races, in shared memory and in global memory, within a block and between blocks;
//! * loads of unwritten memory, and outputs that a launch leaves unwritten;
//! * accesses that are out of range or misaligned, and accesses to freed memory;
//! * barriers that not all threads of the block reach, and warp operations that not all lanes of the mask reach;
//! * threads that split shared memory in different ways;
//! * accessor calls on OS threads that a kernel has started;
//! * panics, and threads that wait forever.
//!
//! It counts requests, bank conflicts, sectors of global memory, the degree of atomic operations, and barriers, for each
//! line of the kernel and each warp of a block.
//!
//! Findings are valid for the code paths that ran with the given input. A race is found by its lack of order, not by its
//! result. So it is found even if the result is correct, but only if both accesses were made.
//!
//! ```
//! use cuda_std::{GlobalIn, GlobalOut, arguments, kernel, thread};
//! use emulator::{Emulator, Finding, Launch, Problem, Profile};
//!
//! arguments! {
//!     /// What `reverse` works on.
//!     pub struct Reversal<'l> {
//!         /// 32 numbers.
//!         pub input: GlobalIn<'l, f32>,
//!         /// Receives them in reverse.
//!         pub output: GlobalOut<'l, f32>,
//!     }
//! }
//!
//! kernel! {
//!     /// A block of 32 threads, but it lacks a barrier.
//!     pub fn reverse<'l>(arena, args: Reversal<'l>) {
//!         let (tile, _) = arena.split::<f32>(32);
//!         let t = thread::thread_idx_x();
//!         tile.set(t, args.input.get(t.into()));
//!         args.output.set(t.into(), tile.get(31 - t));
//!     }
//! }
//!
//! let mut emulator = Emulator::new(Profile::SM_80);
//! let input = emulator.upload(&[1.0; 32]);
//! let output = emulator.allocate(32);
//! let launch = Launch::new([1, 1, 1], [32, 1, 1]).shared_bytes(128);
//! let args = Reversal { input: input.input(), output: output.output() };
//! let report = emulator.launch::<reverse>(launch, args, ())?;
//! let is_race = |finding: &Finding| matches!(finding.problem, Problem::Race { .. });
//! assert!(report.findings.iter().any(is_race), "{report}");
//! # Ok::<(), emulator::LaunchError>(())
//! ```

mod access;
mod alignment;
mod ambiguous;
mod anchors;
mod barriers;
mod block;
mod blocks;
mod clocks;
mod colours;
mod copies;
mod counts;
mod emulator;
mod fibres;
mod finding;
mod hosting;
mod in_progress;
mod launch;
mod launches;
mod machine;
mod memory;
mod moment;
#[cfg(test)]
mod oracle;
mod order;
mod os_threads;
mod outputs;
mod panics;
mod paths;
mod profile;
#[cfg(test)]
mod properties;
mod random;
mod reach;
mod region;
mod report;
mod requests;
mod running;
mod schedule;
mod sets;
mod settling;
mod shadow;
mod site;
mod threads;
mod trap;
mod warp;
mod watch;

pub use counts::Counts;
pub use cuda_std::host::Space;
pub use emulator::Emulator;
pub use finding::{Absence, BlockStates, Finding, Other, Place, Problem, Split};
pub use launch::{Launch, LaunchError, Limit};
pub use launches::EmulatorId;
pub use memory::Buffer;
pub use profile::Profile;
pub use report::{Report, SiteCounts};
pub use site::{Action, Line};
pub use threads::Threads;

/// The examples of the README compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
