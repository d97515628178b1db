//! Loads and stores.
//!
//! Memory is accessed by width, not by type: a [`Value`](crate::Value) is its bits. Addresses in shared memory are 32-bit,
//! so that accesses become `LDS` and `STS`; pointers would make them generic. The `asm!` block of a global access contains
//! the predicate that guards it, so no optimisation can separate the two.

use super::trap;
use core::arch::asm;
use core::array;

/// An 8-bit value in a 16-bit register, the narrowest kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Byte(pub(crate) u16);

/// The contents of a register between a load and a store. An access is made if its `guard` is 1 and skipped if it is 0; a
/// skipped load returns zero.
pub(crate) trait Word: Copy {
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
pub(crate) trait Pack: Word {
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
/// whose addresses are clamped to the table (`address_of` in constants.rs). Every bit pattern is a valid value.
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
