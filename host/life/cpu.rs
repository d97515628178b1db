//! Boards on the CPU: 64 cells to a word.
//!
//! The work is divided into bands of rows. In a band, each row is copied to a line with the cells beyond its ends. A pass over
//! the line adds up each cell and its two neighbours in the row, 64 at once, as two binary digits. A second pass adds the sums
//! of three rows and applies the rule. Each row's sums are used three times. Both passes are loops over words without
//! branches, which the compiler vectorises.

use super::words::{Area, AreaWords, Size};
use super::{Rule, Topology};
use crate::Result;
use crate::cpu::allocation;
use crate::cpu::parallel::try_for_chunks;
use crate::cpu::vector::vectorised;
use crate::device::rows::{Place, Rows};
use rayon::prelude::*;
use slm_kernels::life::{
    Ends, MASKS, SUMS, Sum, column_keys, conway, full_sum, hash_terms, masks, minterms, row_keys, rule_table,
    sum_of_rows,
};
use std::ops::Range;

/// Minimum number of rows of a band: two more rows are added up for each band.
const BAND: usize = 64;

/// A board on the CPU.
pub(super) struct Cells {
    size: Size,
    topology: Topology,
    rule: Rule,
    current: Vec<u64>,
    next: Vec<u64>,
    kept: Option<Vec<u64>>,
}

impl Cells {
    pub(super) fn new(size: Size, topology: Topology, rule: Rule) -> Result<Self> {
        let [current, next] = [allocation::filled(0, size.words())?, allocation::filled(0, size.words())?];
        Ok(Cells { size, topology, rule, current, next, kept: None })
    }

    pub(super) fn try_clone(&self) -> Result<Self> {
        let (current, next) = (allocation::copied(&self.current)?, allocation::filled(0, self.size.words())?);
        Ok(Cells { current, next, kept: None, ..*self })
    }

    /// Returns the words of an area.
    pub(super) fn load(&self, area: &Area) -> Result<Vec<u64>> {
        let mut words = allocation::filled(0, area.len())?;
        let (source, target) = self.places(area);
        Rows { count: area.rows.len(), len: area.words.len(), source, target }.copy(&self.current, &mut words);
        Ok(words)
    }

    /// Overwrites words.
    pub(super) fn store(&mut self, AreaWords { area, words }: &AreaWords<'_>) {
        let (target, source) = self.places(area);
        Rows { count: area.rows.len(), len: area.words.len(), source, target }.copy(words, &mut self.current);
    }

    /// Returns all words of rows.
    pub(super) fn rows_mut(&mut self, rows: Range<usize>) -> &mut [u64] {
        let width = self.size.width();
        &mut self.current[rows.start * width..rows.end * width]
    }

    /// Returns the place of an area on the board, and in memory of its own.
    fn places(&self, area: &Area) -> (Place, Place) {
        let width = self.size.width();
        (Place { first: area.rows.start * width + area.words.start, pitch: width }, Place::at_start(area.words.len()))
    }

    /// Returns the number of living cells, and the sums of the hash.
    pub(super) fn census(&self) -> Result<[u64; SUMS]> {
        let width = self.size.width();
        let mut columns = allocation::reserved(width)?;
        columns.extend((0..width).map(|column| column_keys(column as u32)));
        let of_row = |(row, words): (usize, &[u64])| census_of_row(words, row_keys(row as u32), &columns);
        let rows = self.current.par_chunks_exact(width).enumerate();
        Ok(rows.map(of_row).reduce(|| [0; SUMS], |a, b| std::array::from_fn(|k| a[k].wrapping_add(b[k]))))
    }

    /// Keeps a copy of the cells.
    pub(super) fn keep(&mut self) -> Result<()> {
        let mut kept = self.kept.take().map_or_else(|| allocation::filled(0, self.current.len()), Ok)?;
        kept.copy_from_slice(&self.current);
        self.kept = Some(kept);
        Ok(())
    }

    /// Returns whether the cells are those that were kept.
    pub(super) fn is_as_kept(&self) -> bool {
        self.kept.as_ref() == Some(&self.current)
    }

    /// Frees the copy of the cells.
    pub(super) fn forget(&mut self) {
        self.kept = None;
    }

    /// Computes the next generation. After an error the board is as it was.
    pub(super) fn step(&mut self) -> Result<()> {
        let mut next = std::mem::take(&mut self.next);
        let result = self.compute(&mut next);
        self.next = next;
        result.map(|()| std::mem::swap(&mut self.current, &mut self.next))
    }

    fn compute(&self, next: &mut [u64]) -> Result<()> {
        if self.rule == Rule::CONWAY {
            return self.compute_with(next, conway);
        }
        let table = rule_table(self.rule.births(), self.rule.survivals());
        let masks: [[u64; 2]; MASKS] =
            std::array::from_fn(|n| masks(table, n as u32).map(|is_set| if is_set { u64::MAX } else { 0 }));
        self.compute_with(
            next,
            // Otherwise it is compiled as a function of its own, for all processors.
            #[inline(always)]
            move |sum, cells| minterms(sum, cells, |n| masks[n as usize]),
        )
    }

