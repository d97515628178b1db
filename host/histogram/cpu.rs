//! Histograms on the CPU.
//!
//! The samples are divided into pieces. Each piece is counted in its own table; the tables are added up at the end.

use super::element::SampleType;
use super::facts::{Facts, SampleBins, with_bins};
use super::rule::CounterLayout;
use super::weights::{Weigh, WeightSlice, magnitudes, values};
use crate::Result;
use crate::cpu::allocation;
use crate::cpu::parallel::{for_elements, try_collect};
use slm_kernels::histogram::{BYTE_VALUES, Binning, ByValue, Quantum, count_log2, magnitude};
use std::ops::Range;

/// Minimum number of samples, and of counters, per thread.
const SHARE: usize = 1 << 16;

/// Maximum number of samples per piece, so that its 32-bit counters cannot overflow.
const MOST: usize = 1 << 31;

/// Pieces per thread, so that a slower thread can take fewer.
const PIECES: usize = 4;

/// Bytes of samples that are counted channel by channel, so that they stay in a core's cache.
const BLOCK_BYTES: usize = 1 << 17;

/// Adds the counts of the samples to `counts`, modulo 2^64. Adds nothing if it returns an error.
pub(super) fn count<T: SampleType>(facts: &Facts<T>, samples: &[T], counts: &mut [u64]) -> Result<()> {
    let (layout, first) = (&facts.layout, facts.first);
    let tables = tables::<T, _>(layout, samples.len(), |piece, channel, table: &mut [u32]| {
        let (samples, cells) = (&samples[piece][channel..], &mut table[first..]);
        with_bins!(facts, |binning| T::tally(binning, samples, layout.channels, cells));
    })?;
    add(&tables, counts);
    Ok(())
}

/// Returns the sums of the weights, one weight per sample.
pub(super) fn weigh<T: SampleType>(facts: &Facts<T>, samples: &[T], weights: WeightSlice<'_>) -> Result<Vec<f64>> {
    match weights {
        WeightSlice::F32(weights) => weighted(facts, samples, weights),
        WeightSlice::F64(weights) => weighted(facts, samples, weights),
    }
}

/// Finds the largest magnitude of the weights in each cell, and then adds up multiples of the cell's quantum. But if all weights
/// are multiples of the greatest quantum, they have the same sums as such.
fn weighted<T: SampleType, W: Weigh>(facts: &Facts<T>, samples: &[T], weights: &[W]) -> Result<Vec<f64>> {
    let (counters, count_log2) = (facts.layout.counters(), count_log2(weights.len() as u64));
    let [least, most] = magnitudes(weights)?;
    let mut sums = allocation::filled_here(0, counters)?;
    let quantum = Quantum::new(most, count_log2);
    if quantum.divides(least, W::ZEROS) {
        let add = |sum: &mut i128, weight, _| *sum += quantum.multiple(weight);
        combine(&weighted_tables(facts, samples, weights, add)?, &mut sums, |a, b| a + b);
        return values(counters, |cell| sums[cell], |_| quantum);
    }
    let mut peaks = allocation::filled_here(0, counters)?;
    find_peaks_of(facts, samples, weights, &mut peaks)?;
    add_multiples(facts, samples, weights, Peaks { peaks: &peaks, count_log2 }, &mut sums)?;
    values(counters, |cell| sums[cell], |cell| Quantum::new(peaks[cell], count_log2))
}

/// The largest magnitudes of the weights in each cell, of at most `2^count_log2` weights.
#[derive(Clone, Copy)]
pub(crate) struct Peaks<'a> {
    pub(super) peaks: &'a [u32],
    pub(super) count_log2: u32,
}

/// Raises peaks to the largest magnitudes of finite weights in each cell.
pub(super) fn find_peaks<T: SampleType>(
    facts: &Facts<T>,
    samples: &[T],
    weights: WeightSlice<'_>,
    peaks: &mut [u32],
) -> Result<()> {
    match weights {
        WeightSlice::F32(weights) => find_peaks_of(facts, samples, weights, peaks),
        WeightSlice::F64(weights) => find_peaks_of(facts, samples, weights, peaks),
    }
}

