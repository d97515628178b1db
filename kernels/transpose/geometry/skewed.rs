//! How the kernels that do not need rows to be aligned cut a matrix into tiles, and where rows are in shared memory.

use super::{Problem, Tuning};
use crate::transpose::skewed::Skew;
use crate::transpose::{Places, THREADS};
use cuda_std::host::banks::Banks;
use cuda_std::shared_bytes;

/// As many words as a sector has: fewer lanes would not write whole sectors.
const FEWEST_LANES_LOG2: u32 = 3;

/// The most threads that take the words of a row, unless the tile is one run.
const MOST_THREADS_PER_ROW: u64 = 64;

/// Units that threads reach with 32 bits and a sign.
const REACH: u64 = i32::MAX as u64 - 1024;

/// A kernel that does not need rows to be aligned: see `../skewed/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skewed {
    /// The entry point.
    pub name: &'static str,
    /// The bytes of a unit.
    pub(in crate::transpose) unit: u32,
    pub(in crate::transpose) skew: Skew,
}

impl Skewed {
    pub(super) fn element(&self) -> u64 {
        u64::from(self.unit * self.skew.units)
    }

    /// How a matrix is cut into tiles; `None` if its rows are so far apart that 32 bits cannot count the units of a tile,
    /// or if single columns are longer than there is room for.
    pub(super) fn cut(&self, problem: &Problem, tuning: &Tuning) -> Option<Cut> {
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
        // There is room for more rows than there are.
        while cut.columns > 1 && self.shared_bytes(&cut) > tuning.shared_bytes {
            cut = cut_into(cut.columns / 2);
        }
        let reached = self.room(&cut).checked_mul(units(problem.input_pitch))?;
        (self.shared_bytes(&cut) <= tuning.shared_bytes && reached <= REACH).then_some(cut)
    }

    /// The words of a tile's column, and the binary logarithm of how many of them neighbouring threads write. A tile has `most`
    /// rows at the most if it has more than usual.
    fn column(&self, problem: &Problem, most: u64, tuning: &Tuning) -> (u64, u32) {
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

    fn usual_words(&self, tuning: &Tuning) -> u64 {
        let bytes = match self.element() {
            1 | 2 => tuning.row_bytes / 2,
            12 | 16 => tuning.row_bytes * 2,
            _ => tuning.row_bytes,
        };
        let words = bytes / u64::from(self.skew.bytes);
        if self.skew.units == 3 { words / 4 * 3 } else { words }
    }

    /// Usually the threads take at most as many columns at a time as a sector has units: see the kernel.
    fn usual_lanes_log2(&self, problem: &Problem, tuning: &Tuning) -> u32 {
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

    /// Returns the maximum number of columns of a tile with `rows` rows: a power of two of words, which neighbouring threads take.
    fn columns(&self, rows: u64, tuning: &Tuning) -> u64 {
        let width = (tuning.skewed_bytes / (rows + self.halo())).min(tuning.row_bytes) / u64::from(self.skew.bytes);
        let units = (1 << width.max(1).ilog2()) * u64::from(self.skew.per_word);
        (units - u64::from(self.skew.per_word - 1)) / u64::from(self.skew.units)
    }

    fn halo(&self) -> u64 {
        self.skew.halo().into()
    }

    /// Returns whether tiles with `columns` columns are copied as runs: without gaps, and with words that belong to two rows.
    fn is_run(&self, problem: &Problem, columns: u64, tuning: &Tuning) -> bool {
        let row = columns * problem.element;
        let gapless = columns == problem.columns && problem.input_pitch == row;
        gapless
            && row <= tuning.run_bytes
            && !(columns * u64::from(self.skew.units)).is_multiple_of(u64::from(self.skew.per_word))
    }

    /// With as many rows as there is room for, and `most` at the most.
    fn filled(&self, cut: Cut, most: u64) -> Cut {
        // Columns have as many words of each kind as of any other.
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

    /// How many neighbouring threads take a row's words; of a run, all.
    fn threads_per_row(&self, cut: &Cut) -> u64 {
        if cut.run { THREADS.into() } else { self.width(cut, 1).min(MOST_THREADS_PER_ROW) }
    }

    /// How many rows the threads take at a time: as many as are shifted in all ways, or several times that; none of a run.
    fn rows_at_once(&self, cut: &Cut) -> u64 {
        let rows = u64::from(THREADS) / self.threads_per_row(cut);
        rows - rows % u64::from(self.skew.per_word)
    }

    /// How often the threads bring as many words as they can at a time.
    fn passes(&self, cut: &Cut) -> u64 {
        let (rows, loads) = (cut.rows + self.halo(), u64::from(self.skew.loads_at_once()));
        if cut.run {
            self.width(cut, rows).div_ceil(u64::from(THREADS) * loads)
        } else {
            rows.div_ceil(self.rows_at_once(cut) * loads)
        }
    }

    /// The rows that there is room for: all that a thread may come to.
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

    /// How many words are between rows in shared memory, and the rest of how these lie there.
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

    /// The banks, by words.
    fn banks(&self) -> u64 {
        (Banks::NVIDIA.count() * Banks::NVIDIA.bytes() / self.skew.bytes).into()
    }

    /// How many words are between rows that follow each other in shared memory. Of elements of several words, a number with
    /// which elements below each other are neighbours among the banks, downwards or upwards, and if words contain parts of
    /// elements, what [`Skewed::distances`] says; unless that makes rows longer by more than half. Otherwise an odd number
    /// will do.
    fn between(&self, cut: &Cut) -> u64 {
        let (width, units, banks) = (self.width(cut, 1), u64::from(self.skew.units), self.banks());
        let wanted = match self.distances() {
            Some([between, _]) => [between; 2],
            None => [units, banks - units],
        };
        let fits = |words: &u64| wanted.contains(&(words % banks));
        if units == 1 { width | 1 } else { (width..=width / 2 * 3).find(fits).unwrap_or(width | 1) }
    }

    /// The least distance of `words` words or more at which rows that follow each other in the matrix do not meet.
    fn apart(&self, words: u64) -> u64 {
        match self.distances() {
            Some([_, apart]) => words + (apart + self.banks() - words % self.banks()) % self.banks(),
            None => words | 1,
        }
    }

    /// Row strides modulo the bank count, for elements that straddle words: of rows that follow each other in shared
    /// memory, and of rows that follow each other in the matrix. Counted over many ways in which rows of input and output can begin, they
    /// are among those with the fewest wavefronts, 1.9 on average; of all odd ones, that is 2.5.
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
    /// The binary logarithm of how many words of a column neighbouring threads write.
    lanes_log2: u32,
    /// Whether it is brought as one run.
    run: bool,
}
