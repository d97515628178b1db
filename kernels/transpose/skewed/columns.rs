//! Gathers the columns of a skewed tile from shared memory and writes them to the output: see `README.md`.
//!
//! A block begins each column at a sector, possibly in the middle of an element. A *period* is the smallest number of units
//! that makes whole words and whole elements. After a period, the composition of words from parts of elements repeats, and
//! so do the positions of their units in shared memory, at a constant distance. The words of a thread, `lanes` words apart,
//! are of three *kinds* if an element has three units, otherwise of one:
//!
//! ```text
//!  units of a column   a0 a1 a2 b0  b1 b2 c0 c1  c2 d0 d1 d2  e0 e1 ...     3 per element, 4 per word
//!  words               [ kind A  ]  [ kind B  ]  [ kind C  ]  [ kind A ...
//!                      |<----------- one period ----------->|
//! ```
//!
//! A table has the positions of the units of two periods. A thread looks up the positions for its first word of each kind.
//! Its next word of the same kind, and the same word of a column that begins at the same offset in a sector, are constant
//! distances away.
//!
//! A thread gathers several words before it writes the first one, so that the latencies of the loads overlap: words of
//! several columns if it has several, otherwise of one column. Words at the ends of output rows can be incomplete. These
//! are written unit by unit.

use super::rows::Rows;
use super::unit::{Skew, Unit};
use crate::transpose::tile::Tile;
use crate::transpose::{SkewedArgs, THREADS};
use cuda_std::{GlobalOut, Shared, math, thread};

/// Maximum number of words that a thread gathers at a time.
const MOST_GATHERED: u32 = 4;

/// Maximum number of kinds of words: with three units per element, a word can begin with any of them.
const MOST_KINDS: u32 = 3;

/// The tile in shared memory, and its position in the output.
pub(super) struct Columns<'a, U: Unit> {
    shared: &'a Shared<'a, U>,
    /// Positions in `shared` of the units of the tile's first column, for two periods from the halo's first row on.
    table: &'a Shared<'a, u32>,
    args: &'a SkewedArgs<'a, U>,
    tile: &'a Tile,
    rows: &'a Rows,
    skew: Skew,
    /// Index in `units` of the first unit of the tile's first column, in the halo's first row. Negative, as a wrapped number,
    /// if it is before the output.
    first: u32,
    /// The output from a sector near the tile on, as words and as units.
    words: GlobalOut<'a, U::Joined, u32>,
    units: GlobalOut<'a, U, u32>,
}

/// The position in a column at which a block or a thread begins.
#[derive(Clone, Copy)]
struct Start {
    /// Unit of the column, counted from the halo's first row.
    unit: u32,
    /// Position in shared memory, without the part that is in [`Pattern::kinds`].
    place: u32,
    /// Word of the output.
    word: u32,
}

/// The common properties of a thread's columns that begin at the same offset in a sector.
#[derive(Clone, Copy)]
struct Pattern {
    /// Positions in shared memory of the units of the first word of each kind, relative to [`Start::place`].
    kinds: [[u32; 4]; MOST_KINDS as usize],
    /// Distance between neighbouring columns of this pattern, in units of shared memory.
    units: u32,
    /// The same distance in words of the output.
    words: u32,
}

impl Start {
    /// Returns the start of a column `columns` columns further, among the columns of the pattern.
    #[inline(always)]
    fn further(self, columns: u32, pattern: &Pattern) -> Self {
        let word = self.word.wrapping_add(columns.wrapping_mul(pattern.words));
        Start { place: self.place + columns * pattern.units, word, ..self }
    }
}

impl<'a, U: Unit> Columns<'a, U> {
    #[inline(always)]
    pub(super) fn new(
        shared: &'a Shared<'a, U>,
        table: &'a Shared<'a, u32>,
        args: &'a SkewedArgs<'a, U>,
        tile: &'a Tile,
        rows: &'a Rows,
        skew: Skew,
    ) -> Self {
        let target = tile.target(&args.layout, 1, skew.units);
        let (per_word, per_sector) = (skew.per_word as u64, skew.per_sector() as u64);
        // A column's part in the halo is shorter than two sectors.
        let sector = (target / per_sector).saturating_sub(2);
        let first = ((target - sector * per_sector) as u32).wrapping_sub(skew.halo() * skew.units);
        let words = args.output_words.at(sector * (per_sector / per_word)).anchored();
        let units = args.output.at(sector * per_sector);
        Columns { shared, table, args, tile, rows, skew, first, words, units }
    }

