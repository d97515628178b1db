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

use access::{Add, Exchange, Load, LoadFour, Store, StoreFour};
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

macro_rules! probes {
    ($($(#[$doc:meta])* $name:ident: $access:ty;)*) => {$(
        #[cfg(any(feature = "banks", not(target_os = "cuda")))]
        kernel! {
            $(#[$doc])*
            pub fn $name(arena, args: ProbeArgs) {
                probe::measure::<$access>(arena, &args);
            }
        }
    )*};
}
probes! {
    /// Loads of one byte.
    banks_load_1: Load<u8>;
    /// Loads of two bytes.
    banks_load_2: Load<u16>;
    /// Loads of four bytes.
    banks_load_4: Load<u32>;
    /// Loads of eight bytes.
    banks_load_8: Load<u64>;
    /// Loads of sixteen bytes.
    banks_load_16: LoadFour<u32>;
    /// Stores of one byte.
    banks_store_1: Store<u8>;
    /// Stores of two bytes.
    banks_store_2: Store<u16>;
    /// Stores of four bytes.
    banks_store_4: Store<u32>;
    /// Stores of eight bytes.
    banks_store_8: Store<u64>;
    /// Stores of sixteen bytes.
    banks_store_16: StoreFour<u32>;
    /// Atomic additions to four bytes.
    banks_atomic_4: Add<u32>;
    /// Atomic exchanges of eight bytes: GPUs have no addition of them.
    banks_atomic_8: Exchange<u64>;
}

#[cfg(any(feature = "banks", not(target_os = "cuda")))]
kernel! {
    /// The textbooks' loop.
    pub fn banks_accumulate(arena, args: AccumulateArgs) {
        accumulate::accumulate(arena, &args);
    }
}
