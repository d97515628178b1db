//! Units, and the words that they make.

use cuda_std::Value;

/// Bytes per sector.
pub(in crate::transpose) const SECTOR: u32 = 32;

/// A unit. One or several units make a word.
pub trait Unit: Value {
    /// The word, which an access moves.
    type Joined: Value;
    /// Units per word.
    const PER_WORD: u32 = (size_of::<Self::Joined>() / size_of::<Self>()) as u32;

    /// Returns the word of the units `unit(0)`, `unit(1)`, …
    fn join(unit: impl Fn(u32) -> Self) -> Self::Joined;

    /// Returns unit `i` of a word.
    fn of(word: Self::Joined, i: u32) -> Self;
}

macro_rules! units {
    ($($unit:ty: $word:ty;)*) => {$(
        impl Unit for $unit {
            type Joined = $word;
            #[inline(always)]
            fn join(unit: impl Fn(u32) -> Self) -> $word {
                let mut word = 0;
                for i in 0..Self::PER_WORD {
                    word |= (unit(i) as $word) << (<$unit>::BITS * i);
                }
                word
            }
            #[inline(always)]
            fn of(word: $word, i: u32) -> $unit {
                (word >> (<$unit>::BITS * i)) as $unit
            }
        }
    )*};
}
units! {
    u8: u32;
    u16: u32;
    u32: u32;
    u64: u64;
}

/// Elements of `units` units, in words of `per_word` units and `bytes` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transpose) struct Skew {
    pub(in crate::transpose) units: u32,
    pub(in crate::transpose) per_word: u32,
    pub(in crate::transpose) bytes: u32,
}

impl Skew {
    /// Returns the units per sector, a power of two.
    pub(in crate::transpose) const fn per_sector(&self) -> u32 {
        SECTOR / self.bytes * self.per_word
    }

    /// Returns the number of kinds of words in a column: see `columns.rs`.
    pub(in crate::transpose) const fn kinds(&self) -> u32 {
        if self.units == 3 { 3 } else { 1 }
    }

    /// Returns the number of units that make whole words and whole elements: see `columns.rs`.
    pub(in crate::transpose) const fn period(&self) -> u32 {
        self.units * self.per_word
    }

    /// Returns the number of units of a column in a block's table of positions: see `columns.rs`.
    pub(in crate::transpose) const fn table_len(&self) -> u32 {
        2 * self.period()
    }

    /// Returns the number of rows before a tile that its block needs.
    pub(in crate::transpose) const fn halo(&self) -> u32 {
        (self.per_sector() - 1).div_ceil(self.units)
    }

    /// Returns the number of words that a thread loads at a time: 72 bytes, so that enough loads are in flight.
    pub(in crate::transpose) const fn loads_at_once(&self) -> u32 {
        72 / self.bytes
    }
}
