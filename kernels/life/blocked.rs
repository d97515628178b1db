//! The kernel that computes eight generations in each pass over the board, with a bit for each cell.
//!
//! A warp goes down a strip of the board. Each lane has a word of 64 cells of a row, and all generations of a pass are in its
//! registers. When a row comes in, the row above it can be computed in the next generation, and the row above that in the one after
//! the next:
//!
//! ```text
//!                 generation 0    1     2         8
//!  row r - 8                                      x  -> output
//!   …                                           …
//!  row r - 2                            x
//!  row r - 1                      x
//!  row r      input ->      x
//! ```
//!
//! Each [`Level`] takes a row of its generation and returns a row of the next one. It remembers the last two rows that it took: the
//! sums of each cell and its two neighbours in the row, and the cells themselves. The neighbours of a word come from the lanes
//! beside it.
//!
//! Words at the ends of a warp miss some neighbours, so a strip has a halo of a word on the left and on the right, in the first
//! lane and in the last one: in eight generations, wrong cells come eight columns closer. Above and below, a strip has a halo of
//! eight rows. Beyond the ends of the board, the halo has what the topology has there. Cells that are dead in all generations
//! are cleared in each; other topologies go on computing there as on the board.
//!
//! The board is shared by the warps of the grid: first the strips of the upper rows, then those below. A warp loads rows some
//! steps before it needs them. Shared memory is not used.
//!
//! Without a census, a block is a single warp. With one, a block has the warps of a whole multiprocessor, and its last warps take a
//! [census] of the input meanwhile. The warps of the pass leave the units idle that a census needs: those that load and multiply.
//! Separate blocks for the census are slower: some schedulers then have more warps of the pass than others, and the pass takes as
//! long as those.
//!
//! Other kernels count any of the eight generations of a pass, while their rows are in registers ([`tally`](super::tally)).

use super::place::{Warps, across_and_down};
use super::rule::{Sum, sum_of_rows};
use super::tally::Tally;
use super::{BlockedArgs, Board, Ends, census, packed};
use cuda_std::warp::{FULL, WARP, lane, shuffle, shuffle_down, shuffle_up};
use cuda_std::{GlobalIn2, thread};

/// Generations of a pass.
pub const GENERATIONS: u32 = 8;

/// Cells of a lane in a row.
const CELLS: u32 = 64;

/// Words of a strip, without its halo.
const WORDS: u32 = WARP - 2;

/// Columns of a strip, without its halo.
pub(super) const COLUMNS: u32 = WORDS * CELLS;

/// Rows per turn of the main loop. During a turn, the rows of the next turn are loaded. A level holds two rows and takes a third, so
/// after three rows each register has its first role again, and no values move between registers.
pub(super) const TURN: usize = 3;

/// Computes the words of a thread, or takes a part of the census. `rule` returns the next generation for the sums and the cells. `BOUNDED`
/// means that the rows above and below the board are dead, and `CENSUS` that generations of the pass are counted.
#[inline(always)]
pub(super) fn step<const BOUNDED: bool, const CENSUS: bool>(args: &BlockedArgs, rule: impl Fn(Sum<u32>, u32) -> u32) {
    let board = &args.board;
    // The first lane tells its warp to the others, because the compiler then knows that it is the same for all.
    let warp = shuffle(FULL, thread::thread_idx_y(), 0);
    let warps = thread::block_dim_y() - args.census_warps;
    if warp >= warps {
        return census::count_bits(&args.input, &args.counts, Warps::of_blocks(args.census_warps, warp - warps));
    }
    let Warps { index, count } = Warps::of_blocks(warps, warp);
    let strips = board.columns.div_ceil(COLUMNS).max(1);
    let height = board.rows.div_ceil((count / strips).max(1));
    let [across, down] = across_and_down(index, strips);
    let first = down.saturating_mul(height);
    if first >= board.rows {
        return;
    }
    let strip = Strip { first, rows: height.min(board.rows - first), left: across * COLUMNS };
    let halo = Halo::new::<BOUNDED>(board, &strip);
    if strip.is_direct(board) {
        Pass::new(args, strip, Direct::<BOUNDED>::new(args, &halo)).run::<BOUNDED, CENSUS>(rule);
    } else {
        Pass::new(args, strip, Extended::<BOUNDED>::new(args, &halo)).run::<BOUNDED, CENSUS>(rule);
    }
}

