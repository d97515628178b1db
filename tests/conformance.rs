//! One suite for every backend: `Filter1d` against the naive oracle.
//!
//! Every algorithm, element type, boundary and extent meets every combination of awkward sizes and numbers of taps.
//! Signals of a million samples are compared at both ends and at random places; all algorithms of a GPU must agree
//! there bit for bit everywhere.

mod common;

use common::oracle::{Case, Direction};
use common::{ALGORITHMS, Random, Sample, is_cuda, on_every_backend};
use libtest_mimic::{Arguments, Failed, Trial};
use slm::filter1d::Algorithm;
use slm::{Boundary, Buffer2, Device, Extent, Filter1d};

const SIZES: [usize; 13] = [0, 1, 2, 31, 32, 33, 255, 256, 257, 4095, 4096, 4097, 1_000_003];
const TAPS: [usize; 9] = [1, 2, 3, 4, 5, 32, 33, 257, 1025];
const EXTENTS: [Extent; 3] = [Extent::Same, Extent::Valid, Extent::Full];

/// Rows, columns, and elements added to a row for its pitch.
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

fn main() {
    let arguments = Arguments::from_args();
    eprintln!("seed of all data: {:#x}", common::SEED);
    let trials = [trials::<f32>(), trials::<f64>(), trials::<i32>()].into_iter().flatten().collect();
    libtest_mimic::run(&arguments, trials).exit();
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

fn trials<T: Sample>() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, boundary) in boundaries::<T>() {
        for extent in EXTENTS {
            let name = format!("{}::{name}::{extent:?}", T::NAME);
            trials.extend(on_every_backend(&name, move |device| lines(device, boundary, extent)));
            trials.extend(on_every_backend(&format!("{name}::axes"), move |device| axes(device, boundary, extent)));
        }
    }
    trials
}

fn algorithms(device: &Device) -> &'static [Algorithm] {
    if is_cuda(device) { &ALGORITHMS } else { &ALGORITHMS[..1] }
}

fn filter<T: Sample>(case: &Case<'_, T>) -> Filter1d<T> {
    let filter = match case.direction {
        Direction::Correlate => Filter1d::correlate(case.taps),
        Direction::Convolve => Filter1d::convolve(case.taps),
    };
    filter.boundary(case.boundary).extent(case.extent)
}

/// The two directions differ in the taps' order and centre only, so each number of taps takes one of them, even and
/// odd numbers both.
fn direction(taps: usize) -> Direction {
    if matches!(taps, 1 | 4 | 5 | 33 | 258 | 1025) { Direction::Convolve } else { Direction::Correlate }
}

fn lines<T: Sample>(device: &Device, boundary: Boundary<T>, extent: Extent) -> Result<(), Failed> {
    for taps in TAPS {
        let taps: Vec<T> = Random::new(taps as u64).values(taps);
        for size in SIZES {
            let x: Vec<T> = Random::new(size as u64).values(size);
            let case = Case { x: &x, taps: &taps, direction: direction(taps.len()), boundary, extent };
            check_line(device, &case).map_err(|e| format!("{size} samples, {} taps: {e}", taps.len()))?;
        }
    }
    Ok(())
}

fn check_line<T: Sample>(device: &Device, case: &Case<'_, T>) -> Result<(), String> {
    let expected: Vec<_> = places(case).map(|o| (o, case.output(o))).collect();
    let weight = case.weight();
    let mut first: Option<Vec<T>> = None;
    for &algorithm in algorithms(device) {
        let fail = |what: String| format!("{algorithm:?}: {what}");
        let filter = filter(case).algorithm(algorithm).prepare(device).map_err(|e| fail(e.to_string()))?;
        let actual = filter.apply(case.x).map_err(|e| fail(e.to_string()))?;
        if actual.len() != case.len() {
            return Err(fail(format!("{} outputs instead of {}", actual.len(), case.len())));
        }
        for &(o, expected) in &expected {
            if !T::agrees(actual[o], expected, case.taps.len(), weight) {
                return Err(fail(format!("output {o} is {}, expected {expected:?}", actual[o])));
            }
        }
        let first = first.get_or_insert_with(|| actual.clone());
        if let Some(o) = first.iter().zip(&actual).position(|(a, b)| a.bits() != b.bits()) {
            return Err(fail(format!("output {o} is {}, another algorithm gives {}", actual[o], first[o])));
        }
    }
    Ok(())
}

