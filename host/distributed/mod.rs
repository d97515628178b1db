//! Operations on several devices: of this process, and of several processes.
//!
//! [`Devices`] are the members. Data are distributed over them by rows ([`DistributedBuffer`]), and stay so between operations.
//! `prepare_on` of a description binds it to all members; `apply` of the [`Distributed`] operation computes each member's rows on that
//! member. Members exchange the rows at the ends of their parts, blocks of matrices, and counts.
//!
//! Results are those of one device, bit for bit, if all members are of one kind and no filter uses transforms.
//! Between kinds of devices, floats differ within the error bounds of the operations.
//!
//! | operation | what members exchange |
//! |---|---|
//! | [`Filter1d`] on a line, [`Filter2d`] on a picture | samples or rows within a window of the ends of a part |
//! | [`Histogram`] | counts |
//! | [`Transpose`] | blocks of the matrix |
//! | [`Life`] | rows of cells, every 64 generations |
//!
//! | file | contents |
//! |---|---|
//! | `devices.rs` | the members |
//! | `transport.rs`, `gpu_bytes.rs` | ways to other processes, also from the memory of a GPU |
//! | `distribution.rs`, `buffer.rs` | which rows are where, and the rows |
//! | `moves.rs`, `messages.rs`, `rooms.rs` | rows on their way, what goes between processes, and memory for it |
//! | `operation.rs`, `course.rs` | an operation on all members, and how far it came |
//! | `pieces.rs`, `filters.rs` | outputs at the ends of a part, and filters |
//! | `histogram.rs`, `transpose.rs` | the other operations |

mod buffer;
mod course;
mod devices;
mod distribution;
mod error;
mod filters;
mod gpu_bytes;
mod histogram;
mod messages;
mod moves;
mod operation;
mod pieces;
mod rooms;
mod transport;
mod transpose;

pub use buffer::DistributedBuffer;
pub(crate) use course::Course;
pub use devices::{Devices, Link};
pub use distribution::Distribution;
pub use error::DistributedError;
pub use gpu_bytes::{GpuBytes, GpuBytesMut};
pub(crate) use messages::{Arrived, Leaving, exchange_elements, exchange_on_gpu};
pub use operation::Distributed;
pub use transport::{Received, Sent, Transport, TransportError};

#[cfg(doc)]
use crate::{Filter1d, Filter2d, Histogram, Life, Transpose};
