//! Two-dimensional filters on the CPU.
//!
//! The outputs are divided into pieces. A piece first copies the rows of samples that it depends on, each once, converted to the
//! type of the sums and continued beyond the borders, so the [inner loops](products) need no border checks. A separable
//! filter adds up rows first and then neighbours in the resulting row. With the bound per segment, Fourier transforms filter lines of the
//! [whole picture](transformed) or of [panels](panels) instead.

mod column_sums;
mod panels;
mod products;
mod segments;
mod strips;
mod transformed;

use super::accumulator::{Accumulator, store, zeros};
use super::any_weights::{AnyWeights, with_weights};
use super::choose::{CpuChoice, choose_on_cpu};
use super::details::{Filter2dMethod, PlannedPicture};
use super::element::{Scalar, Slice, SliceMut, with_type};
use super::facts::Facts;
use super::rule::FilterRule;
use super::weights::{Values, Weights};
use super::window::PictureProblem;
use crate::cpu::parallel::try_for_chunks;
use crate::cpu::vector::{self, vectorised};
use crate::device::kernel::Recent;
use crate::element::stored::Stored;
use crate::filter1d::Number;
use crate::plan::Planned;
use crate::{Element, Result};
use panels::{OfPanels, Panels};
use products::{WIDE, WIDTH, one_row, pays_for_two_rows, two_lines, two_rows};
use segments::Segments;
use std::ops::Range;
use strips::{Band, Input, Piece, Strips};

/// Number of output rows of a band whose weights have few rows.
const BAND: usize = 16;

/// Maximum number of times that a row of samples is converted, unless bands have [`BAND`] rows.
const CONVERSIONS: usize = 16;

/// Maximum number of pairs of an output row and a row of weights in a band, unless the band is a single row.
const MOST_SOURCES: usize = 1 << 16;

/// Maximum number of outputs of a row in a piece, approximately.
const PIECE: usize = 2048;

/// Elements of a piece of a single column of weights, approximately. Each output reads as many as weights, so they must be in the cache of
/// a core.
const CACHED: usize = 1 << 18;

/// Minimum number of outputs of a row in such a piece.
const NARROW_PIECE: usize = 128;

/// Minimum number of output rows that are divided into bands. Fewer rows are divided into parts of rows.
const MANY_ROWS: usize = 64;

/// Evaluates an expression with the typed weights of a filter by transforms, and the filters of lines for them.
macro_rules! with_floats {
    ($filter:expr, ($weights:ident, $filters:ident) => $result:expr) => {
        match &$filter.weights {
            AnyWeights::F32($weights) => {
                let $filters = &$filter.of_floats;
                $result
            }
            AnyWeights::F64($weights) => {
                let $filters = &$filter.of_doubles;
                $result
            }
            AnyWeights::I32(_) | AnyWeights::I64(_) => unreachable!("sums of integers are not transformed"),
        }
    };
}

/// What is transformed.
#[derive(Clone, Copy, Debug)]
enum Transforms {
    /// Lines along both axes, one axis after the other, for outer products.
    OfPasses,
    /// Panels, with their rows joined.
    OfPanels(Panels),
}

/// A filter on the CPU.
pub(super) struct CpuFilter {
    weights: AnyWeights,
    choice: CpuChoice,
    rule: FilterRule,
    /// Filters of lines for panels.
    of_floats: panels::Filters<f32>,
    of_doubles: panels::Filters<f64>,
}

impl CpuFilter {
    pub(super) fn new(facts: &Facts, rule: &FilterRule) -> Self {
        let choice = choose_on_cpu(facts, rule);
        let is_product = matches!(choice, CpuChoice::Product | CpuChoice::Transforms);
        let product = facts.product.as_ref().filter(|_| is_product);
        CpuFilter {
            weights: product.unwrap_or(&facts.weights).clone(),
            choice,
            rule: *rule,
            of_floats: Recent::default(),
            of_doubles: Recent::default(),
        }
    }

