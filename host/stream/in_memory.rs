//! Host memory to host memory through a GPU, in parts: copies in both directions at the same time, and data that are larger than the
//! memory of the device.

use super::error::StreamCause;
use super::pipeline::{self, Capacity, Job, Outputs, Samples};
use crate::cpu::parallel::for_chunks;
use crate::device::data::{Elements, Target};
use crate::filter::part::{Divided, Part};
use crate::{Device, Element, Pinned, Result};
use std::ops::Range;
use std::{array, mem};

/// Bytes of samples and outputs from which on parts take less time than everything at once. It takes a while to allocate pinned memory.
const LEAST: usize = 256 << 20;

/// Bytes of samples and outputs of a part.
const PART: usize = 32 << 20;

/// Bytes that a thread copies.
const COPIED: usize = 1 << 20;

/// Where the elements of a position are in memory without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Next to each other.
    Row,
    /// Down a column of a matrix, whose cells have this number of elements.
    Column { cell: usize },
}

impl Layout {
    /// Returns whether parts have to be put together, and their outputs to be distributed.
    fn is_staged(self) -> bool {
        matches!(self, Layout::Column { .. })
    }
}

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

/// Returns whether a problem with these numbers of samples and outputs is large enough for parts.
pub(crate) fn is_large<S, O>([samples, outputs]: [usize; 2]) -> bool {
    samples.saturating_mul(size_of::<S>()).saturating_add(outputs.saturating_mul(size_of::<O>())) >= LEAST
}

/// Computes all outputs. Samples and outputs are on the host, and have no gaps.
pub(crate) fn run<S: Element, O: Element>(
    divided: &dyn Divided<S, O>,
    samples: &Elements<'_, S>,
    outputs: Target<'_, O>,
) -> Result<()> {
    run_with_layouts(divided, [Layout::Row; 2], samples, outputs)
}

/// As [`run`], with the layouts of samples and outputs. Windows have one sample unless both are rows.
pub(crate) fn run_with_layouts<S: Element, O: Element>(
    divided: &dyn Divided<S, O>,
    layouts: [Layout; 2],
    samples: &Elements<'_, S>,
    outputs: Target<'_, O>,
) -> Result<()> {
    Parts::new(divided, layouts, samples.cpu(), outputs.into_cpu()).run(PART)
}

/// Computes the outputs of problems one after another. `lens` are the numbers of samples and of outputs of each.
pub(crate) fn run_each<S: Element, O: Element>(
    divided: &dyn Divided<S, O>,
    lens: [usize; 2],
    samples: &Elements<'_, S>,
    outputs: Target<'_, O>,
) -> Result<()> {
    let problems = samples.cpu().chunks(lens[0].max(1)).zip(outputs.into_cpu().chunks_mut(lens[1].max(1)));
    for (samples, outputs) in problems {
        Parts::new(divided, [Layout::Row; 2], samples, outputs).run(PART)?;
    }
    Ok(())
}

/// A problem on the host that is computed in parts.
struct Parts<'a, S: Element, O: Element> {
    divided: &'a dyn Divided<S, O>,
    layouts: [Layout; 2],
    samples: &'a [S],
    outputs: &'a mut [O],
    /// Whether samples and outputs are copied on their way. Otherwise, copies by a device are fast.
    staged: [bool; 2],
}

impl<'a, S: Element, O: Element> Parts<'a, S, O> {
    fn new(divided: &'a dyn Divided<S, O>, layouts: [Layout; 2], samples: &'a [S], outputs: &'a mut [O]) -> Self {
        let slow = [!divided.device().copies_fast(samples), !divided.device().copies_fast(outputs)];
        let staged = array::from_fn(|side| slow[side] || layouts[side].is_staged());
        Parts { divided, layouts, samples, outputs, staged }
    }

