//! Filters whose samples are on several devices.

use super::moves;
use super::pieces::{Piece, Signal};
use super::{Course, Devices, Distributed, DistributedBuffer, DistributedError, Distribution};
use crate::device::data::{Elements, Target};
use crate::element::raw::Raw;
use crate::filter::part::Divided;
use crate::filter1d::PreparedFilter1d;
use crate::filter2d::PreparedFilter2d;
use crate::{Buffer, Filter1d, Filter2d, FilterSample, FilterWeight, Result};

impl<S: FilterSample, W: FilterWeight> Filter1d<S, W> {
    /// Prepares the filter on several devices; otherwise as [`prepare`](Self::prepare).
    ///
    /// # Errors
    ///
    /// The errors of [`prepare`](Self::prepare).
    pub fn prepare_on(&self, devices: &Devices) -> Result<Distributed<PreparedFilter1d<S>>> {
        Distributed::new(devices, |device| self.prepare(device))
    }
}

/// Filters of one line, whose rows are samples, each with its channels.
impl<S: FilterSample> Distributed<PreparedFilter1d<S>> {
    /// Returns the filtered samples, which stay distributed. On GPUs, this returns when the work is enqueued, and between processes when the messages have passed.
    ///
    /// # Errors
    ///
    /// The errors of [`apply_into`](Self::apply_into), and those of [`Device::zeroed`](crate::Device::zeroed).
    pub fn apply(&self, samples: &DistributedBuffer<S>) -> Result<DistributedBuffer<S>> {
        let mut outputs = self.outputs(samples)?;
        self.apply_into(samples, &mut outputs)?;
        Ok(outputs)
    }

    /// Returns room for the filtered samples: zeros, distributed as [`apply_into`](Self::apply_into) needs it.
    ///
    /// # Errors
    ///
    /// The errors of [`Device::zeroed`](crate::Device::zeroed), and [`Error::TooLarge`](crate::Error::TooLarge) for more outputs than
    /// memory can have.
    pub fn outputs(&self, samples: &DistributedBuffer<S>) -> Result<DistributedBuffer<S>> {
        outputs(self.devices(), &self.any().line(), samples)
    }

    /// Filters samples into other ones. On GPUs, this returns when the work is enqueued, and between processes when the messages have passed.
    ///
    /// # Errors
    ///
    /// * [`DistributedError::Devices`] for data on other devices.
    /// * [`DistributedError::Width`] if rows do not have the elements of one sample: the channels.
    /// * [`DistributedError::Distribution`] if the outputs are not distributed as [`outputs`](Self::outputs) returns them.
    /// * [`DistributedError::Transport`] between processes, before the first row.
    /// * [`DistributedError::Incomplete`] with an error of [`PreparedFilter1d::apply_into`] or a `Transport` as its cause: some outputs may
    ///   be written. The devices stay usable, except those that are lost.
    pub fn apply_into(&self, samples: &DistributedBuffer<S>, outputs: &mut DistributedBuffer<S>) -> Result<()> {
        let lines: Vec<_> = self.local().map(|(member, filter)| (member, filter.line())).collect();
        run(self.devices(), &lines, samples, outputs)
    }
}

impl<S: FilterSample, W: FilterWeight> Filter2d<S, W> {
    /// Prepares the filter on several devices; otherwise as [`prepare`](Self::prepare).
    ///
    /// # Errors
    ///
    /// The errors of [`prepare`](Self::prepare).
    pub fn prepare_on(&self, devices: &Devices) -> Result<Distributed<PreparedFilter2d<S>>> {
        Distributed::new(devices, |device| self.prepare(device))
    }
}

/// Filters of one picture, of which each member has rows.
impl<S: FilterSample, O: FilterSample> Distributed<PreparedFilter2d<S, O>> {
    /// Returns the filtered picture, which stays distributed. On GPUs, this returns when the work is enqueued, and between processes when the messages have passed.
    ///
    /// # Errors
    ///
    /// The errors of [`apply_into`](Self::apply_into), and those of [`Device::zeroed`](crate::Device::zeroed).
    pub fn apply(&self, picture: &DistributedBuffer<S>) -> Result<DistributedBuffer<O>> {
        let mut outputs = self.outputs(picture)?;
        self.apply_into(picture, &mut outputs)?;
        Ok(outputs)
    }

    /// Returns room for the filtered picture: zeros, distributed as [`apply_into`](Self::apply_into) needs it.
    ///
    /// # Errors
    ///
    /// The errors of [`Device::zeroed`](crate::Device::zeroed), and those of [`PreparedFilter2d::output_shape`].
    pub fn outputs(&self, picture: &DistributedBuffer<S>) -> Result<DistributedBuffer<O>> {
        outputs(self.devices(), &self.any().rows(picture.width(), picture.total_rows())?, picture)
    }

