//! Boards on CUDA and emulated GPUs.
//!
//! In memory, a packed word of the host is two words of 32 cells, or 16 words of four cells with a byte for each.

use super::tuning::Tuning;
use super::words::{Area, Size};
use super::{LifeAlgorithm, Rule, Topology};
use crate::info::SharedMemory;
use crate::kernel::{Launch, WithConstants};
use crate::rows::{Place, Rows};
use crate::{Buffer, Device, Error, LaunchPlan, LaunchShape, Result, Windows, allocation};
use cuda_std::{Entry, Table};
use slm_kernels::life::{
    self as kernels, Args, CensusArgs, Ends, GENERATIONS, Geometry, MASKS, life_blocked, life_blocked_bounded,
    life_blocked_conway, life_blocked_conway_bounded, life_census, life_census_bytes, life_global, life_packed,
    life_packed_conway, life_tile, masks, rule_table,
};
use std::sync::Arc;

/// Maximum number of rows and of columns: kernels count them with 32 bits.
const MAX_SIDE: u64 = 1 << 31;

/// Words that are compared on the host at a time.
const COMPARED: usize = 1 << 20;

/// A board on a GPU.
pub(super) struct Cells {
    device: Device,
    shared: SharedMemory,
    size: Size,
    kernels: Arc<Kernels>,
    current: Buffer<u32>,
    next: Buffer<u32>,
    kept: Option<Buffer<u32>>,
}

/// The kernels of a board, and what they are launched with.
struct Kernels {
    /// Computes a generation.
    step: Step,
    /// Computes several generations.
    pass: Option<Step>,
    board: kernels::Board,
    table: u32,
    layout: Layout,
    census: Box<dyn Launch<CensusArgs>>,
    census_geometry: Geometry,
}

/// A kernel that computes generations.
struct Step {
    kernel: Box<dyn Launch<Args>>,
    geometry: Geometry,
    generations: u64,
}

impl Step {
    fn one(kernel: impl Launch<Args> + 'static, geometry: Geometry) -> Self {
        Step { kernel: Box::new(kernel), geometry, generations: 1 }
    }

    /// Returns the kernel that computes several generations.
    fn pass(device: &Device, sides: [u64; 2], topology: Topology, rule: Rule, processors: u64) -> Result<Self> {
        let kernel = match topology.ends() {
            Ends::Dead => of_rule::<life_blocked_conway_bounded, life_blocked_bounded>(device, rule)?,
            Ends::Joined | Ends::Mirrored => of_rule::<life_blocked_conway, life_blocked>(device, rule)?,
        };
        // The number of resident blocks does not depend on the grid.
        let shape = shape(&Geometry::blocked(sides, processors, 0));
        let resident = kernel.residency(shape)?.map_or(0, |residency| residency.blocks_per_multiprocessor.into());
        let geometry = Geometry::blocked(sides, processors, resident);
        Ok(Step { kernel, geometry, generations: GENERATIONS.into() })
    }

    fn shape(&self) -> LaunchShape {
        shape(&self.geometry)
    }
}

/// Loads the kernel of Conway's rule or of all rules.
fn of_rule<C, A>(device: &Device, rule: Rule) -> Result<Box<dyn Launch<Args>>>
where
    C: Entry<Constants = (), Args: TryFrom<Args, Error: Into<Error>>>,
    A: Entry<Constants = Table<u32, { 2 * MASKS }>, Args: TryFrom<Args, Error: Into<Error>>>,
{
    if rule == Rule::CONWAY {
        return Ok(Box::new(device.own_kernel::<C>()?));
    }
    let constants = masks_of(rule_table(rule.births(), rule.survivals()));
    Ok(Box::new(WithConstants { kernel: device.own_kernel::<A>()?, constants }))
}

/// Cells in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Bits,
    Bytes,
}

impl Layout {
    /// Returns the words for a packed word of the host.
    fn scale(self) -> usize {
        match self {
            Layout::Bits => 2,
            Layout::Bytes => 16,
        }
    }

    /// Returns the bytes of `cells` cells.
    fn bytes(self, cells: u64) -> u64 {
        match self {
            Layout::Bits => cells.div_ceil(8),
            Layout::Bytes => cells,
        }
    }

    /// Appends the words for a packed word.
    fn encode(self, word: u64, words: &mut Vec<u32>) {
        match self {
            Layout::Bits => words.extend([word as u32, (word >> 32) as u32]),
            Layout::Bytes => words.extend((0..16).map(|k| {
                let four = (word >> (4 * k)) as u32 & 15;
                (four | four << 7 | four << 14 | four << 21) & 0x0101_0101
            })),
        }
    }

