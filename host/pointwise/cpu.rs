//! Pointwise operations on the CPU.
//!
//! The outputs are divided into runs of neighbours. A run is computed in chunks that stay in the core's cache: samples are
//! converted to the type of the computation, the function is computed in place, and the results are converted to outputs. So
//! code is compiled for each type, and not for each combination of types.

use super::lines::Lines;
use super::rule::{PointwiseRule, is_f32};
use crate::cpu::allocation;
use crate::cpu::parallel::for_chunks;
use crate::cpu::vector::vectorised;
use crate::element::any::{AnyVec, Erase, Slice, SliceMut, with_type};
use crate::element::stored::Stored;
use crate::{Element, Result};
use slm_kernels::pointwise::{
    Combination, Equalisation, Function, Number, TableIndex, combined, mapped, part_of, power,
};
use slm_kernels::signal::Output;

/// Elements of a chunk.
const CHUNK: usize = 1024;

/// Elements that are computed together.
const PACK: usize = 16;

/// Elements of a run, approximately.
const RUN: usize = 1 << 15;

/// A type of computations.
trait Real: Number {
    /// Converts as many samples as there are numbers, from index `first` on.
    fn load(numbers: &mut [Self], samples: Slice<'_>, first: usize);

    /// Converts as many numbers as there are outputs.
    fn store<O: Storable>(numbers: &[Self], outputs: &mut [O]);
}

/// A type of outputs.
trait Storable: Element + Stored<f32> + Stored<f64> {}
impl<O: Element + Stored<f32> + Stored<f64>> Storable for O {}

macro_rules! reals {
    ($($t:ty)*) => {$(
        impl Real for $t {
            fn load(numbers: &mut [Self], samples: Slice<'_>, first: usize) {
                with_type!(Slice, samples, samples => vectorised!({
                    for (number, &sample) in numbers.iter_mut().zip(&samples[first..]) {
                        *number = Output::<$t>::to_sum(sample);
                    }
                }))
            }

            fn store<O: Storable>(numbers: &[Self], outputs: &mut [O]) {
                vectorised!({
                    for (output, &number) in outputs.iter_mut().zip(numbers) {
                        *output = O::stored(number);
                    }
                });
            }
        }
    )*};
}
reals!(f32 f64);

/// Computes a function of one sample for all outputs. Elements between the rows stay unchanged.
pub(super) fn map(rule: &PointwiseRule, lines: &Lines<1>, [samples]: [Slice<'_>; 1], outputs: SliceMut<'_>) {
    let is_f32 = is_f32(&[samples.kind(), outputs.kind()]);
    match rule {
        &PointwiseRule::Function(function, parameters) if is_f32 => {
            compute(lines, samples, outputs, &|numbers| apply::<f32>(numbers, function, parameters));
        }
        &PointwiseRule::Function(function, parameters) => {
            compute(lines, samples, outputs, &|numbers| apply::<f64>(numbers, function, parameters));
        }
        &PointwiseRule::Power(exponent) if is_f32 => {
            compute(lines, samples, outputs, &|numbers| raise::<f32>(numbers, exponent))
        }
        &PointwiseRule::Power(exponent) => compute(lines, samples, outputs, &|numbers| raise::<f64>(numbers, exponent)),
        PointwiseRule::Table(entries) => look_up(lines, samples, entries, outputs),
        PointwiseRule::Between(edges, entries) => between(lines, samples, (edges, entries), outputs),
    }
}

/// Converts samples, calls `apply` with them, and converts the results to outputs. Numbers behind the last one are unspecified.
fn compute<A: Real>(
    lines: &Lines<1>,
    samples: Slice<'_>,
    outputs: SliceMut<'_>,
    apply: &(dyn Fn(&mut [[A; PACK]]) + Sync),
) {
    with_type!(SliceMut, outputs, outputs => for_runs(lines, outputs, &|run, [first]| {
        for (number, outputs) in run.chunks_mut(CHUNK).enumerate() {
            let mut numbers = [[A::ZERO; PACK]; CHUNK / PACK];
            A::load(&mut numbers.as_flattened_mut()[..outputs.len()], samples, first + number * CHUNK);
            apply(&mut numbers[..outputs.len().div_ceil(PACK)]);
            A::store(numbers.as_flattened(), outputs);
        }
    }));
}

fn apply<A: Real>(numbers: &mut [[A; PACK]], function: Function, parameters: [f64; 2]) {
    let parameters = parameters.map(A::of);
    vectorised!({
        for pack in numbers {
            *pack = mapped(function as u32, *pack, parameters);
        }
    });
}

fn raise<A: Real>(numbers: &mut [[A; PACK]], exponent: f64) {
    vectorised!({
        for x in numbers.as_flattened_mut() {
            *x = power(*x, A::of(exponent));
        }
    });
}

/// Computes a function of two samples for all outputs. Elements between the rows stay unchanged.
pub(super) fn combine(combination: Combination, lines: &Lines<2>, samples: [Slice<'_>; 2], outputs: SliceMut<'_>) {
    match is_f32(&[samples[0].kind(), samples[1].kind(), outputs.kind()]) {
        true => combine_as::<f32>(combination, lines, samples, outputs),
        false => combine_as::<f64>(combination, lines, samples, outputs),
    }
}

fn combine_as<A: Real>(combination: Combination, lines: &Lines<2>, samples: [Slice<'_>; 2], outputs: SliceMut<'_>) {
    with_type!(SliceMut, outputs, outputs => for_runs(lines, outputs, &|run, first| {
        for (number, outputs) in run.chunks_mut(CHUNK).enumerate() {
            let [mut a, mut b] = [[[A::ZERO; PACK]; CHUNK / PACK]; 2];
            A::load(&mut a.as_flattened_mut()[..outputs.len()], samples[0], first[0] + number * CHUNK);
            A::load(&mut b.as_flattened_mut()[..outputs.len()], samples[1], first[1] + number * CHUNK);
            combine_packs(combination, &mut a[..outputs.len().div_ceil(PACK)], &b);
            A::store(a.as_flattened(), outputs);
        }
    }));
}

/// Replaces numbers by their combinations with others.
fn combine_packs<A: Real>(combination: Combination, a: &mut [[A; PACK]], b: &[[A; PACK]]) {
    vectorised!({
        for (a, &b) in a.iter_mut().zip(b) {
            *a = combined(combination as u32, *a, b);
        }
    });
}

/// Returns the table that equalises a histogram, whose counts are those of all values and more.
pub(super) fn equalise<S: TableIndex>(counts: &[u64]) -> Result<Vec<S>> {
    let counts = &counts[..S::VALUES as usize];
    let total = counts.iter().copied().map(u128::from).sum();
    let first = counts.iter().copied().find(|&count| count > 0).unwrap_or(0);
    let equalisation = Equalisation::new(first, total, S::VALUES - 1);
    let mut sum = 0;
    let entry = |(value, &count): (u32, &u64)| {
        sum += u128::from(count);
        S::of_index(equalisation.entry(value, sum))
    };
    allocation::collected((0..S::VALUES).zip(counts).map(entry))
}

fn look_up(lines: &Lines<1>, samples: Slice<'_>, entries: &AnyVec, outputs: SliceMut<'_>) {
    with_type!(SliceMut, outputs, outputs => match samples {
        Slice::U8(samples) => look_up_typed(lines, samples, entries, outputs),
        Slice::U16(samples) => look_up_typed(lines, samples, entries, outputs),
        _ => unreachable!("only `LookupElement`s have tables of values"),
    });
}

fn look_up_typed<S: TableIndex, O: Erase>(lines: &Lines<1>, samples: &[S], entries: &AnyVec, outputs: &mut [O]) {
    let entries = of_type(entries);
    for_runs(lines, outputs, &|run, [first]| {
        for (output, sample) in run.iter_mut().zip(&samples[first..]) {
            *output = entries[sample.index() as usize];
        }
    });
}

/// Returns the entries, which have the type of the outputs.
fn of_type<O: Erase>(entries: &AnyVec) -> &[O] {
    O::typed(entries.as_slice()).expect("`PreparedMap` has one type of outputs")
}

fn between(lines: &Lines<1>, samples: Slice<'_>, (edges, entries): (&[f64], &AnyVec), outputs: SliceMut<'_>) {
    with_type!(SliceMut, outputs, outputs => {
        let entries = of_type(entries);
        for_runs(lines, outputs, &|run, [first]| {
            for (number, outputs) in run.chunks_mut(CHUNK).enumerate() {
                let mut numbers = [0.0; CHUNK];
                f64::load(&mut numbers[..outputs.len()], samples, first + number * CHUNK);
                for (output, &x) in outputs.iter_mut().zip(&numbers) {
                    // At most 2^24 edges.
                    *output = entries[part_of(edges.len() as u32, |i| edges[i as usize], x) as usize];
                }
            }
        });
    });
}

/// Calls `run` with runs of neighbouring outputs, and the indices of their samples in the inputs.
fn for_runs<O: Send, const N: usize>(lines: &Lines<N>, outputs: &mut [O], run: &(dyn Fn(&mut [O], [usize; N]) + Sync)) {
    let &Lines { rows, columns, inputs, output } = lines;
    if lines.is_empty() {
        return;
    }
    if rows == 1 {
        return for_chunks(&mut outputs[..columns], RUN, usize::MAX, &|number, outputs| {
            run(outputs, [number * RUN; N])
        });
    }
    let height = (RUN / columns).max(1);
    for_chunks(outputs, height.saturating_mul(output), rows.div_ceil(height), &|number, outputs| {
        for (row, outputs) in (number * height..rows).zip(outputs.chunks_mut(output)).take(height) {
            run(&mut outputs[..columns], inputs.map(|pitch| row * pitch));
        }
    });
}
