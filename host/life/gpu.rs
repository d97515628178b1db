//! Boards on CUDA and emulated GPUs.
//!
//! In memory, a packed word of the host is two words of 32 cells, or 16 words of four cells with a byte for each.

use super::choose::{Choice, KernelSet, Rules};
use super::tuning::LifeTuning;
use super::words::{Area, AreaWords, Size};
use super::{Rule, Topology};
use crate::cpu::allocation;
use crate::device::gpu::Gpu;
use crate::device::kernel::{Launch, Loaded, WithConstants};
use crate::device::rows::{Place, Rows};
use crate::plan::Planned;
use crate::{Buffer, Error, LaunchPlan, LaunchShape, Result, Windows};
use cuda_std::{Entry, GlobalIn, GlobalOut, Table};
use slm_kernels::life::{
    self as kernels, Args, BlockedArgs, CensusArgs, Counts, GENERATIONS, Geometry, MASKS, PassTuning, life_blocked,
    life_blocked_bounded, life_blocked_conway, life_blocked_conway_bounded, life_census, life_census_bytes,
    life_global, life_packed, life_packed_conway, life_tile, masks, rule_table,
};
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of rows and of columns: kernels count them with 32 bits.
const MAX_SIDE: u64 = 1 << 31;

/// Words that are compared on the host at a time.
const COMPARED: usize = 1 << 20;

/// A board on a GPU.
pub(super) struct Cells {
    gpu: Gpu,
    size: Size,
    kernels: Arc<Kernels>,
    current: Buffer<u32>,
    next: Buffer<u32>,
    kept: Option<Buffer<u32>>,
}

/// A kernel that computes a generation.
type Stepping = dyn for<'l> Launch<Args<'l>>;

/// A kernel that computes several generations.
type Blocked = dyn for<'l> Launch<BlockedArgs<'l>>;

/// The kernels of a board, and what they are launched with.
struct Kernels {
    /// Why these were chosen.
    reason: &'static str,
    /// Computes a generation.
    step: Step<Stepping>,
    /// Computes several generations.
    pass: Option<Pass>,
    board: kernels::Board,
    table: u32,
    layout: Layout,
    census: Step<dyn for<'l> Launch<CensusArgs<'l>>>,
}

/// A kernel, and how it is launched.
struct Step<K: ?Sized> {
    geometry: Geometry,
    kernel: Box<K>,
}

impl<K: Loaded + ?Sized> Step<K> {
    fn launch<A>(&self, gpu: &Gpu, windows: &Windows<'_, '_>, args: A) -> Result<()>
    where
        K: Launch<A>,
    {
        self.launch_as(&self.geometry, gpu, windows, args)
    }

    /// Launches the kernel in another way.
    fn launch_as<A>(&self, geometry: &Geometry, gpu: &Gpu, windows: &Windows<'_, '_>, args: A) -> Result<()>
    where
        K: Launch<A>,
    {
        let _submission = gpu.submission_lock()?;
        self.kernel.launch(windows, shape(geometry), args, &())
    }

    /// Returns the plan without the moved bytes.
    fn plan(&self, gpu: &Gpu) -> LaunchPlan {
        let (kernel, shape) = (&self.kernel, shape(&self.geometry));
        gpu.launch_plan(kernel.name(), shape, kernel.residency(shape))
    }
}

/// The kernel that computes [`GENERATIONS`] generations, and can take a census of the first one.
struct Pass {
    step: Step<Blocked>,
    /// How it is launched with a census.
    with_census: Geometry,
}

/// Loads the kernel of Conway's rule, or that of all rules with a rule.
macro_rules! of_rules {
    ($gpu:expr, $rules:expr, $rule:expr, $conway:ty, $all:ty) => {
        match $rules {
            Rules::Conway => Box::new($gpu.own_kernel::<$conway>()?) as _,
            Rules::All => Box::new(with_masks::<$all>($gpu, $rule)?) as _,
        }
    };
}

