//! The instructions: the `asm!` blocks for memory, special registers and matrices.
//!
//! Memory is accessed by width, not by type: a [`Value`](crate::Value) is its bits. Addresses in shared memory are
//! 32-bit, so that the accesses become `LDS` and `STS`; a pointer would make them generic. Global accesses carry
//! the predicate that guards them inside the block, so no optimisation can separate the two.

use core::arch::{asm, global_asm};

// The block's dynamic shared memory; a module has no other.
global_asm!(".extern .shared .align 16 .b8 slm_dynamic[];");

/// Ends the kernel with an error.
pub(crate) fn trap() -> ! {
    // SAFETY: stops the grid; nothing runs afterwards.
    unsafe { asm!("trap;", options(noreturn, nostack)) }
}

/// Keeps the barrier or exchange that follows in one place.
///
/// What stands between two tests of one condition rustc copies into each way through both (its pass JumpThreading;
/// without it, arrays that are in registers now would be in memory). With copies a barrier is no longer one instruction
/// that all threads come to. rustc copies nothing across inline assembly, not even if that is empty, and LLVM knows what
/// must not be copied.
#[inline(always)]
pub(crate) fn in_one_place() {
    // SAFETY: does nothing.
    unsafe { asm!("", options(nomem, nostack, preserves_flags)) }
}

/// The same number, of which the compiler does not know that.
#[inline(always)]
pub(crate) fn opaque(mut number: u64) -> u64 {
    // SAFETY: there are no instructions.
    unsafe { asm!("// {number}", number = inout(reg64) number, options(pure, nomem, nostack)) }
    number
}

/// The same number, of which the compiler does not know that. Not `pure`: it may be another one each time.
#[inline(always)]
pub(crate) fn opaque_each_time(mut number: u32) -> u32 {
    // SAFETY: there are no instructions.
    unsafe { asm!("// {number}", number = inout(reg32) number, options(nomem, nostack)) }
    number
}

macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident = $source:literal;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub(crate) fn $name() -> u32 {
            let value: u32;
            // SAFETY: reads something that is constant for the thread.
            unsafe { asm!(concat!("mov.u32 {}, ", $source, ";"), out(reg32) value, options(pure, nomem, nostack)) }
            value
        }
    )*};
}
constants! {
    /// The address of the first byte of the block's dynamic shared memory.
    dynamic_shared = "slm_dynamic";
    /// Its size in bytes, as launched.
    dynamic_shared_bytes = "%dynamic_smem_size";
    /// The thread's place in its warp.
    lane = "%laneid";
}

/// The cycles of the multiprocessor's clock. Neither `pure` nor `nomem`: it is read where it stands among the accesses.
#[inline(always)]
pub(crate) fn clock() -> u64 {
    let cycles: u64;
    // SAFETY: reads a special register.
    unsafe { asm!("mov.u64 {}, %clock64;", out(reg64) cycles, options(nostack)) }
    cycles
}

/// The warp's multiplication of matrices. Nothing here keeps it from being copied ([`crate::warp::mma_m8n8k16_s8`] does).
#[cfg(target_feature = "sm_75")]
#[inline(always)]
pub(crate) fn mma_m8n8k16_s8(a: u32, b: u32, c: [i32; 2]) -> [i32; 2] {
    let [mut first, mut second] = c;
    // SAFETY: works on registers; a lane that is missing makes the values unspecified, not invalid.
    unsafe {
        asm!("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {{{c}, {d}}}, {{{a}}}, {{{b}}}, {{{c}, {d}}};",
             a = in(reg32) a, b = in(reg32) b, c = inout(reg32) first, d = inout(reg32) second,
             options(nomem, nostack, preserves_flags));
    }
    [first, second]
}

/// An 8-bit value in the narrowest register there is.
#[derive(Clone, Copy, Debug)]
pub struct Byte(pub u16);

/// What a register holds between a load and a store. `guard` is 1 for an access to be made and 0 for one to be
/// left out; a load left out gives zero.
pub trait Word: Copy {
    /// The size in memory.
    const BYTES: u64;
    fn load_shared(address: u32) -> Self;
    fn load2_shared(address: u32) -> [Self; 2];
    fn load2_parameter(address: u64) -> [Self; 2];
    fn store_shared(address: u32, value: Self);
    fn store2_shared(address: u32, value: [Self; 2]);
    /// The element `K * STRIDE` beyond the address, which costs no arithmetic: it becomes part of the instruction.
    fn load_constant<const K: u32, const STRIDE: u32>(address: u64, guard: u32) -> Self;
    fn load2_constant(address: u64, guard: u32) -> [Self; 2];
    fn load_global<const K: u32, const STRIDE: u32>(address: u64, guard: u32) -> Self;
    fn load2_global(address: u64, guard: u32) -> [Self; 2];
    fn store_global<const K: u32, const STRIDE: u32>(address: u64, value: Self, guard: u32);
    fn store2_global(address: u64, value: [Self; 2], guard: u32);
}

