//! Histories that are known: oscillators with their periods, spaceships, guns and methuselahs, in several rules.

use super::{ALGORITHMS, SUITE, algorithms, oracle, quick_algorithms, same, soup};
use crate::common::{ensure, equal, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::life::{Board, Outcome, Pattern, Rule, Topology};
use slm::{Device, Life};

pub(super) const GLIDER: &str = "bo$2bo$3o!";

const GUN: &str = "24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$2o8bo3bob2o4bobo$10bo5bo7bo$11bo3bo$12b2o!";

/// A pattern, its rule, and its period.
pub(super) const OSCILLATORS: [(&str, Rule, u64); 9] = [
    ("2o$2o!", Rule::CONWAY, 1),
    ("b2o$o2bo$b2o!", Rule::CONWAY, 1),
    ("3o!", Rule::CONWAY, 2),
    (
        "2b3o3b3o2$o4bobo4bo$o4bobo4bo$o4bobo4bo$2b3o3b3o2$2b3o3b3o$o4bobo4bo$o4bobo4bo$o4bobo4bo2$2b3o3b3o!",
        Rule::CONWAY,
        3,
    ),
    ("2bo4bo$2ob4ob2o$2bo4bo!", Rule::CONWAY, 15),
    ("b2o$o2bo$b2o!", Rule::HIGH_LIFE, 1),
    ("3o!", Rule::HIGH_LIFE, 2),
    ("bo$3o$bo!", Rule::DAY_AND_NIGHT, 4),
    ("2o$2o$o!", Rule::DAY_AND_NIGHT, 16),
];

type Test = fn(&Device) -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let histories: [(&str, Test); 10] = [
        ("oscillators", oscillators),
        ("gliders", gliders),
        ("gun", gun),
        ("r_pentomino", r_pentomino),
        ("diehard", diehard),
        ("methuselahs", methuselahs),
        ("replicator", replicator),
        ("sums_modulo_two", sums_modulo_two),
        ("day_and_night", day_and_night),
        ("outside_of_a_plane", outside_of_a_plane),
    ];
    let of_all = histories.map(|(name, test)| on_every_backend(SUITE, &format!("histories::{name}"), test));
    of_all.into_iter().flatten().collect()
}

/// A board with a pattern, placed at a row and column.
pub(super) fn with(device: &Device, life: Life, text: &str, [row, column]: [isize; 2]) -> slm::Result<Board> {
    let mut board = life.prepare(device)?;
    board.place(&Pattern::from_rle(text)?, row, column)?;
    Ok(board)
}

/// Patterns return after their period, and not before.
fn oscillators(device: &Device) -> Result<(), Failed> {
    for (text, rule, period) in OSCILLATORS {
        for &algorithm in algorithms(device) {
            let life = Life::new(25, 35).rule(rule).topology(Topology::Plane).algorithm(algorithm);
            let mut board = with(device, life, text, [5, 6])?;
            let cells = board.cells()?;
            for generation in 1..=period {
                board.step(1)?;
                equal((text, generation, board.cells()? == cells), (text, generation, generation == period))?;
            }
        }
    }
    Ok(())
}

/// A glider moves by one cell in four generations. On a torus it comes back; on a Klein bottle, mirrored, after two turns.
fn gliders(device: &Device) -> Result<(), Failed> {
    let [rows, columns] = [12, 24];
    for &algorithm in algorithms(device) {
        let life = Life::new(rows, columns).algorithm(algorithm);
        let mut torus = with(device, life, GLIDER, [3, 18])?;
        let start = torus.cells()?;
        torus.step(4 * 5)?;
        // One of its columns is at the right end.
        let moved = with(device, life, "o$bo$2o21bo!", [8, 0])?;
        equal(torus.cells()?, moved.cells()?)?;
        torus.step(4 * 24 - 4 * 5)?;
        equal((torus.generation(), torus.cells()? == start), (4 * 24, true))?;

        // After one turn the mirrored glider flies to the left, after the second one to the right again.
        let mut bottle = with(device, life.topology(Topology::KleinBottle), GLIDER, [3, 3])?;
        let start = bottle.cells()?;
        bottle.step(4 * 12)?;
        equal(bottle.cells()? == start, false)?;
        let mirrored = with(device, life, "bo$o$3o!", [3, columns as isize - 3 - 3 - 12])?;
        equal(bottle.cells()?, mirrored.cells()?)?;
        bottle.step(4 * 12)?;
        equal(bottle.cells()? == start, true)?;

        let mut cylinder = with(device, life.topology(Topology::Cylinder), GLIDER, [3, 18])?;
        cylinder.step(100)?;
        // At the end of the cylinder it becomes a block.
        equal(cylinder.population()?, 4)?;
        let block = cylinder.cells()?;
        cylinder.step(1)?;
        equal(cylinder.cells()? == block, true)?;
    }
    Ok(())
}

