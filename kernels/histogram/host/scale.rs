//! Scales for a range.

use super::borders::{Wide, grid};
use crate::histogram::{Grid, Halfway, Lattice, Ratio, Scale};
use cuda_std::Value;
use cuda_std::math::fma;

/// A scale that is made for a range.
pub trait FromRange<T: Value>: Scale<T> {
    /// Whether the computation is always exact. If not, [`Even::agrees`](crate::histogram::Even::agrees) must check it.
    const EXACT: bool;

    /// Returns the scale of `bins` bins from `lower` to `upper`, or `None` if this type does not suit them. `upper` must be
    /// larger than `lower`.
    #[must_use]
    fn new(bins: u32, lower: T, upper: T) -> Option<Self>;
}

impl Ratio {
    /// Returns the ratio of a number of bins to a range of this width, at most 2^32.
    #[must_use]
    pub fn new(bins: u32, width: u64) -> Self {
        Ratio { width, reciprocal: u64::MAX / width, bins }
    }
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl FromRange<$t> for Ratio {
            const EXACT: bool = true;

            fn new(bins: u32, lower: $t, upper: $t) -> Option<Self> {
                Some(Ratio::new(bins, (i64::from(upper) - i64::from(lower)) as u64))
            }
        }
    )*};
}
integers!(u8 u16 u32 i32);

macro_rules! floats {
    ($($t:ty, $most:expr;)*) => {$(
        impl FromRange<$t> for Lattice<$t> {
            const EXACT: bool = true;

            fn new(bins: u32, lower: $t, upper: $t) -> Option<Self> {
                /// Maximum magnitude of the product in `floor_product`.
                const MOST: f64 = $most as f64;
                let ends = [f64::from(lower), f64::from(upper)];
                let bins_per_unit = f64::from(bins) / (ends[1] - ends[0]);
                let is_power_of_two = |x: f64| x.is_normal() && x.to_bits() << 12 == 0;
                if !(is_power_of_two(bins_per_unit) && (bins_per_unit as $t).is_normal()) {
                    return None;
                }
                let multiples = ends.map(|end| end * bins_per_unit);
                // Multiplication by a power of two is exact, unless the product underflows: then it is no multiple, or is zero.
                let is_multiple = |(multiple, end): (f64, f64)| {
                    multiple.abs() <= MOST && multiple as i64 as f64 == multiple && multiple / bins_per_unit == end
                };
                let fits = [0, 1].into_iter().all(|i| is_multiple((multiples[i], ends[i])));
                (fits && multiples[1] - multiples[0] == f64::from(bins))
                    .then_some(Lattice { bins_per_unit: bins_per_unit as $t, first: multiples[0] as i64 as u32 })
            }
        }
    )*};
}
floats! {
    f32, 1u64 << 22;
    f64, 1u64 << 51;
}

impl FromRange<f64> for Grid {
    const EXACT: bool = false;

    fn new(bins: u32, lower: f64, upper: f64) -> Option<Self> {
        let bins_per_unit = f64::from(bins) / (upper - lower);
        if bins_per_unit == 0.0 || bins_per_unit.is_infinite() {
            return None;
        }
        // The cast turns negative numbers, for ranges above zero, into 0.
        let origin = ((-lower * bins_per_unit).round() as u32).min(bins);
        let ends = [lower, upper];
        let [anchor, anchor_rest] = Wide::border(origin, bins, ends).split(grid(ends));
        let [step, step_rest] = Wide::width(bins, ends).split(grid(ends));
        let origin = origin.wrapping_sub(Self::ROUNDER.to_bits() as u32);
        Some(Grid { bins_per_unit, anchor, anchor_rest, step, step_rest, origin })
    }
}

impl FromRange<f32> for Halfway {
    const EXACT: bool = false;

    fn new(bins: u32, lower: f32, upper: f32) -> Option<Self> {
        /// Maximum magnitude of the argument of `floor_bits`.
        const MOST: f64 = (1u64 << 51) as f64;
        let (lower, upper, bins) = (f64::from(lower), f64::from(upper), f64::from(bins));
        let (width, product) = (upper - lower, lower * bins);
        let first = (product / width).round();
        if lower.abs().max(upper.abs()) * (bins / width) >= MOST {
            return None;
        }
        Some(Halfway {
            bins_per_unit: bins / width,
            bins_per_half_ulp: bins / width * f64::from(f32::EPSILON) / 2.0 * (1.0 - f64::from(f32::EPSILON) / 2.0),
            fraction: -fma(-first, width, product) / width,
            first: first as i64 as u32,
        })
    }
}
