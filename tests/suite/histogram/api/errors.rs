//! The texts of all errors of histograms, the conditions of those that need no GPU, and that a failed call changes nothing.

use crate::errors::fails;
use slm::histogram::{HistogramAlgorithm, HistogramElement, HistogramError, MemoryOrder};
use slm::ndarray::Array3;
use slm::{Device, Error, Histogram};

/// Checks the error of a histogram. The texts are compared, because NaN is not equal to itself.
#[track_caller]
fn is_refused<T: HistogramElement>(histogram: &Histogram<T>, expected: impl Into<Error>) {
    let expected = expected.into();
    let error = histogram.prepare(&Device::cpu()).expect_err("there is no such histogram");
    assert_eq!(error.to_string(), expected.to_string());
    assert_eq!(std::mem::discriminant(&error), std::mem::discriminant(&expected));
}

#[test]
fn texts() {
    let texts = [
        (HistogramError::Bins { bins: 0, limit: 1 << 24 }, "a histogram must have 1 to 16777216 bins, not 0"),
        (HistogramError::LowBits { bits: 17, limit: 16 }, "a histogram cannot count 17 low bits: use 1 to 16"),
        (
            HistogramError::Range { lower: 3.0, upper: -0.5 },
            "the range of a histogram must go from a finite number to a larger finite number, not from 3 to -0.5",
        ),
        (
            HistogramError::Range { lower: f64::from(f32::MAX), upper: f64::NEG_INFINITY },
            "the range of a histogram must go from a finite number to a larger finite number, not from 3.4028235e38 to -inf",
        ),
        // Numbers that are an `f32` are printed with the digits of an `f32`.
        (
            HistogramError::Range { lower: 0.7f32.into(), upper: 0.1f32.into() },
            "the range of a histogram must go from a finite number to a larger finite number, not from 0.7 to 0.1",
        ),
        (
            HistogramError::Range { lower: 0.1f32.into(), upper: 0.1 },
            "the range of a histogram must go from a finite number to a larger finite number, not from 0.10000000149011612 to 0.1",
        ),
        (
            HistogramError::Range { lower: u32::MAX.into(), upper: i32::MIN.into() },
            "the range of a histogram must go from a finite number to a larger finite number, not from 4294967295 to -2147483648",
        ),
        (
            HistogramError::EdgeOrder { index: 0, edge: f64::from(1u32 << 31), next: -0.0 },
            "the edges of a histogram must ascend, but edge 0 is 2147483648 and the next one is -0",
        ),
        (
            HistogramError::InnerEdge { index: 2, edge: 300.0 },
            "only the first and the last edge of a histogram may lie outside the range of the sample type, but edge 2 is 300",
        ),
        (
            HistogramError::SeveralChannels { channels: 3 },
            "the histogram counted 3 channels: select one with `channel`, or iterate over `channels`",
        ),
        (HistogramError::Edges { edges: 1 }, "a histogram must have at least 2 edges, not 1"),
        (
            HistogramError::EdgeOrder { index: 3, edge: 2.5, next: f64::NAN },
            "the edges of a histogram must ascend, but edge 3 is 2.5 and the next one is NaN",
        ),
        (
            HistogramError::Channels { channels: 3, counted: 4 },
            "a histogram cannot count 4 of 3 channels: use at least 1 and at most all",
        ),
        (
            HistogramError::Interleaving { samples: 10, channels: 4 },
            "10 samples cannot be divided evenly among 4 channels",
        ),
        (
            HistogramError::NoKernel { algorithm: HistogramAlgorithm::Critical, samples: "f64", is_searched: false },
            "Critical has no kernel for f64 samples in bins that are computed: it has kernels for u8 samples, and for u32, i32 and \
             f32 samples in bins that are computed",
        ),
        (
            HistogramError::NoKernel {
                algorithm: HistogramAlgorithm::GlobalAtomic(MemoryOrder::SeqCst),
                samples: "i32",
                is_searched: true,
            },
            "GlobalAtomic(SeqCst) has no kernel for i32 samples in bins that are searched: it has kernels for u8 samples, and for \
             u32, i32 and f32 samples in bins that are computed",
        ),
        (HistogramError::OtherBins, "the sums to add to belong to other bins or channels"),
        (HistogramError::Weight { index: 5, weight: f64::INFINITY }, "weights must be finite, but weight 5 is inf"),
    ];
    for (error, text) in texts {
        assert_eq!(Error::from(error).to_string(), text);
    }
}

