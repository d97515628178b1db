//! Tables of values, tables that equalise histograms, and a pipeline.

use super::numbers::samples;
use super::types::{Matrix, TABLES, Table};
use super::{GAP, SUITE, bits, lengths, matrices, memories, oracle, packed, pitched};
use crate::common::{Random, equal, is_slow, on_every_backend, same};
use libtest_mimic::{Failed, Trial};
use ndarray::Array2;
use slm::{Arithmetic, Buffer, Buffer2, Convert, Device, Filter2d, Histogram, Lookup, Transpose};

pub(super) fn trials() -> Vec<Trial> {
    let tables = TABLES.iter().enumerate().flat_map(|(number, table)| {
        on_every_backend(SUITE, &format!("tables::{}", table.name), move |device| values(device, table, number))
    });
    let others = [
        on_every_backend(SUITE, "tables::bits_of_nans", bits_of_nans),
        on_every_backend(SUITE, "tables::equalised", equalised),
        on_every_backend(SUITE, "tables::equalised_u16", equalised_u16),
        on_every_backend(SUITE, "pipeline", pipeline),
    ];
    tables.chain(others.into_iter().flatten()).collect()
}

fn values(device: &Device, table: &Table, number: usize) -> Result<(), Failed> {
    let random = &mut Random::new(200 + number as u64);
    let [sample, output] = table.kinds;
    let entries = samples(output, random, sample.range().map_or(0, |[_, last]| last as usize + 1));
    let expected = |samples: &[f64]| -> Vec<f64> { samples.iter().map(|&x| entries[x as usize]).collect() };
    for length in (number..number + 3).flat_map(|number| lengths(device, number)) {
        let samples = samples(sample, random, length);
        for memory in memories(device, length, number) {
            let actual = (table.run)(device, &entries, memory, &samples)?;
            same(&bits(&actual), &bits(&expected(&samples)))?;
        }
    }
    for [rows, columns, input_gap, _, output_gap] in (number..number + 3).flat_map(|number| matrices(device, number)) {
        let [input, output] = [input_gap, output_gap].map(|gap| [rows, columns, columns + gap]);
        let samples = samples(sample, random, rows * columns);
        let (numbers, untouched) = (pitched(&samples, input, 1.0), vec![GAP; rows * output[2]]);
        let (input, of_output) =
            (Matrix { numbers: &numbers, shape: input }, Matrix { numbers: &untouched, shape: output });
        let memory = (table.run_matrix)(device, &entries, input, of_output)?;
        same(&bits(&packed(&memory, output)?), &bits(&expected(&samples)))?;
    }
    Ok(())
}

/// Entries are copied bit by bit.
fn bits_of_nans(device: &Device) -> Result<(), Failed> {
    let entry = |x: u8| f32::from_bits(0x7f80_0001 + 0x0101 * u32::from(x) + (u32::from(x) << 31));
    let samples: Vec<u8> = (0..=255).collect();
    let expected: Vec<u32> = samples.iter().map(|&x| entry(x).to_bits()).collect();
    let actual = Lookup::of(entry).prepare(device)?.apply(&samples)?;
    equal(actual.into_iter().map(f32::to_bits).collect::<Vec<_>>(), expected)?;
    let nan = f64::from_bits(0xfff0_0000_0000_0077);
    let table = Lookup::between(&[0.0f32, 1.0], &[nan]).prepare(device)?;
    let actual = table.apply(&[0.5, 7.0])?;
    equal(actual.into_iter().map(f64::to_bits).collect::<Vec<_>>(), vec![nan.to_bits(); 2])
}

/// Counts in the order of a histogram of all values. Those outside have no effect.
fn counts_of<S>(device: &Device, counts: &[u64]) -> slm::Result<Buffer<u64>> {
    let outside = [u64::MAX, 5, 7];
    assert_eq!(counts.len(), 1 << (8 * size_of::<S>()));
    device.upload(&[counts, &outside].concat())
}

/// By hand, and as OpenCV's `equalizeHist` does: counts 2, 1, 4, 1 of 8 samples; `C` is 2, 3, 7, 8; times 255 / 6.
fn equalised(device: &Device) -> Result<(), Failed> {
    let samples = [10u8, 10, 20, 30, 30, 30, 30, 200];
    let (histogram, mut counts) = (Histogram::bytes().prepare(device)?, device.zeroed(259)?);
    histogram.apply_into(&device.upload(&samples)?, &mut counts)?;
    let table = Lookup::equalise(&counts)?;
    // The table is that of the counts before.
    counts.upload(&[3; 259])?;
    // 42.5 is a tie, and 212.5.
    equal(table.apply(&samples)?, vec![0, 0, 42, 212, 212, 212, 212, 255])?;
    // Values without samples belong to the next smaller one.
    equal(table.apply(&[0, 9, 11, 199, 255])?, vec![0, 0, 0, 212, 255])?;
    for counts in [[0; 256], std::array::from_fn(|value| u64::from(value == 99) * 7)] {
        let identity = Lookup::equalise(&counts_of::<u8>(device, &counts)?)?;
        equal(identity.apply(&[0u8, 98, 99, 100, 255])?, vec![0, 98, 99, 100, 255])?;
    }
    let all: Vec<u8> = (0..=255).collect();
    let random = &mut Random::new(300);
    for counts in all_counts(random, 256) {
        let table = Lookup::equalise(&counts_of::<u8>(device, &counts)?)?;
        equal(table.apply(&all)?, oracle::equalised(&counts).map(|y| y as u8).collect())?;
    }
    Ok(())
}

