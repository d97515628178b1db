//! One suite for every backend: `Filter1d` against the naive oracle, and against SciPy and NumPy.
//!
//! Every algorithm, element type, boundary and extent is tested with every combination of awkward sizes and numbers of taps.
//! Signals of a million samples are compared with the oracle at both ends and at random positions, and all outputs of a
//! GPU's algorithms must agree bit for bit. `SharedTile` must fail with `SharedMemoryExceeded` exactly where its tile
//! exceeds the shared memory of a block on the device.
//!
//! On emulated devices, where an access takes some 100 ns, the sizes are few and small. Together the trials reach every
//! accessor of the kernels, which is checked at the end.

mod accuracy;
mod channels;
mod choice;
mod golden;
mod origins;
mod plans;
mod strides;
mod tensor;
mod transforms;
mod types;

use crate::common::{Random, emulated, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use oracle::shared_memory::{exceeded, exceeded_on, tile_bytes};
use oracle::{ALGORITHMS, Case, Direction, Sample};
use slm::filter1d::{Filter1dAlgorithm, HaloLoad};
use slm::{Backend, Boundary, Buffer2, Device, Error, Extent, Filter1d};
use slm_kernels::filter1d::{Filter1dKernel, Filter1dProblem, Geometry, LaunchConstants, Orientation};
use slm_kernels::signal::{Same, Types};
use slm_test_support::filter1d as oracle;

const SIZES: [usize; 13] = [0, 1, 2, 31, 32, 33, 255, 256, 257, 4095, 4096, 4097, 1_000_003];
const TAPS: [usize; 9] = [1, 2, 3, 4, 5, 32, 33, 257, 1025];
const EXTENTS: [Extent; 3] = [Extent::Same, Extent::Valid, Extent::Full];

/// Maximum number of products on the CPU, which takes long for more: the longest signal has all numbers of taps but the largest.
const MOST_PRODUCTS: usize = 1 << 29;

/// Rows and columns, and the elements that the pitch adds to a row.
const SHAPES: [([usize; 2], usize); 9] = [
    ([0, 5], 0),
    ([5, 0], 3),
    ([1, 1], 0),
    ([1, 700], 1),
    ([700, 1], 2),
    ([33, 65], 7),
    ([257, 31], 0),
    ([6, 3001], 5),
    ([3001, 6], 0),
];
const MATRIX_TAPS: [usize; 5] = [1, 4, 5, 33, 258];

/// Samples and taps on emulated devices: no tile and several tiles, whole and partial packs.
const FEW_LINES: [(usize, usize); 11] =
    [(0, 5), (1, 1), (1, 4), (2, 257), (31, 2), (32, 32), (33, 33), (256, 5), (896, 4), (1000, 3), (4097, 4)];

/// The shape, padding, axis and taps of matrices on emulated devices: rows with and without the alignment of wide accesses,
/// more lines than a block has, several tiles in a line.
const FEW_MATRICES: [([usize; 2], usize, usize, usize); 16] = [
    ([0, 5], 0, 0, 4),
    ([0, 5], 0, 1, 4),
    ([5, 0], 3, 1, 5),
    ([1, 1], 0, 0, 1),
    ([1, 70], 1, 1, 5),
    ([5, 65], 7, 1, 4),
    ([5, 64], 0, 1, 33),
    ([3, 1792], 0, 1, 4),
    ([3, 1801], 1, 1, 5),
    ([1, 3590], 0, 1, 3),
    ([70, 1], 2, 0, 4),
    ([3, 65], 3, 0, 5),
    ([9, 64], 0, 0, 4),
    ([165, 3], 0, 0, 4),
    ([90, 36], 3, 0, 5),
    ([33, 5], 3, 0, 33),
];

/// The name of the suite.
const SUITE: &str = "filter1d";

pub(super) fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> =
        [of_type::<f32>(0), of_type::<f64>(1), of_type::<i32>(2)].into_iter().flatten().collect();
    trials.extend([
        Trial::test("filter1d::expectations::f32", expectations::<f32>),
        Trial::test("filter1d::expectations::f64", expectations::<f64>),
        Trial::test("filter1d::expectations::i32", expectations::<i32>),
        Trial::test("filter1d::expectations::sixty_four_kilobytes", sixty_four_kilobytes),
    ]);
    trials.extend(accuracy::trials());
    trials.extend(channels::trials());
    trials.extend(choice::trials());
    trials.extend(golden::trials());
    trials.extend(origins::trials());
    trials.extend(plans::trials());
    trials.extend(strides::trials());
    trials.extend(tensor::trials());
    trials.extend(transforms::trials());
    trials.extend(types::trials());
    trials
}

