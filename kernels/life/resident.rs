//! The kernel that keeps rows of the board in shared memory for many generations, with a bit for each cell.
//!
//! A block has a band of whole rows. If one block has the whole board, it computes any number of generations. Otherwise a band has a
//! halo above and below it, of as many rows as generations are computed: in each generation, wrong cells come a row closer.
//!
//! ```text
//!  halo       computed in the first generation, but not in the last one
//!  own rows   computed in all generations
//!  halo
//! ```
//!
//! A Klein bottle of `r` rows is a torus of `2 r` rows, of which the second half is the first one mirrored. So a block that has the
//! whole board computes that torus, and bands load mirrored rows beyond the ends. Dead rows beyond the ends are zeros that no thread
//! overwrites.
//!
//! A thread computes a word of 64 cells in each of `R` rows, a *strip*, from top to bottom as in `packed.rs`. It reads one copy of the
//! band and writes another one. After a barrier, these change roles.
//!
//! Shared memory: the two copies, each with the lower halves of all words, then the upper ones. Each of these four parts has `R` planes
//! of the same length, so that a thread knows the distances of its words when the kernel is compiled:
//!
//! ```text
//!  plane 0   -      rows 0, R,     2 R,     …   -
//!  plane 1   -      rows 1, R + 1, 2 R + 1, …   -
//!   …
//! ```
//!
//! The rows at both ends of a plane are dead. But if a block has a whole board whose rows wrap, strips are single rows, and those are
//! copies of the last row and of the first one.
//!
//! As many lanes as there are banks access together. They have consecutive words of whole rows, or of a part of a row. The neighbours
//! on the left and on the right are a permutation of these words, because rows wrap, or words of the same banks. If a row has more words
//! than there are lanes, and not a multiple, its ends are copied to the other end instead. So there are no bank conflicts.
//!
//! For censuses, a warp of its own adds up the sums of the others, while those compute the next generation. The sums follow the copies
//! of the band: those of two generations, for each warp.

use super::census::Sums;
use super::rule::{Sum, full_sum, sum_of_rows};
use super::{Board, Counts, Ends, ResidentArgs, SUMS, column_keys, row_keys};
use cuda_std::warp::{WARP, lane};
use cuda_std::{Arena, Shared, thread};

/// Cells of a word.
const CELLS: u32 = 64;

/// Threads of a block that compute generations, at most. One more warp takes the censuses. With more threads, registers do not suffice.
pub(super) const MOST_THREADS: u32 = 512;

/// Words of a row, at most.
pub(super) const MOST_WORDS: u32 = 64;

/// Half words of a plane: one for each thread and those of a row before and after them. Where the ends of rows are copied, there are two
/// more for each row.
const PLANE: u32 = 672;

/// Words of shared memory for the sums of two generations.
pub(super) const SLOTS: u32 = 2 * SUMS as u32 * MOST_THREADS / WARP;

/// How the threads of a block share a band of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Words of a row.
    pub(super) width: u32,
    /// Lanes that access shared memory together.
    lanes: u32,
}

impl Layout {
    #[inline(always)]
    pub(super) fn new(columns: u32, lanes: u32) -> Self {
        Layout { width: (columns - 1) / CELLS + 1, lanes: lanes.max(1) }
    }

    /// Returns the strips of several rows of words, if they are next to each other in as many lanes as access together: 0 if a row has
    /// more words.
    #[inline(always)]
    fn together(&self) -> u32 {
        self.lanes / self.width.max(1)
    }

    /// Returns the lanes of a row, if that has no fewer words than lanes access together.
    #[inline(always)]
    fn lanes_of_row(&self) -> u32 {
        self.width.next_multiple_of(self.lanes)
    }

    /// Returns whether the ends of a row are copied.
    #[inline(always)]
    fn is_padded(&self) -> bool {
        self.width > self.lanes && !self.width.is_multiple_of(self.lanes)
    }

    /// Returns the half words of a row in a plane.
    #[inline(always)]
    fn pitch(&self) -> u32 {
        self.width + if self.is_padded() { 2 } else { 0 }
    }

    /// Returns the threads for strips of a column of words: whole warps, and more than [`MOST_THREADS`] if a block cannot have them.
    pub(super) fn threads(&self, strips: u64) -> u64 {
        let threads = match self.together() {
            0 => strips * u64::from(self.lanes_of_row()),
            together => strips.div_ceil(together.into()) * u64::from(self.lanes),
        };
        threads.next_multiple_of(WARP.into())
    }

