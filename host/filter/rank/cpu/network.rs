//! Networks of comparisons: the same ones for all outputs, so vectors of neighbouring outputs are compared at once.
//!
//! A network sorts: K. E. Batcher's merge exchange (D. E. Knuth, *The Art of Computer Programming* 3, 5.2.2, algorithm M). Comparisons that
//! do not lead to the rank are left out.

use super::padded::SLACK;
use super::{Band, Sortable};
use crate::Result;
use crate::cpu::allocation;
use crate::cpu::vector::vectorised;
use slm_kernels::rank2d::Key;

/// Outputs that are compared at once. Rows have as many keys behind them.
pub(super) const LANES: usize = SLACK;

/// Pairs of numbers to be put in order, one pair after another, and the number of the rank.
#[derive(Default)]
pub(super) struct Network {
    pairs: Vec<[usize; 2]>,
    rank: usize,
}

impl Network {
    /// Returns the network for a rank of at least one number.
    pub(super) fn new(count: u32, rank: u32) -> Self {
        let (count, rank) = (count as usize, rank as usize);
        let mut pairs = Vec::new();
        let most = count.next_power_of_two() / 2;
        let mut p = most;
        while p > 0 {
            let (mut q, mut r, mut d) = (most, 0, p);
            loop {
                pairs.extend((0..count.saturating_sub(d)).filter(|i| i & p == r).map(|i| [i, i + d]));
                if q == p {
                    break;
                }
                (d, q, r) = (q - p, q / 2, p);
            }
            p /= 2;
        }
        let mut leads = vec![false; count];
        leads[rank] = true;
        let mut kept: Vec<[usize; 2]> = pairs
            .into_iter()
            .rev()
            .filter(|&[a, b]| {
                let is_kept = leads[a] || leads[b];
                (leads[a], leads[b]) = (leads[a] || is_kept, leads[b] || is_kept);
                is_kept
            })
            .collect();
        kept.reverse();
        Network { pairs: kept, rank }
    }

    /// Puts the vectors in order as far as the rank requires.
    #[inline(always)]
    fn run<K: Copy + Ord>(&self, numbers: &mut [[K; LANES]]) {
        for &[a, b] in &self.pairs {
            let (before, after) = numbers.split_at_mut(b);
            let (lesser, greater) = (&mut before[a], &mut after[0]);
            for (x, y) in lesser.iter_mut().zip(greater) {
                (*x, *y) = ((*x).min(*y), (*x).max(*y));
            }
        }
    }
}

impl<T: Sortable> Band<'_, T> {
    /// Computes the outputs by a network. NaNs propagate.
    pub(super) fn networks(&self, network: &Network, outputs: &mut [T]) -> Result<()> {
        let mut numbers = allocation::reserved(self.rule.runs.count as usize)?;
        let width = self.width();
        for row in 0..self.rows {
            let outputs = &mut outputs[row * self.problem.output_pitch..][..width];
            for (number, outputs) in outputs.chunks_mut(LANES).enumerate() {
                vectorised!(self.vector(network, row, number * LANES, &mut numbers, outputs));
            }
        }
        Ok(())
    }

    /// Returns the keys of a row of samples that are `ahead` of the places of some outputs.
    #[inline(always)]
    pub(super) fn keys(&self, line: &[T::Narrow], [first, count]: [usize; 2], ahead: usize) -> [T::Narrow; LANES] {
        let mut vector = [T::Narrow::default(); LANES];
        if self.problem.columns.stride == 1 {
            vector.copy_from_slice(&line[first + ahead..][..LANES]);
        } else {
            for (i, key) in vector[..count].iter_mut().enumerate() {
                *key = line[self.place(first + i) + ahead];
            }
        }
        vector
    }

    /// Computes neighbouring outputs of a row, from `first` on. `numbers` is temporary memory.
    #[inline(always)]
    fn vector(
        &self,
        network: &Network,
        row: usize,
        first: usize,
        numbers: &mut Vec<[T::Narrow; LANES]>,
        outputs: &mut [T],
    ) {
        let channels = self.problem.channels;
        numbers.clear();
        for &[tap, begin, end] in &self.rule.runs.runs {
            let line = self.line(row, tap as usize);
            for column in begin as usize..end as usize {
                numbers.push(self.keys(line, [first, outputs.len()], column * channels));
            }
        }
        let mut greatest = numbers[0];
        if T::IS_FLOAT {
            for vector in &numbers[1..] {
                for (greatest, key) in greatest.iter_mut().zip(vector) {
                    *greatest = (*greatest).max(*key);
                }
            }
        }
        network.run(numbers);
        let found = &numbers[network.rank];
        for ((output, &key), &greatest) in outputs.iter_mut().zip(found).zip(&greatest) {
            let is_nan = T::IS_FLOAT && T::widen(greatest) == T::Key::MAX;
            *output = if is_nan { T::NONE } else { T::of_key(T::widen(key)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network is right for all numbers if it is right for zeros and ones.
    #[test]
    fn ranks_of_zeros_and_ones() {
        for count in 1..=11u32 {
            for rank in 0..count {
                let network = Network::new(count, rank);
                for bits in 0..1u32 << count {
                    let mut numbers: Vec<_> = (0..count).map(|i| [bits >> i & 1; LANES]).collect();
                    network.run(&mut numbers);
                    let zeros = count - bits.count_ones();
                    assert_eq!(numbers[rank as usize][0], u32::from(rank >= zeros), "{count} {rank} {bits:b}");
                }
            }
        }
    }
}
