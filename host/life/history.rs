//! Censuses: the numbers that describe a generation.

use super::{Board, LifeError};
use crate::cpu::allocation;
use crate::{Buffer, Result};
use slm_kernels::life::{SUMS, hash};

/// The population of a generation, and a hash of its cells.
///
/// The hash is the same on all devices and with all algorithms. It is computed from two sums over the words that [`Board::words`]
/// returns:
///
/// `sum_k = Σ (low(word) + low(key_k)) · (high(word) + high(key_k)) mod 2^64`, with `key_k = of_row_k · of_column_k` and `k = 0, 1`
///
/// `low` and `high` are the halves of a number of 64 bits. Sums of two halves are modulo 2^32, and products of two numbers of 32
/// bits have 64 bits. The example defines the keys of rows and columns:
///
/// ```
/// use slm::{Device, Life};
///
/// fn mixed(x: u32) -> u32 {
///     let x = (x ^ (x >> 16)).wrapping_mul(0x7feb352d);
///     let x = (x ^ (x >> 15)).wrapping_mul(0x846ca68b);
///     x ^ (x >> 16)
/// }
/// fn finish(z: u64) -> u64 {
///     let z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
///     let z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
///     z ^ (z >> 31)
/// }
///
/// # fn main() -> slm::Result<()> {
/// let mut board = Life::new(5, 70).prepare(&Device::open()?)?;
/// board.set(1, 66, true)?;
/// let mut sums = [0u64; 2];
/// for ((row, column), &word) in board.words()?.indexed_iter() {
///     let (row, column) = (row as u32, 2 * column as u32);
///     let row = mixed(row / 8 + 1).wrapping_mul(mixed(row % 8 + 1) | 1);
///     let of_row = [row, row.wrapping_mul(0x9e3779b1)];
///     let of_column = [mixed(!column), mixed(!(column + 1))];
///     for k in 0..2 {
///         let key = u64::from(of_row[k]) * u64::from(of_column[k]);
///         let low = (word as u32).wrapping_add(key as u32);
///         let high = ((word >> 32) as u32).wrapping_add((key >> 32) as u32);
///         sums[k] = sums[k].wrapping_add(u64::from(low) * u64::from(high));
///     }
/// }
/// assert_eq!(board.census()?.hash, finish(finish(sums[0]).wrapping_add(sums[1])));
/// # Ok(())
/// # }
/// ```
///
/// The same cells on boards of different sizes have different hashes in general. Different cells can have the same hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Census {
    /// Number of the generation.
    pub generation: u64,
    /// Number of living cells.
    pub population: u64,
    /// Hash of the cells.
    pub hash: u64,
}

/// Censuses to come, at equal intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    /// Generations until the next one.
    pub(super) until: u64,
    /// Generations from one to the next one.
    pub(super) every: u64,
    /// Number of censuses.
    pub(super) censuses: u64,
    /// Element that receives the first sum of the next one.
    pub(super) first: u64,
}

impl Schedule {
    /// Returns the censuses after every `every` generations, whose sums begin at element `first`.
    pub(super) fn new(every: u64, censuses: u64, first: u64) -> Self {
        Schedule { until: every, every, censuses, first }
    }

    /// Returns how many of the next censuses are at most `most` generations away.
    pub(super) fn within(&self, most: u64) -> u64 {
        let after_next = |left: u64| left.checked_div(self.every).unwrap_or(0).saturating_add(1);
        most.checked_sub(self.until).map_or(0, after_next).min(self.censuses)
    }

    /// Goes on to the board after some generations, and to the census after those that were taken.
    pub(super) fn advance(&mut self, Progress { generations, censuses }: Progress) {
        self.until = self.until + censuses * self.every - generations;
        self.censuses -= censuses;
        self.first += censuses * SUMS as u64;
    }
}

/// What a launch computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) generations: u64,
    pub(super) censuses: u64,
}

impl Census {
    /// Returns the census of a generation for its sums.
    fn new(generation: u64, [population, a, b]: [u64; SUMS]) -> Self {
        Census { generation, population, hash: hash([a, b]) }
    }

    /// Returns the censuses of generations for the sums of all.
    pub(super) fn all(generations: impl Iterator<Item = u64>, sums: &[u64]) -> impl Iterator<Item = Self> {
        generations.zip(sums.as_chunks().0).map(|(generation, sums)| Census::new(generation, *sums))
    }
}

/// Histories.
impl Board {
    /// Returns the number of living cells. On a GPU this waits for all work that was enqueued before.
    ///
    /// # Errors
    ///
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn population(&self) -> Result<u64> {
        Ok(self.census()?.population)
    }

    /// Returns the census of the current generation. It reads the board once. On a GPU this waits for all work that was enqueued
    /// before.
    ///
    /// # Errors
    ///
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn census(&self) -> Result<Census> {
        let mut counts = self.counts(1)?;
        self.cells.census(&mut counts, 0)?;
        let mut sums = [0; SUMS];
        counts.download_into(&mut sums)?;
        Ok(Census::new(self.generation(), sums))
    }

    /// Computes `steps` generations, and returns a census of every `every`-th one. They are `steps / every` censuses, rounded
    /// down; the first one is of the generation that is `every` later than the current one. On a GPU all work is enqueued, and
    /// this waits for the last census.
    ///
    /// ```
    /// use slm::life::Pattern;
    /// use slm::{Device, Life};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let mut board = Life::new(20, 20).prepare(&Device::open()?)?;
    /// let r_pentomino: Pattern = ".OO\nOO.\n.O.".parse()?;
    /// board.place(&r_pentomino, 8, 8)?;
    /// let history = board.record(6, 2)?;
    /// let populations: Vec<_> = history.iter().map(|census| (census.generation, census.population)).collect();
    /// assert_eq!(populations, [(2, 7), (4, 8), (6, 12)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`LifeError::NoInterval`] if `every` is 0.
    /// * [`LifeError::Generations`] if the number of the generation would exceed 64 bits.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`]: a census needs 24 bytes on the device and 48 on the host.
    /// * [Failures of the device](Error#failures-of-the-device).
    ///
    /// After an error the board is in the last generation that was computed completely, or lost because the device has failed, as
    /// after an error of [`step`](Self::step). There are no censuses then.
    pub fn record(&mut self, steps: u64, every: u64) -> Result<Vec<Census>> {
        let Some(len) = steps.checked_div(every) else { return Err(LifeError::NoInterval.into()) };
        self.check_steps(steps)?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let mut history = allocation::reserved(len)?;
        let (mut counts, generation) = (self.counts(len)?, self.generation());
        self.take_censuses(Schedule::new(every, len as u64, 0), &mut counts)?;
        self.step(steps % every)?;
        let generations = (1..=len as u64).map(|index| generation + index * every);
        history.extend(Census::all(generations, &counts.download()?));
        Ok(history)
    }

    /// Returns memory for the sums of censuses.
    pub(super) fn counts(&self, censuses: usize) -> Result<Buffer<u64>> {
        self.device().zeroed(censuses.saturating_mul(SUMS))
    }
}

#[cfg(doc)]
use crate::Error;
