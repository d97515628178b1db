//! Generated taps, by their outputs for a single sample of 1.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use slm::ndarray::Array2;
use slm::{Boundary, Device, Extent, Filter1d, Filter2d};

fn impulse(len: usize) -> Vec<f64> {
    (0..len).map(|i| if i == len / 2 { 1.0 } else { 0.0 }).collect()
}

#[test]
fn gaussians() {
    for (sigma, radius) in [(0.0, 0), (0.1, 0), (0.7, 3), (1.0, 4), (5.5, 22)] {
        let blur = Filter1d::gaussian(sigma).extent(Extent::Full).prepare(&Device::cpu()).unwrap();
        let taps = blur.apply(&[1.0f64]).unwrap();
        assert_eq!(taps.len(), 2 * radius + 1);
        assert_abs_diff_eq!(taps.iter().sum::<f64>(), 1.0, epsilon = 1e-15);
        for (i, tap) in taps.iter().enumerate() {
            let distance = i as f64 - radius as f64;
            let ratio = if distance == 0.0 { 1.0 } else { (-distance * distance / (2.0 * sigma * sigma)).exp() };
            assert_abs_diff_eq!(tap / taps[radius], ratio, epsilon = 1e-14);
        }
    }
}

/// Along both axes, one after the other, it is the filter of pictures.
#[test]
fn gaussians_of_pictures() {
    let device = Device::cpu();
    let picture = Array2::from_shape_fn((20, 30), |(r, c)| ((r * 7 + c * 3) % 11) as f64);
    let line = Filter1d::gaussian(1.5).boundary(Boundary::Reflect).prepare(&device).unwrap();
    let twice = line.apply(&line.along(0).apply(picture.view()).unwrap()).unwrap();
    let blur = Filter2d::gaussian(1.5).boundary(Boundary::Reflect).prepare(&device).unwrap();
    let once = blur.apply(picture.view()).unwrap();
    twice.iter().zip(&once).for_each(|(a, b)| assert_relative_eq!(a, b, epsilon = 0.0, max_relative = 1e-14));
}

#[test]
fn boxes() {
    for len in [1, 2, 5, 8] {
        let mean = Filter1d::box_blur(len).prepare(&Device::cpu()).unwrap();
        let outputs = mean.apply(&impulse(21)).unwrap();
        // As every correlation, with the later one of two middle taps at the output's own place.
        let first = 10 - (len - 1 - len / 2);
        let expected = |i| if (first..first + len).contains(&i) { 1.0 / len as f64 } else { 0.0 };
        assert_eq!(outputs, (0..21).map(expected).collect::<Vec<f64>>(), "{len}");
    }
    let mean = Filter1d::box_blur(3).boundary(Boundary::Constant(5.0)).prepare(&Device::cpu()).unwrap();
    assert_eq!(mean.apply(&[2.0f32, 5.0]).unwrap(), [4.0, 4.0]);
}
