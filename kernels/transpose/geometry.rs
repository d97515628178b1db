//! From a problem's size to grid, block and shared memory: what the host has to know.

use super::packed::Shape;
use super::skewed::{SECTOR, Skew};
use super::{Layout, PACKED, Places, SKEWED, THREADS};
use cuda_std::host::banks::{Banks, WarpAccess};
use cuda_std::shared_bytes;

/// The most blocks of a grid along y, and along z.
const MOST_BLOCKS: u64 = 65_535;

/// The most units of an element: threads count them with 32 bits, and the last step of a block leads beyond them.
const MOST_UNITS: u64 = (u32::MAX - THREADS) as u64;

/// What the host chooses for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// The bytes of a tile of the kernels without packs and whole words.
    pub tile_bytes: u64,
    /// The longest side of such a tile, if it is square.
    pub longest_side: u64,
    /// The most shared memory of a block, in bytes.
    pub shared_bytes: u64,
    /// The bytes of a skewed tile's rows in the output, as a rule, and at most in the input.
    pub row_bytes: u64,
    /// The bytes of a skewed tile, about.
    pub skewed_bytes: u64,
    /// Tiles with longer rows than so many bytes are not brought as runs: few of their words belong to two rows.
    pub run_bytes: u64,
    /// Tiles of narrow matrices have so many more rows that they have at most so many bytes.
    pub narrow_bytes: u64,
    /// But there shall be so many blocks.
    pub fewest_blocks: u64,
    /// Of matrices with at most so many columns, whole warps write one.
    pub few_columns: u64,
}

/// Matrices to be transposed. Rows and columns are the input's; all but the numbers of elements and matrices is in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Rows of elements, at least one.
    pub rows: u64,
    /// Columns of elements, at least one.
    pub columns: u64,
    /// The bytes of an element.
    pub element: u64,
    /// The number of matrices, at least one.
    pub matrices: u64,
    /// From row to row of the input.
    pub input_pitch: u64,
    /// From row to row of the output.
    pub output_pitch: u64,
}

impl Problem {
    /// From matrix to matrix of the input, and of the output.
    fn matrix(&self) -> [u64; 2] {
        // A plan may be for pitches that no memory has.
        [self.rows.saturating_mul(self.input_pitch), self.columns.saturating_mul(self.output_pitch)]
    }

    /// The largest element that kernels without packs and words can move, in bytes, and their unit.
    #[must_use]
    pub fn largest_element(&self) -> (u64, u32) {
        let unit = self.alignment(4);
        (MOST_UNITS * unit, unit as u32)
    }

    /// The largest power of two up to `most` that divides whatever decides where elements begin.
    fn alignment(&self, most: u64) -> u64 {
        let steps = self.element | self.input_pitch | self.output_pitch | most;
        1 << steps.trailing_zeros()
    }

    /// Whether groups and packs of this kernel are whole everywhere, and no two blocks write to the same sector. (Tried
    /// on an H200: where rows of the output begin in the middle of sectors, the skewed kernels are faster by 4 % for
    /// elements of 8 and 16 bytes, and by 10 to 25 % for smaller ones.)
    fn fits(&self, packed: &Packed) -> bool {
        let group = u64::from(packed.elements);
        packed.element() == self.element
            && [self.rows, self.columns].iter().all(|length| length % group == 0)
            && self.input_pitch.is_multiple_of(u64::from(packed.pack_bytes))
            && self.output_pitch.is_multiple_of(u64::from(SECTOR))
    }
}

/// A kernel that moves packs: see `packed.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The entry point.
    pub name: &'static str,
    /// The bytes of a pack.
    pub(super) pack_bytes: u32,
    /// The packs of a group.
    pub(super) packs: u32,
    /// The elements of a group.
    pub(super) elements: u32,
    /// The tile.
    pub(super) shape: Shape,
}

impl Packed {
    /// The bytes of an element.
    fn element(&self) -> u64 {
        u64::from(self.pack_bytes * self.packs / self.elements)
    }

    /// Rows and columns of a tile.
    fn tile(&self) -> [u64; 2] {
        [self.shape.down, self.shape.across].map(|squares| u64::from(squares * self.elements))
    }
}

