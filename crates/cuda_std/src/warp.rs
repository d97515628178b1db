//! Operations of the 32 lanes of a warp.
//!
//! They take a mask of the participating lanes (bit `l` for lane `l`). All of these lanes, including the caller's, must
//! reach the same call with the same mask; otherwise the result is unspecified. Shuffles, votes and reductions exchange
//! registers and do not order memory accesses; [`sync_warp`] does. A 64-bit value is exchanged in two instructions.
//! [`mma_m8n8k16_s8`] and [`mma_m16n8k32_u8`] have no mask, because all lanes take part in a matrix product; they order nothing either.

mod lane;
mod reduce;
mod vote;

pub use lane::Lane;
pub use reduce::{Reduce, reduce_add, reduce_and, reduce_max, reduce_min, reduce_or};
pub use vote::{all, any, match_any};

use crate::machine;

/// The mask of all lanes of a warp.
pub const FULL: u32 = u32::MAX;

/// The number of lanes of a warp.
pub const WARP: u32 = 32;

/// Returns the thread's lane in its warp, 0 to 31.
#[inline(always)]
#[must_use]
pub fn lane() -> u32 {
    machine::warp::lane()
}

macro_rules! shuffles {
    ($($(#[$doc:meta])* $name:ident($argument:ident);)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        #[track_caller]
        pub fn $name<T: Lane>(mask: u32, value: T, $argument: u32) -> T {
            let [low, high] = value.to_words();
            let low = machine::warp::$name(mask, low, $argument);
            T::from_words([low, if T::IS_WIDE { machine::warp::$name(mask, high, $argument) } else { 0 }])
        }
    )*};
}
shuffles! {
    /// Returns the value of lane `source` (modulo 32).
    shuffle(source);
    /// Returns the value of the lane `delta` (modulo 32) positions below, or the caller's own value if there is no such
    /// lane.
    shuffle_up(delta);
    /// Returns the value of the lane `delta` (modulo 32) positions above, or the caller's own value if there is no such
    /// lane.
    shuffle_down(delta);
    /// Returns the value of lane `lane() ^ (lanes % 32)`.
    shuffle_xor(lanes);
}

/// Returns a mask of the lanes that called with `true`. Bits of lanes outside `mask` are 0.
#[inline(always)]
#[must_use]
#[track_caller]
pub fn ballot(mask: u32, predicate: bool) -> u32 {
    machine::warp::ballot(mask, predicate)
}

/// Waits until all lanes of `mask` have reached this call, and orders their memory accesses.
#[inline(always)]
#[track_caller]
pub fn sync_warp(mask: u32) {
    machine::warp::sync_warp(mask);
}

/// Returns `A * B + C` for matrices that are distributed over the lanes: `A` is 8x16 and `B` 16x8, of `i8`; `C` and the
/// result are 8x8, of `i32`.
///
/// Lane `l` passes four bytes of `A` in `a`, four bytes of `B` in `b` (the first one in the lowest byte), and two elements
/// of `C` in `c`. It receives the two elements of the result at the positions of its elements of `C`. With `g = l / 4` and
/// `t = l % 4`, it holds
///
/// | | elements | in memory |
/// |---|---|---|
/// | `a` | `A[g][4 * t + i]`, `i` from 0 to 3 | word `l` of `A`, row by row |
/// | `b` | `B[4 * t + i][g]`, `i` from 0 to 3 | word `l` of `B`, column by column |
/// | `c` | `C[g][2 * t + i]`, `i` 0 and 1 | elements `2 * l` and `2 * l + 1` of `C`, row by row |
///
/// (PTX ISA, "Matrix Fragments for mma.m8n8k16"). The products are exact, and sums beyond `i32` wrap.
///
/// All 32 lanes must reach the same call; otherwise the result is unspecified. The instruction is
/// `mma.sync.m8n8k16.row.col.s32.s8.s8.s32`, so modules for GPUs before `sm_75` do not have this function.
///
/// ```
/// use cuda_std::{GlobalIn, GlobalOut, arguments, kernel, warp};
///
/// arguments! {
///     /// Two matrices and their product.
///     pub struct Product<'l> {
///         /// 8 rows of 16 bytes.
///         pub a: GlobalIn<'l, u32>,
///         /// 8 columns of 16 bytes.
///         pub b: GlobalIn<'l, u32>,
///         /// Receives 8 rows of 8 numbers.
///         pub c: GlobalOut<'l, i32>,
///     }
/// }
///
/// kernel! {
///     /// A block of one warp.
///     pub fn multiply<'l>(_arena, args: Product<'l>) {
///         let l = u64::from(warp::lane());
///         let c = warp::mma_m8n8k16_s8(args.a.get(l), args.b.get(l), [0, 0]);
///         args.c.set_pack(2 * l, c);
///     }
/// }
/// # fn main() {}
/// ```
#[cfg(any(not(target_os = "cuda"), target_feature = "sm_75"))]
#[inline(always)]
#[must_use]
#[track_caller]
pub fn mma_m8n8k16_s8(a: u32, b: u32, c: [i32; 2]) -> [i32; 2] {
    machine::warp::mma_m8n8k16_s8(a, b, c)
}

/// Returns `A * B + C` for matrices that are distributed over the lanes: `A` is 16x32 and `B` 32x8, of `u8`; `C` and the
/// result are 16x8, of `i32`.
///
/// Lane `l` passes four words of `A`, two of `B`, each of four bytes (the first one in the lowest byte), and four elements of
/// `C`. It receives the elements of the result at the positions of its elements of `C`. With `g = l / 4` and `t = l % 4`, it
/// holds
///
/// | | elements |
/// |---|---|
/// | `a[0]`, `a[2]` | `A[g][4 * t + i]` and `A[g][16 + 4 * t + i]`, `i` from 0 to 3 |
/// | `a[1]`, `a[3]` | the same of row `g + 8` |
/// | `b[0]`, `b[1]` | `B[4 * t + i][g]` and `B[16 + 4 * t + i][g]`, `i` from 0 to 3 |
/// | `c[0]`, `c[1]` | `C[g][2 * t + i]`, `i` 0 and 1 |
/// | `c[2]`, `c[3]` | the same of row `g + 8` |
///
/// (PTX ISA, "Matrix Fragments for mma.m16n8k32".) The products are exact, and sums beyond `i32` wrap.
///
/// All 32 lanes must reach the same call; otherwise the result is unspecified. The instruction is
/// `mma.sync.m16n8k32.row.col.s32.u8.u8.s32`, so modules for GPUs before `sm_80` do not have this function.
#[cfg(any(not(target_os = "cuda"), target_feature = "sm_80"))]
#[inline(always)]
#[must_use]
#[track_caller]
pub fn mma_m16n8k32_u8(a: [u32; 4], b: [u32; 2], c: [i32; 4]) -> [i32; 4] {
    machine::warp::mma_m16n8k32_u8(a, b, c)
}
