//! Continuation of a signal beyond its samples.

use super::numbered;

numbered! {
    /// Continuation of a signal of `n` samples beyond both ends, as in SciPy's `ndimage`.
    ///
    /// Kernels receive the discriminant as an argument.
    pub enum Border in borders {
        /// A constant: `k k k | a b c d | k k k`.
        Constant = 0,
        /// The nearest sample: `a a a | a b c d | d d d`.
        Nearest = 1,
        /// Reflected about the edge of the last sample: `c b a | a b c d | d c b`. Period `2 n`.
        Reflect = 2,
        /// Reflected about the centre of the last sample: `d c b | a b c d | c b a`. Period `2 n - 2`.
        Mirror = 3,
        /// Repeated: `b c d | a b c d | a b c`. Period `n`.
        Wrap = 4,
    }
}

impl Border {
    /// Returns the border with this discriminant, or `Constant` if there is none.
    #[inline(always)]
    #[must_use]
    pub fn from_number(number: u32) -> Self {
        match number {
            borders::Nearest => Border::Nearest,
            borders::Reflect => Border::Reflect,
            borders::Mirror => Border::Mirror,
            borders::Wrap => Border::Wrap,
            _ => Border::Constant,
        }
    }

    /// Returns the index of the sample that is at `i` in a continued signal of `n > 0` samples, or `None` for the constant.
    ///
    /// `i` must be less than 2^32 beyond either end: so no 64-bit division is needed, which GPUs do not have.
    #[inline(always)]
    #[must_use]
    pub fn source(self, i: i64, n: u64) -> Option<u64> {
        if i >= 0 && (i as u64) < n {
            return Some(i as u64);
        }
        // Both ends are symmetric: `beyond` counts outwards from the nearer end, and `inwards` counts back from it.
        let before = i < 0;
        let beyond = if before { -1 - i } else { i - n as i64 } as u64;
        let inwards = match self {
            Border::Constant => return None,
            Border::Nearest => 0,
            Border::Reflect => fold(beyond, 2 * n, 1, n),
            Border::Mirror if n == 1 => 0,
            Border::Mirror => fold(beyond + 1, 2 * n - 2, 0, n),
            Border::Wrap => n - 1 - modulo(beyond, n),
        };
        Some(if before { inwards } else { n - 1 - inwards })
    }
}

/// Returns `place` modulo the period, where the part of the period from `n` on counts back down to `last`.
#[inline(always)]
fn fold(place: u64, period: u64, last: u64, n: u64) -> u64 {
    let place = modulo(place, period);
    if place < n { place } else { period - last - place }
}

/// Returns `a % b`, for `a` below 2^32.
#[inline(always)]
fn modulo(a: u64, b: u64) -> u64 {
    if a < b { a } else { (a as u32 % b as u32) as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The signal `a b c d` from -9 to 12, as SciPy's documentation draws it.
    #[test]
    fn pictures() {
        let picture = |border: Border, n: u64| -> [u8; 22] {
            core::array::from_fn(|i| border.source(i as i64 - 9, n).map_or(b'k', |s| b'a' + s as u8))
        };
        assert_eq!(picture(Border::Constant, 4), *b"kkkkkkkkkabcdkkkkkkkkk");
        assert_eq!(picture(Border::Nearest, 4), *b"aaaaaaaaaabcdddddddddd");
        assert_eq!(picture(Border::Reflect, 4), *b"aabcddcbaabcddcbaabcdd");
        assert_eq!(picture(Border::Mirror, 4), *b"dcbabcdcbabcdcbabcdcba");
        assert_eq!(picture(Border::Wrap, 4), *b"dabcdabcdabcdabcdabcda");
        for border in [Border::Nearest, Border::Reflect, Border::Mirror, Border::Wrap] {
            assert_eq!(picture(border, 1), [b'a'; 22], "{border:?}");
        }
    }

    #[test]
    fn discriminants_round_trip() {
        for border in [Border::Constant, Border::Nearest, Border::Reflect, Border::Mirror, Border::Wrap] {
            assert_eq!(Border::from_number(border as u32), border);
        }
    }

    #[test]
    fn far_away() {
        let n = (1 << 40) + 1;
        for border in [Border::Nearest, Border::Reflect, Border::Mirror, Border::Wrap] {
            for i in [-(1 << 32), -1, n as i64, n as i64 - 1 + (1 << 32)] {
                assert!(border.source(i, n).unwrap() < n, "{border:?} at {i}");
            }
        }
    }
}