/// A kernel that does not need rows to be aligned: see `skewed.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skewed {
    /// The entry point.
    pub name: &'static str,
    /// The bytes of a unit.
    pub(super) unit: u32,
    pub(super) skew: Skew,
}

impl Skewed {
    fn element(&self) -> u64 {
        u64::from(self.unit * self.skew.units)
    }

    /// How a matrix is cut into tiles; `None` if its rows are so far apart that 32 bits cannot count the units of a tile,
    /// or if single columns are longer than there is room for.
    fn cut(&self, problem: &Problem, tuning: &Tuning) -> Option<Cut> {
        let halo = u64::from(self.skew.halo());
        // As a rule, the threads take at most so many columns at a time as a sector has units: see the kernel.
        let mut lanes_log2 = match self.skew.bytes {
            8 => 6,
            _ if self.distances().is_some() && problem.columns > tuning.few_columns => 4,
            _ => 5,
        };
        let bytes = match self.element() {
            1 | 2 => tuning.row_bytes / 2,
            12 | 16 => tuning.row_bytes * 2,
            _ => tuning.row_bytes,
        };
        let words = bytes / u64::from(self.skew.bytes);
        let mut words = if self.skew.units == 3 { words / 4 * 3 } else { words };
        let rows = |words: u64| words * u64::from(self.skew.per_word) / u64::from(self.skew.units);
        let width = problem.columns.saturating_mul(self.element());
        let most = problem.rows.min(problem.rows.saturating_mul(problem.matrices) / tuning.fewest_blocks);
        // A power of two of words, which neighbouring threads take.
        let columns = |rows: u64| {
            let width = (tuning.skewed_bytes / (rows + halo)).min(tuning.row_bytes) / u64::from(self.skew.bytes);
            let units = (1 << width.max(1).ilog2()) * u64::from(self.skew.per_word);
            (units - u64::from(self.skew.per_word - 1)) / u64::from(self.skew.units)
        };
        let longer = |words: u64| {
            let rows = rows(2 * words);
            rows <= most && rows.saturating_mul(width) <= tuning.narrow_bytes && problem.columns <= columns(rows)
        };
        while longer(words) {
            words *= 2;
        }
        while rows(words / 2) >= problem.rows + halo {
            let fits = |lanes_log2: &u32| *lanes_log2 >= FEWEST_LANES_LOG2 && words / 2 % (1 << *lanes_log2) == 0;
            let Some(fewer) = [lanes_log2, lanes_log2 - 1].into_iter().find(fits) else { break };
            (words, lanes_log2) = (words / 2, fewer);
        }
        let rows = rows(words);
        let units = |pitch: u64| pitch / u64::from(self.unit);
        let reach = REACH / units(problem.output_pitch).max(1);
        if reach == 0 {
            return None;
        }
        let cut_into = |columns: u64| {
            let cut = Cut { rows, columns, lanes_log2, run: self.is_run(problem, columns, tuning) };
            if cut.rows < most { self.filled(cut, most) } else { cut }
        };
        let mut cut = cut_into(columns(rows).max(1).min(problem.columns).min(reach));
        // There is room for more rows than there are.
        while cut.columns > 1 && self.shared_bytes(&cut) > tuning.shared_bytes {
            cut = cut_into(cut.columns / 2);
        }
        let reached = self.room(&cut).checked_mul(units(problem.input_pitch))?;
        (self.shared_bytes(&cut) <= tuning.shared_bytes && reached <= REACH).then_some(cut)
    }

    /// Whether tiles with so many columns are brought as runs: without gaps, and with words that belong to two rows.
    fn is_run(&self, problem: &Problem, columns: u64, tuning: &Tuning) -> bool {
        let row = columns * problem.element;
        let gapless = columns == problem.columns && problem.input_pitch == row;
        gapless
            && row <= tuning.run_bytes
            && !(columns * u64::from(self.skew.units)).is_multiple_of(u64::from(self.skew.per_word))
    }

