//! Atomic read-modify-write operations, for shared and global windows alike.

use crate::Value;

/// How an atomic operation is ordered against the thread's other accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordering {
    /// Atomic and nothing more: enough for counting.
    ///
    /// Relaxed operations on different elements may take effect in any order: of two threads that each set a flag of
    /// their own and then look at the other's, both may find it unset (seen on an H200, 8 times in 204,800). The emulator
    /// makes every atomic operation take effect at once, in the order of the source, and so never shows that. Where the
    /// order of two flags matters, use [`SeqCst`](Self::SeqCst).
    Relaxed,
    /// Takes part in one order of all sequentially consistent operations: nothing before it is seen after it and
    /// nothing after it before. Costs a fence.
    SeqCst,
}

/// Whose view an operation orders: that of the block's threads or that of all threads of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The threads of the block.
    Block,
    /// All threads of the device.
    Device,
}

/// What an atomic operation makes of the old value and its operand.
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
    /// The bits set in one.
    Xor,
    /// The operand.
    Exchange,
}

/// A value that has atomic operations: `u32`, `i32`, `u64`, `i64`, `f32` and `f64`.
///
/// Integer sums wrap. Float sums are rounded once per addition, in whatever order the additions happen. The smaller and the
/// larger of two floats are those of the total order of IEEE 754 (`f32::total_cmp`): -NaN < -∞ < … < -0 < +0 < … < +∞ < +NaN. So a NaN is no
/// exception, the order of the operations does not matter, and the results are the same on the host and on the
/// device. Leave NaNs out with a test beforehand if they must not count.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of the supertrait in their generic code")]
pub trait Atomic: Value + sealed::ReadModifyWrite {}

/// An atomic value that has the bitwise operations: `u32`, `i32`, `u64` and `i64`.
pub trait AtomicInteger: Atomic {}

/// Where an atomic operation happens.
#[cfg(target_os = "cuda")]
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// An address in shared memory.
    Shared(u32),
    /// An address in global memory, and whether (1) or not (0) it may be accessed.
    Global(u64, u32),
}

pub(crate) mod sealed {
    use super::Operation;
    #[cfg(target_os = "cuda")]
    use super::{Ordering, Place};

    pub(crate) trait ReadModifyWrite: Sized {
        /// What `operation` makes of `old`.
        #[cfg(not(target_os = "cuda"))]
        fn apply(operation: Operation, old: Self, operand: Self) -> Self;
        /// Applies `operation` and returns the old value; zero if the place may not be accessed.
        #[cfg(target_os = "cuda")]
        fn read_modify_write(place: Place, operation: Operation, operand: Self, ordering: Ordering) -> Self;
        /// Stores `new` if the value is `current`, and returns the old value; zero if the place may not be accessed.
        #[cfg(target_os = "cuda")]
        fn compare_exchange(place: Place, current: Self, new: Self, ordering: Ordering) -> Self;
        /// Adds to the value, if `condition` is not 0 and the place may be accessed.
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

/// One instruction `red.….$op`, which has no result that somebody would wait for.
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
                    // A total order leaves no doubt which of two floats it is.
                    $(
                        Operation::Min => |a, b| if a.$compare(&b).is_le() { a } else { b },
                        Operation::Max => |a, b| if a.$compare(&b).is_ge() { a } else { b },
                    )?
                    #[allow(unreachable_patterns)]
                    _ => unreachable!("the public methods ask for `AtomicInteger`"),
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
                        // No such instruction. Floats without a sign are ordered as their bits are, as signed integers;
                        // and those with a sign the other way round.
                        let bits = operand.to_bits();
                        let old = if bits as $signed >= 0 {
                            <$signed>::read_modify_write(place, operation, bits as $signed, ordering) as $unsigned
                        } else {
                            let opposite = if operation == Operation::Min { Operation::Max } else { Operation::Min };
                            <$unsigned>::read_modify_write(place, opposite, bits, ordering)
                        };
                        <$t>::from_bits(old)
                    })?
                    // Not offered for this type: the public methods ask for `AtomicInteger`.
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
                    // What comes behind it in the order has to wait for the old value.
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

/// The atomic methods of a window type that has `fn update(self, index, operation, operand, ordering)`,
/// `fn swap_if(self, index, current, new, ordering)` and, on the device, `fn place(self, index)`, for the index type
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

            /// Adds `operand` to element `i`. Integers wrap. Faster than [`fetch_add`](Self::fetch_add), since nobody
            /// waits for the old value.
            #[inline(always)]
            #[track_caller]
            pub fn add(&self, i: $index, operand: T, ordering: crate::Ordering) {
                #[cfg(target_os = "cuda")]
                T::add_if(1, self.place(i), operand, ordering);
                #[cfg(not(target_os = "cuda"))]
                self.update(i, crate::atomic::Operation::Add, operand, ordering);
            }

            /// Adds `operand` to element `i` if `condition` holds; otherwise `i` may be anything. A masked form: one
            /// instruction of PTX (the device's assembler may still make a branch of it).
            #[inline(always)]
            #[track_caller]
            pub fn add_if(&self, condition: bool, i: $index, operand: T, ordering: crate::Ordering) {
                #[cfg(target_os = "cuda")]
                T::add_if(condition as u32, self.place(i), operand, ordering);
                #[cfg(not(target_os = "cuda"))]
                crate::host::update_masked(condition, &self.access(i, 1), crate::atomic::Operation::Add, operand, ordering);
            }

            /// Makes element `i` the smaller of itself and `operand` and returns the old value. Floats are in total order
            /// ([`Atomic`](crate::Atomic)).
            #[inline(always)]
            #[track_caller]
            pub fn fetch_min(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                self.update(i, crate::atomic::Operation::Min, operand, ordering)
            }

            /// Makes element `i` the larger of itself and `operand` and returns the old value. Floats are in total order
            /// ([`Atomic`](crate::Atomic)).
            #[inline(always)]
            #[track_caller]
            pub fn fetch_max(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                self.update(i, crate::atomic::Operation::Max, operand, ordering)
            }

            /// Puts `operand` in the place of element `i` and returns the old value.
            #[inline(always)]
            #[track_caller]
            pub fn exchange(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                self.update(i, crate::atomic::Operation::Exchange, operand, ordering)
            }

            /// Stores `new` in element `i` if its bits are those of `current`; returns the old value either way.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange(&self, i: $index, current: T, new: T, ordering: crate::Ordering) -> T {
                self.swap_if(i, current, new, ordering)
            }
        }

        impl<T: crate::AtomicInteger, $($bound)*> $self {
            /// Keeps the bits of element `i` that are set in `operand` and returns the old value.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_and(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                self.update(i, crate::atomic::Operation::And, operand, ordering)
            }

            /// Sets the bits of element `i` that are set in `operand` and returns the old value.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_or(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                self.update(i, crate::atomic::Operation::Or, operand, ordering)
            }

            /// Flips the bits of element `i` that are set in `operand` and returns the old value.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_xor(&self, i: $index, operand: T, ordering: crate::Ordering) -> T {
                self.update(i, crate::atomic::Operation::Xor, operand, ordering)
            }
        }
    };
}
pub(crate) use atomic_methods;
