//! Functions of single samples, and of two at the same place: conversions, tables and arithmetic. Separation of channels.
//!
//! | description | what it computes |
//! |---|---|
//! | [`Convert`] | another type: `scale · x + offset` |
//! | [`Lookup`] | the entry of a table, for each value or between edges; equalises a histogram |
//! | [`Map`] | magnitude, square, square root, power, range limit |
//! | [`Arithmetic`] | sum, difference, product, quotient, minimum, maximum and others of two inputs |
//! | [`Channels`] | interleaved channels to planes, and back |
//!
//! With them a pipeline stays on the device: every step is enqueued, and nothing visits the host in between.
//!
//! ```
//! # use slm::ndarray::Array2;
//! use slm::{Buffer2, Convert, Device, Filter2d, Histogram, Lookup, Transpose};
//!
//! # fn main() -> slm::Result<()> {
//! # let picture = Array2::from_shape_fn((20, 30), |(r, c)| (40 + r + 2 * c) as u8);
//! let device = Device::open()?;
//! let bytes = Buffer2::upload(&device, &picture)?;
//! let floats = Convert::<u8, f32>::new().prepare(&device)?.apply(&bytes)?;
//! let smooth = Filter2d::gaussian(1.5).prepare(&device)?.apply(&floats)?;
//! let bytes = Convert::<f32, u8>::new().prepare(&device)?.apply(&smooth)?;
//! let histogram = Histogram::bytes().prepare(&device)?;
//! let mut counts = device.zeroed(histogram.counts_len())?;
//! histogram.apply_into(&bytes, &mut counts)?;
//! let equal = Lookup::equalise(&counts)?.apply(&bytes)?;
//! let result = Transpose::new(20, 30).prepare(&device)?.apply(&equal)?.download()?;
//! # assert_eq!((result.dim(), result.iter().min(), result.iter().max()), ((30, 20), Some(&0), Some(&255)));
//! # Ok(())
//! # }
//! ```
//!
//! # Numbers
//!
//! Samples `S` and outputs `O` are `u8`, `u16`, `i16`, `i32`, `f32` or `f64`. Functions are computed in `f32` if it
//! represents all numbers of both types, that is if neither is `i32` or `f64`, and otherwise in `f64`. Parameters are
//! rounded to this type, and must be finite in it, except that the bounds of [`Map::clamp`] may be infinite. Each addition,
//! multiplication, division and square root is rounded once, so the bits are the same on every device, except that any NaN may be
//! returned for another one.
//!
//! Results are converted to integer outputs by rounding to the nearest integer, ties to even, and saturating; NaN becomes 0.
//! They are converted to float outputs by rounding to the nearest number; beyond the largest one it is infinity. So
//! conversions to a type that represents the number keep it, and sums, differences and products of integers with integer
//! outputs are those of unlimited integers, saturated.
//!
//! # Shapes
//!
//! Except for [`Channels`], outputs have the shape of their input. Inputs are slices, arrays of `ndarray` with any strides,
//! pictures of the crate `image`, [`Buffer`]s, or [`Buffer2`]s with any row pitches. Two inputs may be of different forms. Gaps
//! between rows are neither read nor written. Without samples there are no outputs, and nothing is launched.
//!
//! [`Channels`] takes the same inputs, but pictures only if their pixels have one channel, or the channels that are divided into
//! planes; [`PreparedChannels::apply`] has the shapes.
//!
//! # Speed
//!
//! On a GPU most functions take as long as memory does. A thread moves a pack of up to 16 bytes of the larger type in one access,
//! if rows begin at multiples of the pack; buffers always do, and matrices if their pitches allow it. Otherwise it moves
//! elements one by one, as do [`Channels`], [`Map::gamma`] and [`Lookup::between`]. A table for `u16` samples may be too large for a
//! multiprocessor's cache: 65,536 entries of 4 bytes are 256 KiB. A table between `n` edges takes `log2(n)` dependent loads
//! per sample.

// A description becomes a prepared function, which runs on a device: on the CPU in `cpu.rs`, on a GPU in `gpu.rs` and
// `table.rs`, by a `launcher.rs`; `channels.rs` contains all of its operation, for the
// data of `channels_input.rs`. `lines.rs` has the elements of a problem in
// memory. Types are known at run time only from `function.rs` on, so that code is not compiled for each combination of
// samples and outputs.
mod arithmetic;
mod channels;
mod channels_input;
mod combined;
mod convert;
mod cpu;
mod element;
mod error;
mod function;
mod gpu;
mod launcher;
mod lines;
mod lookup;
mod map;
mod prepared;
mod rule;
mod table;
mod tuning;
mod word;

pub use arithmetic::Arithmetic;
pub use channels::{Channels, PreparedChannels};
pub use channels_input::ChannelsInput;
pub use combined::PreparedArithmetic;
pub use convert::Convert;
pub use element::{LookupElement, PointwiseElement};
pub use error::PointwiseError;
pub use lookup::Lookup;
pub use map::Map;
pub use prepared::PreparedMap;

pub(crate) use function::GpuFunction;
pub(crate) use gpu::conversion;
pub(crate) use lines::Lines;

#[cfg(doc)]
use crate::{Buffer, Buffer2};
