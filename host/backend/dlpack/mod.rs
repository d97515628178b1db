//! Tensors of DLPack, which other libraries read and write, and make.
//!
//! | file | contents |
//! |---|---|
//! | `stream.rs` | the stream of a consumer |
//! | `give.rs` | a buffer as a tensor |
//! | `take.rs` | the elements of a tensor, after all checks of its description |
//!
//! Memory of the host has no stream. Memory of a device implements [`Exchange`].

#![allow(unsafe_code)] // Memory of other libraries, which no type describes.

mod give;
mod stream;
mod take;
#[cfg(test)]
mod tests;

use super::{DeviceMemory, Queue};
use crate::Result;
use dlpark::AllocationDeleter;
use dlpark::ffi::DLDevice;
pub(crate) use give::give;
use std::ffi::c_void;
use std::sync::Arc;
pub use stream::ConsumerStream;
#[cfg(cuda)]
pub(super) use stream::Stream;
pub(crate) use take::{Axes, Elements, host_view};

/// A queue whose memory is exchanged as tensors, without a copy.
pub(crate) trait Exchanging: Queue {
    /// Returns the device of its memory.
    fn tensor_device(&self) -> DLDevice;

    /// Returns the number of its stream, by which other libraries know it.
    fn number(&self) -> isize;
}

/// Memory that is exchanged as tensors, without a copy.
pub(crate) trait Exchange<T>: DeviceMemory<T> {
    /// What a thread of the consumer gets back when it is dropped.
    type Borrowed;

    /// Makes the elements ready on the stream of a consumer, after the work of the memory's queue. Returns their address.
    fn give(&self, consumer: &ConsumerStream) -> Result<*mut c_void>;

    /// Makes the memory's queue wait for the work of the consumer, which has given the memory back. What this changes for the
    /// thread, which is the consumer's, is as before when the result is dropped.
    fn take_back(&self, consumer: &ConsumerStream) -> Self::Borrowed;

    /// Returns an error if kernels of the queue cannot use the elements.
    fn check(queue: &Arc<Self::Queue>, elements: &Elements<T>) -> Result<()>;

    /// Returns the memory of checked elements. It is given back, through `owner`, after the work that used it.
    fn take(queue: &Arc<Self::Queue>, elements: Elements<T>, owner: AllocationDeleter) -> Self;
}
