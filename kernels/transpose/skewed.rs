//! Kernels with a tile in shared memory for matrices whose rows begin anywhere.
//!
//! Memory is written in sectors of 32 bytes, and what two blocks write of one is slow. Where rows of the output begin
//! at other places of sectors than others, so do their elements. So a block writes, of each of its rows, the sectors
//! from a certain one on to a certain other one, and needs the input's rows from some before its tile's first one: as
//! many as a sector has elements, but one. Elements of 3 and 6 bytes have to begin where these sectors do, which they
//! do in every third one; so the rows are as many as three sectors have elements, but one.
//!
//! All that is moved are whole words, also of elements of 1, 2, 3 or 6 bytes. The threads bring the rows to shared
//! memory as they lie in global memory, from the word on in which the tile begins: so each row is shifted by what its
//! first word has before the tile. They wait, and then gather words of the columns, unit by unit, and write them
//! (`columns.rs`). From one row to the next that a thread brings, shifts stay the same, so next to nothing is left to
//! compute for a word. Of matrices with few columns and no gaps, as many rows as a word has units are brought as one
//! line, so that no word is brought for each of the rows of which it has a part.
//!
//! Shared memory: a place for each row, or line. Neighbouring lanes write neighbouring words of a row, and meet only
//! where it is so short that a warp writes several. They read what is one word further in the column: from rows that
//! are as many apart as a word has units, which therefore have neighbouring places. Places are an odd number of words
//! apart, or, if elements have several words, a number that makes elements below each other neighbours among the banks.
//! So the lanes do not meet, but for elements of 3 and 6 bytes. Of these, a warp reads from three rows out of four, or
//! of two; in wide tiles rows that follow each other are one bank apart, and those as many further as a word has units
//! are three, which leaves fewer than two wavefronts on average.

use super::columns::Columns;
use super::tile::Tile;
use super::{Layout, SkewedArgs, THREADS};
use cuda_std::{Arena, Shared, Value, math, thread};

/// The most words that a thread brings at a time.
const MOST_LOADS_AT_ONCE: usize = 20;

/// Bytes of a sector.
pub(super) const SECTOR: u32 = 32;

/// A unit, of which one or several make a word.
pub trait Unit: Value {
    /// What is moved at a time.
    type Joined: Value;
    /// The units of a word.
    const PER_WORD: u32 = (size_of::<Self::Joined>() / size_of::<Self>()) as u32;

    /// The word of the given units.
    fn join(unit: impl Fn(u32) -> Self) -> Self::Joined;

    /// A unit of a word.
    fn of(word: Self::Joined, i: u32) -> Self;
}

macro_rules! units {
    ($($unit:ty: $word:ty;)*) => {$(
        impl Unit for $unit {
            type Joined = $word;
            #[inline(always)]
            fn join(unit: impl Fn(u32) -> Self) -> $word {
                let mut word = 0;
                for i in 0..Self::PER_WORD {
                    word |= (unit(i) as $word) << (<$unit>::BITS * i);
                }
                word
            }
            #[inline(always)]
            fn of(word: $word, i: u32) -> $unit {
                (word >> (<$unit>::BITS * i)) as $unit
            }
        }
    )*};
}
units! {
    u8: u32;
    u16: u32;
    u32: u32;
    u64: u64;
}

/// How rows of elements of `units` units lie in words of `per_word` units and `bytes` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Skew {
    pub(super) units: u32,
    pub(super) per_word: u32,
    pub(super) bytes: u32,
}

impl Skew {
    /// The units of a sector, a power of two.
    pub(super) const fn per_sector(&self) -> u32 {
        SECTOR / self.bytes * self.per_word
    }

    /// In how many ways the words of a column are made of elements, and of parts of them.
    pub(super) const fn kinds(&self) -> u32 {
        if self.units == 3 { 3 } else { 1 }
    }

