//! The products of a row of samples and the weights of a size that is known at compile time.

use super::words::Streamed;
use crate::signal::Sum;
use cuda_std::Table;

/// Numbers of the table of weights.
pub const TABLE: usize = 96;

/// Place of the row of separable weights in the table, behind the column.
pub const ROW: usize = TABLE / 2;

/// What is done with a row of samples.
pub(super) trait Products<F: Streamed, const P: usize, const C: usize, const K: usize, const N: usize> {
    /// Number of products of an output.
    const COUNT: usize;

    /// Returns the sums with the products of a row of samples. The sums of the oldest output row, which are then complete, stand
    /// first; the last ones are of a new row.
    fn add(&self, sums: [[F::Sum; P]; K], window: [F::Sum; N]) -> [[F::Sum; P]; K];
}

/// `K` x `K` weights, row after row.
pub(super) struct Dense<'a, W>(pub(super) &'a Table<W, TABLE>);

impl<F: Streamed, const P: usize, const C: usize, const K: usize, const N: usize> Products<F, P, C, K, N>
    for Dense<'_, F::Weight>
{
    const COUNT: usize = K * K;

    #[inline(always)]
    fn add(&self, sums: [[F::Sum; P]; K], window: [F::Sum; N]) -> [[F::Sum; P]; K] {
        let (weights, mut next) = (&self.0.0, [[F::Sum::default(); P]; K]);
        for t in 0..K {
            next[t] = if t + 1 < K { sums[t + 1] } else { next[t] };
            for j in 0..K {
                let weight = weights[(K - 1 - t) * K + j];
                for p in 0..P {
                    next[t][p] = Sum::<F::Sum, F::Weight>::add_product(next[t][p], window[p + j * C], weight);
                }
            }
        }
        next
    }
}

/// The outer product of a column of `K` weights and a row of as many: sums along the rows first.
pub(super) struct Separable<'a, W>(pub(super) &'a Table<W, TABLE>);

impl<F: Streamed, const P: usize, const C: usize, const K: usize, const N: usize> Products<F, P, C, K, N>
    for Separable<'_, F::Weight>
{
    const COUNT: usize = 2 * K;

    #[inline(always)]
    fn add(&self, sums: [[F::Sum; P]; K], window: [F::Sum; N]) -> [[F::Sum; P]; K] {
        let (weights, mut along) = (&self.0.0, [F::Sum::default(); P]);
        each!(j < K, {
            for p in 0..P {
                along[p] = Sum::<F::Sum, F::Weight>::add_product(along[p], window[p + j * C], weights[ROW + j]);
            }
        });
        let mut next = [[F::Sum::default(); P]; K];
        each!(t < K, {
            for p in 0..P {
                let sum = if t + 1 < K { sums[t + 1][p] } else { F::Sum::default() };
                next[t][p] = Sum::<F::Sum, F::Weight>::add_product(sum, along[p], weights[K - 1 - t]);
            }
        });
        next
    }
}
