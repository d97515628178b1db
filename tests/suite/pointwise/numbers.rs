//! Numbers of all types as `f64`, which represents them: the tests are compiled once for all types.

use crate::common::Random;
use slm::PointwiseElement;

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    U8,
    U16,
    I16,
    I32,
    F32,
    F64,
}

pub(super) const KINDS: [Kind; 6] = [Kind::U8, Kind::U16, Kind::I16, Kind::I32, Kind::F32, Kind::F64];

impl Kind {
    /// The smallest and the largest integer; `None` for floats.
    pub(super) fn range(self) -> Option<[f64; 2]> {
        match self {
            Kind::U8 => Some([0.0, 255.0]),
            Kind::U16 => Some([0.0, 65_535.0]),
            Kind::I16 => Some([-32_768.0, 32_767.0]),
            Kind::I32 => Some([-2_147_483_648.0, 2_147_483_647.0]),
            Kind::F32 | Kind::F64 => None,
        }
    }

    /// The number that is stored for a result.
    pub(super) fn stored(self, result: f64) -> f64 {
        match (self.range(), self) {
            (Some(_), _) if result.is_nan() => 0.0,
            // Zeros of integers have no sign.
            (Some([least, greatest]), _) => result.round_ties_even().max(least).min(greatest) + 0.0,
            (None, Kind::F32) => f64::from(result as f32),
            (None, _) => result,
        }
    }

    /// Samples of the type: all special ones first, then random ones.
    pub(super) fn samples(self, random: &mut Random, count: usize) -> Vec<f64> {
        let special = self.special();
        let first = special.into_iter().cycle().skip(random.below(7)).take(count.min(special_count(self)));
        let mut samples: Vec<f64> = first.collect();
        samples.extend((samples.len()..count).map(|_| self.random(random)));
        samples
    }

    fn random(self, random: &mut Random) -> f64 {
        match self.range() {
            Some([least, greatest]) if random.below(2) == 0 => {
                (least + random.unit() * (greatest - least)).round() + 0.0
            }
            Some([least, _]) => (random.unit() * 400.0 - 100.0).round().max(least).min(255.0) + 0.0,
            // Multiples of 1/8: many are ties.
            None if random.below(2) == 0 => (random.unit() * 4800.0 - 2400.0).round() / 8.0,
            None => self.stored(random.unit() * 140_000.0 - 70_000.0),
        }
    }

    fn special(self) -> Vec<f64> {
        const FLOATS: [f64; 24] = [
            0.0,
            -0.0,
            0.5,
            -0.5,
            1.5,
            2.5,
            -1.5,
            -2.5,
            254.5,
            255.5,
            256.0,
            -1.0,
            65_534.5,
            65_535.5,
            32_767.5,
            -32_768.5,
            2_147_483_648.0,
            -2_147_483_649.0,
            1e30,
            -1e30,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            1e-40,
        ];
        match self.range() {
            Some([least, greatest]) => vec![least, greatest, 0.0, 1.0, greatest - 1.0, least + 1.0, 2.0, 255.0],
            None => FLOATS.map(|number| self.stored(number)).to_vec(),
        }
    }
}

fn special_count(kind: Kind) -> usize {
    kind.special().len()
}

/// A type of the crate whose numbers `f64` represents.
pub(super) trait Number: PointwiseElement {
    const KIND: Kind;
    /// Returns the same number.
    fn of(number: f64) -> Self;
    fn to(self) -> f64;
}

macro_rules! numbers {
    ($($t:ident: $kind:ident;)*) => {$(
        impl Number for $t {
            const KIND: Kind = Kind::$kind;
            fn of(number: f64) -> Self {
                number as Self
            }
            fn to(self) -> f64 {
                self.into()
            }
        }
    )*};
}
numbers! {
    u8: U8;
    u16: U16;
    i16: I16;
    i32: I32;
    f32: F32;
    f64: F64;
}

pub(super) fn converted<T: Number>(numbers: &[f64]) -> Vec<T> {
    numbers.iter().map(|&number| T::of(number)).collect()
}

/// Returns the bits of numbers. All NaNs are the same here.
pub(super) fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|&number| if number.is_nan() { f64::NAN } else { number }.to_bits()).collect()
}