    /// Filters a picture into `outputs`. Elements between the rows stay unchanged. Returns an error if there is no memory for a
    /// piece; some outputs may be written then.
    pub(super) fn run(&self, problem: &PictureProblem, input: Slice<'_>, outputs: SliceMut<'_>) -> Result<()> {
        if problem.is_empty() {
            return Ok(());
        }
        with_type!(SliceMut, outputs, outputs => self.run_typed(problem, input, outputs))
    }

    /// Returns whether windows are summed by segments.
    pub(super) fn sums_segments(&self) -> bool {
        self.choice == CpuChoice::Segments
    }

    /// Returns the number of rows that a band of segments begins at multiples of, for windows of `taps` rows.
    pub(super) fn segment_rows(&self, taps: usize) -> usize {
        if self.sums_segments() { segments::band(taps) } else { 1 }
    }

    pub(super) fn plan(&self, problem: &PictureProblem) -> Result<PlannedPicture> {
        let transforms = self.transforms(problem);
        let planned = Planned::new(self.reason(transforms), []);
        let method = match (self.choice, transforms) {
            (_, Some(of)) => {
                return with_floats!(self, (weights, filters) => {
                    self.plan_of(of, &OfPanels { weights, filters }, problem, planned)
                });
            }
            (CpuChoice::Segments, _) => Filter2dMethod::Segments,
            (CpuChoice::Product | CpuChoice::Transforms, _) => Filter2dMethod::Passes,
            (CpuChoice::Dense | CpuChoice::Panels, _) => Filter2dMethod::Products,
        };
        Ok(PlannedPicture::of_sums(planned, method, problem))
    }

    /// Returns what is transformed, or `None` if products are added up.
    fn transforms(&self, problem: &PictureProblem) -> Option<Transforms> {
        match self.choice {
            _ if problem.is_empty() => None,
            CpuChoice::Transforms => Some(Transforms::OfPasses),
            CpuChoice::Panels => panels::faster_than_products(problem).map(Transforms::OfPanels),
            CpuChoice::Segments | CpuChoice::Product | CpuChoice::Dense => None,
        }
    }

    /// Returns the plan of transforms.
    fn plan_of<A: Accumulator + Number>(
        &self,
        transforms: Transforms,
        of_panels: &OfPanels<'_, A>,
        problem: &PictureProblem,
        planned: Planned,
    ) -> Result<PlannedPicture> {
        Ok(match transforms {
            Transforms::OfPasses => {
                let outside = A::of_scalar(self.rule.outside);
                PlannedPicture::of_lines(planned, transformed::plan(&passes(of_panels.weights), problem, outside)?)
            }
            Transforms::OfPanels(panels) => PlannedPicture::of_panels(planned, of_panels.plan(panels, problem)?),
        })
    }

