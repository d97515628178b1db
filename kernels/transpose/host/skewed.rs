//! Tiles of the skewed kernels, and their rows in shared memory.

use super::{LaunchConstants, TransposeProblem};
use crate::transpose::skewed::Skew;
use crate::transpose::{Places, THREADS};
use cuda_std::host::banks::Banks;
use cuda_std::shared_bytes;

/// Binary logarithm of the minimum number of neighbouring threads per column: a sector has eight words of 4 bytes, and fewer
/// threads would not write whole sectors.
const FEWEST_LANES_LOG2: u32 = 3;

/// Maximum number of threads per row, unless the tile is one run.
const MOST_THREADS_PER_ROW: u64 = 64;

/// Maximum distance in units that threads can compute with signed 32-bit numbers.
const REACH: u64 = i32::MAX as u64 - 1024;

/// A skewed kernel: see `../skewed/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skewed {
    /// Name of the entry point.
    pub name: &'static str,
    /// Bytes of a unit.
    pub(in crate::transpose) unit: u32,
    pub(in crate::transpose) skew: Skew,
}

impl Skewed {
    pub(super) fn element(&self) -> u64 {
        u64::from(self.unit * self.skew.units)
    }

    /// Returns the tile for a problem. `None` if the pitches are too large for 32-bit distances in a tile, or if a tile of
    /// one column does not fit into shared memory.
    pub(super) fn cut(&self, problem: &TransposeProblem, tuning: &LaunchConstants) -> Option<Cut> {
        let most = problem.rows.min(problem.rows.saturating_mul(problem.matrices) / tuning.fewest_blocks);
        let (words, lanes_log2) = self.column(problem, most, tuning);
        let rows = self.rows(words);
        let units = |pitch: u64| pitch / u64::from(self.unit);
        let reach = REACH / units(problem.output_pitch).max(1);
        if reach == 0 {
            return None;
        }
        let cut_into = |columns: u64| {
            let cut = Cut { rows, columns, lanes_log2, run: self.is_run(problem, columns, tuning) };
            if cut.rows < most { self.filled(cut, most) } else { cut }
        };
        let mut cut = cut_into(self.columns(rows, tuning).max(1).min(problem.columns).min(reach));
        // Shared memory has room for the rows of whole passes, which can be more rows than the tile has.
        while cut.columns > 1 && self.shared_bytes(&cut) > tuning.shared_bytes {
            cut = cut_into(cut.columns / 2);
        }
        let reached = self.room(&cut).checked_mul(units(problem.input_pitch))?;
        (self.shared_bytes(&cut) <= tuning.shared_bytes && reached <= REACH).then_some(cut)
    }

    /// Returns the number of words per column of a tile, and the binary logarithm of the number of neighbouring threads that
    /// write them. A tile with more rows than usual has at most `most`.
    fn column(&self, problem: &TransposeProblem, most: u64, tuning: &LaunchConstants) -> (u64, u32) {
        let (mut words, mut lanes_log2) = (self.usual_words(tuning), self.usual_lanes_log2(problem, tuning));
        let width = problem.columns.saturating_mul(self.element());
        let can_have = |words: u64| {
            let rows = self.rows(words);
            rows <= most
                && rows.saturating_mul(width) <= tuning.narrow_bytes
                && problem.columns <= self.columns(rows, tuning)
        };
        while can_have(2 * words) {
            words *= 2;
        }
        while self.rows(words / 2) >= problem.rows + self.halo() {
            let fits = |lanes_log2: &u32| *lanes_log2 >= FEWEST_LANES_LOG2 && words / 2 % (1 << *lanes_log2) == 0;
            let Some(fewer) = [lanes_log2, lanes_log2 - 1].into_iter().find(fits) else { break };
            (words, lanes_log2) = (words / 2, fewer);
        }
        (words, lanes_log2)
    }

