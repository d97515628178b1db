//! Taps that a filter returns, given and generated.

use approx::assert_abs_diff_eq;
use slm::filter1d::Filter1dError;
use slm::{Boundary, Device, Error, Filter1d, Gaussian};

#[test]
fn given_taps() {
    assert_eq!(Filter1d::correlate(&[1, 2, 3]).taps(), Ok(&[1, 2, 3][..]));
    assert_eq!(Filter1d::convolve(&[1.5f32, 2.0]).taps(), Ok(&[2.0, 1.5][..]));
    // Nothing else changes them.
    let other = Filter1d::convolve(&[1, 2, 3]).samples::<u8>().origin(1).boundary(Boundary::Wrap).channels(3);
    assert_eq!(other.taps(), Ok(&[3, 2, 1][..]));
}

/// A convolution is the correlation with its taps and the documented origin.
#[test]
fn flipped_taps() {
    let device = Device::cpu();
    let line: Vec<i32> = (0..20).map(|i| i * i % 17).collect();
    for count in 1..6usize {
        let taps: Vec<i32> = (0..count as i32).map(|j| 3 * j - 5).collect();
        let half = (count / 2) as isize;
        for origin in -half..count as isize - half {
            let convolution = Filter1d::convolve(&taps).origin(origin).boundary(Boundary::Reflect);
            let even = isize::from(count.is_multiple_of(2));
            let correlation = Filter1d::correlate(convolution.taps().unwrap()).origin(-origin - even);
            let outputs = |filter: &Filter1d<i32>| filter.prepare(&device).unwrap().apply(&line);
            assert_eq!(outputs(&correlation.boundary(Boundary::Reflect)), outputs(&convolution));
        }
    }
}

/// The central weight and those behind it: `scipy.ndimage.gaussian_filter1d` of a single 1 with `sigma=1.5`, in SciPy 1.17.
const DEFAULT: &[f64] = &[
    0.2659642571610709,
    0.212967528547854,
    0.1093411749545305,
    0.03599434807370883,
    0.007597402196596929,
    0.001028196578138909,
    8.922106863539231e-05,
];

/// The same with `truncate=2`.
const TRUNCATED: &[f64] = &[0.27068214949642655, 0.21674532140370778, 0.11128075847888486, 0.036632845369194034];

/// The same with `radius=1`.
const OF_RADIUS_ONE: &[f64] = &[0.38439734175306, 0.30780132912346997];

#[test]
fn gaussians_of_scipy() {
    let gaussian = Gaussian::new(1.5);
    let cases: [(Gaussian, &[f64]); 4] = [
        (gaussian, DEFAULT),
        (gaussian.truncate(2.0), TRUNCATED),
        (gaussian.radius(1), OF_RADIUS_ONE),
        // The last call decides.
        (gaussian.radius(1).truncate(2.0), TRUNCATED),
    ];
    for (gaussian, half) in cases {
        let filter = Filter1d::<f64>::gaussian(gaussian);
        let taps = filter.taps().unwrap();
        let expected = half.iter().rev().chain(&half[1..]);
        assert_eq!(taps.len(), 2 * half.len() - 1);
        taps.iter().zip(expected).for_each(|(tap, expected)| assert_abs_diff_eq!(tap, expected, epsilon = 1e-15));
        // Rounded once.
        let narrow: Vec<f32> = taps.iter().map(|&tap| tap as f32).collect();
        assert_eq!(Filter1d::<f32>::gaussian(gaussian).taps(), Ok(&narrow[..]));
    }
}

#[test]
fn radii() {
    let count = |gaussian: Gaussian| Filter1d::<f32>::gaussian(gaussian).taps().unwrap().len();
    for (sigma, sigmas, radius) in
        [(1.0, 0.0, 0), (1.0, 0.5, 1), (0.1, 4.9, 0), (0.1, 5.0, 1), (3.0, 2.5, 8), (0.0, 4.0, 0)]
    {
        assert_eq!(count(Gaussian::new(sigma).truncate(sigmas)), 2 * radius + 1, "{sigma}, {sigmas}");
    }
    for radius in [0, 1, 7, 1 << 22] {
        assert_eq!(count(Gaussian::new(0.5).radius(radius)), 2 * radius + 1);
    }
    let single = Filter1d::<f64>::gaussian(Gaussian::new(0.0).radius(2));
    assert_eq!(single.taps(), Ok(&[0.0, 0.0, 1.0, 0.0, 0.0][..]));
}

#[test]
fn errors() {
    assert_eq!(Filter1d::<f32>::correlate(&[]).taps(), Err(Filter1dError::NoTaps.into()));
    assert_eq!(Filter1d::<f32>::box_blur(0).taps(), Err(Filter1dError::NoTaps.into()));
    let error = Filter1dError::Parameter { what: "sigma", range: "from 0 to 2^20", value: -1.0 };
    assert_eq!(Filter1d::<f32>::gaussian(-1.0).taps(), Err(error.into()));
    let error = Error::TooLarge { what: "the length of a box", factors: [1 << 25, 1], limit: 1 << 24 };
    assert_eq!(Filter1d::<f32>::box_blur(1 << 25).taps(), Err(error));
}
