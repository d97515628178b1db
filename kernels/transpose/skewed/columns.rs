//! How the columns of a skewed tile are gathered from shared memory and written: see `mod.rs`.
//!
//! A block begins each column at a sector, maybe in the middle of an element. How words are made of elements, and of
//! parts of them, repeats itself after as many units as make whole words and whole elements, a *period*; and so does
//! where these are in shared memory, a constant distance further. So a table has the places of the units of two periods,
//! from which a thread takes those of its first word, or of one of each kind: elements of 3, 6 and 12 bytes make three
//! kinds of words. Words of a kind that follow each other in a column, and columns that begin alike, are constant
//! distances apart as well.
//!
//! A thread gathers several words before it writes the first one, so that it waits for all of them at once: words of several
//! columns if it has several, otherwise of one. Where rows of the output begin and end, words may be incomplete, and are
//! written unit by unit.

use super::rows::Rows;
use super::unit::{Skew, Unit};
use crate::transpose::tile::Tile;
use crate::transpose::{SkewedArgs, THREADS};
use cuda_std::{GlobalOut, Shared, math, thread};

/// The most words that a thread gathers at a time.
const MOST_GATHERED: u32 = 4;

/// The most kinds of words: of three units to an element, words begin with any of them.
const MOST_KINDS: u32 = 3;

/// The tile in shared memory, and where it is to be written.
pub(super) struct Columns<'a, U: Unit> {
    shared: &'a Shared<U>,
    /// Where in `shared` the units of the tile's first column are, of the first two periods of the halo.
    table: &'a Shared<u32>,
    args: &'a SkewedArgs<U>,
    tile: &'a Tile,
    rows: &'a Rows,
    skew: Skew,
    /// Where the output has the first unit of the tile's first column, and of the halo's first row, counted from a sector
    /// before it; negative, wrapped around, if that is before the output.
    first: u32,
    /// The output from that sector on, by words and by units.
    words: GlobalOut<U::Joined, u32>,
    units: GlobalOut<U, u32>,
}

/// Where a block begins a column, or a thread a part of one.
#[derive(Clone, Copy)]
struct Start {
    /// Units from the halo's first row on.
    unit: u32,
    /// Where that is in shared memory, but for what is in [`Pattern::kinds`].
    place: u32,
    /// The word of the output.
    word: u32,
}

/// What columns of a thread have in common that begin alike.
#[derive(Clone, Copy)]
struct Pattern {
    /// Where the units of the first word of each kind are in shared memory, counted from [`Start::place`].
    kinds: [[u32; 4]; MOST_KINDS as usize],
    /// From one of these columns to the next one: in units of shared memory, and in words of the output.
    units: u32,
    words: u32,
}

impl Start {
    /// Returns the start of the column `columns` further on, among columns that begin alike.
    #[inline(always)]
    fn further(self, columns: u32, pattern: &Pattern) -> Self {
        let word = self.word.wrapping_add(columns.wrapping_mul(pattern.words));
        Start { place: self.place + columns * pattern.units, word, ..self }
    }
}