    /// Computes all outputs in parts of about this number of bytes.
    fn run(self, bytes: usize) -> Result<()> {
        let Parts { divided, layouts, samples, outputs, staged } = self;
        let (placement, [in_width, out_width]) = (divided.placement(), divided.widths());
        let places = samples.len().checked_div(in_width).unwrap_or(0);
        let per_output = [(in_width, placement.stride, size_of::<S>()), (out_width, 1, size_of::<O>())];
        let per_output = per_output.map(|(width, stride, size)| width.saturating_mul(stride).saturating_mul(size));
        let size = bytes / per_output[0].saturating_add(per_output[1]).max(1);
        let of_outputs = divided.outputs(places)?;
        if of_outputs == 0 {
            return Ok(());
        }
        let mut parts = placement.parts(of_outputs, places, size).peekable();
        let largest = match parts.peek() {
            // A whole signal may be longer than a part.
            Some(part) if part.len() == places => [places, part.outputs.len()],
            _ => {
                let [samples, of_part] = placement.capacities(size);
                // Besides those of the signal, samples of its other end.
                [samples.min(places + 2 * (placement.span + placement.pack)), of_part.min(of_outputs)]
            }
        };
        let elements = [largest[0] * in_width, largest[1] * out_width];
        // The outputs go to their places, or are copied there.
        let (mut in_place, copies) = if staged[1] { (&mut [][..], outputs) } else { (outputs, &mut [][..]) };
        let mut feed = |free: &mut dyn FnMut() -> Option<Pinned<S>>| {
            let Some(part) = parts.next() else { return Ok(None) };
            let found = found(samples, &part, in_width).filter(|_| !staged[0]);
            let samples = match found {
                Some(samples) => Samples::InPlace(samples),
                None => {
                    let Some(mut memory) = free() else { return Ok(None) };
                    gather(samples, layouts[0], &part, in_width, &mut memory);
                    Samples::Staged(memory)
                }
            };
            let len = part.outputs.len() * out_width;
            let outputs = if staged[1] { Outputs::Staged } else { Outputs::InPlace(split(&mut in_place, len)) };
            Ok(Some(Job { part, samples, outputs }))
        };
        let capacity = Capacity { elements, staged: [staged[0] || has_ends(divided), staged[1]] };
        let result = pipeline::run(divided, &capacity, &mut feed, &mut |part, outputs| {
            if staged[1] {
                scatter(outputs, layouts[1], &part.outputs, of_outputs, copies);
            }
            Ok(())
        });
        result.map_err(|cause| match cause {
            StreamCause::Failed(error) => *error,
            _ => unreachable!("nothing is read or written"),
        })
    }
}

/// Returns whether parts at an end have samples of the other one.
fn has_ends<S: Element, O: Element>(divided: &dyn Divided<S, O>) -> bool {
    super::feed::is_wrapped(&divided.placement())
}

/// Returns the samples of a part in rows, unless some of them are at the other end.
fn found<'a, S>(samples: &'a [S], part: &Part, width: usize) -> Option<&'a [S]> {
    let first = usize::try_from(part.samples.start).ok()?;
    samples.get(first * width..part.samples.end as usize * width)
}

/// Copies the samples of a part.
fn gather<S: Element>(samples: &[S], layout: Layout, part: &Part, width: usize, memory: &mut [S]) {
    match layout {
        Layout::Row => gather_rows(samples, part, width, memory),
        Layout::Column { cell } => {
            let pitch = samples.len() / width * cell;
            let (first, len) = (part.samples.start as usize * cell, part.len() * cell);
            let rows = (COPIED / size_of::<S>() / len).max(1);
            for_chunks(memory, rows * len, (width / cell).div_ceil(rows), &|number, memory| {
                let samples = samples[number * rows * pitch..].chunks(pitch);
                for (row, samples) in memory.chunks_exact_mut(len).zip(samples) {
                    copy(&samples[first..first + len], row);
                }
            });
        }
    }
}

