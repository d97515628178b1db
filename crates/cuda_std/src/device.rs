//! The device's instructions: `asm!` blocks for memory, special registers and matrices.
//!
//! Memory is accessed by width, not by type: a [`Value`](crate::Value) is its bits. Addresses in shared memory are 32-bit,
//! so that accesses become `LDS` and `STS`; pointers would make them generic. The `asm!` block of a global access contains
//! the predicate that guards it, so no optimisation can separate the two.

use core::arch::{asm, global_asm};
use core::array;

// The block's dynamic shared memory. Modules have no other shared memory.
global_asm!(".extern .shared .align 16 .b8 slm_dynamic[];");

/// Ends the kernel with an error.
pub(crate) fn trap() -> ! {
    // SAFETY: stops the grid; nothing runs afterwards.
    unsafe { asm!("trap;", options(noreturn, nostack)) }
}

/// Keeps rustc from duplicating the barrier or exchange that follows.
///
/// rustc's pass JumpThreading duplicates the code between two tests of the same condition, once for each path. (Without this
/// pass, arrays that are now in registers would be in memory.) A duplicated barrier is no longer one instruction that all
/// threads reach. The pass does not duplicate code across inline assembly, even if that is empty, and LLVM knows which
/// operations it must not duplicate.
#[inline(always)]
pub(crate) fn in_one_place() {
    // SAFETY: there are no instructions.
    unsafe { asm!("", options(nomem, nostack, preserves_flags)) }
}

/// Returns bit `4 a + 2 b + c` of `TABLE` for each bit position.
#[inline(always)]
pub(crate) fn lop3<const TABLE: u8>(a: u32, b: u32, c: u32) -> u32 {
    let bits: u32;
    // SAFETY: a logic operation without preconditions.
    unsafe {
        asm!(
            "lop3.b32 {bits}, {a}, {b}, {c}, {table};",
            bits = out(reg32) bits, a = in(reg32) a, b = in(reg32) b, c = in(reg32) c, table = const TABLE,
            options(pure, nomem, nostack)
        );
    }
    bits
}

/// Returns `word` with byte `K` of `from` in the place of its lowest one.
#[inline(always)]
pub(crate) fn low_byte<const K: u32>(from: u32, word: u32) -> u32 {
    let bits: u32;
    // SAFETY: a permutation of bytes without preconditions.
    unsafe {
        asm!(
            "prmt.b32 {bits}, {from}, {word}, {selector};",
            bits = out(reg32) bits, from = in(reg32) from, word = in(reg32) word, selector = const 0x7650 + K,
            options(pure, nomem, nostack)
        );
    }
    bits
}

/// Returns two floats as bytes, rounded and saturated, the first one in the lowest byte, and the low half of `word` above them.
///
/// In one block, because the assembler makes one instruction of the three if it finds them together.
#[cfg(target_feature = "sm_75")]
#[inline(always)]
pub(crate) fn round_to_bytes(a: f32, b: f32, word: u32) -> u32 {
    let bytes: u32;
    // SAFETY: conversions without preconditions.
    unsafe {
        asm!(
            "{{ .reg .s32 a, b; cvt.rni.s32.f32 a, {a}; cvt.rni.s32.f32 b, {b};",
            "cvt.pack.sat.u8.s32.b32 {bytes}, b, a, {word}; }}",
            bytes = out(reg32) bytes, a = in(reg32) a, b = in(reg32) b, word = in(reg32) word,
            options(pure, nomem, nostack)
        );
    }
    bytes
}

/// Returns the same number, but the compiler does not know that.
#[inline(always)]
pub(crate) fn opaque(mut number: u64) -> u64 {
    // SAFETY: there are no instructions.
    unsafe { asm!("// {number}", number = inout(reg64) number, options(pure, nomem, nostack)) }
    number
}

/// Returns the same number, but the compiler does not know that. Not `pure`: for the compiler, each call may return another
/// one.
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
            // SAFETY: reads a value that is constant for the thread.
            unsafe { asm!(concat!("mov.u32 {}, ", $source, ";"), out(reg32) value, options(pure, nomem, nostack)) }
            value
        }
    )*};
}
constants! {
    /// Returns the address of the block's dynamic shared memory.
    dynamic_shared = "slm_dynamic";
    /// Returns the size of the block's dynamic shared memory, in bytes.
    dynamic_shared_bytes = "%dynamic_smem_size";
    /// Returns the thread's lane in its warp.
    lane = "%laneid";
}

/// Returns the multiprocessor's clock in cycles. Neither `pure` nor `nomem`, so the reading keeps its place among the
/// accesses.
#[inline(always)]
pub(crate) fn clock() -> u64 {
    let cycles: u64;
    // SAFETY: reads a special register.
    unsafe { asm!("mov.u64 {}, %clock64;", out(reg64) cycles, options(nostack)) }
    cycles
}

/// Multiplies the warp's matrices. The caller, [`crate::warp::mma_m8n8k16_s8`], keeps the compiler from duplicating the
/// instruction.
#[cfg(target_feature = "sm_75")]
#[inline(always)]
pub(crate) fn mma_m8n8k16_s8(a: u32, b: u32, c: [i32; 2]) -> [i32; 2] {
    let [mut first, mut second] = c;
    // SAFETY: works on registers; a missing lane makes the values unspecified, not invalid.
    unsafe {
        asm!("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {{{c}, {d}}}, {{{a}}}, {{{b}}}, {{{c}, {d}}};",
             a = in(reg32) a, b = in(reg32) b, c = inout(reg32) first, d = inout(reg32) second,
             options(nomem, nostack, preserves_flags));
    }
    [first, second]
}

