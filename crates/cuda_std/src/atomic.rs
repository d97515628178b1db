//! Atomic read-modify-write operations on shared and global windows.

use crate::Value;

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
pub trait Atomic: Value + sealed::ReadModifyWrite {}

/// An atomic value that has the bitwise operations: `u32`, `i32`, `u64` and `i64`.
pub trait AtomicInteger: Atomic {}

/// The element of an atomic operation.
#[cfg(target_os = "cuda")]
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// An address in shared memory.
    Shared(u32),
    /// An address in global memory, and its guard: 1 if it may be accessed, otherwise 0.
    Global(u64, u32),
}

pub(crate) mod sealed {
    use super::Operation;
    #[cfg(target_os = "cuda")]
    use super::{Ordering, Place};

    pub(crate) trait ReadModifyWrite: Sized {
        /// Returns the new value for `old`.
        #[cfg(not(target_os = "cuda"))]
        fn apply(operation: Operation, old: Self, operand: Self) -> Self;
        /// Applies `operation` and returns the old value, or zero if `place` may not be accessed.
        #[cfg(target_os = "cuda")]
        fn read_modify_write(place: Place, operation: Operation, operand: Self, ordering: Ordering) -> Self;
        /// Stores `new` if the value is `current`. Returns the old value, or zero if `place` may not be accessed.
        #[cfg(target_os = "cuda")]
        fn compare_exchange(place: Place, current: Self, new: Self, ordering: Ordering) -> Self;
        /// Adds `operand` if `condition` is not 0 and `place` may be accessed.
        #[cfg(target_os = "cuda")]
        fn add_if(condition: u32, place: Place, operand: Self, ordering: Ordering);
    }
}

/// One atomic instruction `atom.….$op`, with the operands `$operands`.
#[cfg(target_os = "cuda")]
macro_rules! atom {
    ($place:ident, $ordering:ident, $op:literal, $t:ty, $class:ident, $zero:literal, $operands:literal, $($name:ident)+) => {
        match ($place, $ordering) {
            (Place::Shared(address), Ordering::Relaxed) => {
                atom!(@shared address, "", "relaxed.cta", $op, $t, $class, $operands, $($name)+)
            }
            (Place::Shared(address), Ordering::SeqCst) => {
                atom!(@shared address, "fence.sc.cta;", "acquire.cta", $op, $t, $class, $operands, $($name)+)
            }
            (Place::Global(address, guard), Ordering::Relaxed) => {
                atom!(@global address, guard, "", "relaxed.gpu", $op, $t, $class, $zero, $operands, $($name)+)
            }
            (Place::Global(address, guard), Ordering::SeqCst) => {
                atom!(@global address, guard, "fence.sc.gpu;", "acquire.gpu", $op, $t, $class, $zero, $operands, $($name)+)
            }
        }
    };
    (@shared $address:ident, $fence:literal, $order:literal, $op:literal, $t:ty, $class:ident, $operands:literal, $($name:ident)+) => {{
        let old: $t;
        // SAFETY: shared memory belongs to the block, and the hardware faults beyond it.
        unsafe {
            core::arch::asm!($fence, concat!("atom.", $order, ".shared.", $op, " {old}, [{address}], ", $operands, ";"),
                old = out($class) old, address = in(reg32) $address, $($name = in($class) $name,)+ options(nostack));
        }
        old
    }};
    (@global $address:ident, $guard:ident, $fence:literal, $order:literal, $op:literal, $t:ty, $class:ident, $zero:literal, $operands:literal, $($name:ident)+) => {{
        let old: $t;
        // SAFETY: the guard is 1 only for an address inside a window that the host made from a live buffer.
        unsafe {
            core::arch::asm!($fence, "{{ .reg .pred p; setp.ne.u32 p, {guard}, 0;", $zero,
                concat!("@p atom.", $order, ".global.", $op, " {old}, [{address}], ", $operands, "; }}"),
                old = out($class) old, address = in(reg64) $address, guard = in(reg32) $guard,
                $($name = in($class) $name,)+ options(nostack));
        }
        old
    }};
}

/// One instruction `red.….$op`. It has no result, so no thread waits for one.
#[cfg(target_os = "cuda")]
macro_rules! red {
    ($condition:expr, $place:ident, $op:literal, $class:ident, $operand:ident) => {
        match $place {
            Place::Shared(address) => red!(@ $condition, "relaxed.cta.shared.", address, reg32, $op, $class, $operand),
            Place::Global(address, guard) => {
                red!(@ $condition & guard, "relaxed.gpu.global.", address, reg64, $op, $class, $operand)
            }
        }
    };
    (@ $guard:expr, $order:literal, $address:ident, $width:ident, $op:literal, $class:ident, $operand:ident) => {
        // SAFETY: as for `atom`: shared memory belongs to the block, and a global guard is 1 only inside a window.
        unsafe {
            core::arch::asm!("{{ .reg .pred p; setp.ne.u32 p, {guard}, 0;",
                concat!("@p red.", $order, $op, " [{address}], {operand}; }}"),
                address = in($width) $address, guard = in(reg32) $guard, operand = in($class) $operand,
                options(nostack));
        }
    };
}

