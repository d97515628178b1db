//! The vertical scale of a chart.

/// Growth of heights with numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    Linear,
    /// Logarithmic; the axis has the powers of this base.
    Log(u32),
}

/// A scale for numbers from 0 to a largest one, with 5 % of the height free above it.
pub(crate) struct Scale {
    growth: Growth,
    largest: u64,
}

/// Fraction of the axis up to the largest number.
const FILLED: f64 = 1.0 / 1.05;

/// Start of a logarithmic axis: below 1, so that a 1 has a height.
const LEAST: f64 = 0.5;

impl Scale {
    pub(crate) fn new(growth: Growth, largest: u64) -> Self {
        Scale { growth, largest: largest.max(1) }
    }

    /// Returns the height of a number, as a fraction of the axis. Numbers below a logarithmic axis have the height 0.
    pub(crate) fn height(&self, number: f64) -> f64 {
        let largest = self.largest as f64;
        FILLED
            * match self.growth {
                Growth::Linear => number / largest,
                Growth::Log(_) => ((number / LEAST).ln() / (largest / LEAST).ln()).max(0.0),
            }
    }

    /// Returns the integers that label the axis.
    pub(crate) fn ticks(&self) -> Vec<u64> {
        match self.growth {
            Growth::Linear => {
                let step = step(self.largest);
                (0..=self.largest / step).map(|k| k * step).collect()
            }
            Growth::Log(base) => self.powers(base.into()),
        }
    }

    /// Returns the powers of the base, and for few powers of ten also their multiples by 2 and 5.
    fn powers(&self, base: u64) -> Vec<u64> {
        let factors: &[u64] = if base == 10 && self.largest < 1000 { &[1, 2, 5] } else { &[1] };
        let powers = std::iter::successors(Some(1), |power: &u64| power.checked_mul(base));
        let all = powers.take_while(|&power| power <= self.largest);
        let ticks = all.flat_map(|power| factors.iter().map(move |factor| factor.saturating_mul(power)));
        ticks.filter(|&tick| tick <= self.largest).collect()
    }
}

/// Returns the smallest step of the form 1, 2 or 5 times a power of ten that fits into `largest` at most five times.
fn step(largest: u64) -> u64 {
    let steps = (0..19).flat_map(|k| [1, 2, 5].map(|factor| factor * 10u64.pow(k)));
    steps.into_iter().find(|&step| largest / step <= 5).unwrap_or(u64::MAX)
}
