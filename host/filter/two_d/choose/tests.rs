//! The choice for typical filters, on devices with much and with little shared memory.

use super::*;
use crate::Extent;
use crate::filter1d::GpuOfLines;
use crate::filter2d::window::{PictureProblem, Window};
use slm_kernels::signal::{Border, Kind};

/// Shared memory of an H200, a T4 and a device with little.
const H200: SharedMemory = SharedMemory::H200;
const T4: SharedMemory = SharedMemory::T4;
const LITTLE: SharedMemory = SharedMemory::of_kib(4, 4);

fn uniform(shape: [usize; 2]) -> Weights<f32> {
    Weights::separable(vec![0.5; shape[0]].into(), vec![2.0; shape[1]].into())
}

fn outer(shape: [usize; 2]) -> Weights<f32> {
    let line = |taps: usize| -> Vec<f32> { (1..=taps).map(|tap| tap as f32).collect() };
    Weights::separable(line(shape[0]).into(), line(shape[1]).into())
}

fn random(shape: [usize; 2]) -> Weights<f32> {
    let value = |tap: usize| (tap * tap % 37) as f32 - 11.0;
    Weights::dense(shape, (0..shape[0] * shape[1]).map(value).collect())
}

/// FilterRule of a filter of pixels without steps.
fn rule(weights: &Weights<f32>, kind: Kind, channels: usize, algorithm: Filter2dAlgorithm) -> FilterRule {
    let borders = [Border::Constant; 2];
    let window = Window::new(weights, borders, Extent::Same, [1, 1], [1, 1], Some(channels)).unwrap();
    let outside = if kind == Kind::U8 { Scalar::U8(0) } else { Scalar::F32(0.0) };
    FilterRule {
        bound: ErrorBound::PerOutput,
        window,
        outside,
        renormalise: false,
        boxes: true,
        divisor: None,
        algorithm,
        kinds: [kind; 2],
        weights: "f32",
    }
}

fn decision(weights: Weights<f32>, rule: &FilterRule, shared: SharedMemory) -> Result<Decision> {
    choose(&Facts::new(AnyWeights::F32(weights)), rule, shared)
}

/// The name of the choice for a filter of `f32`.
fn chosen(weights: Weights<f32>, channels: usize, shared: SharedMemory) -> &'static str {
    let rule = rule(&weights, Kind::F32, channels, Filter2dAlgorithm::Auto);
    name(&decision(weights, &rule, shared).unwrap().choice)
}

fn name(choice: &Choice) -> &'static str {
    match choice {
        Choice::Segments(..) => "segments",
        Choice::Running(_) => "running",
        Choice::Passes(..) => "passes",
        Choice::Streaming(_) => "streaming",
        Choice::TwoPasses(_) => "two passes",
        Choice::Direct(Direct { kernel: DirectKernel::Register { .. }, .. }) => "register",
        Choice::Direct(Direct { kernel: DirectKernel::Tile, .. }) => "tile",
        Choice::Direct(Direct { kernel: DirectKernel::Global, .. }) => "global",
    }
}

#[test]
fn large_boxes_are_sums_of_segments() {
    assert_eq!(chosen(uniform([31, 31]), 1, H200), "segments");
    assert_eq!(chosen(uniform([13, 13]), 1, H200), "passes");
    assert_eq!(chosen(uniform([11, 11]), 3, H200), "segments");
    assert_eq!(chosen(uniform([5, 5]), 3, H200), "register");
    // A segment of one row has nothing to add up, and high windows take two passes.
    assert_eq!(chosen(uniform([1, 101]), 1, H200), "passes");
    assert_eq!(chosen(uniform([101, 11]), 1, H200), "passes");
    // The rows of the window do not fit.
    assert_eq!(chosen(uniform([2000, 31]), 1, H200), "two passes");
}

#[test]
fn boxes_of_pixels_are_running_sums() {
    let chosen = |weights: Weights<f32>, divisor| {
        let rule = FilterRule { divisor, ..rule(&weights, Kind::U8, 4, Filter2dAlgorithm::Auto) };
        decision(weights, &rule, T4).unwrap().choice
    };
    assert_eq!(name(&chosen(uniform([2, 2]), None)), "running");
    assert_eq!(name(&chosen(uniform([3, 3]), None)), "streaming");
    assert_eq!(name(&chosen(uniform([257, 128]), None)), "running");
    for shape in [[258, 128], [2, 129], [1025, 2]] {
        assert_ne!(name(&chosen(uniform(shape), None)), "running");
    }
    // Multiples of the weight overflow.
    let large = Weights::separable(vec![1e19; 4].into(), vec![1e19; 4].into());
    assert_ne!(name(&chosen(large, None)), "running");
    // Sums of few odd numbers of samples are multiplied.
    for (divisor, is_multiplied) in [(961.0, true), (16_383.0, true), (16_385.0, false), (960.0, false)] {
        let choice = chosen(uniform([5, 5]), Some(divisor));
        assert_eq!(matches!(choice, Choice::Running(RunningKernel::Weighted(_))), is_multiplied, "{divisor}");
    }
}

