//! Parts of a filter's outputs along one axis, and the samples that they depend on.
//!
//! ```text
//! samples   |.................................................|
//! parts     [ first    halo )
//!                   [ halo   second    halo )
//!                                   [ halo        last         )
//! ```
//!
//! A part of a signal is filtered as a signal of its own, whose outputs begin later than those of a whole one. At the ends of the whole
//! signal it is continued as that one is: so a part at an end has at least as many samples as a window. A wrapped signal is cut at a
//! place that no window of the part reaches beyond: its first and last part have samples of the other end.
//!
//! Each output is computed as in the whole signal, bit for bit unless by Fourier transforms: kernels add the products of an output in an
//! order that does not depend on the part, and parts begin where segments of sums do.

use crate::Device;
use crate::device::data::{Elements, Target};
use crate::{Element, Result};
use slm_kernels::signal::Border;
use std::ops::Range;
use std::sync::Arc;

/// Samples that kernels load together, or a multiple of them.
pub(crate) const PACK: usize = 16;

/// Maximum of a unit that is not a single segment.
const MOST_UNIT: usize = 1 << 10;

/// Where the windows of outputs are along an axis: output `o` depends on samples from `start + o · stride` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    pub(crate) border: Border,
    /// Position of the first output's first sample.
    pub(crate) start: i64,
    /// Distance from the first to the last sample of a window.
    pub(crate) span: usize,
    pub(crate) stride: usize,
    /// Parts begin at multiples of this number of outputs.
    pub(crate) segment: usize,
    /// First samples of parts are multiples of this number.
    pub(crate) pack: usize,
}

/// Some of the outputs along an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) outputs: Range<usize>,
    /// Positions of the samples that it needs. Those of a wrapped signal may begin before it, or end behind it.
    pub(crate) samples: Range<i64>,
    /// Position of the first output's first sample in the samples of the part.
    pub(crate) start: i64,
}

impl Part {
    /// Returns the number of samples.
    pub(crate) fn len(&self) -> usize {
        (self.samples.end - self.samples.start) as usize
    }
}

impl Placement {
    /// Windows of one sample, at each output's own place.
    pub(crate) const SINGLE: Self =
        Placement { border: Border::Constant, start: 0, span: 0, stride: 1, segment: 1, pack: 1 };

    /// Returns the number of outputs that parts are multiples of: whole segments, and whole packs unless that would be very many. Then
    /// a GPU copies outputs that are misaligned.
    pub(crate) fn unit(&self) -> usize {
        let segment = self.segment.max(1);
        let (mut a, mut b) = (segment, self.pack);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        let common_multiple = segment / a * self.pack;
        if common_multiple <= MOST_UNIT { common_multiple } else { segment }
    }

    /// Returns the minimum number of outputs of the first and of the last part: windows of others do not reach over an end. Filters of
    /// signals that are shorter than a window may add up weights first.
    pub(crate) fn least(&self) -> usize {
        self.span / self.stride + self.pack
    }

    /// Returns the samples that the outputs depend on, as if the signal were endless.
    fn reached(&self, outputs: &Range<usize>) -> Range<i64> {
        let position = |output: usize| self.start + (output * self.stride) as i64;
        position(outputs.start)..position(outputs.end - 1) + self.span as i64 + 1
    }

    /// Returns a part of the outputs of a signal of `total` samples; if that is `None`, of a signal that goes on behind all windows of
    /// the part. The first output is a multiple of [`unit`](Self::unit), and there are at least [`least`](Self::least), or all.
    pub(crate) fn part(&self, outputs: Range<usize>, total: Option<usize>) -> Part {
        let Range { start: mut first, mut end } = self.reached(&outputs);
        if self.border != Border::Wrap {
            let (total, window) = (total.map_or(i64::MAX, |total| total as i64), self.span as i64 + 1);
            // Samples outside are those inside that are at most a window away from the end.
            if end > total {
                first = first.min(total - window);
            }
            if first < 0 {
                end = end.max(window);
            }
            (first, end) = (first.max(0), end.clamp(0, total));
        }
        first = first.div_euclid(self.pack as i64) * self.pack as i64;
        let start = self.start + (outputs.start * self.stride) as i64 - first;
        Part { outputs, samples: first..end.max(first), start }
    }

    /// Returns the one part of a signal that is not divided.
    pub(crate) fn whole(&self, outputs: usize, samples: usize) -> Part {
        Part { outputs: 0..outputs, samples: 0..samples as i64, start: self.start }
    }

    /// Returns parts of about `size` outputs, for a signal of `samples` samples.
    pub(crate) fn parts(&self, outputs: usize, samples: usize, size: usize) -> impl Iterator<Item = Part> {
        let (placement, size) = (*self, self.size(size));
        let mut first = 0;
        std::iter::from_fn(move || {
            let rest = outputs - first;
            let part = match rest {
                0 => return None,
                _ if first == 0 && !placement.is_divided(outputs, samples, size) => placement.whole(outputs, samples),
                _ if rest < size + placement.least() => placement.part(first..outputs, Some(samples)),
                _ => placement.part(first..first + size, Some(samples)),
            };
            first = part.outputs.end;
            Some(part)
        })
    }

