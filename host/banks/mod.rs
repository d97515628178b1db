//! Bank conflicts of shared memory: predicted, explained, avoided and measured.
//!
//! Shared memory is divided into banks: word `w` is in bank `w mod banks`. What the lanes of a warp want of different
//! banks they get at once, in one *wavefront*. A bank gives one word per wavefront, to all lanes that want it; if they
//! want different words of it, that takes several.
//!
//! ```
//! use slm::banks::{AccessPattern, BankModel, Width};
//!
//! let column = AccessPattern::load(Width::B4, |lane| 16 * lane); // of a tile of f32 with 16 columns
//! assert_eq!(BankModel::NVIDIA.conflict_degree(&column), 16);
//! assert_eq!(BankModel::NVIDIA.padded_stride(16, Width::B4), 17); // one more column, which nobody uses
//! ```
//!
//! | question | answer |
//! |---|---|
//! | how many wavefronts does this access take? | [`BankModel::cost`], [`BankModel::conflict_degree`] |
//! | which lanes meet in which bank? | [`BankModel::explain`] |
//! | how far apart must rows be so that columns are free of conflicts? | [`BankModel::padded_stride`] |
//! | how should a tile be laid out for all of its accesses? | [`BankModel::search`], [`BankModel::evaluate`] |
//! | how long does it take on this device? | [`AccessPattern::probe`], [`Accumulation`] |
//!
//! # The rule
//!
//! A bank's word has `b` bytes, and there are `n` banks. An access of `w` bytes per lane, aligned to `w`, moves units
//! of `u = max(w, b)` bytes; unit `k` is in group `k mod (n·b/u)` of neighbouring banks (of one bank if `w ≤ b`).
//!
//! 1. The lanes are served in phases of `min(32, n·b/u)` neighbouring ones: with 32 banks of 4 bytes all 32, or 16 for
//!    accesses of 8 bytes and 8 for those of 16; with 16 banks half as many. A phase in which no lane takes part takes
//!    no time.
//! 2. With 32 banks of 4 bytes, a load of 8 or 16 bytes has phases of twice as many lanes if everywhere in the warp the
//!    lanes `2k` and `2k + 1` want the same, or everywhere the lanes whose numbers differ by 2 (in their second bit),
//!    or one of the two takes no part.
//! 3. A phase takes as many wavefronts as there are different units in the group that most are wanted of.
//!
//! This is exact, not a rule of thumb: for loads and stores with 32 banks of 4 bytes it gives the numbers that Nsight
//! Compute measures on an H200. It is the very code by which emulated devices count. For other numbers of banks it is
//! the same idea, without a device to measure; 16 banks serve half a warp at a time, as the first CUDA devices did.
//!
//! # Atomic operations
//!
//! What the lanes of a warp do to one address atomically, they do one after another: that much NVIDIA documents. How
//! many wavefronts that takes is not documented. The model counts a *pass* for each lane that updates something in the
//! same bank, be it the same word or not ([`Cost::passes`]). That is what was measured on an H200 for 32-bit additions
//! to shared memory, with one exception: where the compiler sees that all lanes add to one address, it is one wavefront,
//! presumably because their sum is added; where the address comes from memory, as in a probe, it is one for each lane. A
//! compare-and-exchange takes two wavefronts for each pass. Some atomic operations are loops on the device, such as
//! additions of 64 bits; the model does not tell how often these go round.

mod accumulation;
mod cost;
mod error;
mod layout;
mod model;
mod named;
mod pattern;
mod picture;
mod probe;
mod search;
mod tile;

pub use accumulation::{Accumulated, Accumulation};
pub use cost::Cost;
pub use error::BankError;
pub use layout::{Layout, Swizzle};
pub use model::BankModel;
pub use named::Named;
pub use pattern::{AccessKind, AccessPattern, Width};
pub use probe::Probe;
pub use search::Proposal;
pub use tile::Tile;
