//! The types of samples, weights and outputs, behind functions that take and return `f64`: the tests are compiled once for all.

use super::oracle::{Case, Direction, Sums, Weights};
use crate::common::Random;
use crate::common::numbers::{Kind, Number, converted};
use ndarray::{ArrayD, ArrayView2, ShapeBuilder};
use slm::Plan;
use slm::filter2d::Filtering;
use slm::{Boundary, Buffer2, Device, Filter2d, Filter2dAlgorithm, FilterSample, FilterWeight, NanPolicy, Result};

/// Types of samples, weights and outputs.
#[derive(Clone, Copy)]
pub(super) struct Types {
    pub(super) name: &'static str,
    pub(super) samples: Kind,
    pub(super) weights: Kind,
    pub(super) outputs: Kind,
    /// Weights of integers are at most this far from 0.
    pub(super) most: f64,
    pub(super) runs: &'static (dyn Runs + Send + Sync),
}

/// The operation with some types.
pub(super) trait Runs {
    /// Returns the outputs of an array. Its memory order is reversed if `is_reversed`.
    fn apply(
        &self,
        device: &Device,
        case: &Case,
        algorithm: Filter2dAlgorithm,
        is_reversed: bool,
    ) -> Result<ArrayD<f64>>;

    /// Filters matrices on the device with these row pitches. Returns the output's memory.
    fn apply_into(
        &self,
        device: &Device,
        case: &Case,
        algorithm: Filter2dAlgorithm,
        matrices: Matrices<'_>,
    ) -> Result<Vec<f64>>;

    fn plan(
        &self,
        device: &Device,
        case: &Case,
        algorithm: Filter2dAlgorithm,
    ) -> Result<Plan<Filter2dAlgorithm, Filtering>>;
}

/// The memory of two matrices: numbers, rows, columns and pitch.
#[derive(Clone, Copy)]
pub(super) struct Matrices<'a> {
    pub(super) input: (&'a [f64], [usize; 3]),
    pub(super) output: (&'a [f64], [usize; 3]),
}

/// The operation with samples `S`, weights `W` and outputs `O`.
pub(super) struct Of<S, W, O>(pub(super) std::marker::PhantomData<fn(S, W) -> O>);

impl<S, W, O> Of<S, W, O>
where
    S: FilterSample + Number,
    W: FilterWeight + Number,
    O: FilterSample + Number,
{
    fn filter(case: &Case) -> Filter2d<S, W, O> {
        let view = |[rows, columns]: [usize; 2], of: fn(ArrayView2<'_, W>) -> Filter2d<S, W>, values: &[f64]| {
            of(ArrayView2::from_shape((rows, columns), &converted(values)).expect("one weight per place"))
        };
        let filter = match (&case.weights, case.direction) {
            (Weights::Dense(shape, values), Direction::Correlate) => {
                view(*shape, |weights| Filter2d::correlate(weights), values)
            }
            (Weights::Dense(shape, values), Direction::Convolve) => {
                view(*shape, |weights| Filter2d::convolve(weights), values)
            }
            (Weights::Separable(column, row), _) => Filter2d::separable(&converted(column), &converted(row)),
        };
        let policy = if case.renormalise { NanPolicy::Renormalise } else { NanPolicy::Propagate };
        let ([rows, columns], [down, along]) = (case.stride, case.dilation);
        let [above, before] = case.boundaries().map(boundary);
        let filter = filter.boundaries(above, before).extent(case.extent).nan_policy(policy);
        let filter = filter.origin(case.origin[0], case.origin[1]);
        let filter = filter.stride(rows, columns).dilation(down, along).output();
        if let Some(channels) = case.channels { filter.channels(channels) } else { filter }
    }
}

fn boundary<S: Number>(boundary: Boundary<f64>) -> Boundary<S> {
    match boundary {
        Boundary::Zero => Boundary::Zero,
        Boundary::Constant(outside) => Boundary::Constant(S::of(outside)),
        Boundary::Nearest => Boundary::Nearest,
        Boundary::Reflect => Boundary::Reflect,
        Boundary::Mirror => Boundary::Mirror,
        Boundary::Wrap => Boundary::Wrap,
    }
}

impl<S, W, O> Runs for Of<S, W, O>
where
    S: FilterSample + Number,
    W: FilterWeight + Number,
    O: FilterSample + Number,
{
    fn apply(
        &self,
        device: &Device,
        case: &Case,
        algorithm: Filter2dAlgorithm,
        is_reversed: bool,
    ) -> Result<ArrayD<f64>> {
        let filter = Self::filter(case).algorithm(algorithm).prepare(device)?;
        let shape = case.array_shape(case.shape);
        let mut samples = ArrayD::from_elem(shape.set_f(is_reversed), S::of(0.0));
        samples.iter_mut().zip(&case.samples).for_each(|(to, &sample)| *to = S::of(sample));
        Ok(filter.apply(samples.view())?.mapv(O::to))
    }

    fn apply_into(
        &self,
        device: &Device,
        case: &Case,
        algorithm: Filter2dAlgorithm,
        matrices: Matrices<'_>,
    ) -> Result<Vec<f64>> {
        let filter = Self::filter(case).algorithm(algorithm).prepare(device)?;
        let ((input, input_shape), (output, output_shape)) = (matrices.input, matrices.output);
        let input = matrix::<S>(device, input, input_shape)?;
        let mut output = matrix::<O>(device, output, output_shape)?;
        match case.planes {
            1 => filter.apply_into(&input, &mut output)?,
            planes => filter.apply_into(input.planes(planes), &mut output)?,
        }
        Ok(output.into_buffer().download()?.into_iter().map(O::to).collect())
    }

    fn plan(
        &self,
        device: &Device,
        case: &Case,
        algorithm: Filter2dAlgorithm,
    ) -> Result<Plan<Filter2dAlgorithm, Filtering>> {
        let shape: Vec<usize> = case.shape.into_iter().chain(case.channels).collect();
        Self::filter(case).algorithm(algorithm).prepare(device)?.plan(shape)
    }
}

fn matrix<T: FilterSample + Number>(
    device: &Device,
    numbers: &[f64],
    [rows, columns, pitch]: [usize; 3],
) -> Result<Buffer2<T>> {
    Buffer2::from_buffer(device.upload(&converted(numbers))?, rows, columns, pitch)
}

impl Types {
    /// The name of the documented type of the sums: `i32`, `i64`, `f32` or `f64`.
    pub(super) fn sums_name(&self, weights: &Weights) -> &'static str {
        match (self.sums(), self.samples.range()) {
            (Sums::F32, _) => "f32",
            (Sums::F64, _) => "f64",
            (Sums::Integer, range) => {
                let largest = range.map_or(0.0, |[least, greatest]| greatest.max(-least));
                if magnitudes(weights) * largest < 2f64.powi(31) { "i32" } else { "i64" }
            }
        }
    }

    /// The documented type of the sums.
    pub(super) fn sums(&self) -> Sums {
        match (self.samples, self.weights) {
            (Kind::U8 | Kind::U16 | Kind::I16 | Kind::I32, Kind::I32) => Sums::Integer,
            (Kind::U8 | Kind::U16 | Kind::I16 | Kind::F32, Kind::F32) => Sums::F32,
            _ => Sums::F64,
        }
    }

    /// A sample: any integer, mostly not so large that sums are beyond its type, or a float between -100 and 100.
    pub(super) fn sample(&self, random: &mut Random) -> f64 {
        let range = match self.samples.range() {
            Some(_) if self.samples == Kind::I32 && random.below(50) > 0 => Some([-134_217_728.0, 134_217_728.0]),
            range => range,
        };
        drawn(random, self.samples, range)
    }

    /// Weights: integers up to the most that some test takes, or floats between -1 and 1.
    pub(super) fn weights(&self, random: &mut Random, count: usize) -> Vec<f64> {
        let range = (self.weights == Kind::I32).then_some([-self.most, self.most]);
        let factor = if range.is_some() { 1.0 } else { 2f64.powi(-7) };
        (0..count).map(|_| drawn(random, self.weights, range) * factor).collect()
    }
}