#[test]
fn numbers_of_bins() {
    for bins in [0, (1 << 24) + 1, usize::MAX] {
        is_refused(&Histogram::even(bins, 0.0..1.0), HistogramError::Bins { bins, limit: 1 << 24 });
        is_refused(&Histogram::even(bins, 5u8..5), HistogramError::Bins { bins, limit: 1 << 24 });
    }
    let edges: Vec<u32> = (0..(1 << 24) + 2).collect();
    is_refused(&Histogram::edges(&edges), HistogramError::Bins { bins: (1 << 24) + 1, limit: 1 << 24 });
    assert_eq!(Histogram::edges(&edges[1..]).prepare(&Device::cpu()).unwrap().bins(), 1 << 24);
    for bits in [0, 17, 32, u32::MAX] {
        is_refused(&Histogram::low_bits(bits), HistogramError::LowBits { bits, limit: 16 });
    }
}

#[test]
fn ranges() {
    #[track_caller]
    fn refused<T: HistogramElement + Into<f64>>(lower: T, upper: T) {
        is_refused(
            &Histogram::even(10, lower..upper),
            HistogramError::Range { lower: lower.into(), upper: upper.into() },
        );
    }
    refused(7u8, 7);
    refused(8u16, 7);
    refused(u32::MAX, 0);
    refused(1, -1);
    refused(0.0f32, -0.0);
    for bound in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        refused(0.0, bound);
        refused(bound, 0.0);
        refused(f64::from(bound), 0.0);
        refused(f64::from(bound), f64::from(bound));
    }
}

/// Every range of finite numbers has bins, even if its width, or the bins divided by it, exceeds the range of `f64`.
#[test]
fn widths_beyond_f64() {
    let device = Device::cpu();
    let wide = Histogram::even(2, f64::MIN..f64::MAX).prepare(&device).unwrap();
    assert_eq!(wide.edges(), [f64::MIN, 0.0, f64::MAX]);
    assert_eq!(wide.apply(&[f64::MIN, -5e-324, -0.0, 0.0, 1e308]).unwrap().bins().unwrap(), [2, 3]);
    let smallest = f64::from_bits(1);
    let narrow = Histogram::even(3, 0.0..smallest).closed().prepare(&device).unwrap();
    assert_eq!(narrow.edges(), [0.0, 0.0, smallest, smallest]);
    assert_eq!(narrow.apply(&[0.0, smallest]).unwrap().bins().unwrap(), [0, 1, 1]);
    assert_eq!(Histogram::even(1 << 24, 0.0..1e-302).prepare(&device).unwrap().bins(), 1 << 24);
}

#[test]
fn edges_that_do_not_ascend() {
    for edges in [&[][..], &[1.0f32]] {
        is_refused(&Histogram::edges(edges), HistogramError::Edges { edges: edges.len() });
    }
    let order = |index, edge, next| HistogramError::EdgeOrder { index, edge, next };
    is_refused(&Histogram::<i32>::edges(&[1, 2, 2, 1]), order(1, 2.0, 2.0));
    is_refused(&Histogram::edges(&[3u8, 2]), order(0, 3.0, 2.0));
    is_refused(&Histogram::edges(&[-0.0, 0.0]), order(0, -0.0, 0.0));
    is_refused(&Histogram::edges(&[0.0, 1.0, f64::INFINITY, f64::INFINITY]), order(2, f64::INFINITY, f64::INFINITY));
    is_refused(&Histogram::edges(&[f32::NAN, 1.0]), order(0, f64::NAN, 1.0));
    is_refused(&Histogram::edges(&[0.0, 1.0, f32::NAN]), order(1, 1.0, f64::NAN));
}

#[test]
fn edges_that_no_sample_can_be() {
    let outside = |index, edge| HistogramError::InnerEdge { index, edge };
    is_refused(&Histogram::<u8>::edges(&[0, 256, 300]), outside(1, 256.0));
    is_refused(&Histogram::<u8>::edges(&[-2, -1, 3]), outside(1, -1.0));
    is_refused(&Histogram::<u32>::edges(&[0, 1, 2, 1i64 << 32, i64::MAX]), outside(3, 4_294_967_296.0));
    is_refused(&Histogram::<u8>::even(9, 256..256), HistogramError::Range { lower: 256.0, upper: 256.0 });
    // Numbers that are equal as `f64`.
    assert!(Histogram::<i32>::even(9, i64::MAX - 1..i64::MAX).prepare(&Device::cpu()).is_ok());
}

