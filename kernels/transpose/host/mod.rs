//! Grid, block and shared memory for a problem's size, computed on the host.
//!
//! | file | contents |
//! |---|---|
//! | `in_place.rs` | the launches of permutations |
//! | `packed.rs` | the problems that packed kernels can solve |
//! | `skewed.rs` | tiles of the skewed kernels, and their rows in shared memory |
//! | `tile.rs` | tiles of the other kernels, and their rows in shared memory |
//! | `whole.rs` | the matrices of a block that transposes whole ones |
//! | `visit.rs` | the entry point and the arguments of a chosen kernel |

mod in_place;
mod packed;
mod skewed;
mod tile;
mod visit;
mod whole;

pub use packed::Packed;
pub use skewed::Skewed;
pub use visit::{SwapVisitor, SwapWork, Visitor, Work};
pub use whole::Whole;

use super::{Group, Layout, PACKED, Places, SKEWED, SWAPS, THREADS, WHOLE};
use cuda_std::shared_bytes;
use tile::{padded, side, tile};

/// Maximum number of blocks of a grid along y and along z.
const MOST_BLOCKS: u64 = 65_535;

/// Maximum number of units per element. Threads count units with 32 bits, and their last step can go beyond the end by the
/// number of threads.
const MOST_UNITS: u64 = (u32::MAX - THREADS) as u64;

/// Constants that the host chooses for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConstants {
    /// Bytes of a tile of the naive, shared and swap kernels.
    pub tile_bytes: u64,
    /// Maximum side of such a tile, in elements, if it is square.
    pub longest_side: u64,
    /// Maximum shared memory per block, in bytes.
    pub shared_bytes: u64,
    /// Usual bytes per row of a skewed tile in the output, and their maximum in the input.
    pub row_bytes: u64,
    /// Approximate bytes of a skewed tile.
    pub skewed_bytes: u64,
    /// Maximum bytes per row of tiles that are copied as runs. Few words of longer rows belong to two rows.
    pub run_bytes: u64,
    /// Maximum bytes of skewed tiles of narrow matrices, which have more rows.
    pub narrow_bytes: u64,
    /// Minimum number of blocks. Takes precedence over taller skewed tiles.
    pub fewest_blocks: u64,
    /// Maximum number of columns for which a whole warp writes one column.
    pub few_columns: u64,
    /// Usual bytes of the matrices of a block that transposes whole ones.
    pub whole_bytes: u64,
    /// Maximum bytes of one of them, if elements have four.
    pub largest_of_words: u64,
    /// Maximum wavefronts in which words of whole matrices are gathered, as a multiple of those without bank conflicts.
    pub most_wavefronts: u64,
}

/// Matrices to be transposed. Rows and columns are the input's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransposeProblem {
    /// Number of rows, at least one.
    pub rows: u64,
    /// Number of columns, in elements, at least one.
    pub columns: u64,
    /// Bytes per element.
    pub element: u64,
    /// Number of matrices, at least one.
    pub matrices: u64,
    /// Row pitch of the input, in bytes.
    pub input_pitch: u64,
    /// Row pitch of the output, in bytes.
    pub output_pitch: u64,
}

impl TransposeProblem {
    /// Returns the distances in bytes between matrices of the input, and of the output.
    fn matrix(&self) -> [u64; 2] {
        // A plan may have pitches that are too large for any memory.
        [self.rows.saturating_mul(self.input_pitch), self.columns.saturating_mul(self.output_pitch)]
    }

    /// Returns the size of the largest element that the naive, shared and swap kernels can move, and their unit, in bytes.
    #[must_use]
    pub fn largest_element(&self) -> (u64, u32) {
        let unit = self.alignment(4);
        (MOST_UNITS * unit, unit as u32)
    }

    /// Returns the largest power of two up to `most` that divides the element size and both pitches.
    fn alignment(&self, most: u64) -> u64 {
        let steps = self.element | self.input_pitch | self.output_pitch | most;
        1 << steps.trailing_zeros()
    }
}