/// Adds multiples of the cells' quanta to sums.
pub(super) fn add_weights<T: SampleType>(
    facts: &Facts<T>,
    samples: &[T],
    weights: WeightSlice<'_>,
    peaks: Peaks<'_>,
    sums: &mut [i128],
) -> Result<()> {
    match weights {
        WeightSlice::F32(weights) => add_multiples(facts, samples, weights, peaks, sums),
        WeightSlice::F64(weights) => add_multiples(facts, samples, weights, peaks, sums),
    }
}

fn find_peaks_of<T: SampleType, W: Weigh>(
    facts: &Facts<T>,
    samples: &[T],
    weights: &[W],
    peaks: &mut [u32],
) -> Result<()> {
    let find = |peak: &mut u32, weight, _| *peak = magnitude(weight).max(*peak);
    combine(&weighted_tables(facts, samples, weights, find)?, peaks, Ord::max);
    Ok(())
}

fn add_multiples<T: SampleType, W: Weigh>(
    facts: &Facts<T>,
    samples: &[T],
    weights: &[W],
    Peaks { peaks, count_log2 }: Peaks<'_>,
    sums: &mut [i128],
) -> Result<()> {
    let add = |sum: &mut i128, weight, cell: usize| {
        *sum += Quantum::new(peaks[cell], count_log2).multiple(weight);
    };
    combine(&weighted_tables(facts, samples, weights, add)?, sums, |a, b| a + b);
    Ok(())
}

/// Returns one table for each piece of the samples. `update` is called with a cell of it, a weight, and the cell's index.
fn weighted_tables<T: SampleType, W: Weigh, N: Copy + Default + Send>(
    facts: &Facts<T>,
    samples: &[T],
    weights: &[W],
    update: impl Fn(&mut N, f64, usize) + Sync,
) -> Result<Vec<Vec<N>>> {
    let layout = &facts.layout;
    tables::<T, _>(layout, samples.len(), |piece, channel, table: &mut [N]| {
        let of_channel = |of: Range<usize>| of.skip(channel).step_by(layout.channels);
        let first = channel * layout.cells() + facts.first;
        let cells = &mut table[facts.first..];
        with_bins!(facts, |binning| {
            for i in of_channel(piece) {
                let key = binning.key(samples[i]) as usize;
                update(&mut cells[key], weights[i].into(), first + key);
            }
        });
    })
}

fn add(tables: &[Vec<u32>], counts: &mut [u64]) {
    for_elements(counts, SHARE, |counter, count| {
        *count = tables.iter().fold(*count, |sum, table| sum.wrapping_add(table[counter].into()));
    });
}

/// Combines each result with those of all tables.
fn combine<N: Copy + Send + Sync>(tables: &[Vec<N>], results: &mut [N], combine: impl Fn(N, N) -> N + Sync) {
    for_elements(results, SHARE, |cell, result| {
        *result = tables.iter().fold(*result, |result, table| combine(result, table[cell]));
    });
}

/// Returns one table for each piece of the samples. `tally` is called with a part of a piece, the index of its first sample
/// of a channel, and the cells of that channel.
fn tables<T, N: Copy + Default + Send>(
    layout: &CounterLayout,
    samples: usize,
    tally: impl Fn(Range<usize>, usize, &mut [N]) + Sync,
) -> Result<Vec<Vec<N>>> {
    let size = piece::<T, N>(layout, samples);
    let block = match layout.counted {
        1 => size,
        _ => (BLOCK_BYTES / size_of::<T>()).next_multiple_of(layout.channels),
    };
    let table = |first: usize| {
        let mut table = allocation::filled_here(N::default(), layout.counters())?;
        let end = samples.min(first + size);
        for start in (first..end).step_by(block) {
            for (channel, cells) in table.chunks_exact_mut(layout.cells()).enumerate() {
                tally(start..end.min(start + block), channel, cells);
            }
        }
        Ok(table)
    };
    try_collect(samples.div_ceil(size), &|piece| table(piece * size))
}

