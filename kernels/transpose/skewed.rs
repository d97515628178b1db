//! Kernels with a tile in shared memory for matrices whose rows begin anywhere.
//!
//! Memory is written in sectors of 32 bytes, and what two blocks write of one is slow. Where rows of the output begin
//! at other places of sectors than others, so do their elements. So a block writes, of each of its rows, the sectors
//! from a certain one on to a certain other one, and needs some of the input's rows before its tile's first one, the
//! *halo*: enough for a sector but for one unit.
//!
//! All that is moved are whole words, also of elements of 1, 2, 3 or 6 bytes. The threads bring the rows to shared
//! memory as they lie in global memory, from the word on in which the tile begins: so each row is shifted by what its
//! first word has before the tile. They wait, and then gather words of the columns, unit by unit, and write them
//! (`columns.rs`). From one row to the next that a thread brings, shifts stay the same, so next to nothing is left to
//! compute for a word. If nothing lies between the rows of a tile, but words belong to two of them, the tile is brought
//! as the one run of words that it is: no word is brought twice, and all threads have the same to do.
//!
//! Shared memory: neighbouring lanes write neighbouring words of a row, and meet only where it is so short that a warp
//! writes several. They read what is one word further in the column: from rows that are as many apart as a word has
//! units, which therefore follow each other in shared memory. These are an odd number of words apart, or, if elements
//! have several words, a number that makes elements below each other neighbours among the banks; so the lanes do not
//! meet. Of elements of 3 bytes, lanes read from three rows out of four, of 6 bytes from all, and in wide tiles half a
//! warp from the next column, which begins elsewhere: with the distances in `geometry.rs`, that makes two wavefronts. In a
//! run, rows are as far apart as in the matrix. What the lanes read is as many words apart as a row has units, an odd number
//! or twice one, which makes one or two wavefronts; of elements of 3 and 6 bytes mostly two or three.

use super::columns::Columns;
use super::tile::Tile;
use super::{Layout, Places, SkewedArgs};
use cuda_std::{Arena, Shared, Value, math, thread};

/// The most words that a thread brings at a time.
const MOST_LOADS_AT_ONCE: usize = 18;

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

    /// Units that make whole words and whole elements.
    pub(super) const fn period(&self) -> u32 {
        self.units * self.per_word
    }

    /// A block has a table of the places of so many units of a column: see `columns.rs`.
    pub(super) const fn table_len(&self) -> u32 {
        2 * self.period()
    }

    /// The rows before a tile that its block needs.
    pub(super) const fn halo(&self) -> u32 {
        (self.per_sector() - 1).div_ceil(self.units)
    }

    /// The words that a thread brings at a time, so that enough of them are under way: 72 bytes.
    pub(super) const fn loads_at_once(&self) -> u32 {
        72 / self.bytes
    }
}

impl Places {
    #[inline(always)]
    fn is_run(&self) -> bool {
        self.rows == 0
    }
}

/// Which rows of a tile, and of those before it, there are.
pub(super) struct Rows {
    /// So many of the halo's rows would be before the matrix.
    pub(super) skipped: u32,
    /// How many there are.
    pub(super) count: u32,
    /// The first unit of the first one, counted from the input's.
    first: u64,
    /// The first unit of the halo's first row, whether it exists or not, in its word.
    shift: u32,
}

impl Rows {
    #[inline(always)]
    fn new(layout: &Layout, tile: &Tile, skew: Skew) -> Self {
        let halo = skew.halo();
        let skipped = if tile.row < halo as u64 { halo - tile.row as u32 } else { 0 };
        let count = (layout.rows + halo as u64).saturating_sub(tile.row).min((layout.tile_rows + halo) as u64) as u32;
        let source = tile.source(layout, 1, skew.units);
        let before = (halo - skipped) as u64 * layout.input_pitch;
        let shift = (source as u32).wrapping_sub(halo * layout.input_pitch as u32) % skew.per_word;
        Rows { skipped, count: count.saturating_sub(skipped), first: source.wrapping_sub(before), shift }
    }

    /// Where in shared memory the unit `n` of the tile's first column is, counted from the halo's first row on.
    #[inline(always)]
    fn place<U: Unit>(&self, args: &SkewedArgs<U>, skew: Skew, n: u32) -> u32 {
        let (row, per_word) = (n / skew.units, skew.per_word);
        // In a run, all rows are shifted alike.
        let pitch = if args.places.is_run() { 0 } else { args.layout.input_pitch as u32 };
        let shift = self.shift.wrapping_add(row.wrapping_mul(pitch)) % per_word;
        let start = row % per_word * args.places.row_pitch + row / per_word * args.layout.tile_pitch * per_word;
        start + shift + n % skew.units
    }
}