    /// Returns the strip and the word of a thread. The strip is beyond all if the thread has none.
    #[inline(always)]
    fn place(&self, thread: u32) -> [u32; 2] {
        let (width, together) = (self.width.max(1), self.together());
        let (strip, word, is_used) = if together == 0 {
            let lanes = self.lanes_of_row().max(1);
            (thread / lanes, thread % lanes, thread % lanes < width)
        } else {
            let lane = thread % self.lanes;
            (thread / self.lanes * together + lane / width, lane % width, lane < together * width)
        };
        [if is_used { strip } else { u32::MAX }, word]
    }
}

/// Returns the half words of shared memory for strips of `rows` rows.
#[inline(always)]
pub(super) const fn half_words(rows: u32) -> u32 {
    4 * rows * PLANE
}

/// Computes the generations of a band. `rule` returns the next generation for the sums and the cells.
#[inline(always)]
pub(super) fn run(arena: Arena, args: &ResidentArgs, rule: impl Fn(Sum<u32>, u32) -> u32) {
    let (cells, rest) = arena.split::<u32>(half_words(args.strip));
    let (slots, _) = rest.split::<u64>(if args.every > 0 { SLOTS } else { 0 });
    let threads = thread::block_dim_x() - if args.every > 0 { WARP } else { 0 };
    let thread = thread::thread_idx_x();
    let band = Band::new(args, cells, if thread < threads { thread } else { u32::MAX });
    band.clear();
    thread::sync_threads();
    band.load();
    // Number of censuses that were taken, whether the last one is still to be added up, and generations until the next one.
    let (mut taken, mut is_open, mut left) = (0, false, args.until);
    let mut done = 0;
    while done < args.generations {
        thread::sync_threads();
        let is_due = left == 1;
        if thread < threads {
            match args.strip {
                1 => band.step::<1>(done, &rule),
                2 => band.step::<2>(done, &rule),
                4 => band.step::<4>(done, &rule),
                _ => band.step::<8>(done, &rule),
            }
            if is_due {
                band.count(done + 1).of_warp().put(&slots, slot(taken, thread / WARP));
            }
        } else if is_open {
            collect(&slots, taken - 1, threads / WARP, &args.counts);
        }
        (is_open, left) = (is_due, if is_due { args.every } else { left.wrapping_sub(1) });
        taken += is_due as u32;
        done += 1;
    }
    thread::sync_threads();
    if thread < threads {
        band.store();
    } else if is_open {
        collect(&slots, taken - 1, threads / WARP, &args.counts);
    }
}

/// Returns where the sums of a warp for a census are.
#[inline(always)]
fn slot(census: u32, warp: u32) -> u32 {
    (census % 2 * (MOST_THREADS / WARP) + warp) * SUMS as u32
}

/// Adds the sums of all warps for a census to those of the board. A whole warp calls this.
#[inline(always)]
fn collect(slots: &Shared<u64>, census: u32, warps: u32, counts: &Counts) {
    let sums = if lane() < warps { Sums::get(slots, slot(census, lane())) } else { Sums::default() };
    sums.add_to(&Counts { first: counts.first + census as u64 * SUMS as u64, ..*counts });
}

/// The strip of a thread.
struct Band<'a, 'l> {
    args: &'a ResidentArgs<'l>,
    cells: Shared<'l, u32>,
    /// Index of the word in its row.
    word: u32,
    /// Rows of the band above the strip.
    above: u32,
    /// Rows of the band.
    rows: u32,
    /// Rows of the board above the block's own ones.
    first: u32,
    /// Half words of a part of shared memory.
    part: u32,
    /// Where the thread's words are in a plane, and the distance of those of the next strip.
    here: u32,
    pitch: u32,
    /// Distances to the copy of the first row after the last one, and to that of the last row before the first one, or 0.
    after_last: u32,
    before_first: u32,
    /// Bit `r` is set if row `r` of the strip is stored, or is one of the block's own.
    alive: u32,
    mine: u32,
    ends: WordEnds,
}

/// The ends of a thread's words.
struct WordEnds {
    /// The cells that are on the board.
    valid: [u32; 2],
    /// Distance to the half word with the left neighbour, its bit there, and 1 if it can be alive.
    left: u32,
    left_bit: u32,
    left_mask: u32,
    /// Distance to the half word whose lowest bit is the right neighbour, and the bit of the last cell if it can be alive.
    right: u32,
    right_bit: [u32; 2],
    /// Distances to the copies at the other end of the row, or 0.
    copy_of_first: u32,
    copy_of_last: u32,
}

