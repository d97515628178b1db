//! A digest for comparing texts.
//!
//! It is SHA-256 (FIPS 180-4), truncated to 128 bits. No method is known that finds two texts with the same digest in fewer
//! than about 2^64 attempts, or a text with a given digest in fewer than about 2^128. So digests detect accidents (a file
//! that is stale, truncated or edited), and host and device can rely on them: equal digests of a kernel's arguments mean
//! equal arguments. A digest is not a signature: a person who alters a text can also renew its digest.

use core::fmt;

/// The digest of a sequence of parts, as a [`Hasher`] computes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u128);

impl Digest {
    /// Returns the digest of one part.
    #[must_use]
    pub const fn of(bytes: &[u8]) -> Self {
        Hasher::new().add(bytes).finish()
    }

    /// Returns the digest itself, least significant byte first.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// Returns the digest with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Digest(u128::from_le_bytes(bytes))
    }
}

impl fmt::Display for Digest {
    /// 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Computes the digest of a sequence of parts.
///
/// Hashes each part after its length, so different sequences of parts are different texts: `"ab", "c"` and `"a", "bc"` have
/// different digests.
#[derive(Clone, Debug)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Returns a hasher to which nothing was added.
    #[must_use]
    pub const fn new() -> Self {
        Hasher(Sha256::new())
    }

    /// Adds `bytes` as one part.
    #[must_use]
    pub const fn add(self, bytes: &[u8]) -> Self {
        let (length, used) = leb128(bytes.len() as u64);
        let (length, _) = length.split_at(used);
        Hasher(self.0.add(length).add(bytes))
    }

    /// Adds a number: a part of 8 bytes.
    #[must_use]
    pub const fn add_number(self, number: u64) -> Self {
        self.add(&number.to_le_bytes())
    }

    /// Adds a digest: a part of 16 bytes.
    #[must_use]
    pub const fn add_digest(self, digest: Digest) -> Self {
        self.add(&digest.to_bytes())
    }

    /// Returns the digest of all parts.
    #[must_use]
    pub const fn finish(self) -> Digest {
        let [a, b, c, d, ..] = self.0.finish();
        Digest((a as u128) << 96 | (b as u128) << 64 | (c as u128) << 32 | d as u128)
    }
}

impl Default for Hasher {
    fn default() -> Self {
        Hasher::new()
    }
}

/// Returns a number in LEB128, and how many of the bytes that takes: 7-bit groups, least significant first, with the top bit set
/// in all but the last. No number's bytes begin with all of another number's. Most lengths are one byte, so constants have fewer
/// blocks to hash ([`compress`]).
const fn leb128(mut number: u64) -> ([u8; 10], usize) {
    let (mut groups, mut last) = ([0; 10], 0);
    while number >= 0x80 {
        groups[last] = number as u8 | 0x80;
        number >>= 7;
        last += 1;
    }
    groups[last] = number as u8;
    (groups, last + 1)
}

/// Bytes of a block of SHA-256.
const BLOCK: usize = 64;

/// Offset of a message's length in its last block.
const LENGTH_AT: usize = BLOCK - size_of::<u64>();

/// SHA-256 of the bytes that were added, with the names of FIPS 180-4, sections 4.1.2 and 6.2.
#[derive(Clone, Debug)]
struct Sha256 {
    hash: [u32; 8],
    /// Its first `filled` bytes are the end of the message. The others have no meaning.
    block: [u8; BLOCK],
    filled: usize,
    /// Bytes of the message.
    len: u64,
}

impl Sha256 {
    const fn new() -> Self {
        Sha256 { hash: INITIAL, block: [0; BLOCK], filled: 0, len: 0 }
    }

    const fn add(mut self, mut bytes: &[u8]) -> Self {
        self.len += bytes.len() as u64;
        while self.filled + bytes.len() >= BLOCK {
            let (first, rest) = bytes.split_at(BLOCK - self.filled);
            self = self.with(first);
            self = Sha256 { hash: compress(self.hash, &self.block), filled: 0, ..self };
            bytes = rest;
        }
        self.with(bytes)
    }

    /// Copies bytes into the block, which has room for them and may be full then. `len` stays.
    const fn with(mut self, bytes: &[u8]) -> Self {
        let (_, room) = self.block.split_at_mut(self.filled);
        room.split_at_mut(bytes.len()).0.copy_from_slice(bytes);
        self.filled += bytes.len();
        self
    }

    /// Pads the message with a one, zeros and its length in bits, and returns its hash.
    const fn finish(self) -> [u32; 8] {
        let bits = self.len * 8;
        let zeros = [0; BLOCK];
        let after_one = (self.filled + 1) % BLOCK;
        let (zeros, _) = zeros.split_at((BLOCK + LENGTH_AT - after_one) % BLOCK);
        self.add(&[0x80]).add(zeros).add(&bits.to_be_bytes()).hash
    }
}

/// Returns the hash after one more block.
///
/// The compiler interprets this for constants, and then calls are expensive. So instead of `rotate_right` and `wrapping_add`
/// the loops use shifts of repeated words ([`TWICE`]) and 64-bit sums.
const fn compress(hash: [u32; 8], block: &[u8; BLOCK]) -> [u32; 8] {
    let w = schedule(block);
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = hash;
    let mut t = 0;
    while t < 64 {
        let (aa, ee) = (a as u64 * TWICE, e as u64 * TWICE);
        let sum_1 = ((ee >> 6) ^ (ee >> 11) ^ (ee >> 25)) as u32;
        let ch = (e & f) ^ (!e & g);
        let t1 = h as u64 + sum_1 as u64 + ch as u64 + K[t] as u64 + w[t] as u64;
        let sum_0 = ((aa >> 2) ^ (aa >> 13) ^ (aa >> 22)) as u32;
        let maj = (a & b) ^ (a & c) ^ (b & c);
        h = g;
        g = f;
        f = e;
        e = (d as u64 + t1) as u32;
        d = c;
        c = b;
        b = a;
        a = (t1 + sum_0 as u64 + maj as u64) as u32;
        t += 1;
    }
    let mut sums = [a, b, c, d, e, f, g, h];
    let mut i = 0;
    while i < 8 {
        sums[i] = (sums[i] as u64 + hash[i] as u64) as u32;
        i += 1;
    }
    sums
}

