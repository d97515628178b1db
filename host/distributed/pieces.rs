//! The outputs of a member, in pieces: those whose samples the member has, and those at the ends of its part.
//!
//! ```text
//! samples of the member      |.......................|
//! its outputs                |  first  |    inner    | last
//! samples of other members  ...                        ...
//! ```
//!
//! The inner outputs are computed from the samples where they are. For the others, samples of several members are put together, which are
//! few.

use super::distribution::Distribution;
use super::moves::Move;
use crate::device::rows::{Place, Rows};
use crate::filter::part::{Part, Placement};
use slm_kernels::signal::Border;
use std::ops::Range;

/// A part of a member's outputs, and where its samples are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) part: Part,
    /// Number among the buffers that samples are put together in, or `None` if the member has all of the samples.
    pub(super) gathered: Option<usize>,
}

/// A signal of `samples` samples with `outputs` outputs, and windows along it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signal {
    pub(super) placement: Placement,
    pub(super) samples: usize,
    pub(super) outputs: usize,
}

impl Signal {
    /// Returns which outputs are computed where.
    pub(super) fn distribution(&self, members: usize) -> Distribution {
        // The ends of a signal are computed by one member each.
        let least = 2 * self.placement.least();
        match self.samples > self.placement.span {
            true => Distribution::in_units(self.outputs, members, self.placement.unit(), least),
            false => Distribution::in_units(self.outputs, members, 1, usize::MAX),
        }
    }

    /// Returns the pieces of the outputs of a member that has these samples.
    pub(super) fn pieces(&self, outputs: Range<usize>, own: &Range<usize>) -> Vec<Piece> {
        if outputs.is_empty() {
            return Vec::new();
        }
        let inner = self.inner(&outputs, own);
        let ranges = match inner.is_empty() {
            true => vec![outputs],
            false => vec![outputs.start..inner.start, inner.clone(), inner.end..outputs.end],
        };
        let (own, mut gathered) = (own.start as i64..own.end as i64, 0..);
        ranges
            .into_iter()
            .filter(|range| !range.is_empty())
            .map(|range| {
                let part = self.part(range);
                let has_all = own.start <= part.samples.start && part.samples.end <= own.end;
                let gathered = if has_all { None } else { gathered.next() };
                Piece { part, gathered }
            })
            .collect()
    }

    fn part(&self, outputs: Range<usize>) -> Part {
        match outputs.len() == self.outputs {
            true => self.placement.whole(self.outputs, self.samples),
            false => self.placement.part(outputs, Some(self.samples)),
        }
    }

    /// Returns outputs that need no samples of other members: a range that begins and ends at a unit, or where the outputs do.
    fn inner(&self, outputs: &Range<usize>, own: &Range<usize>) -> Range<usize> {
        let Placement { border, start, span, stride, .. } = self.placement;
        let (unit, has_ends) = (self.placement.unit(), border != Border::Wrap);
        // The windows of outputs before `behind(position)` begin before the position.
        let behind = |position: i64| (position - start).max(0) as usize;
        let first = match own.start == 0 && has_ends {
            true => outputs.start,
            // Parts begin up to a pack before their first window.
            false => behind((own.start + self.placement.pack - 1) as i64)
                .div_ceil(stride)
                .next_multiple_of(unit)
                .max(outputs.start),
        };
        let last = match own.end == self.samples && has_ends {
            true => outputs.end,
            false => (behind(own.end as i64 - span as i64 - 1 + stride as i64) / stride / unit * unit).min(outputs.end),
        };
        // Small parts of small signals could be computed with other weights than whole ones.
        let least = self.placement.least().next_multiple_of(unit);
        let first = if first > outputs.start { first.max(outputs.start + least) } else { first };
        let last = if last < outputs.end { last.min(outputs.end.saturating_sub(least) / unit * unit) } else { last };
        if first + least <= last { first..last } else { first..first }
    }

    /// Returns the moves of samples, as rows of `width` elements, that come to members in this process or go from there.
    pub(super) fn moves(
        &self,
        inputs: &Distribution,
        outputs: &Distribution,
        width: usize,
        is_local: &dyn Fn(usize) -> bool,
    ) -> Vec<Move> {
        let mut moves = Vec::new();
        let here: Vec<_> = (0..inputs.members()).filter(|member| is_local(*member)).collect();
        for to in 0..outputs.members() {
            let needs_here = || here.iter().any(|from| self.needs(&outputs.rows(to), &inputs.rows(*from)));
            if outputs.rows(to).is_empty() || !(is_local(to) || needs_here()) {
                continue;
            }
            for piece in self.pieces(outputs.rows(to), &inputs.rows(to)) {
                let Some(target) = piece.gathered else { continue };
                for (samples, first) in self.ranges(&piece.part) {
                    for (from, of_member) in inputs.owners(samples.clone()) {
                        if !is_local(from) && !is_local(to) {
                            continue;
                        }
                        let len = of_member.len() * width;
                        let place = |row: usize| Place { first: row * width, pitch: len };
                        let source = place(of_member.start - inputs.rows(from).start);
                        let target_place = place(first + of_member.start - samples.start);
                        let rows = Rows { count: 1, len, source, target: target_place };
                        moves.push(Move { from, to, target, rows });
                    }
                }
            }
        }
        moves
    }

