//! Filters of lines give the same outputs as the CPU, also with few weights, for which filters take other kernels.

use super::{ByLines, Steps};
use crate::device::gpu::Gpu;
use crate::element::any::Erase;
use crate::filter1d::ErrorBound;
use crate::filter2d::Filter2dAlgorithm;
use crate::filter2d::any_weights::AnyWeights;
use crate::filter2d::choose::{LinePasses, choose};
use crate::filter2d::cpu::CpuFilter;
use crate::filter2d::element::Scalar;
use crate::filter2d::facts::Facts;
use crate::filter2d::rule::FilterRule;
use crate::filter2d::weights::Weights;
use crate::filter2d::window::{Axis, PictureProblem, Window};
use crate::{Device, Extent};
use emulator::Profile;
use slm_kernels::signal::{Border, Kind};
use std::sync::Arc;

const BORDERS: [Border; 5] = [Border::Constant, Border::Nearest, Border::Reflect, Border::Mirror, Border::Wrap];
const EXTENTS: [Extent; 3] = [Extent::Same, Extent::Valid, Extent::Full];

/// Returns an outer product of whole numbers, so that sums of floats are exact.
fn product<W: Copy + From<i8>>() -> Weights<W> {
    let [column, row] =
        [&[2i8, -1, 3][..], &[1, 4, -2, 0, 1]].map(|weights| weights.iter().map(|&weight| W::from(weight)));
    Weights::separable(Arc::new(column.collect()), Arc::new(row.collect()))
}

/// Returns a filter without steps.
fn rule(weights: &AnyWeights, border: Border, extent: Extent, kinds: [Kind; 2], channels: usize) -> FilterRule {
    let [rows, columns] = weights.shape();
    let places = [[rows, columns], [rows / 2, columns / 2]];
    FilterRule {
        bound: ErrorBound::PerOutput,
        window: Window::of_shape(places, [border; 2], extent, [[1; 2]; 2], Some(channels)).unwrap(),
        outside: Scalar::F32(3.0),
        renormalise: false,
        boxes: false,
        divisor: None,
        algorithm: Filter2dAlgorithm::Auto,
        kinds,
        weights: weights.name(),
    }
}

fn load(gpu: &Gpu, weights: AnyWeights, rule: &FilterRule) -> (LinePasses, Box<dyn ByLines>) {
    let passes = choose(&Facts::new(weights), rule, gpu.shared).unwrap().line_passes.expect("an outer product");
    let loaded = passes.load(gpu).unwrap();
    (passes, loaded)
}

/// Filters two planes of `shape` pixels by lines and on the CPU, with gaps between the rows, and compares outputs and gaps.
fn compare<S: Erase, O: Erase + PartialEq>(weights: AnyWeights, number: usize, channels: usize, shape: [usize; 2]) {
    let device = Device::emulated(Profile::SM_90, 0);
    let gpu = device.gpu().expect("a GPU");
    let (border, extent) = (BORDERS[number % 5], EXTENTS[number / 5 % 3]);
    let rule = rule(&weights, border, extent, [S::KIND, O::KIND], channels);
    let mut problem = PictureProblem::new(&rule.window, 2, shape).unwrap();
    assert!(!problem.is_empty());
    (problem.input_pitch, problem.output_pitch) = (problem.input_pitch + 3, problem.output_pitch + number % 2 * 5);
    let samples: Vec<S> = (0..2 * shape[0] * problem.input_pitch).map(|i| S::of_sum((i * 37 % 101) as f64)).collect();
    let mut expected = vec![O::of_sum(7.0); 2 * problem.rows.outputs * problem.output_pitch];
    let mut outputs = device.upload(&expected).unwrap();
    let on_cpu = CpuFilter::new(&Facts::new(weights.clone()), &rule);
    on_cpu.run(&problem, S::slice(&samples), O::slice_mut(&mut expected)).unwrap();

    let ((passes, by_lines), samples) = (load(&gpu, weights, &rule), device.upload(&samples).unwrap());
    by_lines.run(&problem, S::buffer((&samples).into()), O::buffer_mut((&mut outputs).into())).unwrap();
    let what = format!("{:?} to {:?}, {channels} channels, {border:?}, {extent:?}", S::KIND, O::KIND);
    let outputs = outputs.download().unwrap();
    let wrong = outputs.iter().zip(&expected).position(|(output, expected)| output != expected);
    assert_eq!(wrong.map(|i| (i, outputs[i].to_f64(), expected[i].to_f64())), None, "{what}");

    let is_converted = [S::KIND, O::KIND].map(|kind| usize::from(kind != passes.sums));
    let gaps = channels > 1 && passes.sums == O::KIND && problem.output_pitch != problem.output_width();
    let launches = 4 + usize::from(channels > 1) + is_converted[0] + is_converted[1] + usize::from(gaps);
    assert_eq!(by_lines.plan(&problem).unwrap().planned.into_launches().len(), launches, "{what}");
}