fn boundaries<T: Sample>() -> [(&'static str, Boundary<T>); 6] {
    [
        ("zero", Boundary::Zero),
        ("constant", Boundary::Constant(T::random(0x1234_5678_9abc_def0))),
        ("nearest", Boundary::Nearest),
        ("reflect", Boundary::Reflect),
        ("mirror", Boundary::Mirror),
        ("wrap", Boundary::Wrap),
    ]
}

/// Returns the trials of type number `turn`.
fn of_type<T: Sample>(turn: usize) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (number, (name, boundary)) in boundaries::<T>().into_iter().enumerate() {
        for extent in EXTENTS {
            let name = format!("{}::{name}::{extent:?}", T::NAME);
            trials.extend(on_every_backend(SUITE, &name, move |device| lines(device, boundary, extent)));
            trials.extend(on_every_backend(SUITE, &format!("{name}::axes"), move |device| {
                axes(device, boundary, extent)
            }));
        }
        // They are one after another whatever the boundary and the type, so each type takes two boundaries, along different axes.
        if number % 3 == turn {
            let (name, axis) = (format!("{}::{name}::several_launches", T::NAME), number / 3);
            trials.push(emulated::trial(SUITE, &name, move |device| several_launches(device, boundary, axis)));
        }
    }
    trials
}

/// Checks more taps than one launch of a register-tiled kernel takes, with a case that is small enough for an emulated
/// device. In shorter lines, taps would meet the same samples, and be added up.
fn several_launches<T: Sample>(device: &Device, boundary: Boundary<T>, axis: usize) -> Result<(), Failed> {
    let taps: Vec<T> = Random::new(1).values(1001);
    let case = Case { x: &[], taps: &taps, direction: Direction::Correlate, boundary, extent: Extent::Same };
    let shapes = [[1001, 1], [1, 1001]];
    Ok(check_axis(device, &case, shapes[axis], 1, axis)?)
}

fn algorithms(device: &Device) -> &'static [Filter1dAlgorithm] {
    if device.info().backend == Backend::Cpu { &ALGORITHMS[..1] } else { &ALGORITHMS }
}

/// Returns the algorithms for filters that run on the kernels for pictures, whose tiles contain all taps and channels. With many
/// of them, shared memory is not enough for every algorithm on every device.
fn algorithms_for_pictures(device: &Device, taps: usize, channels: usize) -> &'static [Filter1dAlgorithm] {
    let all = algorithms(device);
    if taps <= 7 && channels <= 5 { all } else { &all[..1] }
}

fn filter<T: Sample>(case: &Case<'_, T>) -> Filter1d<T> {
    let filter = match case.direction {
        Direction::Correlate => Filter1d::correlate(case.taps),
        Direction::Convolve => Filter1d::convolve(case.taps),
    };
    filter.boundary(case.boundary).extent(case.extent)
}

/// Returns the direction for a number of taps. The directions differ only in the taps' order and centre, so each number is
/// tested with one of them; each direction gets even and odd numbers.
fn direction(taps: usize) -> Direction {
    if matches!(taps, 1 | 4 | 5 | 33 | 258 | 1025) { Direction::Convolve } else { Direction::Correlate }
}

fn lines<T: Sample>(device: &Device, boundary: Boundary<T>, extent: Extent) -> Result<(), Failed> {
    let all = || TAPS.into_iter().flat_map(|taps| SIZES.map(|size| (size, taps)));
    let lines = match device.info().backend {
        Backend::Cpu => all().filter(|(size, taps)| size * taps < MOST_PRODUCTS).collect(),
        _ if is_slow(device) => FEW_LINES.to_vec(),
        _ => all().collect(),
    };
    for (size, taps) in lines {
        let x: Vec<T> = Random::new(size as u64).values(size);
        let taps: Vec<T> = Random::new(taps as u64).values(taps);
        let case = Case { x: &x, taps: &taps, direction: direction(taps.len()), boundary, extent };
        check_line(device, &case).map_err(|e| format!("{size} samples, {} taps: {e}", taps.len()))?;
    }
    Ok(())
}

fn check_line<T: Sample>(device: &Device, case: &Case<'_, T>) -> Result<(), String> {
    let expected: Vec<_> = positions(case).zip(case.outputs(positions(case))).collect();
    let mut first: Option<Vec<T>> = None;
    for &algorithm in algorithms(device) {
        let fail = |what: String| format!("{algorithm:?}: {what}");
        let filter = filter(case).algorithm(algorithm).prepare(device).map_err(|e| fail(e.to_string()))?;
        let actual = filter.apply(case.x).map_err(|e| fail(e.to_string()))?;
        if actual.len() != case.output_count() {
            return Err(fail(format!("{} outputs instead of {}", actual.len(), case.output_count())));
        }
        for &(o, expected) in &expected {
            if !T::agrees(actual[o], expected, case.taps.len()) {
                return Err(fail(format!("output {o} is {}, expected {expected:?}", actual[o])));
            }
        }
        let first = first.get_or_insert_with(|| actual.clone());
        if let Some(o) = T::difference(first, &actual) {
            return Err(fail(format!("output {o} is {}, another algorithm gives {}", actual[o], first[o])));
        }
    }
    Ok(())
}