    fn compute_with(&self, next: &mut [u64], rule: impl Fn(Sum<u64>, u64) -> u64 + Copy + Sync) -> Result<()> {
        let (rows, width) = (self.size.rows, self.size.width());
        // Several bands per thread, so that all threads have work until the end.
        let band = rows.div_ceil(4 * rayon::current_num_threads()).max(BAND);
        try_for_chunks(next, band * width, rows.div_ceil(band), &|index, next| {
            let first = index * band;
            let mut sums = [Sums::new(width)?, Sums::new(width)?, Sums::new(width)?];
            let mut line = allocation::filled(0, width + 2)?;
            for (below, sums) in [first, first + 1].into_iter().zip(&mut sums) {
                self.extend(below, &mut line);
                sums.add_up(&line);
            }
            for (row, next) in (first..).zip(next.chunks_mut(width)) {
                self.extend(row + 2, &mut line);
                sums[2].add_up(&line);
                vectorised!(apply(rule, [&sums[0], &sums[1], &sums[2]], &self.current[row * width..][..width], next));
                next[width - 1] &= self.size.last_mask();
                sums.rotate_left(1);
            }
            Ok(())
        })
    }

    /// Sets `line` to the row above row `below`, with the cells beyond its ends: the highest bit of the first word is the cell
    /// before the row, and the bit after the last cell is the cell after the row. Other bits outside of the row are unspecified.
    fn extend(&self, below: usize, line: &mut [u64]) {
        let (rows, width, columns) = (self.size.rows, self.size.width(), self.size.columns);
        let is_outside = below == 0 || below > rows;
        let row = if below > rows { 0 } else { (below + rows - 1) % rows };
        let row = &self.current[row * width..][..width];
        let ends = self.topology.ends();
        line.fill(0);
        if is_outside && ends == Ends::Dead {
            return;
        }
        if is_outside && ends == Ends::Mirrored {
            mirror(row, columns, &mut line[1..=width]);
        } else {
            line[1..=width].copy_from_slice(row);
        }
        if self.topology.wraps() {
            let (first, last) = (line[1] & 1, line[width] >> ((columns - 1) % 64) & 1);
            line[0] = last << 63;
            line[columns / 64 + 1] |= first << (columns % 64);
        }
    }
}

/// Sets `mirrored` to the cells of a row in the opposite order.
fn mirror(row: &[u64], columns: usize, mirrored: &mut [u64]) {
    // Reversed, the unused bits of the last word come first.
    let unused = row.len() * 64 - columns;
    for (k, word) in mirrored.iter_mut().enumerate() {
        let reversed = |k: usize| row.len().checked_sub(k + 1).map_or(0, |k| row[k].reverse_bits());
        *word = reversed(k) >> unused;
        if unused > 0 {
            *word |= reversed(k + 1) << (64 - unused);
        }
    }
}

/// The sums of each cell of a row and its two neighbours in the row, as two binary digits.
struct Sums {
    ones: Vec<u64>,
    twos: Vec<u64>,
}

impl Sums {
    fn new(width: usize) -> Result<Self> {
        Ok(Sums { ones: allocation::filled(0, width)?, twos: allocation::filled(0, width)? })
    }

    fn add_up(&mut self, line: &[u64]) {
        vectorised!(add_up(line, &mut self.ones, &mut self.twos));
    }
}

// A function of its own, so that the compiler knows that the slices do not overlap.
#[inline(always)]
fn add_up(line: &[u64], ones: &mut [u64], twos: &mut [u64]) {
    let width = ones.len();
    let (before, here, after) = (&line[..width], &line[1..][..width], &line[2..][..width]);
    let twos = &mut twos[..width];
    for k in 0..width {
        let (left, right) = (here[k] << 1 | before[k] >> 63, here[k] >> 1 | after[k] << 63);
        [ones[k], twos[k]] = full_sum(left, here[k], right);
    }
}

/// Returns the number of living cells of a row, and its part in the sums of the hash.
fn census_of_row(words: &[u64], row: [u32; 2], columns: &[[u32; 2]]) -> [u64; SUMS] {
    words.iter().zip(columns).fold([0; SUMS], |[population, a, b], (&word, &column)| {
        let [of_a, of_b] = hash_terms([word as u32, (word >> 32) as u32], row, column);
        [population + u64::from(word.count_ones()), a.wrapping_add(of_a), b.wrapping_add(of_b)]
    })
}

/// Computes the next generation of a row. `rule` is a copy, so that the compiler knows that `next` does not overlap it.
#[inline(always)]
fn apply(rule: impl Fn(Sum<u64>, u64) -> u64, sums: [&Sums; 3], cells: &[u64], next: &mut [u64]) {
    let width = next.len();
    let [above, here, below] = sums.map(|sums| (&sums.ones[..width], &sums.twos[..width]));
    let cells = &cells[..width];
    for k in 0..width {
        let digits = |sums: (&[u64], &[u64])| [sums.0[k], sums.1[k]];
        next[k] = rule(sum_of_rows(digits(above), digits(here), digits(below)), cells[k]);
    }
}
