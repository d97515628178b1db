//! Weights that a filter returns, given and generated.

use approx::assert_abs_diff_eq;
use ndarray::{Array2, array};
use slm::filter2d::Filter2dError;
use slm::{Boundary, Device, Error, Filter1d, Filter2d, Gaussian, Gaussian2d};

#[test]
fn given_weights() {
    let weights = array![[1, 2, 3], [4, 5, 6]];
    assert_eq!(Filter2d::<u8, i32>::correlate(weights.view()).weights(), Ok(weights.clone()));
    assert_eq!(Filter2d::<u8, i32>::convolve(weights.view()).weights(), Ok(array![[6, 5, 4], [3, 2, 1]]));
    let product = Filter2d::<f32, f32>::separable(&[1.0, -2.0], &[0.5, 3.0, 0.1]);
    assert_eq!(product.weights(), Ok(array![[0.5, 3.0, 0.1], [-1.0, -6.0, -0.2]]));
    // Any memory order, and nothing else changes them.
    let other = Filter2d::<u8, i32>::convolve(weights.t()).output::<f32>().origin(1, 0).stride(2, 2).dilation(3, 1);
    assert_eq!(other.boundary(Boundary::Wrap).channels(3).weights(), Ok(array![[6, 3], [5, 2], [4, 1]]));
}

#[test]
fn products_are_rounded_once() {
    let (column, row) = ([0.1f32, 1.0 / 3.0], [0.7f32, 1e-30]);
    let weights = Filter2d::<f32, f32>::separable(&column, &row).weights().unwrap();
    for ((i, j), weight) in weights.indexed_iter() {
        assert_eq!(*weight, (f64::from(column[i]) * f64::from(row[j])) as f32);
    }
}

#[test]
fn products_of_integers() {
    let error = |column, row, weights| Error::from(Filter2dError::ProductTooLarge { column, row, weights });
    let most = Filter2d::<u8, i8>::separable(&[16, 1], &[-8, 7]);
    assert_eq!(most.weights(), Ok(array![[-128, 112], [-8, 7]]));
    assert_eq!(Filter2d::<u8, i8>::separable(&[1, 16], &[8, 7]).weights(), Err(error(16.0, 8.0, "i8")));
    let most = f64::from(i32::MAX);
    let wide = Filter2d::<u8, i32>::separable(&[i32::MAX], &[1, i32::MAX]);
    assert_eq!(wide.weights(), Err(error(most, most, "i32")));
}

#[test]
fn named_weights() {
    assert_eq!(
        Filter2d::<f32, _>::sobel_x().weights(),
        Ok(array![[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]])
    );
    assert_eq!(
        Filter2d::<f32, _>::sobel_y().weights(),
        Ok(array![[-1.0, -2.0, -1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 1.0]])
    );
    assert_eq!(
        Filter2d::<f64, _>::laplacian().weights(),
        Ok(array![[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]])
    );
    assert_eq!(Filter2d::<u8, _>::box_blur(2, 4).weights(), Ok(Array2::from_elem((2, 4), 0.125)));
}

#[track_caller]
fn are_near(actual: &Array2<f64>, expected: &Array2<f64>, epsilon: f64) {
    assert_eq!(actual.dim(), expected.dim());
    actual.iter().zip(expected).for_each(|(actual, expected)| assert_abs_diff_eq!(actual, expected, epsilon = epsilon));
}

/// The weights of a Gaussian, by the formula.
fn gaussian(sigma: f64, radius: usize) -> Vec<f64> {
    let weight = |i: usize| (-0.5 * ((i as f64 - radius as f64) / sigma).powi(2)).exp();
    let sum: f64 = (0..=2 * radius).map(weight).sum();
    (0..=2 * radius).map(|i| weight(i) / sum).collect()
}

