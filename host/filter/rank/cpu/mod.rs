//! Rank filters on the CPU.
//!
//! The rows of outputs are divided into bands, and long rows into parts if windows have one row. A band first copies the rows of samples
//! that it depends on, each once, as keys and continued beyond the borders, so the inner loops need no border checks. Small medians read
//! most samples without a copy.
//!
//! | file | method |
//! |---|---|
//! | `padded.rs` | the copy |
//! | `rectangle.rs` | extremes of rectangles |
//! | `network.rs` | a network of comparisons, for any window |
//! | `median.rs`, `samples.rs`, `number.rs` | networks for medians of small squares, of keys and of samples |
//! | `runs.rs` | extremes of other flat windows, with a stride of columns of 1 |
//! | `comparison.rs` | extremes with heights, or with other strides of columns |
//! | `histogram.rs` | running counts |
//! | `columns.rs`, `order.rs`, `blocks.rs` | counts of columns, a block's samples in ascending order, and both together |
//!
//! Selection from a copy of each window is below.

mod blocks;
mod columns;
mod comparison;
mod histogram;
mod median;
mod network;
mod number;
mod order;
mod padded;
mod rectangle;
mod runs;
mod samples;

use super::choose::{CpuMethod, choose_on_cpu};
use super::element::Sortable;
use super::rule::RankRule;
use crate::Result;
use crate::cpu::allocation;
use crate::cpu::parallel::{even, next, try_for_chunks};
use crate::cpu::vector::vectorised;
use crate::filter::two_d::window::PictureProblem;
use median::{Part, Strip, medians};
use network::Network;
pub(crate) use number::Number;
use padded::Padded;
use rectangle::Minima;
use runs::Levels;
use samples::medians_of_samples;
use slm_kernels::rank2d::{Key, NO_RANK};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Least number of pixels of all parts of a row but the last one, so that the beginning of a part takes little of its time.
const PART: usize = 1 << 14;

/// A rank filter on the CPU.
pub(in crate::filter) struct CpuRank<T> {
    rule: RankRule<T>,
    method: CpuMethod,
    network: Network,
}

/// Some output rows of a plane, and the keys that they depend on.
struct Band<'a, T: Sortable> {
    rule: &'a RankRule<T>,
    problem: &'a PictureProblem,
    padded: &'a Padded<T::Narrow>,
    rows: usize,
}

/// Memory that one band after another uses, so that it stays in the processor's cache: new memory takes as long as the work.
#[derive(Default)]
struct Memory<T: Sortable> {
    padded: Padded<T::Narrow>,
    minima: Minima<T::Narrow>,
    levels: Levels<T::Narrow>,
    strip: Strip<T::Narrow>,
    /// For samples instead of their keys.
    samples: (Padded<T>, Strip<T>),
}

impl<T: Sortable> CpuRank<T> {
    pub(super) fn new(rule: RankRule<T>) -> Self {
        let method = choose_on_cpu(&rule);
        let is_small = matches!(method, CpuMethod::Median | CpuMethod::Network);
        let network = if is_small { Network::new(rule.runs.count, rule.rank()) } else { Network::default() };
        CpuRank { rule, method, network }
    }