impl<'a, U: Unit> Columns<'a, U> {
    #[inline(always)]
    pub(super) fn new(
        shared: &'a Shared<U>,
        table: &'a Shared<u32>,
        args: &'a SkewedArgs<U>,
        tile: &'a Tile,
        rows: &'a Rows,
        skew: Skew,
    ) -> Self {
        let target = tile.target(&args.layout, 1, skew.units);
        let (per_word, per_sector) = (skew.per_word as u64, skew.per_sector() as u64);
        // The halo has less than two sectors.
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
            // At an end of the output's rows.
            self.store_words(alike, [1, 1], Self::store_units);
        } else if self.skew.kinds() > 1 {
            self.store_words(alike, [1, 1], Self::store_word);
        } else if at_once <= per_sector && self.args.layout.tile_columns > per_sector {
            // As a constant, it makes what is gathered from several columns one address and distances from it.
            self.store_words(per_sector, [MOST_GATHERED, 1], Self::store_word);
        } else {
            self.store_words(alike, [1, MOST_GATHERED], Self::store_word);
        }
    }

    /// Each thread writes the same words of columns with a constant distance. Columns `alike` apart begin alike, at the same offset
    /// in a sector. A thread gathers words of `columns` of these at a time, `each` of every kind.
    #[inline(always)]
    fn store_words(&self, alike: u32, [columns, each]: [u32; 2], store: impl Fn(&Self, Gathered<U::Joined>)) {
        let step = THREADS >> self.args.places.lanes_log2;
        let (mut first, end) = (thread::thread_idx_x() >> self.args.places.lanes_log2, alike.min(self.tile.columns));
        if first >= end {
            return;
        }
        // A step further, columns begin at the same unit of a word, but of elements of three units maybe at another one.
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

    /// Of the columns that begin like `column`.
    #[inline(always)]
    fn pattern(&self, column: u32, alike: u32) -> Pattern {
        let (skew, period) = (self.skew, self.skew.period());
        let mut kinds = [[0; 4]; MOST_KINDS as usize];
        let lane = thread::thread_idx_x() % self.lanes();
        let first = self.start(column).unit % period + lane * skew.per_word;
        for kind in 0..skew.kinds() {
            // Its words of other kinds are further by whole periods, and by less than one.
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

    /// From a word of a column to the thread's next one of the same kind.
    #[inline(always)]
    fn apart(&self) -> u32 {
        self.skew.kinds() * self.lanes()
    }

    /// Where the block begins a column.
    #[inline(always)]
    fn start(&self, column: u32) -> Start {
        let (skew, layout) = (self.skew, &self.args.layout);
        let offset = self.first.wrapping_add(column.wrapping_mul(layout.output_pitch as u32));
        let unit = offset.wrapping_neg() % skew.per_sector();
        let place = unit / skew.period() * self.between_periods() + column * skew.units;
        // A multiple of the units of a word, and negative before the matrix.
        let word = offset.wrapping_add(unit) as i32 >> skew.per_word.ilog2();
        Start { unit, place, word: word as u32 }
    }

    /// How far in shared memory a unit of a column is from the one that is a period further.
    #[inline(always)]
    fn between_periods(&self) -> u32 {
        self.args.layout.tile_pitch * self.skew.per_word
    }

    /// Writes a thread's words of a number of columns, `each` of every kind at a time.
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
        // A column has whole rounds, with as many words of a kind as of any other.
        while word + (each - 1) * self.apart() < self.words_of_column() {
            self.store_round(at, pattern, [columns, each], &store);
            (word, at) = (word + each * self.apart(), self.down(at, each));
        }
        while each > 1 && word < self.words_of_column() {
            self.store_round(at, pattern, [columns, 1], &store);
            (word, at) = (word + self.apart(), self.down(at, 1));
        }
    }

    /// Writes a number of words of every kind of a number of columns.
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
            // Opaque, so that what is gathered from several columns stays one address and constant distances from it.
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

    /// So many words of a kind further down the column.
    #[inline(always)]
    fn down(&self, Start { unit, place, word }: Start, words: u32) -> Start {
        // Words of all kinds make whole periods.
        let periods = self.apart() / self.skew.units * self.between_periods();
        Start {
            unit: unit + words * self.apart() * self.skew.per_word,
            place: place + words * periods,
            word: word.wrapping_add(words * self.apart()),
        }
    }

    /// Writes a word if the matrix has it. One of several units has to be complete.
    #[inline(always)]
    fn store_word(&self, Gathered { unit, word, value }: Gathered<U::Joined>) {
        self.words.set_if(self.skew.per_word > 1 || self.exists(unit), word, value);
    }

    /// Writes what the matrix has of a word of several units.
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

    /// Whether the matrix has this unit of a column, counted from the halo's first row.
    #[inline(always)]
    fn exists(&self, unit: u32) -> bool {
        // Before the first one, the difference is huge.
        unit.wrapping_sub(self.rows.skipped * self.skew.units) < self.rows.count * self.skew.units
    }
}

/// A word that was gathered.
#[derive(Clone, Copy, Default)]
struct Gathered<W> {
    /// Its first unit, counted from the halo's first row.
    unit: u32,
    /// Where it belongs in the output.
    word: u32,
    value: W,
}