/// A word of which four fit into one access.
pub trait Word4: Word {
    fn load4_shared(address: u32) -> [Self; 4];
    fn load4_parameter(address: u64) -> [Self; 4];
    fn store4_shared(address: u32, value: [Self; 4]);
    fn load4_constant(address: u64, guard: u32) -> [Self; 4];
    fn load4_global(address: u64, guard: u32) -> [Self; 4];
    fn store4_global(address: u64, value: [Self; 4], guard: u32);
}

/// The operand list of an access: one register, or a vector of them.
macro_rules! places {
    (a) => {
        "{a}"
    };
    (value) => {
        "{value}"
    };
    (a b) => {
        "{{{a}, {b}}}"
    };
    (a b c d) => {
        "{{{a}, {b}, {c}, {d}}}"
    };
}

/// Declares the variables `$out` and loads them.
///
/// Shared memory needs no guard: it belongs to the block, and the hardware faults beyond it. Nor does the parameter
/// space, whose addresses are clamped to the table (`Constants::address_of`). Every bit pattern is a valid value,
/// whoever wrote it.
macro_rules! load {
    ($space:literal $width:literal, $class:ident $register:literal $bits:ty, [$($out:ident)+], $address:ident $address_class:ident, $options:ident($($option:ident),+)) => {
        $(let $out: $bits;)+
        // SAFETY: reads the block's own memory or the kernel's own parameters (see above).
        unsafe {
            asm!(concat!("ld.", $space, $width, " ", places!($($out)+), ", [{address}];"),
                 $($out = out($class) $out,)+ address = in($address_class) $address, $options($($option),+));
        }
    };
    ($space:literal $width:literal, $class:ident $register:literal $bits:ty, [$($out:ident)+], $address:ident reg64 + $beyond:expr, $guard:ident, $options:ident($($option:ident),+)) => {
        $(let $out: $bits;)+
        // SAFETY: the guard is 1 only for an address inside a window that the host made from a live buffer
        // (`Window::guard` in global.rs).
        unsafe {
            asm!("{{ .reg .pred p; setp.ne.u32 p, {guard}, 0;",
                 $(concat!("mov.", $register, " {", stringify!($out), "}, 0;"),)+
                 concat!("@p ld.", $space, $width, " ", places!($($out)+), ", [{address} + {offset}]; }}"),
                 $($out = out($class) $out,)+ guard = in(reg32) $guard, address = in(reg64) $address,
                 offset = const $beyond as u64 * Self::BYTES, $options($($option),+));
        }
    };
}