/// Returns the message schedule of a block.
const fn schedule(block: &[u8; BLOCK]) -> [u32; 64] {
    let mut w = [0; 64];
    let mut t = 0;
    while t < 16 {
        w[t] = (block[4 * t] as u32) << 24
            | (block[4 * t + 1] as u32) << 16
            | (block[4 * t + 2] as u32) << 8
            | block[4 * t + 3] as u32;
        t += 1;
    }
    while t < 64 {
        let (near, far) = (w[t - 2] as u64, w[t - 15] as u64);
        let (near_twice, far_twice) = (near * TWICE, far * TWICE);
        let sigma_1 = ((near_twice >> 17) ^ (near_twice >> 19) ^ (near >> 10)) as u32;
        let sigma_0 = ((far_twice >> 7) ^ (far_twice >> 18) ^ (far >> 3)) as u32;
        w[t] = (sigma_1 as u64 + w[t - 7] as u64 + sigma_0 as u64 + w[t - 16] as u64) as u32;
        t += 1;
    }
    w
}

/// A word times this is the word twice, side by side. The low 32 bits of that, shifted right, are the rotated word.
const TWICE: u64 = 0x1_0000_0001;

/// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
const INITIAL: [u32; 8] =
    [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
const K: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn sha256(message: &[u8]) -> String {
        Sha256::new().add(message).finish().iter().map(|word| format!("{word:08x}")).collect()
    }

    /// NIST's examples of SHA-256, and the empty message.
    #[test]
    fn published_values() {
        let two_blocks = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        let expected: [(&[u8], &str); 4] = [
            (b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (two_blocks, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
            (&[b'a'; 1_000_000], "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ];
        for (message, hash) in expected {
            assert_eq!(sha256(message), hash, "{} bytes", message.len());
        }
    }

    /// Every length of the last block: SHA-256 of the hexadecimal hashes of the messages of 0 to 128 zeros.
    #[test]
    fn every_padding() {
        let hashes: String = (0..=128).map(|len| sha256(&vec![0; len])).collect();
        assert_eq!(sha256(hashes.as_bytes()), "8ef7bd4ff9eecaa2348290cb5c3baede027a4fe72fe5f5852f9df16bd4802bcb");
    }

    /// Where a message is divided makes no difference, with a last block that is full and one that is not.
    #[test]
    fn every_division_in_two() {
        for len in [192, 200] {
            let message: Vec<u8> = (0..len).collect();
            let whole = Sha256::new().add(&message).finish();
            for at in 0..=message.len() {
                let (first, rest) = message.split_at(at);
                assert_eq!(Sha256::new().add(first).add(rest).finish(), whole, "{len} {at}");
            }
        }
    }

    /// SHA-256 of the parts, each after its length, by another implementation (Python's `hashlib`).
    #[test]
    fn a_digest_is_half_of_sha256() {
        assert_eq!(Hasher::new().finish().to_string(), "e3b0c44298fc1c149afbf4c8996fb924");
        let first = Digest::of(b"abc");
        assert_eq!(first.to_string(), "1a60c38bbdf04315e5d12747a45f7e02");
        let all = Hasher::new().add(b"abc").add_number(5).add(&[7; 300]).add_digest(first).finish();
        assert_eq!(all.to_string(), "31ef3d3e204cfda45f887690ca175478");
        assert_eq!(Digest::from_bytes(first.to_bytes()), first);
    }

    #[test]
    fn lengths_have_seven_bits_a_byte() {
        let expected: [(u64, &[u8]); 6] = [
            (0, &[0]),
            (127, &[127]),
            (128, &[128, 1]),
            (16_383, &[255, 127]),
            (16_384, &[128, 128, 1]),
            (u64::MAX, &[255, 255, 255, 255, 255, 255, 255, 255, 255, 1]),
        ];
        for (number, bytes) in expected {
            let (groups, used) = leb128(number);
            assert_eq!(&groups[..used], bytes, "{number}");
        }
    }

    #[test]
    fn boundaries_between_parts_count() {
        let joined = |parts: &[&str]| parts.iter().fold(Hasher::new(), |all, part| all.add(part.as_bytes())).finish();
        let all = [joined(&["ab", "c"]), joined(&["a", "bc"]), joined(&["abc"]), joined(&["abc", ""]), joined(&[])];
        for (i, digest) in all.iter().enumerate() {
            assert!(!all[..i].contains(digest), "{i}");
        }
    }

    /// More work than the digest of a struct with 100 fields. No lint rejects such a long computation of a constant.
    #[test]
    fn constants_can_be_digests_of_long_lists() {
        const fn fields(n: u64) -> Digest {
            let (mut hasher, mut i) = (Hasher::new(), 0);
            while i < n {
                hasher = hasher.add(b"the name of a field").add_number(i).add_digest(Digest::of(&i.to_le_bytes()));
                i += 1;
            }
            hasher.finish()
        }
        const CONSTANT: Digest = fields(100);
        assert_eq!(CONSTANT, fields(100));
    }
}