/// The outputs that are compared with the oracle: all of a short signal, the ends and some others of a long one.
fn places<T: Sample>(case: &Case<'_, T>) -> impl Iterator<Item = usize> {
    const ALL: usize = 10_000;
    const END: usize = 2500;
    let len = case.len();
    let mut random = Random::new(7);
    let ends = if len <= ALL { [0..len, 0..0] } else { [0..END, len - END..len] };
    let others = if len <= ALL { 0 } else { 1000 };
    ends.into_iter().flatten().chain((0..others).map(move |_| random.below(len)))
}

fn axes<T: Sample>(device: &Device, boundary: Boundary<T>, extent: Extent) -> Result<(), Failed> {
    for taps in MATRIX_TAPS {
        let taps: Vec<T> = Random::new(taps as u64).values(taps);
        for (shape, padding) in SHAPES {
            for axis in [0, 1] {
                let case = Case { x: &[], taps: &taps, direction: direction(taps.len()), boundary, extent };
                check_axis(device, &case, shape, padding, axis)
                    .map_err(|e| format!("{shape:?} + {padding} along axis {axis}, {} taps: {e}", taps.len()))?;
            }
        }
    }
    Ok(())
}

/// Filters a matrix whose rows are `padding` longer than its columns, into one that is too; what lies between the rows
/// must neither count nor change.
fn check_axis<T: Sample>(
    device: &Device,
    case: &Case<'_, T>,
    shape: [usize; 2],
    padding: usize,
    axis: usize,
) -> Result<(), String> {
    let text = |e: slm::Error| e.to_string();
    let [rows, columns] = shape;
    let pitch = columns + padding;
    let x: Vec<T> = Random::new(3).values(rows * pitch);
    let line = |l: usize| -> Vec<T> {
        if axis == 1 { x[l * pitch..][..columns].to_vec() } else { (0..rows).map(|r| x[r * pitch + l]).collect() }
    };
    let count = Case { x: &vec![T::default(); shape[axis]], ..case.clone() }.len();
    let (out_rows, out_columns) = if axis == 1 { (rows, count) } else { (count, columns) };
    let out_pitch = out_columns + padding;
    let untouched = T::random(99);

    let samples = device.upload(&x).and_then(|b| Ok(Buffer2::from_buffer(b, rows, columns, pitch)?)).map_err(text)?;
    for &algorithm in algorithms(device) {
        let fail = |what: String| format!("{algorithm:?}: {what}");
        let target = device.upload(&vec![untouched; out_rows * out_pitch]);
        let mut outputs =
            target.and_then(|b| Ok(Buffer2::from_buffer(b, out_rows, out_columns, out_pitch)?)).map_err(text)?;
        let filter = filter(case).algorithm(algorithm).prepare(device).map_err(text)?;
        filter.apply_axis_into(&samples, axis, &mut outputs).map_err(|e| fail(e.to_string()))?;
        let view = samples.download().map_err(text)?;
        let on_host = filter.apply_axis(view.view(), axis).map_err(|e| fail(e.to_string()))?;
        if on_host != outputs.download().map_err(text)? {
            return Err(fail("apply_axis and apply_axis_into differ".to_owned()));
        }
        let actual = outputs.into_buffer().download().map_err(text)?;
        let lines = if axis == 1 { rows } else { columns };
        for l in 0..lines {
            let x = line(l);
            let case = Case { x: &x, ..case.clone() };
            let weight = case.weight();
            for o in places_of_line(l, count) {
                let at = if axis == 1 { l * out_pitch + o } else { o * out_pitch + l };
                let expected = case.output(o);
                if !T::agrees(actual[at], expected, case.taps.len(), weight) {
                    return Err(fail(format!("line {l}: output {o} is {}, expected {expected:?}", actual[at])));
                }
            }
        }
        let between = |at: usize| at % out_pitch.max(1) >= out_columns;
        if let Some(at) = (0..actual.len()).find(|&at| between(at) && actual[at].bits() != untouched.bits()) {
            return Err(fail(format!("element {at}, between two rows, was written")));
        }
    }
    Ok(())
}

/// Of the first and some later lines everything, of the others the ends and every 37th output.
fn places_of_line(line: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..count).filter(move |&o| line.is_multiple_of(32) || o < 4 || o + 4 >= count || (o + line).is_multiple_of(37))
}