/// Returns the number of samples per piece, a multiple of the channels. A piece takes at least as much memory as its table of
/// `N`, up to the maximum number of samples, so that tables do not take much more memory than samples.
fn piece<T, N>(layout: &CounterLayout, samples: usize) -> usize {
    let share = samples.div_ceil(PIECES * rayon::current_num_threads());
    let table_bytes = layout.counters().saturating_mul(size_of::<N>());
    let least = table_bytes.div_ceil(size_of::<T>()).clamp(SHARE, MOST);
    share.clamp(least, MOST).next_multiple_of(layout.channels)
}

/// Adds the counts of every `step`th sample, beginning with the first, to a table with a counter for every cell.
pub(super) fn tally<B: Binning>(binning: B, samples: &[B::Sample], step: usize, table: &mut [u32]) {
    match step {
        // An iterator with a step is slower, even with a step of one.
        1 => tally_each(binning, samples.iter(), table),
        _ => tally_each(binning, samples.iter().step_by(step), table),
    }
}

fn tally_each<'a, B: Binning>(binning: B, samples: impl Iterator<Item = &'a B::Sample>, table: &mut [u32]) {
    samples.for_each(|sample| table[binning.key(*sample) as usize] += 1);
}

/// [`tally`] for bytes, which counts values first.
pub(super) fn tally_bytes<B: Binning<Sample = u8>>(binning: B, samples: &[u8], step: usize, table: &mut [u32]) {
    let values = match step {
        1 => count_values(samples),
        // With fewer samples than values, each sample is assigned to its bin.
        _ if samples.len() / step < BYTE_VALUES as usize => {
            return tally_each(binning, samples.iter().step_by(step), table);
        }
        _ => count_values_by_steps(samples, step),
    };
    let binning = ByValue { binning };
    for (value, count) in (0..).zip(values) {
        table[binning.cell(value) as usize] += count;
    }
}

/// Returns the number of occurrences of each value. Neighbouring bytes use different tables, because an addition to a counter
/// that was just written would have to wait, and this would dominate the time.
fn count_values(samples: &[u8]) -> [u32; BYTE_VALUES as usize] {
    const TABLES: usize = 8;
    let mut tables = [[0; BYTE_VALUES as usize]; TABLES];
    let (groups, rest) = samples.as_chunks::<TABLES>();
    for group in groups {
        // One load instead of eight.
        let group = u64::from_le_bytes(*group);
        for (i, table) in tables.iter_mut().enumerate() {
            table[usize::from((group >> (8 * i)) as u8)] += 1;
        }
    }
    let mut values = count_values_by_steps(rest, 1);
    for table in tables {
        values.iter_mut().zip(table).for_each(|(sum, count)| *sum += count);
    }
    values
}

fn count_values_by_steps(samples: &[u8], step: usize) -> [u32; BYTE_VALUES as usize] {
    let mut values = [0; _];
    samples.iter().step_by(step).for_each(|&sample| values[usize::from(sample)] += 1);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(bins: usize, channels: usize) -> CounterLayout {
        CounterLayout { bins, channels, counted: channels }
    }

    #[test]
    fn tables_take_no_more_memory_than_samples() {
        let bytes = layout(1 << 20, 3);
        assert_eq!(piece::<u8, u32>(&bytes, 1), 4 * bytes.counters());
        assert_eq!(piece::<u8, i128>(&bytes, 1), 16 * bytes.counters());
        let numbers = layout(1 << 20, 1);
        assert_eq!(piece::<f64, u32>(&numbers, 1), numbers.counters().div_ceil(2));
        assert_eq!(piece::<f64, u32>(&layout(9, 5), 1), SHARE.next_multiple_of(5));
    }

    #[test]
    fn pieces_have_no_more_samples_than_counters_can_take() {
        let most = layout(1 << 24, 127);
        assert_eq!(piece::<u8, i128>(&most, usize::MAX), MOST.next_multiple_of(127));
        assert_eq!(piece::<u8, u32>(&layout(256, 1), usize::MAX), MOST);
    }
}
