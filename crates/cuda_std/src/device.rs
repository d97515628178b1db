//! The instructions: the `asm!` blocks for memory, special registers and matrices.
//!
//! Memory is accessed by width, not by type: a [`Value`](crate::Value) is its bits. Addresses in shared memory are
//! 32-bit, so that the accesses become `LDS` and `STS`; a pointer would make them generic. Global accesses carry
//! the predicate that guards them inside the block, so no optimisation can separate the two.

use core::arch::{asm, global_asm};
use core::array;

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

/// Returns the same number, but the compiler does not know that.
#[inline(always)]
pub(crate) fn opaque(mut number: u64) -> u64 {
    // SAFETY: there are no instructions.
    unsafe { asm!("// {number}", number = inout(reg64) number, options(pure, nomem, nostack)) }
    number
}

/// Returns the same number, but the compiler does not know that. Not `pure`: it may be another one each time.
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
    fn store_shared(address: u32, value: Self);
    /// The element `K * STRIDE` beyond the address, which costs no arithmetic: it becomes part of the instruction.
    fn load_constant<const K: u32, const STRIDE: u32>(address: u64, guard: u32) -> Self;
    fn load_global<const K: u32, const STRIDE: u32>(address: u64, guard: u32) -> Self;
    fn store_global<const K: u32, const STRIDE: u32>(address: u64, value: Self, guard: u32);

    /// The words of 32 bits that a pack of shorter words is, and the other way round: its first word is in the low end of
    /// the first one.
    fn join<const N: usize, const M: usize>(pack: [Self; N]) -> [u32; M];
    fn split<const M: usize, const N: usize>(words: [u32; M]) -> [Self; N];
}

/// Accesses to a *pack* of `N` words that follow each other: a power of two of them, 16 bytes at the most (`check_pack` in
/// value.rs).
pub trait Pack: Word {
    fn load_pack_shared<const N: usize>(address: u32) -> [Self; N];
    fn load_pack_parameter<const N: usize>(address: u64) -> [Self; N];
    fn store_pack_shared<const N: usize>(address: u32, pack: [Self; N]);
    fn load_pack_constant<const N: usize>(address: u64, guard: u32) -> [Self; N];
    fn load_pack_global<const N: usize>(address: u64, guard: u32) -> [Self; N];
    fn store_pack_global<const N: usize>(address: u64, pack: [Self; N], guard: u32);
}

/// The same array: `M` and `N` are equal wherever this is called.
#[inline(always)]
fn same<T: Copy, const M: usize, const N: usize>(array: [T; M]) -> [T; N] {
    match array.first_chunk() {
        Some(array) => *array,
        None => trap(),
    }
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
    ($space:literal $vector:literal $width:literal, $class:ident $register:literal $bits:ty, [$($out:ident)+], [$address:ident $address_class:ident], [$($option:ident),+]) => {
        $(let $out: $bits;)+
        // SAFETY: reads the block's own memory or the kernel's own parameters (see above).
        unsafe {
            asm!(concat!("ld.", $space, $vector, $width, " ", places!($($out)+), ", [{address}];"),
                 $($out = out($class) $out,)+ address = in($address_class) $address, options($($option),+));
        }
    };
    ($space:literal $vector:literal $width:literal, $class:ident $register:literal $bits:ty, [$($out:ident)+], [$address:ident reg64 + $beyond:expr, $guard:ident], [$($option:ident),+]) => {
        $(let $out: $bits;)+
        // SAFETY: the guard is 1 only for an address inside a window that the host made from a live buffer
        // (`Window::guard` in global.rs).
        unsafe {
            asm!("{{ .reg .pred p; setp.ne.u32 p, {guard}, 0;",
                 $(concat!("mov.", $register, " {", stringify!($out), "}, 0;"),)+
                 concat!("@p ld.", $space, $vector, $width, " ", places!($($out)+), ", [{address} + {offset}]; }}"),
                 $($out = out($class) $out,)+ guard = in(reg32) $guard, address = in(reg64) $address,
                 offset = const $beyond as u64 * Self::BYTES, options($($option),+));
        }
    };
}

/// Stores `$value`, as [`load`] loads.
macro_rules! store {
    ($space:literal $vector:literal $width:literal, $class:ident, [$($value:ident)+], $unwrap:expr, [$address:ident reg32]) => {
        // SAFETY: writes the block's own memory.
        unsafe {
            asm!(concat!("st.", $space, $vector, $width, " [{address}], ", places!($($value)+), ";"),
                 $($value = in($class) $unwrap($value),)+ address = in(reg32) $address, options(nostack));
        }
    };
    ($space:literal $vector:literal $width:literal, $class:ident, [$($value:ident)+], $unwrap:expr, [$address:ident reg64 + $beyond:expr, $guard:ident]) => {
        // SAFETY: as for guarded loads.
        unsafe {
            asm!("{{ .reg .pred p; setp.ne.u32 p, {guard}, 0;",
                 concat!("@p st.", $space, $vector, $width, " [{address} + {offset}], ", places!($($value)+), "; }}"),
                 $($value = in($class) $unwrap($value),)+ guard = in(reg32) $guard, address = in(reg64) $address,
                 offset = const $beyond as u64 * Self::BYTES, options(nostack));
        }
    };
}