/// The way of a warp down its strip.
struct Pass<'a, S: Source> {
    args: &'a BlockedArgs<'a>,
    strip: Strip,
    source: S,
    /// The next rows.
    rows: [S::Row; TURN],
    levels: [Level; GENERATIONS as usize],
    /// The censuses of the pass.
    tally: Tally,
    /// Number of rows that were taken, from the first one of the halo on.
    done: u32,
}

impl<'a, S: Source> Pass<'a, S> {
    #[inline(always)]
    fn new(args: &'a BlockedArgs<'a>, strip: Strip, mut source: S) -> Self {
        let rows = source.next_rows();
        let valid = if strip.is_useful(&args.board) { strip.valid(&args.board) } else { [0; 2] };
        let tally = Tally::new(strip.first, strip.rows, valid, strip.column() / CELLS);
        Pass { args, strip, source, rows, levels: [Level::default(); GENERATIONS as usize], tally, done: 0 }
    }

    /// Computes eight generations. Level `t`, counted from 0, uses no row before row `2 * t`, so the first rows need only some levels.
    /// They have a loop of their own, because each loop is a copy of all its levels: a third one is not worth its instructions.
    #[inline(always)]
    fn run<const BOUNDED: bool, const CENSUS: bool>(mut self, rule: impl Fn(Sum<u32>, u32) -> u32) {
        let end = self.strip.rows + 2 * GENERATIONS;
        self.take::<BOUNDED, CENSUS, 6>(2 * 6, end, &rule);
        self.take::<BOUNDED, CENSUS, GENERATIONS>(end, end, &rule);
        if CENSUS {
            self.tally.add_to(&self.args.counts, self.args.counted);
        }
    }

    /// Takes rows with `LEVELS` levels, [`TURN`] at a time, until `until` rows were taken. There are `end` rows.
    #[inline(always)]
    fn take<const BOUNDED: bool, const CENSUS: bool, const LEVELS: u32>(
        &mut self,
        until: u32,
        end: u32,
        rule: &impl Fn(Sum<u32>, u32) -> u32,
    ) {
        // A turn must not take rows that need more levels.
        const { assert!(LEVELS == GENERATIONS || (2 * LEVELS as usize).is_multiple_of(TURN)) };
        let (board, strip) = (&self.args.board, &self.strip);
        let (column, valid, is_useful) = (strip.column(), strip.valid(board), strip.is_useful(board));
        while self.done < until {
            let mut words = [[0; 2]; TURN];
            let mut turn = 0;
            while turn < TURN {
                words[turn] = self.source.word(&self.rows[turn]);
                turn += 1;
            }
            // The condition also keeps the compiler from loading late, after the levels are computed.
            if self.done + (TURN as u32) < end {
                self.rows = self.source.next_rows();
            }
            if CENSUS {
                self.tally.turn(self.done);
            }
            let mut turn = 0;
            while turn < TURN {
                let mut row = words[turn];
                let mut t = 0;
                while t < LEVELS {
                    // Only in the loop of the first rows, because tests keep the compiler from reordering instructions.
                    if LEVELS < GENERATIONS && t % 3 == 0 && self.done < 2 * t {
                        break;
                    }
                    row = self.levels[t as usize].advance(row, rule);
                    if BOUNDED {
                        let is_alive = (strip.first + self.done).wrapping_sub(GENERATIONS + t + 1) < board.rows;
                        let mask = if board.wraps != 0 { [u32::MAX; 2] } else { valid };
                        row = if is_alive { [row[0] & mask[0], row[1] & mask[1]] } else { [0; 2] };
                    }
                    if CENSUS {
                        self.tally.count(t as usize, turn, row);
                    }
                    t += 1;
                }
                if LEVELS == GENERATIONS {
                    let output = self.args.output.row((strip.first + self.done).wrapping_sub(2 * GENERATIONS));
                    let is_complete = (self.done >= 2 * GENERATIONS) & (self.done < end) & is_useful;
                    let row = [row[0] & valid[0], row[1] & valid[1]];
                    output.set_pack_masked(is_complete, column / 32, row);
                }
                self.done += 1;
                turn += 1;
            }
        }
    }
}

/// The strip of a warp, without its halo.
struct Strip {
    /// The first row.
    first: u32,
    /// Number of rows.
    rows: u32,
    /// The first column.
    left: u32,
}

impl Strip {
    /// Returns the column after the lane's word.
    #[inline(always)]
    fn end(&self) -> u32 {
        self.left + lane() * CELLS
    }