#[test]
fn outer_products_take_one_launch_if_there_is_one() {
    assert_eq!(chosen(outer([31, 31]), 1, H200), "passes");
    assert_eq!(chosen(outer([1, 9]), 1, H200), "passes");
    assert_eq!(chosen(outer([31, 31]), 3, H200), "two passes");
    assert_eq!(chosen(outer([5, 5]), 3, H200), "register");
    // Dense weights that are a product.
    let dense = Weights::dense([3, 3], outer([3, 3]).row_after_row().unwrap());
    assert_eq!(chosen(dense, 1, H200), "passes");
    // As many products as the factors have weights, so nothing is saved.
    let dense = Weights::dense([2, 2], vec![1.0, 2.0, 2.0, 4.0]);
    assert_eq!(chosen(dense, 1, H200), "register");
}

#[test]
fn compiled_sizes_are_streamed() {
    assert_eq!(chosen(random([7, 7]), 1, H200), "streaming");
    assert_eq!(chosen(random([7, 5]), 1, H200), "register");
    assert_eq!(chosen(random([11, 11]), 1, H200), "register");
    let pixels = rule(&random([7, 7]), Kind::U8, 4, Filter2dAlgorithm::Auto);
    assert_eq!(name(&decision(random([7, 7]), &pixels, H200).unwrap().choice), "streaming");
}

#[test]
fn little_shared_memory_leaves_simpler_kernels() {
    assert_eq!(chosen(random([31, 31]), 1, T4), "register");
    assert_eq!(chosen(random([41, 41]), 1, LITTLE), "global");
    let tile = rule(&random([41, 41]), Kind::F32, 1, Filter2dAlgorithm::SharedTile);
    let error = decision(random([41, 41]), &tile, LITTLE).unwrap_err();
    assert!(matches!(error, Error::SharedMemoryExceeded { available: 4096, .. }), "{error}");
}

#[test]
fn nans_and_steps_exclude_kernels() {
    let weights = random([3, 3]);
    let plain = rule(&weights, Kind::F32, 1, Filter2dAlgorithm::Auto);
    let renormalising = FilterRule { renormalise: true, boxes: false, ..plain };
    assert_eq!(name(&decision(weights.clone(), &renormalising, H200).unwrap().choice), "tile");
    let window = Window::new(&weights, [Border::Constant; 2], Extent::Same, [2, 1], [1, 1], None).unwrap();
    let decision = decision(weights, &FilterRule { window, ..plain }, H200).unwrap();
    assert_eq!((name(&decision.choice), decision.reason), ("tile", "the filter does not allow register tiles"));
}

#[test]
fn required_algorithms_without_kernels_are_errors() {
    let error = |weights: Weights<f32>, kind, algorithm| {
        let rule = rule(&weights, kind, 1, algorithm);
        let Err(Error::Filter2d(error)) = decision(weights, &rule, H200) else { panic!("{algorithm:?}") };
        error
    };
    use Filter2dAlgorithm::{Box, Separable, Streaming};
    assert_eq!(error(random([3, 4]), Kind::F32, Separable), Filter2dError::NotSeparable { weights: [3, 4] });
    assert_eq!(error(random([3, 4]), Kind::F32, Box), Filter2dError::UnequalWeights { weights: [3, 4] });
    assert!(matches!(error(uniform([2000, 3]), Kind::F32, Box), Filter2dError::BoxTooHigh { rows: 2000, .. }));
    assert!(matches!(error(uniform([3, 5000]), Kind::F32, Box), Filter2dError::BoxTooWide { columns: 5000, .. }));
    let unsupported = |weights, kind| match error(weights, kind, Streaming) {
        Filter2dError::NoKernel { unsupported, .. } => unsupported,
        other => panic!("{other}"),
    };
    let sizes = &[3, 5, 7, 9];
    assert_eq!(unsupported(random([3, 4]), Kind::F32), Unsupported::Weights { actual: [3, 4], sizes });
    assert!(matches!(unsupported(random([3, 3]), Kind::U8), Unsupported::Types { channels: 1, .. }));
}

#[test]
fn the_cpu_sums_segments_of_large_boxes() {
    let on_cpu = |weights: Weights<f32>, renormalise: bool| {
        let rule = rule(&weights, Kind::F32, 1, Filter2dAlgorithm::Auto);
        let rule = FilterRule { renormalise, boxes: !renormalise, ..rule };
        choose_on_cpu(&Facts::new(AnyWeights::F32(weights)), &rule)
    };
    assert_eq!(on_cpu(uniform([13, 13]), false), CpuChoice::Segments);
    assert_eq!(on_cpu(uniform([11, 11]), false), CpuChoice::Product);
    assert_eq!(on_cpu(uniform([13, 13]), true), CpuChoice::Dense);
    assert_eq!(on_cpu(outer([13, 13]), false), CpuChoice::Product);
    assert_eq!(on_cpu(random([13, 13]), false), CpuChoice::Dense);
}

