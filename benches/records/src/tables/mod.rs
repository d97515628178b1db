//! Reads the tables that `peers/run.sh` and `PROGRAM --table` print, several in one text or in several.
//!
//! A comment `# benchmark: NAME` is before the tables of a benchmark, a comment with the names of the columns before the rows of each
//! program, and `# complete` after them: a table without it is that of a program that was stopped. Other comments may have facts about the
//! machine and the run.

mod columns;
mod facts;

pub(crate) use columns::LineError;
pub(crate) use facts::Facts;

use crate::error::{Error, Result};
use crate::record::{Record, Row};
use columns::Columns;
use std::collections::{BTreeSet, HashMap};

/// What tables contain.
#[derive(Debug)]
pub(crate) struct Tables {
    /// What the user said, which wins.
    given: Facts,
    may_be_incomplete: bool,
    found: Facts,
    commands: Vec<String>,
    /// Benchmarks with a table that has no end.
    incomplete: BTreeSet<String>,
    rows: Vec<Row>,
    /// Where each row was read, by its key.
    places: HashMap<[String; 3], String>,
}

impl Tables {
    pub(crate) fn new(given: Facts, may_be_incomplete: bool) -> Self {
        Tables {
            given,
            may_be_incomplete,
            found: Facts::default(),
            commands: Vec::new(),
            incomplete: BTreeSet::new(),
            rows: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// Adds the tables of a text. `file` is its name in errors.
    pub(crate) fn read(&mut self, file: &str, text: &str) -> Result<()> {
        let (mut benchmark, mut columns, mut open) = (None, None, None);
        for (i, line) in text.lines().enumerate() {
            let error = |error| Error::Line { file: file.to_owned(), line: i + 1, error };
            if let Some(comment) = line.strip_prefix('#') {
                let comment = comment.trim();
                if let Some(name) = comment.strip_prefix("benchmark: ") {
                    self.close(file, open.take())?;
                    (benchmark, columns) = (Some(name), None);
                } else if let Some(names) = Columns::of(comment) {
                    self.close(file, open.take())?;
                    columns = Some(names.map_err(error)?);
                    open = benchmark.map(|benchmark| (i + 1, benchmark));
                } else if comment == "complete" || comment.starts_with("complete: ") {
                    open = None;
                } else {
                    self.comment(comment)?;
                }
            } else if !line.trim().is_empty() {
                let benchmark = benchmark.ok_or(LineError::NoBenchmark).map_err(error)?;
                let columns = columns.as_ref().ok_or(LineError::NoColumns).map_err(error)?;
                let row = columns.row(benchmark, line).map_err(error)?;
                let place = format!("{file}, line {}", i + 1);
                if let Some(first) = self.places.insert(row.key().map(str::to_owned), place) {
                    return Err(error(LineError::Repeated { first }));
                }
                self.rows.push(row);
            }
        }
        self.close(file, open)
    }

    /// Ends a table. `open` has its line and its benchmark, unless the table has said that it is complete.
    fn close(&mut self, file: &str, open: Option<(usize, &str)>) -> Result<()> {
        match open {
            Some((line, benchmark)) if !self.may_be_incomplete => {
                Err(Error::Incomplete { file: file.to_owned(), line, benchmark: benchmark.to_owned() })
            }
            open => {
                self.incomplete.extend(open.map(|(_, benchmark)| benchmark.to_owned()));
                Ok(())
            }
        }
    }

    fn comment(&mut self, comment: &str) -> Result<()> {
        match comment.strip_prefix("command: ") {
            Some(command) if self.commands.iter().any(|known| known == command) => Ok(()),
            Some(command) => {
                self.commands.push(command.to_owned());
                Ok(())
            }
            None => self.found.add(Facts::of(comment), &self.given),
        }
    }

    pub(crate) fn into_record(mut self) -> Result<Record> {
        if self.rows.is_empty() {
            return Err(Error::NoRows);
        }
        self.rows.sort_by(|a, b| a.key().cmp(&b.key()));
        let (machine, date, commit) = self.given.or(self.found).complete()?;
        let Tables { commands, incomplete, rows, .. } = self;
        Ok(Record { machine, date, commit, commands, incomplete, rows })
    }
}

/// What the benchmarks print tables with.
#[cfg(test)]
#[path = "../../../common/table.rs"]
#[expect(dead_code, reason = "only the text of lines is tested")]
mod printed;

#[cfg(test)]
mod tests {
    use super::printed::{END, Times, heading, line};
    use super::*;
    use std::time::Duration;

    /// As `run.sh` prints it, shortened.
    const FILTER: &str = "\
# 2026-11-28T10:00:00Z, commit f9790374
# benchmark: filter1d
# command: bench-filter1d --table
# slm 0.1.0 on cuda:0, NVIDIA H200; 67108864 samples, 257 taps
# peer\tcase\tmedian_us\tbytes_per_s\tmultiply_adds_per_s\tcheck
slm register-tiled\tf32 n=67108864 taps=257\t612.50\t8.7652e11\t2.8158e13\tok error 1.2e-7
slm copy\tf32 n=67108864 taps=257\t130.00\t4.1298e12\t0.0000e0\tok exact
# register-tiled on 8192 blocks
# complete
# complete: bench-filter1d --table took 9 s
# command: filter1d
# GPU: NVIDIA H200, 132 multiprocessors, up to 1980 MHz
# driver: NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build
# peer\tcase\tmedian_us\tbytes_per_s\tmultiply_adds_per_s\tcheck
CUDA copy\tf32 n=67108864 taps=257\t131.00\t4.098e+12\t0\tok exact
# complete: filter1d took 3 s
";

    /// As `PROGRAM --table` prints it.
    const TAPS: &str = "\
# benchmark: taps
# command: bench-taps
# slm 0.1.0 on cuda:0, NVIDIA H200; median of 15 runs
# peer\tcase\tmedian_us\tspread_us\tbytes_per_s\tcheck

slm fft\tf32 n=1x1024 axis=1 taps=3\t9.50\t0.25\t8.6e8\t
# complete
";

    fn read(texts: &[&str]) -> Result<Tables> {
        let mut tables = Tables::new(Facts::default(), false);
        texts.iter().try_for_each(|text| tables.read("t.tsv", text))?;
        Ok(tables)
    }

    fn message(text: &str) -> String {
        read(&[text]).map(drop).unwrap_err().to_string()
    }

    #[test]
    fn a_record_has_the_facts_and_the_rows_in_order() {
        let record = read(&[FILTER, TAPS]).unwrap().into_record().unwrap();
        assert_eq!(record.machine.gpu.as_deref(), Some("NVIDIA H200"));
        assert_eq!(record.machine.driver.as_deref(), Some("580.65.06"));
        assert_eq!((record.date.as_str(), record.commit.as_str()), ("2026-11-28", "f9790374"));
        assert_eq!(record.commands, ["bench-filter1d --table", "filter1d", "bench-taps"]);
        assert!(record.incomplete.is_empty());
        let peers: Vec<_> = record.rows.iter().map(|row| row.peer.as_str()).collect();
        assert_eq!(peers, ["CUDA copy", "slm copy", "slm register-tiled", "slm fft"]);
        let [.., filter, fft] = &record.rows[..] else { panic!("four rows") };
        assert_eq!((filter.benchmark.as_str(), filter.median_us, filter.spread_us), ("filter1d", 612.5, None));
        assert_eq!(filter.rates["bytes_per_s"], 8.7652e11);
        assert_eq!(filter.rates["multiply_adds_per_s"], 2.8158e13);
        assert_eq!(filter.verdict, "ok error 1.2e-7");
        assert_eq!((fft.benchmark.as_str(), fft.spread_us, fft.verdict.as_str()), ("taps", Some(0.25), ""));
    }

    #[test]
    fn one_text_with_several_tables_is_the_same_as_several_texts() {
        let joined = read(&[&format!("{FILTER}{TAPS}")]).unwrap().into_record().unwrap();
        assert_eq!(joined, read(&[FILTER, TAPS]).unwrap().into_record().unwrap());
    }

    #[test]
    fn the_order_of_texts_does_not_change_the_rows() {
        let [one, other] = [[FILTER, TAPS], [TAPS, FILTER]].map(|texts| read(&texts).unwrap().into_record().unwrap());
        assert_eq!(one.rows, other.rows);
    }

    #[test]
    fn rows_belong_to_a_benchmark_and_have_columns() {
        assert_eq!(message("\nslm copy\tf32\t1.0\t"), "t.tsv, line 2: no line `# benchmark: NAME` is before this row");
        assert_eq!(
            message("# benchmark: taps\nslm copy\tf32\t1.0\t"),
            "t.tsv, line 2: no line with the names of the columns is before this row"
        );
        // Columns of one benchmark are not those of the next one.
        let text = format!("{TAPS}# benchmark: life\nslm copy\tf32\t1.0\t2.0\t3.0\t");
        assert_eq!(message(&text), "t.tsv, line 9: no line with the names of the columns is before this row");
    }

    #[test]
    fn the_spread_is_the_distance_of_the_quartiles() {
        let times = |micros: &[u64]| {
            let mut times: Vec<_> = micros.iter().copied().map(Duration::from_micros).collect();
            let Times { median, spread } = Times::of(&mut times);
            [median, spread].map(|time| time.as_micros())
        };
        assert_eq!(times(&[7]), [7, 0]);
        assert_eq!(times(&[9, 1, 5, 4, 2000]), [5, 5]);
        assert_eq!(times(&[30, 10, 11, 12, 13, 14, 15, 16, 990]), [14, 4]);
    }

    #[test]
    fn lines_of_benchmarks_are_rows_with_their_spread() {
        let mut runs = [900, 905, 903, 901, 990].map(Duration::from_micros);
        let row = line("fft", "f32 n=8", Times::of(&mut runs), &[903, 1806], "ok exact");
        let text = ["# benchmark: taps", &heading(&["bytes_per_s", "samples_per_s"]), &row, END].join("\n");
        let rows = read(&[&text]).unwrap().rows;
        assert_eq!(rows[0].key(), ["taps", "f32 n=8", "slm fft"]);
        assert_eq!((rows[0].median_us, rows[0].spread_us, rows[0].verdict.as_str()), (903.0, Some(4.0), "ok exact"));
        assert_eq!(rows[0].rates, [("bytes_per_s".to_owned(), 1e6), ("samples_per_s".to_owned(), 2e6)].into());
    }

    #[test]
    fn malformed_rows_are_told_by_their_lines() {
        let broken = |from: &str, to: &str| {
            assert!(FILTER.contains(from));
            message(&FILTER.replacen(from, to, 1))
        };
        assert_eq!(broken("\t612.50", ""), "t.tsv, line 6: the row has 5 columns instead of 6");
        assert_eq!(broken("612.50", "6l2.50"), "t.tsv, line 6: median_us is \"6l2.50\", which is not a time or rate");
        assert_eq!(broken("8.7652e11", "inf"), "t.tsv, line 6: bytes_per_s is \"inf\", which is not a time or rate");
        assert_eq!(broken("130.00", "-130.00"), "t.tsv, line 7: median_us is \"-130.00\", which is not a time or rate");
        assert_eq!(broken("bytes_per_s", "bytes"), "t.tsv, line 5: the column \"bytes\" is unknown");
        assert_eq!(broken("\tcheck", ""), "t.tsv, line 5: the last column is not `check`");
    }

    #[test]
    fn tables_without_an_end_are_refused_unless_they_are_asked_for() {
        let end = "# complete\n";
        let cut = TAPS.strip_suffix(end).unwrap();
        let error = |line| {
            format!(
                "t.tsv, line {line}: the table of taps has no line `# complete`: measure it again, or give --incomplete"
            )
        };
        assert_eq!(message(cut), error(4));
        // At the next benchmark, and at the columns of the next program.
        assert_eq!(message(&format!("{cut}{FILTER}")), error(4));
        let columns = TAPS.lines().find(|line| line.starts_with("# peer")).unwrap();
        assert_eq!(message(&format!("{cut}{columns}\n{end}")), error(4));
        assert_eq!(message(&format!("{TAPS}{columns}\n")), error(8));
        let mut tables = Tables::new(Facts::default(), true);
        tables.read("filter1d.tsv", FILTER).unwrap();
        tables.read("taps.tsv", cut).unwrap();
        let record = tables.into_record().unwrap();
        assert_eq!(record.incomplete, ["taps".to_owned()].into());
        assert_eq!(record.rows, read(&[FILTER, TAPS]).unwrap().into_record().unwrap().rows);
    }

    #[test]
    fn a_row_is_there_once() {
        let error = read(&[FILTER, FILTER]).map(drop).unwrap_err();
        assert_eq!(error.to_string(), "t.tsv, line 6: this case of this peer is also in t.tsv, line 6");
    }

    #[test]
    fn a_text_without_rows_is_no_record() {
        assert!(matches!(read(&["# benchmark: taps\n"]).unwrap().into_record(), Err(Error::NoRows)));
    }

    #[test]
    fn tables_of_two_machines_are_not_one_record() {
        let error = read(&[FILTER, &TAPS.replace("H200", "H100")]).map(drop).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the tables differ in gpu: NVIDIA H200 and NVIDIA H100; make a record of each, or give --gpu"
        );
    }

    #[test]
    fn given_facts_win() {
        let given = Facts {
            gpu: Some("H".into()),
            commit: Some("c".into()),
            date: Some("2026-01-02".into()),
            ..Facts::default()
        };
        let mut tables = Tables::new(given, false);
        tables.read("t.tsv", FILTER).unwrap();
        tables.read("t.tsv", &TAPS.replace("H200", "H100")).unwrap();
        let record = tables.into_record().unwrap();
        assert_eq!((record.machine.name(), record.commit.as_str(), record.date.as_str()), ("H", "c", "2026-01-02"));
    }
}
