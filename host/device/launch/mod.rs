//! Types of a launch that `kernel` and `backend` share.
//!
//! | file | contents |
//! |---|---|
//! | `shape.rs` | grid, block and shared memory |
//! | `limits.rs` | the device's limits for them |
//! | `record.rs` | the windows that a launch may use, and the check that its arguments contain no others |

mod limits;
mod record;
mod shape;

pub(crate) use limits::LaunchLimits;
pub(crate) use record::{QueueId, WindowRecord};
#[cfg(gpu)]
pub(crate) use record::{VisitWindows, windows_of};
pub use shape::LaunchShape;

/// Occupancy of a multiprocessor by a launch.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Residency {
    /// Registers per thread.
    pub registers: u32,
    /// Resident blocks per multiprocessor.
    pub blocks_per_multiprocessor: u32,
    /// Share of a multiprocessor's threads that these blocks occupy, from 0 to 1 inclusive.
    pub occupancy: f64,
}
