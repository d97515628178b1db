//! Spectra of taps, and roots of unity.

use crate::Result;
use crate::cpu::allocation;
use realfft::RealFftPlanner;
use realfft::num_complex::Complex;
use slm_kernels::filter1d::fft::TWIDDLES;
use std::f64::consts::TAU;

/// Returns the complex conjugate spectrum of some taps, divided by the number of points: half of it, from frequency 0 to `points / 2`. There
/// are at most `points` taps, an even number.
pub(super) fn conjugate_spectrum(taps: impl Iterator<Item = f64>, points: usize) -> Result<Vec<Complex<f64>>> {
    let mut padded = allocation::filled(0.0, points)?;
    for (place, tap) in padded.iter_mut().zip(taps) {
        *place = tap;
    }
    let transform = RealFftPlanner::new().plan_fft_forward(points);
    let mut spectrum = transform.make_output_vec();
    transform.process(&mut padded, &mut spectrum).expect("the lengths are those of the plan");
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
        let half = conjugate_spectrum(taps.into_iter(), 8).unwrap();
        for frequency in 0..8 {
            let angle = TAU * frequency as f64 / 8.0;
            let expected: Complex<f64> =
                (0..).zip(taps).map(|(j, tap)| Complex::from_polar(tap / 8.0, angle * f64::from(j))).sum();
            assert!((at(&half, 8, frequency) - expected).norm() < 1e-15);
        }
    }
}
