//! A large board of the Game of Life.

use super::{Failed, Trial, ensure, shared_trial};
use crate::common::Random;
use ndarray::Array2;
use slm::{Device, Life, LifeAlgorithm};

const SIDE: usize = 16_384;

const GENERATIONS: u64 = 1024;

const ALGORITHMS: [LifeAlgorithm; 4] =
    [LifeAlgorithm::GlobalMemory, LifeAlgorithm::SharedTile, LifeAlgorithm::BitPacked, LifeAlgorithm::Blocked];

pub(super) fn trials() -> Vec<Trial> {
    vec![shared_trial("generations_of_a_large_board", generations_of_a_large_board)]
}

/// All algorithms return the words of the CPU.
fn generations_of_a_large_board(device: &Device) -> Result<(), Failed> {
    let mut random = Random::new(1);
    let soup = Array2::from_shape_simple_fn((SIDE, SIDE / 64), || random.bits());
    let expected = after(&Device::cpu(), LifeAlgorithm::Auto, &soup)?;
    for algorithm in ALGORITHMS {
        ensure(after(device, algorithm, &soup)? == expected, || format!("{algorithm:?} differs from the CPU"))?;
    }
    Ok(())
}

/// The words after all generations.
fn after(device: &Device, algorithm: LifeAlgorithm, soup: &Array2<u64>) -> slm::Result<Array2<u64>> {
    let mut board = Life::new(SIDE, SIDE).algorithm(algorithm).prepare(device)?;
    board.set_words(soup.view())?;
    board.step(GENERATIONS)?;
    board.words()
}
