//! Loads the rows of a skewed tile into shared memory.

use super::rows::Rows;
use super::unit::{Skew, Unit};
use crate::transpose::SkewedArgs;
use crate::transpose::tile::Tile;
use cuda_std::{Shared, math, thread};

/// Maximum number of loads that a thread has in flight.
const MOST_LOADS_AT_ONCE: usize = 18;

/// The words that a thread copies: some words of every `places.rows`-th row. A run is treated as rows with one word per
/// thread.
struct Way {
    /// The thread's first word in each of its rows. The next ones are `threads_per_row` words apart.
    x: u32,
    threads_per_row: u32,
    /// Words per row.
    width: u32,
    /// First word of the thread's first row, counted from the first word that exists. Negative, as a wrapped number, if it is
    /// before that.
    word: u32,
    /// Distance in words between the thread's rows.
    word_step: u32,
    /// Position in shared memory of the thread's first row, in words.
    place: u32,
    /// Distance in shared memory between the thread's rows, in words.
    place_step: u32,
}

impl Way {
    #[inline(always)]
    fn new<U: Unit>(args: &SkewedArgs<U>, tile: &Tile, rows: &Rows, skew: Skew) -> Self {
        let (layout, places, per_word) = (&args.layout, &args.places, skew.per_word);
        let (row, threads_per_row) = (thread::thread_idx_x() / places.threads_per_row, places.threads_per_row);
        let x = thread::thread_idx_x() - row * threads_per_row;
        let pitch = layout.input_pitch as u32;
        let first = (rows.first as u32 % per_word).wrapping_add(row.wrapping_sub(rows.skipped).wrapping_mul(pitch));
        let word = (first as i32).div_euclid(per_word as i32) as u32;
        if places.is_run() {
            return Way {
                x,
                threads_per_row,
                width: threads_per_row,
                word,
                word_step: threads_per_row,
                place: 0,
                place_step: threads_per_row,
            };
        }
        Way {
            // Surplus threads have no words.
            x: if row < places.rows { x } else { u32::MAX },
            threads_per_row,
            width: (first % per_word + tile.columns * skew.units).div_ceil(per_word),
            word,
            word_step: places.rows * pitch / per_word,
            place: row % per_word * places.row_pitch / per_word + row / per_word * layout.tile_pitch,
            place_step: places.rows / per_word * layout.tile_pitch,
        }
    }

    /// Calls `go` with the first word of each pass of `at_once` words, and with its position in shared memory.
    #[inline(always)]
    fn each(&self, passes: u32, at_once: u32, mut go: impl FnMut(u32, u32)) {
        let mut x = self.x;
        while x < self.width {
            let (mut word, mut place) = (self.word.wrapping_add(x), self.place + x);
            for _ in 0..passes {
                go(word, place);
                word = word.wrapping_add(at_once.wrapping_mul(self.word_step));
                place += at_once * self.place_step;
            }
            x += self.threads_per_row;
        }
    }
}

/// Loads the rows of the tile and its halo into shared memory, which has room for the words of all passes. Words before the
/// first row and after the last row are outside of the window `words`, so they are not loaded.
#[inline(always)]
pub(super) fn load<U: Unit>(shared: &Shared<U::Joined>, args: &SkewedArgs<U>, tile: &Tile, rows: &Rows, skew: Skew) {
    let (per_word, at_once) = (skew.per_word, skew.loads_at_once());
    // The window begins with the word that contains the first row's start, and ends with that of the last row's end.
    let base = rows.first / per_word as u64;
    let above_last = rows.count.saturating_sub(1) * args.layout.input_pitch as u32;
    let count = (rows.first as u32 % per_word + above_last + tile.columns * skew.units).div_ceil(per_word);
    let words = args.input_words.at(base).first(count).anchored();
    let way = Way::new(args, tile, rows, skew);
    way.each(args.places.passes, at_once, |mut word, mut place| {
        // Indices, because with iterators the array would be in local memory instead of registers.
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
        // The input ends in the middle of the last word.
        let units = args.input.at((base + words.len() as u64) * per_word as u64);
        let rest = U::join(|i| units.get_or(i, U::default()));
        way.each(args.places.passes * at_once, 1, |word, place| {
            if word == words.len() {
                shared.set(place, rest);
            }
        });
    }
}