    /// Whether a block has to begin its columns with whole elements, for all of them to be made of words of the same kinds.
    const fn whole_elements(&self) -> bool {
        self.units == 3 && self.per_word > 1
    }

    /// The rows before a tile that its block needs.
    pub(super) const fn halo(&self) -> u32 {
        let sectors = if self.whole_elements() { self.units } else { 1 };
        (sectors * (self.per_sector() - 1)).div_ceil(self.units)
    }

    /// How far after the unit at `place` of a sector a block may begin a column, in units, and in rows that are whole.
    #[inline(always)]
    pub(super) fn until_start(&self, place: u32) -> [u32; 2] {
        if self.whole_elements() {
            // 3 * 21 is -1, modulo sectors of up to 32 units.
            let rows = place.wrapping_mul(21) % self.per_sector();
            [3 * rows, rows]
        } else {
            let units = place.wrapping_neg() % self.per_sector();
            [units, units / self.units]
        }
    }

    /// The words that a thread brings at a time, so that enough of them are under way: 72 bytes, or so many that all
    /// rows come in one or two goes.
    pub(super) const fn loads_at_once(&self) -> u32 {
        if self.units == 3 && self.per_word > 1 { 20 } else { 72 / self.bytes }
    }
}

/// The rows of a tile, and those before it that there are.
pub(super) struct Lines {
    /// So many of the halo's rows would be before the matrix.
    pub(super) skipped: u32,
    /// How many there are.
    pub(super) count: u32,
    /// The first unit of the first one, counted from the input's.
    first: u64,
    /// The first unit of the halo's first row, whether it exists or not, in its word.
    shift: u32,
}

impl Lines {
    #[inline(always)]
    fn new(layout: &Layout, tile: &Tile, skew: Skew) -> Self {
        let halo = skew.halo();
        let skipped = if tile.row < halo as u64 { halo - tile.row as u32 } else { 0 };
        let count = (layout.rows + halo as u64).saturating_sub(tile.row).min((layout.tile_rows + halo) as u64) as u32;
        let source = tile.source(layout, 1, skew.units);
        let before = (halo - skipped) as u64 * layout.input_pitch;
        let shift = (source as u32).wrapping_sub(halo * layout.input_pitch as u32) % skew.per_word;
        Lines { skipped, count: count.saturating_sub(skipped), first: source.wrapping_sub(before), shift }
    }

    /// What the row `row` after the halo's first one is shifted by. Rows of one line follow each other without a gap,
    /// and are as many as a word has units: these are shifted alike.
    #[inline(always)]
    pub(super) fn shift<U: Unit>(&self, args: &SkewedArgs<U>, skew: Skew, row: u32) -> u32 {
        let further = if args.places.line_log2 > 0 { 0 } else { args.layout.input_pitch as u32 };
        self.shift.wrapping_add(row.wrapping_mul(further)) % skew.per_word
    }
}

/// Elements of `UNITS` units.
#[inline(always)]
pub(super) fn transpose<U: Unit, const UNITS: u32>(arena: Arena, args: &SkewedArgs<U>) {
    let skew = Skew { units: UNITS, per_word: U::PER_WORD, bytes: size_of::<U::Joined>() as u32 };
    let layout = &args.layout;
    let (shared, _) = arena.split::<U::Joined>(args.places.words);
    let tile = Tile::of_block(layout);
    // The same for all threads of the block.
    if tile.columns == 0 {
        return;
    }
    let lines = Lines::new(layout, &tile, skew);
    load(&shared, args, &tile, &lines, skew);
    let (shared, _) = shared.reuse().split::<U>(args.places.words * U::PER_WORD);
    Columns::new(&shared, args, &tile, &lines, skew).store();
}

/// The way of a thread through the words of the lines: so many neighbouring threads take those of a line, and the next ones
/// the next line.
struct Way {
    /// The first row of the first line, counted from the halo's first one.
    row: u32,
    /// From a line to the next one.
    rows: u32,
    /// The first word of the first line, counted from the first one that exists; negative, wrapped around, if that is later.
    word: u32,
    words: u32,
    /// The words of the lines that begin where the first one does.
    width: u32,
    /// Where the first line is in shared memory, in words.
    place: u32,
    places: u32,
}

