//! Steps of transpositions in place. Each step is for a part of a matrix.

use super::Matrices;

/// A permutation (`slm_kernels::transpose::Permutation`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Permutation 1: gathers rotated columns.
    Rotate,
    /// Permutation 2: scatters whole rows.
    Shuffle,
    /// Permutation 3: gathers columns.
    Columns,
}

/// A part has about `1 / SHARE` of the elements of a matrix. Parts are permuted one after another, through other memory.
const SHARE: usize = 16;

/// A part of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Submatrix {
    /// Index of the first row and of the first column.
    pub(crate) first: [usize; 2],
    /// Number of rows and number of columns.
    pub(crate) lengths: [usize; 2],
}

impl Matrices {
    /// Returns whether the matrix is square, so that elements are exchanged in pairs.
    pub(crate) fn are_square(&self) -> bool {
        self.rows == self.columns
    }

    /// Returns whether no element moves.
    pub(crate) fn stay(&self) -> bool {
        self.is_empty() || self.rows == 1 || self.columns == 1
    }

    /// Returns the greatest common divisor of rows and columns.
    pub(crate) fn divisor(&self) -> usize {
        greatest_common_divisor(self.rows as u64, self.columns as u64) as usize
    }

    /// Returns the maximum number of elements per part: at least a row or a column.
    pub(super) fn part_len(&self) -> usize {
        (self.rows * self.columns / SHARE).max(self.rows).max(self.columns)
    }

    /// Returns the maximum number of numbers per part; 0 if no steps are needed.
    pub(crate) fn scratch(&self) -> usize {
        if self.stay() || self.are_square() { 0 } else { self.part_len() * self.components }
    }

    /// Returns the steps that transpose a matrix that is not square. A part is copied back before the next one is permuted.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (Step, Submatrix)> + use<> {
        let Matrices { rows, columns, .. } = *self;
        let (width, height) = (self.part_len() / rows.max(1), self.part_len() / columns.max(1));
        let columns_of = move |step| {
            (0..columns)
                .step_by(width.max(1))
                .map(move |first| (step, Submatrix { first: [0, first], lengths: [rows, width.min(columns - first)] }))
        };
        let rows_of = (0..rows).step_by(height.max(1)).map(move |first| {
            (Step::Shuffle, Submatrix { first: [first, 0], lengths: [height.min(rows - first), columns] })
        });
        let rotated = columns_of(Step::Rotate).take(if self.divisor() > 1 { usize::MAX } else { 0 });
        let all = rotated.chain(rows_of).chain(columns_of(Step::Columns));
        all.take(if self.stay() { 0 } else { usize::MAX })
    }
}

/// Returns the greatest common divisor of two numbers; 0 if both are 0.
pub(super) fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use slm_kernels::transpose::Permutation;

    /// Performs the steps element by element.
    fn transposed(matrices: &Matrices) -> Vec<usize> {
        let Matrices { rows, columns, .. } = *matrices;
        let permutation = Permutation::new(rows as u64, columns as u64, matrices.divisor() as u64);
        let mut data: Vec<usize> = (0..rows * columns).collect();
        for (step, part) in matrices.steps() {
            let before = data.clone();
            for i in part.first[0]..part.first[0] + part.lengths[0] {
                for j in part.first[1]..part.first[1] + part.lengths[1] {
                    let (row, column) = (i as u64, j as u64);
                    let [to, from] = match step {
                        Step::Rotate => [[i, j], [permutation.rotated(row, column) as usize, j]],
                        Step::Shuffle => [[i, permutation.shuffled(row, column) as usize], [i, j]],
                        Step::Columns => [[i, j], [permutation.gathered(row, column) as usize, j]],
                    };
                    data[to[0] * columns + to[1]] = before[from[0] * columns + from[1]];
                }
            }
        }
        data
    }

    #[test]
    fn steps_transpose() {
        for (rows, columns) in (1..40).flat_map(|rows| (1..40).map(move |columns| (rows, columns))) {
            let matrices = Matrices { rows, columns, count: 1, components: 1 };
            let expected: Vec<usize> = (0..columns).flat_map(|c| (0..rows).map(move |r| r * columns + c)).collect();
            assert_eq!(transposed(&matrices), expected, "{rows} x {columns}");
        }
    }
}
