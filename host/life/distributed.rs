//! A board whose rows are on several devices.
//!
//! The board of a member has its rows and, above and below them, copies of the rows next to them: its *halo*. After each generation one
//! more row of the halo is not what it should be, because the cells beyond it are missing. Before the last one is used up, members
//! exchange rows.
//!
//! ```text
//! member 0   rows of member 1 | own rows | rows of member 1
//! member 1                 rows of member 0 | own rows | rows of member 0
//! ```

use super::board::Cells;
use super::words::{Area, AreaWords, Size};
use super::{Board, Life, LifeError, Pattern, Topology, placement};
use crate::cpu::allocation;
use crate::device::buffer::check_shape;
use crate::device::rows::Rows;
#[cfg(doc)]
use crate::distributed::DistributedError;
use crate::distributed::{Arrived, Course, Devices, Distribution, Leaving, Link, exchange_elements, exchange_on_gpu};
use crate::{Device, Result};
use ndarray::{Array2, ArrayView2};
use std::fmt;
use std::ops::Range;

/// Rows of the halo, on each side: as many generations are computed between two exchanges.
const HALO: usize = 64;

/// A board of the Game of Life on several devices, each of which has some of the rows.
///
/// [`Life::prepare_on`] returns it. Its generations are those of a [`Board`] on one device.
///
/// ```
/// use slm::Life;
/// use slm::distributed::Devices;
/// use slm::life::Pattern;
///
/// # fn main() -> slm::Result<()> {
/// let mut board = Life::new(1000, 1000).prepare_on(&Devices::all()?)?;
/// let glider: Pattern = ".O.\n..O\nOOO".parse()?;
/// board.place(&glider, 498, 0)?;
/// board.step(4000)?; // once around the torus
/// assert_eq!((board.generation(), board.population()?), (4000, 5));
/// # Ok(())
/// # }
/// ```
pub struct DistributedBoard {
    devices: Devices,
    life: Life,
    distribution: Distribution,
    /// Boards of the members in this process that have rows.
    members: Vec<Option<Member>>,
    generation: u64,
    /// Generations that can be computed before members have to exchange rows.
    left: u64,
    /// Rows of the halo.
    halo: usize,
}

/// A member's rows, with those above and below.
struct Member {
    board: Board,
    /// Rows of the halo above.
    above: usize,
    /// Own rows, in the whole board.
    rows: Range<usize>,
}

/// Rows of the whole board that go from one member to a place on the board of another one.
struct Ghost {
    from: usize,
    to: usize,
    rows: Range<usize>,
    /// First row on the target's board.
    target: usize,
}

impl Life {
    /// Prepares the board on several devices; otherwise as [`prepare`](Self::prepare). If members would have fewer than 64 rows,
    /// fewer of them have rows.
    ///
    /// # Errors
    ///
    /// * [`LifeError::Distributed`] for a Klein bottle, on more than one device.
    /// * The errors of [`prepare`](Self::prepare).
    pub fn prepare_on(&self, devices: &Devices) -> Result<DistributedBoard> {
        if self.topology == Topology::KleinBottle && devices.len() > 1 {
            return Err(LifeError::Distributed { topology: self.topology }.into());
        }
        let Size { rows, columns } = self.size;
        if rows == 0 || columns == 0 {
            return Err(LifeError::NoCells { rows, columns }.into());
        }
        self.size.check()?;
        let distribution = Distribution::in_units(rows, devices.len(), 1, HALO);
        let is_divided = distribution.rows(0).len() < rows;
        let member = |member, device: &_| Member::new(self, device, distribution.rows(member), is_divided);
        let members = devices.each(member)?.into_iter().map(Option::flatten).collect();
        let halo = if is_divided { HALO } else { 0 };
        let (devices, life) = (devices.clone(), *self);
        Ok(DistributedBoard { devices, life, distribution, members, generation: 0, left: 0, halo })
    }
}

impl Member {
    /// Returns the board of a member with these rows, or `None` if it has none.
    fn new(life: &Life, device: &Device, rows: Range<usize>, is_divided: bool) -> Result<Option<Self>> {
        if rows.is_empty() {
            return Ok(None);
        }
        // A board that ends in dead cells has no rows beyond its ends.
        let is_joined = life.topology == Topology::Torus;
        let above = if is_divided && (is_joined || rows.start > 0) { HALO } else { 0 };
        let below = if is_divided && (is_joined || rows.end < life.size.rows) { HALO } else { 0 };
        let size = Size { rows: above + rows.len() + below, ..life.size };
        let board = Life { size, ..*life }.prepare(device)?;
        Ok(Some(Member { board, above, rows }))
    }