    /// Returns the first column of the lane's word. It wraps below 0, to a column that the board does not have.
    #[inline(always)]
    fn column(&self) -> u32 {
        self.end().wrapping_sub(CELLS)
    }

    /// Returns whether the lane's word is part of the strip.
    #[inline(always)]
    fn is_useful(&self, board: &Board) -> bool {
        lane() > 0 && lane() <= WORDS && self.column() < board.columns
    }

    /// Returns the bits of the lane's word that are on the board.
    #[inline(always)]
    fn valid(&self, board: &Board) -> [u32; 2] {
        let cells = board.columns.saturating_sub(self.column());
        let mask = if cells < CELLS { (1u64 << cells) - 1 } else { u64::MAX };
        [mask as u32, (mask >> 32) as u32]
    }

    /// Returns whether every word of the strip and its halo is an aligned word in memory.
    #[inline(always)]
    fn is_direct(&self, board: &Board) -> bool {
        let is_inside = self.left >= CELLS && self.left + COLUMNS + CELLS <= board.columns;
        let is_aligned = board.wraps != 0 && board.columns.is_multiple_of(CELLS);
        let end = self.first + self.rows + GENERATIONS + TURN as u32;
        let is_mirrored = board.ends == Ends::Mirrored as u32 && (self.first < GENERATIONS || end > board.rows);
        (is_inside || is_aligned) && !is_mirrored
    }
}

/// The last two rows of a generation, in a word of 64 cells.
#[derive(Clone, Copy, Default)]
struct Level {
    /// The sums in the last row but one.
    above: [[u32; 2]; 2],
    /// The sums in the last row.
    here: [[u32; 2]; 2],
    /// The last row.
    cells: [u32; 2],
}

impl Level {
    /// Takes the next row, and returns the row above it in the next generation.
    #[inline(always)]
    fn advance(&mut self, row: [u32; 2], rule: &impl Fn(Sum<u32>, u32) -> u32) -> [u32; 2] {
        let [low, high] = row;
        let (left, right) = (shuffle_up(FULL, high, 1), shuffle_down(FULL, low, 1));
        let below = [packed::sums(left, low, high), packed::sums(low, high, right)];
        let next = |k: usize| rule(sum_of_rows(self.above[k], self.here[k], below[k]), self.cells[k]);
        let next = [next(0), next(1)];
        *self = Level { above: self.here, here: below, cells: row };
        next
    }
}

/// Where the halo of a strip begins, for a lane.
#[derive(Clone, Copy)]
struct Halo {
    /// The first row. Beyond the board if it is dead.
    row: u32,
    is_mirrored: bool,
    /// Column of the word's lowest cell. Beyond the board if it is dead.
    column: u32,
}

impl Halo {
    #[inline(always)]
    fn new<const BOUNDED: bool>(board: &Board, strip: &Strip) -> Self {
        let [row, turns] = match BOUNDED {
            true => [strip.first.wrapping_sub(GENERATIONS), 0],
            false => before(strip.first, GENERATIONS, board.rows),
        };
        let column = match board.wraps {
            0 => strip.column(),
            _ => before(strip.end(), CELLS, board.columns)[0],
        };
        Halo { row, is_mirrored: board.ends == Ends::Mirrored as u32 && turns % 2 == 1, column }
    }
}

/// The rows of a strip, from top to bottom. Words are loaded first and used later, because a load takes as long as the computation
/// of several rows.
trait Source {
    /// What is loaded for a row.
    type Row: Copy + Default;

    /// Loads the next row.
    fn load(&mut self) -> Self::Row;

    /// Loads the next rows.
    #[inline(always)]
    fn next_rows(&mut self) -> [Self::Row; TURN] {
        let mut rows = [Self::Row::default(); TURN];
        let mut turn = 0;
        while turn < TURN {
            rows[turn] = self.load();
            turn += 1;
        }
        rows
    }

    /// Returns the word of a row.
    fn word(&self, row: &Self::Row) -> [u32; 2];
}

/// Rows whose words are aligned words in memory.
struct Direct<'a, const BOUNDED: bool> {
    cells: &'a GlobalIn2<'a, u32>,
    /// The next row.
    row: u32,
    /// Index of the word in its row.
    word: u32,
}

impl<'a, const BOUNDED: bool> Direct<'a, BOUNDED> {
    #[inline(always)]
    fn new(args: &'a BlockedArgs<'a>, halo: &Halo) -> Self {
        Direct { cells: &args.input, row: halo.row, word: halo.column / 32 }
    }
}

