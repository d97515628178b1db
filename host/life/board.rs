//! A board on a device.

use super::choose::choose;
use super::history::{Progress, Schedule};
use super::pattern::{Run, Runs};
use super::tuning::LifeTuning;
use super::words::{Area, AreaWords, Size, find, packed};
use super::{Life, LifeAlgorithm, LifeError, Pattern, Rule, Topology, cpu, gpu, placement};
use crate::cpu::allocation;
use crate::device::buffer::check_shape;
use crate::plan::{Details, Planned};
use crate::{Buffer, Device, Plan, Result};
use ndarray::{Array2, ArrayView2};
use std::fmt;

/// A board of the Game of Life on a device: cells, and the number of their generation.
///
/// [`Life::prepare`] returns it. Rows and columns are counted from 0.
pub struct Board {
    device: Device,
    pub(super) life: Life,
    generation: u64,
    pub(super) cells: Cells,
}

/// Cells on a device of some kind.
pub(super) enum Cells {
    Cpu(cpu::Cells),
    Gpu(Box<gpu::Cells>),
}

impl Cells {
    pub(super) fn load(&self, area: &Area) -> Result<Vec<u64>> {
        match self {
            Cells::Cpu(cells) => cells.load(area),
            Cells::Gpu(cells) => cells.load(area),
        }
    }

    /// Returns the cells if they are in a GPU's memory, with the bytes of packed words.
    pub(super) fn packed(&self) -> Option<&gpu::Cells> {
        match self {
            Cells::Gpu(cells) if cells.layout() == gpu::Layout::Bits => Some(cells),
            Cells::Cpu(_) | Cells::Gpu(_) => None,
        }
    }

