//! The filter as its definition says, one output at a time. Numbers are `f64`, which represents the samples, weights and outputs
//! of all types. Sums are exact for integers; for floats they have twice the double precision.

mod expected;

pub use crate::filter1d::Direction;
pub use expected::{Expected, Sums};

use crate::filter1d::Real;
use crate::filter1d::extension::sources;
use slm::{Boundary, Extent};

/// A filter, and the pictures that it is applied to.
#[derive(Clone, Debug)]
pub struct Case {
    pub weights: Weights,
    pub direction: Direction,
    /// Of rows and columns.
    pub origin: [isize; 2],
    /// Of both axes, or of the rows alone.
    pub boundary: Boundary<f64>,
    /// Of the columns, if it is another one.
    pub column_boundary: Option<Boundary<f64>>,
    pub extent: Extent,
    pub stride: [usize; 2],
    pub dilation: [usize; 2],
    pub channels: Option<usize>,
    pub renormalise: bool,
    pub planes: usize,
    /// Rows and columns of a plane, in pixels.
    pub shape: [usize; 2],
    /// In memory order.
    pub samples: Vec<f64>,
}

/// Weights in the order in which the user gives them.
#[derive(Clone, Debug)]
pub enum Weights {
    /// Rows, columns, and the weights row after row.
    Dense([usize; 2], Vec<f64>),
    /// A column and a row.
    Separable(Vec<f64>, Vec<f64>),
}

impl Weights {
    pub fn shape(&self) -> [usize; 2] {
        match self {
            Weights::Dense(shape, _) => *shape,
            Weights::Separable(column, row) => [column.len(), row.len()],
        }
    }

    /// The `m` of the documented bound.
    fn count(&self) -> usize {
        let [rows, columns] = self.shape();
        // A dense row or column is multiplied by 1, without an error.
        let is_exact = matches!(self, Weights::Dense(..)) && [rows, columns].contains(&1);
        rows * columns + if self.is_outer_product() && !is_exact { 16 } else { 0 }
    }

    /// Whether all weights are equal.
    pub fn are_equal(&self) -> bool {
        let equal = |values: &[f64]| values.windows(2).all(|pair| pair[0] == pair[1]);
        match self {
            Weights::Dense(_, values) => equal(values),
            Weights::Separable(column, row) => {
                equal(&column.iter().flat_map(|c| row.iter().map(move |r| c * r)).collect::<Vec<_>>())
            }
        }
    }

    /// Whether the weights are an outer product or nearly one.
    pub fn is_outer_product(&self) -> bool {
        let Weights::Dense([rows, columns], values) = self else { return true };
        if [*rows, *columns].contains(&1) {
            return true;
        }
        let Some(pivot) = (0..values.len()).max_by(|&a, &b| values[a].abs().total_cmp(&values[b].abs())) else {
            return false;
        };
        if values[pivot] == 0.0 {
            return false;
        }
        let (row, column) = (pivot / columns, pivot % columns);
        // Relative to each weight, so that small ones count, too.
        let is_near = |i: usize, j: usize| {
            let weight = values[i * columns + j] * values[pivot];
            let product = values[i * columns + column] * values[row * columns + j];
            (weight - product).abs() <= 1e-5 * weight.abs()
        };
        (0..*rows).all(|i| (0..*columns).all(|j| is_near(i, j)))
    }

    /// A weight as the exact sum of two numbers, which are integers for integer weights.
    fn get(&self, i: usize, j: usize) -> [f64; 2] {
        match self {
            Weights::Dense([_, columns], values) => [values[i * columns + j], 0.0],
            Weights::Separable(column, row) => {
                let product = column[i] * row[j];
                [product, column[i].mul_add(row[j], -product)]
            }
        }
    }
}

/// The filter along one axis.
struct Axis {
    taps: usize,
    direction: Direction,
    origin: isize,
    extent: Extent,
    stride: usize,
    dilation: usize,
}

impl Axis {
    /// The distance from an output's own place to the sample that a weight meets.
    fn offset(&self, tap: usize) -> i64 {
        let distance = self.dilation as i64 * (tap as i64 - (self.taps / 2) as i64 - self.origin as i64);
        if let Direction::Correlate = self.direction { distance } else { -distance }
    }

    /// For each output, the sample that each weight meets; `None` for the constant outside.
    fn sources(&self, boundary: Boundary<f64>, samples: usize) -> Vec<Vec<Option<usize>>> {
        let ends = [self.offset(0), self.offset(self.taps - 1)];
        let [least, greatest] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        let n = samples as i64;
        let places = match self.extent {
            _ if samples == 0 => 0..0,
            Extent::Same => 0..n,
            Extent::Valid => -least..n - greatest,
            Extent::Full => -greatest..n - least,
        };
        if places.is_empty() {
            return Vec::new();
        }
        let first = places.start + least;
        let continued = sources(boundary, samples, first..places.end + greatest);
        let source = |place: i64, tap| continued[(place + self.offset(tap) - first) as usize];
        let windows = places.step_by(self.stride).map(|place| (0..self.taps).map(|tap| source(place, tap)).collect());
        windows.collect()
    }
}

