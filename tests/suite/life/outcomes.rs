//! Censuses, histories, and outcomes of long runs.

use super::histories::{GLIDER, OSCILLATORS, with};
use super::{SUITE, algorithms, oracle, soup};
use crate::common::{ensure, equal, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::life::{LifeError, Outcome, Rule, Topology};
use slm::ndarray::Array2;
use slm::{Device, Life, LifeAlgorithm};

/// Rows and columns: an odd and an even number of words, and several loads for each thread.
const SIZES: [[usize; 2]; 6] = [[1, 1], [3, 64], [5, 65], [7, 130], [16, 200], [70, 1030]];

type Test = fn(&Device) -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 9] = [
        ("censuses", censuses),
        ("censuses_of_passes", censuses_of_passes),
        ("histories", histories),
        ("invalid_histories", invalid_histories),
        ("oscillators_have_their_periods", oscillators_have_their_periods),
        ("gliders_return", gliders_return),
        ("cells_die_out", cells_die_out),
        ("limits", limits),
        ("searches_end_when_told", searches_end_when_told),
    ];
    let of_all = |(name, test): (&str, Test)| on_every_backend(SUITE, &format!("outcomes::{name}"), test);
    tests.into_iter().flat_map(of_all).collect()
}

/// The hash by its definition.
fn hash(words: &Array2<u64>) -> u64 {
    let mixed = |x: u32| {
        let x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
        let x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
        x ^ (x >> 16)
    };
    let finish = |z: u64| {
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let sum = |k: u32| {
        let of_word = |((row, column), word): ((usize, usize), &u64)| {
            let of_group = mixed(row as u32 / 8 + 1).wrapping_mul(mixed(row as u32 % 8 + 1) | 1);
            let of_row = of_group.wrapping_mul([1, 0x9e37_79b1][k as usize]);
            let key = u128::from(of_row) * u128::from(mixed(u32::MAX - (2 * column as u32 + k)));
            let half = |shift: u32| (u128::from(*word >> shift & 0xffff_ffff) + (key >> shift)) & 0xffff_ffff;
            half(0) * half(32)
        };
        words.indexed_iter().map(of_word).sum::<u128>() as u64
    };
    finish(finish(sum(0)).wrapping_add(sum(1)))
}

fn censuses(device: &Device) -> Result<(), Failed> {
    for (stream, [rows, columns]) in SIZES.into_iter().enumerate() {
        for &algorithm in algorithms(device) {
            let mut board = Life::new(rows, columns).algorithm(algorithm).prepare(device)?;
            let empty = board.census()?;
            equal((empty.generation, empty.population, empty.hash), (0, 0, hash(&board.words()?)))?;
            let cells = soup([rows, columns], stream as u64);
            board.set_cells(cells.view())?;
            let census = board.census()?;
            let population = cells.iter().filter(|cell| **cell).count() as u64;
            let expected = (0, population, hash(&board.words()?));
            let actual = (census.generation, census.population, census.hash);
            equal((rows, columns, algorithm, actual), (rows, columns, algorithm, expected))?;
        }
    }
    Ok(())
}

/// Every census is that of a board which stops there.
fn histories(device: &Device) -> Result<(), Failed> {
    for &algorithm in algorithms(device) {
        let life = Life::new(20, 70).algorithm(algorithm).topology(Topology::KleinBottle);
        let mut one_by_one = life.prepare(device)?;
        one_by_one.set_cells(soup([20, 70], 5).view())?;
        one_by_one.step(2)?;
        let mut board = one_by_one.try_clone()?;
        let mut expected = Vec::new();
        for _ in 0..11 {
            one_by_one.step(1)?;
            expected.push(one_by_one.census()?);
        }
        equal(expected[0].generation, 3)?;
        for (steps, every) in [(11, 1), (11, 2), (11, 4), (8, 4), (11, 11), (11, 12), (11, u64::MAX), (0, 1)] {
            let mut board = board.try_clone()?;
            let history = board.record(steps, every)?;
            let some: Vec<_> =
                expected.iter().take(steps as usize).filter(|c| (c.generation - 2) % every == 0).collect();
            ensure(history.iter().eq(some), || format!("{steps} steps, every {every}: {history:?}"))?;
            equal(board.generation(), 2 + steps)?;
        }
        board.record(11, 5)?;
        equal(board.cells()? == one_by_one.cells()?, true)?;
    }
    Ok(())
}

/// Censuses that are taken while the generations after them are computed.
fn censuses_of_passes(device: &Device) -> Result<(), Failed> {
    // The last board has several warps across.
    for (stream, [rows, columns]) in SIZES.into_iter().chain([[19, 2100]]).enumerate() {
        for topology in [Topology::Torus, Topology::Plane] {
            let life = Life::new(rows, columns).topology(topology);
            let mut board = life.prepare(device)?;
            board.set_cells(soup([rows, columns], stream as u64).view())?;
            let mut one_by_one = board.try_clone()?;
            let history = board.record(27, 8)?;
            let expected = (0..3).map(|_| {
                one_by_one.step(8)?;
                let words = one_by_one.words()?;
                let population = words.iter().map(|word| u64::from(word.count_ones())).sum();
                Ok((one_by_one.generation(), population, hash(&words)))
            });
            let expected: Vec<(u64, u64, u64)> = expected.collect::<slm::Result<_>>()?;
            let actual: Vec<_> =
                history.iter().map(|census| (census.generation, census.population, census.hash)).collect();
            equal((rows, columns, topology, actual), (rows, columns, topology, expected))?;
            one_by_one.step(3)?;
            equal(board.words()? == one_by_one.words()?, true)?;
        }
    }
    Ok(())
}

/// The board stays as it was.
fn invalid_histories(device: &Device) -> Result<(), Failed> {
    let mut board = with(device, Life::new(9, 9), GLIDER, [3, 3])?;
    board.step(2)?;
    let before = board.census()?;
    equal(board.record(3, 0).err(), Some(LifeError::NoInterval.into()))?;
    equal(board.record(0, 0).err(), Some(LifeError::NoInterval.into()))?;
    let too_many = |steps| Some(LifeError::Generations { generation: 2, steps }.into());
    equal(board.record(u64::MAX, 1).err(), too_many(u64::MAX))?;
    equal(board.run_until_stable(u64::MAX - 1).err(), too_many(u64::MAX - 1))?;
    // No machine has as much memory.
    ensure(board.record(u64::MAX - 2, 1).is_err(), || "a history of 2^64 generations".to_owned())?;
    ensure(board.record(1 << 59, 1).is_err(), || "a history of 2^59 generations".to_owned())?;
    equal(board.census()?, before)
}

fn oscillators_have_their_periods(device: &Device) -> Result<(), Failed> {
    for &algorithm in algorithms(device) {
        for (text, rule, period) in OSCILLATORS {
            let life = Life::new(30, 40).rule(rule).algorithm(algorithm);
            let mut board = with(device, life, text, [8, 12])?;
            let expected = if period == 1 { Outcome::StillLife } else { Outcome::Oscillator { period } };
            equal((text, board.run_until_stable(5 * period)?), (text, expected))?;
            ensure(board.generation() <= 5 * period, || format!("{text} ran for {}", board.generation()))?;
        }
        // Two oscillators have the least common multiple of their periods.
        let mut board = with(device, Life::new(30, 40).algorithm(algorithm), OSCILLATORS[3].0, [8, 20])?;
        board.place(&OSCILLATORS[2].0.parse()?, 3, 3)?;
        equal(board.run_until_stable(1000)?, Outcome::Oscillator { period: 6 })?;
    }
    Ok(())
}

fn gliders_return(device: &Device) -> Result<(), Failed> {
    let sides = if is_slow(device) { [5, 6] } else { [31, 96] };
    for topology in [Topology::Torus, Topology::KleinBottle] {
        let mut board = with(device, Life::new(sides[0], sides[1]).topology(topology), GLIDER, [1, 2])?;
        let start = board.cells()?;
        let Outcome::Oscillator { period } = board.run_until_stable(1_000_000)? else {
            return Err(format!("{topology:?}: no oscillator").into());
        };
        if topology == Topology::Torus {
            let [rows, columns] = sides.map(|side| side as u64);
            equal(period, if is_slow(device) { 4 * 30 } else { 4 * rows * columns })?;
        }
        // It is in its cycle from the start.
        let mut again = with(device, Life::new(sides[0], sides[1]).topology(topology), GLIDER, [1, 2])?;
        again.step(period)?;
        equal(again.cells()? == start, true)?;
        again.step(board.generation() % period)?;
        equal(again.cells()? == board.cells()?, true)?;
    }
    // At the end of a cylinder a glider becomes a block.
    let mut board = with(device, Life::new(12, 24).topology(Topology::Cylinder), GLIDER, [3, 18])?;
    equal(board.run_until_stable(1000)?, Outcome::StillLife)?;
    equal(board.population()?, 4)
}

fn cells_die_out(device: &Device) -> Result<(), Failed> {
    for (text, rule) in [("!", "B3/S23"), ("2o!", "B3/S23"), ("o2$o$o2$3o!", "B3/S23"), ("3o$3o!", "B/S34")] {
        let mut board = with(device, Life::new(20, 70).rule(rule.parse()?), text, [9, 62])?;
        equal((text, board.run_until_stable(100)?), (text, Outcome::Extinct))?;
        equal(board.population()?, 0)?;
    }
    // An empty board is not the end if dead cells without neighbours are born.
    let flashing: Rule = "B0/S".parse()?;
    let mut board = Life::new(20, 70).rule(flashing).prepare(device)?;
    equal(board.run_until_stable(100)?, Outcome::Oscillator { period: 2 })?;
    // Not at the end of a plane, where it stays dead outside.
    let mut board = Life::new(3, 3).rule("B0/S8".parse()?).topology(Topology::Plane).prepare(device)?;
    equal(board.run_until_stable(100)?, expected_of_small_plane()?)
}

/// The period of an empty plane of 3 x 3 cells with the rule `B0/S8`.
fn expected_of_small_plane() -> Result<Outcome, Failed> {
    let (rule, empty) = ("B0/S8".parse()?, slm::ndarray::Array2::from_elem((3, 3), false));
    let (mut all, mut cells) = (Vec::new(), empty);
    while !all.contains(&cells) {
        all.push(cells.clone());
        cells = oracle::next(&cells, rule, Topology::Plane);
    }
    let first = all.iter().position(|earlier| *earlier == cells).unwrap_or(0);
    Ok(match (all.len() - first) as u64 {
        1 => Outcome::StillLife,
        period => Outcome::Oscillator { period },
    })
}

/// A search computes as many generations as allowed, and no more.
fn limits(device: &Device) -> Result<(), Failed> {
    let algorithm = LifeAlgorithm::Auto;
    for limit in [0, 1, 2, 7, 8, 9, 100] {
        // A glider returns after 576 generations.
        let mut board = with(device, Life::new(12, 144).algorithm(algorithm), GLIDER, [3, 3])?;
        board.step(1)?;
        equal(board.run_until_stable(limit)?, Outcome::Unstable)?;
        equal(board.generation(), 1 + limit)?;
        let mut expected = with(device, Life::new(12, 144), GLIDER, [3, 3])?;
        expected.step(1 + limit)?;
        equal(board.cells()? == expected.cells()?, true)?;
    }
    let mut block = with(device, Life::new(12, 12), "2o$2o!", [3, 3])?;
    equal(block.run_until_stable(0)?, Outcome::Unstable)?;
    equal(block.run_until_stable(1)?, Outcome::StillLife)
}

/// The generations at which it is asked are those of the board, and not far apart.
fn searches_end_when_told(device: &Device) -> Result<(), Failed> {
    let sides = if is_slow(device) { [12, 144] } else { [500, 600] };
    for last in [1, 2, 30, if is_slow(device) { 100 } else { 3000 }] {
        // A glider returns after many more generations.
        let mut board = with(device, Life::new(sides[0], sides[1]), GLIDER, [3, 3])?;
        board.step(1)?;
        let mut asked = vec![1];
        let outcome = board.run_until_stable_while(u64::MAX - 1, |generation| {
            asked.push(generation);
            generation < last
        })?;
        equal(outcome, Outcome::Unstable)?;
        equal(asked.last(), Some(&board.generation()))?;
        ensure(asked.windows(2).all(|two| (1..=512).contains(&(two[1] - two[0]))), || format!("{asked:?}"))?;
        ensure(asked[..asked.len() - 1].iter().skip(1).all(|generation| *generation < last), || format!("{asked:?}"))?;
        let mut expected = with(device, Life::new(sides[0], sides[1]), GLIDER, [3, 3])?;
        expected.step(board.generation())?;
        equal(board.cells()? == expected.cells()?, true)?;
    }
    // It is not asked after the end.
    let mut block = with(device, Life::new(12, 12), "2o$2o!", [3, 3])?;
    equal(block.run_until_stable_while(9, |_| false)?, Outcome::StillLife)
}