/// Returns the outputs to compare with the oracle: all for a short signal, the ends and some others for a long one.
fn positions<T: Sample>(case: &Case<'_, T>) -> impl Iterator<Item = usize> {
    const ALL: usize = 10_000;
    const END: usize = 2500;
    let len = case.output_count();
    let mut random = Random::new(7);
    let ends = if len <= ALL { [0..len, 0..0] } else { [0..END, len - END..len] };
    let others = if len <= ALL { 0 } else { 1000 };
    ends.into_iter().flatten().chain((0..others).map(move |_| random.below(len)))
}

fn axes<T: Sample>(device: &Device, boundary: Boundary<T>, extent: Extent) -> Result<(), Failed> {
    for (shape, padding, axis, taps) in if is_slow(device) { FEW_MATRICES.to_vec() } else { matrices() } {
        let taps: Vec<T> = Random::new(taps as u64).values(taps);
        let case = Case { x: &[], taps: &taps, direction: direction(taps.len()), boundary, extent };
        check_axis(device, &case, shape, padding, axis)
            .map_err(|e| format!("{shape:?} + {padding} along axis {axis}, {} taps: {e}", taps.len()))?;
    }
    Ok(())
}

/// Returns every combination of a shape, an axis and a number of taps.
fn matrices() -> Vec<([usize; 2], usize, usize, usize)> {
    let shapes = || SHAPES.into_iter().flat_map(|(shape, padding)| [0, 1].map(|axis| (shape, padding, axis)));
    let with = |taps| shapes().map(move |(shape, padding, axis)| (shape, padding, axis, taps));
    MATRIX_TAPS.into_iter().flat_map(with).collect()
}

/// A matrix whose rows may be further apart in memory than they are long.
struct Matrix<T> {
    numbers: Vec<T>,
    shape: [usize; 2],
    pitch: usize,
}

impl<T: Sample> Matrix<T> {
    fn on_device(&self, device: &Device) -> slm::Result<Buffer2<T>> {
        let [rows, columns] = self.shape;
        Buffer2::from_buffer(device.upload(&self.numbers)?, rows, columns, self.pitch)
    }

    /// Returns the index of element `i` of line `l` along `axis`.
    fn index(&self, axis: usize, l: usize, i: usize) -> usize {
        if axis == 1 { l * self.pitch + i } else { i * self.pitch + l }
    }

    fn line(&self, axis: usize, l: usize) -> Vec<T> {
        (0..self.shape[axis]).map(|i| self.numbers[self.index(axis, l, i)]).collect()
    }

    /// Returns the first element for which `counts` holds and that differs from the other matrix's.
    fn difference(&self, other: &[T], counts: impl Fn(usize) -> bool) -> Option<usize> {
        (0..other.len()).find(|&at| counts(at) && self.numbers[at].bits() != other[at].bits())
    }
}

/// Filters a matrix into another one. In both, the pitch exceeds the columns by `padding`; the elements in between must
/// neither affect the result nor change.
fn check_axis<T: Sample>(
    device: &Device,
    case: &Case<'_, T>,
    shape: [usize; 2],
    padding: usize,
    axis: usize,
) -> Result<(), String> {
    let pitch = shape[1] + padding;
    let samples = Matrix { numbers: Random::new(3).values::<T>(shape[0] * pitch), shape, pitch };
    let mut shape = shape;
    shape[axis] = Case { x: &vec![T::default(); shape[axis]], ..case.clone() }.output_count();
    let pitch = shape[1] + padding;
    let untouched = Matrix { numbers: vec![T::random(99); shape[0] * pitch], shape, pitch };
    for &algorithm in algorithms(device) {
        check_matrix(device, case, algorithm, axis, &samples, &untouched).map_err(|e| format!("{algorithm:?}: {e}"))?;
    }
    Ok(())
}