    /// With as many rows as there is room for, and `most` at the most.
    fn filled(&self, cut: Cut, most: u64) -> Cut {
        // Columns have as many words of each kind as of any other.
        let words = u64::from(self.skew.kinds()) << cut.lanes_log2;
        let step = words * u64::from(self.skew.per_word) / u64::from(self.skew.units);
        let rows = (self.room(&cut) - u64::from(self.skew.halo())).min(most);
        Cut { rows: rows / step * step, ..cut }
    }

    /// The most words that so many rows lie in.
    fn width(&self, cut: &Cut, rows: u64) -> u64 {
        let per_word = u64::from(self.skew.per_word);
        (per_word - 1 + rows * cut.columns * u64::from(self.skew.units)).div_ceil(per_word)
    }

    /// How many neighbouring threads take a row's words; of a run, all.
    fn beside(&self, cut: &Cut) -> u64 {
        if cut.run { THREADS.into() } else { self.width(cut, 1).min(MOST_BESIDE) }
    }

    /// How many rows the threads take at a time: as many as are shifted in all ways, or several times that; none of a run.
    fn rows_at_once(&self, cut: &Cut) -> u64 {
        let rows = u64::from(THREADS) / self.beside(cut);
        rows - rows % u64::from(self.skew.per_word)
    }

    /// How often the threads bring as many words as they can at a time.
    fn goes(&self, cut: &Cut) -> u64 {
        let (rows, loads) = (cut.rows + u64::from(self.skew.halo()), u64::from(self.skew.loads_at_once()));
        if cut.run {
            self.width(cut, rows).div_ceil(u64::from(THREADS) * loads)
        } else {
            rows.div_ceil(self.rows_at_once(cut) * loads)
        }
    }

    /// The rows that there is room for: all that a thread may come to.
    fn room(&self, cut: &Cut) -> u64 {
        let (goes, loads) = (self.goes(cut), u64::from(self.skew.loads_at_once()));
        if cut.run {
            let units = goes * loads * u64::from(THREADS * self.skew.per_word);
            (units - u64::from(self.skew.per_word - 1)) / (cut.columns * u64::from(self.skew.units))
        } else {
            goes * loads * self.rows_at_once(cut)
        }
    }

    fn shared_bytes(&self, cut: &Cut) -> u64 {
        let words = u64::from(self.places(cut).1.words);
        shared_bytes::<u8>(words * u64::from(self.skew.bytes)) + shared_bytes::<u32>(self.skew.table_len().into())
    }

    /// How many words are between rows in shared memory, and the rest of how these lie there.
    fn places(&self, cut: &Cut) -> (u64, Places) {
        let (per_word, units) = (u64::from(self.skew.per_word), u64::from(self.skew.units));
        let [words, row_pitch, pitch] = if cut.run {
            let row_pitch = cut.columns * units;
            [self.goes(cut) * u64::from(self.skew.loads_at_once() * THREADS), row_pitch, row_pitch]
        } else {
            // Rows that are as many apart as a word has units follow each other.
            let between = self.between(cut);
            let apart = self.apart(self.room(cut).div_ceil(per_word) * between);
            [per_word * apart, per_word * apart, between]
        };
        let places = Places {
            words: words as u32,
            row_pitch: row_pitch as u32,
            rows: self.rows_at_once(cut) as u32,
            beside: self.beside(cut) as u32,
            goes: self.goes(cut) as u32,
            lanes_log2: cut.lanes_log2,
        };
        (pitch, places)
    }

    /// The banks, by words.
    fn banks(&self) -> u64 {
        (Banks::NVIDIA.count() * Banks::NVIDIA.bytes() / self.skew.bytes).into()
    }

    /// How many words are between rows that follow each other in shared memory. Of elements of several words, a number with
    /// which elements below each other are neighbours among the banks, downwards or upwards, and if words contain parts of
    /// elements, what [`Skewed::distances`] says; unless that makes rows longer by more than half. Otherwise an odd number
    /// will do.
    fn between(&self, cut: &Cut) -> u64 {
        let (width, units, banks) = (self.width(cut, 1), u64::from(self.skew.units), self.banks());
        let wanted = match self.distances() {
            Some([between, _]) => [between; 2],
            None => [units, banks - units],
        };
        let fits = |words: &u64| wanted.contains(&(words % banks));
        if units == 1 { width | 1 } else { (width..=width / 2 * 3).find(fits).unwrap_or(width | 1) }
    }

