//! Named access patterns.

use super::{AccessKind, AccessPattern, Width};
use std::fmt;

/// Index patterns with which bank conflicts are usually explained. `g` is the index of a thread among `N = 32`.
///
/// `Display` prints the index as a formula.
///
/// ```
/// use slm::banks::{AccessKind, BankModel, Named, Width};
///
/// let degrees = Named::SEVEN.map(|named| {
///     let pattern = named.pattern(AccessKind::Load, Width::B4);
///     (named.to_string(), [BankModel::SIXTEEN, BankModel::NVIDIA].map(|model| model.conflict_degree(&pattern)))
/// });
/// assert_eq!(degrees[2], ("N - 1 - g".to_owned(), [1, 1]));
/// assert_eq!(degrees[5], ("g * 16".to_owned(), [16, 16]));
/// assert_eq!(degrees[6], ("g * 17".to_owned(), [1, 1]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Named {
    /// `g`: each thread accesses its own element.
    Own,
    /// `g + 1`: each thread accesses the next element.
    Next,
    /// `N - 1 - g`: the elements in reverse order.
    Reversed,
    /// `g & !1`: two threads share an element.
    Pairs,
    /// `g` times a stride, modulo 2^32.
    Strided(u32),
}

impl Named {
    /// `g`, `g + 1`, `N - 1 - g`, `g & !1`, `g * 2`, `g * 16` and `g * 17`.
    pub const SEVEN: [Named; 7] = [
        Named::Own,
        Named::Next,
        Named::Reversed,
        Named::Pairs,
        Named::Strided(2),
        Named::Strided(16),
        Named::Strided(17),
    ];

    /// Returns the element index of thread `g`, modulo 2^32.
    #[must_use]
    pub const fn index(self, g: u32) -> u32 {
        match self {
            Named::Own => g,
            Named::Next => g.wrapping_add(1),
            Named::Reversed => 31u32.wrapping_sub(g),
            Named::Pairs => g & !1,
            Named::Strided(stride) => g.wrapping_mul(stride),
        }
    }

    /// Returns the access of a whole warp.
    #[must_use]
    pub fn pattern(self, kind: AccessKind, width: Width) -> AccessPattern {
        AccessPattern::new(kind, width, |lane| Some(self.index(lane)))
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Named::Own => f.write_str("g"),
            Named::Next => f.write_str("g + 1"),
            Named::Reversed => f.write_str("N - 1 - g"),
            Named::Pairs => f.write_str("g & !1"),
            Named::Strided(stride) => write!(f, "g * {stride}"),
        }
    }
}
