//! Properties that hold for every filter, tested on the CPU.
//!
//! With small integers, `f32`, `f64` and `i32` all compute exactly. The tests then compare for equality, with all three
//! types at once.

use super::oracle::extension::FilterShape;
use super::oracle::{Direction, Sample};
use crate::common::Random;
use crate::properties::{Checked, check};
use ndarray::{Array2, ArrayView2, s};
use proptest::collection::vec;
use proptest::prelude::*;
use slm::filter1d::PreparedFilter1d;
use slm::{Boundary, Device, Extent, Filter1d};
use slm_kernels::filter1d::{self as kernels, Geometry, Orientation};
use slm_kernels::signal::Same;

/// A filter and its samples, with numbers of type `T`.
#[derive(Clone, Debug)]
struct Problem<T> {
    x: Vec<T>,
    taps: Vec<T>,
    direction: Direction,
    boundary: Boundary<T>,
    extent: Extent,
}

impl<T: Copy> Problem<T> {
    fn prepare<U: Sample + From<T>>(&self) -> PreparedFilter1d<U> {
        let taps = convert::<T, U>(&self.taps);
        let filter = match self.direction {
            Direction::Correlate => Filter1d::correlate(&taps),
            Direction::Convolve => Filter1d::convolve(&taps),
        };
        let boundary = match self.boundary {
            Boundary::Zero => Boundary::Zero,
            Boundary::Constant(outside) => Boundary::Constant(outside.into()),
            Boundary::Nearest => Boundary::Nearest,
            Boundary::Reflect => Boundary::Reflect,
            Boundary::Mirror => Boundary::Mirror,
            Boundary::Wrap => Boundary::Wrap,
        };
        filter.boundary(boundary).extent(self.extent).prepare(&Device::cpu()).unwrap()
    }

    fn run<U: Sample + From<T>>(&self) -> Vec<U> {
        self.prepare().apply(&convert(&self.x)).unwrap()
    }

    fn shape(&self) -> FilterShape<T> {
        let (n, m) = (self.x.len(), self.taps.len());
        FilterShape { n, m, direction: self.direction, boundary: self.boundary, extent: self.extent }
    }

    /// Returns the value outside the signal for `Boundary::Constant`, and `zero` otherwise.
    fn outside(&self, zero: T) -> T {
        if let Boundary::Constant(outside) = self.boundary { outside } else { zero }
    }
}

fn convert<T: Copy, U: From<T>>(values: &[T]) -> Vec<U> {
    values.iter().map(|&value| value.into()).collect()
}

impl Problem<i16> {
    /// Returns the outputs, on which all element types agree: no sum here is near 2^24, so none is rounded.
    fn outputs(&self) -> Vec<f64> {
        let outputs = self.run::<f64>();
        assert_eq!(convert::<f32, f64>(&self.run()), outputs, "f32");
        assert_eq!(convert::<i32, f64>(&self.run()), outputs, "i32");
        outputs
    }

    fn with(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut other = self.clone();
        change(&mut other);
        other
    }
}

fn small() -> impl Strategy<Value = i16> + Clone {
    -99..=99i16
}

fn boundaries<T: Clone + std::fmt::Debug + 'static>(
    outside: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Boundary<T>> {
    prop_oneof![
        Just(Boundary::Zero),
        outside.prop_map(Boundary::Constant),
        Just(Boundary::Nearest),
        Just(Boundary::Reflect),
        Just(Boundary::Mirror),
        Just(Boundary::Wrap),
    ]
}

fn directions() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Direction::Correlate), Just(Direction::Convolve)]
}

fn extents() -> impl Strategy<Value = Extent> {
    prop_oneof![Just(Extent::Same), Just(Extent::Valid), Just(Extent::Full)]
}

/// Returns problems with numbers from `values`. In some, the filter is longer than the signal.
fn problems<T: Clone + std::fmt::Debug + 'static>(
    values: impl Strategy<Value = T> + Clone + 'static,
) -> impl Strategy<Value = Problem<T>> {
    let x = vec(values.clone(), 0..150);
    let taps = vec(values.clone(), 1..40);
    let problem = |(x, taps, direction, boundary, extent)| Problem { x, taps, direction, boundary, extent };
    (x, taps, directions(), boundaries(values), extents()).prop_map(problem)
}

/// Returns `factor * a + b`, element by element.
fn combine(factor: i16, a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| f64::from(factor) * a + b).collect()
}

