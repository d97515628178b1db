//! Properties of boards of any size, rule and topology.

use crate::common::Random;
use crate::properties::check;
use ndarray::{Array2, Axis, concatenate, s};
use proptest::prelude::*;
use slm::emulator::Profile;
use slm::life::{Outcome, Pattern, Rule, Topology};
use slm::{Device, Life, LifeAlgorithm};
use slm_test_support::life::{TOPOLOGIES, after, wrapped};
use std::collections::HashMap;
use std::thread;

/// Any rule.
fn rule() -> impl Strategy<Value = Rule> {
    (0..512u16, 0..512u16).prop_map(|(births, survivals)| Rule::from_masks(births, survivals))
}

/// Boards of all densities. Many have a few words in a row.
fn cells(rows: usize, columns: usize) -> impl Strategy<Value = Array2<bool>> {
    (1..=rows, 1..=columns, 1..5usize, any::<u64>()).prop_map(|(rows, columns, density, stream)| {
        let mut random = Random::new(stream);
        Array2::from_shape_simple_fn((rows, columns), || random.below(6) < density)
    })
}

fn topology() -> impl Strategy<Value = Topology> {
    proptest::sample::select(&TOPOLOGIES[..])
}

/// The cells after `steps` generations on a device.
fn stepped(device: &Device, life: Life, cells: &Array2<bool>, steps: u64) -> Array2<bool> {
    let mut board = life.prepare(device).unwrap();
    board.set_cells(cells.view()).unwrap();
    board.step(steps).unwrap();
    board.cells().unwrap()
}

fn of(cells: &Array2<bool>, rule: Rule, topology: Topology) -> Life {
    Life::new(cells.nrows(), cells.ncols()).rule(rule).topology(topology)
}

#[test]
fn generations_are_those_of_the_definition() {
    let device = Device::cpu();
    check(250, (cells(12, 200), rule(), topology(), 1..4u64), |(cells, rule, topology, steps)| {
        let actual = stepped(&device, of(&cells, rule, topology), &cells, steps);
        prop_assert_eq!(actual, after(&cells, rule, topology, steps));
        Ok(())
    });
}

#[test]
fn algorithms_agree() {
    let device = Device::emulated(Profile::SM_90, 1);
    let algorithm = prop_oneof![
        Just((LifeAlgorithm::GlobalMemory, 2)),
        Just((LifeAlgorithm::SharedTile, 2)),
        Just((LifeAlgorithm::BitPacked, 2)),
        Just((LifeAlgorithm::Blocked, 8)),
    ];
    check(150, (cells(12, 200), rule(), topology(), algorithm), |(cells, rule, topology, (algorithm, steps))| {
        let life = of(&cells, rule, topology);
        let actual = stepped(&device, life.algorithm(algorithm), &cells, steps);
        prop_assert_eq!(actual, stepped(&Device::cpu(), life, &cells, steps));
        Ok(())
    });
}

/// A Klein bottle is one half of a torus that has the mirrored cells in the other half.
#[test]
fn klein_bottles_are_halves_of_tori() {
    let device = Device::cpu();
    check(60, (cells(20, 150), rule()), |(cells, rule)| {
        let both = concatenate![Axis(0), cells, cells.slice(s![.., ..;-1])];
        let expected = stepped(&device, of(&both, rule, Topology::Torus), &both, 5);
        let actual = stepped(&device, of(&cells, rule, Topology::KleinBottle), &cells, 5);
        prop_assert_eq!(actual, expected.slice(s![..cells.nrows(), ..]));
        Ok(())
    });
}

/// Shifted cells remain shifted, on a torus in both directions.
#[test]
fn generations_of_shifted_cells_are_shifted() {
    let device = Device::cpu();
    check(60, (cells(70, 150), rule(), 0..70usize, 0..150usize), |(cells, rule, down, right)| {
        let (rows, columns) = cells.dim();
        let shifted = |cells: &Array2<bool>| {
            Array2::from_shape_fn(cells.dim(), |(row, column)| cells[[(row + down) % rows, (column + right) % columns]])
        };
        let life = of(&cells, rule, Topology::Torus);
        prop_assert_eq!(stepped(&device, life, &shifted(&cells), 4), shifted(&stepped(&device, life, &cells, 4)));
        Ok(())
    });
}

/// The generation from which on cells repeat, and their period, if there are less than `most` different ones.
fn cycle(cells: &Array2<bool>, rule: Rule, topology: Topology, most: usize) -> Option<(u64, u64)> {
    let (mut known, mut cells) = (HashMap::new(), cells.clone());
    for generation in 0..most as u64 {
        if let Some(first) = known.insert(cells.clone(), generation) {
            return Some((first, generation - first));
        }
        cells = after(&cells, rule, topology, 1);
    }
    None
}

