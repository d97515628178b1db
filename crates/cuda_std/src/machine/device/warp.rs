//! Operations of the lanes of a warp. A missing lane makes their results unspecified, not invalid.

use super::in_one_place;
use crate::machine::Reductions;
use core::arch::asm;

// SAFETY: the declarations match LLVM's intrinsics of these names (`IntrinsicsNVVM.td`), with `bool` for `i1` and `u32` for
// `i32`, which has no sign in LLVM.
unsafe extern "C" {
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_idx(mask: u32, word: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shfl_up(mask: u32, word: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn shfl_down(mask: u32, word: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shfl_xor(mask: u32, word: u32, lanes: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot(mask: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    fn vote_any(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.all.sync"]
    fn vote_all(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    fn match_any_word(mask: u32, word: u32) -> u32;
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn bar_warp_sync(mask: u32);
    #[cfg(target_feature = "sm_75")]
    #[link_name = "llvm.nvvm.activemask"]
    fn active_mask() -> u32;
}

#[inline(always)]
pub(crate) fn lane() -> u32 {
    let lane: u32;
    // SAFETY: reads a value that is constant for the thread.
    unsafe { asm!("mov.u32 {}, %laneid;", out(reg32) lane, options(pure, nomem, nostack)) }
    lane
}

macro_rules! exchanges {
    ($($name:ident($value:ident: $t:ty $(, $argument:ident: $argument_type:ty)?) -> $result:ty, $intrinsic:ident $(, $clamp:literal)?;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name(mask: u32, $value: $t $(, $argument: $argument_type)?) -> $result {
            in_one_place();
            // SAFETY: exchanges registers.
            unsafe { $intrinsic(mask, $value $(, $argument)? $(, $clamp)?) }
        }
    )*};
}
exchanges! {
    shuffle(word: u32, source: u32) -> u32, shfl_idx, 31;
    shuffle_up(word: u32, delta: u32) -> u32, shfl_up, 0;
    shuffle_down(word: u32, delta: u32) -> u32, shfl_down, 31;
    shuffle_xor(word: u32, lanes: u32) -> u32, shfl_xor, 31;
    ballot(predicate: bool) -> u32, vote_ballot;
    any(predicate: bool) -> bool, vote_any;
    all(predicate: bool) -> bool, vote_all;
    match_any(word: u32) -> u32, match_any_word;
}

#[inline(always)]
pub(crate) fn sync_warp(mask: u32) {
    in_one_place();
    // SAFETY: a barrier has no memory effects of its own.
    unsafe { bar_warp_sync(mask) }
}

#[cfg(target_feature = "sm_75")]
#[inline(always)]
pub(crate) fn mma_m8n8k16_s8(a: u32, b: u32, c: [i32; 2]) -> [i32; 2] {
    // LLVM's intrinsic for the product is not convergent. `asm!` is not moved out of its basic block, and this call of a
    // convergent intrinsic keeps that block from being duplicated. The driver removes the call's instruction.
    // SAFETY: reads the mask of active lanes, which is not used.
    unsafe { active_mask() };
    let [mut first, mut second] = c;
    // SAFETY: works on registers.
    unsafe {
        asm!("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {{{c}, {d}}}, {{{a}}}, {{{b}}}, {{{c}, {d}}};",
             a = in(reg32) a, b = in(reg32) b, c = inout(reg32) first, d = inout(reg32) second,
             options(nomem, nostack, preserves_flags));
    }
    [first, second]
}

#[cfg(target_feature = "sm_80")]
#[inline(always)]
pub(crate) fn mma_m16n8k32_u8(a: [u32; 4], b: [u32; 2], c: [i32; 4]) -> [i32; 4] {
    // As above.
    // SAFETY: reads the mask of active lanes, which is not used.
    unsafe { active_mask() };
    let [mut c0, mut c1, mut c2, mut c3] = c;
    // SAFETY: works on registers.
    unsafe {
        asm!("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {{{c0}, {c1}, {c2}, {c3}}}, {{{a0}, {a1}, {a2}, {a3}}}, {{{b0}, {b1}}}, \
              {{{c0}, {c1}, {c2}, {c3}}};",
             a0 = in(reg32) a[0], a1 = in(reg32) a[1], a2 = in(reg32) a[2], a3 = in(reg32) a[3],
             b0 = in(reg32) b[0], b1 = in(reg32) b[1],
             c0 = inout(reg32) c0, c1 = inout(reg32) c1, c2 = inout(reg32) c2, c3 = inout(reg32) c3,
             options(nomem, nostack, preserves_flags));
    }
    [c0, c1, c2, c3]
}

// SAFETY: the declarations match LLVM's intrinsics of these names (`IntrinsicsNVVM.td`), with `u32` for `i32`, which has no
// sign in LLVM.
#[cfg(target_feature = "sm_80")]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.redux.sync.add"]
    fn redux_add(word: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umin"]
    fn redux_umin(word: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umax"]
    fn redux_umax(word: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.min"]
    fn redux_min(word: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.max"]
    fn redux_max(word: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.and"]
    fn redux_and(word: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.or"]
    fn redux_or(word: u32, mask: u32) -> u32;
}

/// One instruction for `sm_80` and later, and shuffles for earlier GPUs.
macro_rules! reductions {
    ($([$t:ty] $($name:ident, $intrinsic:ident, $neutral:expr, $combine:expr;)*)*) => {$(
        impl Reductions for $t {$(
            #[cfg(target_feature = "sm_80")]
            #[inline(always)]
            fn $name(mask: u32, value: Self) -> Self {
                in_one_place();
                // SAFETY: exchanges registers.
                unsafe { $intrinsic(value as u32, mask) as $t }
            }
            #[cfg(not(target_feature = "sm_80"))]
            #[inline(always)]
            fn $name(mask: u32, value: Self) -> Self {
                in_one_place();
                by_shuffles(mask, value, $neutral, $combine)
            }
        )*}
    )*};
}
reductions! {
    [u32]
        add, redux_add, 0, u32::wrapping_add;
        min, redux_umin, u32::MAX, Ord::min;
        max, redux_umax, 0, Ord::max;
        and, redux_and, u32::MAX, core::ops::BitAnd::bitand;
        or, redux_or, 0, core::ops::BitOr::bitor;
    [i32]
        add, redux_add, 0, i32::wrapping_add;
        min, redux_min, i32::MAX, Ord::min;
        max, redux_max, i32::MIN, Ord::max;
        and, redux_and, -1, core::ops::BitAnd::bitand;
        or, redux_or, 0, core::ops::BitOr::bitor;
}

/// Reduces with one shuffle for each lane of the mask.
#[cfg(not(target_feature = "sm_80"))]
#[inline(always)]
fn by_shuffles<T: crate::warp::Lane>(mask: u32, value: T, neutral: T, combine: impl Fn(T, T) -> T) -> T {
    let mut result = neutral;
    let mut left = mask;
    while left != 0 {
        result = combine(result, crate::warp::shuffle(mask, value, left.trailing_zeros()));
        left &= left - 1;
    }
    result
}