    /// The least distance of `words` words or more at which rows that follow each other in the matrix do not meet.
    fn apart(&self, words: u64) -> u64 {
        match self.distances() {
            Some([_, apart]) => words + (apart + self.banks() - words % self.banks()) % self.banks(),
            None => words | 1,
        }
    }

    /// What distances are modulo the banks if words contain parts of elements: of rows that follow each other in shared
    /// memory, and of those that do in the matrix. Counted over many ways in which rows of input and output can begin, they
    /// are among those with the fewest wavefronts, 1.9 on average; of all odd ones, that is 2.5.
    fn distances(&self) -> Option<[u64; 2]> {
        match (self.unit, self.skew.units) {
            (1, 3) => Some([1, 25]),
            (2, 3) => Some([3, 17]),
            _ => None,
        }
    }
}

/// A skewed tile.
#[derive(Clone, Copy)]
struct Cut {
    rows: u64,
    columns: u64,
    /// The binary logarithm of how many words of a column neighbouring threads write.
    lanes_log2: u32,
    /// Whether it is brought as one run.
    run: bool,
}

/// As many words as a sector has: fewer lanes would not write whole sectors.
const FEWEST_LANES_LOG2: u32 = 3;

/// The most threads that take the words of a row, unless the tile is one run.
const MOST_BESIDE: u64 = 64;

/// Units that threads reach with 32 bits and a sign.
const REACH: u64 = i32::MAX as u64 - 1024;

/// The kernels of this operation, with the bytes of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Without shared memory.
    Naive(u32),
    /// A tile in shared memory, with or without padding.
    Shared {
        /// The bytes of a unit.
        unit: u32,
        /// Whether the rows of the tile are made longer, to avoid bank conflicts.
        padded: bool,
    },
    /// Packs on both sides.
    Packed(&'static Packed),
    /// Whole words on both sides, wherever rows begin.
    Skewed(&'static Skewed),
    /// In place, square matrices only.
    Swap(u32),
}

impl Kernel {
    /// Without shared memory, for any problem.
    #[must_use]
    pub fn naive(problem: &Problem) -> Self {
        Kernel::Naive(problem.alignment(4) as u32)
    }

    /// With a tile in shared memory, for any problem.
    #[must_use]
    pub fn shared(problem: &Problem, padded: bool) -> Self {
        Kernel::Shared { unit: problem.alignment(4) as u32, padded }
    }

    /// In place.
    #[must_use]
    pub fn swap(problem: &Problem) -> Self {
        Kernel::Swap(problem.alignment(4) as u32)
    }

    /// With packs, if there is a kernel for elements of this size and everything is aligned, the output's rows to sectors.
    /// `None` as well for matrices that would leave most of a tile empty.
    #[must_use]
    pub fn packed(problem: &Problem) -> Option<Self> {
        let fills = |packed: &Packed| {
            let [rows, columns] = packed.tile();
            2 * problem.rows >= rows && 2 * problem.columns >= columns
        };
        PACKED.iter().find(|packed| problem.fits(packed) && fills(packed)).map(Kernel::Packed)
    }

    /// With whole words wherever rows begin, if there is a kernel for elements of this size and units are aligned.
    #[must_use]
    pub fn skewed(problem: &Problem, tuning: &Tuning) -> Option<Self> {
        let fits = |skewed: &&Skewed| {
            let unit = u64::from(skewed.unit);
            skewed.element() == problem.element
                && problem.alignment(unit) == unit
                && skewed.cut(problem, tuning).is_some()
        };
        SKEWED.iter().find(fits).map(Kernel::Skewed)
    }

    /// The bytes of a unit.
    #[must_use]
    pub fn unit(&self) -> u32 {
        match self {
            Kernel::Naive(unit) | Kernel::Shared { unit, .. } | Kernel::Swap(unit) => *unit,
            Kernel::Packed(_) => 4,
            Kernel::Skewed(skewed) => skewed.unit,
        }
    }
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Threads of a block.
    pub threads: u32,
    /// The dynamic shared memory of a block, in bytes.
    pub shared_bytes: u64,
    /// Units that an access to global memory moves at the most.
    pub at_once: u32,
    /// Blocks along x and y for one matrix.
    grid: [u64; 2],
    /// The binary logarithm of how many columns of tiles stand side by side along x of the grid.
    across_log2: u32,
    /// Rows and columns of a tile.
    tile: [u64; 2],
    /// From row to row of the tile as the kernel counts: in units, or in words.
    tile_pitch: u64,
    /// What only kernels that do not need rows to be aligned have to know.
    pub skewed: Places,
    problem: Problem,
    unit: u32,
}

/// One launch: some of the matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first matrix.
    pub first_matrix: u64,
    /// Blocks along x, y and z.
    pub grid: [u64; 3],
}