/// Every cycle is found in the generations that are documented, with its least period.
#[test]
fn outcomes_are_those_of_all_generations() {
    let device = Device::cpu();
    check(300, (cells(7, 7), rule(), topology()), |(cells, rule, topology)| {
        let Some((first, period)) = cycle(&cells, rule, topology, 400) else { return Ok(()) };
        let mut board = of(&cells, rule, topology).prepare(&device).unwrap();
        board.set_cells(cells.view()).unwrap();
        // Nothing is found before it repeats.
        prop_assert_eq!(board.try_clone().unwrap().run_until_stable(first + period - 1).unwrap(), Outcome::Unstable);
        let outcome = board.run_until_stable(5 * period.max(first + 1)).unwrap();
        let expected = match period {
            1 if board.population().unwrap() == 0 => Outcome::Extinct,
            1 => Outcome::StillLife,
            _ => Outcome::Oscillator { period },
        };
        prop_assert_eq!(outcome, expected, "generation {}", board.generation());
        prop_assert!(board.generation() > first);
        Ok(())
    });
}

/// The board with a pattern; `None` if a cell of the pattern is outside, or the pattern is larger than the board.
fn placed(
    before: &Array2<bool>,
    pattern: &Array2<bool>,
    position: [isize; 2],
    topology: Topology,
) -> Option<Array2<bool>> {
    let mut board = before.clone();
    for ((row, column), is_alive) in pattern.indexed_iter() {
        let position = [position[0] + row as isize, position[1] + column as isize];
        board[wrapped(position, before.dim(), topology)?] |= is_alive;
    }
    (pattern.nrows() <= board.nrows() && pattern.ncols() <= board.ncols()).then_some(board)
}

#[test]
fn patterns_are_placed_by_the_definition() {
    let devices = [Device::cpu(), Device::emulated(Profile::SM_90, 2)];
    let algorithm = proptest::sample::select(&[LifeAlgorithm::SharedTile, LifeAlgorithm::BitPacked][..]);
    let pattern = (cells(8, 150), -40..40isize, -400..400isize);
    check(400, (cells(12, 200), pattern, topology(), algorithm), |(before, pattern, topology, algorithm)| {
        let (pattern, row, column) = pattern;
        let expected = placed(&before, &pattern, [row, column], topology);
        for device in &devices {
            let mut board = of(&before, Rule::CONWAY, topology).algorithm(algorithm).prepare(device).unwrap();
            board.set_cells(before.view()).unwrap();
            let result = board.place(&Pattern::from_array(pattern.view()).unwrap(), row, column);
            prop_assert_eq!(result.is_ok(), expected.is_some(), "{:?}", result);
            prop_assert_eq!(&board.cells().unwrap(), expected.as_ref().unwrap_or(&before));
        }
        Ok(())
    });
}

#[test]
fn patterns_at_the_greatest_distances() {
    let pattern = ".O.\n..O\nOOO".parse().unwrap();
    for [rows, columns] in [[3, 3], [5, 70], [8, 64]] {
        for topology in [Topology::Torus, Topology::KleinBottle] {
            let place = |row, column| {
                let mut board = Life::new(rows, columns).topology(topology).prepare(&Device::cpu()).unwrap();
                board.place(&pattern, row, column).unwrap();
                board.cells().unwrap()
            };
            for (row, column) in [(isize::MIN, isize::MAX), (isize::MAX, isize::MIN)] {
                // After two turns, rows are not mirrored.
                let near = [row.rem_euclid(2 * rows as isize), column.rem_euclid(columns as isize)];
                assert_eq!(place(row, column), place(near[0], near[1]));
            }
        }
    }
}

/// Bands of rows are computed by several threads.
#[test]
fn results_do_not_depend_on_threads() {
    let cells = {
        let mut random = Random::new(3);
        Array2::from_shape_simple_fn((500, 130), || random.below(3) == 0)
    };
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| stepped(&Device::cpu(), of(&cells, Rule::CONWAY, Topology::KleinBottle), &cells, 20))
    };
    assert_eq!(run(1), run(5));
}

/// A board moves to another thread, and several threads read it.
#[test]
fn threads_share_a_board() {
    for device in [Device::cpu(), Device::emulated(Profile::SM_90, 3)] {
        let mut board = Life::new(5, 70).prepare(&device).unwrap();
        board.place(&"3o!".parse().unwrap(), 2, 63).unwrap();
        let step = move || board.step(9).map(|()| board);
        let board = thread::spawn(step).join().unwrap().unwrap();
        thread::scope(|scope| {
            for row in 1..4 {
                let board = &board;
                scope.spawn(move || assert_eq!((board.get(row, 64), board.population()), (Ok(true), Ok(3))));
            }
        });
    }
}