impl<const BOUNDED: bool> Source for Direct<'_, BOUNDED> {
    type Row = [u32; 2];

    #[inline(always)]
    fn load(&mut self) -> [u32; 2] {
        // There are no rows beyond the ends, which are loaded as zeros.
        let word = self.cells.row(self.row).get_pack_masked(self.word);
        self.row = self.row.wrapping_add(1);
        if !BOUNDED && self.row == self.cells.rows() {
            self.row = 0;
        }
        word
    }

    #[inline(always)]
    fn word(&self, row: &[u32; 2]) -> [u32; 2] {
        *row
    }
}

/// Rows that are extended beyond the ends of the board.
struct Extended<'a, const BOUNDED: bool> {
    board: &'a Board,
    cells: &'a GlobalIn2<'a, u32>,
    row: u32,
    is_mirrored: bool,
    column: u32,
    /// Column of the lowest cell in mirrored rows. They are loaded from there, and the cells of a word are then reversed.
    mirrored: u32,
}

/// Words of an extended row.
#[derive(Clone, Copy, Default)]
struct Words {
    /// The word with the lowest cell, the word behind it, and the first word of the row. Zero if they are not needed or dead.
    words: [[u32; 2]; 3],
    is_mirrored: bool,
}

impl<'a, const BOUNDED: bool> Extended<'a, BOUNDED> {
    #[inline(always)]
    fn new(args: &'a BlockedArgs<'a>, halo: &Halo) -> Self {
        let (board, Halo { row, is_mirrored, column }) = (&args.board, *halo);
        // The lowest cell of a word is the highest one of the mirrored word.
        let mirrored = match board.wraps {
            0 => 0,
            _ => before(board.columns - 1 - column, CELLS - 1, board.columns)[0],
        };
        Extended { board, cells: &args.input, row, is_mirrored, column, mirrored }
    }

    /// Returns the column of the lowest cell.
    #[inline(always)]
    fn lowest(&self, is_mirrored: bool) -> u32 {
        if is_mirrored { self.mirrored } else { self.column }
    }
}

impl<const BOUNDED: bool> Source for Extended<'_, BOUNDED> {
    type Row = Words;

    #[inline(always)]
    fn load(&mut self) -> Words {
        let (columns, is_mirrored) = (self.board.columns, self.is_mirrored);
        let column = self.lowest(is_mirrored);
        let cells = self.cells.row(self.row);
        let load = |is_needed: bool, word: u32| cells.get_pack_masked(if is_needed { 2 * word } else { u32::MAX });
        let (word, last) = (column / CELLS, (columns - 1) / CELLS);
        let is_end = self.board.wraps != 0 && columns - column < CELLS;
        let words = [load(column < columns, word), load(word < last, word + 1), load(is_end, 0)];
        self.row = self.row.wrapping_add(1);
        if !BOUNDED && self.row == self.board.rows {
            self.row = 0;
            self.is_mirrored ^= self.board.ends == Ends::Mirrored as u32;
        }
        Words { words, is_mirrored }
    }

    #[inline(always)]
    fn word(&self, row: &Words) -> [u32; 2] {
        let [here, behind, first] = row.words.map(|[low, high]| low as u64 | (high as u64) << 32);
        let (columns, column) = (self.board.columns, self.lowest(row.is_mirrored));
        let shift = column % CELLS;
        let mut cells = here >> shift;
        if shift > 0 {
            cells |= behind << (CELLS - shift);
        }
        let len = columns.wrapping_sub(column);
        if self.board.wraps != 0 && len < CELLS {
            cells |= repeated(first, columns) << len;
        }
        let cells = if row.is_mirrored { cells.reverse_bits() } else { cells };
        [cells as u32, (cells >> 32) as u32]
    }
}

/// Returns the position `distance` before `at` on a ring of `len` positions, and how often the ring's beginning is passed if `at`
/// is less than `len`.
#[inline(always)]
fn before(at: u32, distance: u32, len: u32) -> [u32; 2] {
    let len = len.max(1); // Never 0; this shows that to the compiler, which then omits its check for division by zero.
    let turns = distance.div_ceil(len);
    let ahead = at % len + turns * len - distance;
    [ahead % len, turns - ahead / len]
}

/// Returns the lowest `columns` bits of a word repeated, if there are fewer than 64.
#[inline(always)]
fn repeated(mut cells: u64, columns: u32) -> u64 {
    let mut len = columns;
    while len < CELLS {
        cells |= cells << len;
        len *= 2;
    }
    cells
}
