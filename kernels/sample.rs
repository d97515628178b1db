//! The element types of filters.

use cuda_std::math::fma;
use cuda_std::{Constants, GlobalIn, GlobalInOut, Shared, Value};

/// A number that can be filtered: `f32`, `f64` or `i32`.
pub trait Sample: Value {
    /// Zero.
    const ZERO: Self;

    /// `sum + x * w`: rounded once for floats, wrapping for integers.
    #[must_use]
    fn add_product(sum: Self, x: Self, w: Self) -> Self;
}

macro_rules! float_samples {
    ($($t:ty),*) => {$(
        impl Sample for $t {
            const ZERO: Self = 0.0;

            #[inline(always)]
            fn add_product(sum: Self, x: Self, w: Self) -> Self {
                fma(x, w, sum)
            }
        }
    )*};
}
float_samples!(f32, f64);

impl Sample for i32 {
    const ZERO: Self = 0;

    #[inline(always)]
    fn add_product(sum: Self, x: Self, w: Self) -> Self {
        sum.wrapping_add(x.wrapping_mul(w))
    }
}

/// A sample of which `V` make 16 bytes, the widest access to memory.
pub trait Packed<const V: usize>: Sample {
    /// Elements `i` to `i + V - 1`; `i` is a multiple of `V`.
    fn get_pack(window: &Shared<Self>, i: u32) -> [Self; V];
    /// Makes elements `i` to `i + V - 1` the given values; `i` is a multiple of `V`.
    fn set_pack(window: &Shared<Self>, i: u32, values: [Self; V]);
    /// Elements `i` to `i + V - 1` if all are in range, otherwise zeros; their address is a multiple of 16 bytes.
    fn load_pack(window: &GlobalIn<Self, u32>, i: u32) -> [Self; V];
    /// Makes elements `i` to `i + V - 1` the given values; their address is a multiple of 16 bytes.
    fn store_pack(window: &GlobalInOut<Self, u32>, i: u32, values: [Self; V]);
    /// Elements `k · V` to `k · V + V - 1` of a table.
    fn constant_pack<const N: usize>(table: &Constants<Self, N>, k: u32) -> [Self; V];
}

macro_rules! packed {
    ($($t:ty, $v:literal, $get:ident, $get_masked:ident, $set:ident, $group:ident;)*) => {$(
        impl Packed<$v> for $t {
            #[inline(always)]
            #[track_caller]
            fn get_pack(window: &Shared<Self>, i: u32) -> [Self; $v] {
                window.$get(i)
            }
            #[inline(always)]
            #[track_caller]
            fn set_pack(window: &Shared<Self>, i: u32, values: [Self; $v]) {
                window.$set(i, values);
            }
            #[inline(always)]
            #[track_caller]
            fn load_pack(window: &GlobalIn<Self, u32>, i: u32) -> [Self; $v] {
                window.$get_masked(i)
            }
            #[inline(always)]
            #[track_caller]
            fn store_pack(window: &GlobalInOut<Self, u32>, i: u32, values: [Self; $v]) {
                window.$set(i, values);
            }
            #[inline(always)]
            #[track_caller]
            fn constant_pack<const N: usize>(table: &Constants<Self, N>, k: u32) -> [Self; $v] {
                table.$group(k)
            }
        }
    )*};
}
packed! {
    f32, 4, get4, get4_masked, set4, quad;
    i32, 4, get4, get4_masked, set4, quad;
    f64, 2, get2, get2_masked, set2, pair;
}