/// Gosper's gun adds a glider in every 30 generations.
fn gun(device: &Device) -> Result<(), Failed> {
    let gliders = if is_slow(device) { 2 } else { 20 };
    for &algorithm in algorithms(device) {
        let life = Life::new(60 + 8 * gliders, 80 + 8 * gliders).topology(Topology::Plane).algorithm(algorithm);
        let mut board = with(device, life, GUN, [10, 10])?;
        for glider in 0..gliders as u64 {
            equal((algorithm, glider, board.population()?), (algorithm, glider, 36 + 5 * glider))?;
            board.step(30)?;
        }
    }
    Ok(())
}

/// The R-pentomino becomes stable after 1103 generations, with 116 cells. Its gliders still fly.
fn r_pentomino(device: &Device) -> Result<(), Failed> {
    const TEXT: &str = "b2o$2o$bo!";
    const POPULATIONS: [(u64, u64); 10] =
        [(0, 5), (1, 6), (2, 7), (3, 9), (4, 8), (5, 9), (6, 12), (100, 121), (1103, 116), (1163, 116)];
    // In 100 generations, its cells are in 25 rows and 54 columns.
    let (few, [rows, columns], position) = match is_slow(device) {
        true => (8, [40, 70], [16, 42]),
        false => (POPULATIONS.len(), [900, 901], [450, 450]),
    };
    for &algorithm in algorithms(device) {
        let life = Life::new(rows, columns).topology(Topology::Plane).algorithm(algorithm);
        has_populations(&mut with(device, life, TEXT, position)?, &POPULATIONS[..few])?;
    }
    Ok(())
}

/// Steps to each of these generations, which has this population.
fn has_populations(board: &mut Board, populations: &[(u64, u64)]) -> Result<(), Failed> {
    for &(generation, population) in populations {
        board.step(generation - board.generation())?;
        equal((generation, board.population()?), (generation, population))?;
    }
    Ok(())
}

/// Diehard dies out in generation 130.
fn diehard(device: &Device) -> Result<(), Failed> {
    for &algorithm in quick_algorithms(device) {
        let life = Life::new(40, 40).topology(Topology::Plane).algorithm(algorithm);
        let mut board = with(device, life, "6bo$2o$bo3b3o!", [12, 14])?;
        let mut again = board.try_clone()?;
        has_populations(&mut board, &[(0, 7), (1, 8), (100, 23), (129, 2), (130, 0)])?;
        equal(again.run_until_stable(1000)?, Outcome::Extinct)?;
        ensure(again.generation() >= 130, || format!("extinct in generation {}", again.generation()))?;
    }
    Ok(())
}

/// A long history: a pattern and its rule, its position on a plane, the populations of some generations, and the outcome from
/// the last of these on.
struct Methuselah {
    text: &'static str,
    rule: &'static str,
    position: [isize; 2],
    size: [usize; 2],
    populations: &'static [(u64, u64)],
    outcome: Outcome,
}

/// These patterns were found by trying some at random. The populations are those of the naive oracle.
const METHUSELAHS: [Methuselah; 3] = [
    Methuselah {
        text: "bo$2o$b3o!",
        rule: "B36/S23",
        position: [34, 18],
        size: [58, 46],
        populations: &[(0, 6), (10, 16), (100, 31), (500, 109), (696, 30), (697, 30)],
        outcome: Outcome::Oscillator { period: 2 },
    },
    Methuselah {
        text: "7o$2ob3o$o2bobo$5bobo$2obobo$o4b3o$4bo$2o2b3o!",
        rule: "B3678/S34678",
        position: [36, 10],
        size: [54, 24],
        populations: &[(0, 31), (10, 36), (50, 79), (100, 162), (150, 2), (151, 0)],
        outcome: Outcome::Extinct,
    },
    Methuselah {
        text: "bobo$obo$2bo$ob2o!",
        rule: "B36/S125",
        position: [12, 20],
        size: [42, 50],
        populations: &[(0, 8), (10, 15), (100, 25), (400, 107), (611, 34), (612, 33)],
        outcome: Outcome::Oscillator { period: 2 },
    },
];