#[test]
fn linear_in_the_samples() {
    let strategy = (problems(small()), vec(small(), 150), small(), -9..=9i16);
    check(200, strategy, |(first, others, outside, factor)| {
        let second = first.with(|p| {
            p.x = others[..p.x.len()].to_vec();
            // The value outside is an input as the samples are.
            p.boundary = if let Boundary::Constant(_) = p.boundary { Boundary::Constant(outside) } else { p.boundary };
        });
        let sum = first.with(|p| {
            p.x.iter_mut().zip(&second.x).for_each(|(x, other)| *x = factor * *x + other);
            let outside = factor * first.outside(0) + second.outside(0);
            p.boundary = if let Boundary::Constant(_) = p.boundary { Boundary::Constant(outside) } else { p.boundary };
        });
        prop_assert_eq!(sum.outputs(), combine(factor, &first.outputs(), &second.outputs()));
        Ok(())
    });
}

#[test]
fn linear_in_the_taps() {
    let strategy = (problems(small()), vec(small(), 40), -9..=9i16);
    check(200, strategy, |(first, others, factor)| {
        let second = first.with(|p| p.taps = others[..p.taps.len()].to_vec());
        let sum = first.with(|p| p.taps.iter_mut().zip(&second.taps).for_each(|(w, other)| *w = factor * *w + other));
        prop_assert_eq!(sum.outputs(), combine(factor, &first.outputs(), &second.outputs()));
        Ok(())
    });
}

/// Outputs that read no sample beyond the ends move with the samples.
#[test]
fn shifts_in_the_interior() {
    check(200, (problems(small()), vec(small(), 0..50)), |(problem, before)| {
        let problem = problem.with(|p| p.extent = Extent::Same);
        let shifted = problem.with(|p| p.x = [&before[..], &p.x].concat());
        let (left, m) = (problem.shape().left(), problem.taps.len());
        let interior = left..problem.x.len().saturating_sub(m - 1 - left).max(left);
        let (still, moved) = (problem.outputs(), shifted.outputs());
        for i in interior {
            prop_assert_eq!(moved[before.len() + i], still[i], "output {}", i);
        }
        Ok(())
    });
}

/// Both compute the same sums. If the number of taps is even, their centres differ by one: output `i` of `convolve` is
/// output `i + 1` of `correlate` with the taps reversed. `Valid` and `Full` have no centre, so there all outputs agree.
#[test]
fn convolving_is_correlating_with_reversed_taps() {
    check(200, problems(small()), |problem| {
        let convolved = problem.with(|p| p.direction = Direction::Convolve).outputs();
        let correlated = problem.with(|p| {
            p.direction = Direction::Correlate;
            p.taps.reverse();
        });
        let correlated = correlated.outputs();
        if problem.extent == Extent::Same && problem.taps.len() % 2 == 0 && !problem.x.is_empty() {
            prop_assert_eq!(&convolved[..convolved.len() - 1], &correlated[1..]);
        } else {
            prop_assert_eq!(convolved, correlated);
        }
        Ok(())
    });
}

/// A single one among zeros gives the taps, in order when convolving and reversed when correlating.
#[test]
fn an_impulse_gives_the_taps() {
    check(200, (problems(small()), 1..150usize, any::<prop::sample::Index>()), |(problem, n, place)| {
        let place = place.index(n);
        let impulse = problem.with(|p| {
            p.x = (0..n).map(|i| i16::from(i == place)).collect();
            (p.boundary, p.extent) = (Boundary::Zero, Extent::Full);
        });
        let mut response = problem.taps.clone();
        if problem.direction == Direction::Correlate {
            response.reverse();
        }
        let mut expected = vec![0.0; n + response.len() - 1];
        expected[place..place + response.len()].copy_from_slice(&convert(&response));
        prop_assert_eq!(impulse.outputs(), expected);
        Ok(())
    });
}

#[test]
fn same_and_valid_are_parts_of_full() {
    check(200, problems(small()), |problem| {
        let [same, valid, full] =
            [Extent::Same, Extent::Valid, Extent::Full].map(|extent| problem.with(|p| p.extent = extent).outputs());
        let (n, m) = (problem.x.len(), problem.taps.len());
        if n == 0 {
            prop_assert!(same.is_empty() && valid.is_empty() && full.is_empty());
            return Ok(());
        }
        prop_assert_eq!(full.len(), n + m - 1);
        prop_assert_eq!(&same[..], &full[m - 1 - problem.shape().left()..][..n]);
        prop_assert_eq!(&valid[..], if n < m { &[][..] } else { &full[m - 1..n] });
        Ok(())
    });
}

