//! Straight-line kernels with one pattern of shared accesses each. Their costs are measured on hardware and by the emulator.
//!
//! A warp makes exactly two requests, with the same addresses: a store and, after a barrier, a load or an atomic operation.
//! All lanes store the same value, so the order of their stores does not matter. The value is an argument, and loaded values
//! are stored to global memory in full, so no compiler can omit or narrow an access.
//!
//! Some patterns distinguish possible rules: which lanes share a wavefront if each accesses 8 or 16 bytes, and in which
//! cases parts of a warp that usually take separate wavefronts share one.

use crate::{Args, SHARED_BYTES};
#[cfg(not(target_os = "cuda"))]
use cuda_std::Entry;
use cuda_std::{Arena, Atomic, Ordering, Shared, Value, kernel, thread};

/// A probe: a kernel for one block of `threads` threads, with [`SHARED_BYTES`].
#[cfg(not(target_os = "cuda"))]
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// The kernel.
    pub name: &'static str,
    /// Threads of the block.
    pub threads: u32,
}

/// A visitor of all probes.
#[cfg(not(target_os = "cuda"))]
pub trait ProbeVisitor {
    /// Called once for each probe.
    fn visit<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(&mut self, probe: &Probe);
}

/// An element type. `of` makes an element from a number, and `fold` combines all of its bits.
trait Element: Value {
    fn of(n: u32) -> Self;
    fn fold(self) -> u32;
}

macro_rules! elements {
    ($($t:ty)*) => {$(
        impl Element for $t {
            #[inline(always)]
            fn of(n: u32) -> Self {
                n as $t
            }
            #[inline(always)]
            fn fold(self) -> u32 {
                let bits = u64::from(self);
                (bits ^ bits >> 32) as u32
            }
        }
    )*};
}
elements!(u8 u16 u32 u64);

/// Returns a window on all of the block's shared memory.
#[inline(always)]
fn all_of<T: Value>(arena: Arena) -> Shared<T> {
    arena.split(SHARED_BYTES / size_of::<T>() as u32).0
}

#[inline(always)]
fn output(args: Args, value: u32) {
    args.output.set(thread::thread_idx_x().into(), value);
}

// Each function reads the thread's index again after the barrier. With the same index, rustc would see two tests of the same
// condition, and copy the barrier into both arms.

/// Each thread stores element `at(t)` and loads it, if there is one.
#[inline(always)]
fn one<T: Element>(arena: Arena, args: Args, at: impl Fn(u32) -> Option<u32>) {
    let tile = all_of::<T>(arena);
    if let Some(i) = at(thread::thread_idx_x()) {
        tile.set(i, T::of(args.right));
    }
    thread::sync_threads();
    if let Some(i) = at(thread::thread_idx_x()) {
        output(args, tile.get(i).fold());
    }
}

/// The same with pair number `at(t)`.
#[inline(always)]
fn two<T: Element>(arena: Arena, args: Args, at: impl Fn(u32) -> Option<u32>) {
    let tile = all_of::<T>(arena);
    if let Some(i) = at(thread::thread_idx_x()) {
        tile.set_pack(2 * i, [T::of(args.right); 2]);
    }
    thread::sync_threads();
    if let Some(i) = at(thread::thread_idx_x()) {
        let [a, b] = tile.get_pack::<2>(2 * i);
        output(args, a.fold() ^ b.fold().rotate_left(1));
    }
}

/// The same with group `at(t)` of four elements.
#[inline(always)]
fn four<T: Element>(arena: Arena, args: Args, at: impl Fn(u32) -> Option<u32>) {
    let tile = all_of::<T>(arena);
    if let Some(i) = at(thread::thread_idx_x()) {
        tile.set_pack(4 * i, [T::of(args.right); 4]);
    }
    thread::sync_threads();
    if let Some(i) = at(thread::thread_idx_x()) {
        let [a, b, c, d] = tile.get_pack::<4>(4 * i);
        output(args, a.fold() ^ b.fold().rotate_left(1) ^ c.fold().rotate_left(2) ^ d.fold().rotate_left(3));
    }
}

/// Stores element `at(t)`, and adds to it.
#[inline(always)]
fn add<T: Element + Atomic>(arena: Arena, args: Args, at: impl Fn(u32) -> Option<u32>) {
    let tile = all_of::<T>(arena);
    if let Some(i) = at(thread::thread_idx_x()) {
        tile.set(i, T::of(args.right));
    }
    thread::sync_threads();
    if let Some(i) = at(thread::thread_idx_x()) {
        tile.fetch_add(i, T::of(args.right), Ordering::Relaxed);
    }
}

