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

/// Loads.
#[derive(Clone, Copy, Debug)]
pub struct Load<T>(PhantomData<T>);

impl<T: Number> Access for Load<T> {
    type Part = T;
    const PARTS: u32 = 1;
    const READS: bool = true;
    const WAYS: usize = 4;

    #[inline(always)]
    fn access(tile: &Shared<T>, element: u32, _zero: u32) -> u32 {
        tile.get(element).words()
    }
}

/// Loads of four numbers.
#[derive(Clone, Copy, Debug)]
pub struct LoadFour<T>(PhantomData<T>);

impl<T: Number> Access for LoadFour<T> {
    type Part = T;
    const PARTS: u32 = 4;
    const READS: bool = true;
    const WAYS: usize = 4;

    #[inline(always)]
    fn access(tile: &Shared<T>, element: u32, _zero: u32) -> u32 {
        tile.get_pack::<4>(4 * element).into_iter().fold(0, |sum, part| sum.wrapping_add(part.words()))
    }
}

/// Stores. All threads store the same value, so the order does not matter.
#[derive(Clone, Copy, Debug)]
pub struct Store<T>(PhantomData<T>);

impl<T: Value> Access for Store<T> {
    type Part = T;
    const PARTS: u32 = 1;
    const READS: bool = false;
    const WAYS: usize = 1;

    #[inline(always)]
    fn access(tile: &Shared<T>, element: u32, zero: u32) -> u32 {
        tile.set(element, T::default());
        zero
    }
}

/// Stores of four numbers.
#[derive(Clone, Copy, Debug)]
pub struct StoreFour<T>(PhantomData<T>);

impl<T: Value> Access for StoreFour<T> {
    type Part = T;
    const PARTS: u32 = 4;
    const READS: bool = false;
    const WAYS: usize = 1;

    #[inline(always)]
    fn access(tile: &Shared<T>, element: u32, zero: u32) -> u32 {
        tile.set_pack(4 * element, [T::default(); 4]);
        zero
    }
}

/// Atomic additions.
#[derive(Clone, Copy, Debug)]
pub struct Add<T>(PhantomData<T>);

impl<T: Atomic> Access for Add<T> {
    type Part = T;
    const PARTS: u32 = 1;
    const READS: bool = true;
    const WAYS: usize = 1;

    #[inline(always)]
    fn access(tile: &Shared<T>, element: u32, zero: u32) -> u32 {
        tile.add(element, T::default(), Ordering::Relaxed);
        zero
    }
}

/// Atomic exchanges.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<T>(PhantomData<T>);

impl<T: Atomic> Access for Exchange<T> {
    type Part = T;
    const PARTS: u32 = 1;
    const READS: bool = true;
    const WAYS: usize = 1;

    #[inline(always)]
    fn access(tile: &Shared<T>, element: u32, zero: u32) -> u32 {
        tile.exchange(element, T::default(), Ordering::Relaxed);
        zero
    }
}
