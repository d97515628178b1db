//! An operation whose types of samples and outputs a stream does not know.

use super::Progress;
use super::error::StreamCause;
use super::feed::{Feed, Input, Source, is_wrapped};
use super::pipeline::{self, Capacity};
use crate::element::raw::Raw;
use crate::filter::part::Divided;
use std::marker::PhantomData;
use std::sync::atomic::AtomicU64;

/// Parts in memory at the same time: three in pinned memory, two on the device.
pub(super) const PARTS: usize = 5;

/// Gets the bytes of outputs, and how far the stream has come then.
pub(super) type Sink<'a> = dyn FnMut(&[u8], Progress) -> Result<(), StreamCause> + 'a;

/// An operation on bytes.
pub(super) trait Operation {
    /// Reads samples up to the end of the source and computes all outputs, with about this number of bytes of memory. The bytes that
    /// are read are added to `read`.
    fn run(
        &mut self,
        source: &mut dyn Source,
        memory: usize,
        read: &AtomicU64,
        sink: &mut Sink<'_>,
    ) -> Result<(), StreamCause>;

    /// Returns the bytes of an output.
    fn output_bytes(&self) -> usize;
}

/// An operation on samples of type `S`, with outputs of type `O`.
pub(super) struct Typed<D, S, O> {
    divided: D,
    types: PhantomData<fn(S) -> O>,
}

impl<D, S, O> Typed<D, S, O> {
    pub(super) fn new(divided: D) -> Self {
        Typed { divided, types: PhantomData }
    }
}

impl<S: Raw, O: Raw, D: Divided<S, O>> Operation for Typed<D, S, O> {
    fn run(
        &mut self,
        source: &mut dyn Source,
        memory: usize,
        read: &AtomicU64,
        sink: &mut Sink<'_>,
    ) -> Result<(), StreamCause> {
        let (divided, placement): (&dyn Divided<S, O>, _) = (&self.divided, self.divided.placement());
        let mut input = Input::new(source, read);
        let total = input.len()?;
        let (size, [in_width, out_width]) = (outputs_per_part(divided, memory), divided.widths());
        let mut feed = Feed::new(divided, input, size);
        match total {
            Some(bytes) if is_wrapped(&placement) => feed.wrap(bytes)?,
            None if is_wrapped(&placement) => return Err(StreamCause::NeedsSeek),
            _ => {}
        }
        let [samples, outputs] = placement.capacities(size);
        let elements = [samples.saturating_mul(in_width), outputs.saturating_mul(out_width)];
        let capacity = Capacity { elements, staged: [true; 2] };
        pipeline::run(divided, &capacity, &mut |free| feed.next(free), &mut |part, outputs| {
            O::swap_if_big_endian(outputs);
            let done = part.samples.end.max(0) as u64 * (in_width * size_of::<S>()) as u64;
            sink(O::bytes(outputs), Progress { done: done.min(total.unwrap_or(u64::MAX)), total })
        })
    }

    fn output_bytes(&self) -> usize {
        size_of::<O>()
    }
}

/// Returns the number of outputs of a part, so that all parts in memory have about this number of bytes.
fn outputs_per_part<S: Raw, O: Raw>(divided: &dyn Divided<S, O>, memory: usize) -> usize {
    let ([in_width, out_width], placement) = (divided.widths(), divided.placement());
    let bytes = |[samples, outputs]: [usize; 2]| {
        let of_samples = samples.saturating_mul(in_width).saturating_mul(size_of::<S>());
        of_samples.saturating_add(outputs.saturating_mul(out_width).saturating_mul(size_of::<O>()))
    };
    // A part has room for samples and outputs at the ends of a signal, too.
    let left = (memory / PARTS).saturating_sub(bytes(placement.capacities(0)));
    left / bytes([placement.stride, 1]).max(1)
}