/// A boundary is equivalent to a longer signal.
#[test]
fn boundaries_are_extensions_by_hand() {
    check(400, problems(small()), |problem| {
        let sample = |source: Option<usize>| source.map_or(problem.outside(0), |i| problem.x[i]);
        let extended = problem.with(|p| {
            p.x = problem.shape().sources().into_iter().map(sample).collect();
            (p.boundary, p.extent) = (Boundary::Zero, Extent::Valid);
        });
        prop_assert_eq!(problem.outputs(), extended.outputs());
        Ok(())
    });
}

#[test]
fn integers_wrap_as_modulo_2_to_the_32() {
    check(200, problems(any::<i32>()), |problem| {
        let mut taps = problem.taps.clone();
        if problem.direction == Direction::Convolve {
            taps.reverse();
        }
        let sample = |source: &Option<usize>| i128::from(source.map_or(problem.outside(0), |i| problem.x[i]));
        let exact = |window: &[Option<usize>]| -> i128 {
            window.iter().zip(&taps).map(|(source, &tap)| sample(source) * i128::from(tap)).sum()
        };
        let sums = problem.shape().sources().windows(taps.len()).map(exact).collect::<Vec<_>>();
        let expected: Vec<i32> = sums.iter().map(|sum| sum.rem_euclid(1 << 32) as u32 as i32).collect();
        prop_assert_eq!(problem.run::<i32>(), expected);
        Ok(())
    });
}

/// Exactly the outputs whose taps touch the sample are not finite, even if the tap is zero.
#[test]
fn a_sample_that_is_not_finite_reaches_what_touches_it() {
    let strategy = (problems(small()), any::<prop::sample::Index>(), 0..3usize);
    check(600, strategy, |(problem, place, which)| {
        if problem.x.is_empty() {
            return Ok(());
        }
        let place = place.index(problem.x.len());
        let expected = problem.shape().touches(place);
        let mut x: Vec<f32> = convert(&problem.x);
        x[place] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][which];
        let single = problem.prepare::<f32>().apply(&x).unwrap();
        let double = problem.prepare::<f64>().apply(&convert(&x)).unwrap();
        prop_assert_eq!(single.iter().map(|y| !y.is_finite()).collect::<Vec<_>>(), &expected[..]);
        prop_assert_eq!(double.iter().map(|y| !y.is_finite()).collect::<Vec<_>>(), &expected[..]);
        Ok(())
    });
}

fn bits<T: Sample>(values: impl IntoIterator<Item = T>) -> Vec<u64> {
    values.into_iter().map(Sample::bits).collect()
}

/// Compares bit for bit, with sums that are rounded and more work than one thread's share.
#[test]
fn any_number_of_threads_gives_the_same() {
    let x: Vec<f32> = Random::new(1).values(30_011);
    let matrix = Array2::from_shape_vec((30_011 / 89, 89), x[..30_011 / 89 * 89].to_vec()).unwrap();
    let taps: Vec<f32> = Random::new(2).values(77);
    let in_pool = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let device = Device::cpu();
            assert_eq!(device.info().processors, threads);
            let filter = Filter1d::correlate(&taps).boundary(Boundary::Mirror).prepare(&device).unwrap();
            let along = |axis| bits(filter.along(axis).apply(matrix.view()).unwrap());
            [bits(filter.apply(&x).unwrap()), along(0), along(1)]
        })
    };
    let one = in_pool(1);
    assert!(in_pool(2) == one, "2 threads");
    assert!(in_pool(7) == one, "7 threads");
}

/// Returns matrices of random numbers with at most `maximum` rows and columns.
fn matrices(maximum: usize) -> impl Strategy<Value = Array2<f32>> {
    (0..=maximum, 0..=maximum, any::<u64>()).prop_map(|(rows, columns, stream)| {
        let values = Random::new(stream).values(rows * columns);
        Array2::from_shape_vec((rows, columns), values).expect("as many as the shape has")
    })
}

/// Filtering along one axis equals filtering the transposed matrix along the other one, bit for bit.
#[test]
fn transposed_along_the_other_axis() {
    check(150, (problems(small()), matrices(70)), |(problem, matrix)| {
        let filter = problem.prepare::<f32>();
        let transposed = matrix.t().as_standard_layout().into_owned();
        for axis in [0, 1] {
            let direct = filter.along(axis).apply(matrix.view()).unwrap();
            let other = filter.along(1 - axis).apply(transposed.view()).unwrap();
            prop_assert_eq!(direct.dim(), other.t().dim());
            prop_assert_eq!(bits(direct), bits(other.t().iter().copied()));
        }
        Ok(())
    });
}