    /// Returns whether outputs may need some of these samples.
    fn needs(&self, outputs: &Range<usize>, rows: &Range<usize>) -> bool {
        let samples = self.part(outputs.clone()).samples;
        let (len, all) = (samples.end - samples.start, self.samples as i64);
        let first = samples.start.rem_euclid(all.max(1));
        // Those of a wrapped signal may be at the other end.
        let overlaps = |first: i64| first < rows.end as i64 && (rows.start as i64) < first + len;
        !rows.is_empty() && (len >= all || overlaps(first) || overlaps(first - all))
    }

    /// Returns the samples of a part as ranges of the signal, each with its place in the part. Those of a wrapped signal may be at the
    /// other end.
    fn ranges(&self, part: &Part) -> Vec<(Range<usize>, usize)> {
        let (mut ranges, mut position) = (Vec::new(), part.samples.start);
        while position < part.samples.end {
            let start = position.rem_euclid(self.samples as i64) as usize;
            let len = (self.samples - start).min((part.samples.end - position) as usize);
            ranges.push((start..start + len, (position - part.samples.start) as usize));
            position += len as i64;
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every output is in one piece, and each piece has its samples: those of its member, or some that are moved there.
    #[test]
    fn pieces_have_all_outputs_and_samples() {
        for (border, [left, span, stride, segment]) in
            [Border::Reflect, Border::Constant, Border::Wrap].into_iter().flat_map(|border| {
                [[0, 0, 1, 1], [2, 4, 1, 1], [0, 30, 3, 1], [10, 33, 2, 5]].map(|filter| (border, filter))
            })
        {
            let placement = Placement { border, start: -(left as i64), span, stride, segment, pack: 16 };
            for (samples, members) in [(5, 2), (100, 3), (1000, 1), (1000, 2), (1003, 3), (5000, 4)] {
                let signal = Signal { placement, samples, outputs: samples.div_ceil(stride) };
                check(&signal, members);
            }
        }
    }

    fn check(signal: &Signal, members: usize) {
        let (inputs, outputs) = (Distribution::even(signal.samples, members), signal.distribution(members));
        let moves = signal.moves(&inputs, &outputs, 3, &|_| true);
        for here in 0..members {
            let of_member = signal.moves(&inputs, &outputs, 3, &|member| member == here);
            let is_here = |step: &&Move| step.from == here || step.to == here;
            assert_eq!(of_member, moves.iter().filter(is_here).copied().collect::<Vec<_>>());
        }
        let (mut next, mut moved) = (0, 0);
        for member in 0..members {
            let own = inputs.rows(member);
            for piece in signal.pieces(outputs.rows(member), &own) {
                assert_eq!(piece.part.outputs.start, next);
                next = piece.part.outputs.end;
                let Some(target) = piece.gathered else {
                    let samples = &piece.part.samples;
                    assert!(own.start as i64 <= samples.start && samples.end <= own.end as i64);
                    continue;
                };
                let mut places = vec![None; piece.part.len()];
                for step in moves.iter().filter(|step| (step.to, step.target) == (member, target)) {
                    let first = inputs.rows(step.from).start + step.rows.source.first / 3;
                    for k in 0..step.rows.len / 3 {
                        places[step.rows.target.first / 3 + k] = Some(first + k);
                    }
                    moved += 1;
                }
                for (k, place) in places.into_iter().enumerate() {
                    let position = (piece.part.samples.start + k as i64).rem_euclid(signal.samples as i64);
                    assert_eq!(place, Some(position as usize), "{signal:?}: {piece:?}");
                }
            }
        }
        assert_eq!((next, moved), (signal.outputs, moves.len()));
    }

    /// Few samples are moved: the inner outputs are computed where the samples are.
    #[test]
    fn inner_outputs_need_no_moves() {
        let placement = Placement { border: Border::Nearest, start: -32, span: 64, stride: 1, segment: 1, pack: 16 };
        let signal = Signal { placement, samples: 1 << 20, outputs: 1 << 20 };
        let inputs = Distribution::even(1 << 20, 4);
        let moves = signal.moves(&inputs, &signal.distribution(4), 1, &|_| true);
        let moved: usize = moves.iter().map(|step| step.rows.len).sum();
        assert!(moved < 4 * 2 * 200, "{moved}");
    }
}
