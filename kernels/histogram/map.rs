//! Maps from numbers to the entries of a guide.

use super::Countable;
use cuda_std::math::{floor_product, max, min};

/// A map from numbers to entries.
pub trait Map<N>: Copy {
    /// Returns the map of the numbers between two ends to this number of entries, at most 2^16. Numbers outside have the first entry or
    /// the last one.
    #[must_use]
    fn new(ends: [N; 2], entries: u32) -> Self;

    /// Returns the entry of a number. It is monotonic: of two numbers, the larger one does not have a smaller entry. NaN has any.
    #[must_use]
    fn entry(&self, number: N) -> u32;
}

/// A number that can be searched among others.
pub trait Searchable: Countable {
    /// A map to entries of equal widths.
    type Values: Map<Self>;

    /// Whether that is another map than [`DigitMap`], which is worth a try.
    const HAS_TWO_MAPS: bool;

    /// Returns an integer that ascends with the numbers: an integer itself, or the leading bits of a float. Floats between two powers of
    /// two have as many digits as those between any others. Equal numbers have equal digits.
    #[must_use]
    fn digits(self) -> u32;
}

/// Entries of equal widths.
#[derive(Clone, Copy, Debug)]
pub struct ValueMap<T> {
    lower: T,
    /// Distance of the last entry's end from `lower`. Finite, and not negative.
    width: T,
    /// Finite. Its product with the width is less than the number of entries.
    entries_per_unit: T,
}

/// Entries with equally many [digits](Searchable::digits).
#[derive(Clone, Copy, Debug)]
pub struct DigitMap {
    lower: u32,
    /// The number of entries per digit, times 2^32.
    factor: u32,
    last: u32,
}

impl<N: Searchable> Map<N> for DigitMap {
    #[inline(always)]
    fn new(ends: [N; 2], entries: u32) -> Self {
        let [lower, upper] = ends.map(Searchable::digits);
        // In `f32`, because any monotonic map will do. The cast is at most `u32::MAX`, for a digit or more per entry.
        let factor = entries as f32 * (1u64 << 32) as f32 / upper.saturating_sub(lower) as f32;
        DigitMap { lower, factor: factor as u32, last: entries - 1 }
    }

    #[inline(always)]
    fn entry(&self, number: N) -> u32 {
        let digits = number.digits().saturating_sub(self.lower) as u64;
        (((digits * self.factor as u64) >> 32) as u32).min(self.last)
    }
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Searchable for $t {
            type Values = DigitMap;

            const HAS_TWO_MAPS: bool = false;

            #[inline(always)]
            fn digits(self) -> u32 {
                self as u32
            }
        }
    )*};
}
integers!(u16 u32);

