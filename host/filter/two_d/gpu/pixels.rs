//! Windows on samples and outputs for kernels whose types are known at compile time, or at run time only.

use crate::Windows;
use crate::element::any::Erase;
use crate::filter2d::accumulator::Accumulator;
use crate::filter2d::element::{BufferMut, BufferRef, Scalar};
use crate::filter2d::rule::FilterRule;
use cuda_std::Argument;
use slm_kernels::filter2d::{Any, Inverse, Mean, PixelAccess, Typed};
use slm_kernels::signal::Types;

/// Samples and outputs of a kernel.
pub(super) trait Windowed<'l>: Argument {
    /// Returns the windows. The buffers have the types of the kernel.
    fn new<'b>(
        windows: &mut Windows<'l, 'b>,
        samples: BufferRef<'b>,
        outputs: BufferMut<'b>,
        rule: &FilterRule,
    ) -> Self;
}

impl<'l, F: Types<Sample: Erase, Output: Erase>> Windowed<'l> for Typed<'l, F> {
    fn new<'b>(
        windows: &mut Windows<'l, 'b>,
        samples: BufferRef<'b>,
        outputs: BufferMut<'b>,
        rule: &FilterRule,
    ) -> Self {
        let outside = F::Sample::typed_scalar(rule.outside);
        let (Some(samples), Some(outputs), Some(outside)) =
            (F::Sample::typed_buffer(samples), F::Output::typed_buffer_mut(outputs), outside)
        else {
            unreachable!("the rule has been checked for the types of the kernel")
        };
        Typed { input: windows.input_slice(samples), output: windows.output_slice(outputs), outside }
    }
}

impl<'l, A: Accumulator> Windowed<'l> for Any<'l, A> {
    fn new<'b>(
        windows: &mut Windows<'l, 'b>,
        samples: BufferRef<'b>,
        outputs: BufferMut<'b>,
        rule: &FilterRule,
    ) -> Self {
        Any { input: samples.window(windows), output: outputs.window(windows), outside: A::of_scalar(rule.outside) }
    }
}

impl<'l, M: PixelAccess<Sum: Accumulator + Erase> + Windowed<'l>> Windowed<'l> for Mean<M> {
    fn new<'b>(
        windows: &mut Windows<'l, 'b>,
        samples: BufferRef<'b>,
        outputs: BufferMut<'b>,
        rule: &FilterRule,
    ) -> Self {
        Mean { memory: M::new(windows, samples, outputs, rule), inverse: inverse(rule.divisor.unwrap_or(1.0)) }
    }
}

/// Returns the inverse of a number as the sum of two numbers of another type, rounded to that type, and the rest.
pub(super) fn inverse<A: Accumulator + Erase>(number: f64) -> Inverse<A> {
    let inverse = 1.0 / number;
    // The remainder of a division is exact.
    let rest = (-inverse).mul_add(number, 1.0) / number;
    let rounded = A::of_scalar(Scalar::F64(inverse));
    Inverse { inverse: rounded, rest: A::of_scalar(Scalar::F64(inverse - rounded.to_f64() + rest)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_have_twice_the_precision() {
        for number in [1.0, 3.0, 7.0, 255.0, 65_793.0, 2_253_001.0, (1u64 << 48) as f64 - 1.0] {
            let Inverse { inverse, rest } = inverse::<f64>(number);
            // (inverse + rest) · number - 1, whose first product is exact with its remainder.
            let product = inverse * number;
            let error = inverse.mul_add(number, -product) + rest * number + (product - 1.0);
            assert!(error.abs() < (-104f64).exp2(), "{number}: {error}");
            let Inverse { inverse, rest } = self::inverse::<f32>(number);
            let error = (f64::from(inverse) + f64::from(rest)) * number - 1.0;
            assert!(error.abs() < (-46f64).exp2(), "{number}: {error}");
        }
    }
}
