//! Bank conflicts of shared memory: predicted, explained, avoided and measured.
//!
//! Shared memory is divided into banks: word `w` is in bank `w mod banks`. Accesses of a warp's lanes to different banks are
//! served together, in one *wavefront*. A bank serves one word per wavefront, to all lanes that access it. Accesses to
//! different words of one bank take several wavefronts: a *bank conflict*.
//!
//! ```
//! use slm::banks::{AccessKind, AccessPattern, BankModel, Tile, Width};
//!
//! # fn main() -> slm::Result<()> {
//! let model = BankModel::NVIDIA; // 32 banks of 4 bytes
//! // A column of a tile of `f32` with 16 columns.
//! let column = AccessPattern::load(Width::B4, |lane| 16 * lane);
//! assert_eq!(model.conflict_degree(&column), 16);
//! assert_eq!(model.padded_stride(16, Width::B4), 17); // one more column, for padding
//! // A tile that is stored by rows and loaded by columns.
//! let tile = Tile::new(32, 32, Width::B4)?
//!     .row_by_row(AccessKind::Store, Width::B4)?
//!     .column_by_column(AccessKind::Load, Width::B4)?;
//! let proposal = model.search(&tile);
//! assert_eq!(proposal.layout.to_string(), "row * 32 + (column ^ (row & 31))"); // conflict-free
//! # Ok(())
//! # }
//! ```
//!
//! | question | answer |
//! |---|---|
//! | How many wavefronts does this access take? | [`BankModel::cost`], [`BankModel::conflict_degree`] |
//! | Which lanes access which bank? | [`BankModel::explain`] |
//! | Which row stride makes columns free of conflicts? | [`BankModel::padded_stride`] |
//! | Which layout of a tile suits all of its accesses? | [`BankModel::search`], [`BankModel::evaluate`] |
//! | How long does an access take on this device? | [`AccessPattern::probe`], [`Accumulation`] |
//!
//! # The rule
//!
//! There are `n` banks, whose words have `b` bytes. An access of `w` bytes per lane, aligned to `w`, moves units of
//! `u = max(w, b)` bytes. Unit `k` is in group `k mod (n·b/u)` of neighbouring banks; a group is one bank if `w ≤ b`.
//!
//! 1. The lanes are served in phases of `min(32, n·b/u)` neighbouring lanes. With 32 banks of 4 bytes a phase has all 32 lanes,
//!    or 16 for accesses of 8 bytes and 8 for accesses of 16 bytes; with 16 banks half as many. A phase without participating
//!    lanes takes no time.
//! 2. With 32 banks of 4 bytes, phases of loads of 8 or 16 bytes have twice as many lanes in two cases: in every pair of lanes
//!    `2k` and `2k + 1`, both lanes access the same element or one takes no part; or the same holds for every pair of lanes
//!    whose numbers differ in the second bit (by 2).
//! 3. The number of wavefronts of a phase is the largest number of different units that it accesses in one group.
//!
//! For loads and stores with 32 banks of 4 bytes this is exact: Nsight Compute measures the same numbers on an H200. Emulated
//! devices count with the same code. For other numbers of banks the rule is the same, but there was no device to measure. With
//! 16 banks half a warp is served at a time, as on the first CUDA devices.
//!
//! # Atomic operations
//!
//! Atomic operations of a warp's lanes on one address run one after another; NVIDIA documents this, but not the number of
//! wavefronts. The model counts one *pass* for each lane that updates a word of the same bank, whether it is the same word or
//! not ([`Cost::passes`]). This was measured on an H200 for 32-bit additions to shared memory, with one exception: if the
//! compiler knows that all lanes add to one address, there is one wavefront, probably because it adds their sum. If the
//! address comes from memory, as in a probe, there is one wavefront per lane. A compare-and-exchange takes two wavefronts per
//! pass. Some atomic operations, such as 64-bit additions, are loops on the device. The model does not predict their
//! iterations.

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