    /// Returns rows of the whole board as rows of the member's.
    fn local(&self, rows: &Range<usize>) -> Range<usize> {
        let local = |row: usize| row - self.rows.start + self.above;
        local(rows.start)..local(rows.end)
    }
}

/// Generations.
impl DistributedBoard {
    /// Computes `steps` generations. On GPUs this returns when the work is enqueued.
    ///
    /// # Errors
    ///
    /// * [`LifeError::Generations`] if the number of the generation would exceed 64 bits. The board is as it was then.
    /// * [`DistributedError::Incomplete`] with an error of [`Board::step`] or a [`DistributedError::Transport`] as its cause: the cells are
    ///   unspecified.
    pub fn step(&mut self, steps: u64) -> Result<()> {
        let generation = self.generation;
        let last = generation.checked_add(steps).ok_or(LifeError::Generations { generation, steps })?;
        let mut course = Course::new("generations", steps);
        while self.generation < last {
            if self.halo > 0 && self.left == 0 {
                self.exchange(course)?;
                self.left = self.halo as u64;
            }
            let most = if self.halo > 0 { self.left } else { u64::MAX };
            let steps = (last - self.generation).min(most);
            for (number, member) in self.members.iter_mut().enumerate() {
                let Some(member) = member else { continue };
                course.on(number, member.board.step(steps))?;
            }
            course.add(steps);
            self.generation += steps;
            self.left = self.left.saturating_sub(steps);
        }
        Ok(())
    }

    /// Returns the number of the generation. A new board is generation 0.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the number of living cells, of all members in all processes.
    ///
    /// # Errors
    ///
    /// [`DistributedError::Incomplete`] with an error of [`Board::population`] or a [`DistributedError::Transport`] as its cause.
    pub fn population(&self) -> Result<u64> {
        let mut population = [0u64];
        let rows_here = self.members.iter().flatten().map(|member| member.rows.len() as u64).sum();
        let mut course = Course::new("rows", rows_here);
        for (number, member) in self.members.iter().enumerate() {
            let Some(member) = member else { continue };
            population[0] += course.on(number, member.population())?;
            course.add(member.rows.len() as u64);
        }
        course.between(self.devices.sum(&mut population))?;
        Ok(population[0])
    }

    /// Brings the halos of all members up to date.
    fn exchange(&mut self, course: Course) -> Result<()> {
        let ghosts = self.ghosts();
        for ghost in &ghosts {
            let copied = self.copy(ghost);
            course.on(ghost.to, copied)?;
        }
        match self.devices.transport() {
            Some(_) => course.between(self.exchange_between_processes(&ghosts)),
            None => Ok(()),
        }
    }

    /// Returns the rows of all halos.
    fn ghosts(&self) -> Vec<Ghost> {
        let (total, mut ghosts) = (self.life.size.rows, Vec::new());
        let is_joined = self.life.topology == Topology::Torus;
        for to in 0..self.distribution.members() {
            let rows = self.distribution.rows(to);
            if rows.is_empty() {
                continue;
            }
            let above = if is_joined || rows.start > 0 { self.halo } else { 0 };
            let below = if is_joined || rows.end < total { self.halo } else { 0 };
            let first_above = (rows.start + total - above) % total;
            for (first, len, target) in [(first_above, above, 0), (rows.end % total, below, above + rows.len())] {
                // The rows of a halo are next to an end of a member's rows, which are at least as many.
                for (from, of_member) in self.distribution.owners(first..first + len) {
                    let target = target + of_member.start - first;
                    ghosts.push(Ghost { from, to, rows: of_member, target });
                }
            }
        }
        ghosts
    }

    /// Copies rows between members in this process.
    fn copy(&mut self, &Ghost { from, to, ref rows, target }: &Ghost) -> Result<()> {
        let link = self.devices.link(from, to);
        let Ok([source, target_member]) = self.members.get_disjoint_mut([from, to]) else { return Ok(()) };
        let (Some(source), Some(member)) = (source, target_member) else { return Ok(()) };
        let (local, size) = (source.local(rows), source.board.life.size);
        if let (Cells::Gpu(cells), Cells::Gpu(of_source), true) =
            (&mut member.board.cells, &source.board.cells, link != Some(Link::Host))
            && cells.copy_rows(of_source, local.clone(), target)?
        {
            return Ok(());
        }
        let words = source.board.cells.load(&Area::of_rows(local, size))?;
        member.store(target, words)
    }

