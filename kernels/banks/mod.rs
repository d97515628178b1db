//! Measurements of bank conflicts.
//!
//! | file | what |
//! |---|---|
//! | `access.rs` | the accesses: loads, stores and atomic operations of each width |
//! | `probe.rs` | kernels that make one access over and over |
//! | `accumulate.rs` | the kernel with the textbooks' loop |

mod access;
mod accumulate;
mod probe;

pub use access::{Access, Add, Exchange, Load, LoadFour, Number, Store, StoreFour};

use cuda_std::{GlobalIn, GlobalOut, arguments, kernel};

/// The place of a lane that takes no part.
pub const NOBODY: u32 = u32::MAX;

/// The accesses of a thread in a round.
pub const ACCESSES: u32 = 32;

arguments! {
    /// What the probes are launched with: one block of whole warps.
    pub struct ProbeArgs {
        /// The element that each lane of a warp accesses, or [`NOBODY`].
        pub places: GlobalIn<u32>,
        /// The elements of shared memory.
        pub elements: u32,
        /// How often a thread makes its [`ACCESSES`].
        pub rounds: u32,
        /// Zero.
        pub zero: u32,
        /// Receives the time when each warp begins.
        pub begins: GlobalOut<u64>,
        /// Receives the time when each warp ends.
        pub ends: GlobalOut<u64>,
        /// Receives what the places of each thread's ways, which stay what they were, add up to.
        pub places_after: GlobalOut<u32>,
    }
}

arguments! {
    /// What the textbooks' loop is launched with: one block of one warp.
    pub struct AccumulateArgs {
        /// The words from one lane's to the next one's.
        pub stride: u32,
        /// How often each lane adds to its word.
        pub iterations: u32,
        /// What the number of the iteration is multiplied with.
        pub factor: u32,
        /// Receives the time when the loop begins and that when it ends.
        pub times: GlobalOut<u64>,
        /// Receives the word of each lane.
        pub sums: GlobalOut<u32>,
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
            // GPUs have no addition of eight bytes.
            Exchange<u64> => atomic_8;
        }
    }

    /// One access over and over, to elements of as many bytes as the name of the entry point says.
    pub fn banks_probe(arena, args: ProbeArgs) {
        probe::measure::<A>(arena, &args);
    }
}

kernel! {
    /// The textbooks' loop.
    pub fn banks_accumulate(arena, args: AccumulateArgs) in "banks" {
        accumulate::accumulate(arena, &args);
    }
}
