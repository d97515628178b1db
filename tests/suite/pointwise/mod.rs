//! One suite for every backend: conversions, tables, functions and arithmetic against their definitions, OpenCV and NumPy.
//!
//! All pairs of types meet special numbers (limits, ties, infinities, NaN) and random ones, in slices, buffers, arrays and
//! matrices with gaps, whose rows are aligned for packs or not.
//!
//! On emulated devices the inputs are few and small.

mod channels;
mod golden;
mod numbers;
mod tables;
mod types;

use crate::common::numbers::{Kind, bits, pitched};
use crate::common::{Random, ensure, equal, is_cuda, is_emulated, is_slow, on_every_backend, same};
use libtest_mimic::{Failed, Trial};
use numbers::samples;
use oracle::{COMBINATIONS, Combination, Function};
use slm::{Backend, Buffer2, Device};
use slm_test_support::pointwise as oracle;
use types::{ALL, Matrix, Memory, Types};

/// The name of the suite.
const SUITE: &str = "pointwise";

/// Lengths of sequences: none, parts of packs, whole packs, several blocks.
const LENGTHS: [usize; 9] = [0, 1, 3, 16, 17, 100, 511, 1027, 4115];

/// Rows and columns of matrices, and the gaps behind their rows: in the first input, in the second one, and in the output. Some
/// rows are aligned for all packs, some for none; there are more rows and more columns than in a block.
const MATRICES: [[usize; 5]; 8] = [
    [0, 5, 1, 2, 3],
    [5, 0, 1, 0, 2],
    [1, 7, 0, 2, 3],
    [3, 33, 3, 0, 5],
    [4, 64, 16, 32, 48],
    [2, 1050, 6, 14, 22],
    [270, 3, 0, 1, 2],
    [9, 16, 0, 0, 0],
];

/// Number of elements in gaps.
const GAP: f64 = 77.0;

pub(super) fn trials() -> Vec<Trial> {
    let of_types = ALL.iter().enumerate().flat_map(|(number, types)| {
        let functions = format!("functions::{}", types.name);
        let combinations = format!("combinations::{}", types.name);
        let functions = on_every_backend(SUITE, &functions, move |device| all_functions(device, types, number));
        let combinations =
            on_every_backend(SUITE, &combinations, move |device| all_combinations(device, types, number));
        functions.into_iter().chain(combinations)
    });
    let modules = [tables::trials(), channels::trials(), golden::trials()];
    of_types.chain(on_every_backend(SUITE, "plans", plans)).chain(modules.into_iter().flatten()).collect()
}

/// Functions for these types. Bounds, edges and entries are samples or outputs.
fn functions(types: &Types, random: &mut Random) -> Vec<Function> {
    let [mut edges, entries] = types.kinds.map(|kind| samples(kind, random, 30));
    edges.retain(|edge| !edge.is_nan());
    edges.sort_by(f64::total_cmp);
    edges.dedup_by(|a, b| a == b);
    let between = |count: usize, outside| Function::Between {
        edges: edges[..count].to_vec(),
        entries: entries[..count - 1].to_vec(),
        outside,
    };
    vec![
        // The default, which keeps the sign of 0.
        Function::Convert { scale: 1.0, offset: -0.0 },
        Function::Convert { scale: 1.0, offset: 0.0 },
        Function::Convert { scale: 2.0, offset: 0.0 },
        Function::Convert { scale: 0.5, offset: 0.0 },
        Function::Convert { scale: -1.0 / 3.0, offset: 100.7 },
        Function::Convert { scale: 300.0, offset: -1e5 },
        Function::Abs,
        Function::Square,
        Function::Sqrt,
        Function::Clamp { lower: edges[edges.len() / 3], upper: edges[edges.len() * 2 / 3] },
        Function::Gamma { exponent: 1.0 / 2.2 },
        Function::Gamma { exponent: 2.5 },
        between(edges.len(), Some([entries[27], entries[28], entries[29]])),
        between(2, None),
    ]
}

fn all_functions(device: &Device, types: &Types, number: usize) -> Result<(), Failed> {
    let random = &mut Random::new(number as u64);
    let functions = functions(types, random);
    for (i, function) in functions.iter().enumerate() {
        for length in lengths(device, number + i) {
            let samples = samples(types.kinds[0], random, length);
            for memory in memories(device, length, number + i) {
                let outputs = types.runs.map(device, function, memory, &samples)?;
                compare(types, function, &samples, &outputs).map_err(|e| format!("{memory:?}: {e}"))?;
            }
        }
        for shape in matrices(device, number + i) {
            check_matrix(device, types, function, shape).map_err(|e| format!("{shape:?}, {function:?}: {e}"))?;
        }
    }
    Ok(())
}

/// Lengths for a test, all of them unless the device is slow.
fn lengths(device: &Device, number: usize) -> Vec<usize> {
    match is_slow(device) {
        true => vec![LENGTHS[number % 7], LENGTHS[3 + number % 2]],
        false => LENGTHS.to_vec(),
    }
}

