//! Boards on CUDA and emulated GPUs.
//!
//! In memory, a packed word of the host is two words of 32 cells, or 16 words of four cells with a byte for each.

use super::choose::Choice;
use super::history::{Progress, Schedule};
use super::kernels::{Generations, Kernels, Pass, Resident};
use super::words::{Area, AreaWords, Size};
use super::{Rule, Topology};
use crate::cpu::allocation;
use crate::device::gpu::Gpu;
use crate::device::rows::{Place, Rows};
use crate::plan::Planned;
use crate::{Buffer, Error, LaunchPlan, Result, Windows};
use cuda_std::GlobalOut;
use slm_kernels::life::{Args, BlockedArgs, CensusArgs, Censuses, Counts, GENERATIONS, Geometry, ResidentArgs};
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of rows and of columns: kernels count them with 32 bits.
const MAX_SIDE: u64 = 1 << 31;

/// Words that are compared on the host at a time.
const COMPARED: usize = 1 << 20;

/// Returns the arguments for a generation, or an error if the launch cannot use the boards: then their windows are empty.
fn boards<'l, 'b>(
    kernels: &Kernels,
    windows: &mut Windows<'l, 'b>,
    current: &'b Buffer<u32>,
    next: &'b mut Buffer<u32>,
) -> Result<Args<'l>> {
    let args = kernels.args(windows.input(current), windows.output(next));
    windows.check()?;
    Ok(args)
}

/// A board on a GPU.
pub(super) struct Cells {
    gpu: Gpu,
    size: Size,
    kernels: Arc<Kernels>,
    current: Buffer<u32>,
    next: Buffer<u32>,
    kept: Option<Buffer<u32>>,
}

/// Cells in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Bits,
    Bytes,
}

