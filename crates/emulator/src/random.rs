//! Pseudo-random numbers for schedules.

/// SplitMix64 (Steele, Lea and Flood, 2014): one multiplication chain per number, and every seed is good.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`, which must not be 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// Returns `true` once in `n` times on average.
    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Returns the number of a random bit that is set in `bits`, which must not be 0.
    pub(crate) fn bit_of(&mut self, mut bits: u32) -> u32 {
        let mut guesses = self.next();
        for _ in 0..12 {
            if bits >> (guesses & 31) & 1 != 0 {
                return (guesses & 31) as u32;
            }
            guesses >>= 5;
        }
        for _ in 0..self.below(bits.count_ones().into()) {
            bits &= bits - 1;
        }
        bits.trailing_zeros()
    }
}

/// Random numbers of steps until something else may happen: small
/// at first, so that small launches are mixed well, then growing.
#[derive(Debug)]
pub(crate) struct Pace {
    drawn: u64,
    max: u64,
}

/// Square of the number of draws until the maximum is 2.
const BEGINNING: u64 = 64;

impl Pace {
    /// Returns a pace whose numbers finally reach from 1 to `max`.
    pub(crate) fn up_to(max: u64) -> Self {
        Pace { drawn: 0, max }
    }

    pub(crate) fn next(&mut self, random: &mut Random) -> u64 {
        self.drawn += 1;
        1 + random.below(self.max.min(1 + self.drawn.saturating_mul(self.drawn) / BEGINNING))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_is_taken_and_no_other() {
        let mut random = Random::new(1);
        let bits = 0x8001_0010;
        let taken = (0..100).fold(0, |taken, _| taken | 1 << random.bit_of(bits));
        assert_eq!(taken, bits);
    }

    #[test]
    fn numbers_are_below_and_reach_all() {
        let mut random = Random::new(2);
        let seen: std::collections::BTreeSet<u64> = (0..200).map(|_| random.below(7)).collect();
        assert_eq!(seen, (0..7).collect());
    }

    #[test]
    fn a_pace_slows_down_to_its_limit() {
        let (mut random, mut pace) = (Random::new(3), Pace::up_to(8));
        let numbers: Vec<u64> = (0..1000).map(|_| pace.next(&mut random)).collect();
        assert_eq!(numbers[..7], [1; 7]);
        assert!(numbers[..16].iter().all(|number| *number <= 5));
        assert_eq!(numbers.iter().max(), Some(&8));
    }
}