/// The same, and uses the old value.
#[inline(always)]
fn add_and_ask<T: Element + Atomic>(arena: Arena, args: Args, at: impl Fn(u32) -> Option<u32>) {
    let tile = all_of::<T>(arena);
    if let Some(i) = at(thread::thread_idx_x()) {
        tile.set(i, T::of(args.right));
    }
    thread::sync_threads();
    if let Some(i) = at(thread::thread_idx_x()) {
        output(args, tile.fetch_add(i, T::of(args.right), Ordering::Relaxed).fold());
    }
}

/// Stores element `at(t)`, and compares and exchanges it.
#[inline(always)]
fn swap<T: Element + Atomic>(arena: Arena, args: Args, at: impl Fn(u32) -> Option<u32>) {
    let tile = all_of::<T>(arena);
    if let Some(i) = at(thread::thread_idx_x()) {
        tile.set(i, T::of(args.right));
    }
    thread::sync_threads();
    if let Some(i) = at(thread::thread_idx_x()) {
        output(args, tile.compare_exchange(i, T::of(args.right), T::of(7), Ordering::Relaxed).fold());
    }
}

/// Returns a pseudo-random number below `below`.
#[inline(always)]
fn scattered(lane: u32, salt: u32, below: u32) -> u32 {
    let mut bits = (lane + 1).wrapping_mul(0x9e37_79b9) ^ salt.wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ bits >> 15).wrapping_mul(0x2c1b_3c6d);
    (bits ^ bits >> 13) % below
}

/// Returns the lane's index with its bits reversed, a permutation of the lanes.
#[inline(always)]
fn reversed_bits(lane: u32) -> u32 {
    lane.reverse_bits() >> 27
}