#[test]
fn gaussians_of_each_axis() {
    let [narrow, wide] = [Gaussian::new(1.0), Gaussian::new(3.0)];
    let cases: [(Gaussian2d, [(f64, usize); 2]); 7] = [
        (2.0.into(), [(2.0, 8), (2.0, 8)]),
        ([1.0, 3.0].into(), [(1.0, 4), (3.0, 12)]),
        (narrow.truncate(2.0).into(), [(1.0, 2), (1.0, 2)]),
        ([narrow, wide].into(), [(1.0, 4), (3.0, 12)]),
        ([narrow.radius(5), wide.truncate(1.5)].into(), [(1.0, 5), (3.0, 5)]),
        ([narrow.truncate(3.0), narrow].into(), [(1.0, 3), (1.0, 4)]),
        (Gaussian2d { rows: wide.radius(0), columns: narrow }, [(3.0, 0), (1.0, 4)]),
    ];
    for (described, axes) in cases {
        let [column, row] = axes.map(|(sigma, radius)| gaussian(sigma, radius));
        let weights = Filter2d::<f64, _>::gaussian(described).weights().unwrap();
        let expected = Array2::from_shape_fn((column.len(), row.len()), |(i, j)| column[i] * row[j]);
        are_near(&weights, &expected, 1e-15);
        let sharp = Filter2d::<f64, _>::unsharp(described, 1.5).weights().unwrap();
        let centre = (column.len() / 2, row.len() / 2);
        let expected =
            Array2::from_shape_fn(sharp.dim(), |place| f64::from(place == centre) * 2.5 - 1.5 * expected[place]);
        are_near(&sharp, &expected, 1e-14);
    }
    // Each axis is the filter of one dimension.
    let weights = Filter2d::<f32, _>::gaussian([0.0, 1.5]).weights().unwrap();
    assert_eq!(weights.row(0).to_vec(), Filter1d::<f32>::gaussian(1.5).taps().unwrap());
}

#[test]
fn gaussians_of_each_axis_blur() {
    let device = Device::cpu();
    let picture = Array2::from_shape_fn((20, 30), |(r, c)| ((r * 7 + c * 3) % 11) as f64);
    let along = |sigma: f64, axis, picture: &Array2<f64>| {
        let line = Filter1d::<f64>::gaussian(sigma).boundary(Boundary::Reflect).prepare(&device).unwrap();
        line.along(axis).apply(picture.view()).unwrap()
    };
    let expected = along(2.5, 1, &along(0.8, 0, &picture));
    let blur = Filter2d::<f64, _>::gaussian([0.8, 2.5]).boundary(Boundary::Reflect).prepare(&device).unwrap();
    are_near(&blur.apply(picture.view()).unwrap(), &expected, 1e-13);
    // Means of integers stay exact with any radius.
    for gaussian in [Gaussian::new(3.0).radius(40), Gaussian::new(9.0).truncate(0.5), Gaussian::new(0.0).radius(3)] {
        let blur = Filter2d::<u8, _>::gaussian([gaussian, 2.0.into()]).boundary(Boundary::Nearest).prepare(&device);
        let constant = Array2::from_elem((9, 11), 255);
        assert_eq!(blur.unwrap().apply(constant.view()), Ok(constant));
    }
}

#[test]
fn errors() {
    let none = Filter2dError::NoWeights { rows: 0, columns: 2 };
    assert_eq!(Filter2d::<u8, i32>::separable(&[], &[1, 2]).weights(), Err(none.clone().into()));
    assert_eq!(Filter2d::<u8, i32>::correlate(Array2::zeros((0, 2)).view()).weights(), Err(none.clone().into()));
    assert_eq!(Filter2d::<u8, _>::box_blur(0, 2).weights(), Err(none.into()));
    let error = Filter2dError::Parameter { what: "sigma", range: "from 0 to 2^20", value: -1.0 };
    assert_eq!(Filter2d::<u8, _>::gaussian(-1.0).weights(), Err(error.into()));
    let error = Filter2dError::Parameter { what: "the amount", range: "finite", value: f64::INFINITY };
    assert_eq!(Filter2d::<u8, _>::unsharp(1.0, f64::INFINITY).weights(), Err(error.into()));
    // As outer products they fit into memory.
    let largest = Filter2d::<f64, _>::box_blur(1 << 24, 1 << 24).weights();
    assert!(matches!(largest, Err(Error::OutOfHostMemory { .. })), "{largest:?}");
}