fn drawn(random: &mut Random, kind: Kind, range: Option<[f64; 2]>) -> f64 {
    match (range, kind) {
        (Some([least, greatest]), _) => (least + random.unit() * (greatest - least + 1.0)).floor(),
        (None, Kind::F32) => f64::from((random.unit() * 200.0 - 100.0) as f32),
        (None, _) => random.unit() * 200.0 - 100.0,
    }
}

/// The sum of the weights' magnitudes.
fn magnitudes(weights: &Weights) -> f64 {
    let sum = |values: &[f64]| values.iter().map(|value| value.abs()).sum::<f64>();
    match weights {
        Weights::Dense(_, values) => sum(values),
        Weights::Separable(column, row) => sum(column) * sum(row),
    }
}

macro_rules! all {
    ($($s:ident $w:ident $o:ident $most:expr;)*) => {
        [$(Types {
            name: concat!(stringify!($s), "_", stringify!($w), "_", stringify!($o)),
            samples: <$s>::KIND,
            weights: <$w>::KIND,
            outputs: <$o>::KIND,
            most: $most,
            runs: &Of::<$s, $w, $o>(std::marker::PhantomData),
        },)*]
    };
}

/// All types of samples, weights, sums and outputs, and the most that integer weights are: 1 and 30 for sums of `i32`.
pub(super) const ALL: [Types; 20] = all! {
    u8 i32 u8 1.0;
    u8 i32 i16 30.0;
    u16 i32 i32 30.0;
    i16 i32 u16 1.0;
    i32 i32 i32 3.0;
    u16 i32 f64 2e6;
    i16 i32 f32 2e6;
    i32 i32 u8 1.0;
    u8 f32 u8 0.0;
    u8 f32 f32 0.0;
    u16 f32 u16 0.0;
    i16 f32 i16 0.0;
    f32 f32 f32 0.0;
    f32 f32 i32 0.0;
    i32 f32 i32 0.0;
    f32 f64 f32 0.0;
    f64 f32 f64 0.0;
    f64 i32 f32 1000.0;
    u8 f64 i16 0.0;
    f64 f64 f64 0.0;
};