/// Defines a kernel for each line, and their list. `$threads` threads make the accesses of `$how` at `$at`, those for which
/// `$active` holds.
macro_rules! probes {
    ($($(#[$doc:meta])* $name:ident: $threads:literal, $how:ident $t:ty, |$lane:ident| $at:expr $(, if $active:expr)?;)*) => {
        $(kernel! {
            $(#[$doc])*
            pub fn $name<'l>(arena, args: Args<'l>) {
                $how::<$t>(arena, args, |$lane| (true $(&& $active)?).then_some($at));
            }
        })*

        /// Calls the visitor for every probe.
        #[cfg(not(target_os = "cuda"))]
        pub fn visit(visitor: &mut impl ProbeVisitor) {
            $(visitor.visit::<$name>(&Probe { name: stringify!($name), threads: $threads });)*
        }
    };
}

probes! {
    /// Words in a row.
    words: 32, one u32, |t| t;
    /// Every second word.
    words_2: 32, one u32, |t| 2 * t;
    /// Every third word.
    words_3: 32, one u32, |t| 3 * t;
    /// Every fourth word.
    words_4: 32, one u32, |t| 4 * t;
    /// Every eighth word.
    words_8: 32, one u32, |t| 8 * t;
    /// Every sixteenth word.
    words_16: 32, one u32, |t| 16 * t;
    /// A stride of 17 words.
    words_17: 32, one u32, |t| 17 * t;
    /// All in one bank.
    words_32: 32, one u32, |t| 32 * t;
    /// A column of a padded tile.
    words_33: 32, one u32, |t| 33 * t;
    /// In descending order.
    words_reversed: 32, one u32, |t| 31 - t;
    /// Permuted.
    words_permuted: 32, one u32, |t| reversed_bits(t);
    /// Scattered over four rows of banks.
    words_scattered: 32, one u32, |t| scattered(t, 1, 128);
    /// Scattered over all of the memory.
    words_scattered_far: 32, one u32, |t| scattered(t, 2, 1024);
    /// One word for all lanes.
    words_broadcast: 32, one u32, |_t| 5;
    /// Two words in two banks.
    words_two_broadcasts: 32, one u32, |t| t % 2;
    /// Two words in one bank.
    words_two_broadcasts_in_a_bank: 32, one u32, |t| t % 2 * 32;
    /// Two words in one bank, one for each half of the warp.
    words_two_halves_in_a_bank: 32, one u32, |t| t / 16 * 32;
    /// One lane.
    words_of_1: 32, one u32, |t| t, if t == 19;
    /// 7 lanes.
    words_of_7: 32, one u32, |t| t, if t < 7;
    /// Half a warp.
    words_of_16: 32, one u32, |t| t, if t < 16;
    /// A block of 17 threads.
    words_of_17: 17, one u32, |t| t;
    /// All lanes but one.
    words_of_31: 32, one u32, |t| t, if t != 12;
    /// Every second lane.
    words_of_evens: 32, one u32, |t| t, if t % 2 == 0;
    /// Every second lane, all in one bank.
    words_of_evens_32: 32, one u32, |t| 32 * t, if t % 2 == 0;
    /// Some lanes, all in one bank.
    words_of_some_32: 32, one u32, |t| 32 * t, if 0x8421_3579_u32 >> t & 1 == 1;
    /// Two warps and a part of a third one.
    words_of_three_warps: 75, one u32, |t| 2 * t;

    /// Bytes in a row.
    bytes: 32, one u8, |t| t;
    /// One byte of each word.
    bytes_4: 32, one u8, |t| 4 * t;
    /// One byte of each second word.
    bytes_8: 32, one u8, |t| 8 * t;
    /// All in one bank.
    bytes_128: 32, one u8, |t| 128 * t;
    /// Scattered over all of the memory.
    bytes_scattered: 32, one u8, |t| scattered(t, 3, 4096);
    /// Two bytes in a row for each lane.
    shorts: 32, one u16, |t| t;
    /// Two bytes, all in one bank.
    shorts_64: 32, one u16, |t| 64 * t;
    /// Four bytes at a time.
    byte_fours: 32, four u8, |t| t;

    /// Eight bytes in a row for each lane.
    longs: 32, one u64, |t| t;
    /// The same, as two words.
    word_pairs: 32, two u32, |t| t;
    /// Every second.
    longs_2: 32, one u64, |t| 2 * t;
    /// Every third.
    longs_3: 32, one u64, |t| 3 * t;
    /// All in one pair of banks.
    longs_16: 32, one u64, |t| 16 * t;
    /// A column of a padded tile.
    longs_15: 32, one u64, |t| 15 * t;
    /// Permuted.
    longs_permuted: 32, one u64, |t| reversed_bits(t);
    /// Scattered over all of the memory.
    longs_scattered: 32, one u64, |t| scattered(t, 4, 512);
    /// One element for all lanes.
    longs_broadcast: 32, one u64, |_t| 3;
    /// Both lanes of each pair access the same element.
    longs_shared_by_1: 32, one u64, |t| t / 2;
    /// Lanes whose indices differ by 2 access the same element.
    longs_shared_by_2: 32, one u64, |t| t / 4 * 2 + t % 2;
    /// Lanes whose indices differ by 4 access the same element.
    longs_shared_by_4: 32, one u64, |t| t / 8 * 4 + t % 4;
    /// Both halves of the warp access the same elements.
    longs_shared_by_16: 32, one u64, |t| t % 16;
    /// Both lanes of each pair access the same element, except for one lane.
    longs_shared_but_one: 32, one u64, |t| if t == 9 { 20 } else { t / 2 };
    /// Each half of the warp accesses two words of each bank: one from the even lanes, one from the odd lanes.
    longs_by_parity: 32, one u64, |t| t % 2 * 16 + t / 2;
    /// Half a warp.
    longs_of_16: 32, one u64, |t| t, if t < 16;
    /// The lanes in the middle: a part of each half.
    longs_of_the_middle: 32, one u64, |t| t, if (8..24).contains(&t);
    /// Every second lane.
    longs_of_evens: 32, one u64, |t| t / 2, if t % 2 == 0;
    /// Every second lane, each with the position of its own index.
    longs_of_evens_apart: 32, one u64, |t| t, if t % 2 == 0;
    /// The odd lanes.
    longs_of_odds: 32, one u64, |t| t / 2, if t % 2 == 1;
    /// The first two lanes of each four.
    longs_of_first_pairs: 32, one u64, |t| t / 4 * 2 + t % 2, if t % 4 < 2;
    /// The last two lanes of each four.
    longs_of_second_pairs: 32, one u64, |t| t / 4 * 2 + t % 2, if t % 4 >= 2;
    /// Both lanes of each pair access the same element, but the first lane of one pair is inactive.
    longs_shared_without_8: 32, one u64, |t| t / 2, if t != 8;
    /// Both lanes of each pair access the same element, but the second lane of one pair is inactive.
    longs_shared_without_9: 32, one u64, |t| t / 2, if t != 9;
    /// Pairs of lanes access the same element: neighbours in one half of the warp, lanes that differ by 2 in the other.
    longs_shared_by_halves: 32, one u64, |t| if t < 16 { t / 2 } else { t / 4 * 2 + t % 2 };
    /// Both lanes of each pair access the same element in the first half of the warp only.
    longs_shared_in_a_half: 32, one u64, |t| if t < 16 { t / 2 } else { t };
    /// 17 lanes.
    longs_of_17: 32, one u64, |t| t, if t < 17;
    /// One lane of each half.
    longs_of_2: 32, one u64, |t| t, if t % 16 == 3;

    /// Sixteen bytes in a row for each lane.
    fours: 32, four u32, |t| t;
    /// The same, as two numbers of eight bytes.
    long_pairs: 32, two u64, |t| t;
    /// Every second.
    fours_2: 32, four u32, |t| 2 * t;
    /// Every third.
    fours_3: 32, four u32, |t| 3 * t;
    /// All in one group of banks.
    fours_8: 32, four u32, |t| 8 * t;
    /// In descending order.
    fours_reversed: 32, four u32, |t| 31 - t;
    /// Permuted.
    fours_permuted: 32, four u32, |t| reversed_bits(t);
    /// Scattered over all of the memory.
    fours_scattered: 32, four u32, |t| scattered(t, 5, 256);
    /// One element for all lanes.
    fours_broadcast: 32, four u32, |_t| 2;
    /// Both lanes of each pair access the same element.
    fours_shared_by_1: 32, four u32, |t| t / 2;
    /// Lanes whose indices differ by 2 access the same element.
    fours_shared_by_2: 32, four u32, |t| t / 4 * 2 + t % 2;
    /// Four adjacent lanes access the same element.
    fours_shared_by_4: 32, four u32, |t| t / 4;
    /// Both halves of the warp access the same elements.
    fours_shared_by_16: 32, four u32, |t| t % 16;
    /// All quarters of the warp access the same elements.
    fours_shared_by_quarters: 32, four u32, |t| t % 8;
    /// Both lanes of each pair access the same element, except for one lane.
    fours_shared_but_one: 32, four u32, |t| if t == 9 { 20 } else { t / 2 };
    /// No conflict among lanes with the same index modulo 4, but four-way conflicts in each quarter of the warp.
    fours_by_4: 32, four u32, |t| t % 4 * 8 + t / 4;
    /// No conflict among the even lanes of a half or among the odd ones, but two-way conflicts in a quarter.
    fours_by_parity: 32, four u32, |t| t / 16 * 16 + t % 2 * 8 + t % 16 / 2;
    /// Two quarters of the warp have a conflict. Another grouping into eight lanes each has none.
    fours_with_a_swap: 32, four u32, |t| if t == 0 { 9 } else if t == 9 { 0 } else { t };
    /// A quarter of a warp.
    fours_of_8: 32, four u32, |t| t, if t < 8;
    /// Parts of two quarters.
    fours_of_8_across: 32, four u32, |t| t, if (4..12).contains(&t);
    /// One lane of each quarter.
    fours_of_4: 32, four u32, |t| t, if t % 8 == 5;
    /// Every second lane, in a row.
    fours_of_evens: 32, four u32, |t| t / 2, if t % 2 == 0;
    /// Every second lane, each with the position of its own index.
    fours_of_evens_apart: 32, four u32, |t| t, if t % 2 == 0;
    /// The odd lanes.
    fours_of_odds: 32, four u32, |t| t / 2, if t % 2 == 1;
    /// The first two lanes of each four.
    fours_of_first_pairs: 32, four u32, |t| t / 4 * 2 + t % 2, if t % 4 < 2;
    /// The last two lanes of each four.
    fours_of_second_pairs: 32, four u32, |t| t / 4 * 2 + t % 2, if t % 4 >= 2;
    /// Both lanes of each pair access the same element, but the first lane of one pair is inactive.
    fours_shared_without_8: 32, four u32, |t| t / 2, if t != 8;
    /// Both lanes of each pair access the same element, but the second lane of one pair is inactive.
    fours_shared_without_9: 32, four u32, |t| t / 2, if t != 9;
    /// Pairs of lanes access the same element: neighbours in one half of the warp, lanes that differ by 2 in the other.
    fours_shared_by_halves: 32, four u32, |t| if t < 16 { t / 2 } else { t / 4 * 2 + t % 2 };
    /// Both lanes of each pair access the same element in the first half of the warp only.
    fours_shared_in_a_half: 32, four u32, |t| if t < 16 { t / 2 } else { t };
    /// 31 lanes.
    fours_of_31: 32, four u32, |t| t, if t != 30;

    /// Each lane adds to its own word.
    add_own: 32, add u32, |t| t;
    /// The same, and the old value is used.
    add_own_and_ask: 32, add_and_ask u32, |t| t;
    /// All lanes add to the same word.
    add_same: 32, add u32, |_t| 5;
    /// The same, and the old value is used.
    add_same_and_ask: 32, add_and_ask u32, |_t| 5;
    /// Two lanes for each word.
    add_pairs: 32, add u32, |t| t / 2;
    /// Words in one bank.
    add_32: 32, add u32, |t| 32 * t;
    /// Scattered over 64 words.
    add_scattered: 32, add u32, |t| scattered(t, 6, 64);
    /// 7 lanes.
    add_of_7: 32, add u32, |t| t, if t < 7;
    /// Each lane compares and exchanges its own word.
    swap_own: 32, swap u32, |t| t;
    /// All lanes compare and exchange the same word.
    swap_same: 32, swap u32, |_t| 5;
    /// Each lane compares and exchanges its own eight bytes. (No probe adds to eight bytes: in shared memory, that is a
    /// loop on the device.)
    swap_long: 32, swap u64, |t| t;
}
