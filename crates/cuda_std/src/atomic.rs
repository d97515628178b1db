//! Atomic read-modify-write operations on shared and global windows.

use crate::Value;
use crate::machine::Atomics;

/// The order of an atomic operation relative to the thread's other accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordering {
    /// Atomic, but without any order. This is enough for counting.
    ///
    /// Relaxed operations on different elements may take effect in any order. If two threads each set their own flag and
    /// then read the other's, both may find it unset (seen on an H200, 8 times in 204,800). The emulator never shows this,
    /// because its atomic operations take effect at once, in source order. If the order of two flags matters, use
    /// [`SeqCst`](Self::SeqCst).
    Relaxed,
    /// Part of a single order of all sequentially consistent operations. The thread's other accesses are not reordered
    /// across it. Costs a fence.
    SeqCst,
}

/// The threads for which an operation orders accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The threads of the block.
    Block,
    /// All threads of the device.
    Device,
}

/// The new value that an atomic operation computes from the old value and its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The sum; integers wrap.
    Add,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// The bits set in both.
    And,
    /// The bits set in either.
    Or,
    /// The bits set in exactly one of them.
    Xor,
    /// The operand.
    Exchange,
}

/// A value that has atomic operations: `u32`, `i32`, `u64`, `i64`, `f32` and `f64`.
///
/// Integer sums wrap. Float sums are rounded once per addition, in whatever order the additions happen. Minima and maxima of
/// floats use the total order of IEEE 754 (`f32::total_cmp`): -NaN < -∞ < … < -0 < +0 < … < +∞ < +NaN. So NaNs are no
/// exception, the order of the operations does not matter, and host and device compute the same results. Test for NaNs
/// beforehand if they must not count.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of the supertrait in their generic code")]
pub trait Atomic: Value + Atomics {}

/// An atomic value that has the bitwise operations: `u32`, `i32`, `u64` and `i64`.
pub trait AtomicInteger: Atomic {}

macro_rules! atomics {
    ($trait:ident for $($t:ty)*) => { $(impl $trait for $t {})* };
}
atomics!(Atomic for u32 i32 u64 i64 f32 f64);
atomics!(AtomicInteger for u32 i32 u64 i64);

/// Defines the atomic methods of a window type. The type must have `fn place(self, index)`, with indices of type `$index`.
macro_rules! atomic_methods {
    ($self:ty, $index:ty, $($bound:tt)*) => {
        impl<T: crate::Atomic, $($bound)*> $self {
            /// Adds `operand` to element `i` and returns the old value. Integers wrap.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_add(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                T::update(self.place(i), crate::atomic::Operation::Add, operand, ordering)
            }

            /// Adds `operand` to element `i`. Integers wrap. Faster than [`fetch_add`](Self::fetch_add), because no thread
            /// waits for the old value.
            #[inline(always)]
            #[track_caller]
            pub fn add(&self, i: $index, operand: T, ordering: crate::Ordering) {
                T::add(self.place(i), operand, ordering);
            }

            /// Adds `operand` to element `i` if `condition` holds; otherwise `i` may be anything. A masked form: one PTX
            /// instruction, which the device's assembler may still turn into a branch.
            #[inline(always)]
            #[track_caller]
            pub fn add_if(&self, condition: bool, i: $index, operand: T, ordering: crate::Ordering) {
                T::add_if(condition, self.place(i), operand, ordering);
            }

            /// Sets element `i` to the smaller of itself and `operand`, and returns the old value. Floats are compared in
            /// total order ([`Atomic`](crate::Atomic)).
            #[inline(always)]
            #[track_caller]
            pub fn fetch_min(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                T::update(self.place(i), crate::atomic::Operation::Min, operand, ordering)
            }

            /// Sets element `i` to the larger of itself and `operand`, and returns the old value. Floats are compared in
            /// total order ([`Atomic`](crate::Atomic)).
            #[inline(always)]
            #[track_caller]
            pub fn fetch_max(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                T::update(self.place(i), crate::atomic::Operation::Max, operand, ordering)
            }

            /// Sets element `i` to `operand` and returns the old value.
            #[inline(always)]
            #[track_caller]
            pub fn exchange(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                T::update(self.place(i), crate::atomic::Operation::Exchange, operand, ordering)
            }

            /// Sets element `i` to `new` if its bits equal those of `current`. Returns the old value in either case.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange(&self, i: $index, current: T, new: T, ordering: crate::Ordering) -> T {
                T::compare_exchange(self.place(i), current, new, ordering)
            }
        }

        impl<T: crate::AtomicInteger, $($bound)*> $self {
            /// Clears the bits of element `i` that are not set in `operand`, and returns the old value.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_and(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                T::update(self.place(i), crate::atomic::Operation::And, operand, ordering)
            }

            /// Sets the bits of element `i` that are set in `operand`, and returns the old value.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_or(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                T::update(self.place(i), crate::atomic::Operation::Or, operand, ordering)
            }

            /// Flips the bits of element `i` that are set in `operand`, and returns the old value.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_xor(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                T::update(self.place(i), crate::atomic::Operation::Xor, operand, ordering)
            }
        }
    };
}
pub(crate) use atomic_methods;
