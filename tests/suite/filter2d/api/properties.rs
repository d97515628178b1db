//! What must hold for every filter, on the CPU: properties instead of examples. Integers and small numbers, so that all sums are
//! exact and equality is the test.

use crate::properties::check;
use ndarray::{Array2, ArrayView2, Axis, s};
use proptest::collection::vec;
use proptest::prelude::*;
use slm::{Boundary, Device, Extent, Filter2d};

/// A filter and a picture.
#[derive(Clone, Debug)]
struct Problem {
    picture: Array2<i32>,
    weights: Array2<i32>,
    boundary: Boundary<i32>,
    extent: Extent,
    /// Rows and columns.
    dilation: [usize; 2],
}

impl Problem {
    fn described(&self, of: fn(ArrayView2<'_, i32>) -> Filter2d<i32, i32>) -> Filter2d<i32, i32> {
        let [rows, columns] = self.dilation;
        of(self.weights.view()).boundary(self.boundary).extent(self.extent).dilation(rows, columns)
    }

    fn correlated(&self) -> Array2<i32> {
        run(&self.described(|weights| Filter2d::correlate(weights)), &self.picture)
    }

    fn convolved(&self) -> Array2<i32> {
        run(&self.described(|weights| Filter2d::convolve(weights)), &self.picture)
    }

    fn with(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut other = self.clone();
        change(&mut other);
        other
    }

    /// Rows and columns before and behind an output's own that its window reaches.
    fn reach(&self) -> [[usize; 2]; 2] {
        [0, 1].map(|axis| {
            let (taps, dilation) = (self.weights.len_of(Axis(axis)), self.dilation[axis]);
            [taps / 2 * dilation, (taps - 1 - taps / 2) * dilation]
        })
    }
}

fn run(filter: &Filter2d<i32, i32>, picture: &Array2<i32>) -> Array2<i32> {
    filter.prepare(&Device::cpu()).unwrap().apply(picture.view()).unwrap()
}

fn matrices(rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> impl Strategy<Value = Array2<i32>> {
    (rows, columns).prop_flat_map(|(rows, columns)| {
        let matrix = move |values| Array2::from_shape_vec((rows, columns), values).expect("as many as places");
        vec(-99..=99, rows * columns).prop_map(matrix)
    })
}

fn boundaries() -> impl Strategy<Value = Boundary<i32>> {
    prop_oneof![
        Just(Boundary::Zero),
        (-99..=99).prop_map(Boundary::Constant),
        Just(Boundary::Nearest),
        Just(Boundary::Reflect),
        Just(Boundary::Mirror),
        Just(Boundary::Wrap),
    ]
}

fn problems() -> impl Strategy<Value = Problem> {
    let extents = prop_oneof![Just(Extent::Same), Just(Extent::Valid), Just(Extent::Full)];
    let parts = (matrices(0..12, 0..40), matrices(1..6, 1..6), boundaries(), extents, [1..4usize, 1..4]);
    parts.prop_map(|(picture, weights, boundary, extent, dilation)| Problem {
        picture,
        weights,
        boundary,
        extent,
        dilation,
    })
}

#[test]
fn linear_in_the_samples() {
    check(150, (problems(), any::<u64>(), -9..=9), |(first, seed, factor)| {
        let mut random = crate::common::Random::new(seed);
        let second = first.with(|p| p.picture.mapv_inplace(|_| random.below(199) as i32 - 99));
        let sum = first.with(|p| {
            p.picture = factor * &p.picture + &second.picture;
            if let Boundary::Constant(outside) = &mut p.boundary {
                *outside *= factor + 1;
            }
        });
        prop_assert_eq!(sum.correlated(), factor * first.correlated() + second.correlated());
        Ok(())
    });
}

#[test]
fn linear_in_the_weights() {
    check(150, (problems(), any::<u64>(), -9..=9), |(first, seed, factor)| {
        let mut random = crate::common::Random::new(seed);
        let second = first.with(|p| p.weights.mapv_inplace(|_| random.below(199) as i32 - 99));
        let sum = first.with(|p| p.weights = factor * &p.weights + &second.weights);
        prop_assert_eq!(sum.convolved(), factor * first.convolved() + second.convolved());
        Ok(())
    });
}

/// Outputs that do not look outside move with the samples.
#[test]
fn shifts_in_the_interior() {
    check(150, (problems(), 0..5usize, 0..5usize), |(problem, down, right)| {
        let still = problem.with(|p| p.extent = Extent::Same);
        let (rows, columns) = still.picture.dim();
        let moved = still.with(|p| {
            p.picture = Array2::from_elem((rows + down, columns + right), 55);
            p.picture.slice_mut(s![down.., right..]).assign(&still.picture);
        });
        let [[above, below], [left, right_of]] = still.reach();
        let (moved, still) = (moved.correlated(), still.correlated());
        for r in above..rows.saturating_sub(below) {
            for c in left..columns.saturating_sub(right_of) {
                prop_assert_eq!(moved[[r + down, c + right]], still[[r, c]], "output {}, {}", r, c);
            }
        }
        Ok(())
    });
}

#[test]
fn transposed() {
    check(150, problems(), |problem| {
        let transposed = problem.with(|p| {
            p.picture = p.picture.t().to_owned();
            p.weights = p.weights.t().to_owned();
            p.dilation.reverse();
        });
        prop_assert_eq!(transposed.correlated(), problem.correlated().reversed_axes());
        prop_assert_eq!(transposed.convolved(), problem.convolved().reversed_axes());
        Ok(())
    });
}

/// The same sums. Their centres differ by a dilation where the number of weights is even; `Valid` and `Full` have no centre.
#[test]
fn convolving_is_correlating_with_flipped_weights() {
    check(150, problems(), |problem| {
        let convolved = problem.convolved();
        let flipped = problem.with(|p| p.weights.as_slice_mut().expect("a whole array").reverse());
        let correlated = flipped.correlated();
        prop_assert_eq!(convolved.dim(), correlated.dim());
        let [down, right] = [0, 1].map(|axis| match problem.extent {
            Extent::Same if problem.weights.len_of(Axis(axis)) % 2 == 0 => problem.dilation[axis],
            _ => 0,
        });
        let (rows, columns) = convolved.dim();
        let (rows, columns) = (rows.saturating_sub(down), columns.saturating_sub(right));
        let correlated = correlated.slice_move(s![correlated_start(down, rows).., correlated_start(right, columns)..]);
        prop_assert_eq!(convolved.slice(s![..rows, ..columns]), correlated.slice(s![..rows, ..columns]));
        Ok(())
    });
}

/// Where the outputs begin that both have; nothing is left of a picture that is not longer than the shift.
fn correlated_start(shift: usize, left: usize) -> usize {
    if left == 0 { 0 } else { shift }
}

#[test]
fn a_single_one_changes_nothing() {
    check(100, (problems(), 0..5usize, 0..5usize), |(problem, above, left)| {
        // The one is in the middle, so each output is its own sample.
        let (rows, columns) = (2 * above + 1, 2 * left + 1);
        let identity = problem.with(|p| {
            p.weights = Array2::from_shape_fn((rows, columns), |place| i32::from(place == (above, left)));
            p.extent = Extent::Same;
        });
        prop_assert_eq!(identity.correlated(), &problem.picture);
        prop_assert_eq!(identity.convolved(), &problem.picture);
        Ok(())
    });
}

#[test]
fn strides_select_outputs() {
    check(150, (problems(), 1..50isize, 1..50isize), |(problem, rows, columns)| {
        for filter in [
            problem.described(|weights| Filter2d::correlate(weights)),
            problem.described(|weights| Filter2d::convolve(weights)),
        ] {
            let all = run(&filter, &problem.picture);
            let selected = run(&filter.stride(rows as usize, columns as usize), &problem.picture);
            prop_assert_eq!(selected, all.slice(s![..;rows, ..;columns]));
        }
        Ok(())
    });
}

#[test]
fn separable_is_the_outer_product() {
    check(150, (problems(), vec(-20..=20, 1..8), vec(-20..=20, 1..8)), |(problem, column, row)| {
        let product = problem.with(|p| {
            p.weights = Array2::from_shape_fn((column.len(), row.len()), |(i, j)| column[i] * row[j]);
        });
        let [rows, columns] = problem.dilation;
        let separable = Filter2d::separable(&column, &row).boundary(problem.boundary).extent(problem.extent);
        prop_assert_eq!(run(&separable.dilation(rows, columns), &problem.picture), product.correlated());
        Ok(())
    });
}

/// Weights that are apart are weights with zeros between them.
#[test]
fn dilations_are_zeros_between_weights() {
    check(150, problems(), |problem| {
        let [down, right] = problem.dilation;
        let (rows, columns) = problem.weights.dim();
        let spread = problem.with(|p| {
            p.weights = Array2::zeros(((rows - 1) * down + 1, (columns - 1) * right + 1));
            p.weights.slice_mut(s![..;down as isize, ..;right as isize]).assign(&problem.weights);
            p.dilation = [1, 1];
        });
        // The centre of an even number of weights is another one when they are spread.
        if problem.extent != Extent::Same || (rows % 2 == 1 && columns % 2 == 1) {
            prop_assert_eq!(problem.correlated(), spread.correlated());
        }
        Ok(())
    });
}

/// `Same` and `Valid` are parts of `Full`.
#[test]
fn extents_are_parts_of_each_other() {
    check(150, problems(), |problem| {
        let [same, valid, full] =
            [Extent::Same, Extent::Valid, Extent::Full].map(|extent| problem.with(|p| p.extent = extent).correlated());
        if problem.picture.is_empty() {
            prop_assert!(same.is_empty() && valid.is_empty() && full.is_empty());
            return Ok(());
        }
        let [[above, below], [left, right]] = problem.reach();
        let (rows, columns) = problem.picture.dim();
        prop_assert_eq!(full.dim(), (rows + above + below, columns + left + right));
        prop_assert_eq!(&same, &full.slice(s![below..below + rows, right..right + columns]));
        let inside = (rows.saturating_sub(above + below), columns.saturating_sub(left + right));
        prop_assert_eq!(valid.dim(), inside);
        let inside = s![above..above + inside.0, left..left + inside.1];
        if !valid.is_empty() {
            prop_assert_eq!(valid.view(), same.slice(inside));
        }
        Ok(())
    });
}