fn matrices(device: &Device, number: usize) -> Vec<[usize; 5]> {
    match is_slow(device) {
        true => vec![MATRICES[number % MATRICES.len()]],
        false => MATRICES.to_vec(),
    }
}

fn memories(device: &Device, length: usize, number: usize) -> Vec<Memory> {
    let rows = if length.is_multiple_of(3) { 3 } else { 1 };
    let all = [Memory::Slice, Memory::Buffer, Memory::Array([rows, length / rows])];
    if is_slow(device) { vec![all[number % 3]] } else { all.to_vec() }
}

/// Compares outputs with the definition.
fn compare(types: &Types, function: &Function, samples: &[f64], outputs: &[f64]) -> Result<(), String> {
    if outputs.len() != samples.len() {
        return Err(format!("{} outputs of {} samples", outputs.len(), samples.len()));
    }
    for (i, (&x, &y)) in samples.iter().zip(outputs).enumerate() {
        let [least, greatest] = function.expected(types.kinds, x);
        let is_right = if least == greatest || least.is_nan() {
            bits(&[y]) == bits(&[least])
        } else {
            least <= y && y <= greatest
        };
        if !is_right {
            return Err(format!("{function:?} of sample {i}, {x}, is {y}, expected {least} to {greatest}"));
        }
    }
    Ok(())
}

/// The elements of a matrix, and an error if a gap has changed.
fn packed(memory: &[f64], [_, columns, pitch]: [usize; 3]) -> Result<Vec<f64>, String> {
    let rows = memory.chunks(pitch.max(1));
    if rows.clone().any(|row| row[columns..].iter().any(|&gap| gap != GAP)) {
        return Err("a gap has changed".to_owned());
    }
    Ok(rows.flat_map(|row| row[..columns].to_vec()).collect())
}

fn check_matrix(device: &Device, types: &Types, function: &Function, matrix: [usize; 5]) -> Result<(), String> {
    let [rows, columns, input_gap, _, output_gap] = matrix;
    let [input, output] = [input_gap, output_gap].map(|gap| [rows, columns, columns + gap]);
    let samples = samples(types.kinds[0], &mut Random::new(9), rows * columns);
    let numbers = pitched(&samples, input, 1.0);
    let untouched = vec![GAP; rows * output[2]];
    let (input, of_output) =
        (Matrix { numbers: &numbers, shape: input }, Matrix { numbers: &untouched, shape: output });
    let memory = types.runs.map_matrix(device, function, input, of_output).map_err(|e| e.to_string())?;
    compare(types, function, &samples, &packed(&memory, output)?)
}

fn all_combinations(device: &Device, types: &Types, number: usize) -> Result<(), Failed> {
    let random = &mut Random::new(100 + number as u64);
    for (i, combination) in COMBINATIONS.into_iter().enumerate() {
        for length in lengths(device, number + i) {
            let samples = pairs(types.kinds[0], random, length);
            for memory in memories(device, length, number + i) {
                let outputs = types.runs.combine(device, combination, memory, [&samples[0], &samples[1]])?;
                compare_pairs(types, combination, &samples, &outputs).map_err(|e| format!("{memory:?}: {e}"))?;
            }
        }
        for shape in matrices(device, number + i) {
            check_matrices(device, types, combination, shape)
                .map_err(|e| format!("{shape:?}, {combination:?}: {e}"))?;
        }
    }
    Ok(())
}

/// Two sequences. Special numbers meet other special numbers, and random ones.
fn pairs(kind: Kind, random: &mut Random, length: usize) -> [Vec<f64>; 2] {
    let a = samples(kind, random, length);
    let mut b = samples(kind, random, length);
    let step = random.below(length.max(1));
    b.rotate_left(step);
    [a, b]
}

fn compare_pairs(
    types: &Types,
    combination: Combination,
    [a, b]: &[Vec<f64>; 2],
    outputs: &[f64],
) -> Result<(), String> {
    let expected: Vec<f64> = a.iter().zip(b).map(|(&a, &b)| combination.expected(types.kinds, a, b)).collect();
    same(&bits(outputs), &bits(&expected)).map_err(|_| {
        let wrong = (0..expected.len()).find(|&i| bits(&outputs[i..=i]) != bits(&expected[i..=i])).unwrap_or(0);
        format!("{combination:?} of {} and {} is {}, expected {}", a[wrong], b[wrong], outputs[wrong], expected[wrong])
    })
}

fn check_matrices(device: &Device, types: &Types, combination: Combination, matrix: [usize; 5]) -> Result<(), String> {
    let [rows, columns, gaps @ ..] = matrix;
    let [a, b, output] = gaps.map(|gap| [rows, columns, columns + gap]);
    let samples = pairs(types.kinds[0], &mut Random::new(10), rows * columns);
    let (first, second) = (pitched(&samples[0], a, 1.0), pitched(&samples[1], b, 2.0));
    let untouched = vec![GAP; rows * output[2]];
    let inputs = [Matrix { numbers: &first, shape: a }, Matrix { numbers: &second, shape: b }];
    let of_output = Matrix { numbers: &untouched, shape: output };
    let memory = types.runs.combine_matrices(device, combination, inputs, of_output).map_err(|e| e.to_string())?;
    compare_pairs(types, combination, &samples, &packed(&memory, output)?)
}