/// Emulated devices have `Blocked` only, which leaves the last generations of a step to the kernel of `BitPacked`.
fn methuselahs(device: &Device) -> Result<(), Failed> {
    let algorithms = if is_slow(device) { &ALGORITHMS[4..] } else { algorithms(device) };
    for Methuselah { text, rule, position, size: [rows, columns], populations, outcome } in METHUSELAHS {
        for &algorithm in algorithms {
            let rule: Rule = rule.parse()?;
            let life = Life::new(rows, columns).rule(rule).topology(Topology::Plane).algorithm(algorithm);
            let mut board = with(device, life, text, position)?;
            let start = board.cells()?;
            has_populations(&mut board, populations)?;
            same(&board.cells()?, &oracle::after(&start, rule, Topology::Plane, board.generation()))?;
            equal((text, board.run_until_stable(20)?), (text, outcome))?;
        }
    }
    Ok(())
}

/// The replicator of HighLife: after 12, 24, 36 and 48 generations there are 2, 2, 4 and 2 of it.
fn replicator(device: &Device) -> Result<(), Failed> {
    for &algorithm in algorithms(device) {
        let life = Life::new(70, 75).rule(Rule::HIGH_LIFE).topology(Topology::Plane).algorithm(algorithm);
        let mut board = with(device, life, "2b3o$bo2bo$o3bo$o2bo$3o!", [32, 34])?;
        has_populations(&mut board, &[(0, 12), (12, 24), (24, 24), (36, 48), (48, 24)])?;
    }
    Ok(())
}

/// In this rule, a cell becomes the sum of the nine cells around it, modulo two. After `2^k` generations, it is
/// the sum of nine cells that are `2^k` rows and columns apart. On a torus with sides of `2^(k + 1)`, these cancel in pairs, except
/// for the cell itself: all cells return.
fn sums_modulo_two(device: &Device) -> Result<(), Failed> {
    let side = if is_slow(device) { 16 } else { 128 };
    let mut board = Life::new(side, side).rule("B1357/S02468".parse()?).prepare(device)?;
    let cells = soup([side, side], 1);
    board.set_cells(cells.view())?;
    board.step(side as u64 / 4)?;
    equal(board.cells()? == cells, false)?;
    board.step(side as u64 / 4)?;
    equal(board.cells()? == cells, true)
}

/// Day and night are the same: exchanged living and dead cells remain exchanged.
fn day_and_night(device: &Device) -> Result<(), Failed> {
    for topology in [Topology::Torus, Topology::KleinBottle] {
        let life = Life::new(20, 70).rule(Rule::DAY_AND_NIGHT).topology(topology);
        let [mut day, mut night] = [life.prepare(device)?, life.prepare(device)?];
        let cells = soup([20, 70], 2);
        day.set_cells(cells.view())?;
        night.set_cells(cells.map(|is_alive| !is_alive).view())?;
        day.step(10)?;
        night.step(10)?;
        equal(day.cells()?, night.cells()?.map(|is_alive| !is_alive))?;
    }
    Ok(())
}

/// With `B0` all dead cells without neighbours are born, but not outside: the cells at the ends would have more neighbours.
fn outside_of_a_plane(device: &Device) -> Result<(), Failed> {
    for &algorithm in algorithms(device) {
        for columns in [37, 64, 130] {
            let life = Life::new(5, columns).algorithm(algorithm);
            // Living cells survive with 3 neighbours: those in the corners.
            let mut board = life.topology(Topology::Plane).rule("B0/S3".parse()?).prepare(device)?;
            board.step(1)?;
            equal(board.population()?, 5 * columns as u64)?;
            board.step(1)?;
            equal(board.population()?, 4)?;
            equal([board.get(0, 0)?, board.get(4, columns - 1)?], [true; 2])?;
            // With 5 neighbours: those in the first row and in the last one.
            let mut board = life.topology(Topology::Cylinder).rule("B0/S5".parse()?).prepare(device)?;
            board.step(2)?;
            equal(board.population()?, 2 * columns as u64)?;
            equal([board.get(0, 0)?, board.get(4, columns - 1)?, board.get(1, 0)?], [true, true, false])?;
        }
    }
    Ok(())
}