/// Stores `$value`, as [`load`] loads.
macro_rules! store {
    ($space:literal $width:literal, $class:ident, [$($value:ident)+], $unwrap:expr, $address:ident reg32) => {
        // SAFETY: writes the block's own memory.
        unsafe {
            asm!(concat!("st.", $space, $width, " [{address}], ", places!($($value)+), ";"),
                 $($value = in($class) $unwrap($value),)+ address = in(reg32) $address, options(nostack));
        }
    };
    ($space:literal $width:literal, $class:ident, [$($value:ident)+], $unwrap:expr, $address:ident reg64 + $beyond:expr, $guard:ident) => {
        // SAFETY: as for guarded loads.
        unsafe {
            asm!("{{ .reg .pred p; setp.ne.u32 p, {guard}, 0;",
                 concat!("@p st.", $space, $width, " [{address} + {offset}], ", places!($($value)+), "; }}"),
                 $($value = in($class) $unwrap($value),)+ guard = in(reg32) $guard, address = in(reg64) $address,
                 offset = const $beyond as u64 * Self::BYTES, options(nostack));
        }
    };
}
/// Implements [`Word`] for `$word`, held in a register of class `$class`, moved as `$width`; `$wrap` and `$bits` are
/// the way to and from the register.
macro_rules! word {
    ($word:ty, $size:literal, $bits:ty, $class:ident, $width:literal, $register:literal, $wrap:expr, $unwrap:expr) => {
        impl Word for $word {
            const BYTES: u64 = $size;
            #[inline(always)]
            fn load_shared(address: u32) -> Self {
                load!("shared." $width, $class $register $bits, [a], address reg32, options(nostack));
                $wrap(a)
            }
            #[inline(always)]
            fn load2_shared(address: u32) -> [Self; 2] {
                load!("shared.v2." $width, $class $register $bits, [a b], address reg32, options(nostack));
                [a, b].map($wrap)
            }
            #[inline(always)]
            fn load2_parameter(address: u64) -> [Self; 2] {
                load!("param.v2." $width, $class $register $bits, [a b], address reg64, options(pure, nomem, nostack));
                [a, b].map($wrap)
            }
            #[inline(always)]
            fn store_shared(address: u32, value: Self) {
                store!("shared." $width, $class, [value], $unwrap, address reg32);
            }
            #[inline(always)]
            fn store2_shared(address: u32, [a, b]: [Self; 2]) {
                store!("shared.v2." $width, $class, [a b], $unwrap, address reg32);
            }
            #[inline(always)]
            fn load_constant<const K: u32, const STRIDE: u32>(address: u64, guard: u32) -> Self {
                load!("global.nc." $width, $class $register $bits, [a], address reg64 + K * STRIDE, guard, options(pure, nomem, nostack));
                $wrap(a)
            }
            #[inline(always)]
            fn load2_constant(address: u64, guard: u32) -> [Self; 2] {
                load!("global.nc.v2." $width, $class $register $bits, [a b], address reg64 + 0, guard, options(pure, nomem, nostack));
                [a, b].map($wrap)
            }
            #[inline(always)]
            fn load_global<const K: u32, const STRIDE: u32>(address: u64, guard: u32) -> Self {
                load!("global." $width, $class $register $bits, [a], address reg64 + K * STRIDE, guard, options(nostack));
                $wrap(a)
            }
            #[inline(always)]
            fn load2_global(address: u64, guard: u32) -> [Self; 2] {
                load!("global.v2." $width, $class $register $bits, [a b], address reg64 + 0, guard, options(nostack));
                [a, b].map($wrap)
            }
            #[inline(always)]
            fn store_global<const K: u32, const STRIDE: u32>(address: u64, value: Self, guard: u32) {
                store!("global." $width, $class, [value], $unwrap, address reg64 + K * STRIDE, guard);
            }
            #[inline(always)]
            fn store2_global(address: u64, [a, b]: [Self; 2], guard: u32) {
                store!("global.v2." $width, $class, [a b], $unwrap, address reg64 + 0, guard);
            }
        }
    };
}

/// The same for [`Word4`].
macro_rules! word4 {
    ($word:ty, $size:literal, $bits:ty, $class:ident, $width:literal, $register:literal, $wrap:expr, $unwrap:expr) => {
        word!($word, $size, $bits, $class, $width, $register, $wrap, $unwrap);
        impl Word4 for $word {
            #[inline(always)]
            fn load4_shared(address: u32) -> [Self; 4] {
                load!("shared.v4." $width, $class $register $bits, [a b c d], address reg32, options(nostack));
                [a, b, c, d].map($wrap)
            }
            #[inline(always)]
            fn load4_parameter(address: u64) -> [Self; 4] {
                load!("param.v4." $width, $class $register $bits, [a b c d], address reg64, options(pure, nomem, nostack));
                [a, b, c, d].map($wrap)
            }
            #[inline(always)]
            fn store4_shared(address: u32, [a, b, c, d]: [Self; 4]) {
                store!("shared.v4." $width, $class, [a b c d], $unwrap, address reg32);
            }
            #[inline(always)]
            fn load4_constant(address: u64, guard: u32) -> [Self; 4] {
                load!("global.nc.v4." $width, $class $register $bits, [a b c d], address reg64 + 0, guard, options(pure, nomem, nostack));
                [a, b, c, d].map($wrap)
            }
            #[inline(always)]
            fn load4_global(address: u64, guard: u32) -> [Self; 4] {
                load!("global.v4." $width, $class $register $bits, [a b c d], address reg64 + 0, guard, options(nostack));
                [a, b, c, d].map($wrap)
            }
            #[inline(always)]
            fn store4_global(address: u64, [a, b, c, d]: [Self; 4], guard: u32) {
                store!("global.v4." $width, $class, [a b c d], $unwrap, address reg64 + 0, guard);
            }
        }
    };
}

word4!(Byte, 1, u16, reg16, "b8", "b16", Byte, |byte: Byte| byte.0);
word4!(u16, 2, u16, reg16, "b16", "b16", |bits| bits, |word| word);
word4!(u32, 4, u32, reg32, "b32", "b32", |bits| bits, |word| word);
word!(u64, 8, u64, reg64, "b64", "b64", |bits| bits, |word| word);
