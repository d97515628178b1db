//! Memory, and what an access does to it.
//!
//! * `global`: buffers and their addresses; `region`: the bytes of one, which of them are written, and their marks
//! * `reach`: the global memory that the arguments of a launch allow; `outputs`: what a launch must write
//! * `access`: a load, a store or an atomic operation: checked, recorded, counted and made
//! * `copies`: asynchronous copies; `in_progress`: those that a thread has not waited for
//!
//! An access passes these checks, and the first one that fails is its finding:
//!
//! ```text
//! range, alignment, window of this launch ─► memory exists ─► copies in progress ─► races ─► written
//!         access, reach                        global          in_progress         race/    region
//! ```

mod access;
mod copies;
mod global;
mod in_progress;
mod outputs;
mod reach;
mod region;

pub use global::Buffer;
pub(crate) use global::{Allocations, MOST_BUFFERS, from_bytes, to_bytes};
pub(crate) use outputs::{Outputs, Unwritten};
pub(crate) use reach::Reach;
pub(crate) use region::{MAX_WARPS, Region};