/// The accessors of a single channel fail for several channels.
#[test]
fn counts_of_several_channels() {
    let histogram = Histogram::even(2, 0..4).channels(3).count(2).prepare(&Device::cpu()).unwrap();
    let counts = histogram.apply(&[0, 3, 9, 1, 2, 9]).unwrap();
    let error = || HistogramError::SeveralChannels { channels: 2 };
    fails(counts.bins().map(<[u64]>::to_vec), error());
    fails(counts.below(), error());
    fails(counts.above(), error());
    fails(counts.nan(), error());
    assert_eq!(counts.channels().map(|channel| channel.bins.to_vec()).collect::<Vec<_>>(), [[2, 0], [0, 2]]);
    // They succeed if only one of several channels is counted.
    let first = Histogram::even(2, 0..4).channels(3).count(1).prepare(&Device::cpu()).unwrap();
    assert_eq!(first.apply(&[0, 3, 9, 1, 2, 9]).unwrap().bins().unwrap(), [2, 0]);
}

#[test]
fn numbers_of_channels() {
    let refused = |histogram: Histogram<u8>, channels, counted| {
        is_refused(&histogram, HistogramError::Channels { channels, counted });
    };
    refused(Histogram::bytes().channels(0), 0, 0);
    refused(Histogram::bytes().channels(3).count(0), 3, 0);
    refused(Histogram::bytes().channels(3).count(4), 3, 4);
    refused(Histogram::bytes().count(usize::MAX), 1, usize::MAX);
    let large = |what, factors| Error::TooLarge { what, factors, limit: 1 << 31 };
    let channels = (1 << 31) + 1;
    is_refused(&Histogram::bytes().channels(channels).count(1), large("the number of channels", [channels as u64, 1]));
    let many = Histogram::even(1 << 24, 0u32..9);
    is_refused(&many.clone().channels(128), large("the number of a histogram's counters", [128, (1 << 24) + 3]));
    assert_eq!(many.channels(127).prepare(&Device::cpu()).unwrap().counts_len(), 127 * ((1 << 24) + 3));
}

#[test]
fn samples_that_channels_do_not_divide() {
    let device = Device::cpu();
    let histogram = Histogram::bytes().channels(4).count(1).prepare(&device).unwrap();
    let error = HistogramError::Interleaving { samples: 6, channels: 4 };
    let before: Vec<u64> = (0..259).collect();
    let mut counts = device.upload(&before).unwrap();
    fails(histogram.apply(&[0; 6]), error.clone());
    fails(histogram.apply_into(&device.upload(&[0; 6]).unwrap(), &mut counts), error.clone());
    fails(histogram.accumulate_into(&device.upload(&[0; 6]).unwrap(), &mut counts), error.clone());
    fails(histogram.apply_weighted(&[0; 6], &[0.0; 6]), error.clone());
    let (samples, weights) = (device.upload(&[0; 6]).unwrap(), device.upload(&[0.0; 6]).unwrap());
    fails(histogram.apply_weighted(&samples, &weights), error);
    assert_eq!(counts.download().unwrap(), before);
}