/// An 8-bit value in a 16-bit register, the narrowest kind.
#[derive(Clone, Copy, Debug)]
pub struct Byte(pub u16);

/// The contents of a register between a load and a store. An access is made if its `guard` is 1 and skipped if it is 0; a
/// skipped load returns zero.
pub trait Word: Copy {
    /// Size in memory, in bytes.
    const BYTES: u64;
    fn load_shared(address: u32) -> Self;
    fn store_shared(address: u32, value: Self);
    /// Loads the element `K * STRIDE` positions after the address. The offset is part of the instruction, so it costs no
    /// arithmetic.
    fn load_constant<const K: u32, const STRIDE: u32>(address: u64, guard: u32) -> Self;
    fn load_global<const K: u32, const STRIDE: u32>(address: u64, guard: u32) -> Self;
    fn store_global<const K: u32, const STRIDE: u32>(address: u64, value: Self, guard: u32);

    /// Joins a pack of shorter words to 32-bit words, with the first short word in the low end of the first 32-bit word.
    /// `split` is the inverse.
    fn join<const N: usize, const M: usize>(pack: [Self; N]) -> [u32; M];
    fn split<const M: usize, const N: usize>(words: [u32; M]) -> [Self; N];
}

/// Accesses to a *pack* of `N` consecutive words: 1, 2, 4, 8 or 16 words in at most 16 bytes (`check_pack` in value.rs).
pub trait Pack: Word {
    fn load_pack_shared<const N: usize>(address: u32) -> [Self; N];
    fn load_pack_parameter<const N: usize>(address: u64) -> [Self; N];
    fn store_pack_shared<const N: usize>(address: u32, pack: [Self; N]);
    fn load_pack_constant<const N: usize>(address: u64, guard: u32) -> [Self; N];
    fn load_pack_global<const N: usize>(address: u64, guard: u32) -> [Self; N];
    fn store_pack_global<const N: usize>(address: u64, pack: [Self; N], guard: u32);
}

/// Returns the same array. `M` and `N` are equal in all calls.
#[inline(always)]
fn same<T: Copy, const M: usize, const N: usize>(array: [T; M]) -> [T; N] {
    match array.first_chunk() {
        Some(array) => *array,
        None => trap(),
    }
}

/// The operand of an access: one register, or a vector of registers.
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
/// Shared memory needs no guard: it belongs to the block, and the hardware faults beyond it. Nor does the parameter space,
/// whose addresses are clamped to the table (`Constants::address_of`). Every bit pattern is a valid value.
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
        // SAFETY: the guard is 1 only for an address inside a window that the host made from a live buffer (`guard` and
        // `guard_pack` in global.rs).
        unsafe {
            asm!("{{ .reg .pred p; setp.ne.u32 p, {guard}, 0;",
                 $(concat!("mov.", $register, " {", stringify!($out), "}, 0;"),)+
                 concat!("@p ld.", $space, $vector, $width, " ", places!($($out)+), ", [{address} + {offset}]; }}"),
                 $($out = out($class) $out,)+ guard = in(reg32) $guard, address = in(reg64) $address,
                 offset = const $beyond as u64 * Self::BYTES, options($($option),+));
        }
    };
}

/// Stores `$value`: the counterpart of [`load`].
macro_rules! store {
    ($space:literal $vector:literal $width:literal, $class:ident, [$($value:ident)+], $unwrap:expr, [$address:ident reg32]) => {
        // SAFETY: writes the block's own memory.
        unsafe {
            asm!(concat!("st.", $space, $vector, $width, " [{address}], ", places!($($value)+), ";"),
                 $($value = in($class) $unwrap($value),)+ address = in(reg32) $address, options(nostack));
        }
    };
    ($space:literal $vector:literal $width:literal, $class:ident, [$($value:ident)+], $unwrap:expr, [$address:ident reg64 + $beyond:expr, $guard:ident]) => {
        // SAFETY: as for guarded loads: the guard is 1 only for an address inside a window.
        unsafe {
            asm!("{{ .reg .pred p; setp.ne.u32 p, {guard}, 0;",
                 concat!("@p st.", $space, $vector, $width, " [{address} + {offset}], ", places!($($value)+), "; }}"),
                 $($value = in($class) $unwrap($value),)+ guard = in(reg32) $guard, address = in(reg64) $address,
                 offset = const $beyond as u64 * Self::BYTES, options(nostack));
        }
    };
}

/// Defines a load or a store of a [`Pack`]. A pack of `$n` words is one vector. A pack of `$more` words, too many for a
/// vector, is moved as `$words` words of 32 bits.
///
/// Functions with fewer branches are less likely to exceed the compiler's limits for simplifying their callers.
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

/// Implements [`Word`] and [`Pack`] for `$word`, which is held in a register of class `$class` and moved as `$width`.
/// `$wrap` and `$unwrap` convert from and to the register, and `$packs` lists the vectors.
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

word!(Byte, 1, u16, reg16, "b8", "b16", Byte, |byte: Byte| byte.0, [1 "." [a] 2 ".v2." [a b]; 4 1 8 2 16 4]);
word!(u16, 2, u16, reg16, "b16", "b16", |bits| bits, |word| word, [1 "." [a] 2 ".v2." [a b] 4 ".v4." [a b c d]; 8 4]);
word!(u32, 4, u32, reg32, "b32", "b32", |bits| bits, |word| word, [1 "." [a] 2 ".v2." [a b] 4 ".v4." [a b c d];]);
word!(u64, 8, u64, reg64, "b64", "b64", |bits| bits, |word| word, [1 "." [a] 2 ".v2." [a b];]);