    #[inline(always)]
    pub(super) fn store(&self) {
        let (at_once, per_sector) = (THREADS >> self.args.places.lanes_log2, self.skew.per_sector());
        let alike = at_once.max(per_sector);
        let rows = self.args.layout.tile_rows + self.skew.halo();
        if self.skew.per_word > 1 && (self.rows.skipped > 0 || self.rows.count < rows) {
            // The output rows begin or end in this tile.
            self.store_words(alike, [1, 1], Self::store_units);
        } else if self.skew.kinds() > 1 {
            self.store_words(alike, [1, 1], Self::store_word);
        } else if at_once <= per_sector && self.args.layout.tile_columns > per_sector {
            // `per_sector` is a constant, so the addresses for several columns are one register plus constant offsets.
            self.store_words(per_sector, [MOST_GATHERED, 1], Self::store_word);
        } else {
            self.store_words(alike, [1, MOST_GATHERED], Self::store_word);
        }
    }

    /// Writes the tile. A thread writes the same words of every column it has. Columns `alike` apart begin at the same offset
    /// in a sector. The thread gathers words of `columns` of these at a time: `each` words of every kind per column.
    #[inline(always)]
    fn store_words(&self, alike: u32, [columns, each]: [u32; 2], store: impl Fn(&Self, Gathered<U::Joined>)) {
        let step = THREADS >> self.args.places.lanes_log2;
        let (mut first, end) = (thread::thread_idx_x() >> self.args.places.lanes_log2, alike.min(self.tile.columns));
        if first >= end {
            return;
        }
        // Columns `step` apart have the same pattern, unless elements have three units.
        let common = (self.skew.kinds() == 1).then(|| self.pattern(first, alike));
        while first < end {
            let pattern = common.unwrap_or_else(|| self.pattern(first, alike));
            let (mut column, mut start) = (first, self.start(first));
            while column + (columns - 1) * alike < self.tile.columns {
                self.store_columns(start, &pattern, [columns, each], &store);
                (column, start) = (column + columns * alike, start.further(columns, &pattern));
            }
            while columns > 1 && column < self.tile.columns {
                self.store_columns(start, &pattern, [1, each], &store);
                (column, start) = (column + alike, start.further(1, &pattern));
            }
            first += step;
        }
    }

    /// Returns the pattern of the columns that begin like `column`, for the thread's words.
    #[inline(always)]
    fn pattern(&self, column: u32, alike: u32) -> Pattern {
        let (skew, period) = (self.skew, self.skew.period());
        let mut kinds = [[0; 4]; MOST_KINDS as usize];
        let lane = thread::thread_idx_x() % self.lanes();
        let first = self.start(column).unit % period + lane * skew.per_word;
        for kind in 0..skew.kinds() {
            // The first word of another kind is further by whole periods and a part of one. So the index into the table is
            // less than two periods.
            let further = kind * self.lanes() * skew.per_word;
            let periods = (first / period + further / period) * self.between_periods();
            for i in 0..skew.per_word {
                kinds[kind as usize][i as usize] = periods + self.table.get(first % period + further % period + i);
            }
        }
        let words = (alike / skew.per_word).wrapping_mul(self.args.layout.output_pitch as u32);
        Pattern { kinds, units: alike * skew.units, words }
    }

    #[inline(always)]
    fn lanes(&self) -> u32 {
        1 << self.args.places.lanes_log2
    }

    #[inline(always)]
    fn words_of_column(&self) -> u32 {
        self.args.layout.tile_rows * self.skew.units / self.skew.per_word
    }

    /// Returns the distance in words between a thread's neighbouring words of the same kind in a column.
    #[inline(always)]
    fn apart(&self) -> u32 {
        self.skew.kinds() * self.lanes()
    }

    /// Returns the position at which the block begins a column.
    #[inline(always)]
    fn start(&self, column: u32) -> Start {
        let (skew, layout) = (self.skew, &self.args.layout);
        let offset = self.first.wrapping_add(column.wrapping_mul(layout.output_pitch as u32));
        let unit = offset.wrapping_neg() % skew.per_sector();
        let place = unit / skew.period() * self.between_periods() + column * skew.units;
        // The sum is a multiple of the units per word. Before the output it is negative, hence the arithmetic shift.
        let word = offset.wrapping_add(unit) as i32 >> skew.per_word.ilog2();
        Start { unit, place, word: word as u32 }
    }

