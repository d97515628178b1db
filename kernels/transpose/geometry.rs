//! From a problem's size to grid, block and shared memory: what the host has to know.

use super::packed::Shape;
use super::skewed::Skew;
use super::{Layout, PACKED, SKEWED, THREADS};
use cuda_std::host::banks::{Banks, WarpAccess};
use cuda_std::shared_bytes;

/// The most blocks of a grid along x.
const MOST_BLOCKS: u64 = i32::MAX as u64;

/// The bytes of a tile.
const TILE_BYTES: u64 = 16 << 10;

/// The longest side of a square tile.
const LONGEST_SIDE: u64 = 128;

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

    /// The largest power of two up to `most` that divides whatever decides where elements begin.
    fn alignment(&self, most: u64) -> u64 {
        let steps = self.element | self.input_pitch | self.output_pitch | most;
        1 << steps.trailing_zeros()
    }

    /// Whether groups and packs of this kernel are whole everywhere.
    fn fits(&self, packed: &Packed) -> bool {
        let group = u64::from(packed.elements);
        packed.element() == self.element
            && [self.rows, self.columns].iter().all(|length| length % group == 0)
            && [self.input_pitch, self.output_pitch].iter().all(|pitch| pitch % u64::from(packed.pack_bytes) == 0)
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

    /// Rows and columns of a tile. They take about `SKEWED_BYTES` of shared memory: as a rule with `PACK_ROW` bytes of
    /// every row of the output and `PACKS` packs of every row of the input, fewer of the one and more of the other where a
    /// matrix is narrow.
    fn tile(&self, problem: &Problem) -> [u64; 2] {
        let element = self.element();
        let most_rows = (problem.rows + u64::from(self.skew.halo())).next_multiple_of(ROWS);
        let rows = |packs: u64| (SKEWED_BYTES / (packs * PACK)).max(2 * ROWS) / ROWS * ROWS - ROWS;
        let columns = |packs: u64| ((packs - 1) * PACK / element).max(1);
        let usual = (PACK_ROW / element).next_multiple_of(ROWS).min(SKEWED_BYTES / (PACKS * PACK));
        if problem.columns <= columns(PACKS) {
            return [rows(self.packs(problem.columns)).min(most_rows), problem.columns];
        }
        let packs = if most_rows < usual { SKEWED_BYTES / (2 * most_rows * PACK) } else { PACKS };
        [usual.min(most_rows), columns(packs.max(PACKS)).min(problem.columns)]
    }

    /// The most packs that some columns of a row lie in.
    fn packs(&self, columns: u64) -> u64 {
        (u64::from(self.skew.per_pack) - 1 + columns * u64::from(self.skew.units))
            .div_ceil(u64::from(self.skew.per_pack))
    }

    /// The words of a row in shared memory, and the places between a row and the next one: odd numbers.
    fn places(&self, [rows, columns]: [u64; 2]) -> [u64; 2] {
        let lines = rows + u64::from(self.skew.halo());
        [(4 * self.packs(columns)) | 1, lines.div_ceil(u64::from(self.skew.rows())) | 1]
    }
}

/// The bytes of a pack.
const PACK: u64 = 16;

/// The packs of a tile's row in the input, as a rule.
const PACKS: u64 = 16;

/// The bytes of a tile's row in the output, as a rule.
const PACK_ROW: u64 = 512;

/// The rows of a skewed tile are a multiple of this, so that they make whole sectors of the output with elements of any size.
const ROWS: u64 = 32;

/// The shared memory of a skewed tile, about.
const SKEWED_BYTES: u64 = 32 << 10;

/// Elements of so many bytes have bands of several rows of tiles. Tried on an H200 with matrices of 1 to 4 GiB: with one
/// row all blocks that run at a time write other pages of memory; with smaller elements that does not matter.
const BANDED: u64 = 8;

/// Rows of tiles whose blocks then follow each other column after column.
const BAND: u32 = 32;

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
    /// Packs on both sides, wherever rows begin.
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

    /// With packs, if there is a kernel for elements of this size and everything is aligned. `None` as well for matrices
    /// that would leave most of a tile empty.
    #[must_use]
    pub fn packed(problem: &Problem) -> Option<Self> {
        let fills = |packed: &Packed| {
            let [rows, columns] = packed.tile();
            2 * problem.rows >= rows && 2 * problem.columns >= columns
        };
        PACKED.iter().find(|packed| problem.fits(packed) && fills(packed)).map(Kernel::Packed)
    }

    /// With packs wherever rows begin, if there is a kernel for elements of this size and units are aligned.
    #[must_use]
    pub fn skewed(problem: &Problem) -> Option<Self> {
        let fits = |skewed: &&Skewed| {
            let unit = u64::from(skewed.unit);
            skewed.element() == problem.element && problem.alignment(unit) == unit
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
    /// The tiles of a matrix, from the first row to the last and from the first column to the last.
    tiles: [u64; 2],
    /// Rows and columns of a tile.
    tile: [u64; 2],
    /// Bytes from row to row of the tile.
    tile_pitch: u64,
    problem: Problem,
    kernel: Kernel,
}

/// One launch: some of the matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first matrix.
    pub first_matrix: u64,
    /// Blocks along x.
    pub blocks: u64,
}

