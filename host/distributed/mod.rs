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
//! | `devices.rs`, `transport.rs` | the members, and ways to other processes |
//! | `distribution.rs`, `buffer.rs` | which rows are where, and the rows |
//! | `moves.rs` | rows on their way |
//! | `operation.rs`, `course.rs` | an operation on all members, and how far it came |
//! | `pieces.rs`, `filters.rs` | outputs at the ends of a part, and filters |
//! | `histogram.rs`, `transpose.rs` | the other operations |

mod buffer;
mod course;
mod devices;
mod distribution;
mod error;
mod filters;
mod histogram;
mod moves;
mod operation;
mod pieces;
mod transport;
mod transpose;

pub use buffer::DistributedBuffer;
pub(crate) use course::Course;
pub use devices::{Devices, Link};
pub use distribution::Distribution;
pub use error::DistributedError;
pub(crate) use moves::exchange_elements;
pub use operation::Distributed;
pub use transport::{Received, Sent, Transport, TransportError};

#[cfg(doc)]
use crate::{Filter1d, Filter2d, Histogram, Life, Transpose};
