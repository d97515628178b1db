//! The inner loops of filters on the CPU: sums of products of rows of samples and rows of weights.
//!
//! They keep neighbouring sums in vector registers while they iterate over the weights; the compiler vectorises them. [`WIDTH`] sums
//! are four vectors of eight `f32`: too few to hide the latency of additions, and each sample is loaded for a single product. So two
//! rows of outputs are computed together if there are enough registers, with twice as many sums of each if vectors are of 64 bytes.
//! Products are added in the same order either way.

use crate::cpu::vector;
use crate::filter2d::accumulator::Accumulator;
use std::array;

/// Sums of a row that are computed together.
pub(super) const WIDTH: usize = 32;

/// The same for two rows, if vectors are of 64 bytes.
pub(super) const WIDE: usize = 2 * WIDTH;

/// Returns the number of sums that are computed for a row of `len` outputs.
pub(super) fn padded_len(len: usize) -> usize {
    len.next_multiple_of(if vector::are_of_64_bytes() { WIDE } else { WIDTH })
}

/// Returns whether [`two_rows`] and [`two_lines`] are faster than two calls of [`one_row`]: whether all sums fit into the registers.
pub(super) fn pays_for_two_rows<A>() -> bool {
    size_of::<A>() <= 4 && vector::are_wide()
}

/// Computes `sums[e] = Σ_i Σ_j weights[i, j] · rows[i][offsets[j] + e]`.
#[inline(always)]
pub(super) fn one_row<A: Accumulator>(rows: &[&[A]], offsets: &[usize], weights: &[A], sums: &mut [A]) {
    for (block, sums) in sums.chunks_exact_mut(WIDTH).enumerate() {
        let first = block * WIDTH;
        let mut block_sums = [A::ZERO; WIDTH];
        for (samples, weights) in rows.iter().zip(weights.chunks_exact(offsets.len())) {
            for (&offset, &weight) in offsets.iter().zip(weights) {
                block_sums = plus_products(block_sums, window(samples, first + offset), weight);
            }
        }
        sums.copy_from_slice(&block_sums);
    }
}

/// Computes `sums[n][e] = Σ_i Σ_j weights[i, j] · rows[i + n][offsets[j] + e]` for two rows of sums.
#[inline(always)]
pub(super) fn two_rows<const W: usize, A: Accumulator>(
    rows: &[&[A]],
    offsets: &[usize],
    weights: &[A],
    sums: [&mut [A]; 2],
) {
    let (taps, last) = (offsets.len(), rows.len() - 1);
    let [above, below] = sums.map(|sums| sums.chunks_exact_mut(W));
    for (block, (above, below)) in above.zip(below).enumerate() {
        let first = block * W;
        let (mut a, mut b) = ([A::ZERO; W], [A::ZERO; W]);
        // Copies of the first and the last row outside of the loops would keep the sums out of registers (rustc 1.95).
        for (&offset, &weight) in offsets.iter().zip(weights) {
            a = plus_products(a, window(rows[0], first + offset), weight);
        }
        // The sums below are one row of weights behind.
        for (samples, weights) in rows[1..last].iter().zip(weights.windows(2 * taps).step_by(taps)) {
            let (of_b, of_a) = weights.split_at(taps);
            for ((&offset, &of_a), &of_b) in offsets.iter().zip(of_a).zip(of_b) {
                let samples = window(samples, first + offset);
                a = plus_products(a, samples, of_a);
                b = plus_products(b, samples, of_b);
            }
        }
        for (&offset, &weight) in offsets.iter().zip(&weights[weights.len() - taps..]) {
            b = plus_products(b, window(rows[last], first + offset), weight);
        }
        above.copy_from_slice(&a);
        below.copy_from_slice(&b);
    }
}

/// Computes `sums[n][e] = Σ_j weights[j] · rows[n][offsets[j] + e]` for two rows of sums.
#[inline(always)]
pub(super) fn two_lines<const W: usize, A: Accumulator>(
    rows: [&[A]; 2],
    offsets: &[usize],
    weights: &[A],
    sums: [&mut [A]; 2],
) {
    let [above, below] = sums.map(|sums| sums.chunks_exact_mut(W));
    for (block, (above, below)) in above.zip(below).enumerate() {
        let first = block * W;
        let (mut a, mut b) = ([A::ZERO; W], [A::ZERO; W]);
        for (&offset, &weight) in offsets.iter().zip(weights) {
            a = plus_products(a, window(rows[0], first + offset), weight);
            b = plus_products(b, window(rows[1], first + offset), weight);
        }
        above.copy_from_slice(&a);
        below.copy_from_slice(&b);
    }
}

#[inline(always)]
fn plus_products<const W: usize, A: Accumulator>(sums: [A; W], samples: &[A; W], weight: A) -> [A; W] {
    array::from_fn(|e| A::multiply_add(sums[e], samples[e], weight))
}

/// Returns the samples that one weight is multiplied by.
#[inline(always)]
fn window<const W: usize, A>(samples: &[A], first: usize) -> &[A; W] {
    samples[first..].first_chunk().expect("rows are padded")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers whose sums depend on the order, and some special ones.
    fn number(i: usize) -> f32 {
        let special = [f32::INFINITY, f32::NAN, -0.0, 1e-41, f32::MAX];
        if i.is_multiple_of(97) { special[i / 97 % 5] } else { 1.0 / (i as f32 - 400.3) }
    }

    /// Returns the bits, the same for all NaNs.
    fn bits(sums: &[f32]) -> Vec<u32> {
        sums.iter().map(|sum| if sum.is_nan() { f32::NAN } else { *sum }.to_bits()).collect()
    }

    #[test]
    fn two_rows_are_the_same_bits_as_each_alone() {
        let len = WIDE;
        for (taps, offsets) in [(1, vec![0]), (1, vec![5, 0, 9]), (2, vec![0, 3]), (3, vec![1, 2, 4]), (7, vec![0; 5])]
        {
            let samples: Vec<f32> = (0..(taps + 1) * (len + 9)).map(number).collect();
            let rows: Vec<&[f32]> = samples.chunks(len + 9).collect();
            let weights: Vec<f32> = (0..taps * offsets.len()).map(|i| number(i + 1)).collect();
            let mut sums = vec![0.0; 4 * len];
            let [a, b, c, d] = sums.as_chunks_mut::<WIDE>().0 else { unreachable!("four rows") };
            one_row(&rows[..taps], &offsets, &weights, a);
            one_row(&rows[1..], &offsets, &weights, b);
            let expected = [bits(a), bits(b)];
            for two_rows in [two_rows::<WIDTH, _>, two_rows::<WIDE, _>] {
                two_rows(&rows, &offsets, &weights, [&mut *c, &mut *d]);
                assert_eq!([bits(c), bits(d)], expected, "{taps} rows of weights at {offsets:?}");
            }
            if taps == 1 {
                for two_lines in [two_lines::<WIDTH, _>, two_lines::<WIDE, _>] {
                    two_lines([rows[0], rows[1]], &offsets, &weights, [&mut *c, &mut *d]);
                    assert_eq!([bits(c), bits(d)], expected, "a row of weights at {offsets:?}");
                }
            }
            let exact = |e: usize| {
                let products =
                    (0..weights.len()).map(|i| (weights[i], rows[i / offsets.len()][offsets[i % offsets.len()] + e]));
                products.fold(0.0, |sum, (weight, sample)| sum + sample * weight)
            };
            assert_eq!(bits(a), bits(&(0..len).map(exact).collect::<Vec<_>>()));
        }
    }
}
