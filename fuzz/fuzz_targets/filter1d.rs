//! `Filter1d` along both axes of matrices, against the definition.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slm::filter1d::{Filter1dAlgorithm, HaloLoad};
use slm::{Device, Filter1d, FilterElement, FilterSample};
use slm_fuzz::{Reader, boundary, contents, devices, expect, extent, is_refusal, matrix, origin, typed};
use slm_test_support::filter2d::{Case, Direction, Expected, Outputs, Sums, Weights};
use slm_test_support::numbers::{Kind, Number, converted};

/// All but transforms, which have another bound.
const ALGORITHMS: [Filter1dAlgorithm; 8] = [
    Filter1dAlgorithm::Auto,
    Filter1dAlgorithm::Auto,
    Filter1dAlgorithm::Auto,
    Filter1dAlgorithm::GlobalMemory,
    Filter1dAlgorithm::SharedTile(HaloLoad::EdgeThread),
    Filter1dAlgorithm::SharedTile(HaloLoad::Cooperative),
    Filter1dAlgorithm::RegisterTiled,
    Filter1dAlgorithm::TensorCore,
];

/// A filter along one axis of a matrix: the same as one of two dimensions with a single row or column of weights.
#[derive(Debug)]
struct Lines {
    case: Case,
    taps: Vec<f64>,
    axis: usize,
    algorithm: Filter1dAlgorithm,
    gaps: [usize; 2],
}

type Check = fn(&Lines, &Device);

/// Types of samples and taps.
const TYPES: [(Kind, Kind, Check); 10] = [
    (Kind::F32, Kind::F32, check::<f32, f32>),
    (Kind::F64, Kind::F64, check::<f64, f64>),
    (Kind::I32, Kind::I32, check::<i32, i32>),
    (Kind::U8, Kind::F32, check::<u8, f32>),
    (Kind::U8, Kind::I32, check::<u8, i32>),
    (Kind::I16, Kind::I32, check::<i16, i32>),
    (Kind::U16, Kind::F64, check::<u16, f64>),
    (Kind::F32, Kind::F64, check::<f32, f64>),
    (Kind::I32, Kind::F32, check::<i32, f32>),
    (Kind::F32, Kind::I32, check::<f32, i32>),
];

fuzz_target!(|input: &[u8]| {
    let reader = &mut Reader::new(input);
    let (samples, taps, check) = reader.pick(&TYPES);
    let devices = devices(reader);
    let lines = Lines::read(reader, samples, taps);
    devices.iter().for_each(|device| check(&lines, device));
});

impl Lines {
    fn read(reader: &mut Reader<'_>, samples: Kind, taps: Kind) -> Self {
        let (axis, algorithm) = (reader.below(2), reader.pick(&ALGORITHMS));
        let along = |length, other| if axis == 0 { [length, other] } else { [other, length] };
        let count = reader.within(1, 24);
        let channels = reader.pick(&[1, 1, 1, 2, 3]);
        let boundary = {
            let outside = reader.number(samples, true);
            boundary(reader, outside)
        };
        let (extent, shift, stride) =
            (extent(reader), origin(reader, count), reader.pick(&[1, 1, 1, 2, 3, 50, 1 << 30]));
        let direction = if reader.flag() { Direction::Correlate } else { Direction::Convolve };
        let (length, others) = (reader.below(60), reader.within(1, 3));
        let gaps = [reader.below(4), reader.below(4)];
        let taps = reader.numbers(count, taps, true);
        let case = Case {
            weights: Weights::Dense(along(count, 1), taps.clone()),
            direction,
            origin: if axis == 0 { [shift, 0] } else { [0, shift] },
            boundary,
            column_boundary: None,
            extent,
            stride: along(stride, 1),
            dilation: [1, 1],
            channels: Some(channels),
            renormalise: false,
            planes: 1,
            shape: along(length, others),
            samples: Vec::new(),
        };
        let finite = reader.flag();
        let samples = reader.numbers(case.sample_count(), samples, finite);
        Lines { case: Case { samples, ..case }, taps, axis, algorithm, gaps }
    }

    fn filter<S: FilterSample + Number, W: FilterElement + Number>(&self) -> Filter1d<S, W> {
        let Case { direction, extent, stride, origin, boundary, .. } = self.case;
        let taps: Vec<W> = converted(&self.taps);
        let filter =
            if direction == Direction::Correlate { Filter1d::correlate(&taps) } else { Filter1d::convolve(&taps) };
        let filter = filter.samples::<S>().boundary(typed(boundary)).extent(extent).algorithm(self.algorithm);
        filter.stride(stride[self.axis]).origin(origin[self.axis]).channels(self.case.channels())
    }
}

/// The documented type of the sums.
fn sums(samples: Kind, taps: Kind) -> Sums {
    match (samples, taps) {
        (Kind::U8 | Kind::U16 | Kind::I16 | Kind::I32, Kind::I32) => Sums::Integer,
        (Kind::U8 | Kind::U16 | Kind::I16 | Kind::F32, Kind::F32) => Sums::F32,
        _ => Sums::F64,
    }
}

fn check<S: FilterSample + Number, W: FilterElement + Number>(lines: &Lines, device: &Device) {
    let filter = match lines.filter::<S, W>().prepare(device) {
        Err(error) if lines.algorithm != Filter1dAlgorithm::Auto && is_refusal(&error) => return,
        prepared => expect(prepared, lines).along(lines.axis),
    };
    let (case, outputs) = (&lines.case, lines.case.outputs());
    let pixels = |[rows, columns]: [usize; 2]| [rows, columns * case.channels()];
    let shape = pixels(outputs.shape());
    // Without samples, an axis may have any number of outputs of the other axis.
    let is_empty = case.samples.is_empty() || shape.contains(&0);
    let planned = expect(filter.output_shape(pixels(case.shape)), lines);
    assert!(is_empty || planned == shape, "{planned:?} {lines:?}");
    let samples = expect(matrix::<S>(device, &case.samples, pixels(case.shape), lines.gaps[0]), lines);
    let zeros = vec![0.0; planned[0] * planned[1]];
    let mut results = expect(matrix::<S>(device, &zeros, planned, lines.gaps[1]), lines);
    match filter.apply_into(&samples, &mut results) {
        Err(error) if lines.algorithm != Filter1dAlgorithm::Auto && is_refusal(&error) => return,
        result => expect(result, lines),
    }
    if !is_empty {
        compare::<S, W>(lines, &outputs, &expect(contents(results), lines));
    }
}

fn compare<S: Number, W: Number>(lines: &Lines, outputs: &Outputs<'_>, values: &[f64]) {
    let sums = sums(S::KIND, W::KIND);
    for (number, &value) in values.iter().enumerate() {
        let agrees = match outputs.expected(number, sums) {
            // The only sums that wrap around.
            Expected::Integer(sum) if S::KIND == Kind::I32 => f64::from(sum as i32) == value,
            expected => expected.agrees(value, sums, S::KIND, outputs.count()),
        };
        assert!(agrees, "output {number} is {value}, expected {:?}: {lines:?}", outputs.expected(number, sums));
    }
}
