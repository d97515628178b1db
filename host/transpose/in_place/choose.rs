//! The choice of how matrices are transposed in place.

use super::exchange::Exchange;
use slm_kernels::transpose::{Geometry, LaunchConstants, TransposeKernel, TransposeProblem};

/// How matrices are transposed, and the reason for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) method: Method,
    pub(super) reason: &'static str,
}

/// How matrices are transposed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Method {
    /// By the kernel that exchanges tiles of square matrices.
    Tiles(Geometry),
    /// Elements of square matrices are exchanged through other memory.
    Exchange(Exchange),
    /// Through other memory, step by step.
    Permutations,
}

/// Returns the choice for matrices that are not empty, on a device with at most `shared` bytes of shared memory for a block.
pub(super) fn choose(problem: &TransposeProblem, launches: &LaunchConstants, shared: u64) -> Choice {
    if problem.rows != problem.columns {
        return Choice { method: Method::Permutations, reason: "rows and columns are permuted, part by part" };
    }
    let geometry = Geometry::new(TransposeKernel::swap(problem), problem, launches);
    if geometry.shared_bytes <= shared {
        Choice { method: Method::Tiles(geometry), reason: "tiles of square matrices are exchanged" }
    } else {
        let reason = "elements are too large for tiles, and exchanged row by row";
        Choice { method: Method::Exchange(Exchange::new(problem)), reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;
    use crate::transpose::Matrices;
    use crate::transpose::tuning::TransposeTuning;

    fn chosen([rows, columns]: [usize; 2], components: usize) -> Choice {
        let matrices = Matrices { rows, columns, count: 2, components };
        let problem = matrices.problem::<u32>(matrices.pitches()).unwrap();
        choose(&problem, &TransposeTuning::new(Device::cpu().info()).launches, 48 << 10)
    }

    #[test]
    fn square_matrices_are_exchanged() {
        let Choice { method, reason } = chosen([300, 300], 1);
        assert!(matches!(method, Method::Tiles(geometry) if geometry.shared_bytes <= 48 << 10), "{method:?}");
        assert_eq!(reason, "tiles of square matrices are exchanged");
        // Two elements of 40,000 bytes.
        let Choice { method, reason } = chosen([300, 300], 10_000);
        assert!(matches!(method, Method::Exchange(exchange) if exchange.longest() == 299), "{method:?}");
        assert_eq!(reason, "elements are too large for tiles, and exchanged row by row");
    }

    #[test]
    fn other_matrices_are_permuted() {
        for components in [1, 10_000] {
            let Choice { method, reason } = chosen([300, 200], components);
            assert!(matches!(method, Method::Permutations), "{method:?}");
            assert_eq!(reason, "rows and columns are permuted, part by part");
        }
    }
}
