//! Parts on their way through a device: while one is downloaded and written, the next one is read, uploaded and computed.
//!
//! ```text
//!            GPU                                       CPU
//! thread 1   feed: pinned memory, filled               feed
//! thread 2   upload; the kernels are enqueued          compute
//! thread 3   download to pinned memory
//! caller     drain: pinned memory, to be written       drain
//! ```
//!
//! Uploads, kernels and downloads have a queue of the device each. All calls that copy return when the copy is done, so a thread waits
//! for its queue alone. An upload waits for the kernels before it, which take less time than copies in most operations. Memory goes round:
//! a stage that has done with a part gives its memory back to the stage before it. When a stage fails or panics, the others find their
//! channels closed, finish what they have, and end. Channels are bounded, so their memory is allocated before the first part. One without a
//! bound would allocate while parts are on their way, and end the process if that fails.

use super::error::StreamCause;
use crate::device::data::{Elements, Target};
use crate::device::slice::{BufferSlice, BufferSliceMut};
use crate::filter::part::{Divided, Part};
use crate::{Buffer, Device, Element, Pinned};
use std::borrow::Cow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, ScopedJoinHandle};

type Result<T> = std::result::Result<T, StreamCause>;

/// Parts that are at the same stage, or between two stages: one that is copied, and one that waits.
pub(super) const SLOTS: usize = 2;

/// A part that is to be computed.
pub(super) struct Job<'a, S: Element, O: Element> {
    pub(super) part: Part,
    pub(super) samples: Samples<'a, S>,
    pub(super) outputs: Outputs<'a, O>,
}

/// The samples of a part.
pub(super) enum Samples<'a, S: Element> {
    /// At the beginning of memory of the pipeline.
    Staged(Pinned<S>),
    /// Where they are. Copies are fast if that is pinned memory.
    InPlace(&'a [S]),
}

/// Where the outputs of a part go.
pub(super) enum Outputs<'a, O: Element> {
    /// To memory of the pipeline, which is drained.
    Staged,
    /// To their place. Copies are fast if that is pinned memory.
    InPlace(&'a mut [O]),
}

/// Gets memory for the samples of a part, and returns the next job.
pub(super) type Feeding<'f, 'a, S, O> =
    dyn FnMut(&mut dyn FnMut() -> Option<Pinned<S>>) -> Result<Option<Job<'a, S, O>>> + Send + 'f;

/// Outputs that are computed.
struct Done<'a, O: Element> {
    part: Part,
    len: usize,
    outputs: Outputs<'a, O>,
}

/// Memory of the pipeline: elements of host and device for each part in it.
pub(super) struct Capacity {
    /// Elements of the samples and of the outputs of a part.
    pub(super) elements: [usize; 2],
    /// Whether samples and outputs are staged.
    pub(super) staged: [bool; 2],
}

/// Computes parts. `feed` gets memory for the samples of a part if they are staged, and returns the next job, or `None` after the last
/// one. `drain` gets each part in order, with its outputs if they are staged.
///
/// Returns the error of `drain`, or the first one in the order of the other stages. All parts before it are drained then.
pub(super) fn run<'a, S: Element, O: Element>(
    divided: &dyn Divided<S, O>,
    capacity: &Capacity,
    feed: &mut Feeding<'_, 'a, S, O>,
    drain: &mut dyn FnMut(&Part, &mut [O]) -> Result<()>,
) -> Result<()> {
    let device = divided.device();
    let ([samples, outputs], [_, width]) = (capacity.elements, divided.widths());
    let (to_compute, jobs) = sync_channel(SLOTS);
    let (to_drain, drained) = sync_channel(SLOTS);
    let (give_samples, free_samples) = slots(device, if capacity.staged[0] { samples } else { 0 })?;
    let (give_outputs, free_outputs) = slots(device, if capacity.staged[1] { outputs } else { 0 })?;
    let gpu = device.gpu().map(|_| OnGpu::new(device, capacity.elements)).transpose()?;
    // Everything that is received from or sent to moves into the scope: it is dropped when the scope ends early, and the threads end.
    thread::scope(move |scope| {
        let feeding = scope.spawn(move || {
            while let Some(job) = feed(&mut || free_samples.recv().ok())? {
                if to_compute.send(job).is_err() {
                    break;
                }
            }
            Ok(())
        });
        let computing = match gpu {
            Some(gpu) => {
                let OnGpu { mut inputs, free, give } = gpu;
                let (to_download, computed) = sync_channel(SLOTS);
                let computing = scope.spawn(move || {
                    for (number, job) in jobs.iter().enumerate() {
                        let Ok(mut output) = free.recv() else { break };
                        let input = &mut inputs[number % SLOTS];
                        let done = launch(divided, job, input, &mut output, width, &give_samples)?;
                        if to_download.send((done, output)).is_err() {
                            break;
                        }
                    }
                    Ok(())
                });
                let downloading = scope.spawn(move || {
                    for (done, output) in computed {
                        let Some(drain) = download(done, &output, &free_outputs)? else { break };
                        // Nobody takes the buffer any more after the last part.
                        let _ = give.send(output);
                        if to_drain.send(drain).is_err() {
                            break;
                        }
                    }
                    Ok(())
                });
                vec![computing, downloading]
            }
            None => vec![scope.spawn(move || {
                for job in jobs {
                    let Some(drain) = compute(divided, job, width, &give_samples, &free_outputs)? else { break };
                    if to_drain.send(drain).is_err() {
                        break;
                    }
                }
                Ok(())
            })],
        };
        let mut drained = drained.into_iter();
        let draining = drained.try_for_each(|(part, outputs): (Part, Option<(Pinned<O>, usize)>)| {
            let Some((mut outputs, len)) = outputs else { return drain(&part, &mut []) };
            drain(&part, &mut outputs[..len])?;
            let _ = give_outputs.send(outputs);
            Ok(())
        });
        drop((drained, give_outputs));
        let stages = std::iter::once(feeding).chain(computing).map(joined).collect::<Vec<_>>();
        // The last stage has the earliest parts.
        [draining].into_iter().chain(stages).collect()
    })
}

