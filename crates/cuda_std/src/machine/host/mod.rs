//! The host's side: calls of the [`Machine`](crate::host::Machine) that is installed for the OS thread.

pub(crate) mod atomic;
pub(crate) mod constants;
pub(crate) mod copy;
pub(crate) mod global;
pub(crate) mod half;
pub(crate) mod math;
mod memory;
pub(crate) mod shared;
pub(crate) mod thread;
pub(crate) mod value;
pub(crate) mod warp;
