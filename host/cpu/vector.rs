//! Vector instructions that not all processors have.

/// Evaluates an expression, compiled again for processors with AVX2 and with AVX-512 on x86-64, and uses what this one has.
///
/// Programs are compiled for all processors of an architecture: those of x86-64 have vectors of 16 bytes and no conversions of
/// bytes. All functions that are called must be inlined (`#[inline(always)]`), otherwise they are the ones for all processors.
/// Results are the same bits: the compiler does not fuse multiply-adds.
macro_rules! vectorised {
    ($work:expr) => {
        $crate::cpu::vector::dispatched(
            // Otherwise large work is compiled as a function of its own, for all processors.
            #[inline(always)]
            || $work,
        )
    };
}
pub(crate) use vectorised;

/// Calls the copy of `work` for this processor.
#[inline]
pub(crate) fn dispatched<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// Returns whether [`vectorised!`] work has more vector registers, or larger ones, than programs for all x86-64 processors.
pub(crate) fn are_wide() -> bool {
    !matches!(pulp::Arch::new(), pulp::Arch::Scalar)
}

/// Returns whether vectors of [`vectorised!`] work are of 64 bytes, of which there are 32 registers.
pub(crate) fn are_of_64_bytes() -> bool {
    #[cfg(target_arch = "x86_64")]
    return matches!(pulp::Arch::new(), pulp::Arch::V4(_));
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cfg(test)]
mod tests {
    use crate::cpu::multiply_add::MultiplyAdd;

    /// Sums whose products round differently if they are fused, and special numbers.
    #[inline(always)]
    fn sums(numbers: &[f32]) -> Vec<u32> {
        let sums = numbers.windows(3).map(|x| f32::multiply_add(x[0], x[1], x[2]).round_ties_even());
        sums.map(|sum| if sum.is_nan() { f32::NAN } else { sum }.to_bits() ^ u32::from(sum as u8)).collect()
    }

    #[test]
    fn results_are_the_same_bits() {
        let special = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40, f32::MAX, 0.5, 254.5];
        let numbers: Vec<f32> =
            (0..10_000).map(|i| if i % 11 < 9 { 1.0 / (i as f32 + 0.3) } else { special[i % 9] }).collect();
        assert_eq!(vectorised!(sums(&numbers)), sums(&numbers));
    }
}