impl Way {
    #[inline(always)]
    fn new<U: Unit>(args: &SkewedArgs<U>, tile: &Tile, lines: &Lines, skew: Skew) -> Self {
        let (layout, per_word) = (&args.layout, skew.per_word);
        let row = thread::thread_idx_x() >> args.places.beside_log2 << args.places.line_log2;
        let rows = THREADS >> args.places.beside_log2 << args.places.line_log2;
        let pitch = layout.input_pitch as u32;
        let first = (lines.first as u32 % per_word).wrapping_add(row.wrapping_sub(lines.skipped).wrapping_mul(pitch));
        let units = tile.columns * skew.units + ((1 << args.places.line_log2) - 1) * pitch;
        Way {
            row,
            rows,
            word: (first as i32).div_euclid(per_word as i32) as u32,
            words: rows * pitch / per_word,
            width: (first % per_word + units).div_ceil(per_word),
            place: row % per_word * args.places.row_pitch / per_word + row / per_word * layout.tile_pitch,
            places: rows / per_word * layout.tile_pitch,
        }
    }
}

/// Brings the tile's rows, and those before it, to shared memory. There is room for all rows that a thread may come to;
/// those that do not exist are not in reach.
#[inline(always)]
fn load<U: Unit>(shared: &Shared<U::Joined>, args: &SkewedArgs<U>, tile: &Tile, lines: &Lines, skew: Skew) {
    let (layout, per_word) = (&args.layout, skew.per_word);
    // What is in reach begins at a word, and ends with the one in which the last row does.
    let base = lines.first / per_word as u64;
    let rows = lines.count.saturating_sub(1) * layout.input_pitch as u32;
    let count = (lines.first as u32 % per_word + rows + tile.columns * skew.units).div_ceil(per_word);
    let words = args.input_words.at(base).first(count).anchored();
    let way = Way::new(args, tile, lines, skew);
    let beside = 1 << args.places.beside_log2;
    let mut x = thread::thread_idx_x() % beside;
    while x < way.width {
        let (mut row, mut word, mut place) = (way.row, way.word.wrapping_add(x), way.place + x);
        while row < layout.tile_rows + skew.halo() {
            // Indices, not iterators, whose arrays would be in memory.
            let mut loaded = [U::Joined::default(); MOST_LOADS_AT_ONCE];
            let (between, apart) = (math::opaque(way.words), math::opaque(way.places));
            for k in 0..skew.loads_at_once() {
                loaded[k as usize] = words.get_masked(word);
                word = word.wrapping_add(between);
            }
            for k in 0..skew.loads_at_once() {
                shared.set(place, loaded[k as usize]);
                place += apart;
            }
            row += skew.loads_at_once() * way.rows;
        }
        x += beside;
    }
    if per_word > 1 && words.len() < count {
        load_rest(shared, args, &way, words.len(), base, skew);
    }
}

/// Brings the word `rest`, of which only some units are there.
#[inline(always)]
fn load_rest<U: Unit>(shared: &Shared<U::Joined>, args: &SkewedArgs<U>, way: &Way, rest: u32, base: u64, skew: Skew) {
    let units = args.input.at((base + rest as u64) * skew.per_word as u64);
    let value = U::join(|i| units.get_or(i, U::default()));
    let beside = 1 << args.places.beside_log2;
    let mut x = thread::thread_idx_x() % beside;
    while x < way.width {
        let (mut row, mut word, mut place) = (way.row, way.word.wrapping_add(x), way.place + x);
        while row < args.layout.tile_rows + skew.halo() {
            if word == rest {
                shared.set(place, value);
            }
            row += way.rows;
            word = word.wrapping_add(way.words);
            place += way.places;
        }
        x += beside;
    }
}
