//! How the columns of a skewed tile are gathered from shared memory and written: see `skewed.rs`.
//!
//! A block begins each column at a sector, and elements of 3 and 6 bytes as well: so the words of all columns that a
//! thread writes are made of elements, and of parts of them, in the same ways, of which there are up to three. Where in
//! shared memory the units of such a word are, counted from the place at which the column begins, is computed once.
//! Words of a kind that follow each other in a column, and columns that begin alike, are constant distances apart.
//!
//! A thread gathers several words before it writes the first one, so that it waits for all of them at a time: of several
//! columns if it has so many, otherwise of one. Where rows of the output begin and end, words may be incomplete, and are
//! written unit by unit.

use super::skewed::{Lines, Skew, Unit};
use super::tile::Tile;
use super::{SkewedArgs, THREADS};
use cuda_std::{GlobalOut, Shared, thread};

/// The most words that a thread gathers at a time.
const MOST_GATHERED: u32 = 4;

/// The most kinds of words: of three units to an element, words begin with any of them.
const MOST_KINDS: u32 = 3;

/// The tile in shared memory, and where it is to be written.
pub(super) struct Columns<'a, U: Unit> {
    shared: &'a Shared<U>,
    args: &'a SkewedArgs<U>,
    tile: &'a Tile,
    lines: &'a Lines,
    skew: Skew,
    /// The unit of the tile's first column that is in the halo's first row, counted from a sector, or before it:
    /// wrapped around.
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
    /// Where that is in shared memory, without what all columns of a thread have in common.
    place: u32,
    /// The word of the output.
    word: u32,
}

/// What the columns of a thread have in common.
struct Pattern {
    /// Where the units of the first word of each kind are in shared memory, counted from [`Start::place`].
    kinds: [[u32; 4]; MOST_KINDS as usize],
    /// From a column to the next one that begins alike: in units of shared memory, and in words of the output.
    units: u32,
    words: u32,
}

impl Start {
    /// Of the column that is so many columns further on which begin alike.
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
        args: &'a SkewedArgs<U>,
        tile: &'a Tile,
        lines: &'a Lines,
        skew: Skew,
    ) -> Self {
        let target = tile.target(&args.layout, 1, skew.units);
        let (per_word, per_sector) = (skew.per_word as u64, skew.per_sector() as u64);
        // All that a block writes of its first column is behind that.
        let sector = (target / per_sector).saturating_sub(2);
        let first = ((target - sector * per_sector) as u32).wrapping_sub(skew.halo() * skew.units);
        let words = args.output_words.at(sector * (per_sector / per_word)).anchored();
        let units = args.output.at(sector * per_sector);
        Columns { shared, args, tile, lines, skew, first, words, units }
    }

    #[inline(always)]
    pub(super) fn store(&self) {
        let (at_once, per_sector) = (THREADS >> self.args.places.lanes_log2, self.skew.per_sector());
        let alike = at_once.max(per_sector);
        let rows = self.args.layout.tile_rows + self.skew.halo();
        if self.skew.per_word > 1 && (self.lines.skipped > 0 || self.lines.count < rows) {
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

    /// Each thread writes the same words of every so many columns. It gathers words at a time from so many columns as
    /// `at_once[0]` says, which are `alike` apart and so begin at the same place of a sector; and from each so many
    /// words of a kind as `at_once[1]` says.
    #[inline(always)]
    fn store_words(&self, alike: u32, [columns, each]: [u32; 2], store: impl Fn(&Self, Gathered<U::Joined>)) {
        let step = THREADS >> self.args.places.lanes_log2;
        let mut first = thread::thread_idx_x() >> self.args.places.lanes_log2;
        let pattern = self.pattern(first, alike);
        while first < alike.min(self.tile.columns) {
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

    /// Of the thread whose first column is `column`.
    #[inline(always)]
    fn pattern(&self, column: u32, alike: u32) -> Pattern {
        let (skew, start) = (self.skew, self.start(column).unit);
        let mut kinds = [[0; 4]; MOST_KINDS as usize];
        for kind in 0..skew.kinds() {
            let word = thread::thread_idx_x() % self.lanes() + kind * self.lanes();
            kinds[kind as usize] = self.places(start, word * skew.per_word);
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
        let [unit, rows] = skew.until_start(offset);
        let place = rows / skew.per_word * layout.tile_pitch * skew.per_word + column * skew.units;
        // A multiple of the units of a word, and negative before the matrix.
        let word = offset.wrapping_add(unit) as i32 >> skew.per_word.ilog2();
        Start { unit, place, word: word as u32 }
    }

    /// Where a row is in shared memory, without the column.
    #[inline(always)]
    fn row(&self, row: u32) -> u32 {
        let (args, per_word) = (self.args, self.skew.per_word);
        row % per_word * args.places.row_pitch
            + row / per_word * args.layout.tile_pitch * per_word
            + self.lines.shift(args, self.skew, row)
    }

    /// Where the units of a word are in shared memory, counted from [`Start::place`], if the first one is `at` units
    /// after the beginning of a column, and that is `start` units after the beginning of the halo, or further by so
    /// many rows as a word has units, and several times that.
    #[inline(always)]
    fn places(&self, start: u32, at: u32) -> [u32; 4] {
        let skew = self.skew;
        let first = start / skew.units % skew.per_word;
        let at = at + start % skew.units;
        let (row, unit) = (first + at / skew.units, at % skew.units);
        let mut places = [0; 4];
        if skew.units == 3 {
            // Those of a word are in two rows.
            let rows = [self.row(row), self.row(row + 1).wrapping_sub(3)];
            for i in 0..skew.per_word {
                let row = if unit + i < 3 { rows[0] } else { rows[1] };
                places[i as usize] = row.wrapping_add(unit + i);
            }
        } else {
            for i in 0..skew.per_word {
                places[i as usize] = self.row(row + i) + unit;
            }
        }
        places
    }

    /// Writes a thread's words of so many columns, `each` of every kind at a time.
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

    /// Writes so many words of every kind of so many columns.
    #[inline(always)]
    fn store_round(
        &self,
        at: Start,
        pattern: &Pattern,
        [columns, each]: [u32; 2],
        store: impl Fn(&Self, Gathered<U::Joined>),
    ) {
        let all = self.skew.kinds() * columns * each;
        let mut gathered = [Gathered::default(); MOST_GATHERED as usize];
        for i in 0..all {
            let (kind, i) = (i % self.skew.kinds(), i / self.skew.kinds());
            let Start { unit, place, word } = self.down(at.further(i / each, pattern), i % each);
            let places = pattern.kinds[kind as usize];
            gathered[(i * self.skew.kinds() + kind) as usize] = Gathered {
                unit: unit + kind * self.lanes() * self.skew.per_word,
                word: word.wrapping_add(kind * self.lanes()),
                value: U::join(|i| self.shared.get(place + places[i as usize])),
            };
        }
        for i in 0..all {
            store(self, gathered[i as usize]);
        }
    }

    /// So many words of a kind further down the column.
    #[inline(always)]
    fn down(&self, Start { unit, place, word }: Start, words: u32) -> Start {
        let rows = self.apart() / self.skew.units * self.args.layout.tile_pitch * self.skew.per_word;
        Start {
            unit: unit + words * self.apart() * self.skew.per_word,
            place: place + words * rows,
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
        unit.wrapping_sub(self.lines.skipped * self.skew.units) < self.lines.count * self.skew.units
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