/// Copies the samples of a part in rows, also those at the other end.
fn gather_rows<S: Element>(samples: &[S], part: &Part, width: usize, memory: &mut [S]) {
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

/// Copies the outputs of a part to their place among all, of this many positions.
fn scatter<O: Element>(part: &[O], layout: Layout, positions: &Range<usize>, all: usize, outputs: &mut [O]) {
    match layout {
        Layout::Row => {
            let width = part.len() / positions.len();
            copy(part, &mut outputs[positions.start * width..][..part.len()]);
        }
        Layout::Column { cell } => {
            let (first, len, pitch) = (positions.start * cell, positions.len() * cell, all * cell);
            let rows = (COPIED / size_of::<O>() / len).max(1);
            for_chunks(outputs, rows * pitch, usize::MAX, &|number, outputs| {
                let part = part[number * rows * len..].chunks_exact(len);
                for (row, part) in outputs.chunks_exact_mut(pitch).zip(part) {
                    copy(part, &mut row[first..first + len]);
                }
            });
        }
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
    use crate::{Boundary, Channels, Extent, Filter1d, Map, Transpose};
    use ndarray::Array2;
    use std::borrow::Cow;

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
                        let (line, layouts) = (filter.line(), [Layout::Row; 2]);
                        let parts = Parts { staged, ..Parts::new(&line, layouts, &samples[..len], &mut outputs) };
                        parts.run(1).unwrap();
                        assert_eq!(outputs, expected, "{boundary:?}, {channels} channels, {len} samples, {staged:?}");
                    }
                }
            }
        }
    }

    /// Returns the outputs that come from parts of few bytes.
    fn in_parts<T: Element>(divided: &dyn Divided<T, T>, layouts: [Layout; 2], samples: &[T], bytes: usize) -> Vec<T> {
        let mut outputs = vec![T::default(); samples.len()];
        Parts::new(divided, layouts, samples, &mut outputs).run(bytes).unwrap();
        outputs
    }

    fn check_matrices(device: &Device) {
        let shapes = [[1, 1], [1, 50], [50, 1], [7, 7], [5, 61], [61, 5], [64, 33]];
        for ([rows, columns], [matrices, components]) in
            shapes.into_iter().flat_map(|shape| [[1, 1], [1, 2], [1, 3], [3, 1]].map(|more| (shape, more)))
        {
            let transpose = Transpose::new(rows, columns).batch(matrices).components(components);
            let transpose = transpose.prepare(device).unwrap();
            let samples: Vec<i32> = (0..rows * columns * matrices * components).map(|number| number as i32).collect();
            let expected = transpose.apply(&samples).unwrap();
            for bytes in [1, 700, 3000, 1 << 20] {
                let parts = transpose.parts();
                let outputs = in_parts(&parts, parts.layouts(), &samples, bytes);
                assert_eq!(outputs, expected, "{matrices} times {rows} x {columns}, {components} components, {bytes}");
            }
        }
    }

    fn check_pixels(device: &Device) {
        let samples: Vec<u16> = (0..6000).collect();
        for (channels, pixels) in
            [1, 2, 3, 5].into_iter().flat_map(|channels| [1, 2, 300].map(|pixels| (channels, pixels)))
        {
            for direction in [Channels::split(channels), Channels::merge(channels)] {
                let (direction, samples) = (direction.prepare(device).unwrap(), &samples[..channels * pixels]);
                for bytes in [1, 500, 1 << 20] {
                    let outputs = in_parts(&direction, direction.layouts(), samples, bytes);
                    assert_eq!(outputs, direction.apply(samples).unwrap(), "{channels} channels of {pixels} pixels");
                }
            }
        }
        let square = Map::square().prepare(device).unwrap();
        for len in [1, 10, 255] {
            let expected = square.apply(&samples[..len]).unwrap();
            assert_eq!(in_parts(&square, [Layout::Row; 2], &samples[..len], 30), expected, "{len} samples");
        }
    }

    /// Large lines and pictures are divided one after another.
    fn check_each(device: &Device) {
        let samples: Vec<i32> = (0..3000).map(|i| i * i % 1009 - 300).collect();
        let filter = Filter1d::correlate(&[1, -2, 3, 5, -7]).extent(Extent::Valid).prepare(device).unwrap();
        let expected = filter.apply(&Array2::from_shape_vec((3, 1000), samples.clone()).unwrap()).unwrap();
        let mut outputs = vec![0; 3 * 996];
        let samples = Elements::Host(Cow::Borrowed(&samples[..]));
        run_each(&filter.line(), [1000, 996], &samples, Target::Host(&mut outputs)).unwrap();
        assert_eq!(outputs, expected.into_raw_vec_and_offset().0);
        // Lines without outputs.
        run_each(&filter.line(), [3, 0], &samples, Target::Host(&mut [])).unwrap();
    }

    fn check_all(device: &Device) {
        check(device);
        check_matrices(device);
        check_pixels(device);
        check_each(device);
    }

    #[test]
    fn parts_are_the_whole_on_the_cpu() {
        check_all(&Device::cpu());
    }

    #[cfg(feature = "emulator")]
    #[test]
    fn parts_are_the_whole_on_an_emulated_device() {
        check_all(&Device::emulated(emulator::Profile::SM_90, 0));
    }
}
