//! What all backends that run kernels have in common: which kernels an operation launches, how often, in which shape
//! and with which arguments. Free of `unsafe`, and nothing here allocates once an operation is prepared.

mod filter1d;
pub(crate) mod histogram;

pub(crate) use filter1d::{FilterKernels, Kernel, Launch, Launches};

/// The shape of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) blocks: u32,
    pub(crate) block: [u32; 2],
    pub(crate) shared_bytes: u32,
}