#[test]
fn the_cpu_may_transform_dense_weights() {
    let on_cpu = |weights: Weights<f32>, bound: ErrorBound| {
        let rule = FilterRule { bound, ..rule(&weights, Kind::F32, 1, Filter2dAlgorithm::Auto) };
        choose_on_cpu(&Facts::new(AnyWeights::F32(weights)), &rule)
    };
    assert_eq!(on_cpu(random([13, 13]), ErrorBound::PerSegment), CpuChoice::Panels);
    assert_eq!(on_cpu(random([13, 13]), ErrorBound::PerOutput), CpuChoice::Dense);
    assert_eq!(on_cpu(outer([13, 13]), ErrorBound::PerSegment), CpuChoice::Product);
}

#[test]
fn some_algorithms_add_all_products_at_once() {
    for taps in [1, 17, 18, 1000] {
        assert_eq!(added(Filter2dAlgorithm::GlobalMemory, [taps; 2], 1), Added::AtOnce);
        assert_eq!(added(Filter2dAlgorithm::Separable, [taps; 2], 1), Added::InPasses);
        assert_eq!(added(Filter2dAlgorithm::Auto, [taps; 2], 1) == Added::InPasses, taps > 17);
        assert_eq!(added(Filter2dAlgorithm::Auto, [taps; 2], 2) == Added::InPasses, taps > 18);
    }
    // A single row, and rows so few that a pass along them saves too little.
    for shape in [[1, 1001], [3, 101], [101, 3]] {
        assert_eq!(added(Filter2dAlgorithm::Auto, shape, 1), Added::AtOnce);
    }
}

/// `added` is asked before there is a device, and must hold for the choice on each.
#[test]
fn products_are_added_as_predicted() {
    for shape in
        [1, 3, 9, 17, 19, 25, 101].into_iter().flat_map(|rows| [1, 3, 17, 19, 101].map(|columns| [rows, columns]))
    {
        for (row_stride, columns_apart) in [(1, 1), (1, 2), (2, 1), (5, 1)] {
            let weights = outer(shape);
            let (strides, dilations) = ([row_stride, 1], [1, columns_apart]);
            let window =
                Window::new(&weights, [Border::Constant; 2], Extent::Same, strides, dilations, Some(3)).unwrap();
            let rule = FilterRule { window, ..rule(&weights, Kind::U8, 3, Filter2dAlgorithm::Auto) };
            for shared in [H200, T4, LITTLE] {
                let choice = decision(weights.clone(), &rule, shared).unwrap().choice;
                let is_at_once = matches!(choice, Choice::Direct(_));
                let predicted = added(Filter2dAlgorithm::Auto, shape, row_stride);
                assert!(predicted == Added::AtOnce || !is_at_once, "{shape:?}, {strides:?}, {dilations:?}, {shared:?}");
            }
        }
    }
}

/// Returns whether a filter of this number of rows and columns takes lines in a square of `side` pixels.
fn are_lines(taps: usize, kind: Kind, channels: usize, side: usize) -> bool {
    let weights = outer([taps, taps]);
    let rule = rule(&weights, kind, channels, Filter2dAlgorithm::Auto);
    let passes = decision(weights, &rule, H200).unwrap().line_passes.unwrap();
    let picture = PictureProblem::new(&rule.window, 1, [side, side]).unwrap();
    passes.are_faster(GpuOfLines { shared: H200, has_tensor_cores: true }, &picture)
}

#[test]
fn many_weights_of_large_pictures_are_those_of_lines() {
    for (taps, kind, channels, side, expected) in [
        (65, Kind::F32, 1, 8192, false),
        (129, Kind::F32, 1, 8192, true),
        (33, Kind::F32, 1, 512, false),
        (801, Kind::F32, 1, 512, true),
        (17, Kind::U8, 3, 8192, false),
        (129, Kind::U8, 3, 8192, true),
        (257, Kind::U8, 3, 512, true),
        (17, Kind::U8, 3, 512, false),
    ] {
        assert_eq!(are_lines(taps, kind, channels, side), expected, "{taps} of {kind:?}, {channels} channels, {side}");
    }
}

#[test]
fn other_filters_are_not_lines() {
    let has_lines =
        |weights: Weights<f32>, rule: &FilterRule| decision(weights, rule, H200).unwrap().line_passes.is_some();
    let product = outer([9, 9]);
    let plain = rule(&product, Kind::F32, 1, Filter2dAlgorithm::Auto);
    assert!(has_lines(product.clone(), &plain));
    assert!(!has_lines(random([9, 9]), &plain));
    assert!(!has_lines(product.clone(), &rule(&product, Kind::F32, 1, Filter2dAlgorithm::Separable)));
    assert!(!has_lines(product.clone(), &FilterRule { divisor: Some(2.0), ..plain }));
    let strided = Window::new(&product, [Border::Constant; 2], Extent::Same, [1, 2], [1, 1], Some(1)).unwrap();
    assert!(!has_lines(product, &FilterRule { window: strided, ..plain }));
    // Sums of segments take less time.
    let equal = uniform([51, 51]);
    assert!(!has_lines(equal.clone(), &rule(&equal, Kind::F32, 1, Filter2dAlgorithm::Auto)));
}
