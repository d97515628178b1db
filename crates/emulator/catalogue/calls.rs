//! Barriers and warp operations in functions that are called between two tests of the same condition. The compiler may copy
//! such calls into several arms of a branch. All of these kernels are correct.
//!
//! Each launch has one block of [`THREADS`] threads. The first [`WITH_NUMBER`] threads have a number. Thread `t` writes
//! element `t` of the output.

#![cfg_attr(target_os = "cuda", allow(dead_code))]

use crate::Args;
use cuda_std::{Shared, kernel, thread, warp};

/// Threads of the block.
pub const THREADS: u32 = 256;

/// Threads with a number. The last one is in the middle of a warp.
pub const WITH_NUMBER: u32 = 100;

/// Returns the sum of the block's numbers, with two barriers.
#[inline(always)]
fn block_sum(tile: &Shared<u32>, number: u32) -> u32 {
    tile.set(thread::thread_idx_x(), number);
    thread::sync_threads();
    let sum = (0..THREADS).fold(0, |sum, k| sum + tile.get(k));
    thread::sync_threads();
    sum
}

/// Returns the same sum by a reduction tree, with nine barriers.
#[inline(always)]
fn tree(tile: &Shared<u32>, number: u32) -> u32 {
    let t = thread::thread_idx_x();
    tile.set(t, number);
    thread::sync_threads();
    for k in (0..8).rev() {
        if t < 1 << k {
            tile.set(t, tile.get(t) + tile.get(t + (1 << k)));
        }
        thread::sync_threads();
    }
    tile.get(0)
}

/// Like `tree`, but not inlined.
#[inline(never)]
fn far_tree(tile: &Shared<u32>, number: u32) -> u32 {
    tree(tile, number)
}

/// Returns the sum of the numbers of the lanes up to this one.
#[inline(always)]
fn scan(mut sum: u32) -> u32 {
    for k in 0..5 {
        let other = warp::shuffle_up(warp::FULL, sum, 1 << k);
        if warp::lane() >= 1 << k {
            sum += other;
        }
    }
    sum
}

/// Returns the sum of the warp's numbers, by votes on their bits.
fn votes(number: u32) -> u32 {
    (0..8).fold(0, |sum, bit| sum + (warp::ballot(warp::FULL, number >> bit & 1 == 1).count_ones() << bit))
}

/// Like `scan`, but not inlined.
#[inline(never)]
fn far_scan(number: u32) -> u32 {
    scan(number)
}

/// Returns the sum of the warp's numbers. Each call exchanges over half the distance of the one before.
#[inline(never)]
fn recursive(number: u32, distance: u32) -> u32 {
    let sum = number + warp::shuffle_xor(warp::FULL, number, distance);
    if distance == 1 { sum } else { recursive(sum, distance / 2) }
}

trait Exchange {
    fn exchange(&self, number: u32) -> u32;
}

struct Near;

struct Far;

impl Exchange for Near {
    fn exchange(&self, number: u32) -> u32 {
        warp::shuffle_xor(warp::FULL, number, 1)
    }
}

impl Exchange for Far {
    fn exchange(&self, number: u32) -> u32 {
        warp::shuffle_xor(warp::FULL, number, 16)
    }
}

/// Calls one of two implementations. The compiler does not know which.
fn exchange(n: u32, number: u32) -> u32 {
    let exchanges: [&dyn Exchange; 2] = [&Near, &Far];
    exchanges[(n % 2) as usize].exchange(number)
}

macro_rules! calls {
    ($function:ident in $module:literal: $($(#[$doc:meta])* $name:ident($tile:ident, $number:ident, $n:ident) $call:expr;)*) => {
        $(
            kernel! {
                $(#[$doc])*
                pub fn $name<'l>(arena, args: Args<'l>) in $module {
                    let ($tile, _) = arena.split::<u32>(THREADS);
                    // Loaded, so that the compiler does not know the value.
                    let (t, with_number) = (thread::thread_idx_x(), args.input.get(WITH_NUMBER.into()));
                    let $n = with_number;
                    let $number = if t < with_number { args.input.get(t.into()) } else { 0 };
                    let result = $call;
                    if t < with_number {
                        args.output.set(t.into(), result);
                    } else {
                        args.output.set(t.into(), result + 1);
                    }
                }
            }
        )*

        #[cfg(not(target_os = "cuda"))]
        fn $function(visitor: &mut impl CallVisitor) {
            $(visitor.visit::<$name>();)*
        }
    };
}
// Barriers are copied, and therefore not aligned.
calls! {
    barriers in "calls_barriers":
    /// Two barriers.
    two_barriers(tile, number, _n) block_sum(&tile, number);
    /// Nine barriers.
    nine_barriers(tile, number, _n) tree(&tile, number);
    /// Nine barriers in a function that is not inlined.
    far_barriers(tile, number, _n) far_tree(&tile, number);
}
// Functions are inlined before calls are copied.
calls! {
    inlined in "calls_inlined":
    /// Five shuffles.
    five_shuffles(_tile, number, _n) scan(number);
    /// Shuffles in a closure.
    shuffles_in_a_closure(_tile, number, _n) {
        let both = |number: u32| scan(number) + scan(number / 2);
        both(number)
    };
    /// Two matrix products.
    products(_tile, number, _n) {
        let multiply = |a: u32, c: [i32; 2]| warp::mma_m8n8k16_s8(a, 0x0101_0101, c);
        let [first, second] = multiply(number, [0, 0]);
        let [third, _] = multiply(first as u32, [second, 1]);
        third as u32
    };
}
// The copying pass does not run.
calls! {
    outlined in "calls_outlined":
    /// Five shuffles in a function that is not inlined.
    far_shuffles(_tile, number, _n) far_scan(number);
    /// Eight votes in a function without attributes.
    eight_votes(_tile, number, _n) votes(number);
    /// A shuffle in each of five recursive calls.
    recursive_shuffles(_tile, number, _n) recursive(number, 16);
    /// A shuffle in a function that is called through a pointer.
    dynamic_shuffle(_tile, number, n) exchange(n, number);
}

/// A visitor of all kernels.
#[cfg(not(target_os = "cuda"))]
pub trait CallVisitor {
    /// Called once for each kernel.
    fn visit<E: for<'l> cuda_std::Entry<Args<'l> = Args<'l>, Constants = ()>>(&mut self);
}

/// Calls the visitor for every kernel.
#[cfg(not(target_os = "cuda"))]
pub fn visit(visitor: &mut impl CallVisitor) {
    barriers(visitor);
    inlined(visitor);
    outlined(visitor);
}
