//! Operations of the lanes of a warp.

use crate::host::{Fragments, Product, WarpOperation, machine};
use crate::machine::Reductions;
use crate::warp::WARP;
use std::panic::Location;

pub(crate) fn lane() -> u32 {
    machine().lane()
}

#[track_caller]
fn exchange(operation: WarpOperation, mask: u32, word: u32) -> u32 {
    machine().exchange(operation, mask, word, Location::caller())
}

#[track_caller]
pub(crate) fn shuffle(mask: u32, word: u32, source: u32) -> u32 {
    exchange(WarpOperation::Shuffle { lane: source % WARP }, mask, word)
}

#[track_caller]
pub(crate) fn shuffle_up(mask: u32, word: u32, delta: u32) -> u32 {
    exchange(WarpOperation::ShuffleUp { delta }, mask, word)
}

#[track_caller]
pub(crate) fn shuffle_down(mask: u32, word: u32, delta: u32) -> u32 {
    exchange(WarpOperation::ShuffleDown { delta }, mask, word)
}

#[track_caller]
pub(crate) fn shuffle_xor(mask: u32, word: u32, lanes: u32) -> u32 {
    exchange(WarpOperation::ShuffleXor { mask: lanes }, mask, word)
}

#[track_caller]
pub(crate) fn ballot(mask: u32, predicate: bool) -> u32 {
    exchange(WarpOperation::Ballot, mask, predicate.into())
}

#[track_caller]
pub(crate) fn any(mask: u32, predicate: bool) -> bool {
    exchange(WarpOperation::Any, mask, predicate.into()) != 0
}

#[track_caller]
pub(crate) fn all(mask: u32, predicate: bool) -> bool {
    exchange(WarpOperation::All, mask, predicate.into()) != 0
}

#[track_caller]
pub(crate) fn match_any(mask: u32, word: u32) -> u32 {
    exchange(WarpOperation::MatchAny, mask, word)
}

#[track_caller]
pub(crate) fn sync_warp(mask: u32) {
    machine().sync_warp(mask, Location::caller());
}

#[track_caller]
pub(crate) fn mma_m8n8k16_s8(a: u32, b: u32, c: [i32; 2]) -> [i32; 2] {
    let (a, b, c) = ([a, 0, 0, 0], [b, 0], [c[0], c[1], 0, 0]);
    let [first, second, ..] = machine().mma(Fragments { product: Product::M8N8K16S8, a, b, c }, Location::caller());
    [first, second]
}

#[track_caller]
pub(crate) fn mma_m16n8k32_u8(a: [u32; 4], b: [u32; 2], c: [i32; 4]) -> [i32; 4] {
    machine().mma(Fragments { product: Product::M16N8K32U8, a, b, c }, Location::caller())
}

macro_rules! reductions {
    ($([$t:ty] $($name:ident, $operation:ident;)*)*) => {$(
        impl Reductions for $t {$(
            #[track_caller]
            fn $name(mask: u32, value: Self) -> Self {
                exchange(WarpOperation::$operation, mask, value as u32) as $t
            }
        )*}
    )*};
}
reductions! {
    [u32]
        add, ReduceAdd;
        min, ReduceMin;
        max, ReduceMax;
        and, ReduceAnd;
        or, ReduceOr;
    [i32]
        add, ReduceAdd;
        min, ReduceMinSigned;
        max, ReduceMaxSigned;
        and, ReduceAnd;
        or, ReduceOr;
}
