//! The choice of how matrices are transposed in place.

use super::Matrices;
use super::chunks::Chunks;
use super::exchange::Exchange;
use super::launches::InPlaceMethod;
use super::permutations::Permutations;
use super::tiles::Tiles;
use crate::Result;
use crate::device::gpu::Gpu;
use slm_kernels::transpose::{LaunchConstants, TransposeProblem};

/// How matrices are transposed, and the reason for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) method: Method,
    pub(super) reason: &'static str,
}

/// How matrices are transposed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Method {
    /// By a kernel that exchanges tiles of square matrices.
    Tiles(Tiles),
    /// Elements of square matrices are exchanged through other memory.
    Exchange(Exchange),
    /// Squares are transposed, and their rows are moved.
    Chunks(Chunks),
    /// Rows and columns are permuted, columns through other memory.
    Permutations(Permutations),
}

impl Method {
    /// Loads the kernels.
    pub(super) fn load(self, gpu: &Gpu) -> Result<Box<dyn InPlaceMethod>> {
        Ok(match self {
            Method::Tiles(tiles) => Box::new(tiles.load(gpu)?),
            Method::Exchange(exchange) => Box::new(exchange.load(gpu)?),
            Method::Chunks(chunks) => Box::new(chunks.load(gpu)?),
            Method::Permutations(permutations) => Box::new(permutations.load(gpu)?),
        })
    }
}

/// Returns the choice for matrices that are not empty, on a device with at most `shared` bytes of shared memory for a block.
pub(super) fn choose(
    matrices: &Matrices,
    problem: &TransposeProblem,
    launches: &LaunchConstants,
    shared: u64,
) -> Choice {
    let permutations = Permutations::new(matrices, problem, shared);
    let (method, reason) = if matrices.are_square() {
        match Tiles::new(problem, launches, shared) {
            Some(tiles) => (Method::Tiles(tiles), "tiles of square matrices are exchanged"),
            None => {
                let exchange = Method::Exchange(Exchange::new(problem));
                (exchange, "elements are too large for tiles, and exchanged row by row")
            }
        }
    } else if matrices.stay() {
        (Method::Permutations(permutations), "no element moves")
    } else if let Some(chunks) = Chunks::new(problem, launches, shared) {
        (
            Method::Chunks(chunks),
            "rows and columns have a large common divisor: squares are transposed, and their rows moved",
        )
    } else if permutations.are_shared() {
        (Method::Permutations(permutations), "rows are permuted in shared memory, and columns part by part")
    } else {
        (Method::Permutations(permutations), "rows and columns are permuted, part by part")
    };
    Choice { method, reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;
    use crate::transpose::tuning::TransposeTuning;

    fn chosen([rows, columns]: [usize; 2], components: usize) -> Choice {
        let matrices = Matrices { rows, columns, count: 2, components };
        let problem = matrices.problem::<u32>(matrices.pitches()).unwrap();
        choose(&matrices, &problem, &TransposeTuning::new(Device::cpu().info()).launches, 48 << 10)
    }

    #[test]
    fn square_matrices_are_exchanged() {
        let Choice { method, reason } = chosen([300, 300], 1);
        assert!(matches!(method, Method::Tiles(_)), "{method:?}");
        assert_eq!(reason, "tiles of square matrices are exchanged");
        // Two elements of 40,000 bytes.
        let Choice { method, reason } = chosen([300, 300], 10_000);
        assert!(matches!(method, Method::Exchange(_)), "{method:?}");
        assert_eq!(reason, "elements are too large for tiles, and exchanged row by row");
    }

    #[test]
    fn common_divisors_make_chunks() {
        for (shape, components) in [([300, 200], 1), ([36, 48], 4), ([3, 2], 60)] {
            let Choice { method, reason } = chosen(shape, components);
            assert!(matches!(method, Method::Chunks(_)), "{shape:?}: {method:?}");
            assert_eq!(
                reason,
                "rows and columns have a large common divisor: squares are transposed, and their rows moved"
            );
        }
    }

    #[test]
    fn other_matrices_are_permuted() {
        // Rows of 48 KiB, and longer ones. Elements of 2,100 bytes are no whole packs.
        let (shared, parts) = (
            "rows are permuted in shared memory, and columns part by part",
            "rows and columns are permuted, part by part",
        );
        for (shape, components, expected) in [
            ([301, 200], 1, shared),
            ([7, 12 << 10], 1, shared),
            ([7, (12 << 10) + 1], 1, parts),
            ([301, 2], 525, parts),
            ([1, 5], 1, "no element moves"),
        ] {
            let Choice { method, reason } = chosen(shape, components);
            assert!(matches!(method, Method::Permutations(_)), "{method:?}");
            assert_eq!(reason, expected, "{shape:?}");
        }
    }
}
