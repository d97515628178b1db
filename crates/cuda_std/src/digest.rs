//! A digest that tells whether two texts are the same.
//!
//! FNV-1a with 128 bits (Fowler, Noll and Vo; constants of draft-eastlake-fnv). It finds accidents: a file that was
//! not rebuilt, cut short or edited. It is no protection against somebody who wants to deceive.

use core::fmt;

/// The digest of the bytes that were added, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u128);

impl Digest {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

    /// The digest of nothing.
    #[must_use]
    pub const fn new() -> Self {
        Digest(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// The digest with `bytes` added at the end.
    #[must_use]
    pub const fn add(mut self, bytes: &[u8]) -> Self {
        let mut i = 0;
        while i < bytes.len() {
            self.0 = (self.0 ^ bytes[i] as u128).wrapping_mul(Self::PRIME);
            i += 1;
        }
        self
    }

    /// Adds a part whose length counts, so that `"ab", "c"` and `"a", "bc"` differ.
    #[must_use]
    pub const fn add_part(self, bytes: &[u8]) -> Self {
        self.add_number(bytes.len() as u64).add(bytes)
    }

    /// Adds a number.
    #[must_use]
    pub const fn add_number(self, number: u64) -> Self {
        self.add(&number.to_le_bytes())
    }

    /// Adds another digest.
    #[must_use]
    pub const fn add_digest(self, other: Digest) -> Self {
        self.add(&other.to_bytes())
    }

    /// The digest itself, least significant byte first.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// The digest with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Digest(u128::from_le_bytes(bytes))
    }
}

impl Default for Digest {
    fn default() -> Self {
        Digest::new()
    }
}

impl fmt::Display for Digest {
    /// 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published values of the test vectors "" and "a".
    #[test]
    fn known_values() {
        assert_eq!(Digest::new().to_string(), "6c62272e07bb014262b821756295c58d");
        assert_eq!(Digest::new().add(b"a").to_string(), "d228cb696f1a8caf78912b704e4a8964");
    }

    #[test]
    fn parts_are_told_apart() {
        let joined = |parts: &[&str]| parts.iter().fold(Digest::new(), |d, p| d.add_part(p.as_bytes()));
        assert_ne!(joined(&["ab", "c"]), joined(&["a", "bc"]));
    }
}