/// Elements of `UNITS` units.
#[inline(always)]
pub(super) fn transpose<U: Unit, const UNITS: u32>(arena: Arena, args: &SkewedArgs<U>) {
    let skew = Skew { units: UNITS, per_word: U::PER_WORD, bytes: size_of::<U::Joined>() as u32 };
    let layout = &args.layout;
    let (shared, arena) = arena.split::<U::Joined>(args.places.words);
    let (table, _) = arena.split::<u32>(skew.table_len());
    let tile = Tile::of_block(layout);
    // The same for all threads of the block.
    if tile.columns == 0 {
        return;
    }
    let rows = Rows::new(layout, &tile, skew);
    load(&shared, args, &tile, &rows, skew);
    if thread::thread_idx_x() < skew.table_len() {
        table.set(thread::thread_idx_x(), rows.place(args, skew, thread::thread_idx_x()));
    }
    thread::sync_threads();
    let shared = shared.cast::<U>();
    Columns::new(&shared, &table, args, &tile, &rows, skew).store();
}

/// The words that a thread brings: some of every so many rows, or every so many words of a run.
struct Way {
    /// Of a row, this one and those that are `beside`, twice `beside` and so on further. A run has one for each thread.
    x: u32,
    beside: u32,
    /// The words of each of the thread's rows; of a run, as many as there are threads.
    width: u32,
    /// The first word of that row, counted from the first one that exists; negative, wrapped around, if that is later.
    word: u32,
    /// How many words further the thread's next row begins.
    word_step: u32,
    /// Where the row is in shared memory, in words, and how far from there the next one.
    place: u32,
    place_step: u32,
}

impl Way {
    #[inline(always)]
    fn new<U: Unit>(args: &SkewedArgs<U>, tile: &Tile, rows: &Rows, skew: Skew) -> Self {
        let (layout, places, per_word) = (&args.layout, &args.places, skew.per_word);
        let (row, beside) = (thread::thread_idx_x() / places.beside, places.beside);
        let x = thread::thread_idx_x() - row * beside;
        let pitch = layout.input_pitch as u32;
        let first = (rows.first as u32 % per_word).wrapping_add(row.wrapping_sub(rows.skipped).wrapping_mul(pitch));
        let word = (first as i32).div_euclid(per_word as i32) as u32;
        if places.is_run() {
            return Way { x, beside, width: beside, word, word_step: beside, place: 0, place_step: beside };
        }
        Way {
            // Threads that are left over have none.
            x: if row < places.rows { x } else { u32::MAX },
            beside,
            width: (first % per_word + tile.columns * skew.units).div_ceil(per_word),
            word,
            word_step: places.rows * pitch / per_word,
            place: row % per_word * places.row_pitch / per_word + row / per_word * layout.tile_pitch,
            place_step: places.rows / per_word * layout.tile_pitch,
        }
    }

    /// Calls `go` with the first word, and its place, of each of so many goes, which are `at_once` words long.
    #[inline(always)]
    fn each(&self, goes: u32, at_once: u32, mut go: impl FnMut(u32, u32)) {
        let mut x = self.x;
        while x < self.width {
            let (mut word, mut place) = (self.word.wrapping_add(x), self.place + x);
            for _ in 0..goes {
                go(word, place);
                word = word.wrapping_add(at_once.wrapping_mul(self.word_step));
                place += at_once * self.place_step;
            }
            x += self.beside;
        }
    }
}

/// Brings the tile's rows, and those before it, to shared memory. There is room for all words that a thread may come to;
/// those that do not exist are not in reach.
#[inline(always)]
fn load<U: Unit>(shared: &Shared<U::Joined>, args: &SkewedArgs<U>, tile: &Tile, rows: &Rows, skew: Skew) {
    let (per_word, at_once) = (skew.per_word, skew.loads_at_once());
    // What is in reach begins at a word, and ends with the one in which the last row does.
    let base = rows.first / per_word as u64;
    let above_last = rows.count.saturating_sub(1) * args.layout.input_pitch as u32;
    let count = (rows.first as u32 % per_word + above_last + tile.columns * skew.units).div_ceil(per_word);
    let words = args.input_words.at(base).first(count).anchored();
    let way = Way::new(args, tile, rows, skew);
    way.each(args.places.goes, at_once, |mut word, mut place| {
        // Indices, not iterators, whose arrays would be in memory.
        let mut loaded = [U::Joined::default(); MOST_LOADS_AT_ONCE];
        let (between, apart) = (math::opaque(way.word_step), math::opaque(way.place_step));
        for k in 0..at_once {
            loaded[k as usize] = words.get_masked(word);
            word = word.wrapping_add(between);
        }
        for k in 0..at_once {
            shared.set(place, loaded[k as usize]);
            place += apart;
        }
    });
    if per_word > 1 && words.len() < count {
        // Of the last word only some units are there.
        let units = args.input.at((base + words.len() as u64) * per_word as u64);
        let rest = U::join(|i| units.get_or(i, U::default()));
        way.each(args.places.goes * at_once, 1, |word, place| {
            if word == words.len() {
                shared.set(place, rest);
            }
        });
    }
}