#[test]
fn lengths() {
    let device = Device::cpu();
    let histogram = Histogram::low_bits(2).prepare(&device).unwrap();
    let samples = device.upload(&[1, 2, 3]).unwrap();
    for actual in [0, 4, 6, 8] {
        let mut counts = device.upload(&vec![5; actual]).unwrap();
        let error = Error::Length { what: "the buffer of counts", expected: 7, actual };
        fails(histogram.apply_into(&samples, &mut counts), error.clone());
        fails(histogram.accumulate_into(&samples, &mut counts), error.clone());
        fails(histogram.counts(&counts), error);
        assert_eq!(counts.download().unwrap(), vec![5; actual]);
    }
    let weights = |actual| Error::Length { what: "the weights", expected: 3, actual };
    fails(histogram.apply_weighted(&[1, 2, 3], &[0.0; 2]), weights(2));
    fails(histogram.apply_weighted(&samples, &device.upload(&[0.0; 4]).unwrap()), weights(4));
    // Sums with other bins. A failed call does not change them.
    let other = Histogram::low_bits(3).prepare(&device).unwrap();
    let mut sums = other.apply_weighted(&[1], &[0.5f32]).unwrap();
    let before = sums.clone();
    let error = Error::Length { what: "the sums to add to", expected: 7, actual: 11 };
    fails(histogram.accumulate_weighted(&[1], &[1.0f32], &mut sums), error.clone());
    fails(histogram.accumulate_weighted(&samples, &device.upload(&[1.0f32; 3]).unwrap(), &mut sums), error);
    fails(other.accumulate_weighted(&[1, 2, 3], &[0.0; 2], &mut sums), weights(2));
    let not_finite = HistogramError::Weight { index: 1, weight: f64::NEG_INFINITY };
    fails(other.accumulate_weighted(&[1, 2], &[0.0, f64::NEG_INFINITY], &mut sums), not_finite);
    assert_eq!(sums, before);
    // The same number of counters, but other bins or channels.
    let tens = |bins, range: std::ops::Range<i32>, channels| {
        Histogram::<u8>::even(bins, range).channels(channels).prepare(&device).unwrap()
    };
    let mut sums = tens(12, 0..12, 1).apply_weighted(&[1], &[0.5f32]).unwrap();
    let before = sums.clone();
    for other in [tens(12, 100..112, 1), tens(2, 0..12, 3)] {
        fails(other.accumulate_weighted(&[1, 2, 3], &[1.0f32; 3], &mut sums), HistogramError::OtherBins);
    }
    assert_eq!(sums, before);
    // Planar channels instead of interleaved ones.
    let planar = Array3::<u8>::zeros((3, 2, 5));
    let error = HistogramError::Interleaving { samples: 5, channels: 3 };
    fails(tens(2, 0..12, 3).apply(planar.view()), error.clone());
    fails(tens(2, 0..12, 3).apply_weighted(planar.view(), Array3::<f32>::zeros((3, 2, 5)).view()), error);
    // As many weights, in another shape.
    let weights = Array3::<f64>::zeros((2, 3, 5));
    let error = Error::Axes { what: "the weights", expected: vec![3, 2, 5], actual: vec![2, 3, 5] };
    let text = "the axes of the weights have the lengths [2, 3, 5], but must have [3, 2, 5]";
    assert_eq!(error.to_string(), text);
    let ones = tens(12, 0..12, 1);
    fails(ones.apply_weighted(planar.view(), weights.view()), error.clone());
    let mut sums = ones.apply_weighted(&[1], &[0.5f32]).unwrap();
    let before = sums.clone();
    fails(ones.accumulate_weighted(planar.view(), weights.view(), &mut sums), error);
    assert_eq!(sums, before);
    assert!(tens(2, 0..12, 3).apply(planar.view().permuted_axes([1, 2, 0])).is_ok());
}

#[test]
fn weights_that_are_not_finite() {
    let device = Device::cpu();
    let histogram = Histogram::even(2, 0..2).channels(2).count(1).prepare(&device).unwrap();
    for weight in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
        // The error names the first of two, even though its channel is not counted.
        let weights = [0.0, weight, 1.0, f32::INFINITY];
        let text = format!("weights must be finite, but weight 1 is {weight}");
        assert_eq!(histogram.apply_weighted(&[0; 4], &weights).unwrap_err().to_string(), text);
        let (samples, weights) = (device.upload(&[0; 4]).unwrap(), device.upload(&weights).unwrap());
        assert_eq!(histogram.apply_weighted(&samples, &weights).unwrap_err().to_string(), text);
    }
}

#[test]
fn buffers_of_another_handle() {
    let (device, other) = (Device::cpu(), Device::cpu());
    let histogram = Histogram::low_bits(1).prepare(&device).unwrap();
    let mismatch = |operand| Error::DeviceMismatch { operand, expected: "CPU".into(), actual: "CPU".into() };
    let (samples, foreign) = (device.upload(&[1]).unwrap(), other.upload(&[1]).unwrap());
    let (mut counts, mut foreign_counts) = (device.zeroed(5).unwrap(), other.zeroed(5).unwrap());
    fails(histogram.apply_into(&foreign, &mut counts), mismatch("the input"));
    fails(histogram.apply_into(&samples, &mut foreign_counts), mismatch("the counts"));
    fails(histogram.accumulate_into(&foreign, &mut counts), mismatch("the input"));
    fails(histogram.accumulate_into(&samples, &mut foreign_counts), mismatch("the counts"));
    fails(histogram.counts(&foreign_counts), mismatch("the counts"));
    let weights = other.upload(&[1.0]).unwrap();
    fails(histogram.apply_weighted(&samples, &weights), mismatch("the weights"));
    histogram.apply_into(&samples, &mut counts).unwrap();
    assert_eq!(counts.download().unwrap(), [0, 1, 0, 0, 0]);
}
