//! How the columns of a skewed tile are gathered from shared memory and written: see `skewed.rs`.
//!
//! A thread writes the same words of every so many columns, which begin at the same place of a sector. So nearly all that it
//! has to know of a word is computed once: which of its units belong to the tile, and where in shared memory they are. It
//! gathers several words before it writes the first one, of several columns if the tile has so many, and of one column
//! otherwise. At the ends of the output's rows, words are incomplete and written unit by unit.

use super::skewed::{Lines, Skew, Unit, place};
use super::tile::Tile;
use super::{Layout, SkewedArgs, THREADS};
use cuda_std::{GlobalOut, Shared, thread};

/// The most words that a thread gathers at a time.
const MOST_GATHERED: u32 = 4;

/// The tile in shared memory, and where it is to be written.
pub(super) struct Columns<'a, U: Unit> {
    shared: &'a Shared<U>,
    args: &'a SkewedArgs<U>,
    tile: &'a Tile,
    lines: &'a Lines,
    skew: Skew,
    /// The first unit of the tile's first column, counted from a sector.
    first: u32,
    /// The output from that sector on, by words and by units.
    words: GlobalOut<U::Joined, u32>,
    units: GlobalOut<U, u32>,
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
        let (sector, first) = (target / per_sector, (target % per_sector) as u32);
        let words = args.output_words.at(sector * (per_sector / per_word)).anchored();
        let units = args.output.at(sector * per_sector);
        Columns { shared, args, tile, lines, skew, first, words, units }
    }

    #[inline(always)]
    pub(super) fn store(&self) {
        let (at_once, per_sector) = (THREADS >> self.args.lanes_log2, self.skew.per_sector());
        if at_once <= per_sector && self.args.layout.tile_columns > per_sector {
            // Of three units, most threads have no more columns than two or three.
            let columns = if self.skew.units == 3 && self.skew.per_word > 2 { 2 } else { MOST_GATHERED };
            // As a constant, it makes what is gathered from several columns one address and distances from it.
            self.store_alike(per_sector, [columns, 1]);
        } else {
            // Fewer of many units, whose places need registers.
            let words = if self.skew.per_word > 2 { 2 } else { MOST_GATHERED };
            self.store_alike(at_once.max(per_sector), [1, words]);
        }
    }

    /// A thread writes the same words of every column that is a multiple of `alike` further on. These columns begin at the
    /// same place of a sector, so that nearly all that it has to know is computed once. Then of those between them. It
    /// gathers from `at_once` columns so many words at a time.
    #[inline(always)]
    fn store_alike(&self, alike: u32, at_once: [u32; 2]) {
        let (layout, skew) = (&self.args.layout, self.skew);
        let (t, lanes) = (thread::thread_idx_x(), 1 << self.args.lanes_log2);
        let (step, halo) = (lanes * skew.per_word, skew.halo() * skew.units);
        let mut column = t >> self.args.lanes_log2;
        while column < alike.min(self.tile.columns) {
            let start = self.first + column * layout.output_pitch as u32;
            let shift = start % skew.per_sector();
            let ends = Ends::new(layout, self.tile, skew, shift);
            let mut unit = t % lanes * skew.per_word;
            let mut next = self.places(halo - shift + unit);
            while unit < ends.to {
                let mut words = Words { column, at: start - shift + unit, places: [[0; 4]; MOST_GATHERED as usize] };
                for k in 0..at_once[1] {
                    words.places[k as usize] = next;
                    next = self.places_further(next, halo - shift + unit + (k + 1) * step);
                }
                self.store_words(words, alike, at_once, |i| ends.contain(unit + i));
                unit += at_once[1] * step;
            }
            column += THREADS >> self.args.lanes_log2;
        }
    }

    /// Where a row is in shared memory, without the column.
    #[inline(always)]
    fn row(&self, line: u32) -> u32 {
        let layout = &self.args.layout;
        place(self.args, self.skew, line) * layout.tile_pitch * self.skew.per_word
            + self.lines.shift(layout, self.skew, line)
    }

    /// Where the units of a word are in shared memory, without the column; the first one is `at` units after the beginning
    /// of the column's halo.
    #[inline(always)]
    fn places(&self, at: u32) -> [u32; 4] {
        let (line, unit) = (at / self.skew.units, at % self.skew.units);
        let mut places = [0; 4];
        if self.skew.units == 3 {
            // Those of a word are in two rows.
            let rows = [self.row(line), self.row(line + 1).wrapping_sub(3)];
            for i in 0..self.skew.per_word {
                let row = if unit + i < 3 { rows[0] } else { rows[1] };
                places[i as usize] = row.wrapping_add(unit + i);
            }
        } else {
            for i in 0..self.skew.per_word {
                places[i as usize] = self.row(line + i) + unit;
            }
        }
        places
    }

    /// Where those of the thread's next word are, which begins at `at`.
    #[inline(always)]
    fn places_further(&self, mut places: [u32; 4], at: u32) -> [u32; 4] {
        if self.skew.units == 3 {
            return self.places(at);
        }
        // Several rows further on, the shift is the same.
        let rows = (1 << self.args.lanes_log2) / self.skew.units;
        for i in 0..self.skew.per_word {
            places[i as usize] += rows * self.args.layout.tile_pitch * self.skew.per_word;
        }
        places
    }

    /// Writes words of a column and of those `alike` further on, as far as their units are `inside`.
    #[inline(always)]
    fn store_words(
        &self,
        Words { mut column, at, places }: Words,
        alike: u32,
        [columns, words]: [u32; 2],
        inside: impl Fn(u32) -> bool,
    ) {
        let (per_word, lanes) = (self.skew.per_word, 1 << self.args.lanes_log2);
        let gather = |column: u32, k: u32| U::join(|i| self.unit(places[k as usize][i as usize], column));
        let whole = |k: u32| inside(k * lanes * per_word) && inside(k * lanes * per_word + per_word - 1);
        let mut all = true;
        for k in 0..words {
            all &= whole(k);
        }
        let further = (alike / per_word).wrapping_mul(self.args.layout.output_pitch as u32);
        let mut word = at / per_word;
        while all && column + (columns - 1) * alike < self.tile.columns {
            let mut values = [U::Joined::default(); MOST_GATHERED as usize];
            for i in 0..columns * words {
                values[i as usize] = gather(column + i / words * alike, i % words);
            }
            for i in 0..columns * words {
                let word = word.wrapping_add((i / words).wrapping_mul(further));
                self.words.set(word + i % words * lanes, values[i as usize]);
            }
            column += columns * alike;
            word = word.wrapping_add(columns.wrapping_mul(further));
        }
        while column < self.tile.columns {
            for k in 0..words {
                if whole(k) {
                    self.words.set(word + k * lanes, gather(column, k));
                    continue;
                }
                for i in 0..per_word {
                    if inside(k * lanes * per_word + i) {
                        let value = self.unit(places[k as usize][i as usize], column);
                        self.units.set((word + k * lanes) * per_word + i, value);
                    }
                }
            }
            column += alike;
            word = word.wrapping_add(further);
        }
    }

    #[inline(always)]
    fn unit(&self, place: u32, column: u32) -> U {
        self.shared.get(place + column * self.skew.units)
    }
}

/// Words that a thread gathers.
struct Words {
    /// Their column.
    column: u32,
    /// Where the first unit of the first one is in the output.
    at: u32,
    /// Where their units are in shared memory, without the column.
    places: [[u32; 4]; MOST_GATHERED as usize],
}

/// Which units of the output's rows belong to a tile, counted from the beginning of a sector.
struct Ends {
    from: u32,
    to: u32,
}

impl Ends {
    /// For rows of which the tile's first unit is the one at `shift` of a sector.
    #[inline(always)]
    fn new(layout: &Layout, tile: &Tile, skew: Skew, shift: u32) -> Self {
        // Behind the matrix's last row are only units of the sectors before the tile.
        let (most, least) = (layout.tile_rows as i64, -(skew.halo() as i64) - 1);
        let rows = (layout.rows as i64 - tile.row as i64).clamp(least, most) as i32;
        let to = (rows * skew.units as i32 + shift as i32).clamp(0, (layout.tile_rows * skew.units) as i32);
        Ends { from: if tile.row == 0 { shift } else { 0 }, to: to as u32 }
    }

    #[inline(always)]
    fn contain(&self, unit: u32) -> bool {
        unit >= self.from && unit < self.to
    }
}