impl WordEnds {
    #[inline(always)]
    fn new(board: &Board, layout: &Layout, word: u32, part: u32) -> Self {
        let (is_first, is_last, wraps) = (word == 0, word + 1 == layout.width, board.wraps != 0);
        let last = (board.columns - 1) % CELLS;
        let left_bit = if is_first { last } else { CELLS - 1 };
        let right_bit = if is_last { last } else { CELLS - 1 };
        let around = if layout.is_padded() { 0 } else { layout.width };
        let valid = u64::MAX >> (CELLS - 1 - right_bit);
        let bit = if is_last && !wraps { 0 } else { 1u64 << right_bit };
        WordEnds {
            valid: [valid as u32, (valid >> 32) as u32],
            left: (if is_first { around } else { 0 } + if left_bit < 32 { 0 } else { part }).wrapping_sub(1),
            left_bit: left_bit % 32,
            left_mask: (!is_first || wraps) as u32,
            right: 1u32.wrapping_sub(if is_last { around } else { 0 }),
            right_bit: [bit as u32, (bit >> 32) as u32],
            copy_of_first: if is_first && layout.is_padded() { layout.width } else { 0 },
            copy_of_last: if is_last && layout.is_padded() { layout.width } else { 0 },
        }
    }
}

impl<'a, 'l> Band<'a, 'l> {
    #[inline(always)]
    fn new(args: &'a ResidentArgs<'l>, cells: Shared<'l, u32>, thread: u32) -> Self {
        let (board, layout) = (&args.board, Layout::new(args.board.columns, args.lanes));
        let is_dead = board.ends == Ends::Dead as u32;
        let times = if args.halo == 0 && board.ends == Ends::Mirrored as u32 { 2 } else { 1 };
        let rows = args.rows * times + 2 * args.halo;
        let (strips, part) = (rows.div_ceil(args.strip.max(1)), args.strip * PLANE);
        let [strip, word] = layout.place(thread);
        let has_strip = thread < MOST_THREADS && strip < strips;
        let strip = if has_strip { strip } else { 0 };
        let pitch = layout.pitch();
        let here = (strip + 1) * pitch + word + layout.is_padded() as u32;
        let to_other_end = if args.halo > 0 || is_dead { 0 } else { strips * pitch };
        let after_last = if strip == 0 { to_other_end } else { 0 };
        let before_first = if strip + 1 == strips { to_other_end } else { 0 };
        let first = thread::block_idx_x() * args.rows;
        let own = args.rows.min(board.rows - first);
        let above = strip * args.strip;
        let (mut alive, mut mine, mut row) = (0, 0, 0);
        while has_strip && row < args.strip {
            let index = above + row;
            let is_outside = (first + index).wrapping_sub(args.halo) >= board.rows;
            alive |= ((index < rows && !(is_dead && is_outside)) as u32) << row;
            mine |= ((index.wrapping_sub(args.halo) < own) as u32) << row;
            row += 1;
        }
        let ends = WordEnds::new(board, &layout, word, part);
        Band { args, cells, word, above, rows, first, part, here, pitch, after_last, before_first, alive, mine, ends }
    }

    /// Clears all cells.
    #[inline(always)]
    fn clear(&self) {
        let mut i = thread::thread_idx_x();
        while i < self.cells.len() {
            self.cells.set(i, 0);
            i += thread::block_dim_x();
        }
    }

    /// Returns where the copy of the band with generation `done` begins.
    #[inline(always)]
    fn copy(&self, done: u32) -> u32 {
        if done.is_multiple_of(2) { 0 } else { 2 * self.part }
    }

    /// Loads the first generation.
    #[inline(always)]
    fn load(&self) {
        let mut row = 0;
        while row < self.args.strip {
            if self.alive >> row & 1 == 1 {
                let (at, word) = (self.here + row * PLANE, self.load_word(self.above + row));
                self.write(at, self.part, word);
                self.write_copies(at, self.part, word);
            }
            row += 1;
        }
    }

    /// Returns the thread's word of the row after `above` rows of the band. Beyond its ends, the board is extended.
    #[inline(always)]
    fn load_word(&self, above: u32) -> [u32; 2] {
        let Board { rows, columns, ends, .. } = self.args.board;
        let rows = rows.max(1);
        // Whole boards are added, so that the number is not negative.
        let added = self.args.halo.div_ceil(rows);
        let row = self.first + above + added * rows - self.args.halo;
        let line = self.args.input.row(row % rows);
        if ends != Ends::Mirrored as u32 || (row / rows + added).is_multiple_of(2) {
            return line.get_pack(2 * self.word);
        }
        let mirrored = |word: u32| {
            let [low, high] = line.get_pack_masked(word.wrapping_mul(2));
            (low as u64 | (high as u64) << 32).reverse_bits()
        };
        let (last, unused) = ((columns - 1) / CELLS, CELLS - 1 - (columns - 1) % CELLS);
        let word = last.wrapping_sub(self.word);
        let behind = if unused > 0 { mirrored(word.wrapping_sub(1)) << (CELLS - unused) } else { 0 };
        let cells = mirrored(word) >> unused | behind;
        [cells as u32, (cells >> 32) as u32]
    }

