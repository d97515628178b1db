//! Censuses: the numbers that describe a generation.

use super::{Board, LifeError};
use crate::{Buffer, Result, allocation};

/// The population of a generation, and a hash of its cells.
///
/// The hash is the same on all devices and with all algorithms. It is a sum over the words that [`Board::words`] returns, without
/// those that are zero:
///
/// `hash = Σ mix(words[i] + (i + 1) · 0x9e3779b97f4a7c15)`
///
/// `i` is the index of a word in row-major order, from 0, and all arithmetic is modulo 2^64. `mix` is the finaliser of the
/// pseudo-random generator SplitMix64:
///
/// ```
/// use slm::{Device, Life};
///
/// fn mix(z: u64) -> u64 {
///     let z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
///     let z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
///     z ^ (z >> 31)
/// }
///
/// # fn main() -> slm::Result<()> {
/// let mut board = Life::new(5, 70).prepare(&Device::open()?)?;
/// board.set(1, 66, true)?; // in word 3 of the board, with the value 4
/// let sum = 0x9e3779b97f4a7c15_u64.wrapping_mul(4).wrapping_add(4);
/// assert_eq!(board.census()?.hash, mix(sum));
/// # Ok(())
/// # }
/// ```
///
/// The same cells on boards of different sizes have different hashes in general. An empty board has the hash 0. Different cells
/// can have the same hash.
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
        let mut counts = self.device().zeroed(2)?;
        self.cells.census(&mut counts, 0)?;
        let sums = counts.download()?;
        Ok(Census { generation: self.generation(), population: sums[0], hash: sums[1] })
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
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`]: a census needs 16 bytes on the device and 24 on the host.
    /// * [Failures of the device](Error#failures-of-the-device).
    ///
    /// After an error the board is in the last generation that was computed completely, as after an error of [`step`](Self::step).
    /// There are no censuses then.
    pub fn record(&mut self, steps: u64, every: u64) -> Result<Vec<Census>> {
        let Some(len) = steps.checked_div(every) else { return Err(LifeError::NoInterval.into()) };
        self.check_steps(steps)?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let mut history = allocation::reserved(len)?;
        let (mut counts, generation) = (self.counts(len)?, self.generation());
        for index in 0..len {
            self.step(every)?;
            self.cells.census(&mut counts, 2 * index)?;
        }
        self.step(steps % every)?;
        let sums = counts.download()?;
        history.extend((1..).zip(sums.chunks_exact(2)).map(|(index, sums)| Census {
            generation: generation + index * every,
            population: sums[0],
            hash: sums[1],
        }));
        Ok(history)
    }

    /// Returns memory for the sums of censuses.
    pub(super) fn counts(&self, censuses: usize) -> Result<Buffer<u64>> {
        self.device().zeroed(censuses.saturating_mul(2))
    }
}

#[cfg(doc)]
use crate::Error;
