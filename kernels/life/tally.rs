//! Censuses of all generations of a pass of `blocked.rs`, taken from the registers in which their rows are.
//!
//! A lane adds up its words in the rows of its strip, for each generation apart. The key of a row, which all lanes need, is computed by
//! one of them, for 30 rows at a time. The keys of the rows that the levels have during a turn are in registers. They are 0 for rows
//! that belong to other strips.
//!
//! At the end, the lanes exchange sums: each one receives one sum of all lanes, and adds it to that of the board.

use super::blocked::{GENERATIONS, TURN};
use super::hash::both_keys;
use super::{Counts, SUMS, column_keys, hash_terms, row_keys};
use cuda_std::Ordering;
use cuda_std::warp::{FULL, WARP, lane, shuffle, shuffle_xor};

/// Rows whose keys the lanes compute at once: whole turns.
const ROWS: u32 = WARP / TURN as u32 * TURN as u32;

/// Rows that the levels have during a turn.
const KEYS: usize = GENERATIONS as usize + TURN - 1;

/// The sums of a lane.
pub(super) struct Tally {
    /// The first row of the strip, and their number.
    first: u32,
    rows: u32,
    /// The cells of the lane's words that count.
    valid: [u32; 2],
    column: [u32; 2],
    /// Keys of the rows of a turn: those of the last level in the first row, to that of the first level in the last row.
    keys: [u32; KEYS],
    /// The lane's own key.
    key: u32,
    population: [u32; GENERATIONS as usize],
    hash: [[u64; 2]; GENERATIONS as usize],
}

impl Tally {
    /// Returns the sums before the first row of a strip. `word` is the column of the lane's words. Those of other strips have no
    /// `valid` cells.
    #[inline(always)]
    pub(super) fn new(first: u32, rows: u32, valid: [u32; 2], word: u32) -> Self {
        let column = if valid[0] == 0 { [0; 2] } else { column_keys(word) };
        let (population, hash) = ([0; GENERATIONS as usize], [[0; 2]; GENERATIONS as usize]);
        Tally { first, rows, valid, column, keys: [0; KEYS], key: 0, population, hash }
    }

    /// Counts a word of level `level` in row `turn` of a turn.
    #[inline(always)]
    pub(super) fn count(&mut self, level: usize, turn: usize, row: [u32; 2]) {
        let key = self.keys[GENERATIONS as usize - 1 - level + turn];
        // Without a key, nothing is added.
        let is_own = 0u32.wrapping_sub((key != 0) as u32);
        let word = [row[0] & self.valid[0] & is_own, row[1] & self.valid[1] & is_own];
        let [a, b] = hash_terms(word, both_keys(key), self.column);
        let [sum_a, sum_b] = self.hash[level];
        self.hash[level] = [sum_a.wrapping_add(a), sum_b.wrapping_add(b)];
        self.population[level] += word[0].count_ones() + word[1].count_ones();
    }

    /// Goes on to the turn that begins when `done` rows were taken. All lanes must call this.
    #[inline(always)]
    pub(super) fn turn(&mut self, done: u32) {
        let mut k = 0;
        while k < KEYS - TURN {
            self.keys[k] = self.keys[k + TURN];
            k += 1;
        }
        // The first level returns a row after it took the next one.
        let next = done.wrapping_sub(GENERATIONS + 1);
        let index = next % ROWS;
        if index == 0 {
            let row = next.wrapping_add(lane());
            self.key = if row < self.rows { row_keys(self.first + row)[0] } else { 0 };
        }
        let mut turn = 0;
        while turn < TURN {
            self.keys[k + turn] = shuffle(FULL, self.key, index + turn as u32);
            turn += 1;
        }
    }

    /// Adds the sums of the warp to those of the board. Bit `t` of `levels` tells whether the census of level `t` is taken. All lanes must
    /// call this.
    #[inline(always)]
    pub(super) fn add_to(&self, counts: &Counts, levels: u32) {
        let mut sums = [0u64; WARP as usize];
        let mut level = 0;
        while level < GENERATIONS as usize {
            sums[SUMS * level] = self.population[level] as u64;
            sums[SUMS * level + 1] = self.hash[level][0];
            sums[SUMS * level + 2] = self.hash[level][1];
            level += 1;
        }
        // Lanes that differ in one bit give each other half of their sums.
        let mut half = WARP / 2;
        while half > 0 {
            let is_upper = lane() & half != 0;
            let mut k = 0;
            while k < half as usize {
                let (lower, upper) = (sums[k], sums[k + half as usize]);
                let (kept, given) = if is_upper { (upper, lower) } else { (lower, upper) };
                sums[k] = kept.wrapping_add(shuffle_xor(FULL, given, half));
                k += 1;
            }
            half /= 2;
        }
        let level = lane() / SUMS as u32;
        let before = (levels & ((1 << (level % 32)) - 1)).count_ones();
        let place = counts.first + before as u64 * SUMS as u64 + lane() as u64 % SUMS as u64;
        counts.sums.add_if(levels >> level & 1 == 1, place, sums[0], Ordering::Relaxed);
    }
}
