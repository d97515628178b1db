//! Discrete Fourier transforms of a few numbers in registers: `X[q] = Σ_k x[k] · e^(∓2πi · k q / R)`, where the upper sign is that of the
//! forward transform. Numbers come in the order of `k` and leave in the order of `q`.

use super::complex::{Complex, Real};

/// cos(2π k / 32), for `k` up to a quarter of a turn.
const COSINES: [f64; 9] = [
    1.0,
    0.980_785_280_403_230_4,
    0.923_879_532_511_286_7,
    0.831_469_612_302_545_2,
    core::f64::consts::FRAC_1_SQRT_2,
    0.555_570_233_019_602_2,
    0.382_683_432_365_089_8,
    0.195_090_322_016_128_27,
    0.0,
];

/// Returns the transform of `R` numbers: 4, 8, 16 or 32.
#[inline(always)]
pub(super) fn dft<T: Real, const R: usize, const INVERSE: bool>(mut x: [Complex<T>; R]) -> [Complex<T>; R] {
    match R {
        4 => fours::<T, R, INVERSE>(&mut x, 0, 1),
        8 => {
            halves::<T, R, INVERSE>(&mut x);
            fours::<T, R, INVERSE>(&mut x, 0, 1);
            fours::<T, R, INVERSE>(&mut x, 4, 1);
        }
        16 => sixteen::<T, R, INVERSE>(&mut x, 0),
        _ => {
            halves::<T, R, INVERSE>(&mut x);
            sixteen::<T, R, INVERSE>(&mut x, 0);
            sixteen::<T, R, INVERSE>(&mut x, 16);
        }
    }
    match R {
        8 | 32 => core::array::from_fn(|q| x[q % 2 * (R / 2) + q / 2]),
        _ => x,
    }
}

/// Replaces both halves by those whose transforms are the even and the odd elements of the whole one.
#[inline(always)]
fn halves<T: Real, const R: usize, const INVERSE: bool>(x: &mut [Complex<T>; R]) {
    for k in 0..R / 2 {
        let (a, b) = (x[k], x[k + R / 2]);
        (x[k], x[k + R / 2]) = (a + b, root::<T, INVERSE>(a - b, k * (32 / R)));
    }
}

/// Transforms the 16 numbers from `first` on.
#[inline(always)]
fn sixteen<T: Real, const R: usize, const INVERSE: bool>(x: &mut [Complex<T>; R], first: usize) {
    for i in 0..4 {
        fours::<T, R, INVERSE>(x, first + i, 4);
        for k in 1..4 {
            x[first + i + 4 * k] = root::<T, INVERSE>(x[first + i + 4 * k], 2 * i * k);
        }
    }
    for k in 0..4 {
        fours::<T, R, INVERSE>(x, first + 4 * k, 1);
    }
    let y: [Complex<T>; 16] = core::array::from_fn(|q| x[first + q % 4 * 4 + q / 4]);
    for (q, y) in y.into_iter().enumerate() {
        x[first + q] = y;
    }
}

/// Transforms the four numbers from `first` on with this stride.
#[inline(always)]
fn fours<T: Real, const R: usize, const INVERSE: bool>(x: &mut [Complex<T>; R], first: usize, stride: usize) {
    let [a, b, c, d] = core::array::from_fn(|k| x[first + k * stride]);
    let (sum, difference) = (a + c, a - c);
    let (others, turned) = (b + d, (b - d).quarter_turn::<INVERSE>());
    x[first] = sum + others;
    x[first + stride] = difference + turned;
    x[first + 2 * stride] = sum - others;
    x[first + 3 * stride] = difference - turned;
}

/// Returns `x` times the root of unity `e^(∓2πi · k / 32)`, with `k` below 32.
#[inline(always)]
fn root<T: Real, const INVERSE: bool>(x: Complex<T>, k: usize) -> Complex<T> {
    let x = match k / 8 {
        0 => x,
        1 => x.quarter_turn::<INVERSE>(),
        2 => Complex { re: -x.re, im: -x.im },
        _ => x.quarter_turn::<INVERSE>().quarter_turn::<INVERSE>().quarter_turn::<INVERSE>(),
    };
    match k % 8 {
        0 => x,
        k => x.turn::<INVERSE>(COSINES[k], COSINES[8 - k]),
    }
}

/// Multiplies number `q` by `w^q`.
#[inline(always)]
pub(super) fn powers<T: Real, const R: usize>(mut x: [Complex<T>; R], w: Complex<T>) -> [Complex<T>; R] {
    let second = w * w;
    let low = [Complex::default(), w, second, second * w];
    let fourth = second * second;
    let mut high = fourth;
    for q in 1..4 {
        x[q] = x[q] * low[q];
    }
    for first in (4..R).step_by(4) {
        x[first] = x[first] * high;
        for q in 1..4 {
            x[first + q] = x[first + q] * (high * low[q]);
        }
        high = high * fourth;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ops::Add;

    /// A product of spectra is the spectrum of the cyclic convolution. Together with the spectrum of a delay by one, this defines a transform
    /// in its order and its direction.
    fn check<const R: usize>() {
        let number = |re: usize, im: usize| Complex { re: re as f64, im: im as f64 };
        let x: [Complex<f64>; R] = core::array::from_fn(|k| number(k * k % 7, k * 5 % 11));
        let y: [Complex<f64>; R] = core::array::from_fn(|k| number(k * 3 % 5, k * k % 3));
        let (of_x, of_y) = (dft::<f64, R, false>(x), dft::<f64, R, false>(y));
        let convolved = dft::<f64, R, true>(core::array::from_fn(|q| of_x[q] * of_y[q]));
        for (o, actual) in convolved.into_iter().enumerate() {
            let products = (0..R).map(|k| x[k] * y[(R + o - k) % R]);
            let difference = actual - products.fold(Complex::default(), Add::add) * number(R, 0);
            assert!(difference.re.abs() + difference.im.abs() < 1e-8, "{R}: {o}: {actual:?}");
        }
        let delay = dft::<f64, R, false>(core::array::from_fn(|k| number(usize::from(k == 1), 0)));
        let quarter = delay[R / 4];
        assert!(quarter.re.abs() < 1e-15 && (quarter.im + 1.0).abs() < 1e-15, "{R}: {quarter:?}");
        let smallest = delay[1];
        assert!(smallest.im < 0.0 && delay.iter().all(|root| root.re <= smallest.re || root.im == 0.0), "{R}");
    }

    #[test]
    fn transforms_are_those_of_the_definition() {
        check::<4>();
        check::<8>();
        check::<16>();
        check::<32>();
    }

    #[test]
    fn powers_are_products() {
        let w = Complex { re: 0.6, im: 0.8 };
        let mut expected = Complex { re: 1.0, im: 0.0 };
        for power in powers::<f64, 32>([expected; 32], w) {
            assert!((power.re - expected.re).abs() + (power.im - expected.im).abs() < 1e-14);
            expected = expected * w;
        }
    }
}