    /// Overwrites words. Bits after the end of a row must be zero. After a lack of memory nothing is overwritten.
    pub(super) fn store(&mut self, parts: &[AreaWords<'_>]) -> Result<()> {
        let encoded = self.encoded(parts)?;
        self.store_encoded(parts, &encoded)
    }

    /// Returns the words of parts as a GPU's memory has them; none on the CPU.
    pub(super) fn encoded(&self, parts: &[AreaWords<'_>]) -> Result<Vec<Vec<u32>>> {
        match self {
            Cells::Cpu(_) => Ok(Vec::new()),
            Cells::Gpu(cells) => parts.iter().map(|part| cells.encoded(part)).collect(),
        }
    }

    /// Overwrites words, which are [`encoded`](Self::encoded), and allocates nothing.
    pub(super) fn store_encoded(&mut self, parts: &[AreaWords<'_>], encoded: &[Vec<u32>]) -> Result<()> {
        match self {
            Cells::Cpu(cells) => parts.iter().for_each(|part| cells.store(part)),
            Cells::Gpu(cells) => {
                parts.iter().zip(encoded).try_for_each(|(part, words)| cells.store(&part.area, words))?;
            }
        }
        Ok(())
    }

    /// Computes generations or takes censuses of a schedule, or both. On a GPU this returns when the work is enqueued.
    fn record(&mut self, counts: &mut Buffer<u64>, schedule: &Schedule) -> Result<Progress> {
        match self {
            Cells::Cpu(cells) if schedule.until > 0 => {
                cells.step()?;
                Ok(Progress { generations: 1, censuses: 0 })
            }
            Cells::Cpu(_) => {
                self.census(counts, schedule.first as usize)?;
                Ok(Progress { generations: 0, censuses: 1 })
            }
            Cells::Gpu(cells) => cells.record(counts, schedule),
        }
    }

    /// Adds the number of living cells to element `first` of `counts`, and the sums of the hash to the next ones. On a GPU this
    /// returns when the work is enqueued.
    pub(super) fn census(&self, counts: &mut Buffer<u64>, first: usize) -> Result<()> {
        match self {
            Cells::Cpu(cells) => {
                let sums = counts.storage_mut().cpu_mut()[first..].iter_mut().zip(cells.census()?);
                sums.for_each(|(sum, number)| *sum = sum.wrapping_add(number));
                Ok(())
            }
            Cells::Gpu(cells) => cells.census(counts, first as u64),
        }
    }

    /// Keeps a copy of the cells.
    pub(super) fn keep(&mut self) -> Result<()> {
        match self {
            Cells::Cpu(cells) => cells.keep(),
            Cells::Gpu(cells) => cells.keep(),
        }
    }

    /// Returns whether the cells are those that were kept.
    pub(super) fn is_as_kept(&self) -> Result<bool> {
        match self {
            Cells::Cpu(cells) => Ok(cells.is_as_kept()),
            Cells::Gpu(cells) => cells.is_as_kept(),
        }
    }

    /// Frees the copy of the cells.
    pub(super) fn forget(&mut self) {
        match self {
            Cells::Cpu(cells) => cells.forget(),
            Cells::Gpu(cells) => cells.forget(),
        }
    }
}

/// Generations.
impl Board {
    pub(super) fn new(device: &Device, life: Life) -> Result<Self> {
        let Life { size, rule, topology, algorithm } = life;
        let cells = match device.gpu() {
            None => Cells::Cpu(cpu::Cells::new(size, topology, rule)?),
            Some(gpu) => {
                let choice = choose(algorithm, size, topology, rule, &LifeTuning::new(device.info()))?;
                Cells::Gpu(Box::new(gpu::Cells::new(&gpu, size, topology, rule, choice)?))
            }
        };
        Ok(Board { device: device.clone(), life, generation: 0, cells })
    }

    /// Computes `steps` generations. On a GPU this returns when the work is enqueued, and [`generation`](Self::generation) counts
    /// the generations from then on.
    ///
    /// ```
    /// use slm::life::Pattern;
    /// use slm::{Device, Life};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let mut board = Life::new(8, 8).prepare(&Device::open()?)?;
    /// let glider: Pattern = ".O.\n..O\nOOO".parse()?;
    /// board.place(&glider, 2, 2)?;
    /// let before = board.cells()?;
    /// board.step(4 * 8)?; // four generations for each cell
    /// assert_eq!(board.cells()?, before);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`LifeError::Generations`] if the number of the generation would exceed 64 bits.
    /// * [`Error::OutOfHostMemory`] on the CPU.
    /// * [Failures of the device](Error#failures-of-the-device).
    ///
    /// After an error the board is in the last generation that was computed completely, which [`generation`](Self::generation)
    /// returns, unless the device has failed. After the first error of this list, it is as it was.
    ///
    /// If a CUDA device fails, the board is lost, and later calls return [`Error::DeviceLost`]. The failure may come after this
    /// has returned, when the generations are already counted.
    pub fn step(&mut self, steps: u64) -> Result<()> {
        self.check_steps(steps)?;
        let last = self.generation + steps;
        while self.generation < last {
            self.generation += match &mut self.cells {
                Cells::Cpu(cells) => cells.step().map(|()| 1)?,
                Cells::Gpu(cells) => cells.step(last - self.generation)?,
            };
        }
        Ok(())
    }

    /// Computes the generations of a schedule, and adds the sums of its censuses to `counts`.
    pub(super) fn take_censuses(&mut self, mut schedule: Schedule, counts: &mut Buffer<u64>) -> Result<()> {
        while schedule.censuses > 0 {
            let progress = self.cells.record(counts, &schedule)?;
            self.generation += progress.generations;
            schedule.advance(progress);
        }
        Ok(())
    }

    /// Returns the number of generations since the board was prepared.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns an error if there is no generation with the number of the last one of `steps`.
    pub(super) fn check_steps(&self, steps: u64) -> Result<()> {
        let generation = self.generation;
        match generation.checked_add(steps) {
            Some(_) => Ok(()),
            None => Err(LifeError::Generations { generation, steps }.into()),
        }
    }

    /// Returns a board of the same generation with the same cells.
    ///
    /// # Errors
    ///
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn try_clone(&self) -> Result<Self> {
        let cells = match &self.cells {
            Cells::Cpu(cells) => Cells::Cpu(cells.try_clone()?),
            Cells::Gpu(cells) => Cells::Gpu(Box::new(cells.try_clone()?)),
        };
        Ok(Board { device: self.device.clone(), cells, ..*self })
    }
}

/// Cells.
///
/// On a GPU these functions wait for all work that was enqueued before. All of them return [`Error::OutOfHostMemory`] and
/// [failures of the device](Error#failures-of-the-device), besides the errors that they name. After an error the board is as it
/// was, unless the device has failed.
impl Board {
    /// Returns whether a cell is alive.
    ///
    /// # Errors
    ///
    /// [`LifeError::NoSuchCell`] if the board has no such cell.
    pub fn get(&self, row: usize, column: usize) -> Result<bool> {
        self.check_cell(row, column)?;
        let words = self.cells.load(&Area::of_cell(row, column))?;
        Ok(words[0] >> (column % 64) & 1 == 1)
    }

    /// Sets a cell.
    ///
    /// # Errors
    ///
    /// [`LifeError::NoSuchCell`] if the board has no such cell.
    pub fn set(&mut self, row: usize, column: usize, is_alive: bool) -> Result<()> {
        self.check_cell(row, column)?;
        let area = Area::of_cell(row, column);
        let mut words = self.cells.load(&area)?;
        words[0] = words[0] & !(1 << (column % 64)) | u64::from(is_alive) << (column % 64);
        self.cells.store(&[AreaWords { area, words: words.into() }])
    }

    /// Returns all cells.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfHostMemory`] and [failures of the device](Error#failures-of-the-device).
    pub fn cells(&self) -> Result<Array2<bool>> {
        let Size { rows, columns } = self.life.size;
        let mut cells = allocation::reserved(rows * columns)?;
        self.for_each_row(|_, row| {
            cells.extend((0..columns).map(|column| row[column / 64] >> (column % 64) & 1 == 1));
            Ok(())
        })?;
        Ok(Array2::from_shape_vec((rows, columns), cells).expect("`Size::check` has checked the shape"))
    }

    /// Sets all cells. The number of the generation stays.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if `cells` and the board have different shapes.
    pub fn set_cells(&mut self, cells: ArrayView2<'_, bool>) -> Result<()> {
        let (size, (rows, columns)) = (self.life.size, cells.dim());
        check_shape("the array of cells", [size.rows, size.columns], [rows, columns])?;
        let mut words = allocation::filled(0, size.words())?;
        for (row, words) in cells.rows().into_iter().zip(words.chunks_exact_mut(size.width())) {
            packed(row.iter().copied(), words);
        }
        self.cells.store(&[AreaWords { area: Area::all(size), words: words.into() }])
    }

    /// Returns all cells, 64 to a word. Bit `i` of the word in row `r` and column `k` is the cell in row `r` and column `64 k + i`.
    /// Bits after the end of a row are zero.
    ///
    /// ```
    /// use slm::{Device, Life, ndarray::array};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let mut board = Life::new(2, 70).prepare(&Device::open()?)?;
    /// board.set(0, 3, true)?;
    /// board.set(1, 65, true)?;
    /// assert_eq!(board.words()?, array![[8, 0], [0, 2]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfHostMemory`] and [failures of the device](Error#failures-of-the-device).
    pub fn words(&self) -> Result<Array2<u64>> {
        self.words_of_rows(0..self.life.size.rows)
    }

    /// Sets all cells, 64 to a word, as [`words`](Self::words) returns them. Bits after the end of a row are ignored. The
    /// number of the generation stays.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if `words` does not have the shape of the result of [`words`](Self::words).
    pub fn set_words(&mut self, words: ArrayView2<'_, u64>) -> Result<()> {
        let (size, (rows, width)) = (self.life.size, words.dim());
        check_shape("the array of words", [size.rows, size.width()], [rows, width])?;
        self.set_words_of_rows(0, words)
    }

    /// Brings the living cells of a pattern to life. Its first cell is placed at the given row and column. Other cells, and the
    /// number of the generation, stay as they are. The rule and the grid of the pattern are ignored.
    ///
    /// The row and the column may be negative or greater than the sides of the board. A pattern can cross an end if the
    /// [`Topology`] continues the board there:
    ///
    /// | topology | columns | rows |
    /// |---|---|---|
    /// | `Plane` | must be on the board | must be on the board |
    /// | `Torus` | modulo the number of columns | modulo the number of rows |
    /// | `Cylinder` | modulo the number of columns | must be on the board |
    /// | `KleinBottle` | modulo the number of columns | modulo the number of rows, mirrored each time that they pass an end |
    ///
    /// In the last case, row `r + i` of a board with `r` rows and `c` columns is row `i`, and column `j` of it is column
    /// `c - 1 - j`.
    ///
    /// ```
    /// use slm::life::Pattern;
    /// use slm::{Device, Life, ndarray::array};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let mut board = Life::new(3, 5).prepare(&Device::open()?)?;
    /// let corner: Pattern = "OO\nO.".parse()?;
    /// board.place(&corner, 2, -1)?;
    /// let [x, o] = [true, false];
    /// assert_eq!(board.cells()?, array![[o, o, o, o, x], [o, o, o, o, o], [x, o, o, o, x]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`LifeError::Placement`] if the pattern has more rows or columns than the board, or if a part of it is beyond a dead end.
    pub fn place(&mut self, pattern: &Pattern, row: isize, column: isize) -> Result<()> {
        let Life { size, topology, .. } = self.life;
        let mut parts = Vec::with_capacity(2);
        for band in placement::bands(pattern, [row, column], size, topology)?.iter().filter(|band| !band.is_empty()) {
            let area = band.area(size, pattern.columns());
            // In place, because a band has a copy as large as the board if its cells are far apart.
            if let Cells::Cpu(cells) = &mut self.cells {
                let area = Area::of_rows(area.rows, size);
                band.draw(pattern, size, &area, cells.rows_mut(area.rows.clone()));
                continue;
            }
            let mut words = self.cells.load(&area)?;
            band.draw(pattern, size, &area, &mut words);
            parts.push(AreaWords { area, words: words.into() });
        }
        self.cells.store(&parts)
    }

    /// Returns all cells as a pattern, with the rule and without a grid.
    ///
    /// ```
    /// use slm::{Device, Life};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let mut board = Life::new(2, 70).prepare(&Device::open()?)?;
    /// board.set(1, 65, true)?;
    /// assert_eq!(board.pattern()?.to_rle(), "x = 70, y = 2, rule = B3/S23\n$65bo!\n");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfHostMemory`] and [failures of the device](Error#failures-of-the-device).
    pub fn pattern(&self) -> Result<Pattern> {
        let Size { rows, columns } = self.life.size;
        let mut runs = Runs::default();
        self.for_each_row(|row, words| {
            let mut column = find(words, true, 0, columns);
            while column < columns {
                let end = find(words, false, column, columns);
                runs.push(Run { row, column, len: end - column })?;
                column = find(words, true, end, columns);
            }
            Ok(())
        })?;
        Ok(Pattern::new([rows, columns], runs).with_rule(self.life.rule))
    }

    fn check_cell(&self, row: usize, column: usize) -> Result<()> {
        let Size { rows, columns } = self.life.size;
        if row < rows && column < columns {
            return Ok(());
        }
        Err(LifeError::NoSuchCell { row, column, board: [rows, columns] }.into())
    }
}

/// Description.
impl Board {
    /// Returns the device that the board is on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.life.size.rows
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.life.size.columns
    }

    /// Returns the rule.
    #[must_use]
    pub fn rule(&self) -> Rule {
        self.life.rule
    }

    /// Returns the topology.
    #[must_use]
    pub fn topology(&self) -> Topology {
        self.life.topology
    }

    /// Returns the plan. A launch may compute several generations. If a step ends with fewer generations, another kernel computes these
    /// one by one.
    ///
    /// # Errors
    ///
    /// None at present.
    pub fn plan(&self) -> Result<Plan<LifeAlgorithm, Generations>> {
        let Life { size, algorithm, .. } = self.life;
        let (planned, per_launch) = match &self.cells {
            Cells::Cpu(_) => (Planned::on_cpu(), 1),
            Cells::Gpu(cells) => cells.plan(),
        };
        Ok(Plan::new(&self.device, algorithm, &[size.rows, size.columns], Generations { per_launch }, planned))
    }
}

/// Details of the [plan](Board::plan) of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Generations {
    /// Generations that a launch computes.
    pub per_launch: u64,
}

impl Details for Generations {
    fn write_lines(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\ncomputes   {} at a time", self.per_launch)
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Board")
            .field("device", &self.device)
            .field("life", &self.life)
            .field("generation", &self.generation)
            .finish_non_exhaustive()
    }
}

#[cfg(doc)]
use crate::Error;
