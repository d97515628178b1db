//! `Rank2d`, against sorted windows.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slm::ndarray::Array2;
use slm::{Device, Rank2d, Rank2dAlgorithm, RankElement, RankNanPolicy, RankWindow};
use slm_fuzz::{
    Reader, boundary, compatible, contents, devices, expect, extent, for_rank_types, is_refusal, matrix, origin, typed,
};
use slm_test_support::numbers::{Kind, Number, bits};
use slm_test_support::rank2d::{Case, Rank};

const ALGORITHMS: [Rank2dAlgorithm; 5] = [
    Rank2dAlgorithm::Auto,
    Rank2dAlgorithm::SortedTile,
    Rank2dAlgorithm::GlobalMemory,
    Rank2dAlgorithm::SharedTile,
    Rank2dAlgorithm::VanHerk,
];

type Check = fn(&Case, Rank2dAlgorithm, &Device);

const TYPES: [(Kind, Check); 6] = for_rank_types!(check);

fuzz_target!(|input: &[u8]| {
    let reader = &mut Reader::new(input);
    let (kind, check) = reader.pick(&TYPES);
    let (devices, algorithm) = (devices(reader), reader.pick(&ALGORITHMS));
    let case = read(reader, kind);
    let [cpu, emulated] = devices;
    check(&case, algorithm, &cpu);
    // An emulated device takes seconds for a sorted tile, and each channel has its own.
    let is_slow = algorithm == Rank2dAlgorithm::SortedTile;
    check(&if is_slow { with_one_channel(case) } else { case }, algorithm, &emulated);
});

fn read(reader: &mut Reader<'_>, kind: Kind) -> Case {
    let window = [reader.within(1, 7), reader.within(1, 7)];
    let mask = mask(reader, window[0] * window[1]);
    let count = mask.as_ref().map_or(window[0] * window[1], |mask| mask.iter().filter(|inside| **inside).count());
    let any = reader.below(2 * count) as isize - count as isize;
    let percentile = reader.pick(&[0.0, 25.0, 50.0, 99.9, 100.0]);
    let rank = reader.pick(&[Rank::Median, Rank::Minimum, Rank::Maximum, Rank::At(any), Rank::Percentile(percentile)]);
    let rows = {
        let outside = reader.number(kind, false);
        boundary(reader, outside)
    };
    let case = Case {
        window,
        mask,
        rank,
        origin: window.map(|taps| origin(reader, taps)),
        boundaries: [rows, compatible(reader, rows)],
        extent: extent(reader),
        stride: [0; 2].map(|_| reader.pick(&[1, 1, 1, 2, 3, 1 << 30])),
        channels: reader.pick(&[None, None, Some(1), Some(2), Some(3)]),
        omit: reader.flag(),
        planes: 1,
        shape: [reader.below(9), reader.below(11)],
        samples: Vec::new(),
    };
    let samples = reader.numbers(case.sample_count(), kind, false);
    Case { samples, ..case }
}

/// Returns the case with one channel, of its first samples.
fn with_one_channel(mut case: Case) -> Case {
    case.channels = None;
    case.samples.truncate(case.sample_count());
    case
}

/// Returns a mask with at least one sample, or none.
fn mask(reader: &mut Reader<'_>, len: usize) -> Option<Vec<bool>> {
    let own = reader.below(len);
    reader
        .flag()
        .then(|| reader.bytes(len).into_iter().enumerate().map(|(at, byte)| at == own || byte % 3 > 0).collect())
}

fn filter<T: RankElement + Number>(case: &Case, algorithm: Rank2dAlgorithm) -> Rank2d<T> {
    let [rows, columns] = case.window;
    let window = match &case.mask {
        None => RankWindow::rectangle(rows, columns),
        Some(mask) => {
            RankWindow::from(&Array2::from_shape_fn((rows, columns), |(row, column)| mask[row * columns + column]))
        }
    };
    let filter = match case.rank {
        Rank::Median => Rank2d::median(window),
        Rank::Minimum => Rank2d::minimum(window),
        Rank::Maximum => Rank2d::maximum(window),
        Rank::At(rank) => Rank2d::rank(window, rank),
        Rank::Percentile(percentile) => Rank2d::percentile(window, percentile),
    };
    let [above, before] = case.boundaries.map(typed);
    let policy = if case.omit { RankNanPolicy::Omit } else { RankNanPolicy::Propagate };
    let filter = filter.boundaries(above, before).extent(case.extent).origin(case.origin[0], case.origin[1]);
    let filter = filter.stride(case.stride[0], case.stride[1]).nan_policy(policy).algorithm(algorithm);
    if let Some(channels) = case.channels { filter.channels(channels) } else { filter }
}

fn check<T: RankElement + Number>(case: &Case, algorithm: Rank2dAlgorithm, device: &Device) {
    let what = (T::KIND, algorithm, device.to_string(), case);
    let filter = match filter::<T>(case, algorithm).prepare(device) {
        Err(error) if algorithm != Rank2dAlgorithm::Auto && is_refusal(&error) => return,
        prepared => expect(prepared, &what),
    };
    let pixels = |[rows, columns]: [usize; 2]| [rows, columns * case.channels()];
    let samples = expect(matrix::<T>(device, &case.samples, pixels(case.shape), 3), &what);
    let shape = pixels(case.output_shape());
    if case.samples.is_empty() || shape.contains(&0) {
        return;
    }
    let mut results = expect(matrix::<T>(device, &vec![0.0; shape[0] * shape[1]], shape, 1), &what);
    match filter.apply_into(&samples, &mut results) {
        Err(error) if algorithm != Rank2dAlgorithm::Auto && is_refusal(&error) => return,
        result => expect(result, &what),
    }
    assert_eq!(bits(&expect(contents(results), &what)), bits(&case.outputs()), "{what:?}");
}
