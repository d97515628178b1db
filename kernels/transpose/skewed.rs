//! Kernels with a tile in shared memory for matrices whose rows begin anywhere: they still move 16 bytes at a time in
//! global memory, at multiples of 16.
//!
//! Memory is written in sectors of 32 bytes, two packs, and what two blocks write of one is slow. Where rows of the output
//! begin at other places of sectors than others, so do their elements. So a block writes, of each of its rows, the sectors
//! from a certain one on to a certain other one, and needs the input's rows from some before its tile's first one: as many
//! as a sector has elements, but one. At the ends of the output's rows, packs are incomplete and written unit by unit.
//!
//! The threads bring the rows to shared memory, in packs as they lie in global memory and from the one on in which the tile
//! begins: so each row is shifted by what its first pack has before the tile. They wait, gather packs of the output unit by
//! unit, and write them.
//!
//! Shared memory: a place for each row, of an odd number of words. Neighbouring lanes gather from rows that are `ROWS` apart;
//! these have neighbouring places, so that the lanes meet in no bank. Rows that differ by 1 have places an odd number
//! apart, and so the 8 packs of each of 4 rows that a warp brings, word by word, do not meet either.

use super::tile::{Tile, Walk};
use super::{SkewedArgs, THREADS};
use cuda_std::{Arena, Shared, Value, thread};

/// Rows that a thread brings at a time.
const AT_ONCE: usize = 4;

/// Words of a pack.
const WORDS: u32 = 4;

/// A unit, as bits.
pub(super) trait Unit: Value {
    fn bits(self) -> u32;
}

macro_rules! units {
    ($($t:ty)*) => {$(
        impl Unit for $t {
            #[inline(always)]
            fn bits(self) -> u32 {
                self as u32
            }
        }
    )*};
}
units!(u8 u16 u32);

/// How rows of elements of `units` units lie in packs of `per_pack` units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Skew {
    pub(super) units: u32,
    pub(super) per_pack: u32,
}

impl Skew {
    /// The units of a sector.
    pub(super) const fn per_sector(&self) -> u32 {
        2 * self.per_pack
    }

    /// The rows before a tile that its block needs.
    pub(super) const fn halo(&self) -> u32 {
        (self.per_sector() - 1).div_ceil(self.units)
    }

    /// How many rows are apart what neighbouring lanes gather; of elements of three units most of them. A power of two.
    pub(super) const fn rows(&self) -> u32 {
        match self.units {
            3 => self.per_pack,
            units => self.per_pack / units,
        }
    }
}

/// Elements of `UNITS` units, packs of `PER_PACK`.
#[inline(always)]
pub(super) fn transpose<U: Unit, const UNITS: u32, const PER_PACK: u32>(arena: Arena, args: &SkewedArgs<U>) {
    let skew = Skew { units: UNITS, per_pack: PER_PACK };
    let layout = &args.layout;
    let words = skew.rows() * args.places * layout.tile_pitch;
    let (shared, _) = arena.split::<u32>(words);
    let tile = Tile::of_block(layout);
    // Of the first row, which may be before the matrix's: only what is left of it in packs matters then.
    let halo = skew.halo();
    let source = tile.source(layout, 1, UNITS).wrapping_sub(halo as u64 * layout.input_pitch);
    load::<U, UNITS, PER_PACK>(&shared, args, &tile, source);
    let (shared, _) = shared.reuse().split::<U>(words * (PER_PACK / WORDS));
    store::<U, UNITS, PER_PACK>(&shared, args, &tile, source);
}

/// The place of a row in shared memory.
#[inline(always)]
fn place<U: Unit>(args: &SkewedArgs<U>, skew: Skew, line: u32) -> u32 {
    line % skew.rows() * args.places + line / skew.rows()
}