    /// Filters a picture into another one. On GPUs, this returns when the work is enqueued, and between processes when the messages have passed.
    ///
    /// # Errors
    ///
    /// * [`DistributedError::Devices`] for data on other devices.
    /// * [`DistributedError::Width`] if the rows of the outputs have another length.
    /// * [`DistributedError::Distribution`] if the outputs are not distributed as [`outputs`](Self::outputs) returns them.
    /// * [`DistributedError::Transport`] between processes, before the first row.
    /// * [`DistributedError::Incomplete`] with an error of [`PreparedFilter2d::apply_into`] or a `Transport` as its cause: some outputs may
    ///   be written. The devices stay usable, except those that are lost.
    pub fn apply_into(&self, picture: &DistributedBuffer<S>, outputs: &mut DistributedBuffer<O>) -> Result<()> {
        let (width, total) = (picture.width(), picture.total_rows());
        let rows = self.local().map(|(member, filter)| Ok((member, filter.rows(width, total)?)));
        run(self.devices(), &rows.collect::<Result<Vec<_>>>()?, picture, outputs)
    }
}

/// Returns the signal, the same in all processes: segments may depend on the device, so those of the first member count.
fn signal<S: Raw, O: Raw>(divided: &impl Divided<S, O>, samples: &DistributedBuffer<S>) -> Result<Signal> {
    let (mut placement, count) = (divided.placement(), samples.total_rows());
    if let Some(transport) = samples.devices().transport() {
        let mut segment = [if transport.member() == 0 { placement.segment as u64 } else { 0 }];
        samples.devices().sum(&mut segment)?;
        placement.segment = segment[0] as usize;
    }
    Ok(Signal { placement, samples: count, outputs: divided.outputs(count)? })
}

fn outputs<S: Raw, O: Raw>(
    devices: &Devices,
    divided: &impl Divided<S, O>,
    samples: &DistributedBuffer<S>,
) -> Result<DistributedBuffer<O>> {
    devices.zeroed_as(&signal(divided, samples)?.distribution(devices.len()), divided.widths()[1])
}

/// Filters on the members in this process.
fn run<S: Raw, O: Raw, D: Divided<S, O>>(
    devices: &Devices,
    filters: &[(usize, D)],
    samples: &DistributedBuffer<S>,
    outputs: &mut DistributedBuffer<O>,
) -> Result<()> {
    samples.check_devices("the input", devices)?;
    outputs.check_devices("the output", devices)?;
    let Some((_, any)) = filters.first() else { return Ok(()) };
    let [in_width, out_width] = any.widths();
    check_width("the input", in_width, samples.width())?;
    check_width("the output", out_width, outputs.width())?;
    let signal = signal(any, samples)?;
    check_distribution(&signal.distribution(devices.len()), outputs.distribution())?;
    let (inputs, of_outputs) = (samples.distribution().clone(), outputs.distribution().clone());
    let pieces = |member| signal.pieces(of_outputs.rows(member), &inputs.rows(member));
    let rows_of = |(member, _): &(usize, D)| of_outputs.rows(*member).len() as u64;
    let mut course = Course::new("rows of the output", filters.iter().map(rows_of).sum());
    let mut gathered = gathering(devices, course, in_width, &pieces)?;
    let moves = signal.moves(&inputs, &of_outputs, in_width, &|member| devices.get(member).is_some());
    moves::run(devices, course, &moves, &samples.parts(), &mut gathered)?;
    for (member, filter) in filters {
        let (Some(own), Some(outputs)) = (samples.part(*member), &mut outputs.parts_mut()[*member]) else { continue };
        let mut pieces = pieces(*member);
        // The others wait for what comes from other members.
        pieces.sort_by_key(|piece| piece.gathered.is_some());
        for piece in pieces {
            let first = inputs.rows(*member).start as i64;
            let input = match piece.gathered {
                Some(number) => gathered[*member][number].slice(..)?,
                None => {
                    let place = |position: i64| (position - first) as usize * in_width;
                    own.slice(place(piece.part.samples.start)..place(piece.part.samples.end))?
                }
            };
            let place = |output: usize| (output - of_outputs.rows(*member).start) * out_width;
            let output = outputs.slice_mut(place(piece.part.outputs.start)..place(piece.part.outputs.end))?;
            let run = filter.run(&piece.part, &Elements::Device(input.into()), Target::Device(output.into()));
            course.on(*member, run)?;
            course.add(piece.part.outputs.len() as u64);
        }
    }
    Ok(())
}

/// Returns buffers for the samples that members put together.
fn gathering<S: Raw>(
    devices: &Devices,
    course: Course,
    width: usize,
    pieces: &dyn Fn(usize) -> Vec<Piece>,
) -> Result<Vec<Vec<Buffer<S>>>> {
    let mut gathered: Vec<Vec<_>> = (0..devices.len()).map(|_| Vec::new()).collect();
    for (member, queue) in devices.incoming() {
        for piece in pieces(member).iter().filter(|piece| piece.gathered.is_some()) {
            gathered[member].push(course.on(member, queue.unwritten(piece.part.len() * width))?);
        }
    }
    Ok(gathered)
}

fn check_width(what: &'static str, expected: usize, actual: usize) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(DistributedError::Width { what, expected, actual }.into()) }
}

fn check_distribution(expected: &Distribution, actual: &Distribution) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(DistributedError::distribution("the output", expected, actual)) }
}
