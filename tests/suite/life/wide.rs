//! `Blocked` on boards of several strips, which have 1,920 columns each. From 3,904 columns on, a strip and its halo are inside of
//! the board, and the kernel loads whole words.

use super::{SUITE, oracle, same, soup};
use crate::common::on_every_backend;
use libtest_mimic::{Failed, Trial};
use slm::life::{Rule, Topology};
use slm::{Device, Life, LifeAlgorithm};

/// Rows and columns: a strip, a column more, a strip inside of the board, and more than that. The last size has rows that are
/// far from both ends, so that a Klein bottle has strips without mirrored rows.
const SIZES: [[usize; 2]; 5] = [[9, 1920], [9, 1921], [9, 3904], [20, 4001], [40, 1920]];

/// Conway's rule has kernels of its own.
const RULES: [&str; 2] = ["B3/S23", "B0123478/S01234678"];

/// Two passes of eight generations, and one generation more.
const GENERATIONS: u64 = 17;

pub(super) fn trials() -> Vec<Trial> {
    let of_topology = |topology| {
        let name = format!("wide::{topology:?}").to_lowercase();
        on_every_backend(SUITE, &name, move |device| wide(device, topology))
    };
    oracle::TOPOLOGIES.into_iter().flat_map(of_topology).collect()
}

fn wide(device: &Device, topology: Topology) -> Result<(), Failed> {
    for (stream, [rows, columns]) in SIZES.into_iter().enumerate() {
        let cells = soup([rows, columns], stream as u64);
        for text in RULES {
            let rule: Rule = text.parse()?;
            let life = Life::new(rows, columns).rule(rule).topology(topology).algorithm(LifeAlgorithm::Blocked);
            let mut board = life.prepare(device)?;
            board.set_cells(cells.view())?;
            board.step(GENERATIONS)?;
            let expected = oracle::after(&cells, rule, topology, GENERATIONS);
            same(&board.cells()?, &expected).map_err(|e| format!("{rows} x {columns}, {rule}, {topology:?}: {e}"))?;
        }
    }
    Ok(())
}
