//! Races: whether two accesses to a place are ordered. README.md of this crate explains the protocol.
//!
//! * `order`: the intervals between barriers, and what fences, atomic operations and `sync_warp` order within them
//! * `clocks`: what a thread knows of other threads
//! * `moment`: the time of an access, and the mark that it leaves; `Conflict`, an earlier access that is not ordered before it
//! * `shadow`: the marks of each place; `sets`: places with more than one mark of a kind
//! * `oracle`: tests all of this against full vector clocks

mod clocks;
mod moment;
#[cfg(test)]
mod oracle;
mod order;
mod sets;
mod shadow;

pub(crate) use moment::{Conflict, MAX_INTERVALS, Moment, SLOTS, slot_of};
pub(crate) use order::{BlockOrder, Order};
pub(crate) use shadow::Shadow;
