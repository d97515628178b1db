//! Arithmetic.

use crate::machine::Ieee;
use crate::math::Fma;
use std::cmp::Ordering;

macro_rules! fma {
    ($($t:ty)*) => {$(
        impl Fma for $t {
            #[inline(always)]
            fn fma(a: Self, b: Self, c: Self) -> Self {
                a.mul_add(b, c)
            }

            #[inline(always)]
            fn floor_product(a: Self, b: Self) -> u32 {
                let floor = (a * b).floor();
                // The product may have been rounded up to this integer, even to zero.
                let is_below = match floor == 0.0 {
                    true => a < 0.0 && b > 0.0 || a > 0.0 && b < 0.0,
                    false => a.mul_add(b, -floor) < 0.0,
                };
                (floor as i64 as u32).wrapping_sub(is_below as u32)
            }
        }
    )*};
}
fma!(f32 f64);

#[inline(always)]
pub(crate) fn floor_bits(value: f64) -> u32 {
    value.floor() as i64 as u32
}

#[inline(always)]
pub(crate) fn lop3<const TABLE: u8>(a: u32, b: u32, c: u32) -> u32 {
    (0..8).filter(|index| TABLE >> index & 1 == 1).fold(0, |bits, index| {
        let of = |operand: u32, shift: u32| if index >> shift & 1 == 1 { operand } else { !operand };
        bits | of(a, 2) & of(b, 1) & of(c, 0)
    })
}

#[inline(always)]
pub(crate) fn permute_bytes(low: u32, high: u32, selector: u32) -> u32 {
    let bytes = (u64::from(high) << 32 | u64::from(low)).to_le_bytes();
    u32::from_le_bytes([0, 4, 8, 12].map(|shift| bytes[(selector >> shift & 7) as usize]))
}

#[inline(always)]
pub(crate) fn min_u16x2(a: u32, b: u32) -> u32 {
    of_halves(a, b, Ord::min)
}

#[inline(always)]
pub(crate) fn max_u16x2(a: u32, b: u32) -> u32 {
    of_halves(a, b, Ord::max)
}

#[inline(always)]
fn of_halves(a: u32, b: u32, function: fn(u16, u16) -> u16) -> u32 {
    let [low, high] = [0, 16].map(|shift| u32::from(function((a >> shift) as u16, (b >> shift) as u16)));
    high << 16 | low
}

#[inline(always)]
pub(crate) fn byte_to_f32<const K: u32>(word: u32) -> f32 {
    word.to_le_bytes()[K as usize] as f32
}

#[inline(always)]
pub(crate) fn round_to_bytes(numbers: [f32; 4]) -> u32 {
    u32::from_le_bytes(numbers.map(|number| number.round_ties_even() as u8))
}

#[inline(always)]
pub(crate) fn opaque(number: u32) -> u32 {
    number
}

/// Defines approximations by the exact function of an `f64`.
macro_rules! approximations {
    ($($name:ident, $exact:expr;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name(x: f32) -> f32 {
            let exact: fn(f64) -> f64 = $exact;
            exact(f64::from(x)) as f32
        }
    )*};
}
approximations! {
    rsqrt_approx, |x| if x == 0.0 { f64::INFINITY.copysign(x) } else { 1.0 / x.sqrt() };
    exp2_approx, f64::exp2;
    log2_approx, f64::log2;
    sin_approx, f64::sin;
    cos_approx, f64::cos;
}

macro_rules! floats {
    ($($t:ty)*) => {$(
        impl Ieee for $t {
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$t>::sqrt(self)
            }
            #[inline(always)]
            fn floor(self) -> Self {
                <$t>::floor(self)
            }
            #[inline(always)]
            fn ceil(self) -> Self {
                <$t>::ceil(self)
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                <$t>::trunc(self)
            }
            #[inline(always)]
            fn round_ties_even(self) -> Self {
                <$t>::round_ties_even(self)
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                match self.partial_cmp(&other) {
                    Some(Ordering::Less) => self,
                    Some(Ordering::Greater) => other,
                    // Equal numbers have equal bits, except for zeros.
                    Some(Ordering::Equal) => <$t>::from_bits(self.to_bits() | other.to_bits()),
                    None => if self.is_nan() { other } else { self },
                }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                match self.partial_cmp(&other) {
                    Some(Ordering::Less) => other,
                    Some(Ordering::Greater) => self,
                    Some(Ordering::Equal) => <$t>::from_bits(self.to_bits() & other.to_bits()),
                    None => if self.is_nan() { other } else { self },
                }
            }
        }
    )*};
}
floats!(f32 f64);
