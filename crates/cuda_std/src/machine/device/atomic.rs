//! Atomic instructions.

use super::trap;
use crate::Ordering;
use crate::atomic::Operation;
use crate::machine::Atomics;
use core::arch::asm;

/// The element of an atomic operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// An address in shared memory.
    Shared(u32),
    /// An address in global memory, and its guard: 1 if it may be accessed, otherwise 0.
    Global(u64, u32),
}

/// One atomic instruction `atom.….$op`, with the operands `$operands`.
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
            asm!($fence, concat!("atom.", $order, ".shared.", $op, " {old}, [{address}], ", $operands, ";"),
                old = out($class) old, address = in(reg32) $address, $($name = in($class) $name,)+ options(nostack));
        }
        old
    }};
    (@global $address:ident, $guard:ident, $fence:literal, $order:literal, $op:literal, $t:ty, $class:ident, $zero:literal, $operands:literal, $($name:ident)+) => {{
        let old: $t;
        // SAFETY: the guard is 1 only for an address inside a window that the host made from a live buffer.
        unsafe {
            asm!($fence, "{{ .reg .pred p; setp.ne.u32 p, {guard}, 0;", $zero,
                concat!("@p atom.", $order, ".global.", $op, " {old}, [{address}], ", $operands, "; }}"),
                old = out($class) old, address = in(reg64) $address, guard = in(reg32) $guard,
                $($name = in($class) $name,)+ options(nostack));
        }
        old
    }};
}

/// One instruction `red.….$op`. It has no result, so no thread waits for one.
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
            asm!("{{ .reg .pred p; setp.ne.u32 p, {guard}, 0;",
                concat!("@p red.", $order, $op, " [{address}], {operand}; }}"),
                address = in($width) $address, guard = in(reg32) $guard, operand = in($class) $operand,
                options(nostack));
        }
    };
}

/// Implements [`Atomics`] for `$t`, in a register of class `$class`: with the instruction that sets it to zero, compares and
/// exchanges, and adds, and with those of all other operations.
macro_rules! atomics {
    ($($t:ty, $class:ident, $zero:literal, $compare_exchange:literal, $add:literal,
        [$($operation:ident $op:literal),+] $(total order of $unsigned:ty, $signed:ty)?;)*) => {$(
        impl Atomics for $t {
            #[inline(always)]
            fn update(place: Place, operation: Operation, operand: Self, ordering: Ordering) -> Self {
                match operation {
                    Operation::Add => atom!(place, ordering, $add, $t, $class, $zero, "{operand}", operand),
                    $(Operation::$operation => atom!(place, ordering, $op, $t, $class, $zero, "{operand}", operand),)+
                    $(Operation::Min | Operation::Max => {
                        // There is no such instruction. If the operand has no sign, the total order is that of the bits as
                        // signed integers. If it has one, the total order is the reverse of that of the bits as unsigned
                        // integers.
                        let bits = operand.to_bits();
                        let old = if bits as $signed >= 0 {
                            <$signed>::update(place, operation, bits as $signed, ordering) as $unsigned
                        } else {
                            let opposite = if operation == Operation::Min { Operation::Max } else { Operation::Min };
                            <$unsigned>::update(place, opposite, bits, ordering)
                        };
                        <$t>::from_bits(old)
                    })?
                    // Unreachable: the public methods require `AtomicInteger`.
                    #[allow(unreachable_patterns)]
                    _ => trap(),
                }
            }
            #[inline(always)]
            fn compare_exchange(place: Place, current: Self, new: Self, ordering: Ordering) -> Self {
                atom!(place, ordering, $compare_exchange, $t, $class, $zero, "{current}, {new}", current new)
            }
            #[inline(always)]
            fn add(place: Place, operand: Self, ordering: Ordering) {
                Self::add_if(true, place, operand, ordering);
            }
            #[inline(always)]
            fn add_if(condition: bool, place: Place, operand: Self, ordering: Ordering) {
                let condition = condition as u32;
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
    u32, reg32, "mov.b32 {old}, 0;", "cas.b32", "add.u32",
        [Min "min.u32", Max "max.u32", And "and.b32", Or "or.b32", Xor "xor.b32", Exchange "exch.b32"];
    i32, reg32, "mov.b32 {old}, 0;", "cas.b32", "add.s32",
        [Min "min.s32", Max "max.s32", And "and.b32", Or "or.b32", Xor "xor.b32", Exchange "exch.b32"];
    u64, reg64, "mov.b64 {old}, 0;", "cas.b64", "add.u64",
        [Min "min.u64", Max "max.u64", And "and.b64", Or "or.b64", Xor "xor.b64", Exchange "exch.b64"];
    i64, reg64, "mov.b64 {old}, 0;", "cas.b64", "add.u64",
        [Min "min.s64", Max "max.s64", And "and.b64", Or "or.b64", Xor "xor.b64", Exchange "exch.b64"];
    f32, reg32, "mov.b32 {old}, 0;", "cas.b32", "add.f32", [Exchange "exch.b32"] total order of u32, i32;
    f64, reg64, "mov.b64 {old}, 0;", "cas.b64", "add.f64", [Exchange "exch.b64"] total order of u64, i64;
}