    pub(super) fn reason(&self) -> &'static str {
        self.method.reason()
    }

    /// Filters pictures into `outputs`. Elements between the rows stay unchanged. Returns an error if there is no memory for a band; some
    /// outputs may be written then.
    pub(super) fn run(&self, problem: &PictureProblem, samples: &[T], outputs: &mut [T]) -> Result<()> {
        if problem.is_empty() {
            return Ok(());
        }
        let (all, pitch) = (problem.output_rows(), problem.output_pitch);
        let memories = Mutex::new(Vec::new());
        let [taps, columns] = self.rule.runs.shape;
        if taps == 1 && problem.columns.outputs > PART {
            let part = PART.max(8 * columns);
            return try_for_chunks(outputs, pitch, all, &|row, outputs| {
                let line = &mut outputs[..problem.output_width()];
                try_for_chunks(line, part * problem.channels, usize::MAX, &|number, outputs| {
                    let problem = problem.of_columns(number * part, outputs.len() / problem.channels);
                    self.rows(&memories, (&problem, samples), row..row + 1, outputs)
                })
            });
        }
        // Bands of about the same height: a low one at the end would load as many rows besides its own as others.
        let height = even(all, self.method.band(taps, all));
        try_for_chunks(outputs, height * pitch, all.div_ceil(height), &|number, outputs| {
            let first = number * height;
            self.rows(&memories, (problem, samples), first..(first + height).min(all), outputs)
        })
    }

    /// Computes some rows of all planes.
    fn rows(
        &self,
        memories: &Mutex<Vec<Memory<T>>>,
        (problem, samples): (&PictureProblem, &[T]),
        rows: Range<usize>,
        mut outputs: &mut [T],
    ) -> Result<()> {
        let memories = || memories.lock().unwrap_or_else(PoisonError::into_inner);
        let mut memory = memories().pop().unwrap_or_default();
        for (plane, rows) in problem.pieces(rows) {
            let outputs = next(&mut outputs, rows.len() * problem.output_pitch);
            self.band(&mut memory, (problem, samples), plane, rows, outputs)?;
        }
        memories().push(memory);
        Ok(())
    }

    /// Computes some rows of a plane.
    fn band(
        &self,
        memory: &mut Memory<T>,
        (problem, samples): (&PictureProblem, &[T]),
        plane: usize,
        rows: Range<usize>,
        outputs: &mut [T],
    ) -> Result<()> {
        let (rule, padded, count) = (&self.rule, &mut memory.padded, rows.len());
        if self.method == CpuMethod::Median
            && medians_of_samples(&mut memory.samples, (problem, samples), plane, rows.clone(), rule.outside, outputs)?
        {
            return Ok(());
        }
        match rule.extreme {
            Some(extreme) if self.method != CpuMethod::Comparison => {
                padded.fill(problem, samples, plane, rows, rule.outside, move |x| T::narrow(extreme.key(x)))?;
            }
            _ => padded.fill(problem, samples, plane, rows, rule.outside, |sample| T::narrow(T::key(sample)))?,
        }
        let band = Band { rule, problem, padded, rows: count };
        match (self.method, rule.extreme) {
            (CpuMethod::Rectangle, Some(extreme)) => band.extremes(extreme, &mut memory.minima, outputs),
            (CpuMethod::Runs, Some(extreme)) => band.runs(extreme, &mut memory.levels, outputs),
            (CpuMethod::Comparison, Some(extreme)) => band.compared(extreme, outputs),
            (CpuMethod::Median, _) if T::IS_FLOAT && !band.has_nans() => band.medians(&mut memory.strip, outputs),
            (CpuMethod::Median | CpuMethod::Network, _) if !rule.omit || !band.has_nans() => {
                band.networks(&self.network, outputs)
            }
            (CpuMethod::Columns, _) => band.blocks(outputs),
            (CpuMethod::Histogram, _) => band.histograms(outputs),
            _ => band.selections(outputs),
        }
    }
}

impl<T: Sortable> Band<'_, T> {
    /// Returns the number of outputs of a row.
    fn width(&self) -> usize {
        self.problem.output_width()
    }

    /// Returns the place in a padded row of an output's first sample.
    fn place(&self, element: usize) -> usize {
        let channels = self.problem.channels;
        element / channels * self.problem.columns.stride * channels + element % channels
    }

    fn has_nans(&self) -> bool {
        T::IS_FLOAT && T::widen(vectorised!(greatest(self.padded.keys()))) == T::Key::MAX
    }

    /// Returns the keys of a row of windows: that in row `tap` of the windows of output row `row`.
    fn line(&self, row: usize, tap: usize) -> &[T::Narrow] {
        self.padded.line(row * self.problem.rows.stride + tap)
    }

    /// Computes medians of keys.
    fn medians(&self, strip: &mut Strip<T::Narrow>, outputs: &mut [T]) -> Result<()> {
        let &PictureProblem { rows: axis, channels, output_pitch: pitch, .. } = self.problem;
        let part = Part { rows: self.rows, axis, channels, pitch };
        let lines = allocation::collected((0..self.padded.positions()).map(|position| self.padded.line(position)))?;
        medians(&part, &lines, 0..self.width(), strip, outputs, |key| T::of_key(T::widen(key))).map(|_| ())
    }

    /// Selects each output from a copy of its window.
    fn selections(&self, outputs: &mut [T]) -> Result<()> {
        let (width, channels) = (self.width(), self.problem.channels);
        let mut window: Vec<T::Narrow> = allocation::reserved(self.rule.runs.count as usize)?;
        for row in 0..self.rows {
            for (element, output) in outputs[row * self.problem.output_pitch..][..width].iter_mut().enumerate() {
                window.clear();
                let place = self.place(element);
                for &[tap, begin, end] in &self.rule.runs.runs {
                    let line = &self.line(row, tap as usize)[place + begin as usize * channels..];
                    window.extend(line.iter().step_by(channels).take((end - begin) as usize));
                }
                *output = self.selected(&mut window);
            }
        }
        Ok(())
    }

    fn selected(&self, window: &mut [T::Narrow]) -> T {
        let mut present = window.len();
        if T::IS_FLOAT {
            present -= window.iter().filter(|&&key| T::widen(key) == T::Key::MAX).count();
            if !self.rule.omit && present < window.len() {
                return T::NONE;
            }
        }
        match self.rule.ranks[present] {
            NO_RANK => T::NONE,
            // NaNs have the greatest key.
            rank => T::of_key(T::widen(*window.select_nth_unstable(rank as usize).1)),
        }
    }
}

/// Returns memory for keys, which have any values.
fn room<K: Copy + Default>(memory: &mut Vec<K>, len: usize) -> Result<&mut [K]> {
    if memory.len() < len {
        allocation::emptied(memory, len)?.resize(len, K::default());
    }
    Ok(&mut memory[..len])
}

#[inline(always)]
fn greatest<K: Copy + Ord + Default>(keys: &[K]) -> K {
    keys.iter().fold(K::default(), |greatest, &key| greatest.max(key))
}