    /// Sends rows to other processes, and receives some.
    fn exchange_between_processes(&mut self, ghosts: &[Ghost]) -> Result<()> {
        let is_local = |member| self.devices.get(member).is_some();
        let leaving: Vec<_> = ghosts.iter().filter(|ghost| is_local(ghost.from) && !is_local(ghost.to)).collect();
        let coming: Vec<_> = ghosts.iter().filter(|ghost| is_local(ghost.to) && !is_local(ghost.from)).collect();
        match self.queue_of_messages() {
            Some(queue) => self.exchange_rows_on_gpu(&queue, &leaving, &coming),
            None => self.exchange_rows_through_host(&leaving, &coming),
        }
    }

    fn exchange_rows_through_host(&mut self, leaving: &[&Ghost], coming: &[&Ghost]) -> Result<()> {
        let mut outgoing = Vec::new();
        for ghost in leaving {
            let Some(member) = &self.members[ghost.from] else { continue };
            let area = Area::of_rows(member.local(&ghost.rows), member.board.life.size);
            outgoing.push((ghost.to, member.board.cells.load(&area)?));
        }
        let lengths = self.lengths(coming, 1);
        for (ghost, words) in coming.iter().zip(exchange_elements(&self.devices, outgoing, &lengths)?) {
            if let Some(member) = &mut self.members[ghost.to] {
                member.store(ghost.target, words)?;
            }
        }
        Ok(())
    }

    fn exchange_rows_on_gpu(&mut self, queue: &Device, leaving: &[&Ghost], coming: &[&Ghost]) -> Result<()> {
        let lengths = self.lengths(coming, size_of::<u64>() / size_of::<u32>());
        let mut outgoing = Vec::new();
        for ghost in leaving {
            let Some(member) = &self.members[ghost.from] else { continue };
            if let Some(cells) = member.board.cells.packed() {
                let (source, rows) = cells.rows(member.local(&ghost.rows));
                outgoing.push(Leaving { to: ghost.to, source, rows });
            }
        }
        let Arrived { elements, places } = exchange_on_gpu(&self.devices, queue, &outgoing, &lengths)?;
        for (ghost, first) in coming.iter().zip(places) {
            if let Some(Cells::Gpu(cells)) = self.members[ghost.to].as_mut().map(|member| &mut member.board.cells) {
                cells.store_rows(ghost.target, ghost.rows.len(), &elements, first)?;
            }
        }
        self.devices.keep(elements);
        Ok(())
    }

    /// Returns the queue for messages from and to the GPU's memory, if the cells there have the form of messages.
    fn queue_of_messages(&self) -> Option<Device> {
        let are_packed = self.members.iter().flatten().all(|member| member.board.cells.packed().is_some());
        self.devices.queue_of_messages().filter(|_| are_packed).cloned()
    }

    /// Returns where rows come from, and how many elements they are, if a word is some elements.
    fn lengths(&self, coming: &[&Ghost], of_word: usize) -> Vec<(usize, usize)> {
        let width = self.life.size.width() * of_word;
        coming.iter().map(|ghost| (ghost.from, ghost.rows.len() * width)).collect()
    }
}

impl Member {
    /// Returns the number of living cells in the member's own rows.
    fn population(&self) -> Result<u64> {
        let (own, size) = (self.local(&self.rows), self.board.life.size);
        let halo = [0..own.start, own.end..size.rows].into_iter().filter(|rows| !rows.is_empty());
        let mut copied = 0;
        for rows in halo {
            let words = self.board.cells.load(&Area::of_rows(rows, size))?;
            copied += words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        }
        Ok(self.board.population()? - copied)
    }

    /// Returns the words of an area of the whole board that are in own rows, together with those that are drawn there. `None` if there are
    /// none.
    fn united(&self, area: &Area, drawn: &[u64]) -> Result<Option<AreaWords<'static>>> {
        let rows = area.rows.start.max(self.rows.start)..area.rows.end.min(self.rows.end);
        if rows.is_empty() {
            return Ok(None);
        }
        let drawn = &drawn[(rows.start - area.rows.start) * area.words.len()..];
        let area = Area { rows: self.local(&rows), words: area.words.clone() };
        let mut words = self.board.cells.load(&area)?;
        words.iter_mut().zip(drawn).for_each(|(word, drawn)| *word |= drawn);
        Ok(Some(AreaWords { area, words: words.into() }))
    }

    /// Overwrites whole rows of the member's board.
    fn store(&mut self, first: usize, words: Vec<u64>) -> Result<()> {
        let size = self.board.life.size;
        let area = Area::of_rows(first..first + words.len() / size.width(), size);
        self.board.cells.store(&[AreaWords { area, words: words.into() }])
    }
}