    /// Stores the last generation.
    #[inline(always)]
    fn store(&self) {
        let (mut row, mut at) = (0, self.copy(self.args.generations) + self.here);
        while row < self.args.strip {
            if self.mine >> row & 1 == 1 {
                let word = [self.cells.get(at), self.cells.get(at + self.part)];
                self.args.output.row(self.board_row(row)).set_pack(2 * self.word, word);
            }
            row += 1;
            at += PLANE;
        }
    }

    /// Returns the row of the board that is the block's own row `row` of the strip.
    #[inline(always)]
    fn board_row(&self, row: u32) -> u32 {
        self.first + self.above + row - self.args.halo
    }

    /// Writes a word of the thread, and the copies of it. `part` is the length of a part of shared memory.
    #[inline(always)]
    fn write(&self, at: u32, part: u32, [low, high]: [u32; 2]) {
        let WordEnds { copy_of_first, copy_of_last, .. } = self.ends;
        self.cells.set(at, low);
        self.cells.set(at + part, high);
        if copy_of_first > 0 {
            self.cells.set(at + copy_of_first, low);
        }
        if copy_of_last > 0 {
            self.cells.set(at - copy_of_last, low);
            self.cells.set(at - copy_of_last + part, high);
        }
    }

    /// Writes the copies of a word beyond the ends of a whole board.
    #[inline(always)]
    fn write_copies(&self, at: u32, part: u32, word: [u32; 2]) {
        if self.after_last > 0 {
            self.write(at + self.after_last, part, word);
        }
        if self.before_first > 0 {
            self.write(at - self.before_first, part, word);
        }
    }

    /// Returns a word of the thread, and the sums of its cells and their two neighbours in the row.
    #[inline(always)]
    fn sums<const R: u32>(&self, at: u32) -> ([u32; 2], [[u32; 2]; 2]) {
        let WordEnds { left, left_bit, left_mask, right, right_bit, .. } = self.ends;
        let [low, high] = [self.cells.get(at), self.cells.get(at + R * PLANE)];
        let left = self.cells.get(at.wrapping_add(left)) >> left_bit & left_mask;
        let right = self.cells.get(at.wrapping_add(right)) & 1;
        // Products and sums, because logic operations are what takes the time.
        let with_right = |bits: u32, k: usize| right.wrapping_mul(right_bit[k]).wrapping_add(bits);
        let of_low = full_sum(low.wrapping_mul(2).wrapping_add(left), low, with_right(low >> 1 | high << 31, 0));
        let of_high = full_sum(high << 1 | low >> 31, high, with_right(high >> 1, 1));
        ([low, high], [of_low, of_high])
    }

    /// Computes the generation after `done` of them.
    #[inline(always)]
    fn step<const R: u32>(&self, done: u32, rule: &impl Fn(Sum<u32>, u32) -> u32) {
        // Rows at each end of the band that are not needed after this generation. There is one more each time.
        let unneeded = self.args.halo.saturating_sub(self.args.generations - 1 - done);
        if self.alive == 0 || self.above + R <= unneeded || self.above + unneeded >= self.rows {
            return;
        }
        let (source, target) = (self.copy(done) + self.here, self.copy(done + 1) + self.here);
        let (_, mut above) = self.sums::<R>(source - self.pitch + (R - 1) * PLANE);
        let (mut cells, mut here) = self.sums::<R>(source);
        let mut row = 0;
        while row < R {
            let (word, below) = self.sums::<R>(source + if row + 1 < R { (row + 1) * PLANE } else { self.pitch });
            let next = |k: usize| rule(sum_of_rows(above[k], here[k], below[k]), cells[k]) & self.ends.valid[k];
            if self.alive >> row & 1 == 1 {
                let (at, word) = (target + row * PLANE, [next(0), next(1)]);
                self.write(at, R * PLANE, word);
                if R == 1 {
                    self.write_copies(at, R * PLANE, word);
                }
            }
            (above, here, cells) = (here, below, word);
            row += 1;
        }
    }

    /// Returns the sums of the thread's own words in generation `done`.
    #[inline(always)]
    fn count(&self, done: u32) -> Sums {
        let (mut sums, keys) = (Sums::default(), column_keys(self.word));
        let (mut row, mut at) = (0, self.copy(done) + self.here);
        while row < self.args.strip {
            if self.mine >> row & 1 == 1 {
                let word = [self.cells.get(at), self.cells.get(at + self.part)];
                sums.count_word(word, row_keys(self.board_row(row)), keys);
            }
            row += 1;
            at += PLANE;
        }
        sums
    }
}