    /// Returns whether a signal has several parts of `size` outputs: its ends must be far enough from each other.
    pub(crate) fn is_divided(&self, outputs: usize, samples: usize, size: usize) -> bool {
        samples > self.span + self.pack && outputs >= size + self.least()
    }

    /// Returns the number of outputs of a part for one of about `size` outputs.
    pub(crate) fn size(&self, size: usize) -> usize {
        let unit = self.unit();
        (size / unit * unit).max(self.least().next_multiple_of(unit))
    }

    /// Returns upper limits of a part's samples and outputs for parts of about `size` outputs.
    pub(crate) fn capacities(&self, size: usize) -> [usize; 2] {
        let outputs = self.size(size).saturating_add(self.least());
        let samples = outputs.saturating_mul(self.stride).saturating_add(2 * (self.span + self.pack));
        [samples, outputs + self.span]
    }
}

/// An operation whose outputs can be divided into parts along one axis.
pub(crate) trait Divided<S: Element, O: Element>: Sync {
    fn device(&self) -> &Device;

    /// Returns where windows are. The default is for operations without windows.
    fn placement(&self) -> Placement {
        Placement::SINGLE
    }

    /// Returns the elements per position along the axis: of the input, and of the output.
    fn widths(&self) -> [usize; 2];

    /// Returns the number of outputs along the axis for a signal of this length. The default is for operations without windows.
    fn outputs(&self, samples: usize) -> Result<usize> {
        Ok(samples)
    }

    /// Computes a part. Input and output have no gaps, and are those of the part.
    fn run(&self, part: &Part, samples: &Elements<'_, S>, outputs: Target<'_, O>) -> Result<()>;
}

impl<S: Element, O: Element, D: Divided<S, O> + Send> Divided<S, O> for Arc<D> {
    fn device(&self) -> &Device {
        (**self).device()
    }

    fn placement(&self) -> Placement {
        (**self).placement()
    }

    fn widths(&self) -> [usize; 2] {
        (**self).widths()
    }

    fn outputs(&self, samples: usize) -> Result<usize> {
        (**self).outputs(samples)
    }

    fn run(&self, part: &Part, samples: &Elements<'_, S>, outputs: Target<'_, O>) -> Result<()> {
        (**self).run(part, samples, outputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BORDERS: [Border; 5] = [Border::Constant, Border::Nearest, Border::Reflect, Border::Mirror, Border::Wrap];

    /// Every sample that a part reads is in the part, at the place where it is in the signal.
    #[test]
    fn parts_have_the_samples_of_their_windows() {
        for (border, [left, span, stride, segment]) in BORDERS.into_iter().flat_map(|border| {
            [[0, 0, 1, 1], [2, 4, 1, 1], [0, 30, 3, 1], [30, 30, 1, 31], [10, 33, 2, 5], [33, 33, 40, 1]]
                .map(|filter| (border, filter))
        }) {
            let placement = Placement { border, start: -(left as i64), span, stride, segment, pack: PACK };
            for samples in [1usize, 17, 100, 500, 1000] {
                let outputs = samples.div_ceil(stride);
                let mut next = 0;
                for part in placement.parts(outputs, samples, 64) {
                    assert_eq!(part.outputs.start, next);
                    next = part.outputs.end;
                    check(&placement, &part, samples);
                }
                assert_eq!(next, outputs);
            }
        }
    }

    fn check(placement: &Placement, part: &Part, samples: usize) {
        let [most_samples, most_outputs] = placement.capacities(64);
        let is_whole = part.samples == (0..samples as i64);
        assert!(is_whole || (part.len() <= most_samples && part.outputs.len() <= most_outputs), "{part:?}");
        for output in part.outputs.clone() {
            for j in 0..=placement.span {
                let position = placement.start + (output * placement.stride + j) as i64;
                let expected = placement.border.source(position, samples as u64);
                let in_part = part.start + ((output - part.outputs.start) * placement.stride + j) as i64;
                let found = placement.border.source(in_part, part.len() as u64);
                let found = found.map(|place| (part.samples.start + place as i64).rem_euclid(samples as i64) as u64);
                assert_eq!(found, expected, "{placement:?} {part:?}: output {output}, sample {j} of {samples}");
            }
        }
    }

    #[test]
    fn units_are_common_multiples() {
        let unit = |segment| Placement { segment, pack: PACK, ..Placement::SINGLE }.unit();
        assert_eq!([1, 2, 5, 16, 24, 31, 1001].map(unit), [16, 16, 80, 16, 48, 496, 1001]);
        assert_eq!(Placement::SINGLE.unit(), 1);
    }
}
