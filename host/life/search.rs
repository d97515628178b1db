//! The search for repetitions.
//!
//! It runs through windows of generations, each twice as long as the one before, as Brent's algorithm does ("An improved Monte
//! Carlo factorization algorithm", 1980). The cells of a window's first generation are kept. If they repeat within the window,
//! the board is in a cycle.
//!
//! Not all generations need a census. The hashes of the first [`STRIDE`] generations of a window are kept. After them, there is
//! one census every `STRIDE` generations:
//!
//! ```text
//! generation of the window  0 1 2 3 4 5 6 7 8       16      24      32
//! census                    x x x x x x x x x       x       x       x
//! ```
//!
//! If the cells of generation 0 repeat in generation 20, those of 4 repeat in 24, so every period is found, at the latest
//! `STRIDE - 1` generations after the repetition.
//!
//! A hash that repeats is not a proof. The next window begins with the current generation and is as long as the supposed period. At
//! its end, all cells are compared with those at its beginning. The period is the least one, because a shorter one would have
//! been seen in the window. If the cells differ, the hash was that of different cells, and the search goes on.

use super::history::Schedule;
use super::{Board, Census, Outcome};
use crate::{Buffer, Result};
use slm_kernels::life::SUMS;

/// Generations between censuses. Kernels may compute as many in one pass over the board.
const STRIDE: u64 = 8;

/// Censuses for each time that the host waits for the device.
const BATCH: usize = 64;

/// A search for repetitions on a board.
pub(super) struct Search<'a> {
    board: &'a mut Board,
    counts: Buffer<u64>,
    /// The last generation that may be computed.
    last: u64,
    /// Bits of the hashes that are compared: all, except in tests.
    mask: u64,
    /// Number of times that a hash repeated, but not the cells.
    refuted: u64,
    /// Whether to go on in a generation.
    goes_on: &'a mut dyn FnMut(u64) -> bool,
}

/// What was seen in a window.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    /// No repetition.
    Nothing,
    /// A hash that repeated after this number of generations.
    Hash(u64),
    /// Cells that repeated after this number of generations.
    Cells(u64),
    /// That the search is not to go on.
    Stop,
}

impl<'a> Search<'a> {
    /// `limit` generations from the current one must have numbers.
    pub(super) fn new(board: &'a mut Board, limit: u64, goes_on: &'a mut dyn FnMut(u64) -> bool) -> Result<Self> {
        let (counts, last) = (board.counts(BATCH)?, board.generation() + limit);
        Ok(Search { board, counts, last, mask: u64::MAX, refuted: 0, goes_on })
    }

    pub(super) fn run(&mut self) -> Result<Outcome> {
        let (mut longest, mut window) = (1u64, 1);
        while self.board.generation() < self.last {
            match self.watch(window)? {
                Seen::Cells(period) => return self.outcome(period),
                Seen::Hash(period) => window = period,
                Seen::Stop => break,
                Seen::Nothing => {
                    longest = longest.saturating_mul(2);
                    window = longest;
                }
            }
        }
        Ok(Outcome::Unstable)
    }

    fn outcome(&self, period: u64) -> Result<Outcome> {
        Ok(match period {
            1 if self.board.population()? == 0 => Outcome::Extinct,
            1 => Outcome::StillLife,
            _ => Outcome::Oscillator { period },
        })
    }

    /// Computes the generations of a window, or fewer until a hash repeats or the limit is reached.
    fn watch(&mut self, window: u64) -> Result<Seen> {
        self.board.cells.keep()?;
        let window = window.min(self.last - self.board.generation());
        let mut first: Vec<Census> = Vec::new();
        let mut now = None;
        while now != Some(window) {
            let samples = self.samples(now, window)?;
            first.extend(samples.iter().filter(|sample| sample.generation < STRIDE));
            now = samples.last().map(|sample| sample.generation);
            let period = samples.iter().filter_map(|sample| self.period(&first, sample)).min();
            let seen = match period {
                Some(period) => self.check(period, now == Some(period))?,
                None => Seen::Nothing,
            };
            if matches!(seen, Seen::Cells(_)) {
                return Ok(seen);
            }
            if !(self.goes_on)(self.board.generation()) {
                return Ok(Seen::Stop);
            }
            if period.is_some() {
                return Ok(seen);
            }
        }
        Ok(Seen::Nothing)
    }