impl Geometry {
    /// How to launch `kernel`, one of those that [`Kernel`] has for this problem.
    ///
    /// # Panics
    ///
    /// If [`Kernel::skewed`] did not choose the kernel for this problem, and it cannot do it.
    #[must_use]
    pub fn new(kernel: Kernel, problem: &Problem, tuning: &Tuning) -> Self {
        match kernel {
            Kernel::Naive(unit) => Geometry::with_tile(problem, unit, tile(problem, tuning), 0),
            Kernel::Shared { unit, padded: wider } => {
                let tile = tile(problem, tuning);
                let width = tile[1] * problem.element;
                let most = tuning.shared_bytes / tile[0];
                let pitch = if wider { padded(width, problem.element, unit, most) } else { width };
                Geometry::with_tile(problem, unit, tile, 0).shared(pitch, tile[0])
            }
            Kernel::Swap(unit) => {
                let side = side(problem.element, tuning.tile_bytes / 2, tuning).min(problem.rows);
                let pitch = padded(side * problem.element, problem.element, unit, tuning.shared_bytes / 2 / side);
                let one = Geometry::with_tile(problem, unit, [side; 2], 0).shared(pitch, side);
                Geometry { shared_bytes: 2 * one.shared_bytes, ..one }
            }
            Kernel::Packed(packed) => {
                let Packed { pack_bytes, packs, elements, shape, .. } = packed;
                let places = shape.packs(shape.across * elements, *packs, *elements);
                let geometry = Geometry::with_tile(problem, 4, packed.tile(), 0);
                let shared_bytes = u64::from(places * pack_bytes);
                Geometry { threads: shape.threads(), shared_bytes, at_once: pack_bytes / 4, ..geometry }
            }
            Kernel::Skewed(skewed) => Geometry::skewed(problem, skewed, tuning),
        }
    }

    /// Without shared memory, and with `halo` rows before the first tile's.
    fn with_tile(problem: &Problem, unit: u32, tile: [u64; 2], halo: u64) -> Self {
        let [down, across] = [(problem.rows + halo).div_ceil(tile[0]), problem.columns.div_ceil(tile[1])];
        let across_log2 = across.div_ceil(MOST_BLOCKS).next_power_of_two().ilog2();
        let grid = [down << across_log2, across.div_ceil(1 << across_log2)];
        let (threads, shared_bytes, tile_pitch, skewed) = (THREADS, 0, 0, Places::default());
        Geometry {
            threads,
            shared_bytes,
            at_once: 1,
            grid,
            across_log2,
            tile,
            tile_pitch,
            skewed,
            problem: *problem,
            unit,
        }
    }

    /// With `rows` rows in shared memory, which are `pitch` bytes apart.
    fn shared(self, pitch: u64, rows: u64) -> Self {
        let tile_pitch = pitch / u64::from(self.unit);
        Geometry { tile_pitch, shared_bytes: shared_bytes::<u8>(rows * pitch), ..self }
    }

