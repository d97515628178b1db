//! Access patterns of a warp.

use super::BankError;
use crate::{Error, Result};
use cuda_std::host::banks::{WarpAccess, lanes_of};
use std::fmt;

/// Kind of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic operation.
    Atomic,
}

impl AccessKind {
    /// All kinds.
    pub const ALL: [AccessKind; 3] = [AccessKind::Load, AccessKind::Store, AccessKind::Atomic];
}

impl fmt::Display for AccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccessKind::Load => "load",
            AccessKind::Store => "store",
            AccessKind::Atomic => "atomic",
        })
    }
}

/// Number of bytes that a lane moves with one instruction.
///
/// ```
/// use slm::banks::Width;
///
/// assert_eq!(Width::try_from(size_of::<f64>())?, Width::B8);
/// # Ok::<(), slm::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// One byte.
    B1,
    /// Two bytes.
    B2,
    /// Four bytes.
    B4,
    /// Eight bytes.
    B8,
    /// Sixteen bytes.
    B16,
}

impl Width {
    /// All widths.
    pub const ALL: [Width; 5] = [Width::B1, Width::B2, Width::B4, Width::B8, Width::B16];

    /// Returns the number of bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        1 << self as u32
    }
}

impl TryFrom<usize> for Width {
    type Error = Error;

    /// Returns the width of `bytes` bytes.
    ///
    /// # Errors
    ///
    /// [`BankError::AccessWidth`] for numbers other than 1, 2, 4, 8 and 16.
    fn try_from(bytes: usize) -> Result<Self> {
        Width::ALL
            .into_iter()
            .find(|width| width.bytes() as usize == bytes)
            .ok_or(BankError::AccessWidth { bytes }.into())
    }
}

/// Accesses of the 32 lanes of a warp to shared memory with one instruction. Each lane accesses any element, or none.
///
/// Element 0 is aligned to all banks. Element indices have 32 bits.
///
/// ```
/// use slm::banks::{AccessPattern, BankModel, Width};
///
/// let pairs = AccessPattern::load(Width::B4, |lane| lane & !1);
/// assert_eq!(BankModel::NVIDIA.conflict_degree(&pairs), 1); // a word is served to all lanes that access it
///
/// let some = AccessPattern::store(Width::B4, |lane| 32 * lane).only(0b1011);
/// assert_eq!((some.index(3), some.index(4)), (Some(96), None));
/// assert_eq!(BankModel::NVIDIA.conflict_degree(&some), 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AccessPattern {
    kind: AccessKind,
    width: Width,
    /// Lanes that take part, one bit per lane.
    lanes: u32,
    /// Addresses in bytes. Zero for lanes that take no part, so that equal patterns compare equal.
    addresses: [u64; 32],
}

impl AccessPattern {
    /// Returns the pattern in which lane `k`, from 0 to 31, accesses element `index(k)`, or none.
    ///
    /// ```
    /// use slm::banks::{AccessKind, AccessPattern, Width};
    ///
    /// let edge = AccessPattern::new(AccessKind::Load, Width::B4, |lane| lane.checked_sub(1));
    /// assert_eq!(edge.lanes(), 0xffff_fffe);
    /// ```
    #[must_use]
    pub fn new(kind: AccessKind, width: Width, mut index: impl FnMut(u32) -> Option<u32>) -> Self {
        let mut pattern = AccessPattern { kind, width, lanes: 0, addresses: [0; 32] };
        for (lane, address) in (0..32).zip(&mut pattern.addresses) {
            if let Some(index) = index(lane) {
                pattern.lanes |= 1 << lane;
                *address = u64::from(index) * u64::from(width.bytes());
            }
        }
        pattern
    }

    /// Returns the pattern in which lane `k` loads element `index(k)`.
    #[must_use]
    pub fn load(width: Width, mut index: impl FnMut(u32) -> u32) -> Self {
        Self::new(AccessKind::Load, width, |lane| Some(index(lane)))
    }

    /// Returns the pattern in which lane `k` stores element `index(k)`.
    #[must_use]
    pub fn store(width: Width, mut index: impl FnMut(u32) -> u32) -> Self {
        Self::new(AccessKind::Store, width, |lane| Some(index(lane)))
    }

    /// Returns the pattern in which lane `k` updates element `index(k)` atomically.
    #[must_use]
    pub fn atomic(width: Width, mut index: impl FnMut(u32) -> u32) -> Self {
        Self::new(AccessKind::Atomic, width, |lane| Some(index(lane)))
    }

    /// Returns the pattern without the lanes whose bit in `lanes` is 0.
    #[must_use]
    pub fn only(self, lanes: u32) -> Self {
        Self::new(self.kind, self.width, |lane| self.index(lane).filter(|_| lanes >> lane & 1 == 1))
    }

    /// Returns the kind of access.
    #[must_use]
    pub fn kind(&self) -> AccessKind {
        self.kind
    }

    /// Returns the number of bytes that each lane moves.
    #[must_use]
    pub fn width(&self) -> Width {
        self.width
    }

    /// Returns the lanes that take part: bit `k` is lane `k`.
    #[must_use]
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// Returns the element that a lane accesses; `None` if the lane takes no part or exceeds 31.
    #[must_use]
    pub fn index(&self, lane: u32) -> Option<u32> {
        let takes_part = lanes_of(self.lanes).any(|other| other == lane);
        // The cast is exact: the address was computed from a 32-bit index.
        takes_part.then(|| (self.addresses[lane as usize] / u64::from(self.width.bytes())) as u32)
    }

    pub(super) fn access(&self) -> WarpAccess<'_> {
        warp_access(self.kind, self.width, self.lanes, &self.addresses)
    }
}

/// Returns the access in the form that the rule uses.
pub(super) fn warp_access(kind: AccessKind, width: Width, lanes: u32, addresses: &[u64; 32]) -> WarpAccess<'_> {
    WarpAccess { lanes, addresses, bytes: width.bytes(), load: kind == AccessKind::Load }
}