    fn usual_words(&self, tuning: &LaunchConstants) -> u64 {
        let bytes = match self.element() {
            1 | 2 => tuning.row_bytes / 2,
            12 | 16 => tuning.row_bytes * 2,
            _ => tuning.row_bytes,
        };
        let words = bytes / u64::from(self.skew.bytes);
        if self.skew.units == 3 { words / 4 * 3 } else { words }
    }

    /// Returns the binary logarithm of the number of neighbouring threads per column. Usually, the threads write at most as
    /// many columns at a time as a sector has units: see `Columns::store`.
    fn usual_lanes_log2(&self, problem: &TransposeProblem, tuning: &LaunchConstants) -> u32 {
        match self.skew.bytes {
            8 => 6,
            _ if self.distances().is_some() && problem.columns > tuning.few_columns => 4,
            _ => 5,
        }
    }

    /// Returns the rows of a column of `words` words.
    fn rows(&self, words: u64) -> u64 {
        words * u64::from(self.skew.per_word) / u64::from(self.skew.units)
    }

    /// Returns the maximum number of columns of a tile with `rows` rows. Neighbouring threads load a row, so it must fit into
    /// a power of two of words.
    fn columns(&self, rows: u64, tuning: &LaunchConstants) -> u64 {
        let width = (tuning.skewed_bytes / (rows + self.halo())).min(tuning.row_bytes) / u64::from(self.skew.bytes);
        let units = (1 << width.max(1).ilog2()) * u64::from(self.skew.per_word);
        (units - u64::from(self.skew.per_word - 1)) / u64::from(self.skew.units)
    }

    fn halo(&self) -> u64 {
        self.skew.halo().into()
    }

    /// Returns whether tiles with `columns` columns are copied as runs: without gaps, and with words that belong to two rows.
    fn is_run(&self, problem: &TransposeProblem, columns: u64, tuning: &LaunchConstants) -> bool {
        let row = columns * problem.element;
        let gapless = columns == problem.columns && problem.input_pitch == row;
        gapless
            && row <= tuning.run_bytes
            && !(columns * u64::from(self.skew.units)).is_multiple_of(u64::from(self.skew.per_word))
    }

    /// Returns the tile with as many rows as there is room for, at most `most`.
    fn filled(&self, cut: Cut, most: u64) -> Cut {
        // A column has equal numbers of words of each kind.
        let words = u64::from(self.skew.kinds()) << cut.lanes_log2;
        let step = words * u64::from(self.skew.per_word) / u64::from(self.skew.units);
        let rows = (self.room(&cut) - self.halo()).min(most);
        Cut { rows: rows / step * step, ..cut }
    }

    /// Returns the maximum number of words that contain `rows` rows.
    fn width(&self, cut: &Cut, rows: u64) -> u64 {
        let per_word = u64::from(self.skew.per_word);
        (per_word - 1 + rows * cut.columns * u64::from(self.skew.units)).div_ceil(per_word)
    }

    /// Returns the number of neighbouring threads that load a row; all threads for a run.
    fn threads_per_row(&self, cut: &Cut) -> u64 {
        if cut.run { THREADS.into() } else { self.width(cut, 1).min(MOST_THREADS_PER_ROW) }
    }

    /// Returns the number of rows that the threads load at a time: a multiple of `per_word`, so that all rows of a thread have
    /// the same shift. 0 for a run.
    fn rows_at_once(&self, cut: &Cut) -> u64 {
        let rows = u64::from(THREADS) / self.threads_per_row(cut);
        rows - rows % u64::from(self.skew.per_word)
    }

    /// Returns the number of passes in which each thread loads as many words as it can have in flight.
    fn passes(&self, cut: &Cut) -> u64 {
        let (rows, loads) = (cut.rows + self.halo(), u64::from(self.skew.loads_at_once()));
        if cut.run {
            self.width(cut, rows).div_ceil(u64::from(THREADS) * loads)
        } else {
            rows.div_ceil(self.rows_at_once(cut) * loads)
        }
    }

