use super::*;
use crate::Error;
use crate::device::info::{Backend, DeviceInfo};
use crate::histogram::{Bins, CountingRule};
use std::ops::Range;

/// Shared memory and constants of an H200 and of a T4.
fn devices() -> [(SharedMemory, HistogramTuning); 2] {
    [([227, 228], 2048), ([64, 64], 1024)].map(|(kib, threads)| {
        let shared = SharedMemory::of_kib(kib[0], kib[1]);
        let info = DeviceInfo {
            backend: Backend::Cuda,
            name: "a GPU".to_owned(),
            selection: "chosen".to_owned(),
            compute_capability: None,
            processors: 100,
            threads_per_multiprocessor: Some(threads),
            memory: None,
            l2_cache: None,
            shared_memory: Some(shared),
        };
        (shared, HistogramTuning::new(&info, shared))
    })
}

fn facts<T: SampleType>(bins: Bins<T>, channels: usize) -> Facts<T> {
    Facts::new(CountingRule { bins, closed: false, channels, counted: channels }).unwrap()
}

fn even<T: SampleType>(bins: usize, range: Range<T::Bound>) -> Facts<T> {
    facts(Bins::Even { bins, lower: range.start, upper: range.end }, 1)
}

fn chosen<T: SampleType>(facts: &Facts<T>, algorithm: HistogramAlgorithm) -> Result<Choice> {
    let [(shared, tuning), _] = devices();
    choose(facts, algorithm, shared, &tuning)
}

fn bins<T: SampleType>(facts: &Facts<T>) -> KernelBins {
    chosen(facts, HistogramAlgorithm::Auto).unwrap().bins
}

#[test]
fn bins_of_equal_width_take_the_simplest_arithmetic_that_is_right() {
    assert!(matches!(bins(&even::<u16>(3, 0..10)), KernelBins::EvenU16(even) if even.last == 9));
    assert!(matches!(bins(&even::<f32>(256, 0.0..1.0)), KernelBins::EvenF32(_)));
    assert!(matches!(bins(&even::<f32>(10, 0.0..1.0)), KernelBins::RoundedF32(_)));
    assert!(matches!(bins(&even::<f64>(4, -1.0..1.0)), KernelBins::EvenF64(_)));
    assert!(matches!(bins(&even::<f64>(3, -1.0..1.0)), KernelBins::RoundedF64(_)));
    // No arithmetic has more digits than the sample type has near its smallest numbers.
    let smallest = f64::from_bits(1);
    let searched = bins(&even::<f64>(3, 0.0..smallest));
    assert!(matches!(searched, KernelBins::SearchedF64(bins) if bins.edges[..] == [0.0, 0.0, smallest, smallest]));
}

#[test]
fn other_bins_are_searched_or_counted_by_value() {
    let edges = facts::<f32>(Bins::Edges(Arc::new([0.0, 0.5, 7.0].into())), 1);
    assert!(matches!(bins(&edges), KernelBins::SearchedF32(bins) if bins.edges[..] == [0.0, 0.5, 7.0]));
    // A range that begins below the smallest sample value is cut.
    let below = even::<u32>(4, -100..300);
    assert!(matches!(bins(&below), KernelBins::SearchedWords(bins) if bins.edges[..] == [0, 100, 200, 300]));
    assert_eq!(below.first, 1);
    assert!(matches!(bins(&facts::<u16>(Bins::LowBits(3), 1)), KernelBins::LowBits(low_bits) if low_bits.mask == 7));
    for bytes in [even::<u8>(2, 10..20), facts(Bins::Edges(Arc::new([10, 15, 20].into())), 1)] {
        let KernelBins::Bytes(cells) = bins(&bytes) else { panic!("{bytes:?}") };
        assert_eq!([0, 10, 14, 15, 19, 20, 255].map(|value| cells[value]), [2, 0, 0, 1, 1, 3, 3]);
    }
}

/// Integers of 32 bits share their kernels: what counts is the distance from the smallest number inside.
#[test]
fn integers_of_32_bits_are_distances() {
    let KernelBins::EvenWords(signed) = bins(&even::<i32>(4, -60..64)) else { panic!("not computed") };
    let KernelBins::EvenWords(unsigned) = bins(&even::<u32>(4, 7..131)) else { panic!("not computed") };
    let range = |lower, top| WordRange { lower, span: 123, top, bins: 4 };
    assert_eq!(format!("{:?}", signed.range), format!("{:?}", range(-60i32 as u32, i32::MAX as u32 + 60)));
    assert_eq!(format!("{:?}", unsigned.range), format!("{:?}", range(7, u32::MAX - 7)));
    let edges = facts::<i32>(Bins::Edges(Arc::new([-60, -29, 2, 33].into())), 1);
    assert!(matches!(bins(&edges), KernelBins::SearchedWords(bins) if bins.edges[..] == [0, 31, 62, 93]));
}