/// The last rows of a picture have the same bits as in the whole picture.
#[test]
fn parts_have_the_bits_of_the_whole() {
    let device = Device::emulated(Profile::SM_90, 0);
    let gpu = device.gpu().expect("a GPU");
    let vector = |taps: u32| Arc::new((0..taps).map(|tap| 1.0 / (3.0 + tap as f32)).collect());
    let weights = AnyWeights::F32(Weights::separable(vector(3), vector(5)));
    let rule = rule(&weights, Border::Mirror, Extent::Same, [Kind::F32; 2], 2);
    let (passes, by_lines) = load(&gpu, weights, &rule);
    let whole = PictureProblem::new(&rule.window, 1, [64, 7]).unwrap();
    let samples: Vec<f32> = (0..64 * 14).map(|i| (i * 37 % 101) as f32 / 7.0).collect();
    let filtered = |problem: &PictureProblem, samples: &[f32]| {
        let (samples, mut outputs) = (device.upload(samples).unwrap(), device.zeroed(problem.len().unwrap()).unwrap());
        by_lines.run(problem, f32::buffer((&samples).into()), f32::buffer_mut((&mut outputs).into())).unwrap();
        outputs.download().unwrap()
    };
    let expected = filtered(&whole, &samples);
    // Outputs from row 32 on depend on samples from row 31 on, and the part begins with row 16.
    let rows = Axis { samples: 48, outputs: 32, start: 15, ..whole.rows };
    let part = PictureProblem { rows, ..whole };
    assert!(passes.are_aligned(&part));
    assert_eq!(filtered(&part, &samples[16 * 14..]), expected[32 * 14..]);
    let rows = Axis { start: 14, ..rows };
    assert!(!passes.are_aligned(&PictureProblem { rows, ..part }));
}

#[test]
fn lines_are_filtered_as_pictures() {
    for number in 0..45 {
        let channels = 1 + number / 15;
        compare::<f32, f32>(AnyWeights::F32(product()), number, channels, [9, 14]);
        compare::<u8, u8>(AnyWeights::F32(product()), number, 4 - channels, [6, 33]);
    }
    for number in [2, 5, 13] {
        compare::<f64, f64>(AnyWeights::F64(product()), number, 2, [40, 6]);
        compare::<i32, f64>(AnyWeights::F64(product()), number, 1, [5, 8]);
        compare::<i16, i32>(AnyWeights::I32(product()), number, 3, [7, 6]);
        compare::<i32, i32>(AnyWeights::I32(product()), number, 1, [3, 5]);
    }
}

#[test]
fn lines_of_all_channels() {
    let window = Window::of_shape([[3, 5], [1, 2]], [Border::Nearest; 2], Extent::Valid, [[1; 2]; 2], Some(3)).unwrap();
    let steps = Steps::new(&PictureProblem::new(&window, 2, [10, 20]).unwrap());
    assert_eq!((steps.down.lines, steps.down.samples, steps.down.outputs), (2 * 20 * 3, 10, 8));
    assert_eq!((steps.along.lines, steps.along.samples, steps.along.outputs), (2 * 3 * 8, 20, 16));
    assert_eq!(steps.to_pixels.transposed_shape(), [2 * 8 * 16, 3]);
}
