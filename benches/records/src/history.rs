//! The records of one machine. A record may have only some benchmarks, so each benchmark has its own last record.

use crate::error::{Error, Result};
use crate::record::Record;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

/// Records of one machine, at least one.
#[derive(Debug)]
pub(crate) struct History {
    /// In the order of their dates.
    earlier: Vec<Saved>,
    last: Saved,
}

/// A record and its path.
#[derive(Debug)]
pub(crate) struct Saved {
    pub(crate) path: PathBuf,
    pub(crate) record: Record,
}

impl History {
    /// Reads records of one machine, the earlier ones in the order of their dates.
    pub(crate) fn read(earlier: &[PathBuf], last: &Path) -> Result<Self> {
        Self::new(earlier.iter().map(|path| Saved::read(path)).collect::<Result<_>>()?, Saved::read(last)?)
    }

    fn new(earlier: Vec<Saved>, last: Saved) -> Result<Self> {
        let name = last.record.machine.name();
        if let Some(other) = earlier.iter().map(|saved| saved.record.machine.name()).find(|other| *other != name) {
            return Err(Error::DifferentMachines { earlier: other.to_owned(), later: name.to_owned() });
        }
        Ok(History { earlier, last })
    }

    /// Returns the names of all benchmarks.
    pub(crate) fn benchmarks(&self) -> impl Iterator<Item = &str> {
        let rows = self.latest_first().flat_map(|saved| &saved.record.rows);
        rows.map(|row| row.benchmark.as_str()).collect::<BTreeSet<_>>().into_iter()
    }

    /// Returns the records that have a benchmark, the latest first.
    pub(crate) fn with<'a>(&'a self, benchmark: &'a str) -> impl Iterator<Item = &'a Saved> {
        self.latest_first().filter(move |saved| saved.record.rows_of(benchmark).next().is_some())
    }

    fn latest_first(&self) -> impl Iterator<Item = &Saved> {
        [&self.last].into_iter().chain(self.earlier.iter().rev())
    }

    /// Returns the last record, but with the rows of each benchmark's own last record.
    pub(crate) fn newest(&self) -> Record {
        let rows_of = |benchmark| self.with(benchmark).take(1).flat_map(move |saved| saved.record.rows_of(benchmark));
        let rows = self.benchmarks().flat_map(rows_of).cloned().collect();
        Record { rows, ..self.last.record.clone() }
    }

    /// Returns the folder of the last record.
    pub(crate) fn folder(&self) -> &Path {
        self.last.path.parent().unwrap_or(Path::new(""))
    }
}

impl Saved {
    fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(|error| Error::Read { path: path.to_owned(), error })?;
        let record = Record::from_text(&text).map_err(|error| Error::Record { path: path.to_owned(), error })?;
        Ok(Saved { path: path.to_owned(), record })
    }
}

/// Writes the path and the commit.
impl fmt::Display for Saved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.path.display(), self.record.commit)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::record::tests::record;

    /// Returns a history whose records have the paths `0`, `1` and so on.
    pub(crate) fn history(records: &[Record]) -> Result<History> {
        let saved = |(i, record): (usize, &Record)| Saved { path: i.to_string().into(), record: record.clone() };
        let mut saved: Vec<_> = records.iter().enumerate().map(saved).collect();
        let last = saved.pop().expect("a history has a record");
        History::new(saved, last)
    }

    #[test]
    fn each_benchmark_has_its_own_last_record() {
        let history = history(&[
            record(&[
                ("life", "n=1", "slm auto", 3.0),
                ("life", "n=2", "slm auto", 3.0),
                ("taps", "n=1", "slm fft", 4.0),
            ]),
            record(&[("life", "n=1", "slm auto", 2.0)]),
            Record { commit: "last".to_owned(), ..record(&[("queues", "one", "slm apply_into", 1.0)]) },
        ])
        .unwrap();
        let paths = |benchmark| history.with(benchmark).map(|saved| saved.path.to_str().unwrap()).collect::<Vec<_>>();
        assert_eq!(history.benchmarks().collect::<Vec<_>>(), ["life", "queues", "taps"]);
        assert_eq!(paths("life"), ["1", "0"]);
        assert_eq!(paths("taps"), ["0"]);
        assert_eq!(paths("rank2d"), [""; 0]);
        let newest = history.newest();
        let rows: Vec<_> = newest.rows.iter().map(|row| (row.benchmark.as_str(), row.median_us)).collect();
        assert_eq!(rows, [("life", 2.0), ("queues", 1.0), ("taps", 4.0)]);
        assert_eq!(newest.commit, "last");
    }

    #[test]
    fn a_history_is_of_one_machine() {
        let earlier = record(&[]);
        let mut later = earlier.clone();
        later.machine.gpu = Some("NVIDIA H100".to_owned());
        let error = history(&[earlier, later]).unwrap_err();
        assert_eq!(error.to_string(), "the records are of different machines: NVIDIA H200 and NVIDIA H100");
    }
}