macro_rules! atomics {
    ($($t:ty, $class:ident, $zero:literal, $bits:literal: Add $add:literal $plus:expr,
        $($operation:ident $op:literal $apply:expr),+
        $(=> $compare:ident of $unsigned:ty, $signed:ty)?;)*) => {$(
        impl Atomic for $t {}
        impl sealed::ReadModifyWrite for $t {
            #[cfg(not(target_os = "cuda"))]
            fn apply(operation: Operation, old: Self, operand: Self) -> Self {
                let apply: fn(Self, Self) -> Self = match operation {
                    Operation::Add => $plus,
                    $(Operation::$operation => $apply,)+
                    // The total order decides between any two different floats.
                    $(
                        Operation::Min => |a, b| if a.$compare(&b).is_le() { a } else { b },
                        Operation::Max => |a, b| if a.$compare(&b).is_ge() { a } else { b },
                    )?
                    #[allow(unreachable_patterns)]
                    _ => unreachable!("the public methods require `AtomicInteger`"),
                };
                apply(old, operand)
            }
            #[cfg(target_os = "cuda")]
            #[inline(always)]
            fn read_modify_write(place: Place, operation: Operation, operand: Self, ordering: Ordering) -> Self {
                match operation {
                    Operation::Add => atom!(place, ordering, $add, $t, $class, $zero, "{operand}", operand),
                    $(Operation::$operation => atom!(place, ordering, $op, $t, $class, $zero, "{operand}", operand),)+
                    $(Operation::Min | Operation::Max => {
                        // There is no such instruction. If the operand has no sign, the total order is that of the bits as
                        // signed integers. If it has one, the total order is the reverse of that of the bits as unsigned
                        // integers.
                        let bits = operand.to_bits();
                        let old = if bits as $signed >= 0 {
                            <$signed>::read_modify_write(place, operation, bits as $signed, ordering) as $unsigned
                        } else {
                            let opposite = if operation == Operation::Min { Operation::Max } else { Operation::Min };
                            <$unsigned>::read_modify_write(place, opposite, bits, ordering)
                        };
                        <$t>::from_bits(old)
                    })?
                    // Unreachable: the public methods require `AtomicInteger`.
                    #[allow(unreachable_patterns)]
                    _ => crate::device::trap(),
                }
            }
            #[cfg(target_os = "cuda")]
            #[inline(always)]
            fn compare_exchange(place: Place, current: Self, new: Self, ordering: Ordering) -> Self {
                atom!(place, ordering, $bits, $t, $class, $zero, "{current}, {new}", current new)
            }
            #[cfg(target_os = "cuda")]
            #[inline(always)]
            fn add_if(condition: u32, place: Place, operand: Self, ordering: Ordering) {
                match ordering {
                    Ordering::Relaxed => red!(condition, place, $add, $class, operand),
                    // Later accesses must wait for the old value, which a `red` does not return.
                    Ordering::SeqCst if condition != 0 => {
                        atom!(place, ordering, $add, $t, $class, $zero, "{operand}", operand);
                    }
                    Ordering::SeqCst => {}
                }
            }
        }
    )*};
}
atomics! {
    u32, reg32, "mov.b32 {old}, 0;", "cas.b32":
        Add "add.u32" |a, b| a.wrapping_add(b),
        Min "min.u32" |a, b| a.min(b),
        Max "max.u32" |a, b| a.max(b),
        And "and.b32" |a, b| a & b,
        Or "or.b32" |a, b| a | b,
        Xor "xor.b32" |a, b| a ^ b,
        Exchange "exch.b32" |_, b| b;
    i32, reg32, "mov.b32 {old}, 0;", "cas.b32":
        Add "add.s32" |a, b| a.wrapping_add(b),
        Min "min.s32" |a, b| a.min(b),
        Max "max.s32" |a, b| a.max(b),
        And "and.b32" |a, b| a & b,
        Or "or.b32" |a, b| a | b,
        Xor "xor.b32" |a, b| a ^ b,
        Exchange "exch.b32" |_, b| b;
    u64, reg64, "mov.b64 {old}, 0;", "cas.b64":
        Add "add.u64" |a, b| a.wrapping_add(b),
        Min "min.u64" |a, b| a.min(b),
        Max "max.u64" |a, b| a.max(b),
        And "and.b64" |a, b| a & b,
        Or "or.b64" |a, b| a | b,
        Xor "xor.b64" |a, b| a ^ b,
        Exchange "exch.b64" |_, b| b;
    i64, reg64, "mov.b64 {old}, 0;", "cas.b64":
        Add "add.u64" |a, b| a.wrapping_add(b),
        Min "min.s64" |a, b| a.min(b),
        Max "max.s64" |a, b| a.max(b),
        And "and.b64" |a, b| a & b,
        Or "or.b64" |a, b| a | b,
        Xor "xor.b64" |a, b| a ^ b,
        Exchange "exch.b64" |_, b| b;
    f32, reg32, "mov.b32 {old}, 0;", "cas.b32":
        Add "add.f32" |a, b| a + b,
        Exchange "exch.b32" |_, b| b
        => total_cmp of u32, i32;
    f64, reg64, "mov.b64 {old}, 0;", "cas.b64":
        Add "add.f64" |a, b| a + b,
        Exchange "exch.b64" |_, b| b
        => total_cmp of u64, i64;
}
impl AtomicInteger for u32 {}
impl AtomicInteger for i32 {}
impl AtomicInteger for u64 {}
impl AtomicInteger for i64 {}

