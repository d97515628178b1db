//! A record: what was measured, on which machine, and the medians.
//!
//! Its text has one row per line, in the order of benchmarks, cases and peers, so that a difference of two records is readable.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    pub(crate) machine: Machine,
    /// As `YYYY-MM-DD`.
    pub(crate) date: String,
    pub(crate) commit: String,
    /// Command lines of the programs.
    pub(crate) commands: Vec<String>,
    /// Benchmarks of which a program was stopped before the end of its table.
    #[serde(default)]
    pub(crate) incomplete: BTreeSet<String>,
    pub(crate) rows: Vec<Row>,
}

/// A machine has the name of its GPU, or of its CPU if only the CPU was measured.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Machine {
    pub(crate) gpu: Option<String>,
    pub(crate) driver: Option<String>,
    pub(crate) cpu: Option<String>,
}

/// A line of a table.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) benchmark: String,
    pub(crate) case: String,
    pub(crate) peer: String,
    pub(crate) median_us: f64,
    /// Distance between the quartiles of the times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) spread_us: Option<f64>,
    /// By the names of their columns.
    pub(crate) rates: BTreeMap<String, f64>,
    pub(crate) verdict: String,
}

/// Benchmark, case and peer: no two rows of a record have the same ones.
pub(crate) type Key<'a> = [&'a str; 3];

impl Machine {
    pub(crate) fn name(&self) -> &str {
        self.gpu.as_deref().or(self.cpu.as_deref()).unwrap_or("unknown")
    }
}

impl Row {
    pub(crate) fn key(&self) -> Key<'_> {
        [&self.benchmark, &self.case, &self.peer]
    }

    pub(crate) fn is_right(&self) -> bool {
        !self.verdict.starts_with("WRONG")
    }
}

impl Record {
    /// Returns the rows of a benchmark.
    pub(crate) fn rows_of(&self, benchmark: &str) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.benchmark == benchmark)
    }

    pub(crate) fn from_text(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    pub(crate) fn to_text(&self) -> String {
        let Record { machine, date, commit, commands, incomplete, rows } = self;
        let incomplete =
            if incomplete.is_empty() { String::new() } else { format!("\"incomplete\": {},\n", json(incomplete)) };
        format!(
            "{{\n\"machine\": {},\n\"date\": {},\n\"commit\": {},\n\"commands\": {},\n{incomplete}\"rows\": {}\n}}\n",
            json(machine),
            json(date),
            json(commit),
            lines(commands),
            lines(rows)
        )
    }
}

/// Returns an array with one item per line.
fn lines(items: &[impl Serialize]) -> String {
    let items: Vec<_> = items.iter().map(json).collect();
    if items.is_empty() { "[]".to_owned() } else { format!("[\n{}\n]", items.join(",\n")) }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings and numbers have a representation")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a record with rows of a benchmark, a case, a peer and a median.
    pub(crate) fn record(rows: &[(&str, &str, &str, f64)]) -> Record {
        let row = |&(benchmark, case, peer, median_us): &(&str, &str, &str, f64)| Row {
            benchmark: benchmark.to_owned(),
            case: case.to_owned(),
            peer: peer.to_owned(),
            median_us,
            spread_us: None,
            rates: BTreeMap::new(),
            verdict: "ok".to_owned(),
        };
        Record { rows: rows.iter().map(row).collect(), ..Record::from_text(TEXT).unwrap() }
    }

    const TEXT: &str = r#"{
"machine": {"gpu":"NVIDIA H200","driver":"580.65.06","cpu":null},
"date": "2026-11-28",
"commit": "f9790374",
"commands": [
"bench-life --table"
],
"rows": [
{"benchmark":"life","case":"100 x 100","peer":"slm \"tile\"","median_us":1093.7,"rates":{"cells_per_s":9.3647e9},"verdict":"ok"},
{"benchmark":"life","case":"200 x 200","peer":"slm tile","median_us":0.1,"spread_us":0.03,"rates":{},"verdict":""}
]
}
"#;

    #[test]
    fn a_record_that_is_read_and_written_is_the_same() {
        let record = Record::from_text(TEXT).unwrap();
        assert_eq!(record.rows[0].rates["cells_per_s"], 9.3647e9);
        assert_eq!(record.rows[0].peer, "slm \"tile\"");
        assert_eq!(record.rows[1].spread_us, Some(0.03));
        assert_eq!(record.to_text(), TEXT.replace("9.3647e9", "9364700000.0"));
        assert_eq!(Record::from_text(&record.to_text()).unwrap(), record);
    }

    #[test]
    fn a_record_says_what_is_incomplete() {
        let text =
            TEXT.replace("\"rows\"", "\"incomplete\": [\"life\"],\n\"rows\"").replace("9.3647e9", "9364700000.0");
        let record = Record::from_text(&text).unwrap();
        assert_eq!(record.incomplete, ["life".to_owned()].into());
        assert_eq!(record.to_text(), text);
    }

    #[test]
    fn a_record_without_commands_is_valid() {
        let record = Record { commands: Vec::new(), rows: Vec::new(), ..Record::from_text(TEXT).unwrap() };
        assert_eq!(Record::from_text(&record.to_text()).unwrap(), record);
    }

    #[test]
    fn a_record_lacks_nothing() {
        let error = Record::from_text(&TEXT.replace("\"verdict\"", "\"check\"")).unwrap_err();
        assert_eq!(error.line(), 9);
        assert!(Record::from_text(&TEXT.replace("\"date\"", "\"day\"")).is_err());
    }

    #[test]
    fn a_machine_has_the_name_of_what_was_measured() {
        let machine = |gpu: Option<&str>, cpu: Option<&str>| Machine {
            gpu: gpu.map(str::to_owned),
            driver: None,
            cpu: cpu.map(str::to_owned),
        };
        assert_eq!(machine(Some("H200"), Some("EPYC")).name(), "H200");
        assert_eq!(machine(None, Some("EPYC")).name(), "EPYC");
    }
}