/// Device memory of the pipeline.
struct OnGpu<S: Element, O: Element> {
    inputs: Vec<Buffer<S>>,
    free: Receiver<Buffer<O>>,
    give: SyncSender<Buffer<O>>,
}

impl<S: Element, O: Element> OnGpu<S, O> {
    fn new(device: &Device, [samples, outputs]: [usize; 2]) -> Result<Self> {
        let (up, down) = (device.queue()?, device.queue()?);
        let inputs = (0..SLOTS).map(|_| up.unwritten(samples)).collect::<crate::Result<_>>()?;
        let (give, free) = sync_channel(SLOTS);
        for _ in 0..SLOTS {
            let _ = give.send(down.unwritten(outputs)?);
        }
        Ok(OnGpu { inputs, free, give })
    }
}

/// Returns slots of pinned memory in a channel that they are given back to.
pub(super) fn slots<T: Element>(device: &Device, len: usize) -> Result<(SyncSender<Pinned<T>>, Receiver<Pinned<T>>)> {
    const COUNT: usize = SLOTS + 1;
    let (give, free) = sync_channel(COUNT);
    for _ in 0..COUNT {
        let _ = give.send(device.pinned(len)?);
    }
    Ok((give, free))
}

/// Returns what a stage returned, or goes on with its panic.
pub(super) fn joined(stage: ScopedJoinHandle<'_, Result<()>>) -> Result<()> {
    stage.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl<S: Element> Samples<'_, S> {
    fn elements(&self) -> &[S] {
        match self {
            Samples::Staged(memory) => memory,
            Samples::InPlace(samples) => samples,
        }
    }

    /// Gives memory of the pipeline back.
    fn give_back(self, free: &SyncSender<Pinned<S>>) {
        if let Samples::Staged(memory) = self {
            let _ = free.send(memory);
        }
    }
}

/// Uploads samples and enqueues the kernels.
fn launch<'a, S: Element, O: Element>(
    divided: &dyn Divided<S, O>,
    Job { part, samples, outputs }: Job<'a, S, O>,
    input: &mut Buffer<S>,
    output: &mut Buffer<O>,
    width: usize,
    free: &SyncSender<Pinned<S>>,
) -> Result<Done<'a, O>> {
    let (count, len) = (part.len() * divided.widths()[0], part.outputs.len() * width);
    input.slice_mut(..count)?.upload(&samples.elements()[..count])?;
    samples.give_back(free);
    let input: BufferSlice<'_, S> = input.slice(..count)?;
    let output: BufferSliceMut<'_, O> = output.slice_mut(..len)?;
    divided.run(&part, &Elements::Device(input.into()), Target::Device(output.into()))?;
    Ok(Done { part, len, outputs })
}

type Drained<O> = (Part, Option<(Pinned<O>, usize)>);

/// Downloads outputs. Returns `None` if nobody drains them any more.
fn download<O: Element>(
    Done { part, len, outputs }: Done<'_, O>,
    output: &Buffer<O>,
    free: &Receiver<Pinned<O>>,
) -> Result<Option<Drained<O>>> {
    let output = output.slice(..len)?;
    match outputs {
        Outputs::InPlace(outputs) => {
            output.download_into(outputs)?;
            Ok(Some((part, None)))
        }
        Outputs::Staged => {
            let Ok(mut staged) = free.recv() else { return Ok(None) };
            output.download_into(&mut staged[..len])?;
            Ok(Some((part, Some((staged, len)))))
        }
    }
}

/// Computes a part on the CPU. Returns `None` if nobody drains it any more.
fn compute<S: Element, O: Element>(
    divided: &dyn Divided<S, O>,
    Job { part, samples, outputs }: Job<'_, S, O>,
    width: usize,
    give: &SyncSender<Pinned<S>>,
    free: &Receiver<Pinned<O>>,
) -> Result<Option<Drained<O>>> {
    let (count, len) = (part.len() * divided.widths()[0], part.outputs.len() * width);
    let elements = Elements::Host(Cow::Borrowed(&samples.elements()[..count]));
    let computed = match outputs {
        Outputs::InPlace(outputs) => divided.run(&part, &elements, Target::Host(outputs)).map(|()| None),
        Outputs::Staged => {
            let Ok(mut staged) = free.recv() else { return Ok(None) };
            divided.run(&part, &elements, Target::Host(&mut staged[..len])).map(|()| Some((staged, len)))
        }
    };
    drop(elements);
    samples.give_back(give);
    Ok(Some((part, computed?)))
}
