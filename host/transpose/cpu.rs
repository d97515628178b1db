//! Transpositions on the CPU.
//!
//! The work is divided into bands of rows of the output. A band is computed tile by tile. A tile is read row by row and stored,
//! transposed, in scratch memory that stays in the core's cache; then its rows are copied to the output. So whole cache lines
//! are read and written, even if the row pitch is a power of two and rows evict each other from the cache. Tiles of a band are
//! computed from left to right in the input, then the tiles below. So the accesses to a row of the input cover a page of
//! memory, and each page is looked up once.

use super::Matrices;
use crate::Element;
use crate::cpu::parallel::{COPIED, for_rows};

/// Bytes of a page of memory.
const PAGE: usize = 4096;

/// Rows per band in the untiled fallback.
const ROWS: usize = 32;

/// A transposition on the CPU.
pub(super) struct CpuTranspose {
    matrices: Matrices,
}

impl CpuTranspose {
    pub(super) fn new(matrices: &Matrices) -> Self {
        CpuTranspose { matrices: *matrices }
    }

    /// Transposes matrices with the given row pitches.
    pub(super) fn run<T: Element>(&self, input: &[T], output: &mut [T], pitches: [usize; 2]) {
        transpose(&self.matrices, input, output, pitches);
    }
}

/// Transposes rows of `input` to rows of `output`, with the given row pitches, and leaves the gaps of `output` alone.
fn transpose<T: Element>(matrices: &Matrices, input: &[T], output: &mut [T], pitches: [usize; 2]) {
    match matrices.components {
        _ if matrices.is_empty() => {}
        1 => by_tiles::<T, 1, 64>(matrices, input, output, pitches),
        2 => by_tiles::<T, 2, 32>(matrices, input, output, pitches),
        3 => by_tiles::<T, 3, 32>(matrices, input, output, pitches),
        4 => by_tiles::<T, 4, 32>(matrices, input, output, pitches),
        _ => by_elements(matrices, input, output, pitches),
    }
}

/// Calls `band` with each band of rows of the output, the index of its matrix, and the index of its first row. Bands have
/// `rows` rows, or fewer at the end of a matrix.
fn for_bands<T: Element>(
    matrices: &Matrices,
    output: &mut [T],
    pitch: usize,
    rows: usize,
    band: &(dyn Fn(&mut [T], usize, usize) + Sync),
) {
    // A single row may have any pitch.
    let [matrix_len, band_len] = [matrices.columns, rows].map(|rows| rows.saturating_mul(pitch));
    for_rows(output, matrix_len, matrices.count, COPIED, &|matrix, output| {
        for_rows(output, band_len, matrices.columns.div_ceil(rows), COPIED, &|i, output| {
            band(output, matrix, i * rows)
        });
    });
}

/// Transposes elements of `N` numbers, in tiles of `SIDE` rows and columns.
fn by_tiles<T: Element, const N: usize, const SIDE: usize>(
    matrices: &Matrices,
    input: &[T],
    output: &mut [T],
    pitches: [usize; 2],
) {
    let [input_pitch, output_pitch] = pitches;
    // Several bands per thread, so that all threads have work until the end.
    let share = (matrices.columns * matrices.count).div_ceil(4 * rayon::current_num_threads());
    let rows = (PAGE / size_of::<[T; N]>()).min(share).next_multiple_of(SIDE);
    for_bands(matrices, output, output_pitch, rows, &|band, matrix, first| {
        let mut tile = Tile([[[T::default(); N]; SIDE]; SIDE]);
        for row in (0..matrices.rows).step_by(SIDE) {
            let rows = SIDE.min(matrices.rows - row);
            for (i, band) in band.chunks_mut(SIDE.saturating_mul(output_pitch)).enumerate() {
                let first = first + i * SIDE;
                let columns = SIDE.min(matrices.columns - first);
                let source = &input[(matrix * matrices.rows + row) * input_pitch + first * N..];
                tile.read(source, input_pitch, [rows, columns]);
                tile.write(&mut band[row * N..], output_pitch, [rows, columns]);
            }
        }
    });
}

/// A transposed tile of elements of `N` numbers: rows of the output.
struct Tile<T, const N: usize, const SIDE: usize>([[[T; N]; SIDE]; SIDE]);

impl<T: Element, const N: usize, const SIDE: usize> Tile<T, N, SIDE> {
    /// Reads rows of the input, with the row pitch in numbers, and stores them as columns.
    fn read(&mut self, source: &[T], pitch: usize, [rows, columns]: [usize; 2]) {
        for r in 0..rows {
            let source = &source[r * pitch..][..columns * N];
            for (transposed, element) in self.0.iter_mut().zip(source.as_chunks::<N>().0) {
                transposed[r] = *element;
            }
        }
    }

    /// Writes the tile to rows of the output, with the row pitch in numbers.
    fn write(&self, output: &mut [T], pitch: usize, [rows, columns]: [usize; 2]) {
        for (transposed, output) in self.0.iter().zip(output.chunks_mut(pitch)).take(columns) {
            output[..rows * N].copy_from_slice(transposed[..rows].as_flattened());
        }
    }
}

/// Transposes elements of any size, one by one.
fn by_elements<T: Element>(matrices: &Matrices, input: &[T], output: &mut [T], pitches: [usize; 2]) {
    let (n, [input_pitch, output_pitch]) = (matrices.components, pitches);
    for_bands(matrices, output, output_pitch, ROWS, &|band, matrix, first| {
        let columns = ROWS.min(matrices.columns - first);
        for row in 0..matrices.rows {
            let source = &input[(matrix * matrices.rows + row) * input_pitch + first * n..][..columns * n];
            for (element, output) in source.chunks_exact(n).zip(band.chunks_mut(output_pitch)) {
                output[row * n..][..n].copy_from_slice(element);
            }
        }
    });
}