/// Where the outputs of a case come from.
pub struct Outputs<'a> {
    case: &'a Case,
    /// Returns a sample by its number, in memory order.
    sample: Box<dyn Fn(usize) -> f64 + 'a>,
    rows: Vec<Vec<Option<usize>>>,
    columns: Vec<Vec<Option<usize>>>,
}

impl Case {
    pub fn outputs(&self) -> Outputs<'_> {
        self.outputs_of(|number| self.samples[number])
    }

    /// The same for samples that are not in the case.
    pub fn outputs_of<'a>(&'a self, sample: impl Fn(usize) -> f64 + 'a) -> Outputs<'a> {
        let boundaries = self.boundaries();
        let [rows, columns] = [0, 1].map(|a| self.axis(a).sources(boundaries[a], self.shape[a]));
        Outputs { case: self, sample: Box::new(sample), rows, columns }
    }

    /// The boundaries of rows and columns.
    pub fn boundaries(&self) -> [Boundary<f64>; 2] {
        [self.boundary, self.column_boundary.unwrap_or(self.boundary)]
    }

    /// The constant outside.
    fn outside(&self) -> f64 {
        let constant = |boundary| if let Boundary::Constant(outside) = boundary { Some(outside) } else { None };
        self.boundaries().into_iter().find_map(constant).unwrap_or(0.0)
    }

    fn axis(&self, axis: usize) -> Axis {
        Axis {
            taps: self.weights.shape()[axis],
            direction: self.direction,
            origin: self.origin[axis],
            extent: self.extent,
            stride: self.stride[axis],
            dilation: self.dilation[axis],
        }
    }

    pub fn channels(&self) -> usize {
        self.channels.unwrap_or(1)
    }

    /// The shape of an array of pictures of this many rows and columns: without an axis for a single plane.
    pub fn array_shape(&self, [rows, columns]: [usize; 2]) -> Vec<usize> {
        let planes = (self.planes != 1).then_some(self.planes);
        planes.into_iter().chain([rows, columns]).chain(self.channels).collect()
    }

    /// The number of samples.
    pub fn sample_count(&self) -> usize {
        self.planes * self.shape[0] * self.shape[1] * self.channels()
    }
}

impl Outputs<'_> {
    /// Rows and columns of the outputs of a plane, in pixels.
    pub fn shape(&self) -> [usize; 2] {
        [self.rows.len(), self.columns.len()]
    }

    /// Output number `number`, in memory order.
    pub fn expected(&self, number: usize, sums: Sums) -> Expected {
        let (channels, [rows, columns]) = (self.case.channels(), self.shape());
        let (pixel, channel) = (number / channels, number % channels);
        let (row, column) = (pixel / columns, pixel % columns);
        let (plane, row) = (row / rows, row % rows);
        let products = self.products(plane, row, column, channel);
        match (sums, self.case.renormalise) {
            (Sums::Integer, _) => Expected::Integer(integer(products)),
            (_, false) => Expected::Sum(real(products, |x| x)),
            (_, true) => Self::renormalised(&products.collect::<Vec<_>>()),
        }
    }

    fn renormalised(products: &[(f64, [f64; 2])]) -> Expected {
        let present = products.iter().copied().filter(|(x, _)| !x.is_nan());
        Expected::Renormalised {
            is_exact: present.clone().all(|(_, [high, low])| low == 0.0 && is_short(high)),
            sum: real(present.clone(), |x| x),
            present: real(present, |_| 1.0),
            total: real(products.iter().copied(), |_| 1.0),
        }
    }

    /// The samples and weights that an output depends on.
    fn products(
        &self,
        plane: usize,
        row: usize,
        column: usize,
        channel: usize,
    ) -> impl Iterator<Item = (f64, [f64; 2])> {
        let (case, rows, columns) = (self.case, &self.rows[row], &self.columns[column]);
        let sample = move |source: [Option<usize>; 2]| match source {
            [Some(r), Some(c)] => {
                (self.sample)(((plane * case.shape[0] + r) * case.shape[1] + c) * case.channels() + channel)
            }
            _ => case.outside(),
        };
        let product = move |i: usize, j: usize| (sample([rows[i], columns[j]]), case.weights.get(i, j));
        (0..rows.len()).flat_map(move |i| (0..columns.len()).map(move |j| product(i, j)))
    }

    /// The `m` of the documented bound.
    pub fn count(&self) -> usize {
        self.case.weights.count()
    }
}

/// Whether sums of a few such weights are not rounded: multiples of 2^-10 of up to 2^8.
fn is_short(weight: f64) -> bool {
    (weight * 1024.0).fract() == 0.0 && weight.abs() <= 256.0
}

fn integer(products: impl Iterator<Item = (f64, [f64; 2])>) -> i128 {
    let product = |(x, weight): (f64, [f64; 2])| x as i128 * (weight[0] as i128 + weight[1] as i128);
    products.map(product).sum()
}

fn real(products: impl Iterator<Item = (f64, [f64; 2])>, sample: impl Fn(f64) -> f64) -> Real {
    products.fold(Real::default(), |sum, (x, [weight, rest])| {
        let x = sample(x);
        let sum = sum.add(x, weight);
        // The sign of an infinity is that of the whole weight, and its product with a rest of zero would be NaN.
        if rest == 0.0 || x.is_infinite() { sum } else { sum.add(x, rest) }
    })
}