/// Filters `samples` into a copy of `untouched`.
fn check_matrix<T: Sample>(
    device: &Device,
    case: &Case<'_, T>,
    algorithm: Filter1dAlgorithm,
    axis: usize,
    samples: &Matrix<T>,
    untouched: &Matrix<T>,
) -> Result<(), String> {
    let text = |e: slm::Error| e.to_string();
    let input = samples.on_device(device).map_err(text)?;
    let mut output = untouched.on_device(device).map_err(text)?;
    let filter = filter(case).algorithm(algorithm).prepare(device).map_err(text)?;
    let result = filter.along(axis).apply_into(&input, &mut output);
    let on_host = filter.along(axis).apply(input.download().map_err(text)?.view());
    let expected =
        if untouched.shape.contains(&0) { None } else { exceeded_on::<T>(device, algorithm, case.taps.len(), axis) };
    let errors = [result.err(), on_host.as_ref().err().cloned()];
    if errors != [expected.clone(), expected.clone()] {
        return Err(format!("{errors:?} instead of {expected:?} twice"));
    }
    if on_host.is_ok_and(|on_host| output.download().as_ref() != Ok(&on_host)) {
        return Err("apply and apply_into differ".to_owned());
    }
    let outputs = output.into_buffer().download().map_err(text)?;
    let [pitch, columns] = [untouched.pitch, untouched.shape[1]];
    let must_stay = |at: usize| expected.is_some() || at % pitch >= columns;
    if let Some(at) = untouched.difference(&outputs, must_stay) {
        return Err(format!("element {at}, which is no output, was written"));
    }
    if expected.is_some() { Ok(()) } else { check_outputs(case, axis, samples, untouched, &outputs) }
}

/// Compares the outputs, whose shape and pitch are those of `target`, with the oracle's.
fn check_outputs<T: Sample>(
    case: &Case<'_, T>,
    axis: usize,
    samples: &Matrix<T>,
    target: &Matrix<T>,
    outputs: &[T],
) -> Result<(), String> {
    for l in 0..samples.shape[1 - axis] {
        let case = Case { x: &samples.line(axis, l), ..case.clone() };
        let positions = positions_in_line(l, target.shape[axis]);
        for (&o, expected) in positions.iter().zip(case.outputs(positions.iter().copied())) {
            let actual = outputs[target.index(axis, l, o)];
            if !T::agrees(actual, expected, case.taps.len()) {
                return Err(format!("line {l}: output {o} is {actual}, expected {expected:?}"));
            }
        }
    }
    Ok(())
}

/// Returns the outputs of a line to compare: all for every 32nd line, the ends and every 37th output for the others.
fn positions_in_line(line: usize, count: usize) -> Vec<usize> {
    if line.is_multiple_of(32) {
        return (0..count).collect();
    }
    let ends = (0..count.min(4)).chain(count.saturating_sub(4).max(4)..count);
    ends.chain((line.next_multiple_of(37) - line..count).step_by(37)).collect()
}

/// Values that do not affect the kernels with one sum at a time.
const TUNING: LaunchConstants = LaunchConstants { row_threads: 64, most_taps_of_short_lines: 1, column_threads: 1 };

/// Checks where the suite expects too little shared memory: its byte counts equal the host's, and the limit is exact.
fn expectations<T: Sample>() -> Result<(), Failed>
where
    Same<T>: Types,
{
    const DEFAULT: u64 = 48 << 10;
    let [taps_of_lines, taps_of_matrices] = [TAPS.as_slice(), &MATRIX_TAPS];
    for (axis, orientation) in [(0, Orientation::Columns), (1, Orientation::Rows)] {
        for &taps in taps_of_lines.iter().chain(taps_of_matrices) {
            let problem = Filter1dProblem { lines: 1, outputs: 1, taps: taps as u64, phases: 1, orientation };
            let bytes = Geometry::new::<Same<T>>(Filter1dKernel::Tile, &problem, &TUNING).shared_bytes;
            if tile_bytes::<T>(taps, axis) != bytes {
                return Err(format!("{taps} taps, axis {axis}: {bytes} bytes").into());
            }
            for algorithm in ALGORITHMS {
                let tile = matches!(algorithm, Filter1dAlgorithm::SharedTile(_));
                let error = |available| exceeded::<T>(available, algorithm, taps, axis).is_some();
                if error(bytes) || error(bytes - 1) != tile || (axis == 1 && error(DEFAULT)) {
                    return Err(format!("{algorithm:?}, {taps} taps, axis {axis}").into());
                }
            }
        }
    }
    Ok(())
}

/// Checks a case computed by hand, for a GPU with 64 KiB: 258 taps and (64 + 257) * 32 samples of 8 bytes do not fit, of 4
/// bytes they do.
fn sixty_four_kilobytes() -> Result<(), Failed> {
    let algorithm = Filter1dAlgorithm::SharedTile(HaloLoad::Cooperative);
    let [double, single] = [exceeded::<f64>, exceeded::<f32>].map(|exceeded| exceeded(64 << 10, algorithm, 258, 0));
    let kernel = "filter1d_tile_f64".to_owned();
    let error = Error::SharedMemoryExceeded { kernel, requested: 84_240, available: 65_536 };
    if (&double, &single) == (&Some(error), &None) { Ok(()) } else { Err(format!("{double:?}, {single:?}").into()) }
}
