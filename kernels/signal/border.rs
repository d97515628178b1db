//! What a signal is outside its samples.

/// Continuation of a signal of `n` samples beyond both ends, as in SciPy's `ndimage`.
///
/// The numbers are what kernels are launched with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Border {
    /// A constant everywhere outside: `k k k | a b c d | k k k`.
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

impl Border {
    /// The border with this number; a number without one is `Constant`.
    #[inline(always)]
    #[must_use]
    pub fn from_number(number: u32) -> Self {
        match number {
            1 => Border::Nearest,
            2 => Border::Reflect,
            3 => Border::Mirror,
            4 => Border::Wrap,
            _ => Border::Constant,
        }
    }

    /// The sample of a signal of `n > 0` samples that stands at `i`; `None` for the constant.
    ///
    /// `i` is less than 2^32 beyond either end, so that the way back takes no 64-bit division, which GPUs do not have.
    #[inline(always)]
    #[must_use]
    pub fn source(self, i: i64, n: u64) -> Option<u64> {
        if i >= 0 && (i as u64) < n {
            return Some(i as u64);
        }
        // Both ends look alike: from the end that is passed, `beyond` counts outwards and `inwards` back.
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

/// `place` brought into one period, whose part from `n` on runs back to `last`.
#[inline(always)]
fn fold(place: u64, period: u64, last: u64, n: u64) -> u64 {
    let place = modulo(place, period);
    if place < n { place } else { period - last - place }
}

/// `a % b` for `a` below 2^32.
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
    fn numbers_go_there_and_back() {
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