/// The kernels of this operation. The integers are the bytes of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransposeKernel {
    /// Without shared memory.
    Naive(u32),
    /// A tile in shared memory, with or without padding.
    Shared {
        /// Bytes of a unit.
        unit: u32,
        /// Whether the rows of the tile are padded to avoid bank conflicts.
        padded: bool,
    },
    /// A tile in shared memory; moves packs.
    Packed(&'static Packed),
    /// A tile in shared memory; moves whole words, with any alignment of rows.
    Skewed(&'static Skewed),
    /// Whole matrices in shared memory; moves whole words.
    Whole(&'static Whole),
    /// In place, for square matrices.
    Swap(u32),
    /// The same; moves packs.
    SwapPacked(&'static Packed),
}

impl TransposeKernel {
    /// Returns the kernel without shared memory, for any problem.
    #[must_use]
    pub fn naive(problem: &TransposeProblem) -> Self {
        TransposeKernel::Naive(problem.alignment(4) as u32)
    }

    /// Returns the kernel with a tile in shared memory, for any problem.
    #[must_use]
    pub fn shared(problem: &TransposeProblem, padded: bool) -> Self {
        TransposeKernel::Shared { unit: problem.alignment(4) as u32, padded }
    }

    /// Returns the kernel that works in place, for square matrices.
    #[must_use]
    pub fn swap(problem: &TransposeProblem) -> Self {
        TransposeKernel::Swap(problem.alignment(4) as u32)
    }

    /// Returns the kernel that works in place and moves packs, for square matrices. `None` if there is none for the element size, or
    /// if rows are not aligned.
    #[must_use]
    pub fn swap_packed(problem: &TransposeProblem) -> Option<Self> {
        SWAPS.iter().find(|packed| packed.can_solve(problem)).map(TransposeKernel::SwapPacked)
    }

    /// Returns the packed kernel for this problem. `None` if there is none for the element size, if rows are not aligned (those
    /// of the output to sectors), or if the matrix fills less than half of a tile in either direction.
    #[must_use]
    pub fn packed(problem: &TransposeProblem) -> Option<Self> {
        let fills = |packed: &Packed| {
            let [rows, columns] = packed.tile();
            2 * problem.rows >= rows && 2 * problem.columns >= columns
        };
        let mut suitable = PACKED.iter().filter(|packed| packed.fits(problem) && fills(packed));
        let largest = suitable.next()?;
        // Smaller tiles are only faster if the larger ones are not half filled.
        let half_filled = |packed: &Packed, other: &Packed| packed.covered(problem) >= 2 * other.covered(problem);
        let smaller = suitable.find(|other| half_filled(largest, other));
        Some(TransposeKernel::Packed(smaller.unwrap_or(largest)))
    }

    /// Returns the skewed kernel for this problem. `None` if there is none for the element size, if units are not aligned, or
    /// if a tile does not fit.
    #[must_use]
    pub fn skewed(problem: &TransposeProblem, tuning: &LaunchConstants) -> Option<Self> {
        let fits = |skewed: &&Skewed| {
            let unit = u64::from(skewed.unit);
            skewed.element() == problem.element
                && problem.alignment(unit) == unit
                && skewed.cut(problem, tuning).is_some()
        };
        SKEWED.iter().find(fits).map(TransposeKernel::Skewed)
    }

    /// Returns the kernel that transposes whole matrices in shared memory. `None` if there is none for the element size, if there are gaps
    /// between rows, or if the matrices are too large or too few.
    #[must_use]
    pub fn whole(problem: &TransposeProblem, tuning: &LaunchConstants) -> Option<Self> {
        WHOLE.iter().find(|whole| whole.group(problem, tuning).is_some()).map(TransposeKernel::Whole)
    }

    /// Returns the bytes of a unit.
    #[must_use]
    pub fn unit(&self) -> u32 {
        match self {
            TransposeKernel::Naive(unit) | TransposeKernel::Shared { unit, .. } | TransposeKernel::Swap(unit) => *unit,
            TransposeKernel::Packed(_) | TransposeKernel::SwapPacked(_) => 4,
            TransposeKernel::Skewed(skewed) => skewed.unit,
            TransposeKernel::Whole(whole) => whole.unit,
        }
    }
}

/// The launch parameters of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Threads per block.
    pub threads: u32,
    /// Dynamic shared memory per block, in bytes.
    pub shared_bytes: u64,
    /// Maximum number of units that an access to global memory moves.
    pub at_once: u32,
    /// Blocks along x and y for one matrix, or for those of a block.
    grid: [u64; 2],
    /// Binary logarithm of the number of tile columns that are side by side along x of the grid.
    across_log2: u32,
    /// Rows and columns of a tile.
    tile: [u64; 2],
    /// Row pitch of the tile: in units, or for skewed kernels in words.
    tile_pitch: u64,
    /// Layout of a skewed tile; zeros for the other kernels.
    pub skewed: Places,
    /// The matrices of a block that transposes whole ones; zeros for the other kernels.
    pub group: Group,
    problem: TransposeProblem,
    unit: u32,
}

/// One launch, for some of the matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixPart {
    /// Index of the first matrix.
    pub first_matrix: u64,
    /// Index after the last one.
    pub end: u64,
    /// Blocks along x, y and z.
    pub grid: [u64; 3],
}

impl Geometry {
    /// Returns the launch parameters of `kernel`, which a function of [`TransposeKernel`] returned for this problem.
    ///
    /// # Panics
    ///
    /// If a skewed kernel or one for whole matrices cannot solve this problem.
    #[must_use]
    pub fn new(kernel: TransposeKernel, problem: &TransposeProblem, tuning: &LaunchConstants) -> Self {
        match kernel {
            TransposeKernel::Naive(unit) => Geometry::with_tile(problem, unit, tile(problem, tuning), 0),
            TransposeKernel::Shared { unit, padded: wider } => {
                let tile = tile(problem, tuning);
                let width = tile[1] * problem.element;
                let most = tuning.shared_bytes / tile[0];
                let pitch = if wider { padded(width, problem.element, unit, most) } else { width };
                Geometry::with_tile(problem, unit, tile, 0).shared(pitch, tile[0])
            }
            TransposeKernel::Swap(unit) => {
                let side = side(problem.element, tuning.tile_bytes / 2, tuning).min(problem.rows);
                let pitch = padded(side * problem.element, problem.element, unit, tuning.shared_bytes / 2 / side);
                Geometry::with_tile(problem, unit, [side; 2], 0).shared(pitch, side).in_pairs()
            }
            TransposeKernel::Packed(packed) => Geometry::packed(problem, packed),
            TransposeKernel::SwapPacked(packed) => Geometry::packed(problem, packed).in_pairs(),
            TransposeKernel::Skewed(skewed) => Geometry::skewed(problem, skewed, tuning),
            TransposeKernel::Whole(whole) => Geometry::whole(problem, whole, tuning),
        }
    }

    /// Returns launch parameters without shared memory. Rows of tiles cover the matrix and `halo` more rows.
    fn with_tile(problem: &TransposeProblem, unit: u32, tile: [u64; 2], halo: u64) -> Self {
        let [down, across] = [(problem.rows + halo).div_ceil(tile[0]), problem.columns.div_ceil(tile[1])];
        let across_log2 = across.div_ceil(MOST_BLOCKS).next_power_of_two().ilog2();
        let grid = [down << across_log2, across.div_ceil(1 << across_log2)];
        let (threads, shared_bytes, tile_pitch) = (THREADS, 0, 0);
        let (skewed, group, at_once, problem) = (Places::default(), Group::default(), 1, *problem);
        Geometry { threads, shared_bytes, at_once, grid, across_log2, tile, tile_pitch, skewed, group, problem, unit }
    }

    /// Adds shared memory for `rows` rows that are `pitch` bytes apart.
    fn shared(self, pitch: u64, rows: u64) -> Self {
        let tile_pitch = pitch / u64::from(self.unit);
        Geometry { tile_pitch, shared_bytes: shared_bytes::<u8>(rows * pitch), ..self }
    }

    fn packed(problem: &TransposeProblem, packed: &Packed) -> Self {
        let Packed { pack_bytes, packs, elements, shape, .. } = packed;
        let places = shape.packs(shape.across * elements, *packs, *elements);
        let geometry = Geometry::with_tile(problem, 4, packed.tile(), 0);
        let shared_bytes = u64::from(places * pack_bytes);
        Geometry { threads: shape.threads(), shared_bytes, at_once: pack_bytes / 4, ..geometry }
    }

    /// Returns the launch parameters for pairs of square tiles: only those on and above the diagonal have a block.
    fn in_pairs(self) -> Self {
        let tiles = self.problem.rows.div_ceil(self.tile[0]);
        // Saturating: more tiles than a grid has blocks are refused when they are launched.
        let pairs = tiles.saturating_mul(tiles + 1) / 2;
        Geometry { shared_bytes: 2 * self.shared_bytes, grid: [pairs, 1], across_log2: 0, ..self }
    }

    fn skewed(problem: &TransposeProblem, skewed: &Skewed, tuning: &LaunchConstants) -> Self {
        let cut = skewed.cut(problem, tuning).expect("`TransposeKernel::skewed` has found that the kernel can do it");
        let (tile_pitch, places) = skewed.places(&cut);
        // Columns can end up to `halo` rows before their tile ends. The next tile writes the rest.
        let halo = u64::from(skewed.skew.halo());
        let geometry = Geometry::with_tile(problem, skewed.unit, [cut.rows, cut.columns], halo);
        Geometry { tile_pitch, shared_bytes: skewed.shared_bytes(&cut), skewed: places, ..geometry }
    }

    fn whole(problem: &TransposeProblem, whole: &Whole, tuning: &LaunchConstants) -> Self {
        let group = whole.group(problem, tuning).expect("`TransposeKernel::whole` has found that the kernel can do it");
        let geometry = Geometry::with_tile(problem, whole.unit, [problem.rows, problem.columns], 0);
        Geometry { shared_bytes: whole.shared_bytes(&group), group, ..geometry }
    }

    /// Returns the number of matrices that a block transposes, or several blocks along x and y.
    fn matrices_at_once(&self) -> u64 {
        u64::from(self.group.at_once).max(1)
    }

    /// Returns the number of blocks of all launches along z.
    fn deep(&self) -> u64 {
        self.problem.matrices.div_ceil(self.matrices_at_once())
    }

    /// Returns the number of blocks of all launches.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.grid.iter().fold(self.deep(), |blocks, along| blocks.saturating_mul(*along))
    }

    /// Returns the number of launches.
    #[must_use]
    pub fn launches(&self) -> u64 {
        self.deep().div_ceil(MOST_BLOCKS)
    }

    /// Returns the launches: one, unless there are more matrices than a grid has blocks along z.
    pub fn parts(&self) -> impl Iterator<Item = MatrixPart> + use<> {
        let ([x, y], matrices, at_once) = (self.grid, self.problem.matrices, self.matrices_at_once());
        let of_launch = MOST_BLOCKS * at_once;
        (0..self.launches()).map(move |part| {
            let first_matrix = part * of_launch;
            let end = matrices.min(first_matrix + of_launch);
            MatrixPart { first_matrix, end, grid: [x, y, (end - first_matrix).div_ceil(at_once)] }
        })
    }

    /// Returns the layout that the kernel receives as an argument.
    #[must_use]
    pub fn layout(&self, part: MatrixPart) -> Layout {
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
            // The casts are exact. The host has compared the element with `TransposeProblem::largest_element`. A tile has several
            // elements only if these are short, and its rows are padded by at most 32 words.
            units: units(problem.element) as u32,
            tile_rows: self.tile[0] as u32,
            tile_columns: self.tile[1] as u32,
            tile_pitch: self.tile_pitch as u32,
            across_log2: self.across_log2,
        }
    }
}