    /// Returns the number of rows that the passes load, for which shared memory has room.
    fn room(&self, cut: &Cut) -> u64 {
        let (passes, loads) = (self.passes(cut), u64::from(self.skew.loads_at_once()));
        if cut.run {
            let units = passes * loads * u64::from(THREADS * self.skew.per_word);
            (units - u64::from(self.skew.per_word - 1)) / (cut.columns * u64::from(self.skew.units))
        } else {
            passes * loads * self.rows_at_once(cut)
        }
    }

    pub(super) fn shared_bytes(&self, cut: &Cut) -> u64 {
        let words = u64::from(self.places(cut).1.words);
        shared_bytes::<u8>(words * u64::from(self.skew.bytes)) + shared_bytes::<u32>(self.skew.table_len().into())
    }

    /// Returns the tile's pitch in words, and the rest of its layout in shared memory.
    pub(super) fn places(&self, cut: &Cut) -> (u64, Places) {
        let (per_word, units) = (u64::from(self.skew.per_word), u64::from(self.skew.units));
        let [words, row_pitch, pitch] = if cut.run {
            let row_pitch = cut.columns * units;
            [self.passes(cut) * u64::from(self.skew.loads_at_once() * THREADS), row_pitch, row_pitch]
        } else {
            // Rows `per_word` apart follow each other.
            let between = self.between(cut);
            let apart = self.apart(self.room(cut).div_ceil(per_word) * between);
            [per_word * apart, per_word * apart, between]
        };
        let places = Places {
            words: words as u32,
            row_pitch: row_pitch as u32,
            rows: self.rows_at_once(cut) as u32,
            threads_per_row: self.threads_per_row(cut) as u32,
            passes: self.passes(cut) as u32,
            lanes_log2: cut.lanes_log2,
        };
        (pitch, places)
    }

    /// Returns the number of banks, counted in words of the kernel.
    fn banks(&self) -> u64 {
        (Banks::NVIDIA.count() * Banks::NVIDIA.bytes() / self.skew.bytes).into()
    }

    /// Returns the distance in words between rows `per_word` apart, which follow each other in shared memory. For elements of
    /// several words, the element below uses the next or the previous banks. For elements that straddle words, the distance
    /// is that of [`Skewed::distances`]. Otherwise, or if these would make rows longer by more than half, it is odd.
    fn between(&self, cut: &Cut) -> u64 {
        let (width, units, banks) = (self.width(cut, 1), u64::from(self.skew.units), self.banks());
        let wanted = match self.distances() {
            Some([between, _]) => [between; 2],
            None => [units, banks - units],
        };
        let fits = |words: &u64| wanted.contains(&(words % banks));
        if units == 1 { width | 1 } else { (width..=width / 2 * 3).find(fits).unwrap_or(width | 1) }
    }

    /// Returns the smallest distance in words, at least `words`, at which rows that follow each other in the matrix have few
    /// bank conflicts.
    fn apart(&self, words: u64) -> u64 {
        match self.distances() {
            Some([_, apart]) => words + (apart + self.banks() - words % self.banks()) % self.banks(),
            None => words | 1,
        }
    }

    /// Returns row strides in words, modulo the bank count, for elements that straddle words: of rows that follow each other
    /// in shared memory, and of rows that follow each other in the matrix. Counted for many alignments of input and output
    /// rows, they are among those with the fewest wavefronts: 1.9 on average, compared with 2.5 for all odd strides.
    fn distances(&self) -> Option<[u64; 2]> {
        match (self.unit, self.skew.units) {
            (1, 3) => Some([1, 25]),
            (2, 3) => Some([3, 17]),
            _ => None,
        }
    }
}

/// A skewed tile.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    pub(super) rows: u64,
    pub(super) columns: u64,
    /// Binary logarithm of the number of neighbouring threads that write a column.
    lanes_log2: u32,
    /// Whether the tile is loaded as one run.
    run: bool,
}
