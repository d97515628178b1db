//! 1,024 generations: every backend and algorithm returns the words of the CPU, and the CPU the cells of the naive oracle.
//!
//! Emulated devices have the algorithms with a bit for each cell only. Those with a byte would take minutes. Other trials run them
//! for fewer generations.

use super::{SUITE, oracle, quick_algorithms, same, soup};
use crate::common::{ensure, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::life::{Board, Rule, Topology};
use slm::ndarray::Array2;
use slm::{Backend, Device, Life, LifeAlgorithm};

const GENERATIONS: u64 = 1024;

/// Rows and columns.
const SIZES: [[usize; 2]; 2] = [[100, 100], [257, 129]];

pub(super) fn trials() -> Vec<Trial> {
    let of_size = |size: [usize; 2]| {
        let name = format!("identity::{}x{}", size[0], size[1]);
        on_every_backend(SUITE, &name, move |device| identity(device, size))
    };
    SIZES.into_iter().flat_map(of_size).collect()
}

fn identity(device: &Device, size: [usize; 2]) -> Result<(), Failed> {
    let cells = soup(size, 10);
    let expected = after(&Device::cpu(), LifeAlgorithm::Auto, &cells)?;
    if device.info().backend == Backend::Cpu {
        let by_definition = oracle::after(&cells, Rule::CONWAY, Topology::Torus, GENERATIONS);
        return Ok(same(&expected.cells()?, &by_definition)?);
    }
    for &algorithm in quick_algorithms(device) {
        let actual = after(device, algorithm, &cells)?;
        ensure(actual.words()? == expected.words()?, || format!("{algorithm:?} differs from the CPU"))?;
    }
    Ok(())
}

/// The board after all generations.
fn after(device: &Device, algorithm: LifeAlgorithm, cells: &Array2<bool>) -> slm::Result<Board> {
    let (rows, columns) = cells.dim();
    let mut board = Life::new(rows, columns).algorithm(algorithm).prepare(device)?;
    board.set_cells(cells.view())?;
    board.step(GENERATIONS)?;
    Ok(board)
}
