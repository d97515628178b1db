//! What a launch is, for those who ask for it (`kernel`) and those who do it (`backend`).
//!
//! | file | what |
//! |---|---|
//! | `shape.rs` | grid, block and shared memory |
//! | `limits.rs` | what a device allows of them |
//! | `record.rs` | the windows that a launch may use, and whether arguments are made of nothing else |

#[cfg(gpu)]
mod limits;
mod record;
mod shape;

#[cfg(gpu)]
pub(crate) use limits::LaunchLimits;
pub(crate) use record::{QueueId, WindowRecord};
pub use shape::LaunchShape;

/// How much of a multiprocessor a launch occupies.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Residency {
    /// Registers of a thread.
    pub registers: u32,
    /// Blocks that run on one multiprocessor at a time.
    pub blocks_per_multiprocessor: u32,
    /// The share of a multiprocessor's threads that these blocks occupy, 0 to 1.
    pub occupancy: f64,
}