    /// Computes generations after generation `now` of a window, and returns a batch of samples of them. Without `now`, the first
    /// one is of generation 0.
    fn samples(&mut self, now: Option<u64>, window: u64) -> Result<Vec<Census>> {
        let next = |now: &u64| (*now < window).then(|| after(*now).min(window));
        let first = now.map_or(Some(0), |now| next(&now));
        let generations: Vec<u64> = std::iter::successors(first, next).take(BATCH).collect();
        self.counts.clear()?;
        let before = std::iter::once(now.unwrap_or(0)).chain(generations.iter().copied());
        let steps: Vec<u64> = generations.iter().zip(before).map(|(generation, before)| generation - before).collect();
        let mut first = 0;
        for equal in steps.chunk_by(|a, b| a == b) {
            let censuses = equal.len() as u64;
            self.board.take_censuses(Schedule::new(equal[0], censuses, first), &mut self.counts)?;
            first += censuses * SUMS as u64;
        }
        Ok(Census::all(generations.into_iter(), &self.counts.download()?).collect())
    }

    /// Returns the least period that a sample shows.
    fn period(&self, first: &[Census], sample: &Census) -> Option<u64> {
        let is_same =
            |other: &&Census| other.population == sample.population && (other.hash ^ sample.hash) & self.mask == 0;
        let earlier = first.iter().filter(|other| other.generation < sample.generation);
        earlier.filter(is_same).map(|other| sample.generation - other.generation).min()
    }

    /// Compares the cells, if the board is in the generation in which those of the window's first one should repeat.
    fn check(&mut self, period: u64, is_now: bool) -> Result<Seen> {
        if !is_now {
            return Ok(Seen::Hash(period));
        }
        if self.board.cells.is_as_kept()? {
            return Ok(Seen::Cells(period));
        }
        self.refuted += 1;
        Ok(Seen::Nothing)
    }
}

/// Returns the generation of the sample after the one of generation `now`.
fn after(now: u64) -> u64 {
    if now + 1 < STRIDE { now + 1 } else { (now / STRIDE + 1) * STRIDE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, Life};

    /// Returns the outcome for a pattern on a torus if only some bits of the hashes are compared, and the number of hashes that
    /// repeated with different cells.
    fn search(pattern: &str, side: usize, mask: u64) -> (Outcome, u64) {
        let mut board = Life::new(side, side).prepare(&Device::cpu()).unwrap();
        board.place(&pattern.parse().unwrap(), side as isize / 2, side as isize / 2).unwrap();
        let mut goes_on = |_| true;
        let mut search = Search::new(&mut board, 50_000, &mut goes_on).unwrap();
        search.mask = mask;
        (search.run().unwrap(), search.refuted)
    }

    const GLIDER: &str = ".O.\n..O\nOOO";
    const R_PENTOMINO: &str = ".OO\nOO.\n.O.";

    #[test]
    fn equal_hashes_of_different_cells_deceive_nobody() {
        let mut all = 0;
        for (pattern, side) in [(GLIDER, 10), (GLIDER, 31), (R_PENTOMINO, 24), (R_PENTOMINO, 33)] {
            let (expected, refuted) = search(pattern, side, u64::MAX);
            assert_eq!(refuted, 0);
            assert_ne!(expected, Outcome::Unstable);
            let results: Vec<_> = (2..20).map(|bits| search(pattern, side, (1 << bits) - 1)).collect();
            all += results.iter().map(|(_, refuted)| refuted).sum::<u64>();
            // With few bits, hashes that repeat earlier can hide the period.
            let is_right = |outcome| outcome == expected || outcome == Outcome::Unstable;
            assert!(results.iter().all(|(outcome, _)| is_right(*outcome)), "{results:?}");
            assert_eq!(results.last().map(|(outcome, _)| *outcome), Some(expected));
        }
        assert!(all > 0, "no hash was that of different cells");
        // Only the population is left: all generations of a glider have the same one.
        let (outcome, refuted) = search(GLIDER, 10, 0);
        assert_eq!(outcome, Outcome::Unstable);
        assert!(refuted > 10);
    }

    /// Also where a hash repeats in the middle of a batch, and a window begins that is as long as the period.
    #[test]
    fn goes_on_is_asked_every_512_generations() {
        for side in [100, 150, 250] {
            let mut board = Life::new(side, side).prepare(&Device::cpu()).unwrap();
            board.place(&GLIDER.parse().unwrap(), 50, 50).unwrap();
            let mut asked = vec![0];
            let outcome = board.run_until_stable_while(50_000, |generation| {
                asked.push(generation);
                true
            });
            assert_eq!(outcome, Ok(Outcome::Oscillator { period: 4 * side as u64 }));
            asked.push(board.generation());
            assert!(asked.len() > 2 && asked.windows(2).all(|pair| pair[1] - pair[0] <= 512), "{asked:?}");
        }
    }
}