/// Brings the tile's rows, and those before it, to shared memory.
#[inline(always)]
fn load<U: Unit, const UNITS: u32, const PER_PACK: u32>(
    shared: &Shared<u32>,
    args: &SkewedArgs<U>,
    tile: &Tile,
    source: u64,
) {
    let skew = Skew { units: UNITS, per_pack: PER_PACK };
    let (layout, halo) = (&args.layout, skew.halo());
    let (t, beside) = (thread::thread_idx_x(), 1 << args.beside_log2);
    let rows_at_once = THREADS >> args.beside_log2;
    let lines = layout.tile_rows + halo;
    let mut x = t % beside;
    while x * PER_PACK < tile.columns * UNITS + PER_PACK - 1 {
        let mut line = t >> args.beside_log2;
        while line < lines {
            let mut packs = [[0; WORDS as usize]; AT_ONCE];
            for (k, loaded) in packs.iter_mut().enumerate() {
                let line = line + k as u32 * rows_at_once;
                let row = (tile.row + line as u64).wrapping_sub(halo as u64);
                let first = source.wrapping_add(line as u64 * layout.input_pitch);
                let shift = first as u32 % PER_PACK;
                if line < lines && row < layout.rows && x * PER_PACK < shift + tile.columns * UNITS {
                    *loaded = pack::<U, PER_PACK>(args, first / PER_PACK as u64 + x as u64);
                }
            }
            for (k, loaded) in packs.into_iter().enumerate() {
                let line = line + k as u32 * rows_at_once;
                if line < lines {
                    let at = place(args, skew, line) * layout.tile_pitch + x * WORDS;
                    for (word, value) in loaded.into_iter().enumerate() {
                        shared.set(at + word as u32, value);
                    }
                }
            }
            line += AT_ONCE as u32 * rows_at_once;
        }
        x += beside;
    }
}

/// Pack `i` of the input, or as much of it as there is.
#[inline(always)]
fn pack<U: Unit, const PER_PACK: u32>(args: &SkewedArgs<U>, i: u64) -> [u32; WORDS as usize] {
    let word = i * WORDS as u64;
    if word + (WORDS as u64) <= args.input_words.len() {
        return args.input_words.get4(word);
    }
    let mut words = [0; WORDS as usize];
    for unit in 0..PER_PACK {
        let bits = args.input.get_or(i * PER_PACK as u64 + unit as u64, U::default()).bits();
        set_unit::<PER_PACK>(&mut words, unit, bits);
    }
    words
}

/// Makes unit `unit` of a pack of zeros the given one.
#[inline(always)]
fn set_unit<const PER_PACK: u32>(words: &mut [u32; WORDS as usize], unit: u32, bits: u32) {
    let per_word = PER_PACK / WORDS;
    words[(unit / per_word) as usize] |= bits << (32 / per_word * (unit % per_word));
}

/// Writes the packs of the tile's columns.
#[inline(always)]
fn store<U: Unit, const UNITS: u32, const PER_PACK: u32>(
    shared: &Shared<U>,
    args: &SkewedArgs<U>,
    tile: &Tile,
    source: u64,
) {
    let skew = Skew { units: UNITS, per_pack: PER_PACK };
    let layout = &args.layout;
    let (pitch, row_units) = (layout.tile_pitch * (PER_PACK / WORDS), layout.rows * UNITS as u64);
    let first_unit = tile.row * UNITS as u64;
    let begin = tile.matrix * layout.output_matrix + tile.column * layout.output_pitch;
    let mut at = Walk::new(layout.tile_rows * UNITS / PER_PACK);
    while at.line < tile.columns {
        let row = begin + at.line as u64 * layout.output_pitch;
        let shift = row as u32 % skew.per_sector();
        // Of the row, and of what is in shared memory.
        let unit = (first_unit + (at.place * PER_PACK) as u64).wrapping_sub(shift as u64);
        let gathered = at.place * PER_PACK + skew.halo() * UNITS - shift;
        let get = |k: u32| {
            let (line, unit) = ((gathered + k) / UNITS, (gathered + k) % UNITS);
            let shift = (source as u32).wrapping_add(line * layout.input_pitch as u32) % PER_PACK;
            shared.get(place(args, skew, line) * pitch + shift + at.line * UNITS + unit)
        };
        if unit < row_units && unit + (PER_PACK as u64) <= row_units {
            let mut words = [0; WORDS as usize];
            for k in 0..PER_PACK {
                set_unit::<PER_PACK>(&mut words, k, get(k).bits());
            }
            args.output_words.set4((row + unit) / PER_PACK as u64 * WORDS as u64, words);
        } else {
            for k in 0..PER_PACK {
                let unit = unit.wrapping_add(k as u64);
                if unit < row_units {
                    args.output.set(row + unit, get(k));
                }
            }
        }
        at.step();
    }
}
