//! `Filter2d` of all types, against the definition.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slm::{Backend, Device, Error, Filter2dAlgorithm};
use slm_fuzz::{Reader, boundary, compatible, devices, expect, extent, origin};
use slm_test_support::filter2d as oracle;
use slm_test_support::filter2d::{Case, Direction, Weights};
use types::Types;

/// Names that the files of the test suite expect.
mod common {
    pub(crate) use slm_test_support::numbers;
    pub(crate) use slm_test_support::random::Random;
}

// The types, and the filters that algorithms refuse, as the test suite has them.
#[allow(dead_code, reason = "the suite uses more of it")]
#[path = "../../tests/suite/filter2d/refused.rs"]
mod refused;
#[allow(dead_code, reason = "the suite uses more of it")]
#[path = "../../tests/suite/filter2d/types.rs"]
mod types;

const ALGORITHMS: [Filter2dAlgorithm; 10] = [
    Filter2dAlgorithm::Auto,
    Filter2dAlgorithm::Auto,
    Filter2dAlgorithm::Auto,
    Filter2dAlgorithm::Auto,
    Filter2dAlgorithm::GlobalMemory,
    Filter2dAlgorithm::SharedTile,
    Filter2dAlgorithm::RegisterTiled,
    Filter2dAlgorithm::Streaming,
    Filter2dAlgorithm::Separable,
    Filter2dAlgorithm::Box,
];

fuzz_target!(|input: &[u8]| {
    let reader = &mut Reader::new(input);
    let types = &reader.pick(&types::ALL);
    let (devices, algorithm, is_reversed) = (devices(reader), reader.pick(&ALGORITHMS), reader.flag());
    let case = read(reader, types);
    devices.iter().for_each(|device| check(device, types, &case, algorithm, is_reversed));
});

fn read(reader: &mut Reader<'_>, types: &Types) -> Case {
    let taps = [reader.within(1, 5), reader.within(1, 5)];
    let boundary = {
        let outside = reader.number(types.samples, true);
        boundary(reader, outside)
    };
    let weights = weights(reader, types, taps);
    // An outer product is a correlation.
    let is_flipped = reader.flag() && matches!(weights, Weights::Dense(..));
    let case = Case {
        weights,
        direction: if is_flipped { Direction::Convolve } else { Direction::Correlate },
        origin: taps.map(|taps| origin(reader, taps)),
        boundary,
        column_boundary: Some(compatible(reader, boundary)),
        extent: extent(reader),
        stride: [0; 2].map(|_| reader.pick(&[1, 1, 1, 2, 3, 40, 1 << 30])),
        dilation: [0; 2].map(|_| reader.pick(&[1, 1, 1, 2, 3, 7])),
        channels: reader.pick(&[None, None, None, Some(1), Some(2), Some(3), Some(4)]),
        // Integers are never missing.
        renormalise: reader.below(4) == 0 && types.samples.range().is_none(),
        planes: reader.pick(&[1, 1, 1, 2, 0]),
        shape: [reader.below(10), reader.below(12)],
        samples: Vec::new(),
    };
    // Where NaNs are left out, the result of infinities is not documented.
    let finite = reader.flag() || case.renormalise;
    let samples = reader.numbers(case.sample_count(), types.samples, finite);
    Case { samples, ..case }
}

fn weights(reader: &mut Reader<'_>, types: &Types, [rows, columns]: [usize; 2]) -> Weights {
    let kind = reader.below(4);
    let most = types.most;
    let values = |reader: &mut Reader<'_>, count| -> Vec<f64> {
        let numbers = reader.numbers(count, types.weights, true);
        // Integers only up to what the types of the test take.
        numbers.into_iter().map(|number| if most > 0.0 { number.clamp(-most, most) } else { number }).collect()
    };
    match kind {
        0 => Weights::Separable(values(reader, rows), values(reader, columns)),
        1 => Weights::Dense([rows, columns], vec![values(reader, 1)[0]; rows * columns]),
        _ => Weights::Dense([rows, columns], values(reader, rows * columns)),
    }
}

fn check(device: &Device, types: &Types, case: &Case, algorithm: Filter2dAlgorithm, is_reversed: bool) {
    let refused =
        if device.info().backend == Backend::Cpu { None } else { refused::refused(device, types, case, algorithm) };
    let what = (types.name, algorithm, device.to_string(), case);
    let array = match (types.runs.apply(device, case, algorithm, is_reversed), refused) {
        // A filter may be refused for several reasons.
        (Err(Error::SharedMemoryExceeded { .. } | Error::Filter2d(_)), Some(_)) => return,
        (result, refused) => {
            assert!(result.is_err() || refused.is_none(), "no error, expected {refused:?} {what:?}");
            expect(result, &what)
        }
    };
    let (outputs, sums) = (case.outputs(), types.sums());
    if case.samples.is_empty() {
        return;
    }
    assert_eq!(array.shape(), case.array_shape(outputs.shape()), "{what:?}");
    for (number, &value) in array.iter().enumerate() {
        let expected = outputs.expected(number, sums);
        let agrees = expected.agrees(value, sums, types.outputs, outputs.count());
        assert!(agrees, "output {number} is {value}, expected {expected:?}: {what:?}");
    }
}
