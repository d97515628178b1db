//! Layouts of tiles in shared memory.

use super::BankError;
use crate::Result;
use std::fmt;

/// Layout of a tile in shared memory: a row stride in elements, and optionally a swizzle of the columns in each row.
///
/// `Display` prints the index as a formula in Rust:
///
/// ```
/// use slm::banks::{Layout, Swizzle};
///
/// let padded = Layout::padded(33);
/// assert_eq!((padded.to_string(), padded.index(2, 5)), ("row * 33 + column".to_owned(), 71));
///
/// let swizzled = Layout::swizzled(32, Swizzle { bits: 3, base: 2, shift: 1 })?;
/// assert_eq!(swizzled.to_string(), "row * 32 + (column ^ ((row >> 1 & 7) << 2))");
/// assert_eq!(swizzled.index(7, 5), 7 * 32 + (5 ^ 12));
/// # Ok::<(), slm::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    stride: u32,
    swizzle: Option<Swizzle>,
}

/// A permutation of the elements of a row that depends on the row: `column ^ ((row >> shift & (2^bits - 1)) << base)`.
///
/// Groups of `2^base` elements stay together. The permutation changes every `2^shift` rows and repeats after
/// `2^(shift + bits)` rows. For rows of `2^n` elements it is CUTLASS's `Swizzle<bits, base, n + shift - base>` of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Swizzle {
    /// Number of column bits that change.
    pub bits: u32,
    /// Lowest of these bits.
    pub base: u32,
    /// Lowest row bit that they depend on.
    pub shift: u32,
}

impl Layout {
    /// Returns the row-major layout with a row stride of `stride` elements: `row * stride + column`.
    #[must_use]
    pub const fn padded(stride: u32) -> Self {
        Layout { stride, swizzle: None }
    }

    /// Returns the row-major layout with swizzled columns: `row * stride + swizzle(column)`.
    ///
    /// # Errors
    ///
    /// [`BankError::Swizzle`] if `stride` is not a multiple of `2^(base + bits)`, so that elements would leave their row, or if
    /// `base + bits` or `shift` exceeds 31.
    pub fn swizzled(stride: u32, swizzle: Swizzle) -> Result<Self> {
        let Swizzle { bits, base, shift } = swizzle;
        let group = bits.checked_add(base).and_then(|bits| 1u32.checked_shl(bits));
        match group {
            Some(group) if stride.is_multiple_of(group) && shift < 32 => Ok(Layout { stride, swizzle: Some(swizzle) }),
            _ => Err(BankError::Swizzle { stride, bits, base, shift }.into()),
        }
    }

    /// Returns the row stride in elements.
    #[must_use]
    pub const fn stride(&self) -> u32 {
        self.stride
    }

    /// Returns the swizzle of the columns, if there is one.
    #[must_use]
    pub const fn swizzle(&self) -> Option<Swizzle> {
        self.swizzle
    }

    /// Returns the index of an element: the number of elements before it.
    #[must_use]
    pub fn index(&self, row: u32, column: u32) -> u64 {
        let column = self.swizzle.map_or(column, |swizzle| swizzle.apply(row, column));
        u64::from(row) * u64::from(self.stride) + u64::from(column)
    }

    /// Returns the number of elements from the first to the last element of a tile, including unused ones. A swizzle may use
    /// the whole last row.
    #[must_use]
    pub fn elements(&self, rows: u32, columns: u32) -> u64 {
        if rows == 0 || columns == 0 {
            return 0;
        }
        let columns = if self.swizzle.is_some() { self.stride } else { columns };
        u64::from(rows - 1) * u64::from(self.stride) + u64::from(columns)
    }

    /// Returns whether groups of `group` neighbouring elements stay together and aligned. `group` is a power of two.
    pub(super) fn keeps(&self, group: u32) -> bool {
        self.stride.is_multiple_of(group) && self.swizzle.is_none_or(|swizzle| group <= 1 << swizzle.base)
    }
}

impl Swizzle {
    fn mask(self) -> u32 {
        (1 << self.bits) - 1
    }

    fn apply(self, row: u32, column: u32) -> u32 {
        column ^ ((row >> self.shift & self.mask()) << self.base)
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row * {} + ", self.stride)?;
        let Some(swizzle) = self.swizzle else { return f.write_str("column") };
        let bits = match swizzle.shift {
            0 => format!("(row & {})", swizzle.mask()),
            shift => format!("(row >> {shift} & {})", swizzle.mask()),
        };
        match swizzle.base {
            0 => write!(f, "(column ^ {bits})"),
            base => write!(f, "(column ^ ({bits} << {base}))"),
        }
    }
}
