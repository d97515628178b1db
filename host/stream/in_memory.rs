//! Host memory to host memory through a GPU, in parts: copies in both directions at the same time, and data that are larger than the
//! memory of the device.

use super::error::StreamCause;
use super::pipeline::{self, Capacity, Job, Outputs, Samples};
use crate::cpu::parallel::for_chunks;
use crate::device::data::{Elements, Target};
use crate::filter::part::{Divided, Part};
use crate::{Device, Element, Pinned, Result};
use std::mem;

/// Bytes of samples and outputs from which on parts take less time than everything at once. It takes a while to allocate pinned memory.
const LEAST: usize = 256 << 20;

/// Bytes of samples and outputs of a part.
const PART: usize = 32 << 20;

/// Bytes that a thread copies.
const COPIED: usize = 1 << 20;

/// Returns whether an operation is done in parts: all of its data are on the host, and there are many.
pub(crate) fn takes_parts<S: Element, O: Element>(
    device: &Device,
    samples: &Elements<'_, S>,
    outputs: &Target<'_, O>,
) -> bool {
    match (samples, outputs) {
        (Elements::Host(samples), Target::Host(outputs)) => {
            device.gpu().is_some() && size_of_val(&**samples) + size_of_val(&**outputs) >= LEAST
        }
        _ => false,
    }
}

/// Computes all outputs. Samples and outputs are on the host, and have no gaps.
pub(crate) fn run<S: Element, O: Element>(
    divided: &dyn Divided<S, O>,
    samples: &Elements<'_, S>,
    outputs: Target<'_, O>,
) -> Result<()> {
    let (samples, outputs) = (samples.cpu(), outputs.into_cpu());
    let staged = [!divided.device().copies_fast(samples), !divided.device().copies_fast(outputs)];
    in_parts(divided, samples, outputs, PART, staged)
}

/// Computes all outputs in parts of about this number of bytes. Samples and outputs that are not copied fast are staged.
fn in_parts<S: Element, O: Element>(
    divided: &dyn Divided<S, O>,
    samples: &[S],
    outputs: &mut [O],
    bytes: usize,
    staged: [bool; 2],
) -> Result<()> {
    let (placement, [in_width, out_width]) = (divided.placement(), divided.widths());
    let places = samples.len().checked_div(in_width).unwrap_or(0);
    let per_output = [(in_width, placement.stride, size_of::<S>()), (out_width, 1, size_of::<O>())];
    let per_output = per_output.map(|(width, stride, size)| width.saturating_mul(stride).saturating_mul(size));
    let size = bytes / per_output[0].saturating_add(per_output[1]).max(1);
    let mut parts = placement.parts(divided.outputs(places)?, places, size).peekable();
    let largest = match parts.peek() {
        // A whole signal may be longer than a part.
        Some(part) if part.len() == places => [places, part.outputs.len()],
        _ => placement.capacities(size),
    };
    let elements = [largest[0] * in_width, largest[1] * out_width];
    // The outputs go to their places, or are copied there.
    let (mut places_of_outputs, mut copies) = if staged[1] { (&mut [][..], outputs) } else { (outputs, &mut [][..]) };
    let mut feed = |free: &mut dyn FnMut() -> Option<Pinned<S>>| {
        let Some(part) = parts.next() else { return Ok(None) };
        let in_place = in_place(samples, &part, in_width).filter(|_| !staged[0]);
        let samples = match in_place {
            Some(samples) => Samples::InPlace(samples),
            None => {
                let Some(mut memory) = free() else { return Ok(None) };
                gather(samples, &part, in_width, &mut memory);
                Samples::Staged(memory)
            }
        };
        let len = part.outputs.len() * out_width;
        let outputs = if staged[1] { Outputs::Staged } else { Outputs::InPlace(split(&mut places_of_outputs, len)) };
        Ok(Some(Job { part, samples, outputs }))
    };
    let capacity = Capacity { elements, staged: [staged[0] || has_ends(divided), staged[1]] };
    let result = pipeline::run(divided, &capacity, &mut feed, &mut |_, outputs| {
        copy(outputs, split(&mut copies, outputs.len()));
        Ok(())
    });
    result.map_err(|cause| match cause {
        StreamCause::Failed(error) => *error,
        _ => unreachable!("nothing is read or written"),
    })
}

/// Returns whether parts at an end have samples of the other one.
fn has_ends<S: Element, O: Element>(divided: &dyn Divided<S, O>) -> bool {
    super::feed::is_wrapped(&divided.placement())
}

/// Returns the samples of a part, unless some of them are at the other end.
fn in_place<'a, S>(samples: &'a [S], part: &Part, width: usize) -> Option<&'a [S]> {
    let first = usize::try_from(part.samples.start).ok()?;
    samples.get(first * width..part.samples.end as usize * width)
}

/// Copies the samples of a part, also those at the other end.
fn gather<S: Element>(samples: &[S], part: &Part, width: usize, memory: &mut [S]) {
    let (places, mut filled) = ((samples.len() / width) as i64, 0);
    let mut position = part.samples.start;
    while position < part.samples.end {
        let first = position.rem_euclid(places);
        let count = (places - first).min(part.samples.end - position);
        let (first, len) = (first as usize * width, count as usize * width);
        copy(&samples[first..first + len], &mut memory[filled..filled + len]);
        (position, filled) = (position + count, filled + len);
    }
}

/// Takes elements from the beginning of others.
fn split<'a, T>(elements: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    let (first, rest) = mem::take(elements).split_at_mut(len);
    *elements = rest;
    first
}

/// Copies elements with all cores.
fn copy<T: Element>(from: &[T], to: &mut [T]) {
    let share = COPIED / size_of::<T>();
    for_chunks(to, share, usize::MAX, &|number, to| to.copy_from_slice(&from[number * share..][..to.len()]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Boundary, Filter1d};

    fn check(device: &Device) {
        let samples: Vec<i32> = (0..2000).map(|i| i * i % 1009 - 300).collect();
        for boundary in [Boundary::Nearest, Boundary::Reflect, Boundary::Wrap] {
            for channels in [1, 2] {
                let filter = Filter1d::correlate(&[1, -2, 3, 5, -7]).boundary(boundary).channels(channels);
                let filter = filter.prepare(device).unwrap();
                for len in [0, 2, 30, 48, 100, 1998] {
                    let expected = filter.apply(&samples[..len]).unwrap();
                    for staged in [[false, false], [true, false], [false, true], [true, true]] {
                        let mut outputs = vec![0; len];
                        in_parts(&filter.line(), &samples[..len], &mut outputs, 1, staged).unwrap();
                        assert_eq!(outputs, expected, "{boundary:?}, {channels} channels, {len} samples, {staged:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn parts_are_the_whole_on_the_cpu() {
        check(&Device::cpu());
    }

    #[cfg(feature = "emulator")]
    #[test]
    fn parts_are_the_whole_on_an_emulated_device() {
        check(&Device::emulated(emulator::Profile::SM_90, 0));
    }
}