impl Geometry {
    /// How to launch `kernel`.
    #[must_use]
    pub fn new(kernel: Kernel, problem: &Problem) -> Self {
        let tile = match kernel {
            Kernel::Packed(packed) => packed.tile(),
            Kernel::Skewed(skewed) => skewed.tile(problem),
            Kernel::Swap(_) => [side(problem.element, TILE_BYTES / 2).min(problem.rows); 2],
            Kernel::Naive(_) | Kernel::Shared { .. } => tile(problem),
        };
        let width = tile[1] * problem.element;
        let unit = kernel.unit();
        let tile_pitch = match kernel {
            Kernel::Shared { padded: true, .. } | Kernel::Swap(_) => padded(width, problem.element, unit),
            Kernel::Skewed(skewed) => skewed.places(tile)[0] * u64::from(unit),
            _ => width,
        };
        let one = shared_bytes::<u8>(tile[0] * tile_pitch);
        let (threads, shared_bytes) = match kernel {
            Kernel::Naive(_) => (THREADS, 0),
            Kernel::Shared { .. } => (THREADS, one),
            Kernel::Swap(_) => (THREADS, 2 * one),
            Kernel::Packed(Packed { pack_bytes, packs, elements, shape, .. }) => {
                let places = shape.packs(shape.across * elements, *packs, *elements);
                (shape.threads(), u64::from(places * pack_bytes))
            }
            Kernel::Skewed(skewed) => {
                let [words, places] = skewed.places(tile);
                (THREADS, shared_bytes::<u32>(u64::from(skewed.skew.rows()) * places * words))
            }
        };
        // Packs of the output's rows begin in the tile before.
        let halo = if let Kernel::Skewed(skewed) = kernel { skewed.skew.halo() } else { 0 };
        let tiles = [(problem.rows + u64::from(halo)).div_ceil(tile[0]), problem.columns.div_ceil(tile[1])];
        Geometry { threads, shared_bytes, tiles, tile, tile_pitch, problem: *problem, kernel }
    }

    /// The blocks of all launches.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.problem.matrices.saturating_mul(self.blocks_of_matrix())
    }

    fn blocks_of_matrix(&self) -> u64 {
        self.tiles[0].saturating_mul(self.tiles[1])
    }

    /// The most matrices of one launch; one, even if that is more than a grid can have.
    fn most_matrices(&self) -> u64 {
        (MOST_BLOCKS / self.blocks_of_matrix()).max(1)
    }

    /// How many launches there are.
    #[must_use]
    pub fn launches(&self) -> u64 {
        self.problem.matrices.div_ceil(self.most_matrices())
    }

    /// The launches: one, unless that would be more blocks than a grid can have.
    pub fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        let (geometry, most) = (*self, self.most_matrices());
        (0..self.launches()).map(move |part| {
            let first_matrix = part * most;
            let matrices = most.min(geometry.problem.matrices - first_matrix);
            Part { first_matrix, blocks: matrices.saturating_mul(geometry.blocks_of_matrix()) }
        })
    }

    /// What the kernel has to know. Numbers of tiles are those of a launch that a device can make.
    #[must_use]
    pub fn layout(&self, part: Part) -> Layout {
        let problem = &self.problem;
        let units = |bytes: u64| bytes / u64::from(self.kernel.unit());
        let [input_matrix, output_matrix] = problem.matrix().map(units);
        Layout {
            rows: problem.rows,
            columns: problem.columns,
            input_pitch: units(problem.input_pitch),
            output_pitch: units(problem.output_pitch),
            input_matrix,
            output_matrix,
            first_matrix: part.first_matrix,
            units: units(problem.element) as u32,
            tile_rows: self.tile[0] as u32,
            tile_columns: self.tile[1] as u32,
            row_tiles: self.tiles[0] as u32,
            column_tiles: self.tiles[1] as u32,
            tile_pitch: units(self.tile_pitch) as u32,
            band: if problem.element < BANDED { 1 } else { BAND },
        }
    }

    /// The same for a kernel that does not need rows to be aligned: the places between a row and the next one, and the
    /// binary logarithm of how many packs of a row are brought by neighbouring threads.
    #[must_use]
    pub fn places(&self) -> [u32; 2] {
        let Kernel::Skewed(skewed) = self.kernel else { return [0; 2] };
        let packs = skewed.packs(self.tile[1]).next_power_of_two().min(8);
        [skewed.places(self.tile)[1] as u32, packs.ilog2()]
    }
}

/// The longest side of a square tile of so many bytes: a power of two.
fn side(element: u64, bytes: u64) -> u64 {
    let elements = (bytes / element).max(1);
    let side = 1 << (elements.ilog2() / 2);
    LONGEST_SIDE.min(side)
}

/// Rows and columns of a tile: a square one, or of a narrow matrix as much as makes as many elements.
fn tile(problem: &Problem) -> [u64; 2] {
    let side = side(problem.element, TILE_BYTES);
    // Whole warps of rows or columns.
    let longest = |other: u64| (side * side / other).max(32) / 32 * 32;
    match (problem.rows < side, problem.columns < side) {
        (_, true) => [longest(problem.columns).min(problem.rows), problem.columns],
        (true, false) => [problem.rows, longest(problem.rows).min(problem.columns)],
        (false, false) => [side, side],
    }
}

/// The row length of a tile, `width` or somewhat more, at which the fewest lanes meet when a warp reads a column of
/// elements unit by unit.
fn padded(width: u64, element: u64, unit: u32) -> u64 {
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
    candidates.min_by_key(cost).unwrap_or(width)
}
