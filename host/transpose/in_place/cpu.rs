//! Transpositions in place on the CPU.

use super::Matrices;
use super::steps::{Step, Submatrix};
use crate::cpu::allocation;
use crate::cpu::parallel::{COPIED, for_pairs, for_rows};
use crate::{Element, Result};
use slm_kernels::transpose::Permutation;

/// Rows per band of a square matrix.
const SIDE: usize = 32;

/// Bytes that are gathered element by element in about the time that it takes to wake a thread.
const GATHERED: usize = 1 << 12;

/// A transposition in place.
pub(super) struct CpuTransposeInPlace {
    matrices: Matrices,
}

impl CpuTransposeInPlace {
    pub(super) fn new(matrices: &Matrices) -> Self {
        CpuTransposeInPlace { matrices: *matrices }
    }

    /// Transposes the matrices in `data` with this row pitch. Only square matrices may have gaps between rows.
    pub(super) fn run<T: Element>(&self, data: &mut [T], pitch: usize) -> Result<()> {
        let matrices = &self.matrices;
        if matrices.is_empty() {
            return Ok(());
        }
        let height = SIDE.min(matrices.rows);
        let beyond = height * (matrices.rows - height) * matrices.components;
        let scratch = if matrices.are_square() { beyond } else { matrices.scratch() };
        let mut scratch = allocation::filled(T::default(), scratch)?;
        // A single row may have any pitch, and the buffer may be longer than the matrices.
        let all = data.chunks_mut(matrices.rows.saturating_mul(pitch)).take(matrices.count);
        all.for_each(|matrix| match matrices.are_square() {
            true => swap(matrices, matrix, pitch, &mut scratch),
            false => matrices.steps().for_each(|(step, part)| permute(matrices, matrix, &mut scratch, step, part)),
        });
        Ok(())
    }
}

/// Transposes a square matrix band by band: the square on the diagonal in place, the rest by exchange with the columns below.
fn swap<T: Element>(matrices: &Matrices, matrix: &mut [T], pitch: usize, scratch: &mut [T]) {
    let n = matrices.components;
    for first in (0..matrices.rows).step_by(SIDE) {
        let height = SIDE.min(matrices.rows - first);
        let rows_below = matrices.rows - first - height;
        // The last row ends without a gap.
        let (above, below) = matrix.split_at_mut((first + height).saturating_mul(pitch).min(matrix.len()));
        let band = &mut above[first * pitch..];
        swap_diagonal(n, pitch, height, first, band);
        // The columns below the band, one part for each other band.
        let beyond = &mut scratch[..rows_below * height * n];
        for_rows(beyond, height * n, usize::MAX, GATHERED, &|column, elements| {
            let place = (first + height + column) * n;
            for (element, row) in elements.chunks_exact_mut(n).zip(band.chunks(pitch)) {
                element.copy_from_slice(&row[place..place + n]);
            }
        });
        for_pairs([&mut *below, &mut *beyond], [pitch, height * n], &|row, elements| {
            row[first * n..][..height * n].swap_with_slice(elements);
        });
        for_rows(band, pitch, usize::MAX, COPIED, &|i, row| {
            let places = row[(first + height) * n..].chunks_exact_mut(n);
            for (place, elements) in places.zip(beyond.chunks_exact(height * n)) {
                place.copy_from_slice(&elements[i * n..][..n]);
            }
        });
    }
}

/// Transposes the square on the diagonal. Its first row is the first row of the band, and its first column is `first`.
fn swap_diagonal<T: Element>(n: usize, pitch: usize, height: usize, first: usize, band: &mut [T]) {
    for i in 0..height {
        let rows = &mut band[i * pitch..];
        let (row, others) = rows.split_at_mut(pitch.min(rows.len()));
        for (j, other) in (i + 1..height).zip(others.chunks_mut(pitch)) {
            row[(first + j) * n..][..n].swap_with_slice(&mut other[(first + i) * n..][..n]);
        }
    }
}

/// Performs one step for one part of a matrix: permutes it into `scratch`, and copies the result back.
fn permute<T: Element>(matrices: &Matrices, matrix: &mut [T], scratch: &mut [T], step: Step, part: Submatrix) {
    let (n, pitch) = (matrices.components, matrices.shape()[1]);
    let permutation = Permutation::new(matrices.rows as u64, matrices.columns as u64, matrices.divisor() as u64);
    let ([first_row, first_column], [rows, columns]) = (part.first, part.lengths);
    let scratch = &mut scratch[..rows * columns * n];
    for_rows(scratch, columns * n, usize::MAX, GATHERED, &|line, permuted| {
        let i = first_row + line;
        for j in first_column..first_column + columns {
            let (row, column) = (i as u64, j as u64);
            let [to, from] = match step {
                Step::Shuffle => [permutation.shuffled(row, column) as usize, i],
                Step::Rotate => [j - first_column, permutation.rotated(row, column) as usize],
                Step::Columns => [j - first_column, permutation.gathered(row, column) as usize],
            };
            permuted[to * n..][..n].copy_from_slice(&matrix[from * pitch + j * n..][..n]);
        }
    });
    let lines = &mut matrix[first_row * pitch..];
    for_pairs([lines, scratch], [pitch, columns * n], &|row, permuted| {
        row[first_column * n..][..columns * n].copy_from_slice(permuted);
    });
}
