//! `Map`, `Convert`, `Lookup` and `Arithmetic`, against their definitions.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slm::Device;
use slm_fuzz::{Reader, devices, expect};
use slm_test_support::numbers::Kind;
use slm_test_support::pointwise as oracle;
use slm_test_support::pointwise::{COMBINATIONS, Combination, Function};
use types::{Memory, Types};

/// Names that the file of the test suite expects.
mod common {
    pub(crate) use slm_test_support::numbers;
}

// The types, as the test suite has them.
#[allow(dead_code, reason = "the suite uses more of it")]
#[path = "../../tests/suite/pointwise/types.rs"]
mod types;

fuzz_target!(|input: &[u8]| {
    let reader = &mut Reader::new(input);
    let (types, devices) = (&reader.pick(&types::ALL), devices(reader));
    let (function, combination) = (function(reader, types.kinds), reader.pick(&COMBINATIONS));
    let shape = [reader.below(6), reader.below(30)];
    let memory = reader.pick(&[Memory::Slice, Memory::Buffer, Memory::Array(shape)]);
    let [a, b] = [0; 2].map(|_| reader.numbers(shape[0] * shape[1], types.kinds[0], false));
    for device in &devices {
        check_function(device, types, &function, memory, &a);
        check_combination(device, types, combination, memory, [&a, &b]);
    }
});

fn function(reader: &mut Reader<'_>, kinds: [Kind; 2]) -> Function {
    let number = |reader: &mut Reader<'_>, kind| reader.number(kind, true);
    match reader.below(7) {
        0 => Function::Convert { scale: number(reader, Kind::F32), offset: number(reader, Kind::F32) },
        1 => Function::Abs,
        2 => Function::Square,
        3 => Function::Sqrt,
        4 => {
            let ends = [number(reader, kinds[0]), number(reader, kinds[0])];
            Function::Clamp { lower: ends[0].min(ends[1]), upper: ends[0].max(ends[1]) }
        }
        5 => Function::Gamma { exponent: (f64::from(reader.byte()) + 1.0) / 32.0 },
        _ => between(reader, kinds),
    }
}

/// Returns a table between ascending edges.
fn between(reader: &mut Reader<'_>, kinds: [Kind; 2]) -> Function {
    let count = reader.within(2, 40);
    let mut edges = reader.numbers(count, kinds[0], true);
    edges.sort_by(f64::total_cmp);
    edges.dedup();
    if edges.len() < 2 {
        edges = vec![0.0, 1.0];
    }
    let entries = reader.numbers(edges.len() - 1, kinds[1], false);
    let outside = reader.flag().then(|| [0; 3].map(|_| reader.number(kinds[1], false)));
    Function::Between { edges, entries, outside }
}

/// Returns whether numbers are equal. NaNs are, and zeros of different signs are not.
fn is_same(actual: f64, expected: f64) -> bool {
    actual.to_bits() == expected.to_bits() || actual.is_nan() && expected.is_nan()
}

fn check_function(device: &Device, types: &Types, function: &Function, memory: Memory, samples: &[f64]) {
    let what = (types.name, device.to_string(), function, memory, samples);
    let outputs = expect(types.runs.map(device, function, memory, samples), &what);
    assert_eq!(outputs.len(), samples.len(), "{what:?}");
    for (&sample, &output) in samples.iter().zip(&outputs) {
        let [least, greatest] = function.expected(types.kinds, sample);
        let agrees = is_same(output, least) || (least..=greatest).contains(&output) && least < greatest;
        assert!(agrees, "{sample} became {output}, expected {least} to {greatest}: {what:?}");
    }
}

fn check_combination(device: &Device, types: &Types, combination: Combination, memory: Memory, samples: [&[f64]; 2]) {
    let what = (types.name, device.to_string(), combination, memory, samples);
    let outputs = expect(types.runs.combine(device, combination, memory, samples), &what);
    assert_eq!(outputs.len(), samples[0].len(), "{what:?}");
    for ((&a, &b), &output) in samples[0].iter().zip(samples[1]).zip(&outputs) {
        let expected = combination.expected(types.kinds, a, b);
        assert!(is_same(output, expected), "{a} and {b} became {output}, expected {expected}: {what:?}");
    }
}
