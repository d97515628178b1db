//! `Rank1d`, against sorted windows: lines are rows or columns of pictures.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slm::{Device, Rank1d, RankElement, RankNanPolicy};
use slm_fuzz::{Reader, boundary, contents, devices, expect, extent, for_rank_types, matrix, origin, typed};
use slm_test_support::numbers::{Kind, Number, bits};
use slm_test_support::rank2d::{Case, Rank};

type Check = fn(&Lines, &Device);

const TYPES: [(Kind, Check); 6] = for_rank_types!(check);

/// A filter of lines along an axis of a picture.
#[derive(Debug)]
struct Lines {
    axis: usize,
    case: Case,
}

fuzz_target!(|input: &[u8]| {
    let reader = &mut Reader::new(input);
    let ((kind, check), devices) = (reader.pick(&TYPES), devices(reader));
    let lines = read(reader, kind);
    devices.iter().for_each(|device| check(&lines, device));
});

fn read(reader: &mut Reader<'_>, kind: Kind) -> Lines {
    let (axis, taps) = (reader.below(2), reader.within(1, 20));
    let any = reader.below(2 * taps) as isize - taps as isize;
    let percentile = reader.pick(&[0.0, 25.0, 50.0, 99.9, 100.0]);
    let rank = reader.pick(&[Rank::Median, Rank::Minimum, Rank::Maximum, Rank::At(any), Rank::Percentile(percentile)]);
    let outside = reader.number(kind, false);
    let case = Case {
        window: placed(axis, taps, 1),
        mask: None,
        rank,
        origin: placed(axis, origin(reader, taps), 0),
        boundaries: [boundary(reader, outside); 2],
        extent: extent(reader),
        stride: placed(axis, reader.pick(&[1, 1, 1, 2, 3, 1 << 30]), 1),
        channels: Some(reader.within(1, 2)),
        omit: reader.flag(),
        planes: 1,
        shape: placed(axis, reader.below(24), reader.below(3)),
        samples: Vec::new(),
    };
    let samples = reader.numbers(case.sample_count(), kind, false);
    Lines { axis, case: Case { samples, ..case } }
}

/// Returns a number along an axis, and one across it, in the order of the axes.
fn placed<T>(axis: usize, along: T, across: T) -> [T; 2] {
    if axis == 0 { [along, across] } else { [across, along] }
}

fn filter<T: RankElement + Number>(Lines { axis, case }: &Lines) -> Rank1d<T> {
    let taps = case.window[*axis];
    let filter = match case.rank {
        Rank::Median => Rank1d::median(taps),
        Rank::Minimum => Rank1d::minimum(taps),
        Rank::Maximum => Rank1d::maximum(taps),
        Rank::At(rank) => Rank1d::rank(taps, rank),
        Rank::Percentile(percentile) => Rank1d::percentile(taps, percentile),
    };
    let policy = if case.omit { RankNanPolicy::Omit } else { RankNanPolicy::Propagate };
    let filter = filter.boundary(typed(case.boundaries[*axis])).extent(case.extent).origin(case.origin[*axis]);
    filter.stride(case.stride[*axis]).channels(case.channels()).nan_policy(policy)
}

fn check<T: RankElement + Number>(lines: &Lines, device: &Device) {
    let what = (T::KIND, device.to_string(), lines);
    let case = &lines.case;
    let filter = expect(filter::<T>(lines).prepare(device), &what).along(lines.axis);
    let pixels = |[rows, columns]: [usize; 2]| [rows, columns * case.channels()];
    let samples = expect(matrix::<T>(device, &case.samples, pixels(case.shape), 3), &what);
    let shape = pixels(case.output_shape());
    if case.samples.is_empty() || shape.contains(&0) {
        return;
    }
    let mut results = expect(matrix::<T>(device, &vec![0.0; shape[0] * shape[1]], shape, 1), &what);
    expect(filter.apply_into(&samples, &mut results), &what);
    assert_eq!(bits(&expect(contents(results), &what)), bits(&case.outputs()), "{what:?}");
}