    /// Returns the packed word for words in memory.
    fn decode(self, words: &[u32]) -> u64 {
        let of_bytes = |word: u32| u64::from((word | word >> 7 | word >> 14 | word >> 21) & 15);
        match self {
            Layout::Bits => u64::from(words[0]) | u64::from(words[1]) << 32,
            Layout::Bytes => words.iter().rev().fold(0, |packed, &word| packed << 4 | of_bytes(word)),
        }
    }
}

impl Kernels {
    fn load(device: &Device, size: Size, topology: Topology, rule: Rule, algorithm: LifeAlgorithm) -> Result<Self> {
        let (sides, table) = ([size.rows as u64, size.columns as u64], rule_table(rule.births(), rule.survivals()));
        let (step, layout) = match algorithm {
            LifeAlgorithm::GlobalMemory => {
                (Step::one(device.own_kernel::<life_global>()?, Geometry::global(sides)), Layout::Bytes)
            }
            LifeAlgorithm::SharedTile => {
                (Step::one(device.own_kernel::<life_tile>()?, Geometry::tile(sides)), Layout::Bytes)
            }
            LifeAlgorithm::Auto | LifeAlgorithm::BitPacked | LifeAlgorithm::Blocked => {
                let kernel = of_rule::<life_packed_conway, life_packed>(device, rule)?;
                (Step { kernel, geometry: Geometry::packed(sides), generations: 1 }, Layout::Bits)
            }
        };
        let processors = Tuning::new(device.info()).processors;
        let pass = match algorithm {
            LifeAlgorithm::Auto | LifeAlgorithm::Blocked => {
                Some(Step::pass(device, sides, topology, rule, processors)?)
            }
            _ => None,
        };
        let pitch = size.width() * layout.scale();
        let board = kernels::Board {
            rows: size.rows as u32,
            columns: size.columns as u32,
            pitch: pitch as u64,
            wraps: topology.wraps().into(),
            ends: topology.ends() as u32,
        };
        let census_geometry = Geometry::census(size.words() as u64, processors);
        let census: Box<dyn Launch<CensusArgs>> = match layout {
            Layout::Bits => Box::new(device.own_kernel::<life_census>()?),
            Layout::Bytes => Box::new(device.own_kernel::<life_census_bytes>()?),
        };
        Ok(Kernels { step, pass, board, table, layout, census, census_geometry })
    }
}

/// Returns the masks of all sums.
fn masks_of(table: u32) -> Table<u32, { 2 * MASKS }> {
    Table(std::array::from_fn(|i| if masks(table, (i / 2) as u32)[i % 2] { u32::MAX } else { 0 }))
}

fn shape(geometry: &Geometry) -> LaunchShape {
    let [x, y] = geometry.block;
    LaunchShape::new([geometry.blocks, 1, 1], [x, y, 1]).shared_bytes(geometry.shared_bytes)
}

impl Cells {
    pub(super) fn new(
        device: &Device,
        shared: SharedMemory,
        size: Size,
        topology: Topology,
        rule: Rule,
        algorithm: LifeAlgorithm,
    ) -> Result<Self> {
        for (what, side) in [("the number of rows", size.rows as u64), ("the number of columns", size.columns as u64)] {
            if side > MAX_SIDE {
                return Err(Error::TooLarge { what, factors: [side, 1], limit: MAX_SIDE });
            }
        }
        let kernels = Kernels::load(device, size, topology, rule, algorithm)?;
        shared.check(kernels.step.kernel.name(), kernels.step.geometry.shared_bytes)?;
        let len = size.words().saturating_mul(kernels.layout.scale());
        let [current, next] = [device.zeroed(len)?, device.zeroed(len)?];
        Ok(Cells { device: device.clone(), shared, size, kernels: Arc::new(kernels), current, next, kept: None })
    }

    pub(super) fn try_clone(&self) -> Result<Self> {
        let [mut current, next] = [self.device.zeroed(self.current.len())?, self.device.zeroed(self.current.len())?];
        current.copy_from(&self.current)?;
        let (device, kernels) = (self.device.clone(), self.kernels.clone());
        Ok(Cells { device, shared: self.shared, size: self.size, kernels, current, next, kept: None })
    }

