//! Ranges of integers of 32 bits, as the host makes them.

use crate::histogram::WordRange;

impl WordRange {
    /// Returns the range from `lower` to `last`, for a type whose largest number is `most`. The bits of signed numbers are given as
    /// unsigned ones.
    #[must_use]
    pub fn new(bins: u32, [lower, last, most]: [u32; 3]) -> Self {
        WordRange { lower, span: last.wrapping_sub(lower), top: most.wrapping_sub(lower), bins }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::Binning;
    use crate::histogram::bins::search;
    use crate::histogram::host::{Bordered, EdgeSlice, FromRange};
    use crate::histogram::{Even, EvenWords, Ratio};
    use core::array;

    const MOST_BINS: usize = 1000;

    /// Compares with bins of the type itself: at the ends of the type and of the range, at borders, and next to all of them.
    fn check<T: Bordered + TryFrom<i64> + Into<i64>>(range: [i64; 2], bits: fn(T) -> u32, [least, most]: [T; 2])
    where
        Ratio: FromRange<T>,
    {
        let ends: [i64; 2] = [least.into(), most.into()];
        let number = |number: i64| T::try_from(number.clamp(ends[0], ends[1])).ok().unwrap();
        let [lower, upper] = range.map(number);
        for (bins, closed) in [1, 2, 7, MOST_BINS as u32].into_iter().flat_map(|bins| [(bins, false), (bins, true)]) {
            let even = Even::<T, Ratio>::new(bins, lower, upper, closed).unwrap();
            let range = WordRange::new(bins, [lower, even.last, most].map(bits));
            let words = EvenWords { range, scale: even.scale, last_bin: even.last_bin };
            let borders: [T; MOST_BINS + 1] = array::from_fn(|k| T::border((k as u32).min(bins), bins, lower, upper));
            let borders = &borders[..=bins as usize];
            let edges = EdgeSlice::new(borders, closed);
            let near = |border: &T| [-1, 0, 1].map(|step| number((*border).into() + step));
            for x in borders.iter().chain(&[least, most]).flat_map(near) {
                let [number, start]: [i64; 2] = [x.into(), lower.into()];
                assert_eq!(words.key(bits(x)), even.key(x), "{number} in {bins} from {start}");
                let distance = range.distance(bits(x));
                let begins = |k: u32| bits(borders[k as usize]).wrapping_sub(bits(lower)) <= distance;
                assert_eq!(range.cell(distance, search(bins, begins)), edges.key(x), "{number} in {bins} from {start}");
            }
        }
    }

    #[test]
    fn unsigned_and_signed_numbers() {
        let whole =
            |least: i64, most: i64| [[least, most], [least, least + 1], [most - 1, most], [least + 9, most - 9]];
        for range in whole(0, u32::MAX.into()).into_iter().chain([[3, 77], [1 << 31, (1 << 31) + 9]]) {
            check::<u32>(range, |x| x, [u32::MIN, u32::MAX]);
        }
        for range in whole(i32::MIN.into(), i32::MAX.into()).into_iter().chain([[-60, 64], [-9, 0], [5, 9]]) {
            check::<i32>(range, i32::cast_unsigned, [i32::MIN, i32::MAX]);
        }
    }
}