/// The kernels tell the documented types of computations.
fn plans(device: &Device) -> Result<(), Failed> {
    for types in &ALL {
        let number = if types.kinds.iter().any(|kind| matches!(kind, Kind::I32 | Kind::F64)) { "f64" } else { "f32" };
        let name = |kernel: &str| match device.info().backend {
            Backend::Cpu => String::new(),
            _ => format!("pointwise_{kernel}_{number}"),
        };
        let kernels = types.runs.kernels(device, &Function::Abs)?;
        equal(kernels, [name("map"), name("combine")])?;
        equal(&types.runs.kernels(device, &Function::Gamma { exponent: 2.0 })?[0], &name("power"))?;
    }
    let square = slm::Map::<u8>::square().prepare(device)?;
    let (plan, empty) = (square.plan([10_000])?, square.plan([0])?);
    equal((plan.outputs.clone(), &*plan.device), (vec![10_000], &*device.to_string()))?;
    let is_cpu = device.info().backend == Backend::Cpu;
    let launches: Vec<_> = plan.launches.iter().map(|launch| (launch.grid, launch.block, launch.moved_bytes)).collect();
    equal(launches, if is_cpu { vec![] } else { vec![([3, 1, 1], [256, 1, 1], 20_000)] })?;
    equal(empty.launches.len(), 0)?;
    ensure(plan.launches.iter().all(|launch| launch.residency.is_some() == is_cuda(device)), || plan.to_string())?;
    ensure(plan.to_string().contains("outputs    10000\n"), || plan.to_string())?;
    plans_of_channels(device)?;
    plans_of_equalisation(device)
}

/// Kernels, grids and blocks that ran on an emulated device.
fn launched(device: &Device) -> Vec<(&'static str, [u64; 3], [u32; 3])> {
    let reports = device.emulation_reports();
    reports.iter().map(|report| (report.kernel, report.launch.grid.map(u64::from), report.launch.block)).collect()
}

fn plans_of_channels(device: &Device) -> Result<(), Failed> {
    let (split, merge) =
        (slm::Channels::<u16>::split(3).prepare(device)?, slm::Channels::<u16>::merge(3).prepare(device)?);
    let (pixels, planes) = ([5, 900], [15, 300]);
    let plans = [split.plan([5, 900])?, merge.plan([15, 300])?];
    equal(plans.each_ref().map(|plan| &*plan.outputs), [&planes[..], &pixels[..]])?;
    if device.info().backend == Backend::Cpu {
        return equal(plans.map(|plan| plan.launches.len()), [0, 0]);
    }
    device.reset_emulation_reports();
    let mut matrices = [pixels, planes].map(|[rows, columns]| Buffer2::<u16>::zeroed(device, rows, columns));
    let [Ok(pixels), Ok(planes)] = &mut matrices else { return Err("there is not enough memory".into()) };
    split.apply_into(&*pixels, planes)?;
    merge.apply_into(&*planes, pixels)?;
    let launches = plans.each_ref().map(|plan| plan.launches[0]);
    equal(launches.map(|launch| (launch.times, launch.moved_bytes)), [(1, 18_000); 2])?;
    equal(launches.map(|launch| launch.kernel), ["pointwise_split_16", "pointwise_merge_16"])?;
    ensure(plans.iter().all(|plan| plan.to_string().lines().count() == 5), || plans[0].to_string())?;
    equal([split.plan([0, 300])?, merge.plan([15, 0])?].map(|plan| plan.launches.len()), [0, 0])?;
    let planned = launches.map(|launch| (launch.kernel, launch.grid, launch.block));
    if is_emulated(device) { equal(launched(device), planned.to_vec()) } else { Ok(()) }
}

fn plans_of_equalisation(device: &Device) -> Result<(), Failed> {
    let plan = slm::Lookup::<u8, u8>::equalise_plan(device)?;
    equal(&*plan.outputs, &[256][..])?;
    if device.info().backend == Backend::Cpu {
        return equal(plan.launches.len(), 0);
    }
    device.reset_emulation_reports();
    slm::Lookup::<u8, u8>::equalise(&device.zeroed(259)?)?;
    let launch = plan.launches[0];
    equal((launch.kernel, launch.times), ("pointwise_equalise_u8", 1))?;
    equal((launch.moved_bytes, launch.residency.is_some()), (256 * 9, is_cuda(device)))?;
    let planned = vec![(launch.kernel, launch.grid, launch.block)];
    if is_emulated(device) { equal(launched(device), planned) } else { Ok(()) }
}