/// Defines a load or a store of a [`Pack`]: of `$n` words as one vector, and of the `$more` that a vector does not hold as
/// `$words` words of 32 bits.
///
/// The fewer branches a function has, the less the compiler's limits keep it from simplifying what calls it.
macro_rules! moves {
    (load $load:ident($($argument:ident: $argument_type:ty),+) $arguments:tt $place:tt, $space:literal $width:literal, $class:ident
     $register:literal $bits:ty, [$($n:literal $vector:literal [$($out:ident)+])+; $($more:literal $words:literal)*], $wrap:expr, $options:tt) => {
        #[inline(always)]
        fn $load<const N: usize>($($argument: $argument_type),+) -> [Self; N] {
            match N {
                $($n => {
                    load!($space $vector $width, $class $register $bits, [$($out)+], $place, $options);
                    same([$($out),+].map($wrap))
                })+
                $($more => Self::split(<u32 as Pack>::$load::<$words> $arguments),)*
                _ => trap(),
            }
        }
    };
    (store $store:ident($($argument:ident: $argument_type:ty),+) $arguments:tt $place:tt of $pack:ident, $space:literal $width:literal,
     $class:ident, [$($n:literal $vector:literal [$($value:ident)+])+; $($more:literal $words:literal)*], $unwrap:expr) => {
        #[inline(always)]
        fn $store<const N: usize>($($argument: $argument_type),+) {
            match N {
                $($n => {
                    let [$($value),+] = same($pack);
                    store!($space $vector $width, $class, [$($value)+], $unwrap, $place);
                })+
                $($more => {
                    let $pack = Self::join($pack);
                    <u32 as Pack>::$store::<$words> $arguments
                })*
                _ => trap(),
            }
        }
    };
}

/// Implements [`Word`] and [`Pack`] for `$word`, held in a register of class `$class`, moved as `$width`; `$wrap` and `$unwrap` are
/// the way to and from the register, `$packs` what vectors there are.
macro_rules! word {
    ($word:ty, $size:literal, $bits:ty, $class:ident, $width:literal, $register:literal, $wrap:expr, $unwrap:expr, $packs:tt) => {
        impl Word for $word {
            const BYTES: u64 = $size;
            #[inline(always)]
            fn load_shared(address: u32) -> Self {
                load!("shared" "." $width, $class $register $bits, [a], [address reg32], [nostack]);
                $wrap(a)
            }
            #[inline(always)]
            fn store_shared(address: u32, value: Self) {
                store!("shared" "." $width, $class, [value], $unwrap, [address reg32]);
            }
            #[inline(always)]
            fn load_constant<const K: u32, const STRIDE: u32>(address: u64, guard: u32) -> Self {
                load!("global.nc" "." $width, $class $register $bits, [a], [address reg64 + K * STRIDE, guard], [pure, nomem, nostack]);
                $wrap(a)
            }
            #[inline(always)]
            fn load_global<const K: u32, const STRIDE: u32>(address: u64, guard: u32) -> Self {
                load!("global" "." $width, $class $register $bits, [a], [address reg64 + K * STRIDE, guard], [nostack]);
                $wrap(a)
            }
            #[inline(always)]
            fn store_global<const K: u32, const STRIDE: u32>(address: u64, value: Self, guard: u32) {
                store!("global" "." $width, $class, [value], $unwrap, [address reg64 + K * STRIDE, guard]);
            }

            #[inline(always)]
            fn split<const M: usize, const N: usize>(words: [u32; M]) -> [Self; N] {
                array::from_fn(|k| $wrap((words[k * $size / 4] >> (k * $size % 4 * 8)) as $bits))
            }
            #[inline(always)]
            fn join<const N: usize, const M: usize>(pack: [Self; N]) -> [u32; M] {
                let mut words = [0; M];
                for k in 0..N {
                    words[k * $size / 4] |= ($unwrap(pack[k]) as u32) << (k * $size % 4 * 8);
                }
                words
            }
        }

        impl Pack for $word {
            moves!(load load_pack_shared(address: u32) (address) [address reg32], "shared" $width, $class $register $bits,
                $packs, $wrap, [nostack]);
            moves!(load load_pack_parameter(address: u64) (address) [address reg64], "param" $width, $class $register $bits,
                $packs, $wrap, [pure, nomem, nostack]);
            moves!(load load_pack_constant(address: u64, guard: u32) (address, guard) [address reg64 + 0, guard],
                "global.nc" $width, $class $register $bits, $packs, $wrap, [pure, nomem, nostack]);
            moves!(load load_pack_global(address: u64, guard: u32) (address, guard) [address reg64 + 0, guard],
                "global" $width, $class $register $bits, $packs, $wrap, [nostack]);
            moves!(store store_pack_shared(address: u32, pack: [Self; N]) (address, pack) [address reg32] of pack,
                "shared" $width, $class, $packs, $unwrap);
            moves!(store store_pack_global(address: u64, pack: [Self; N], guard: u32) (address, pack, guard)
                [address reg64 + 0, guard] of pack, "global" $width, $class, $packs, $unwrap);
        }
    };
}

word!(Byte, 1, u16, reg16, "b8", "b16", Byte, |byte: Byte| byte.0, [1 "." [a] 2 ".v2." [a b] 4 ".v4." [a b c d]; 8 2 16 4]);
word!(u16, 2, u16, reg16, "b16", "b16", |bits| bits, |word| word, [1 "." [a] 2 ".v2." [a b] 4 ".v4." [a b c d]; 8 4]);
word!(u32, 4, u32, reg32, "b32", "b32", |bits| bits, |word| word, [1 "." [a] 2 ".v2." [a b] 4 ".v4." [a b c d];]);
word!(u64, 8, u64, reg64, "b64", "b64", |bits| bits, |word| word, [1 "." [a] 2 ".v2." [a b];]);
