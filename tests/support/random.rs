//! Pseudo-random numbers, the same in every run.

/// The seed of all test data.
pub const SEED: u64 = 0x5eed;

/// Pseudo-random numbers (SplitMix64, Steele, Lea and Flood 2014).
pub struct Random(u64);

impl Random {
    pub fn new(stream: u64) -> Self {
        Random(SEED ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// Returns a number from 0 (inclusive) to 1 (exclusive).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn values<T: Draw>(&mut self, count: usize) -> Vec<T> {
        T::values(self, count)
    }
}

/// A type of random numbers.
pub trait Draw: Sized {
    /// Returns a number: between -1 and 1 for floats, any number for integers.
    fn random(bits: u64) -> Self;
    /// Returns the next `count` numbers.
    fn values(random: &mut Random, count: usize) -> Vec<Self>;
}

macro_rules! draw {
    ($($t:ty: $random:expr;)*) => {$(
        impl Draw for $t {
            fn random(bits: u64) -> Self {
                let random: fn(u64) -> Self = $random;
                random(bits)
            }
            fn values(random: &mut Random, count: usize) -> Vec<Self> {
                (0..count).map(|_| Self::random(random.bits())).collect()
            }
        }
    )*};
}
draw! {
    f32: |bits| (bits >> 11) as f32 / (1u64 << 52) as f32 - 1.0;
    f64: |bits| (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    i32: |bits| bits as i32;
    u8: |bits| bits as u8;
}
