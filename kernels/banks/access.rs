//! The measured accesses: loads, stores and atomic operations of each width.

use core::marker::PhantomData;
use cuda_std::{Atomic, Ordering, Shared, Value};

/// An access to shared memory that contains only zeros.
pub trait Access {
    /// Element type of the shared-memory window.
    type Part: Value;
    /// Number of parts that a lane moves in one access. Together they are one element.
    const PARTS: u32;
    /// Whether the access reads shared memory.
    const READS: bool;
    /// Number of dependent chains of accesses per thread. Each access of a chain waits for the result of the previous
    /// one. A load has a latency of about 30 cycles, and shared memory could serve one access of the 32 warps per cycle.
    const WAYS: usize;

    /// Accesses one element. A load returns the sum of the words that it read; the other accesses return `zero`, an
    /// argument of the launch. Either is 0, which the compiler does not know.
    fn access(tile: &Shared<Self::Part>, element: u32, zero: u32) -> u32;
}

/// A number whose loaded bits are all used.
pub trait Number: Value {
    /// Returns the sum of the number's 32-bit words.
    fn words(self) -> u32;
}

macro_rules! numbers {
    ($($t:ty, $words:expr;)*) => {$(
        impl Number for $t {
            #[inline(always)]
            fn words(self) -> u32 {
                let words: fn($t) -> u32 = $words;
                words(self)
            }
        }
    )*};
}
numbers! {
    u8, u32::from;
    u16, u32::from;
    u32, |n| n;
    u64, |n| (n as u32).wrapping_add((n >> 32) as u32);
}

macro_rules! accesses {
    ($(
        $(#[$doc:meta])*
        $name:ident<$t:ident: $bound:ident>: PARTS = $parts:literal, READS = $reads:literal, WAYS = $ways:literal,
        |$tile:ident, $element:ident, $zero:ident| $access:expr;
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<$t>(PhantomData<$t>);

        impl<$t: $bound> Access for $name<$t> {
            type Part = $t;
            const PARTS: u32 = $parts;
            const READS: bool = $reads;
            const WAYS: usize = $ways;

            #[inline(always)]
            fn access($tile: &Shared<$t>, $element: u32, $zero: u32) -> u32 {
                $access
            }
        }
    )*};
}
accesses! {
    /// Loads.
    Load<T: Number>: PARTS = 1, READS = true, WAYS = 4, |tile, element, _zero| tile.get(element).words();
    /// Loads of four numbers.
    LoadFour<T: Number>: PARTS = 4, READS = true, WAYS = 4, |tile, element, _zero| {
        tile.get_pack::<4>(4 * element).into_iter().fold(0, |sum, part| sum.wrapping_add(part.words()))
    };
    /// Stores. All threads store the same value, so the order does not matter.
    Store<T: Value>: PARTS = 1, READS = false, WAYS = 1, |tile, element, zero| {
        tile.set(element, T::default());
        zero
    };
    /// Stores of four numbers.
    StoreFour<T: Value>: PARTS = 4, READS = false, WAYS = 1, |tile, element, zero| {
        tile.set_pack(4 * element, [T::default(); 4]);
        zero
    };
    /// Atomic additions.
    Add<T: Atomic>: PARTS = 1, READS = true, WAYS = 1, |tile, element, zero| {
        tile.add(element, T::default(), Ordering::Relaxed);
        zero
    };
    /// Atomic exchanges.
    Exchange<T: Atomic>: PARTS = 1, READS = true, WAYS = 1, |tile, element, zero| {
        tile.exchange(element, T::default(), Ordering::Relaxed);
        zero
    };
}
