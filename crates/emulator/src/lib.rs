//! Runs GPU kernels on the CPU, and examines what they do.
//!
//! The kernels are those that run on the GPU, written with [`cuda_std`]: compiled for the host, every accessor asks the
//! emulator. It runs the threads of a few blocks at a time in turns, in an order that a seed decides, and it sees every
//! access. It finds
//!
//! * data races, in shared memory and in global memory, within a block and between blocks;
//! * reads of memory that nobody has written, and outputs that a launch leaves unwritten;
//! * accesses out of range, misaligned ones, and accesses to memory that has been freed;
//! * barriers that not all threads of the block come to, and warp operations that not all lanes of the mask come to;
//! * threads that split shared memory in different ways;
//! * panics, and threads that wait for ever;
//!
//! and it counts, for each line of the kernel and each warp of a block: requests, bank conflicts, sectors of global
//! memory, the degree of atomic operations, barriers.
//!
//! What it finds holds for the paths that ran, with the input that was given. A race is found whether or not it did
//! harm, since it is found by the lack of order and not by its result; but only if both accesses were made.
//!
//! ```
//! use cuda_std::{GlobalIn, GlobalOut, arguments, kernel, thread};
//! use emulator::{Emulator, Launch, Problem, Profile};
//!
//! arguments! {
//!     /// What `turn` works on.
//!     pub struct Turning {
//!         /// 32 numbers.
//!         pub input: GlobalIn<f32>,
//!         /// Receives them in reverse.
//!         pub output: GlobalOut<f32>,
//!     }
//! }
//!
//! kernel! {
//!     /// A block of 32 threads, but it lacks a barrier.
//!     pub fn turn(arena, args: Turning) {
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
//! let args = Turning { input: input.input(), output: output.output() };
//! let report = emulator.launch::<turn>(launch, args, ())?;
//! assert!(report.findings.iter().any(|finding| matches!(finding.problem, Problem::Race { .. })), "{report}");
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
mod random;
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

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
