//! Histories that are known: oscillators with their periods, spaceships, guns and methuselahs, in several rules.

use super::{SUITE, algorithms, soup};
use crate::common::{equal, is_emulated, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::life::{Board, Pattern, Rule, Topology};
use slm::{Device, Life};

pub(super) const GLIDER: &str = "bo$2bo$3o!";

const GUN: &str = "24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$2o8bo3bob2o4bobo$10bo5bo7bo$11bo3bo$12b2o!";

/// A pattern, its rule, and its period.
pub(super) const OSCILLATORS: [(&str, Rule, u64); 7] = [
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
];

type Test = fn(&Device) -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let histories: [(&str, Test); 8] = [
        ("oscillators", oscillators),
        ("gliders", gliders),
        ("gun", gun),
        ("r_pentomino", r_pentomino),
        ("replicator", replicator),
        ("sums_modulo_two", sums_modulo_two),
        ("day_and_night", day_and_night),
        ("outside_of_a_plane", outside_of_a_plane),
    ];
    let of_all = histories.map(|(name, test)| on_every_backend(SUITE, &format!("histories::{name}"), test));
    of_all.into_iter().flatten().collect()
}

/// A board with a pattern, placed at a row and column.
pub(super) fn with(device: &Device, life: Life, text: &str, [row, column]: [usize; 2]) -> slm::Result<Board> {
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
        let mirrored = with(device, life, "bo$o$3o!", [3, columns - 3 - 3 - 12])?;
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
    let gliders = if is_emulated(device) { 2 } else { 20 };
    let life = Life::new(60 + 8 * gliders, 80 + 8 * gliders).topology(Topology::Plane);
    let mut board = with(device, life, GUN, [10, 10])?;
    for glider in 0..gliders as u64 {
        equal((glider, board.population()?), (glider, 36 + 5 * glider))?;
        board.step(30)?;
    }
    Ok(())
}

/// The R-pentomino becomes stable after 1103 generations, with 116 cells. Its gliders still fly.
fn r_pentomino(device: &Device) -> Result<(), Failed> {
    const TEXT: &str = "b2o$2o$bo!";
    let populations = [(0, 5), (1, 6), (2, 7), (3, 9), (4, 8), (5, 9), (6, 12), (100, 121), (1103, 116), (1163, 116)];
    let few = if is_emulated(device) { 8 } else { populations.len() };
    let side = if is_emulated(device) { 120 } else { 900 };
    let mut board = with(device, Life::new(side, side + 1).topology(Topology::Plane), TEXT, [side / 2, side / 2])?;
    for &(generation, population) in &populations[..few] {
        board.step(generation - board.generation())?;
        equal((generation, board.population()?), (generation, population))?;
    }
    Ok(())
}

/// The replicator of HighLife: after 12, 24, 36 and 48 generations there are 2, 2, 4 and 2 of it.
fn replicator(device: &Device) -> Result<(), Failed> {
    let life = Life::new(70, 75).rule(Rule::HIGH_LIFE).topology(Topology::Plane);
    let mut board = with(device, life, "2b3o$bo2bo$o3bo$o2bo$3o!", [32, 34])?;
    for copies in [1, 2, 2, 4, 2] {
        equal((board.generation(), board.population()?), (board.generation(), 12 * copies))?;
        board.step(12)?;
    }
    Ok(())
}

/// In this rule, a cell becomes the sum of the nine cells around it, modulo two. After `2^k` generations, it is
/// the sum of nine cells that are `2^k` rows and columns apart. On a torus with sides of `2^(k + 1)`, these cancel in pairs, except
/// for the cell itself: all cells return.
fn sums_modulo_two(device: &Device) -> Result<(), Failed> {
    let side = if is_emulated(device) { 16 } else { 128 };
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
