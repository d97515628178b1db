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

// How one launch flows through the crate:
//
//   Emulator::launch        checks the launch against the device, and collects the windows       emulator, launch, profile,
//    │                      in the arguments                                                    memory/{reach, outputs}
//    ├─ run, until no thread is left
//    │   ├─ Running::next_turn      draws the block and the thread that run next                running, blocks/, random
//    │   ├─ Fibres::run             switches to that thread                                     threads/
//    │   │   └─ kernel code ─► accessor of cuda_std ─► Emulated                                  machine
//    │   │       ├─ Running::{load, store, atomic, copy_async}                                   memory/
//    │   │       │   ├─ is the access ordered after the earlier ones?                            race/
//    │   │       │   └─ which lanes made it together, and what did it cost?                      warp/requests
//    │   │       ├─ Running::sync_threads                                                        blocks/barriers
//    │   │       └─ Running::meet   sync_warp, shuffles, votes, matrix products                  warp/meetings
//    │   └─ the thread yields: it waits, its turn is over, or it has ended
//    └─ Report              findings, and counts by line                                         report/
//
// `Running` is the state of the launch. The folders that act on it (`memory`, `blocks`, `warp`) add their methods to it.

mod blocks;
mod emulator;
mod launch;
mod machine;
mod memory;
mod profile;
#[cfg(test)]
mod properties;
mod race;
mod random;
mod report;
mod running;
mod threads;
mod warp;

pub use cuda_std::host::Space;
pub use emulator::Emulator;
pub use launch::{Launch, LaunchError, Limit};
pub use memory::Buffer;
pub use profile::Profile;
pub use report::{
    Absence, Action, BlockStates, Counts, Finding, Line, Other, Place, Problem, Report, SiteCounts, Split, Threads,
};
pub use threads::EmulatorId;

/// The examples of the README compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