    /// Returns what the weights are computed as.
    fn reason(&self, transforms: Option<Transforms>) -> &'static str {
        match (self.choice, transforms) {
            (_, Some(Transforms::OfPanels(_))) => "dense: transforms of panels take less time",
            (CpuChoice::Segments, _) => "box: sums of segments down the columns first, then along the rows",
            (CpuChoice::Transforms, _) => {
                "separable: transforms of lines with many weights, along the rows first, then down the columns"
            }
            (CpuChoice::Product, _) => "separable: sums down the columns first, then along the rows",
            (CpuChoice::Dense | CpuChoice::Panels, _) => "dense: all weights of an output at once",
        }
    }

    fn run_typed<O>(&self, problem: &PictureProblem, input: Slice<'_>, outputs: &mut [O]) -> Result<()>
    where
        O: Element + Stored<i32> + Stored<i64> + Stored<f32> + Stored<f64>,
    {
        match self.transforms(problem) {
            Some(of) => {
                with_floats!(self, (weights, filters) => {
                    self.transformed(of, &OfPanels { weights, filters }, problem, input, outputs)
                })
            }
            None => with_weights!(&self.weights, weights => self.with(weights, problem, input, outputs)),
        }
    }

    fn transformed<A: Accumulator + Number, O: Element + Stored<A>>(
        &self,
        transforms: Transforms,
        of_panels: &OfPanels<'_, A>,
        problem: &PictureProblem,
        input: Slice<'_>,
        outputs: &mut [O],
    ) -> Result<()> {
        let (strips, store) = (self.strips(problem, input), |sums: &[A], outputs: &mut [O]| store(sums, None, outputs));
        match transforms {
            Transforms::OfPasses => transformed::filter(&passes(of_panels.weights), &strips, outputs, &store),
            Transforms::OfPanels(panels) => of_panels.filter(panels, &strips, outputs, &store),
        }
    }

    fn strips<'a, A: Accumulator>(&self, problem: &'a PictureProblem, input: Slice<'a>) -> Strips<'a, A> {
        Strips { problem, input: Input::Samples(input), outside: A::of_scalar(self.rule.outside) }
    }

    fn with<A: Accumulator, O: Element + Stored<A>>(
        &self,
        weights: &Weights<A>,
        problem: &PictureProblem,
        input: Slice<'_>,
        outputs: &mut [O],
    ) -> Result<()> {
        let strips = self.strips(problem, input);
        let divisor = self.rule.divisor.map(|divisor| A::of_scalar(Scalar::F64(divisor)));
        let store = |sums: &[A], outputs: &mut [O]| store(sums, divisor, outputs);
        if self.choice == CpuChoice::Segments {
            return Segments { weight: weights.first(), strips }.rows(outputs, &store);
        }
        match weights.passes().filter(|_| column_sums::pays(weights, problem)) {
            Some(passes) => column_sums::filter(&passes, &strips, outputs, &store),
            None => {
                let total = self.rule.renormalise.then(|| weights.sum_of(A::ONE));
                Correlation { weights, strips, total }.rows(outputs, &store)
            }
        }
    }
}

/// Returns the weights of the two passes of transforms.
fn passes<A: Copy>(weights: &Weights<A>) -> [Weights<A>; 2] {
    weights.passes().expect("only outer products are transformed in passes")
}

/// A filter and its samples, with sums of type `A`.
struct Correlation<'a, A> {
    weights: &'a Weights<A>,
    strips: Strips<'a, A>,
    /// Sum of the weights if NaNs are missing samples.
    total: Option<A>,
}