macro_rules! floats {
    ($($t:ty, $digits:literal;)*) => {$(
        impl Searchable for $t {
            type Values = ValueMap<$t>;

            const HAS_TWO_MAPS: bool = true;

            /// The sum turns -0 into 0, which is equal to it.
            #[inline(always)]
            fn digits(self) -> u32 {
                let high = ((self + 0.0).to_bits() >> $digits) as u32;
                high ^ ((high.cast_signed() >> 31).cast_unsigned() | 1 << 31)
            }
        }

        impl Map<$t> for ValueMap<$t> {
            #[inline(always)]
            fn new([lower, upper]: [$t; 2], entries: u32) -> Self {
                let width = max(min(upper - lower, <$t>::MAX), 0.0);
                // Half an entry less, so that the product with the width remains below their number when it is rounded.
                let entries_per_unit = min((entries as $t - 0.5) / width, <$t>::MAX);
                ValueMap { lower, width, entries_per_unit }
            }

            #[inline(always)]
            fn entry(&self, number: $t) -> u32 {
                floor_product(min(max(number - self.lower, 0.0), self.width), self.entries_per_unit)
            }
        }
    )*};
}
floats! {
    f32, 0;
    f64, 32;
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::fmt::Debug;

    const ENTRIES: u32 = 100;

    /// The entries of ascending numbers ascend.
    fn check<N: Searchable + Debug, M: Map<N>>(numbers: &[N]) -> [u32; 2] {
        let map = M::new([numbers[0], numbers[numbers.len() - 1]], ENTRIES);
        let mut before = 0;
        for number in numbers {
            let entry = map.entry(*number);
            assert!(before <= entry && entry < ENTRIES, "{number:?} of {numbers:?}: {before}, {entry}");
            before = entry;
        }
        [map.entry(numbers[0]), before]
    }

    #[test]
    fn entries_ascend() {
        const WHOLE: [u32; 2] = [0, ENTRIES - 1];
        let words = [0, 1, 77, 1 << 16, 1 << 31, u32::MAX - 1, u32::MAX];
        assert_eq!(check::<u32, DigitMap>(&words), WHOLE);
        assert_eq!(check::<u32, DigitMap>(&[7, 8, 9]), [0, 1]);
        assert_eq!(check::<u32, DigitMap>(&[7]), [0, 0]);
        assert_eq!(check::<u16, DigitMap>(&[0, 1, 1000, u16::MAX]), WHOLE);
        let around_zero = [-1.0, -1e-20, -f32::MIN_POSITIVE / 4.0, -0.0, 0.0, f32::MIN_POSITIVE, 1e-30, 0.5, 1.0];
        assert_eq!(check::<f32, ValueMap<f32>>(&around_zero), WHOLE);
        assert_eq!(check::<f32, DigitMap>(&around_zero), WHOLE);
        let doubles = around_zero.map(f64::from);
        assert_eq!(check::<f64, ValueMap<f64>>(&doubles), WHOLE);
        assert_eq!(check::<f64, DigitMap>(&doubles), WHOLE);
        let extreme = [f32::MIN, -1e38, -1.0, 0.0, 1e-45, 2e38, f32::MAX];
        check::<f32, ValueMap<f32>>(&extreme);
        assert_eq!(check::<f32, DigitMap>(&extreme), WHOLE);
        let close = [0.0, 1e-45, 3e-45];
        check::<f32, ValueMap<f32>>(&close);
        check::<f32, DigitMap>(&close);
    }

    #[test]
    fn numbers_outside_have_outer_entries() {
        fn check<N: Searchable + Debug, M: Map<N>>(ends: [N; 2], below: &[N], above: &[N]) {
            let map = M::new(ends, ENTRIES);
            below.iter().for_each(|number| assert_eq!(map.entry(*number), 0, "{number:?}"));
            above.iter().for_each(|number| assert_eq!(map.entry(*number), ENTRIES - 1, "{number:?}"));
        }

        let far = [1.0, 2.0, 1e5, 5e9, 1e12, 1.234_567e25, f32::MAX, f32::INFINITY];
        let (below, doubles) = (far.map(|number| -number), far.map(f64::from));
        check::<f32, ValueMap<f32>>([-1.0, 1.0], &below, &far);
        check::<f32, DigitMap>([-1.0, 1.0], &below, &far);
        check::<f64, ValueMap<f64>>([-1.0, 1.0], &below.map(f64::from), &doubles);
        check::<f64, DigitMap>([-1.0, 1.0], &below.map(f64::from), &doubles);
        check::<u32, DigitMap>([1 << 20, 1 << 21], &[0, 7, 1 << 20], &[1 << 21, 1 << 31, u32::MAX]);
        for map in [ValueMap::new([-1.0f64, 1.0], ENTRIES), ValueMap::new([1.0, 1.0], ENTRIES)] {
            assert!([f64::NAN, f64::MAX, f64::INFINITY].iter().all(|number| map.entry(*number) < ENTRIES), "{map:?}");
        }
    }

    #[test]
    fn equal_numbers_have_equal_entries() {
        for ends in [[-1.0f32, 1.0], [-0.0, 1.0], [-1.0, 0.0]] {
            let (values, digits) = (ValueMap::new(ends, ENTRIES), DigitMap::new(ends, ENTRIES));
            assert_eq!(values.entry(-0.0), values.entry(0.0), "{ends:?}");
            assert_eq!(Map::<f32>::entry(&digits, -0.0), Map::<f32>::entry(&digits, 0.0), "{ends:?}");
        }
    }
}
