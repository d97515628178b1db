//! Measurements of bank conflicts.
//!
//! | file | contents |
//! |---|---|
//! | `access.rs` | the accesses: loads, stores and atomic operations of each width |
//! | `probe.rs` | kernels that repeat one access |
//! | `accumulate.rs` | the kernel with the textbook loop |

mod access;
mod accumulate;
mod probe;

pub use access::{Access, Add, Exchange, Load, LoadFour, Number, Store, StoreFour};

use cuda_std::{GlobalIn, GlobalOut, arguments, kernel};

/// Marks a lane that makes no access, in [`ProbeArgs::places`].
pub const NOBODY: u32 = u32::MAX;

/// Number of accesses per thread and round.
pub const ACCESSES: u32 = 32;

arguments! {
    /// Arguments of the probes, which run in one block of whole warps.
    pub struct ProbeArgs<'l> {
        /// Index of the element that each lane of a warp accesses, or [`NOBODY`].
        pub places: GlobalIn<'l, u32>,
        /// Number of elements in shared memory.
        pub elements: u32,
        /// Number of rounds of [`ACCESSES`] accesses per thread.
        pub rounds: u32,
        /// Zero, as a value that the compiler does not know.
        pub zero: u32,
        /// Receives the clock of each warp before its accesses.
        pub begins: GlobalOut<'l, u64>,
        /// Receives the clock of each warp after its accesses.
        pub ends: GlobalOut<'l, u64>,
        /// Receives, for each thread, the sum of the element indices of its chains, which the accesses leave unchanged.
        pub places_after: GlobalOut<'l, u32>,
    }
}

arguments! {
    /// Arguments of the textbook loop, which runs in one block of one warp.
    pub struct AccumulateArgs<'l> {
        /// Distance in words between the words of neighbouring lanes.
        pub stride: u32,
        /// Number of iterations.
        pub iterations: u32,
        /// Factor of the iteration's index.
        pub factor: u32,
        /// Receives the clock before and after the loop.
        pub times: GlobalOut<'l, u64>,
        /// Receives the final word of each lane.
        pub sums: GlobalOut<'l, u32>,
    }
}

kernel! {
    for<A: Access> {
        "banks" {
            Load<u8> => load_1;
            Load<u16> => load_2;
            Load<u32> => load_4;
            Load<u64> => load_8;
            LoadFour<u32> => load_16;
            Store<u8> => store_1;
            Store<u16> => store_2;
            Store<u32> => store_4;
            Store<u64> => store_8;
            StoreFour<u32> => store_16;
            Add<u32> => atomic_4;
            // Shared memory has no 8-byte atomic addition in hardware.
            Exchange<u64> => atomic_8;
        }
    }

    /// Repeats one access. The suffix of the entry point is the number of bytes per element.
    pub fn banks_probe<'l>(arena, args: ProbeArgs<'l>) {
        probe::measure::<A>(arena, &args);
    }
}

kernel! {
    /// Runs the textbook loop.
    pub fn banks_accumulate<'l>(arena, args: AccumulateArgs<'l>) in "banks" {
        accumulate::accumulate(arena, &args);
    }
}