    /// Returns the distance in shared memory, in units, between units of a column that are a period apart.
    #[inline(always)]
    fn between_periods(&self) -> u32 {
        self.args.layout.tile_pitch * self.skew.per_word
    }

    /// Writes a thread's words of `columns` columns, `each` words of every kind at a time.
    #[inline(always)]
    fn store_columns(
        &self,
        start: Start,
        pattern: &Pattern,
        [columns, each]: [u32; 2],
        store: impl Fn(&Self, Gathered<U::Joined>),
    ) {
        let mut word = thread::thread_idx_x() % self.lanes();
        let unit = start.unit + word * self.skew.per_word;
        let mut at = Start { unit, word: start.word.wrapping_add(word), ..start };
        // The words of a column are a multiple of `apart`, so a thread has equal numbers of words of each kind.
        while word + (each - 1) * self.apart() < self.words_of_column() {
            self.store_round(at, pattern, [columns, each], &store);
            (word, at) = (word + each * self.apart(), self.down(at, each));
        }
        while each > 1 && word < self.words_of_column() {
            self.store_round(at, pattern, [columns, 1], &store);
            (word, at) = (word + self.apart(), self.down(at, 1));
        }
    }

    /// Gathers and writes `each` words of every kind of `columns` columns.
    #[inline(always)]
    fn store_round(
        &self,
        at: Start,
        pattern: &Pattern,
        [columns, each]: [u32; 2],
        store: impl Fn(&Self, Gathered<U::Joined>),
    ) {
        let kinds = self.skew.kinds();
        let mut gathered = [Gathered::default(); MOST_GATHERED as usize];
        for kind in 0..kinds {
            // `opaque`, so that the addresses for several columns remain one register plus constant offsets.
            let mut places = [0; 4];
            for i in 0..self.skew.per_word {
                places[i as usize] = math::opaque(at.place + pattern.kinds[kind as usize][i as usize]);
            }
            for i in 0..columns * each {
                let Start { unit, place, word } = self.down(at.further(i / each, pattern), i % each);
                let further = place - at.place;
                gathered[(i * kinds + kind) as usize] = Gathered {
                    unit: unit + kind * self.lanes() * self.skew.per_word,
                    word: word.wrapping_add(kind * self.lanes()),
                    value: U::join(|i| self.shared.get(places[i as usize] + further)),
                };
            }
        }
        for i in 0..kinds * columns * each {
            store(self, gathered[i as usize]);
        }
    }

    /// Returns the position `words` words of the same kind further down the column.
    #[inline(always)]
    fn down(&self, Start { unit, place, word }: Start, words: u32) -> Start {
        // `apart` words are whole periods.
        let periods = self.apart() / self.skew.units * self.between_periods();
        Start {
            unit: unit + words * self.apart() * self.skew.per_word,
            place: place + words * periods,
            word: word.wrapping_add(words * self.apart()),
        }
    }

    /// Writes a word if it exists in the output. A word of several units must be complete.
    #[inline(always)]
    fn store_word(&self, Gathered { unit, word, value }: Gathered<U::Joined>) {
        self.words.set_if(self.skew.per_word > 1 || self.exists(unit), word, value);
    }

    /// Writes the units of a word that exist in the output.
    #[inline(always)]
    fn store_units(&self, Gathered { unit, word, value }: Gathered<U::Joined>) {
        let per_word = self.skew.per_word;
        if self.exists(unit) && self.exists(unit + per_word - 1) {
            self.words.set(word, value);
            return;
        }
        for i in 0..per_word {
            if self.exists(unit + i) {
                self.units.set(word.wrapping_mul(per_word) + i, U::of(value, i));
            }
        }
    }

    /// Returns whether the matrix has this unit of a column, counted from the halo's first row.
    #[inline(always)]
    fn exists(&self, unit: u32) -> bool {
        // For units before the matrix, the difference wraps around to a large number.
        unit.wrapping_sub(self.rows.skipped * self.skew.units) < self.rows.count * self.skew.units
    }
}

/// A gathered word.
#[derive(Clone, Copy, Default)]
struct Gathered<W> {
    /// Its first unit, counted from the halo's first row.
    unit: u32,
    /// Its index in the output.
    word: u32,
    value: W,
}
