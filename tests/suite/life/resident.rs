//! `Resident`, and censuses of all generations: boards that one block has, and bands of rows. Emulated devices have
//! bands from about 13 rows on.

use super::{SUITE, oracle, same, soup};
use crate::common::{ensure, equal, is_slow, on_every_backend, on_profiles};
use libtest_mimic::{Failed, Trial};
use slm::emulator::Profile;
use slm::life::{Census, LifeError, Rule, Topology};
use slm::ndarray::Array2;
use slm::{Backend, Device, Life, LifeAlgorithm};

/// Rows and columns around whole words, with fewer rows than the halo, and rows with more words than a warp has lanes.
const SIZES: [[usize; 2]; 23] = [
    [1, 1],
    [1, 2],
    [2, 1],
    [3, 3],
    [1, 31],
    [2, 32],
    [7, 33],
    [5, 63],
    [4, 64],
    [6, 65],
    [90, 1],
    [1, 127],
    [33, 128],
    [40, 129],
    [100, 100],
    [66, 130],
    [61, 385],
    [130, 64],
    [2, 1100],
    [1, 2049],
    [23, 2049],
    [45, 1100],
    [12, 2240],
];

const RULES: [&str; 2] = ["B3/S23", "B0123478/S01234678"];

/// Generations after which cells are compared: none, one, few, and more than a band computes in a launch.
const GENERATIONS: [u64; 5] = [0, 1, 2, 7, 13];

pub(super) fn trials() -> Vec<Trial> {
    let of_topology = |topology| {
        let name = |what: &str| format!("resident::{what}::{topology:?}").to_lowercase();
        let generations = on_every_backend(SUITE, &name("generations"), move |device| generations(device, topology));
        let censuses = on_every_backend(SUITE, &name("censuses"), move |device| censuses(device, topology));
        [generations, censuses].into_iter().flatten()
    };
    let too_wide = on_every_backend(SUITE, "resident::too_wide", too_wide);
    // The highest strips need more shared memory than other devices have.
    let high_strips = on_profiles(SUITE, "resident::high_strips", &[Profile::SM_80, Profile::SM_90], high_strips);
    oracle::TOPOLOGIES.into_iter().flat_map(of_topology).chain(too_wide).chain(high_strips).collect()
}

fn high_strips(device: &Device) -> Result<(), Failed> {
    for text in RULES {
        computes(device, [140, 2049], 1, text.parse()?, Topology::Torus)?;
    }
    Ok(())
}

fn generations(device: &Device, topology: Topology) -> Result<(), Failed> {
    for (stream, size) in SIZES.into_iter().enumerate() {
        for text in RULES {
            computes(device, size, stream as u64, text.parse()?, topology)?;
        }
    }
    Ok(())
}

fn computes(
    device: &Device,
    [rows, columns]: [usize; 2],
    stream: u64,
    rule: Rule,
    topology: Topology,
) -> Result<(), Failed> {
    let life = Life::new(rows, columns).rule(rule).topology(topology).algorithm(LifeAlgorithm::Resident);
    let mut board = life.prepare(device)?;
    let mut expected = soup([rows, columns], stream);
    board.set_cells(expected.view())?;
    for steps in GENERATIONS {
        board.step(steps)?;
        expected = oracle::after(&expected, rule, topology, steps);
        same(&board.cells()?, &expected)
            .map_err(|e| format!("{rows} x {columns}, {rule}, {topology:?}, {steps} generations: {e}"))?;
    }
    Ok(())
}

/// Every census is that of a board with these cells, with the algorithms that take them in different ways.
fn censuses(device: &Device, topology: Topology) -> Result<(), Failed> {
    const LAST: u64 = 21;
    let intervals: &[u64] = if is_slow(device) { &[1, 3, 8, LAST] } else { &[1, 2, 3, 5, 7, 8, 11, LAST] };
    let sizes = SIZES.into_iter().enumerate().filter(|(i, _)| !is_slow(device) || i % 3 == 1);
    for (stream, [rows, columns]) in sizes {
        for text in RULES {
            let rule: Rule = text.parse()?;
            let cells = soup([rows, columns], stream as u64);
            let expected = expected(&cells, rule, topology, LAST)?;
            for algorithm in [LifeAlgorithm::Resident, LifeAlgorithm::Blocked] {
                for &every in intervals {
                    let life = Life::new(rows, columns).rule(rule).topology(topology).algorithm(algorithm);
                    let mut board = life.prepare(device)?;
                    board.set_cells(cells.view())?;
                    let history = board.record(LAST, every)?;
                    let some = expected.iter().filter(|census| census.generation % every == 0);
                    ensure(history.iter().eq(some), || {
                        format!("{rows} x {columns}, {rule}, {topology:?}, {algorithm:?}, every {every}: {history:?}")
                    })?;
                    equal((board.generation(), board.census()?.hash), (LAST, expected[LAST as usize - 1].hash))?;
                }
            }
        }
    }
    Ok(())
}

/// Censuses of the generations after these cells, on the CPU.
fn expected(cells: &Array2<bool>, rule: Rule, topology: Topology, last: u64) -> slm::Result<Vec<Census>> {
    let (rows, columns) = cells.dim();
    let mut board = Life::new(rows, columns).rule(rule).topology(topology).prepare(&Device::cpu())?;
    board.set_cells(cells.view())?;
    board.record(last, 1)
}

/// Rows must fit into shared memory.
fn too_wide(device: &Device) -> Result<(), Failed> {
    let board = Life::new(1, 4097).algorithm(LifeAlgorithm::Resident).prepare(device);
    let expected = LifeError::NoBands { rows: 1, columns: 4097 };
    let is_cpu = device.info().backend == Backend::Cpu;
    equal(board.map(drop), if is_cpu { Ok(()) } else { Err(expected.into()) })
}