impl Layout {
    /// Returns the words for a packed word of the host.
    pub(super) fn scale(self) -> usize {
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

impl Cells {
    pub(super) fn new(gpu: &Gpu, size: Size, topology: Topology, rule: Rule, choice: Choice) -> Result<Self> {
        for (what, side) in [("the number of rows", size.rows as u64), ("the number of columns", size.columns as u64)] {
            if side > MAX_SIDE {
                return Err(Error::TooLarge { what, factors: [side, 1], limit: MAX_SIDE });
            }
        }
        let kernels = Kernels::load(gpu, size, topology, rule, choice)?;
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

    /// Overwrites an area with words in the form of [`encoded`](Self::encoded).
    pub(super) fn store(&mut self, area: &Area, words: &[u32]) -> Result<()> {
        let len = area.words.len() * self.kernels.layout.scale();
        let rows = Rows { count: area.rows.len(), len, source: Place::at_start(len), target: self.place(area) };
        self.current.upload_rows(words, rows)
    }

    /// Returns the words in memory for packed words.
    pub(super) fn encoded(&self, part: &AreaWords) -> Result<Vec<u32>> {
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
        let no_counts = Counts { sums: GlobalOut::empty(), first: 0 };
        let mut windows = Windows::new(&self.gpu);
        let args = boards(&self.kernels, &mut windows, &self.current, &mut self.next)?;
        let generations = match &self.kernels.generations {
            Generations::Passes { pass, .. } if most >= GENERATIONS.into() => {
                pass.step.launch(&self.gpu, &windows, BlockedArgs::new(args, 0, 0, no_counts))?;
                GENERATIONS.into()
            }
            Generations::One(one) | Generations::Passes { one, .. } => {
                one.launch(&self.gpu, &windows, args)?;
                1
            }
            Generations::Resident(resident) => {
                let generations = most.min(resident.most);
                let args = ResidentArgs::new(args, &resident.band, generations as u32, None, no_counts);
                resident.step.launch(&self.gpu, &windows, args)?;
                generations
            }
        };
        std::mem::swap(&mut self.current, &mut self.next);
        Ok(generations)
    }

    /// Enqueues generations or censuses of a schedule, or both, in one launch. After an error the board is as it was.
    pub(super) fn record(&mut self, counts: &mut Buffer<u64>, schedule: &Schedule) -> Result<Progress> {
        let kernels = self.kernels.clone();
        let &Schedule { until, every, censuses, first } = schedule;
        match &kernels.generations {
            Generations::Resident(resident) if until > 0 && schedule.within(resident.most) > 0 => {
                self.step_with_censuses(resident, counts, schedule)
            }
            Generations::Passes { pass, .. } if until == 0 && every >= GENERATIONS.into() && censuses > 1 => {
                self.census_and_pass(pass, counts, first)
            }
            Generations::Passes { pass, .. } if let Some(counted) = pass.counted(schedule) => {
                self.pass_with_censuses(pass, counts, first, counted)
            }
            _ if until == 0 => {
                self.census(counts, first)?;
                Ok(Progress { generations: 0, censuses: 1 })
            }
            _ => Ok(Progress { generations: self.step(until)?, censuses: 0 }),
        }
    }

    /// Enqueues the next censuses of a schedule that are not too far for a launch, and the generations until the last of them.
    fn step_with_censuses(
        &mut self,
        Resident { step, with_censuses, band, most }: &Resident,
        counts: &mut Buffer<u64>,
        schedule: &Schedule,
    ) -> Result<Progress> {
        let &Schedule { until, every, first, .. } = schedule;
        let taken = schedule.within(*most);
        let generations = until + (taken - 1) * every;
        let mut windows = Windows::new(&self.gpu);
        let args = boards(&self.kernels, &mut windows, &self.current, &mut self.next)?;
        let counts = Counts { sums: windows.output(counts), first };
        // The interval is longer than a launch only if there is no second census.
        let censuses = Censuses { until: until as u32, every: every.min(*most) as u32 };
        let args = ResidentArgs::new(args, band, generations as u32, Some(censuses), counts);
        step.launch_as(with_censuses, &self.gpu, &windows, args)?;
        std::mem::swap(&mut self.current, &mut self.next);
        Ok(Progress { generations, censuses: taken })
    }

    /// Enqueues a census and, meanwhile, the computation of several generations.
    fn census_and_pass(&mut self, pass: &Pass, counts: &mut Buffer<u64>, first: u64) -> Result<Progress> {
        let mut windows = Windows::new(&self.gpu);
        let args = boards(&self.kernels, &mut windows, &self.current, &mut self.next)?;
        let counts = Counts { sums: windows.output(counts), first };
        let args = BlockedArgs::new(args, Geometry::CENSUS_WARPS, 0, counts);
        pass.step.launch_as(&pass.with_census, &self.gpu, &windows, args)?;
        std::mem::swap(&mut self.current, &mut self.next);
        Ok(Progress { generations: GENERATIONS.into(), censuses: 1 })
    }

    /// Enqueues the computation of several generations, and the censuses of those in `counted`.
    fn pass_with_censuses(
        &mut self,
        pass: &Pass,
        counts: &mut Buffer<u64>,
        first: u64,
        counted: u32,
    ) -> Result<Progress> {
        let counting = pass.counting(&self.gpu)?;
        let mut windows = Windows::new(&self.gpu);
        let args = boards(&self.kernels, &mut windows, &self.current, &mut self.next)?;
        let counts = Counts { sums: windows.output(counts), first };
        counting.launch(&self.gpu, &windows, BlockedArgs::new(args, 0, counted, counts))?;
        std::mem::swap(&mut self.current, &mut self.next);
        Ok(Progress { generations: GENERATIONS.into(), censuses: counted.count_ones().into() })
    }

    /// Enqueues a census, which adds the number of living cells to element `first` of `counts`, and the sums of the hash to the next
    /// ones.
    pub(super) fn census(&self, counts: &mut Buffer<u64>, first: u64) -> Result<()> {
        let mut windows = Windows::new(&self.gpu);
        let counts = Counts { sums: windows.output(counts), first };
        let cells = windows.input(&self.current);
        windows.check()?;
        let args = CensusArgs::new(cells, &self.kernels.board, counts);
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
        let (plan, generations) = match &self.kernels.generations {
            Generations::One(one) => (one.plan(&self.gpu), 1),
            Generations::Passes { pass, .. } => (pass.step.plan(&self.gpu), GENERATIONS.into()),
            Generations::Resident(Resident { step, most, .. }) => (step.plan(&self.gpu), *most),
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
    use crate::life::tuning::LifeTuning;
    use emulator::Profile;

    #[test]
    fn unwritten_cells_are_errors() {
        let device = Device::emulated(Profile::SMALL, 0);
        let gpu = device.gpu().unwrap();
        let size = Size { rows: 2049, columns: 64 };
        for algorithm in [LifeAlgorithm::GlobalMemory, LifeAlgorithm::SharedTile, LifeAlgorithm::BitPacked] {
            let choice = choose(algorithm, size, Topology::Torus, Rule::CONWAY, &LifeTuning::new(gpu.info())).unwrap();
            let cells = || Cells::new(&gpu, size, Topology::Torus, Rule::CONWAY, choice).unwrap();
            assert_eq!(cells().step(1), Ok(1));
            let mut faulty = cells();
            let Generations::One(one) = &mut Arc::get_mut(&mut faulty.kernels).unwrap().generations else { panic!() };
            one.geometry.blocks -= 1;
            let Err(Error::FaultyKernel { report }) = faulty.step(1) else { panic!("{algorithm:?}") };
            assert!(report.to_string().contains("unwritten output"), "{report}");
        }
    }
}
