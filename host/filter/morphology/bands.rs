//! Two steps on the CPU, one band of rows after another.
//!
//! A thread takes both steps over a band before it begins another one, so what is between them stays in its cache, and is in memory that the
//! allocator has at hand. A whole picture between them would be new memory, and to get that takes about as long as a step.

use super::PreparedMorphology2d;
use super::prepared::{Form, Steps};
use crate::cpu::parallel::{even, for_chunks, next, try_for_chunks};
use crate::device::data::{Elements, Target};
use crate::filter::two_d::window::{Axis, PictureProblem};
use crate::{RankElement, Result};
use std::borrow::Cow;
use std::ops::Range;

/// Minimum number of rows of a band.
const ROWS: usize = 64;

/// Samples of a row that are subtracted together. A picture of one row is one band.
const PART: usize = 1 << 15;

/// Rows of a band for each row of a window. Rows of the first step that two bands need are computed twice.
const ROWS_PER_TAP: usize = 4;

impl<S: RankElement> PreparedMorphology2d<S> {
    /// Runs both steps for whole pictures.
    pub(super) fn run_in_bands(
        &self,
        steps: &Steps<'_, S>,
        samples: &Elements<'_, S>,
        outputs: Target<'_, S>,
    ) -> Result<()> {
        let pitched = |problem: PictureProblem| PictureProblem {
            input_pitch: samples.pitch(problem.input_pitch),
            output_pitch: outputs.pitch(problem.output_pitch),
            ..problem
        };
        let steps = &Steps { problems: steps.problems.map(pitched), ..*steps };
        let (problem, samples, outputs) = (&steps.problems[1], samples.cpu(), outputs.into_cpu());
        if problem.is_empty() {
            return Ok(());
        }
        let of_plane = |plane: usize| &samples[plane * problem.rows.samples * problem.input_pitch..];
        let (all, pitch, plane) = (problem.output_rows(), problem.output_pitch, problem.rows.outputs);
        let most = problem.rows.taps.saturating_mul(ROWS_PER_TAP).max(ROWS);
        // Bands of whole planes, if these are no higher.
        let height = if most < plane { even(all, most) } else { even(problem.planes, most / plane) * plane };
        try_for_chunks(outputs, height * pitch, all.div_ceil(height), &|number, mut outputs| {
            let rows = number * height..((number + 1) * height).min(all);
            if height >= plane {
                return self.band(steps, (rows.len() / plane, 0..plane), of_plane(rows.start / plane), outputs);
            }
            problem.pieces(rows).try_for_each(|(plane, rows)| {
                let outputs = next(&mut outputs, rows.len() * pitch);
                self.band(steps, (1, rows), of_plane(plane), outputs)
            })
        })
    }

    /// Runs both steps for some rows of a plane, or for all rows of several planes.
    fn band(
        &self,
        steps: &Steps<'_, S>,
        (planes, rows): (usize, Range<usize>),
        samples: &[S],
        outputs: &mut [S],
    ) -> Result<()> {
        let Steps { second, problems: [_, problem] } = steps;
        let (width, output_pitch) = (problem.output_width(), problem.output_pitch);
        let own = (&samples[rows.start * problem.input_pitch..], problem.input_pitch);
        let samples = Elements::Host(Cow::Borrowed(samples));
        let [first, last] = self.of_band(steps, planes, rows);
        let between = self.results(&self.first, &first, &samples)?;
        let between = between.elements();
        if self.form == Form::Last {
            let last = PictureProblem { output_pitch, ..last };
            return second.run(last, &between, Target::Host(outputs));
        }
        let after = self.results(second, &last, if self.form == Form::Gradient { &samples } else { &between })?;
        let after = after.elements();
        let terms = self.form.terms((between.cpu(), width), (after.cpu(), width), own);
        let [a, b] = terms.map(|(samples, pitch)| samples.chunks(pitch));
        for ((outputs, a), b) in outputs.chunks_mut(output_pitch).zip(a).zip(b) {
            for_chunks(&mut outputs[..width], PART, usize::MAX, &|number, outputs| {
                let [a, b] = [a, b].map(|samples| &samples[number * PART..][..outputs.len()]);
                S::subtract(outputs, a, b);
            });
        }
        Ok(())
    }

    /// Returns the problems of a band, whose outputs have no gaps. Of a first step before a second one, these are the rows that it needs.
    fn of_band(&self, steps: &Steps<'_, S>, planes: usize, rows: Range<usize>) -> [PictureProblem; 2] {
        let Steps { second, problems: [first, last] } = steps;
        let (width, all) = (last.output_width(), last.rows.samples);
        let outputs = rows.start as i64..rows.end as i64;
        let part = second.placement_of_rows().part(rows, Some(all));
        let [first, last] = if self.form == Form::Gradient {
            [first.of_rows(outputs.clone()), last.of_rows(outputs)]
        } else if part.len() >= all {
            // All rows of a plane, some of them twice if it is wrapped.
            [first.of_rows(0..all as i64), PictureProblem { input_pitch: width, ..last.of_rows(outputs) }]
        } else {
            let rows = Axis { samples: part.len(), start: part.start, outputs: part.outputs.len(), ..last.rows };
            [first.of_rows(part.samples), PictureProblem { rows, input_pitch: width, ..*last }]
        };
        [first, last].map(|problem| PictureProblem { planes, output_pitch: width, ..problem })
    }
}