impl<A: Accumulator> Correlation<'_, A> {
    /// Computes all outputs: bands of rows, or parts of rows if there are few. Calls `store` with sums and their outputs.
    fn rows<O: Element>(&self, outputs: &mut [O], store: &(dyn Fn(&[A], &mut [O]) + Sync)) -> Result<()> {
        let problem = self.strips.problem;
        let (rows, width) = (problem.output_rows(), problem.output_width());
        let height = if rows < MANY_ROWS { 1 } else { band_height(problem.rows.taps) };
        let part = (piece_width(problem, height) / problem.channels).max(1);
        // A single row may have any pitch, and the buffer may be longer than the picture.
        let size = height.saturating_mul(problem.output_pitch);
        try_for_chunks(outputs, size, rows.div_ceil(height), &|number, outputs| {
            let band = self.strips.band(number * height..rows.min((number + 1) * height))?;
            if height == 1 {
                return try_for_chunks(
                    &mut outputs[..width],
                    part * problem.channels,
                    usize::MAX,
                    &|number, outputs| {
                        let pixels = number * part..number * part + outputs.len() / problem.channels;
                        self.piece(&band, 1, pixels, &mut |_, sums| store(sums, outputs))
                    },
                );
            }
            let count = height.min(rows - number * height);
            (0..problem.columns.outputs).step_by(part).try_for_each(|first| {
                let pixels = first..problem.columns.outputs.min(first + part);
                let elements = pixels.start * problem.channels..pixels.end * problem.channels;
                self.piece(&band, count, pixels, &mut |row, sums| {
                    store(sums, &mut outputs[row * problem.output_pitch..][elements.clone()]);
                })
            })
        })
    }

    /// Computes the outputs of some pixels of the `rows` rows of a band, and calls `store` with the number of each row in the band
    /// and its sums.
    fn piece(&self, band: &Band, rows: usize, pixels: Range<usize>, store: &mut dyn FnMut(usize, &[A])) -> Result<()> {
        let mut piece = self.strips.piece(band, pixels)?;
        let len = piece.padded_len();
        let (mut sums, mut column_sums) = (zeros(2 * len)?, zeros(2 * piece.row_len)?);
        let mask = match self.total {
            Some(_) => piece.take_missing()?,
            None => None,
        };
        let mut present = zeros(mask.as_ref().map_or(0, |_| 2 * len))?;
        let (mut row, pays) = (0, pays_for_two_rows::<A>());
        while row < rows {
            let count = if pays && row + 1 < rows && piece.overlaps_next(row) { 2 } else { 1 };
            self.correlate(&piece, row..row + count, &mut column_sums, &mut sums)?;
            if let Some(mask) = &mask {
                self.correlate(mask, row..row + count, &mut column_sums, &mut present)?;
            }
            if let Some(total) = self.total {
                renormalise(&mut sums[..count * len], total, mask.is_some().then_some(&present[..]));
            }
            for (row, sums) in (row..row + count).zip(sums.chunks_exact(len)) {
                store(row, sums);
            }
            row += count;
        }
        Ok(())
    }

    /// Computes the sums of one output row of a piece, or of two. `column_sums` is temporary memory for as many rows of the piece.
    fn correlate(&self, piece: &Piece<'_, A>, rows: Range<usize>, column_sums: &mut [A], sums: &mut [A]) -> Result<()> {
        let (sources, offsets) = (piece.sources(rows.clone())?, &piece.offsets[..]);
        let sums = sums.split_at_mut(piece.padded_len()).into();
        let column_sums = column_sums.split_at_mut(piece.row_len).into();
        match rows.len() {
            1 => self.one(&sources, offsets, column_sums, sums),
            _ if vector::are_of_64_bytes() => self.two::<WIDE>(&sources, offsets, column_sums, sums),
            _ => self.two::<WIDTH>(&sources, offsets, column_sums, sums),
        }
        Ok(())
    }

    /// Computes the sums of one output row.
    fn one(&self, sources: &[&[A]], offsets: &[usize], [columns, _]: [&mut [A]; 2], [sums, _]: [&mut [A]; 2]) {
        match &self.weights.values {
            Values::Dense(weights) => vectorised!(one_row(sources, offsets, weights, sums)),
            Values::Separable { column, row } => {
                vectorised!(one_row(sources, &[0], column, columns));
                vectorised!(one_row(&[columns], offsets, row, sums));
            }
        }
    }

    /// Computes the sums of two output rows.
    fn two<const W: usize>(
        &self,
        sources: &[&[A]],
        offsets: &[usize],
        [above, below]: [&mut [A]; 2],
        sums: [&mut [A]; 2],
    ) {
        match (&self.weights.values, sources) {
            (Values::Dense(weights), &[above, below]) => {
                vectorised!(two_lines::<W, _>([above, below], offsets, weights, sums));
            }
            (Values::Dense(weights), _) => vectorised!(two_rows::<W, _>(sources, offsets, weights, sums)),
            (Values::Separable { column, row }, _) => {
                vectorised!(two_rows::<W, _>(sources, &[0], column, [&mut *above, &mut *below]));
                vectorised!(two_lines::<W, _>([above, below], offsets, row, sums));
            }
        }
    }
}

/// Returns the number of output rows of a band, for this number of rows of weights.
fn band_height(taps: usize) -> usize {
    (MOST_SOURCES / taps).clamp(1, BAND.max(taps / CONVERSIONS))
}

/// Returns the maximum number of outputs of a row in a piece of a band.
fn piece_width(problem: &PictureProblem, height: usize) -> usize {
    match problem.columns.taps {
        // Without a halo, a narrow piece costs nothing.
        1 => (CACHED / (problem.rows.taps + height)).clamp(NARROW_PIECE, PIECE),
        _ => PIECE,
    }
}

/// Divides sums by the weights that are present; all of them if `present` is `None`.
fn renormalise<A: Accumulator>(sums: &mut [A], total: A, present: Option<&[A]>) {
    for (i, sum) in sums.iter_mut().enumerate() {
        *sum = A::renormalised(*sum, total, present.map_or(total, |present| present[i]));
    }
}
