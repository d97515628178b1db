//! Sums as outputs, on the CPU.

use slm_kernels::signal::Output;

/// An output type, with a conversion that the compiler vectorises.
pub(crate) trait Stored<A>: Output<A> {
    /// Returns the same as [`of_sum`](Output::of_sum).
    fn stored(sum: A) -> Self;
}

/// Conversions whose vectorised code is as fast as it can be.
macro_rules! as_defined {
    ($($output:ident: $($sum:ident)*;)*) => {$($(
        impl Stored<$sum> for $output {
            #[inline(always)]
            fn stored(sum: $sum) -> Self {
                Output::of_sum(sum)
            }
        }
    )*)*};
}
as_defined! {
    f32: f32 f64 i32 i64;
    f64: f32 f64 i32 i64;
    u8: f32 i32 i64;
    u16: f32 i32 i64;
    i16: i32 i64;
    i32: f32 i32 i64;
}

/// Conversions of floats that round by an addition: next to the added number, the distance of floats is 1, and their lowest bits
/// are the integer. The saturating conversion of `as` is not vectorised.
macro_rules! rounded {
    ($($sum:ident ($rounder:expr): $($output:ident)*;)*) => {$($(
        impl Stored<$sum> for $output {
            #[inline(always)]
            fn stored(sum: $sum) -> Self {
                let number = if sum.is_nan() { 0.0 } else { sum };
                let saturated = number.max($output::MIN as $sum).min($output::MAX as $sum);
                (saturated + $rounder).to_bits() as $output
            }
        }
    )*)*};
}
rounded! {
    f32 (1.5 * (1u32 << 23) as f32): i16;
    f64 (1.5 * (1u64 << 52) as f64): u8 u16 i16 i32;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    fn check<A: Copy + Debug, O: Stored<A> + PartialEq + Debug>(sum: A, expected: O) {
        assert_eq!([O::stored(sum), O::of_sum(sum)], [expected; 2], "{sum:?}");
    }

    fn check_all(sum: f64) {
        let (single, rounded) = (sum as f32, sum.round_ties_even());
        let rounded_single = single.round_ties_even();
        check(single, rounded_single as u8);
        check(single, rounded_single as u16);
        check(single, rounded_single as i16);
        check(sum, rounded as u8);
        check(sum, rounded as u16);
        check(sum, rounded as i16);
        check(sum, rounded as i32);
    }

    #[test]
    fn sums_are_stored_as_defined() {
        // Ties and their neighbours, in the range of all but `i32`.
        for half in -70_000 * 2..=70_000 * 2 {
            let sum = f64::from(half) / 2.0;
            for sum in [sum, f64::from((sum as f32).next_up()), f64::from((sum as f32).next_down()), sum.next_up()] {
                check_all(sum);
            }
        }
        for sum in [
            2147483646.5,
            2147483647.5,
            -2147483648.5,
            -2147483649.0,
            f64::INFINITY,
            -f64::INFINITY,
            f64::NAN,
            -f64::NAN,
        ] {
            check_all(sum);
        }
        // Floats of all magnitudes.
        (0..=u32::MAX).step_by(65_521).for_each(|bits| check_all(f32::from_bits(bits).into()));
    }
}
