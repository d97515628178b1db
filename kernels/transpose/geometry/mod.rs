//! From a problem's size to grid, block and shared memory: what the host has to know.
//!
//! | file | what |
//! |---|---|
//! | `packed.rs` | which problems the kernels that move packs are for |
//! | `skewed.rs` | how those that do not need rows to be aligned cut a matrix, and where rows are in shared memory |
//! | `tile.rs` | tiles of the others, and their rows in shared memory |

mod packed;
mod skewed;
mod tile;

pub use packed::Packed;
pub use skewed::Skewed;

use super::{Layout, PACKED, Places, SKEWED, THREADS};
use cuda_std::shared_bytes;
use tile::{padded, side, tile};

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
    /// Maximum bytes per row of tiles that are copied as runs. Few words of longer rows belong to two rows.
    pub run_bytes: u64,
    /// Maximum bytes of tiles of narrow matrices, which have more rows.
    pub narrow_bytes: u64,
    /// Minimum number of blocks, which takes precedence.
    pub fewest_blocks: u64,
    /// Maximum number of columns for which a whole warp writes one column.
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
}

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
        PACKED.iter().find(|packed| packed.fits(problem) && fills(packed)).map(Kernel::Packed)
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
        let (at_once, problem) = (1, *problem);
        Geometry { threads, shared_bytes, at_once, grid, across_log2, tile, tile_pitch, skewed, problem, unit }
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