    /// Returns the packed words of an area.
    pub(super) fn load(&self, area: &Area) -> Result<Vec<u64>> {
        let (layout, len) = (self.kernels.layout, area.words.len() * self.kernels.layout.scale());
        let mut words = allocation::filled(0, area.rows.len() * len)?;
        let rows = Rows { count: area.rows.len(), len, source: self.place(area), target: Place::at_start(len) };
        self.current.download_rows(&mut words, rows)?;
        let mut packed = allocation::reserved(area.len())?;
        packed.extend(words.chunks_exact(layout.scale()).map(|words| layout.decode(words)));
        Ok(packed)
    }

    /// Overwrites the packed words of an area.
    pub(super) fn store(&mut self, area: &Area, packed: &[u64]) -> Result<()> {
        let (layout, len) = (self.kernels.layout, area.words.len() * self.kernels.layout.scale());
        let mut words = allocation::reserved(area.rows.len() * len)?;
        packed.iter().for_each(|word| layout.encode(*word, &mut words));
        let rows = Rows { count: area.rows.len(), len, source: Place::at_start(len), target: self.place(area) };
        self.current.upload_rows(&words, rows)
    }

    /// Returns the place of an area in memory.
    fn place(&self, area: &Area) -> Place {
        let (scale, pitch) = (self.kernels.layout.scale(), self.size.width() * self.kernels.layout.scale());
        Place { first: area.rows.start * pitch + area.words.start * scale, pitch }
    }

    /// Enqueues the computation of one generation or of several, but not of more than `most`. Returns their number. After an
    /// error the board is as it was.
    pub(super) fn step(&mut self, most: u64) -> Result<u64> {
        let mut windows = Windows::new(&self.device);
        let (input, output) = (windows.input(&self.current), windows.output(&mut self.next));
        let kernels = &self.kernels;
        let step = kernels.pass.as_ref().filter(|pass| pass.generations <= most).unwrap_or(&kernels.step);
        let args = Args { input, output, board: kernels.board, table: kernels.table };
        let submission = self.device.submission_lock()?;
        step.kernel.launch(&windows, step.shape(), args, &())?;
        drop(submission);
        std::mem::swap(&mut self.current, &mut self.next);
        Ok(step.generations)
    }

    /// Enqueues a census, which adds the number of living cells to element `first` of `counts`, and the hash to the next one.
    pub(super) fn census(&self, counts: &mut Buffer<u64>, first: u64) -> Result<()> {
        let mut windows = Windows::new(&self.device);
        let args = CensusArgs { cells: windows.input(&self.current), counts: windows.output(counts), first };
        let _submission = self.device.submission_lock()?;
        self.kernels.census.launch(&windows, shape(&self.kernels.census_geometry), args, &())
    }

    /// Keeps a copy of the cells.
    pub(super) fn keep(&mut self) -> Result<()> {
        let mut kept = self.kept.take().map_or_else(|| self.device.zeroed(self.current.len()), Ok)?;
        kept.copy_from(&self.current)?;
        self.kept = Some(kept);
        Ok(())
    }

    /// Returns whether the cells are those that were kept.
    pub(super) fn is_as_kept(&self) -> Result<bool> {
        let Some(kept) = &self.kept else { return Ok(false) };
        let [mut now, mut then] = [allocation::filled(0, COMPARED)?, allocation::filled(0, COMPARED)?];
        for first in (0..kept.len()).step_by(COMPARED) {
            let count = COMPARED.min(kept.len() - first);
            let rows =
                Rows { count: 1, len: count, source: Place { first, pitch: count }, target: Place::at_start(count) };
            self.current.download_rows(&mut now[..count], rows)?;
            kept.download_rows(&mut then[..count], rows)?;
            if now[..count] != then[..count] {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Frees the copy of the cells.
    pub(super) fn forget(&mut self) {
        self.kept = None;
    }

    /// Returns the launch that computes the most generations, and their number.
    pub(super) fn plan(&self) -> (LaunchPlan, u64) {
        let (kernels, cells) = (&self.kernels, self.size.columns as u64);
        let step = kernels.pass.as_ref().unwrap_or(&kernels.step);
        let (kernel, shape) = (&step.kernel, step.shape());
        let plan = LaunchPlan {
            moved_bytes: 2 * self.size.rows as u64 * kernels.layout.bytes(cells),
            ..LaunchPlan::once(kernel.name(), shape, self.shared, kernel.residency(shape))
        };
        (plan, step.generations)
    }
}
