//! `Histogram` with all kinds of bins, and its sums of weights, against the definitions: counts and sums are exact.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slm::histogram::HistogramAlgorithm;
use slm::{Device, Histogram};
use slm_fuzz::{Reader, devices, expect};
use slm_test_support::histogram::{ALGORITHMS, Bins, Case, Number, flat};
use slm_test_support::numbers::Kind;
use std::ops::Range;

/// Counts samples of one type on all devices.
type Check = fn(&mut Reader<'_>);

const TYPES: [Check; 6] = [
    |reader| check(reader, bytes, |number| number as u8, Kind::U8),
    |reader| check(reader, low_bits, |number| number as u16, Kind::U16),
    |reader| check(reader, own_bins, |number| number.abs() as u32, Kind::I32),
    |reader| check(reader, own_bins, |number| number as i32, Kind::I32),
    |reader| check(reader, own_bins, |number| number as f32, Kind::F32),
    |reader| check(reader, own_bins, |number| number, Kind::F64),
];

fuzz_target!(|input: &[u8]| {
    let reader = &mut Reader::new(input);
    reader.pick(&TYPES)(reader);
});

fn bytes(reader: &mut Reader<'_>) -> Option<Case<u8>> {
    reader.flag().then(|| Case::new(Histogram::bytes(), Bins::Numbers(256)))
}

fn low_bits(reader: &mut Reader<'_>) -> Option<Case<u16>> {
    let bits = reader.within(1, 12);
    reader.flag().then(|| Case::new(Histogram::low_bits(bits as u32), Bins::Remainders(1 << bits)))
}

/// No bins but those of all types.
fn own_bins<T: Number>(_: &mut Reader<'_>) -> Option<Case<T>> {
    None
}

fn check<T: Number>(
    reader: &mut Reader<'_>,
    own: fn(&mut Reader<'_>) -> Option<Case<T>>,
    of: fn(f64) -> T,
    kind: Kind,
) {
    let numbers = |reader: &mut Reader<'_>, count, finite| -> Vec<T> {
        reader.numbers(count, kind, finite).into_iter().map(of).collect()
    };
    let devices = devices(reader);
    let algorithm = if reader.flag() { HistogramAlgorithm::Auto } else { reader.pick(&ALGORITHMS) };
    let own = own(reader);
    let count = reader.within(2, 40);
    let edges = ascending(numbers(reader, count, true));
    let Some(&[first, .., last]) = edges.get(..) else { return };
    let bins = reader.pick(&[1, 2, 3, 10, 255, 256, 257, 3000]);
    let case = own.unwrap_or_else(|| if reader.flag() { even(bins, first..last) } else { Case::edges(&edges) });
    let channels = reader.within(1, 4);
    let case = Case { closed: reader.flag(), channels, counted: reader.within(1, channels), ..case };
    let count = reader.below(60) * channels;
    let weights: Vec<f32> = reader.numbers(count, Kind::F32, true).into_iter().map(|number| number as f32).collect();
    let samples = numbers(reader, count, false);
    for device in &devices {
        count_on(device, &case, algorithm, &samples, &weights);
    }
}

fn even<T: Number>(bins: usize, range: Range<T>) -> Case<T> {
    Case::even(bins, range)
}

/// Returns the different numbers in ascending order.
fn ascending<T: Number>(mut numbers: Vec<T>) -> Vec<T> {
    numbers.sort_by(|a, b| (*a).into().total_cmp(&(*b).into()));
    // Zeros of both signs are the same edge.
    numbers.dedup_by(|a, b| a == b);
    numbers
}

fn count_on<T: Number>(device: &Device, case: &Case<T>, algorithm: HistogramAlgorithm, samples: &[T], weights: &[f32]) {
    let what = (T::NAME, device.to_string(), algorithm, case, samples, weights);
    let histogram = match case.described().algorithm(algorithm).prepare(device) {
        // Some algorithms have no kernel for some bins, or need too much shared memory.
        Err(_) if algorithm != HistogramAlgorithm::Auto => return,
        prepared => expect(prepared, &what),
    };
    let counted = case.counted(samples);
    assert_eq!(flat(&expect(histogram.apply(samples), &what)), counted.counts(), "{what:?}");
    let sums = flat(&expect(histogram.apply_weighted(samples, weights), &what).sums);
    let bits = |sums: Vec<f64>| sums.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(sums), bits(counted.sums(weights)), "{what:?}");
}