/// Cells.
impl DistributedBoard {
    /// Places a pattern with its first cell in this row and column; otherwise as [`Board::place`]. All processes have to call this with
    /// the whole pattern.
    ///
    /// # Errors
    ///
    /// The errors of [`Board::place`]. After them, the cells in this process are as they were, unless a device has failed. Those in other
    /// processes are as the calls there say.
    pub fn place(&mut self, pattern: &Pattern, row: isize, column: isize) -> Result<()> {
        let Life { size, topology, .. } = self.life;
        let bands = placement::bands(pattern, [row, column], size, topology)?;
        self.left = 0;
        // Of the members that have rows here.
        let mut parts: Vec<Vec<_>> = self.members.iter().flatten().map(|_| Vec::new()).collect();
        for band in bands.iter().filter(|band| !band.is_empty()) {
            let area = band.area(size, pattern.columns());
            let mut drawn = allocation::filled(0, area.len())?;
            band.draw(pattern, size, &area, &mut drawn);
            for (member, parts) in self.members.iter().flatten().zip(&mut parts) {
                parts.extend(member.united(&area, &drawn)?);
            }
        }
        // A lack of memory leaves the cells of all members as they are.
        let members = self.members.iter().flatten().zip(&parts);
        let encoded = members.map(|(member, parts)| member.board.cells.encoded(parts)).collect::<Result<Vec<_>>>()?;
        let mut members = self.members.iter_mut().flatten().zip(parts.iter().zip(&encoded));
        members.try_for_each(|(member, (parts, encoded))| member.board.cells.store_encoded(parts, encoded))
    }

    /// Returns the cells of a member's rows in words of 64 cells, as [`Board::words`]; `None` if the member is in another process.
    ///
    /// # Errors
    ///
    /// The errors of [`Board::words`].
    pub fn words(&self, member: usize) -> Result<Option<Array2<u64>>> {
        if self.devices.get(member).is_none() {
            return Ok(None);
        }
        match self.members.get(member).and_then(Option::as_ref) {
            Some(member) => member.board.words_of_rows(member.local(&member.rows)).map(Some),
            None => Ok(Some(Array2::zeros((0, self.life.size.width())))),
        }
    }

    /// Overwrites the cells of a member's rows, as [`Board::set_words`]. Nothing is written if the member is in another process, or if
    /// there is no such member. If one process calls this, all do, for any member: before the next generation, all exchange rows.
    ///
    /// # Errors
    ///
    /// The errors of [`Board::set_words`], also for a member in this process that has no rows.
    pub fn set_words(&mut self, member: usize, words: ArrayView2<'_, u64>) -> Result<()> {
        self.left = 0;
        if self.devices.get(member).is_none() {
            return Ok(());
        }
        let expected = [self.distribution.rows(member).len(), self.life.size.width()];
        check_shape("the array of words", expected, [words.nrows(), words.ncols()])?;
        match self.members.get_mut(member).and_then(Option::as_mut) {
            Some(member) => member.board.set_words_of_rows(member.above, words),
            None => Ok(()),
        }
    }

    /// Returns the devices.
    #[must_use]
    pub fn devices(&self) -> &Devices {
        &self.devices
    }

    /// Returns which rows are where.
    #[must_use]
    pub fn distribution(&self) -> &Distribution {
        &self.distribution
    }
}

impl super::gpu::Cells {
    /// Copies whole rows of another board to the rows from `target` on, and returns whether both have the same layout.
    fn copy_rows(&mut self, source: &Self, rows: Range<usize>, target: usize) -> Result<bool> {
        if self.layout() != source.layout() {
            return Ok(false);
        }
        let [from, to] = [source.place_of_row(rows.start), self.place_of_row(target)];
        let rows = Rows { count: rows.len(), len: from.pitch, source: from, target: to };
        self.current_mut().copy_rows(source.current(), rows)?;
        Ok(true)
    }
}

impl fmt::Debug for DistributedBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DistributedBoard")
            .field("life", &self.life)
            .field("generation", &self.generation)
            .field("distribution", &self.distribution)
            .finish_non_exhaustive()
    }
}