#[test]
fn the_fastest_algorithm_depends_on_the_number_of_counters() {
    use HistogramAlgorithm::{Auto, CachedAtomic, LanePrivate, SharedAtomic};
    let shared = SharedAtomic(MemoryOrder::Relaxed);
    for (device, bins, expected) in [
        (0, 256, (LanePrivate, CountingKernel::Shared, 1, 5)),
        (0, 1000, (LanePrivate, CountingKernel::Shared, 1, 4)),
        (0, 16_384, (shared, CountingKernel::Shared, 1, 0)),
        (0, 58_105, (shared, CountingKernel::Alone, 1, 0)),
        (0, 58_112, (shared, CountingKernel::Alone, 2, 0)),
        (0, 1 << 20, (CachedAtomic, CountingKernel::Cached, 1, 0)),
        (1, 256, (LanePrivate, CountingKernel::Shared, 1, 4)),
        (1, 16_382, (shared, CountingKernel::Alone, 2, 0)),
        (1, 200_000, (CachedAtomic, CountingKernel::Cached, 1, 0)),
    ] {
        let (memory, tuning) = &devices()[device];
        let Choice { algorithm, kernel, geometry, .. } =
            choose(&even::<f32>(bins, 0.0..1.0), Auto, *memory, tuning).unwrap();
        assert_eq!((algorithm, kernel, geometry.ranges, geometry.copies_log2), expected, "{bins} on {device}");
    }
}

/// Edges of one channel are searched in shared memory, unless additions are ordered.
#[test]
fn one_channel_of_edges_has_a_guide() {
    use HistogramAlgorithm::{Auto, CachedAtomic, LanePrivate, SharedAtomic};
    let (relaxed, seq_cst) = (MemoryOrder::Relaxed, MemoryOrder::SeqCst);
    for (bins, channels, algorithm, kernel, ranges, copies_log2) in [
        (256, 1, Auto, CountingKernel::Guided, 1, 5),
        (256, 1, SharedAtomic(relaxed), CountingKernel::Guided, 1, 0),
        (256, 1, SharedAtomic(seq_cst), CountingKernel::Shared, 1, 0),
        (256, 3, Auto, CountingKernel::Shared, 1, 5),
        (65_536, 1, LanePrivate, CountingKernel::Guided, 3, 0),
        (1 << 18, 1, Auto, CountingKernel::Guided, 12, 0),
        (1 << 19, 1, Auto, CountingKernel::Cached, 1, 0),
        (256, 1, CachedAtomic, CountingKernel::Cached, 1, 0),
    ] {
        let edges = facts::<f32>(Bins::Edges(Arc::new((0..=bins).map(|edge| edge as f32).collect())), channels);
        let choice = chosen(&edges, algorithm).unwrap();
        let Choice { kernel: chosen, geometry, .. } = choice;
        let expected = (kernel, ranges, copies_log2, kernel == CountingKernel::Guided);
        let found = (chosen, geometry.ranges, geometry.copies_log2, geometry.has_guide());
        assert_eq!(found, expected, "{bins} bins, {channels} channels, {algorithm:?}");
    }
}

/// Several channels have fewer ranges, above all if bins are searched.
#[test]
fn ranges_cost_more_for_channels_and_searches() {
    let reason = |choice: Result<Choice>| choice.unwrap().reason;
    let channels = facts::<u16>(Bins::Even { bins: 60_000, lower: 0, upper: 60_000 }, 5);
    assert_eq!(
        reason(chosen(&channels, HistogramAlgorithm::Auto)),
        "300015 counters of 4 bytes need 6 ranges of 227 KiB, and more than 4 are slow"
    );
    let searched = facts::<u16>(Bins::Edges(Arc::new((0..=60_000).collect())), 1);
    assert_eq!(
        reason(chosen(&searched, HistogramAlgorithm::Auto)),
        "60003 counters of 4 bytes, edges of 2 bytes and a guide fit into 3 times 227 KiB"
    );
    let searched = facts::<f64>(Bins::Edges(Arc::new((0..=256).map(f64::from).collect())), 1);
    assert_eq!(
        reason(chosen(&searched, HistogramAlgorithm::Auto)),
        "259 counters of 4 bytes in 32 copies, edges of 8 bytes and a guide fit into half of 228 KiB"
    );
    let searched_channels = facts::<u16>(Bins::Edges(Arc::new((0..=60_000).collect())), 2);
    assert_eq!(
        reason(chosen(&searched_channels, HistogramAlgorithm::Auto)),
        "120006 counters of 4 bytes need 3 ranges of 227 KiB, and more than 1 are slow"
    );
}