    fn skewed(problem: &Problem, skewed: &Skewed, tuning: &Tuning) -> Self {
        let cut = skewed.cut(problem, tuning).expect("`Kernel::skewed` has found that the kernel can do it");
        let (tile_pitch, places) = skewed.places(&cut);
        // Columns end up to `halo` rows before their tile does; the next one writes the rest.
        let halo = u64::from(skewed.skew.halo());
        let geometry = Geometry::with_tile(problem, skewed.unit, [cut.rows, cut.columns], halo);
        Geometry { tile_pitch, shared_bytes: skewed.shared_bytes(&cut), skewed: places, ..geometry }
    }

    /// The blocks of all launches.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.grid.iter().fold(self.problem.matrices, |blocks, along| blocks.saturating_mul(*along))
    }

    /// How many launches there are.
    #[must_use]
    pub fn launches(&self) -> u64 {
        self.problem.matrices.div_ceil(MOST_BLOCKS)
    }

    /// The launches: one, unless there are more matrices than a grid has blocks along z.
    pub fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        let ([x, y], matrices) = (self.grid, self.problem.matrices);
        (0..self.launches()).map(move |part| {
            let first_matrix = part * MOST_BLOCKS;
            Part { first_matrix, grid: [x, y, MOST_BLOCKS.min(matrices - first_matrix)] }
        })
    }

    /// What the kernel has to know.
    #[must_use]
    pub fn layout(&self, part: Part) -> Layout {
        let problem = &self.problem;
        let units = |bytes: u64| bytes / u64::from(self.unit);
        let [input_matrix, output_matrix] = problem.matrix().map(units);
        Layout {
            rows: problem.rows,
            columns: problem.columns,
            input_pitch: units(problem.input_pitch),
            output_pitch: units(problem.output_pitch),
            input_matrix,
            output_matrix,
            first_matrix: part.first_matrix,
            // The host has compared them with `Problem::largest_element`; a tile has more than one element only where these
            // are short, and its rows are at most 32 words longer than they have to be.
            units: units(problem.element) as u32,
            tile_rows: self.tile[0] as u32,
            tile_columns: self.tile[1] as u32,
            tile_pitch: self.tile_pitch as u32,
            across_log2: self.across_log2,
        }
    }
}

/// The longest side of a square tile of so many bytes: a power of two.
fn side(element: u64, bytes: u64, tuning: &Tuning) -> u64 {
    let elements = (bytes / element).max(1);
    let side = 1 << (elements.ilog2() / 2);
    tuning.longest_side.min(side)
}

/// Rows and columns of a tile: a square one, or of a narrow matrix as much as makes as many elements.
fn tile(problem: &Problem, tuning: &Tuning) -> [u64; 2] {
    let side = side(problem.element, tuning.tile_bytes, tuning);
    // Whole warps of rows or columns.
    let longest = |other: u64| (side * side / other).max(32) / 32 * 32;
    match (problem.rows < side, problem.columns < side) {
        (_, true) => [longest(problem.columns).min(problem.rows), problem.columns],
        (true, false) => [problem.rows, longest(problem.rows).min(problem.columns)],
        (false, false) => [side, side],
    }
}

/// The row length of a tile, `width` or somewhat more, at which the fewest lanes meet when a warp reads a column of
/// elements unit by unit; at most `most`, if that is possible.
fn padded(width: u64, element: u64, unit: u32, most: u64) -> u64 {
    let word = u64::from(Banks::NVIDIA.bytes());
    // Whole elements in all places, whole words otherwise.
    let step = if element < word { word } else { u64::from(unit) };
    let first = width.next_multiple_of(step);
    let candidates = (0..=u64::from(Banks::NVIDIA.count())).map(|i| first + i * step);
    let cost = |pitch: &u64| {
        let unit = u64::from(unit);
        let mut addresses = [0; 32];
        for (lane, address) in (0..).zip(&mut addresses) {
            let place = lane * unit;
            *address = place / element * pitch + place % element;
        }
        let access = WarpAccess { lanes: u32::MAX, addresses: &addresses, bytes: unit as u32, load: true };
        access.wavefronts(Banks::NVIDIA)[0]
    };
    candidates.take_while(|pitch| *pitch <= most).min_by_key(cost).unwrap_or(first)
}