impl Pass {
    fn new(kernel: Box<Blocked>, sides: [u64; 2], tuning: LifeTuning) -> Result<Self> {
        let LifeTuning { processors, times_of_row } = tuning;
        let tuning = |resident| PassTuning { processors, resident, times_of_row };
        // The number of resident blocks of a warp does not depend on the grid.
        let residency = kernel.residency(shape(&Geometry::blocked(sides, &tuning(0))))?;
        let tuning = tuning(residency.map_or(0, |residency| residency.blocks_per_multiprocessor.into()));
        let with_census = Geometry::blocked_with_census(sides, &tuning);
        Ok(Pass { step: Step { kernel, geometry: Geometry::blocked(sides, &tuning) }, with_census })
    }
}

/// Loads the kernel of all rules, for one of them.
fn with_masks<E: Entry<Constants = Table<u32, { 2 * MASKS }>>>(gpu: &Gpu, rule: Rule) -> Result<WithConstants<E>> {
    let constants = masks_of(rule_table(rule.births(), rule.survivals()));
    Ok(WithConstants { kernel: gpu.own_kernel()?, constants })
}

/// Cells in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
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

    /// Returns the bytes of the cells of a row.
    fn row_bytes(self, columns: usize) -> u64 {
        match self {
            Layout::Bits => columns.div_ceil(8) as u64,
            Layout::Bytes => columns as u64,
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
    fn load(gpu: &Gpu, size: Size, topology: Topology, rule: Rule, choice: Choice) -> Result<Self> {
        let (sides, tuning) = ([size.rows as u64, size.columns as u64], LifeTuning::new(gpu.info()));
        let (step, layout) = Self::step(gpu, sides, rule, choice.kernels)?;
        let pass = match choice.kernels {
            KernelSet::Blocked { rules, is_bounded } => {
                let kernel = Self::blocked(gpu, rule, rules, is_bounded)?;
                Some(Pass::new(kernel, sides, tuning)?)
            }
            KernelSet::Global | KernelSet::Tile | KernelSet::Packed(_) => None,
        };
        let pitch = size.width() * layout.scale();
        let board = kernels::Board {
            rows: size.rows as u32,
            columns: size.columns as u32,
            pitch: pitch as u64,
            wraps: topology.wraps().into(),
            ends: topology.ends() as u32,
        };
        let census: Box<dyn for<'l> Launch<CensusArgs<'l>>> = match layout {
            Layout::Bits => Box::new(gpu.own_kernel::<life_census>()?),
            Layout::Bytes => Box::new(gpu.own_kernel::<life_census_bytes>()?),
        };
        let census = Step { geometry: Geometry::census(sides, tuning.processors), kernel: census };
        let table = rule_table(rule.births(), rule.survivals());
        Ok(Kernels { reason: choice.reason, step, pass, board, table, layout, census })
    }

    /// Loads the kernel of one generation.
    fn step(gpu: &Gpu, sides: [u64; 2], rule: Rule, kernels: KernelSet) -> Result<(Step<Stepping>, Layout)> {
        let (kernel, geometry, layout): (Box<Stepping>, _, _) = match kernels {
            KernelSet::Global => (Box::new(gpu.own_kernel::<life_global>()?), Geometry::global(sides), Layout::Bytes),
            KernelSet::Tile => (Box::new(gpu.own_kernel::<life_tile>()?), Geometry::tile(sides), Layout::Bytes),
            KernelSet::Packed(rules) | KernelSet::Blocked { rules, .. } => {
                let kernel = of_rules!(gpu, rules, rule, life_packed_conway, life_packed);
                (kernel, Geometry::packed(sides), Layout::Bits)
            }
        };
        Ok((Step { geometry, kernel }, layout))
    }

    /// Loads the kernel of several generations.
    fn blocked(gpu: &Gpu, rule: Rule, rules: Rules, is_bounded: bool) -> Result<Box<Blocked>> {
        Ok(match is_bounded {
            true => of_rules!(gpu, rules, rule, life_blocked_conway_bounded, life_blocked_bounded),
            false => of_rules!(gpu, rules, rule, life_blocked_conway, life_blocked),
        })
    }

    fn args<'l>(&self, input: GlobalIn<'l, u32>, output: GlobalOut<'l, u32>) -> Args<'l> {
        Args { input, output, board: self.board, table: self.table }
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
    pub(super) fn new(gpu: &Gpu, size: Size, topology: Topology, rule: Rule, choice: Choice) -> Result<Self> {
        for (what, side) in [("the number of rows", size.rows as u64), ("the number of columns", size.columns as u64)] {
            if side > MAX_SIDE {
                return Err(Error::TooLarge { what, factors: [side, 1], limit: MAX_SIDE });
            }
        }
        let kernels = Kernels::load(gpu, size, topology, rule, choice)?;
        gpu.shared.check(kernels.step.kernel.name(), kernels.step.geometry.shared_bytes)?;
        let len = size.words().saturating_mul(kernels.layout.scale());
        let (current, next) = (gpu.zeroed(len)?, next(gpu, size, len)?);
        Ok(Cells { gpu: gpu.clone(), size, kernels: Arc::new(kernels), current, next, kept: None })
    }

    pub(super) fn layout(&self) -> Layout {
        self.kernels.layout
    }

    pub(super) fn current(&self) -> &Buffer<u32> {
        &self.current
    }

    pub(super) fn current_mut(&mut self) -> &mut Buffer<u32> {
        &mut self.current
    }

    /// Returns where a row begins, and the length of rows.
    pub(super) fn place_of_row(&self, row: usize) -> Place {
        self.place(&Area::of_rows(row..row, self.size))
    }

    pub(super) fn try_clone(&self) -> Result<Self> {
        let len = self.current.len();
        let (mut current, next) = (self.gpu.unwritten(len)?, next(&self.gpu, self.size, len)?);
        current.copy_from(&self.current)?;
        let (gpu, kernels) = (self.gpu.clone(), self.kernels.clone());
        Ok(Cells { gpu, size: self.size, kernels, current, next, kept: None })
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

    /// Returns the memory and whole rows there, to be copied.
    pub(super) fn rows(&self, rows: Range<usize>) -> (&Buffer<u32>, Rows) {
        let Place { first, pitch } = self.place_of_row(rows.start);
        let len = rows.len() * pitch;
        (&self.current, Rows { source: Place { first, pitch: len }, ..Rows::whole(len) })
    }

    /// Overwrites rows from `row` on with elements of another buffer, as [`rows`](Self::rows) has them.
    pub(super) fn store_rows(&mut self, row: usize, count: usize, elements: &Buffer<u32>, first: usize) -> Result<()> {
        let target = self.place_of_row(row);
        let len = count * target.pitch;
        let rows = Rows { source: Place { first, pitch: len }, target, ..Rows::whole(len) };
        self.current.copy_rows(elements, rows)
    }

    /// Overwrites packed words. Nothing is overwritten if there is too little memory for one of the parts.
    pub(super) fn store(&mut self, parts: &[AreaWords]) -> Result<()> {
        let encoded: Vec<_> = parts.iter().map(|part| self.encoded(part)).collect::<Result<_>>()?;
        for (AreaWords { area, .. }, words) in parts.iter().zip(encoded) {
            let len = area.words.len() * self.kernels.layout.scale();
            let rows = Rows { count: area.rows.len(), len, source: Place::at_start(len), target: self.place(area) };
            self.current.upload_rows(&words, rows)?;
        }
        Ok(())
    }

    /// Returns the words in memory for packed words.
    fn encoded(&self, part: &AreaWords) -> Result<Vec<u32>> {
        let layout = self.kernels.layout;
        let mut words = allocation::reserved(part.words.len() * layout.scale())?;
        part.words.iter().for_each(|word| layout.encode(*word, &mut words));
        Ok(words)
    }

    /// Returns the place of an area in memory.
    fn place(&self, area: &Area) -> Place {
        let (scale, pitch) = (self.kernels.layout.scale(), self.size.width() * self.kernels.layout.scale());
        Place { first: area.rows.start * pitch + area.words.start * scale, pitch }
    }

    /// Enqueues the computation of one generation or of several, but not of more than `most`. Returns their number. After an
    /// error the board is as it was.
    pub(super) fn step(&mut self, most: u64) -> Result<u64> {
        let mut windows = Windows::new(&self.gpu);
        let args = self.kernels.args(windows.input(&self.current), windows.output(&mut self.next));
        let generations = match self.kernels.pass.as_ref().filter(|_| most >= GENERATIONS.into()) {
            Some(Pass { step, .. }) => {
                let no_counts = Counts { sums: GlobalOut::empty(), first: 0 };
                step.launch(&self.gpu, &windows, BlockedArgs::new(args, 0, no_counts))?;
                GENERATIONS.into()
            }
            None => {
                self.kernels.step.launch(&self.gpu, &windows, args)?;
                1
            }
        };
        std::mem::swap(&mut self.current, &mut self.next);
        Ok(generations)
    }

    /// Enqueues a census, which adds the number of living cells to element `first` of `counts`, and the sums of the hash to the
    /// next ones. If the algorithm computes several generations at a time and `most` is not less, those are computed
    /// meanwhile. Returns the number of generations. After an error the board is as it was.
    pub(super) fn census_and_step(&mut self, counts: &mut Buffer<u64>, first: u64, most: u64) -> Result<u64> {
        let Some(pass) = self.kernels.pass.as_ref().filter(|_| most >= GENERATIONS.into()) else {
            self.census(counts, first)?;
            return Ok(0);
        };
        let mut windows = Windows::new(&self.gpu);
        let args = self.kernels.args(windows.input(&self.current), windows.output(&mut self.next));
        let counts = Counts { sums: windows.output(counts), first };
        let args = BlockedArgs::new(args, Geometry::CENSUS_WARPS, counts);
        pass.step.launch_as(&pass.with_census, &self.gpu, &windows, args)?;
        std::mem::swap(&mut self.current, &mut self.next);
        Ok(GENERATIONS.into())
    }

    /// Enqueues a census, as [`census_and_step`](Self::census_and_step) does.
    pub(super) fn census(&self, counts: &mut Buffer<u64>, first: u64) -> Result<()> {
        let mut windows = Windows::new(&self.gpu);
        let counts = Counts { sums: windows.output(counts), first };
        let args = CensusArgs::new(windows.input(&self.current), &self.kernels.board, counts);
        self.kernels.census.launch(&self.gpu, &windows, args)
    }

    /// Keeps a copy of the cells.
    pub(super) fn keep(&mut self) -> Result<()> {
        let mut kept = self.kept.take().map_or_else(|| self.gpu.unwritten(self.current.len()), Ok)?;
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
    pub(super) fn plan(&self) -> (Planned, u64) {
        let (plan, generations) = match &self.kernels.pass {
            Some(pass) => (pass.step.plan(&self.gpu), GENERATIONS.into()),
            None => (self.kernels.step.plan(&self.gpu), 1),
        };
        let moved_bytes = 2 * self.size.rows as u64 * self.kernels.layout.row_bytes(self.size.columns);
        (Planned::new(self.kernels.reason, [LaunchPlan { moved_bytes, ..plan }]), generations)
    }
}

/// Returns `len` words for the next generation. Kernels write all words if a row ends with a packed word of the host. Otherwise the
/// words after a row must be zero, and some kernels do not write them.
fn next(gpu: &Gpu, size: Size, len: usize) -> Result<Buffer<u32>> {
    if size.columns.is_multiple_of(64) { gpu.unwritten(len) } else { gpu.zeroed(len) }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::Device;
    use crate::life::LifeAlgorithm;
    use crate::life::choose::choose;
    use emulator::Profile;

    #[test]
    fn unwritten_cells_are_errors() {
        let device = Device::emulated(Profile::SMALL, 0);
        let gpu = device.gpu().unwrap();
        let size = Size { rows: 2049, columns: 64 };
        for algorithm in [LifeAlgorithm::GlobalMemory, LifeAlgorithm::SharedTile, LifeAlgorithm::BitPacked] {
            let choice = choose(algorithm, Topology::Torus, Rule::CONWAY);
            let cells = || Cells::new(&gpu, size, Topology::Torus, Rule::CONWAY, choice).unwrap();
            assert_eq!(cells().step(1), Ok(1));
            let mut faulty = cells();
            Arc::get_mut(&mut faulty.kernels).unwrap().step.geometry.blocks -= 1;
            let Err(Error::FaultyKernel { report }) = faulty.step(1) else { panic!("{algorithm:?}") };
            assert!(report.to_string().contains("unwritten output"), "{report}");
        }
    }
}