#[test]
fn required_algorithms_are_taken() {
    use HistogramAlgorithm::{CachedAtomic, Critical, GlobalAtomic, LanePrivate, PrivatePerThread, SharedAtomic};
    let (relaxed, seq_cst) = (MemoryOrder::Relaxed, MemoryOrder::SeqCst);
    let (few, many) = (even::<f32>(100, 0.0..1.0), even::<f32>(50_000, 0.0..1.0));
    for (facts, algorithm, kernel) in [
        (&few, Critical, CountingKernel::Critical),
        (&few, GlobalAtomic(seq_cst), CountingKernel::Global),
        (&few, CachedAtomic, CountingKernel::Cached),
        (&few, PrivatePerThread, CountingKernel::Private),
        (&few, SharedAtomic(relaxed), CountingKernel::Shared),
        (&many, SharedAtomic(relaxed), CountingKernel::Alone),
        (&many, SharedAtomic(seq_cst), CountingKernel::Shared),
        (&many, LanePrivate, CountingKernel::Alone),
    ] {
        let choice = chosen(facts, algorithm).unwrap();
        assert_eq!((choice.algorithm, choice.kernel, &*choice.reason), (algorithm, kernel, "requested"));
    }
}

#[test]
fn few_samples_and_bins_are_counted_in_ways_that_are_never_the_fastest() {
    use HistogramAlgorithm::{CachedAtomic, Critical, GlobalAtomic, LanePrivate, PrivatePerThread, SharedAtomic};
    fn check<T: SampleType>(facts: &Facts<T>, is_searched: bool, is_supported: bool) {
        for algorithm in [Critical, GlobalAtomic(MemoryOrder::Relaxed), PrivatePerThread] {
            let error = HistogramError::NoKernel { algorithm, samples: T::NAME, is_searched };
            let expected = if is_supported { Ok(algorithm) } else { Err(error.into()) };
            assert_eq!(chosen(facts, algorithm).map(|choice| choice.algorithm), expected);
        }
        for algorithm in [CachedAtomic, LanePrivate, SharedAtomic(MemoryOrder::SeqCst)] {
            assert_eq!(chosen(facts, algorithm).unwrap().algorithm, algorithm);
        }
    }
    check(&even::<u8>(10, 0..100), false, true);
    check(&facts::<u8>(Bins::Edges(Arc::new([1, 2, 4].into())), 1), false, true);
    check(&even::<u32>(10, 0..100), false, true);
    check(&even::<i32>(10, -50..50), false, true);
    check(&even::<f32>(10, 0.0..1.0), false, true);
    check(&even::<f32>(16, 0.0..1.0), false, true);
    check(&even::<f64>(10, 0.0..1.0), false, false);
    check(&even::<u16>(10, 0..100), false, false);
    check(&facts::<u16>(Bins::LowBits(4), 1), false, false);
    check(&facts::<i32>(Bins::Edges(Arc::new([1, 2, 4].into())), 1), true, false);
    check(&facts::<f32>(Bins::Edges(Arc::new([1.0, 2.0, 4.0].into())), 1), true, false);
    check(&even::<u32>(10, -50..50), true, false);
}

#[test]
fn counters_that_do_not_fit_are_refused() {
    let too_many = chosen(&even::<f32>(2000, 0.0..1.0), HistogramAlgorithm::PrivatePerThread);
    let kernel_of = |error| match error {
        Error::SharedMemoryExceeded { kernel, .. } => kernel,
        other => panic!("{other:?}"),
    };
    assert_eq!(too_many.map_err(kernel_of).unwrap_err(), "histogram_private_rounded_f32");
    // Bytes have 256 counters per channel, whatever their bins are.
    let bytes = facts::<u8>(Bins::Even { bins: 1, lower: 0, upper: 1 }, 1 << 24);
    let too_many = chosen(&bytes, HistogramAlgorithm::Auto);
    assert!(matches!(too_many, Err(Error::TooLarge { factors: [0x100_0000, 256], .. })));
}
