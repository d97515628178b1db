//! The table of driver calls that fail, which the guide has for operators: it has all calls, and its cells are what operations return.

use super::IN_PARTS;
use super::operations::OPERATIONS;
use crate::common::{ensure, equal};
use libtest_mimic::Failed;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

const PAGE: &str = include_str!("../../../../host/guide/operators.md");

/// The declarations of all driver functions that this workspace calls.
const DECLARATIONS: &str = include_str!("../../../../crates/cuda_driver/src/api.rs");

/// The title of the table's columns.
const TITLE: &str = "| call | out of memory | launch failed | context lost | trial |";

/// The trial of calls whose results are kept for the life of the process, so that no operation can fail in them twice.
const BROKEN_DRIVER: &str = "a_broken_driver_is_an_error";

/// The operation that needs a feature.
const OF_CUST: &str = "programs";

/// What trials have seen: their names, and the outcomes of calls by the column of the fault.
static SEEN: Mutex<(BTreeSet<String>, BTreeSet<Outcome>)> = Mutex::new((BTreeSet::new(), BTreeSet::new()));

/// A call, the column of a fault, and what has come of it.
type Outcome = (String, usize, String);

/// A row of the table: what comes of each kind of fault, and the trial that has them all, or why there is none.
struct Row {
    cells: [String; 3],
    trial: String,
}

impl Row {
    fn outcomes(&self, column: usize) -> impl Iterator<Item = &str> {
        self.cells[column].split(", ")
    }
}

/// Returns the rows by call.
fn rows() -> BTreeMap<&'static str, Row> {
    let table = PAGE.split_once(TITLE).expect("the page has the table").1;
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &'static str| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(|cell| cell.trim()).collect();
        let [call, memory, launch, context, trial] = cells[..] else { panic!("{line}") };
        let cells = [memory, launch, context].map(|cell| cell.replace(['`', '*'], ""));
        (call.trim_matches('`'), Row { cells, trial: trial.replace('`', "") })
    };
    rows.map(row).collect()
}

/// Checks that the table has a row for each call, and that the trials exist.
pub(super) fn has_all_calls() -> Result<(), Failed> {
    let names = DECLARATIONS.lines().filter_map(|line| line.trim_start().strip_prefix("fn cu")?.split_once('('));
    let declared: BTreeSet<_> = names.map(|(name, _)| format!("cu{name}")).collect();
    let rows = rows();
    equal(rows.keys().map(|call| (*call).to_owned()).collect::<BTreeSet<_>>(), declared)?;
    rows.iter().try_for_each(|(call, row)| {
        let is_trial = trials().any(|name| name == row.trial) || [BROKEN_DRIVER, OF_CUST].contains(&&*row.trial);
        ensure(is_trial || row.trial.starts_with("none: "), || format!("{call}: there is no trial {}", row.trial))
    })
}

/// The names of the trials that compare outcomes with the table.
fn trials() -> impl Iterator<Item = &'static str> {
    OPERATIONS.iter().map(|(name, _)| *name).chain([IN_PARTS])
}

/// Checks the faults of an operation, a line for each: the table has what came of them, and those of the rows that name the operation have
/// occurred. The last trial of all checks that every outcome in the table has occurred.
pub(super) fn check(operation: &str, printed: &str) -> Result<(), Failed> {
    let rows = rows();
    let mut seen = BTreeSet::new();
    for line in printed.lines() {
        let [fault, call, outcome] = line.splitn(3, ": ").collect::<Vec<_>>()[..] else { return Err(line.into()) };
        let column = match fault {
            "out of memory" | "out of resources" => 0,
            "launch failed" => 1,
            _ => 2,
        };
        let row = rows.get(call).ok_or_else(|| format!("{call} has no row"))?;
        let is_documented = row.outcomes(column).any(|documented| documented == outcome);
        ensure(is_documented, || format!("{line}, and the table has '{}'", row.cells[column]))?;
        seen.insert((call.to_owned(), column, outcome.to_owned()));
    }
    let own = rows.iter().filter(|(_, row)| row.trial == operation);
    let cells = own.flat_map(|(call, _)| (0..3).map(move |column| (*call, column)));
    let has = |cell: &(&str, usize)| seen.iter().any(|(call, column, _)| (&**call, *column) == *cell);
    let missing: Vec<_> = cells.filter(|cell| !has(cell)).collect();
    ensure(missing.is_empty(), || format!("not tested: {missing:?}"))?;
    let (names, all) = &mut *SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    names.insert(operation.to_owned());
    all.append(&mut seen);
    if trials().all(|name| names.contains(name)) { have_occurred(&rows, all) } else { Ok(()) }
}

/// Checks that every outcome in the table has occurred in some trial.
fn have_occurred(rows: &BTreeMap<&'static str, Row>, seen: &BTreeSet<Outcome>) -> Result<(), Failed> {
    let tested = rows.iter().filter(|(_, row)| trials().any(|name| name == row.trial));
    let documented = tested.flat_map(|(call, row)| {
        (0..3).flat_map(move |column| {
            row.outcomes(column).map(move |outcome| ((*call).to_owned(), column, outcome.to_owned()))
        })
    });
    let missing: Vec<_> = documented.filter(|outcome| !seen.contains(outcome)).collect();
    ensure(missing.is_empty(), || format!("no trial has had: {missing:?}"))
}
