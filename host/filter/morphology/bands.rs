//! Two steps on the CPU, one band of rows after another.
//!
//! A thread takes both steps over a band before it begins another one, so what is between them stays in its cache. A whole picture between
//! them would be new memory, and to get that takes about as long as a step.

use super::PreparedMorphology2d;
use super::prepared::{Form, Steps};
use crate::cpu::parallel::{next, try_for_chunks};
use crate::device::data::{Elements, Target};
use crate::filter::two_d::window::{Axis, PictureProblem};
use crate::{RankElement, Result};
use std::borrow::Cow;
use std::ops::Range;

/// Minimum number of rows of a band.
const ROWS: usize = 64;

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
        let (all, pitch) = (problem.output_rows(), problem.output_pitch);
        let height = problem.rows.taps.saturating_mul(ROWS_PER_TAP).max(ROWS).min(all);
        try_for_chunks(outputs, height * pitch, all.div_ceil(height), &|number, mut outputs| {
            let first = number * height;
            problem.pieces(first..(first + height).min(all)).try_for_each(|(plane, rows)| {
                let samples = &samples[plane * problem.rows.samples * problem.input_pitch..];
                let outputs = next(&mut outputs, rows.len() * pitch);
                self.band(steps, rows, samples, outputs)
            })
        })
    }

    /// Runs both steps for some rows of a plane.
    fn band(&self, steps: &Steps<'_, S>, rows: Range<usize>, samples: &[S], outputs: &mut [S]) -> Result<()> {
        let Steps { second, problems: [_, problem] } = steps;
        let (width, output_pitch) = (problem.output_width(), problem.output_pitch);
        let own = (&samples[rows.start * problem.input_pitch..], problem.input_pitch);
        let samples = Elements::Host(Cow::Borrowed(samples));
        let [first, last] = self.of_band(steps, rows);
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
            S::subtract(&mut outputs[..width], &a[..width], &b[..width]);
        }
        Ok(())
    }

    /// Returns the problems of a band, whose outputs have no gaps. Of a first step before a second one, these are the rows that it needs.
    fn of_band(
        &self,
        Steps { second, problems: [first, last] }: &Steps<'_, S>,
        rows: Range<usize>,
    ) -> [PictureProblem; 2] {
        let outputs = rows.start as i64..rows.end as i64;
        let problems = if self.form == Form::Gradient {
            [first.of_rows(outputs.clone()), last.of_rows(outputs)]
        } else {
            let part = second.placement_of_rows().part(rows, Some(last.rows.samples));
            let rows = Axis { samples: part.len(), start: part.start, outputs: part.outputs.len(), ..last.rows };
            let last = PictureProblem { planes: 1, rows, input_pitch: last.output_width(), ..*last };
            [first.of_rows(part.samples), last]
        };
        problems.map(|problem| PictureProblem { output_pitch: problem.output_width(), ..problem })
    }
}
