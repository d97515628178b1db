//! Numbers from the bytes of an input.

use slm_test_support::numbers::Kind;

/// Takes numbers from the front of an input. Behind its end there are zeros, so every input is valid.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

/// Floats at the ends of their type and next to special values.
const SPECIAL: [f64; 8] = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0, -1.0, 1e-42];

/// Lengths and numbers that descriptions should refuse, or nearly.
const EXTREMES: [usize; 16] = [
    0,
    1,
    2,
    3,
    255,
    1 << 12,
    (1 << 16) - 1,
    1 << 16,
    (1 << 31) - 1,
    1 << 31,
    u32::MAX as usize,
    1 << 32,
    1 << 49,
    isize::MAX as usize,
    isize::MAX as usize + 1,
    usize::MAX,
];

impl<'a> Reader<'a> {
    /// Returns a reader of all bytes.
    #[must_use]
    pub fn new(rest: &'a [u8]) -> Self {
        Reader { rest }
    }

    /// Returns the next byte.
    pub fn byte(&mut self) -> u8 {
        self.rest.split_off_first().copied().unwrap_or(0)
    }

    /// Returns a number below `n`, which is at least 1 and at most 256.
    pub fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    /// Returns a number of the range.
    pub fn within(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// Returns whether the next byte is odd.
    pub fn flag(&mut self) -> bool {
        self.byte() % 2 == 1
    }

    /// Returns one of several values.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Returns 64 bits.
    pub fn word(&mut self) -> u64 {
        (0..8).fold(0, |word, _| word << 8 | u64::from(self.byte()))
    }

    /// Returns a length that may be extreme.
    pub fn extreme(&mut self) -> usize {
        match self.below(4) {
            0 => self.word() as usize,
            1 => self.below(40),
            _ => self.pick(&EXTREMES),
        }
    }

    /// Returns a number of a type: small or at the ends of its range. Finite ones stay so far from the ends of `f32` that no sum of
    /// products overflows.
    pub fn number(&mut self, kind: Kind, finite: bool) -> f64 {
        let byte = self.byte();
        number(byte, kind, finite)
    }

    /// Returns `count` numbers of a type. The bytes repeat, changed, where they are too few.
    pub fn numbers(&mut self, count: usize, kind: Kind, finite: bool) -> Vec<f64> {
        self.bytes(count).into_iter().map(|byte| number(byte, kind, finite)).collect()
    }

    /// Returns `count` bytes, which repeat, changed, where they are too few.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let taken = self.rest.split_off(..count.min(self.rest.len())).unwrap_or_default();
        let byte = |at: usize| match taken {
            [] => (at * 41 % 251) as u8,
            _ => taken[at % taken.len()].wrapping_add((at / taken.len() * 37) as u8),
        };
        (0..count).map(byte).collect()
    }

    /// Returns the bytes that are left.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

fn number(byte: u8, kind: Kind, finite: bool) -> f64 {
    if let Some([least, greatest]) = kind.range() {
        return match byte {
            0..8 => least + f64::from(byte),
            8..16 => greatest - f64::from(byte - 8),
            _ if least == 0.0 => f64::from(byte),
            _ => f64::from(byte) - 136.0,
        };
    }
    let number = match byte {
        0..8 if finite => f64::from(byte),
        0..8 => SPECIAL[usize::from(byte)],
        // Of very different sizes.
        8..40 => f64::from(byte % 2).mul_add(2.0, -1.0) * 2f64.powi(i32::from(byte) - 24) * 1.1,
        _ => (f64::from(byte) - 148.0) / 7.0,
    };
    kind.stored(number)
}
