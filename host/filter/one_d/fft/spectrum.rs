//! Spectra of taps, and roots of unity.

use crate::Result;
use crate::cpu::allocation;
use realfft::num_complex::Complex;
use realfft::{RealFftPlanner, RealToComplex};
use slm_kernels::filter1d::fft::TWIDDLES;
use std::f64::consts::TAU;
use std::sync::Arc;

/// Numbers per point in the plans of a transform and its inverse, at most.
const PLANNED: usize = 8;

/// Returns an error if there is too little memory for plans. `realfft` allocates it itself, and would end the program.
pub(super) fn check_memory<T>(points: usize) -> Result<()> {
    allocation::reserved::<T>(PLANNED * points).map(drop)
}

/// Returns the transform of this number of real points.
pub(super) fn transform_of(points: usize) -> Result<Arc<dyn RealToComplex<f64>>> {
    check_memory::<f64>(points)?;
    Ok(RealFftPlanner::new().plan_fft_forward(points))
}

/// Returns the complex conjugate spectrum of some taps, divided by the number of points: half of it, from frequency 0 to `points / 2`. There
/// are at most as many taps as points.
pub(super) fn conjugate_spectrum(
    transform: &dyn RealToComplex<f64>,
    taps: impl Iterator<Item = f64>,
) -> Result<Vec<Complex<f64>>> {
    let points = transform.len();
    let mut padded = allocation::filled(0.0, points)?;
    for (place, tap) in padded.iter_mut().zip(taps) {
        *place = tap;
    }
    let mut spectrum = allocation::filled_here(Complex::default(), points / 2 + 1)?;
    let mut scratch = allocation::filled_here(Complex::default(), transform.get_scratch_len())?;
    let lengths = "the lengths are those of the plan";
    transform.process_with_scratch(&mut padded, &mut spectrum, &mut scratch).expect(lengths);
    let scale = 1.0 / points as f64;
    spectrum.iter_mut().for_each(|number| *number = number.conj() * scale);
    Ok(spectrum)
}

/// Returns the number at a frequency below `points`, for half of the spectrum of real numbers.
pub(super) fn at(half: &[Complex<f64>], points: usize, frequency: usize) -> Complex<f64> {
    match half.get(frequency) {
        Some(number) => *number,
        None => half[points - frequency].conj(),
    }
}

/// Returns the kernels' table of factors for this number of points: `e^(-2πi j / points)` for `j` below 256, and `e^(-2πi j / 256)` for the
/// others.
pub(super) fn twiddles(points: usize) -> impl Iterator<Item = Complex<f64>> {
    (0..TWIDDLES).map(move |j| {
        let turns = if j < 256 { j as f64 / points as f64 } else { (j - 256) as f64 / 256.0 };
        Complex::from_polar(1.0, -TAU * turns)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spectra_are_sums() {
        let taps = [3.0, -1.0, 4.0];
        let half = conjugate_spectrum(&*transform_of(8).unwrap(), taps.into_iter()).unwrap();
        for frequency in 0..8 {
            let angle = TAU * frequency as f64 / 8.0;
            let expected: Complex<f64> =
                (0..).zip(taps).map(|(j, tap)| Complex::from_polar(tap / 8.0, angle * f64::from(j))).sum();
            assert!((at(&half, 8, frequency) - expected).norm() < 1e-15);
        }
    }
}
