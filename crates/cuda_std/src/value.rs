//! The types of elements in memory.

use crate::half::{Bf16, F16};

/// A type of numbers in which every bit pattern is valid, so any memory can be read as it.
///
/// Implemented for the integers of 8 to 64 bits, `f32`, `f64`, [`F16`](crate::F16) and [`Bf16`](crate::Bf16). Other crates
/// cannot implement it.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `Named` in their generic code")]
pub trait Value: Copy + Default + PartialEq + core::fmt::Debug + Send + Sync + 'static + sealed::Named {}

/// Checks at compile time that `N` elements are a *pack*, which one access moves: 1, 2, 4, 8 or 16 elements in at most 16
/// bytes.
///
/// ```
/// # use cuda_std::GlobalIn;
/// let sixteen: fn(GlobalIn<u8>) -> [u8; 16] = |window| window.get_pack(0);
/// ```
///
/// ```compile_fail,E0080
/// # use cuda_std::GlobalIn;
/// let too_many: fn(GlobalIn<f64>) -> [f64; 4] = |window| window.get_pack(0);
/// ```
///
/// ```compile_fail,E0080
/// # use cuda_std::Shared;
/// let three: fn(Shared<u32>) = |window| window.set_pack(0, [0; 3]);
/// ```
///
/// ```compile_fail,E0080
/// # use cuda_std::Constants;
/// let none: fn(Constants<f32, 12>) -> [f32; 0] = |table| table.pack(0);
/// ```
#[inline(always)]
pub(crate) const fn check_pack<T, const N: usize>() {
    const {
        assert!(
            N.is_power_of_two() && N * size_of::<T>() <= 16,
            "a pack has 1, 2, 4, 8 or 16 elements in at most 16 bytes"
        )
    };
}

pub(crate) mod sealed {
    use crate::machine::value::Bits;

    pub(crate) trait Named: Bits {
        /// The type's name.
        const VALUE_NAME: &'static str;
    }
}

macro_rules! values {
    ($($t:ident)*) => {$(
        impl sealed::Named for $t {
            const VALUE_NAME: &'static str = stringify!($t);
        }
        impl Value for $t {}
    )*};
}
values!(u8 i8 u16 i16 u32 i32 f32 u64 i64 f64 F16 Bf16);
