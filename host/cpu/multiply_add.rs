//! Multiply-adds on the CPU.

/// A number type with a multiply-add for the CPU.
pub(crate) trait MultiplyAdd {
    /// Returns `sum + x * w`: rounded after each step for floats, wrapping for integers. A fused multiply-add would be a
    /// function call on processors without that instruction.
    #[must_use]
    fn multiply_add(sum: Self, x: Self, w: Self) -> Self;
}

macro_rules! multiply_add {
    ($($t:ty: |$sum:ident, $x:ident, $w:ident| $result:expr;)*) => {$(
        impl MultiplyAdd for $t {
            #[inline(always)]
            fn multiply_add($sum: $t, $x: $t, $w: $t) -> $t {
                $result
            }
        }
    )*};
}
multiply_add! {
    f32: |sum, x, w| sum + x * w;
    f64: |sum, x, w| sum + x * w;
    i32: |sum, x, w| sum.wrapping_add(x.wrapping_mul(w));
    i64: |sum, x, w| sum.wrapping_add(x.wrapping_mul(w));
}
