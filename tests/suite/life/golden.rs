//! Comparison with SciPy: `golden.json`, written by `golden.py`.

use super::{SUITE, algorithms, same};
use crate::common::golden::{cases, list};
use crate::common::on_every_backend;
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use slm::life::{Rule, Topology};
use slm::ndarray::Array2;
use slm::{Device, Life};
use slm_test_support::life::TOPOLOGIES;

const FILE: &str = include_str!("golden.json");

/// The file's number of cases.
const CASES: usize = 24;

pub(super) fn trials() -> Vec<Trial> {
    read_file().unwrap_or_else(|error| vec![Trial::test("life::golden::file", move || Err(error))])
}

/// Returns the trials: one for each topology and backend, with all its boards.
fn read_file() -> Result<Vec<Trial>, Failed> {
    let cases = cases(FILE, CASES)?;
    let of_topology = |topology: Topology| {
        let name = format!("{topology:?}");
        let cases: Vec<Value> = cases.iter().filter(|case| case["topology"] == *name).cloned().collect();
        on_every_backend(SUITE, &format!("golden::{}", name.to_lowercase()), move |device| {
            if cases.is_empty() {
                return Err("the file has no such case".into());
            }
            cases.iter().try_for_each(|case| check(device, topology, case))
        })
    };
    Ok(TOPOLOGIES.into_iter().flat_map(of_topology).collect())
}

fn check(device: &Device, topology: Topology, case: &Value) -> Result<(), Failed> {
    let rule: Rule = case["rule"].as_str().ok_or("no rule")?.parse()?;
    let generations = case["generations"].as_u64().ok_or("no number of generations")?;
    let (first, last) = (cells(case, "first")?, cells(case, "last")?);
    let (rows, columns) = first.dim();
    for &algorithm in algorithms(device) {
        let life = Life::new(rows, columns).rule(rule).topology(topology).algorithm(algorithm);
        let mut board = life.prepare(device)?;
        board.set_cells(first.view())?;
        board.step(generations)?;
        same(&board.cells()?, &last).map_err(|error| {
            format!("{rows} x {columns}, {rule}, {generations} generations, {algorithm:?}: {error}")
        })?;
    }
    Ok(())
}

fn cells(case: &Value, key: &str) -> Result<Array2<bool>, Failed> {
    let lines: Vec<&str> = list(case, key)?.iter().filter_map(Value::as_str).collect();
    let columns = lines.first().map_or(0, |line| line.len());
    let cells = lines.concat().chars().map(|cell| cell == 'O').collect();
    Ok(Array2::from_shape_vec((lines.len(), columns), cells)?)
}