/// A line of a matrix is filtered as if it were alone.
#[test]
fn lines_of_a_matrix_are_independent() {
    check(150, (problems(small()), matrices(70)), |(problem, matrix)| {
        let filter = problem.prepare::<f32>();
        let rows = filter.along(1).apply(matrix.view()).unwrap();
        for (line, row) in matrix.rows().into_iter().zip(rows.rows()) {
            prop_assert_eq!(bits(row.to_vec()), bits(filter.apply(&line.to_vec()).unwrap()));
        }
        Ok(())
    });
}

/// A view's layout in memory does not affect the result.
#[test]
fn views_of_any_layout() {
    fn same(filter: &PreparedFilter1d<f32>, view: ArrayView2<'_, f32>) -> Checked {
        // Copied element by element, so that the test does not rely on ndarray's copies.
        let plain = Array2::from_shape_vec(view.dim(), view.iter().copied().collect()).unwrap();
        for axis in [0, 1] {
            let (actual, expected) = (filter.along(axis).apply(view), filter.along(axis).apply(plain.view()));
            prop_assert_eq!(bits(actual.unwrap()), bits(expected.unwrap()));
        }
        let uploaded = slm::Buffer2::upload(&Device::cpu(), view).unwrap().download().unwrap();
        prop_assert_eq!(bits(uploaded), bits(plain));
        Ok(())
    }
    check(100, (problems(small()), matrices(40)), |(problem, matrix)| {
        let filter = problem.prepare::<f32>();
        same(&filter, matrix.t())?;
        same(&filter, matrix.slice(s![..;-1, ..]))?;
        same(&filter, matrix.slice(s![.., ..;-1]))?;
        same(&filter, matrix.slice(s![..;3, ..;2]))?;
        same(&filter, matrix.t().slice_move(s![..;-2, ..;3]))
    });
}

const TUNING: kernels::LaunchConstants =
    kernels::LaunchConstants { row_threads: 128, most_taps_of_short_lines: 1024, column_threads: 8 };

/// The launches of a filter cover every line once, wherever a grid ends.
#[test]
fn launches_cover_all_lines() {
    const MAX_BLOCKS: u64 = i32::MAX as u64;
    let kernel = prop_oneof![
        Just(kernels::Filter1dKernel::Global),
        Just(kernels::Filter1dKernel::Tile),
        Just(kernels::Filter1dKernel::Register)
    ];
    let orientation = prop_oneof![Just(Orientation::Rows), Just(Orientation::Columns)];
    // Up to 2^44 outputs, close to powers of two: thousands of launches.
    let sizes = (0..44u32, 0..36u32, -2..=2i64, -2..=2i64, 1..2000u64);
    check(2000, (kernel, orientation, sizes), |(kernel, orientation, (l, o, dl, d_o, taps))| {
        let lines = (1u64 << l.min(44 - o)).saturating_add_signed(dl).max(1);
        let problem = kernels::Filter1dProblem {
            lines,
            outputs: (1u64 << o).saturating_add_signed(d_o).max(1),
            taps,
            phases: 1,
            orientation,
        };
        let geometry = Geometry::new::<Same<f32>>(kernel, &problem, &TUNING);
        let mut next = 0;
        let mut launches = 0u64;
        for part in geometry.parts(lines) {
            prop_assert_eq!(part.first_line, next);
            prop_assert!(part.lines > 0 && part.blocks > 0 && u64::from(part.blocks) <= MAX_BLOCKS, "{:?}", part);
            prop_assert_eq!(u64::from(part.blocks), geometry.blocks(part.lines));
            next += part.lines;
            launches += 1;
        }
        prop_assert_eq!(next, lines);
        // One launch exactly if one grid is enough.
        prop_assert_eq!(launches == 1, geometry.blocks(lines) <= MAX_BLOCKS, "{} launches", launches);
        Ok(())
    });
}

/// A grid is split as soon as it has one block too many.
#[test]
fn launches_split_at_the_limit() {
    let limit = i32::MAX as u64;
    // One line in each block.
    let problem =
        |lines| kernels::Filter1dProblem { lines, outputs: 256, taps: 3, phases: 1, orientation: Orientation::Rows };
    for kernel in [kernels::Filter1dKernel::Global, kernels::Filter1dKernel::Tile] {
        let parts = |lines| -> Vec<_> {
            let geometry = Geometry::new::<Same<f32>>(kernel, &problem(lines), &TUNING);
            geometry.parts(lines).map(|p| (p.first_line, p.lines, u64::from(p.blocks))).collect()
        };
        assert_eq!(parts(0), []);
        assert_eq!(parts(limit), [(0, limit, limit)]);
        assert_eq!(parts(limit + 1), [(0, limit, limit), (limit, 1, 1)]);
        assert_eq!(parts(2 * limit + 1), [(0, limit, limit), (limit, limit, limit), (2 * limit, 1, 1)]);
    }
}