/// Counts of all magnitudes: few samples, with many ties; equal ones, whose sums exceed 64 bits; any.
fn all_counts(random: &mut Random, values: usize) -> [Vec<u64>; 3] {
    let any = |random: &mut Random| (0..values).map(|_| random.bits() >> random.below(64)).collect();
    let few = (0..values).map(|_| u64::from(random.below(4) == 0)).collect();
    [few, vec![u64::MAX; values], any(random)]
}

fn equalised_u16(device: &Device) -> Result<(), Failed> {
    let samples = [7u16, 7, 8, 9, 60_000];
    let (histogram, mut counts) = (Histogram::low_bits(16).prepare(device)?, device.zeroed(65_539)?);
    histogram.apply_into(&device.upload(&samples)?, &mut counts)?;
    equal(Lookup::equalise(&counts)?.apply(&samples)?, vec![0, 0, 21_845, 43_690, 65_535])?;
    let all: Vec<u16> = (0..=65_535).collect();
    let random = &mut Random::new(301);
    for counts in all_counts(random, 65_536).into_iter().skip(if is_slow(device) { 2 } else { 0 }) {
        let table = Lookup::equalise(&counts_of::<u16>(device, &counts)?)?;
        equal(table.apply(&all)? == oracle::equalised(&counts).map(|y| y as u16).collect::<Vec<_>>(), true)?;
    }
    Ok(())
}

/// Bytes to floats, a Gaussian, back to bytes, equalised, transposed: as the single steps on the host.
fn pipeline(device: &Device) -> Result<(), Failed> {
    let (rows, columns) = if is_slow(device) { (19, 37) } else { (190, 371) };
    let picture = Array2::from_shape_fn((rows, columns), |(r, c)| (60 + (r * r + 3 * c) % 90) as u8);
    let x = Buffer2::upload_pitched(device, picture.view(), columns + 11)?;
    let matrix = |gap: usize| Buffer2::<f32>::zeroed_pitched(device, rows, columns, columns + gap);
    let (mut floats, mut smooth, mut sharp) = (matrix(0)?, matrix(1)?, matrix(4)?);
    Convert::new().scale(1.0 / 255.0).prepare(device)?.apply_into(&x, &mut floats)?;
    let gaussian = Filter2d::<f32, f32>::gaussian(1.5).prepare(device)?;
    gaussian.apply_into(&floats, &mut smooth)?;
    Arithmetic::sub().prepare(device)?.apply_into(&floats, &smooth, &mut sharp)?;
    let mut bytes = Buffer2::<u8>::zeroed_pitched(device, rows, columns, columns + 3)?;
    Convert::new().scale(255.0).offset(128.0).prepare(device)?.apply_into(&sharp, &mut bytes)?;
    let (histogram, mut counts) = (Histogram::bytes().prepare(device)?, device.zeroed(259)?);
    histogram.apply_into(&bytes, &mut counts)?;
    let mut equal_bytes = Buffer2::<u8>::zeroed(device, rows, columns)?;
    Lookup::equalise(&counts)?.apply_into(&bytes, &mut equal_bytes)?;
    let mut turned = Buffer2::<u8>::zeroed(device, columns, rows)?;
    Transpose::new(rows, columns).prepare(device)?.apply_into(&equal_bytes, &mut turned)?;

    let cpu = Device::cpu();
    let floats = Convert::new().scale(1.0 / 255.0).prepare(&cpu)?.apply(picture.view())?;
    let smooth = gaussian.apply(floats.view())?;
    let sharp = Arithmetic::sub().prepare(&cpu)?.apply(floats.view(), smooth.view())?;
    let bytes = Convert::<f32, u8>::new().scale(255.0).offset(128.0).prepare(&cpu)?.apply(sharp.view())?;
    let counts = Histogram::bytes().prepare(&cpu)?.apply(bytes.view())?;
    let table: Vec<u8> = oracle::equalised(counts.bins()?).map(|y| y as u8).collect();
    equal(turned.download()?, bytes.t().mapv(|x| table[usize::from(x)]))
}
