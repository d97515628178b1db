//! The outcome of a long run: extinction, a still life or an oscillator.

use super::{Board, search::Search};
use crate::Result;

/// Outcome of a long run: the result of [`Board::run_until_stable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// All cells are dead, and stay dead.
    Extinct,
    /// The cells do not change any more.
    StillLife,
    /// The cells repeat.
    Oscillator {
        /// The least number of generations after which all cells are the same again, at least 2.
        period: u64,
    },
    /// No repetition was found within the limit.
    Unstable,
}

/// Long runs.
impl Board {
    /// Computes generations until the cells are known to repeat, but at most `limit` of them. Returns whether they died out, do not
    /// change, or repeat with a period.
    ///
    /// ```
    /// use slm::life::{Outcome, Pattern};
    /// use slm::{Device, Life};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let mut board = Life::new(8, 9).prepare(&Device::open()?)?;
    /// let glider: Pattern = ".O.\n..O\nOOO".parse()?;
    /// board.place(&glider, 2, 2)?;
    /// // It returns to its place after 8 turns in one direction and 9 in the other one.
    /// assert_eq!(board.run_until_stable(10_000)?, Outcome::Oscillator { period: 4 * 8 * 9 });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// All cells of the board are compared, so a spaceship on a torus has the period with which it returns to its place. Two
    /// oscillators together have the least common multiple of their periods.
    ///
    /// Any period is found, however long, if the limit is large enough: a board that repeats from generation `m` on with period `p`
    /// is recognised in the first 5 · max(`m` + 1, `p`) generations, counted from the current one. It is then in one of the
    /// generations that repeat, but not in the first of them. [`generation`](Self::generation) returns which one it is.
    ///
    /// On a GPU this waits for the device only once in many generations. Hashes are compared first, and all cells when a hash
    /// repeats. The device needs memory for one more board while this runs.
    ///
    /// # Errors
    ///
    /// * [`LifeError::Generations`] if the number of the generation could exceed 64 bits.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    ///
    /// After an error the board is in the last generation that was computed completely, or lost because the device has failed, as
    /// after an error of [`step`](Self::step).
    pub fn run_until_stable(&mut self, limit: u64) -> Result<Outcome> {
        self.run_until_stable_while(limit, |_| true)
    }

    /// Does what [`run_until_stable`](Self::run_until_stable) does, but also ends when `goes_on` returns `false`, with
    /// [`Outcome::Unstable`]. `goes_on` is called with the number of the current generation, at most 512 generations after the
    /// last call. A program can show it, and end a long run.
    ///
    /// ```
    /// use slm::life::{Outcome, Pattern};
    /// use slm::{Device, Life};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let mut board = Life::new(1000, 1000).prepare(&Device::open()?)?;
    /// let r_pentomino: Pattern = ".OO\nOO.\n.O.".parse()?;
    /// board.place(&r_pentomino, 500, 500)?;
    /// let outcome = board.run_until_stable_while(u64::MAX, |generation| generation < 100)?;
    /// assert_eq!(outcome, Outcome::Unstable);
    /// assert!((100..=100 + 512).contains(&board.generation()));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`run_until_stable`](Self::run_until_stable).
    pub fn run_until_stable_while(&mut self, limit: u64, mut goes_on: impl FnMut(u64) -> bool) -> Result<Outcome> {
        self.check_steps(limit)?;
        let result = Search::new(self, limit, &mut goes_on).and_then(|mut search| search.run());
        self.cells.forget();
        result
    }
}

#[cfg(doc)]
use {super::LifeError, crate::Error};
