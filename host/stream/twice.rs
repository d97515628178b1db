//! Operations that look at pairs of elements twice, from two inputs that can seek.
//!
//! A thread reads pairs of parts while the caller's thread computes those before.

use super::Progress;
use super::error::StreamCause;
use super::feed::{Input, Source, places};
use super::operation::{Operation, PARTS, Sink};
use super::pipeline::{SLOTS, joined, slots};
use crate::device::buffer::check_length;
use crate::element::raw::Raw;
use crate::{Device, Element, Pinned};
use std::io::{self, Read, Seek, SeekFrom};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::sync_channel;
use std::thread;

type Result<T> = std::result::Result<T, StreamCause>;

/// Which time it is that elements are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    First,
    Second,
}

/// An operation on pairs of elements, which sees all of them twice, part by part, in order.
pub(crate) trait TwoPasses<S: Element, W: Element>: Send + Sync {
    fn device(&self) -> &Device;

    /// Returns a number that the number of pairs in a part is a multiple of.
    fn width(&self) -> usize;

    /// Begins, for this number of pairs.
    fn begin(&self, len: usize);

    /// Processes a part. `first` is the index of its first pair.
    fn run(&self, pass: Pass, first: usize, samples: &[S], weights: &[W]) -> crate::Result<()>;
}

/// Such an operation, and the second one of its inputs.
pub(super) struct Twice<P, S, W, V> {
    passes: Arc<P>,
    weights: WithSeek<V>,
    types: PhantomData<fn(S, W)>,
}

/// An input that can seek.
struct WithSeek<V>(V);

impl<V: Read> Read for WithSeek<V> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl<V: Read + Seek + Send> Source for WithSeek<V> {
    fn seek(&mut self, to: SeekFrom) -> Option<io::Result<u64>> {
        Some(self.0.seek(to))
    }
}

/// What both passes have in common.
struct Reading<'a> {
    /// Samples and weights.
    inputs: [Input<'a>; 2],
    /// Where the inputs begin.
    begin: [u64; 2],
    /// Number of pairs.
    len: usize,
    /// Number of pairs of a part.
    size: usize,
    /// Bytes of a pair.
    bytes: u64,
}

/// A part in memory.
struct Pairs<S: Element, W: Element> {
    pairs: Range<usize>,
    samples: Pinned<S>,
    weights: Pinned<W>,
}

impl<P, S, W, V> Twice<P, S, W, V> {
    pub(super) fn new(passes: Arc<P>, weights: V) -> Self {
        Twice { passes, weights: WithSeek(weights), types: PhantomData }
    }
}

impl<S: Raw, W: Raw, P: TwoPasses<S, W>, V: Read + Seek + Send> Operation for Twice<P, S, W, V> {
    fn run(&mut self, source: &mut dyn Source, memory: usize, read: &AtomicU64, sink: &mut Sink<'_>) -> Result<()> {
        let (width, bytes) = (self.passes.width(), size_of::<S>() + size_of::<W>());
        let mut inputs = [Input::new(source, read), Input::new(&mut self.weights, read)];
        let [of_samples, of_weights] = [inputs[0].len()?, inputs[1].len()?].map(Option::unwrap_or_default);
        let samples = places(of_samples, width * size_of::<S>())? * width;
        check_length("the weights", samples, places(of_weights, size_of::<W>())?)?;
        let begin = [inputs[0].seek(SeekFrom::Current(0))?, inputs[1].seek(SeekFrom::Current(0))?];
        let size = (memory / PARTS / bytes / width).max(1).saturating_mul(width).min(samples);
        let mut reading = Reading { inputs, begin, len: samples, size, bytes: bytes as u64 };
        self.passes.begin(samples);
        reading.pass::<S, W>(&*self.passes, Pass::First, sink)?;
        reading.pass::<S, W>(&*self.passes, Pass::Second, sink)
    }

    fn output_bytes(&self) -> usize {
        1
    }
}

impl Reading<'_> {
    /// Reads both inputs from their beginnings, and processes all pairs.
    fn pass<S: Raw, W: Raw>(&mut self, passes: &impl TwoPasses<S, W>, pass: Pass, sink: &mut Sink<'_>) -> Result<()> {
        for (input, begin) in self.inputs.iter_mut().zip(self.begin) {
            input.seek(SeekFrom::Start(begin))?;
        }
        let bytes = |pairs: usize| pairs as u64 * self.bytes;
        let total = bytes(self.len);
        let (give_samples, free_samples) = slots::<S>(passes.device(), self.size)?;
        let (give_weights, free_weights) = slots::<W>(passes.device(), self.size)?;
        let (to_compute, read) = sync_channel(SLOTS);
        let (inputs, len, size) = (&mut self.inputs, self.len, self.size.max(1));
        thread::scope(move |scope| {
            let reading = scope.spawn(move || {
                for first in (0..len).step_by(size) {
                    let pairs = first..len.min(first.saturating_add(size));
                    let (Ok(mut samples), Ok(mut weights)) = (free_samples.recv(), free_weights.recv()) else { break };
                    inputs[0].read_all(&mut samples[..pairs.len()], 1, (len * size_of::<S>()) as u64)?;
                    inputs[1].read_all(&mut weights[..pairs.len()], 1, (len * size_of::<W>()) as u64)?;
                    if to_compute.send(Pairs { pairs, samples, weights }).is_err() {
                        break;
                    }
                }
                Ok(())
            });
            let computed = read.into_iter().try_for_each(|Pairs { pairs, samples, weights }| {
                passes.run(pass, pairs.start, &samples[..pairs.len()], &weights[..pairs.len()])?;
                // Nobody takes the memory any more after the last part.
                let _ = (give_samples.send(samples), give_weights.send(weights));
                // Each pass is a half.
                let before = if pass == Pass::First { 0 } else { total };
                sink(&[], Progress { done: (before + bytes(pairs.end)) / 2, total: Some(total) })
            });
            drop((give_samples, give_weights));
            computed.and(joined(reading))
        })
    }
}
