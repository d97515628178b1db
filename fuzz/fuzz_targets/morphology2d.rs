//! `Morphology2d`, against its definition.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slm::ndarray::Array2;
use slm::{Device, Morphology2d, RankElement, RankNanPolicy, RankWindow, StructuringElement};
use slm_fuzz::{Reader, boundary, compatible, contents, devices, expect, for_rank_types, matrix, origin, typed};
use slm_test_support::morphology2d::{Case, OPERATIONS, Operation};
use slm_test_support::numbers::{Kind, Number, bits, converted};

type Check = fn(&Case, &Device);

const TYPES: [(Kind, Check); 6] = for_rank_types!(check);

fuzz_target!(|input: &[u8]| {
    let reader = &mut Reader::new(input);
    let ((kind, check), devices) = (reader.pick(&TYPES), devices(reader));
    let case = read(reader, kind);
    // An emulated GPU takes long for many rows.
    let devices = if case.shape[0] > 64 { &devices[..1] } else { &devices[..] };
    devices.iter().for_each(|device| check(&case, device));
});

fn read(reader: &mut Reader<'_>, kind: Kind) -> Case {
    // Large ones take two passes.
    let element = if reader.flag() { [reader.within(1, 4), reader.within(1, 4)] } else { [1, reader.within(16, 20)] };
    let len = element[0] * element[1];
    let (mask, heights) = match reader.below(3) {
        0 => (None, None),
        1 => {
            let own = reader.below(len);
            (Some(reader.bytes(len).iter().enumerate().map(|(at, byte)| at == own || byte % 3 > 0).collect()), None)
        }
        _ => (None, Some(reader.numbers(len, kind, false))),
    };
    let outside = reader.number(kind, false);
    let rows = boundary(reader, outside);
    let case = Case {
        kind,
        operation: reader.pick(&OPERATIONS),
        element,
        mask,
        heights,
        origin: element.map(|taps| origin(reader, taps)),
        boundaries: reader.flag().then(|| [rows, compatible(reader, rows)]),
        channels: reader.pick(&[None, None, Some(1), Some(2), Some(3)]),
        omit: reader.flag(),
        planes: 1,
        shape: [reader.below(7), reader.below(9)],
        samples: Vec::new(),
    };
    let case = match reader.below(8) {
        // The CPU takes several bands.
        0 => Case { planes: reader.within(1, 2), shape: [reader.within(65, 160), 1], ..case },
        number => Case { planes: 1 + number % 2, ..case },
    };
    let samples = reader.numbers(case.sample_count(), kind, false);
    Case { samples, ..case }
}

fn operation<T: RankElement + Number>(case: &Case) -> Morphology2d<T> {
    let [rows, columns] = case.element;
    let element = match (&case.mask, &case.heights) {
        (Some(mask), _) => {
            let mask = Array2::from_shape_fn((rows, columns), |(row, column)| mask[row * columns + column]);
            StructuringElement::from(&mask)
        }
        (None, Some(heights)) => {
            let heights = converted::<T>(heights);
            let heights = Array2::from_shape_fn((rows, columns), |(row, column)| heights[row * columns + column]);
            StructuringElement::with_heights(&heights)
        }
        (None, None) => RankWindow::rectangle(rows, columns).into(),
    };
    let operation = match case.operation {
        Operation::Erosion => Morphology2d::erosion(element),
        Operation::Dilation => Morphology2d::dilation(element),
        Operation::Opening => Morphology2d::opening(element),
        Operation::Closing => Morphology2d::closing(element),
        Operation::Gradient => Morphology2d::gradient(element),
        Operation::TopHat => Morphology2d::top_hat(element),
        Operation::BlackHat => Morphology2d::black_hat(element),
    };
    let operation = match case.boundaries {
        None => operation.ignore_outside(),
        Some(boundaries) => {
            let [above, before] = boundaries.map(typed);
            operation.boundaries(above, before)
        }
    };
    let policy = if case.omit { RankNanPolicy::Omit } else { RankNanPolicy::Propagate };
    let operation = operation.origin(case.origin[0], case.origin[1]).nan_policy(policy);
    if let Some(channels) = case.channels { operation.channels(channels) } else { operation }
}

fn check<T: RankElement + Number>(case: &Case, device: &Device) {
    let what = (T::KIND, device.to_string(), case);
    let operation = expect(operation::<T>(case).prepare(device), &what);
    let pixels = [case.planes * case.shape[0], case.shape[1] * case.channels()];
    let samples = expect(matrix::<T>(device, &case.samples, pixels, 3), &what);
    if case.samples.is_empty() {
        return;
    }
    let mut results = expect(matrix::<T>(device, &vec![0.0; case.samples.len()], pixels, 1), &what);
    expect(operation.apply_into(samples.planes(case.planes), &mut results), &what);
    assert_eq!(bits(&expect(contents(results), &what)), bits(&case.outputs()), "{what:?}");
}
