//! `Life` on boards of every topology, against the definition.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slm::life::Rule;
use slm::ndarray::Array2;
use slm::{Device, Life, LifeAlgorithm};
use slm_fuzz::{Reader, devices, expect};
use slm_test_support::life::{TOPOLOGIES, after};

const ALGORITHMS: [LifeAlgorithm; 5] = [
    LifeAlgorithm::Auto,
    LifeAlgorithm::GlobalMemory,
    LifeAlgorithm::SharedTile,
    LifeAlgorithm::BitPacked,
    LifeAlgorithm::Blocked,
];

fuzz_target!(|input: &[u8]| {
    let reader = &mut Reader::new(input);
    let devices = devices(reader);
    let masks = [0; 2].map(|_| u16::from(reader.byte()) | u16::from(reader.byte()) << 8);
    let rule = if reader.flag() { Rule::CONWAY } else { Rule::from_masks(masks[0], masks[1]) };
    let topology = reader.pick(&TOPOLOGIES);
    let rows = reader.within(1, 40);
    let columns = reader.within(1, (600 / rows).clamp(1, 140));
    let life = Life::new(rows, columns).rule(rule).topology(topology).algorithm(reader.pick(&ALGORITHMS));
    let steps = [0; 2].map(|_| reader.below(10) as u64);
    let every = reader.within(1, 9) as u64;
    let cells = reader.bytes((rows * columns).div_ceil(8));
    let alive = |(row, column)| {
        let at: usize = row * columns + column;
        cells[at / 8] >> (at % 8) & 1 == 1
    };
    let cells = Array2::from_shape_fn((rows, columns), alive);
    let expected = after(&cells, rule, topology, steps.iter().sum());
    let populations: Vec<u64> =
        (every..=steps[0]).step_by(every as usize).map(|n| population(&after(&cells, rule, topology, n))).collect();
    for device in &devices {
        let what = (device.to_string(), life, steps, every, &cells);
        let (actual, history) = expect(run(&life, device, &cells, (steps, every)), &what);
        assert!(actual == expected && history == populations, "{history:?}, expected {populations:?}: {what:?}");
    }
});

fn population(cells: &Array2<bool>) -> u64 {
    cells.iter().filter(|cell| **cell).count() as u64
}

/// Returns the cells after two runs of generations, with a copy of the board by a pattern between them, and the populations of every
/// few generations of the first run.
fn run(
    life: &Life,
    device: &Device,
    cells: &Array2<bool>,
    (steps, every): ([u64; 2], u64),
) -> slm::Result<(Array2<bool>, Vec<u64>)> {
    let mut board = life.prepare(device)?;
    board.set_cells(cells.view())?;
    let history = board.record(steps[0], every)?;
    if let Some(last) = history.last().filter(|census| census.generation == steps[0]) {
        assert_eq!(*last, board.census()?);
    }
    let mut other = life.prepare(device)?;
    other.place(&board.pattern()?, 0, 0)?;
    other.step(steps[1])?;
    let cells = other.cells()?;
    assert_eq!(other.population()?, population(&cells));
    Ok((cells, history.iter().map(|census| census.population).collect()))
}
