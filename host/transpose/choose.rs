//! The choice of the kernel.

use super::TransposeAlgorithm;
use super::tuning::TransposeTuning;
use slm_kernels::transpose::{TransposeKernel, TransposeProblem};

/// A kernel, and the reason for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Choice {
    pub(super) kernel: TransposeKernel,
    pub(super) reason: &'static str,
}

/// Returns the kernel for matrices, as the algorithm requires.
pub(super) fn choose(problem: &TransposeProblem, algorithm: TransposeAlgorithm, tuning: &TransposeTuning) -> Choice {
    let kernel = match algorithm {
        TransposeAlgorithm::Auto => return fastest(problem, tuning),
        TransposeAlgorithm::Naive => TransposeKernel::naive(problem),
        TransposeAlgorithm::SharedUnpadded => TransposeKernel::shared(problem, false),
        TransposeAlgorithm::SharedPadded => TransposeKernel::shared(problem, true),
    };
    Choice { kernel, reason: "requested" }
}

/// Returns the fastest kernel.
fn fastest(problem: &TransposeProblem, tuning: &TransposeTuning) -> Choice {
    let naive = |reason| Choice { kernel: TransposeKernel::naive(problem), reason };
    let bytes = problem.rows.saturating_mul(problem.columns).saturating_mul(problem.element);
    if problem.element >= tuning.long_element {
        naive("the elements are long")
    } else if problem.rows == 1 || problem.columns == 1 {
        naive("elements keep their order")
    } else if let Some(kernel) = TransposeKernel::packed(problem).filter(|_| bytes > tuning.small_matrix) {
        Choice { kernel, reason: "input rows are aligned to its accesses, and output rows to sectors" }
    } else if let Some(kernel) = TransposeKernel::whole(problem, &tuning.launches) {
        Choice { kernel, reason: "many small matrices fill blocks" }
    } else if bytes <= tuning.small_matrix {
        naive("the matrices are small")
    } else if let Some(kernel) = of_few_rows(problem, tuning) {
        Choice { kernel, reason: "the matrices have few rows" }
    } else if let Some(kernel) = TransposeKernel::skewed(problem, &tuning.launches) {
        Choice { kernel, reason: "supports short rows, and rows with any alignment" }
    } else {
        Choice { kernel: TransposeKernel::shared(problem, true), reason: "supports elements of any size" }
    }
}

/// Returns the shared kernel if columns are too short for the threads that write one in skewed kernels.
fn of_few_rows(problem: &TransposeProblem, tuning: &TransposeTuning) -> Option<TransposeKernel> {
    let (shared, [of_units, of_others]) = (TransposeKernel::shared(problem, true), tuning.few_rows);
    let most = if u64::from(shared.unit()) == problem.element { of_units } else { of_others };
    (problem.rows <= most).then_some(shared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;
    use crate::transpose::Matrices;

    fn chosen([rows, columns]: [usize; 2], components: usize, algorithm: TransposeAlgorithm) -> Choice {
        chosen_of(Matrices { rows, columns, count: 1, components }, algorithm)
    }

    fn chosen_of(matrices: Matrices, algorithm: TransposeAlgorithm) -> Choice {
        let problem = matrices.problem::<u32>(matrices.pitches()).unwrap();
        choose(&problem, algorithm, &TransposeTuning::new(Device::cpu().info()))
    }

    #[test]
    fn the_fastest_kernel_depends_on_the_shape() {
        let reason = |shape, components| chosen(shape, components, TransposeAlgorithm::Auto).reason;
        assert_eq!(reason([100, 100], 16), "the elements are long");
        assert_eq!(reason([1, 10_000], 1), "elements keep their order");
        assert_eq!(reason([20, 20], 1), "the matrices are small");
        assert_eq!(reason([1024, 1024], 1), "input rows are aligned to its accesses, and output rows to sectors");
        assert_eq!(reason([3, 4096], 1), "the matrices have few rows");
        assert_eq!(reason([16, 4097], 1), "the matrices have few rows");
        assert_eq!(reason([8, 4097], 2), "the matrices have few rows");
        assert_eq!(reason([9, 4097], 2), "supports short rows, and rows with any alignment");
        assert_eq!(reason([4096, 3], 1), "supports short rows, and rows with any alignment");
        assert_eq!(reason([1023, 1023], 1), "supports short rows, and rows with any alignment");
        assert_eq!(reason([1023, 1023], 5), "supports elements of any size");
    }

    #[test]
    fn many_small_matrices_fill_blocks() {
        let is_whole = |[rows, columns]: [usize; 2], count, components| {
            let choice = chosen_of(Matrices { rows, columns, count, components }, TransposeAlgorithm::Auto);
            matches!(choice.kernel, TransposeKernel::Whole(_))
        };
        assert!(is_whole([3, 3], 448, 1) && !is_whole([3, 3], 447, 1));
        assert!(is_whole([63, 65], 1000, 1) && is_whole([41, 28], 1000, 3) && is_whole([9, 500], 1000, 1));
        // Columns of one element; then other sizes of elements, aligned rows, and matrices that exceed shared memory.
        assert!(!is_whole([1, 3], 1000, 1) && !is_whole([3, 3], 1000, 5) && !is_whole([64, 64], 1000, 1));
        assert!(!is_whole([127, 129], 1000, 1));
    }

    #[test]
    fn required_kernels_are_taken() {
        let naive = chosen([1024, 1024], 1, TransposeAlgorithm::Naive);
        let padded = chosen([1024, 1024], 1, TransposeAlgorithm::SharedPadded);
        let unpadded = chosen([1024, 1024], 1, TransposeAlgorithm::SharedUnpadded);
        assert!(naive.kernel != padded.kernel && padded.kernel != unpadded.kernel);
        assert_eq!([naive, padded, unpadded].map(|choice| choice.reason), ["requested"; 3]);
    }
}