/// Defines the atomic methods of a window type. The type must have `fn update(self, index, operation, operand, ordering)`,
/// `fn swap_if(self, index, current, new, ordering)` and, on the device, `fn place(self, index)`, with indices of type
/// `$index`.
macro_rules! atomic_methods {
    ($self:ty, $index:ty, $($bound:tt)*) => {
        impl<T: crate::Atomic, $($bound)*> $self {
            /// Adds `operand` to element `i` and returns the old value. Integers wrap.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_add(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                self.update(i, crate::atomic::Operation::Add, operand, ordering)
            }

            /// Adds `operand` to element `i`. Integers wrap. Faster than [`fetch_add`](Self::fetch_add), because no thread
            /// waits for the old value.
            #[inline(always)]
            #[track_caller]
            pub fn add(&self, i: $index, operand: T, ordering: crate::Ordering) {
                #[cfg(target_os = "cuda")]
                T::add_if(1, self.place(i), operand, ordering);
                #[cfg(not(target_os = "cuda"))]
                self.update(i, crate::atomic::Operation::Add, operand, ordering);
            }

            /// Adds `operand` to element `i` if `condition` holds; otherwise `i` may be anything. A masked form: one PTX
            /// instruction, which the device's assembler may still turn into a branch.
            #[inline(always)]
            #[track_caller]
            pub fn add_if(&self, condition: bool, i: $index, operand: T, ordering: crate::Ordering) {
                #[cfg(target_os = "cuda")]
                T::add_if(condition as u32, self.place(i), operand, ordering);
                #[cfg(not(target_os = "cuda"))]
                crate::host::update_masked(condition, &self.access(i, 1), crate::atomic::Operation::Add, operand, ordering);
            }

            /// Sets element `i` to the smaller of itself and `operand`, and returns the old value. Floats are compared in
            /// total order ([`Atomic`](crate::Atomic)).
            #[inline(always)]
            #[track_caller]
            pub fn fetch_min(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                self.update(i, crate::atomic::Operation::Min, operand, ordering)
            }

            /// Sets element `i` to the larger of itself and `operand`, and returns the old value. Floats are compared in
            /// total order ([`Atomic`](crate::Atomic)).
            #[inline(always)]
            #[track_caller]
            pub fn fetch_max(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                self.update(i, crate::atomic::Operation::Max, operand, ordering)
            }

            /// Sets element `i` to `operand` and returns the old value.
            #[inline(always)]
            #[track_caller]
            pub fn exchange(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                self.update(i, crate::atomic::Operation::Exchange, operand, ordering)
            }

            /// Sets element `i` to `new` if its bits equal those of `current`. Returns the old value in either case.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange(&self, i: $index, current: T, new: T, ordering: crate::Ordering) -> T {
                self.swap_if(i, current, new, ordering)
            }
        }

        impl<T: crate::AtomicInteger, $($bound)*> $self {
            /// Clears the bits of element `i` that are not set in `operand`, and returns the old value.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_and(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                self.update(i, crate::atomic::Operation::And, operand, ordering)
            }

            /// Sets the bits of element `i` that are set in `operand`, and returns the old value.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_or(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                self.update(i, crate::atomic::Operation::Or, operand, ordering)
            }

            /// Flips the bits of element `i` that are set in `operand`, and returns the old value.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_xor(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                self.update(i, crate::atomic::Operation::Xor, operand, ordering)
            }
        }
    };
}
pub(crate) use atomic_methods;
