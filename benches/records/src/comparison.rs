//! The differences of the last two records of a machine, for each benchmark.

use crate::history::{History, Saved};
use crate::record::{Key, Row};
use std::collections::BTreeMap;
use std::fmt;

/// The differences of two records in a benchmark.
#[derive(Debug)]
pub(crate) struct Comparison<'a> {
    benchmark: &'a str,
    /// `None` if no earlier record has the benchmark: then there are no differences, but the later rows may be wrong.
    earlier: Option<&'a Saved>,
    later: &'a Saved,
    /// Per cent.
    tolerance: f64,
    /// Earlier and later rows of the same cases.
    slower: Vec<[&'a Row; 2]>,
    new: Vec<&'a Row>,
    /// Earlier rows of cases that the later record does not have.
    missing: Vec<&'a Row>,
    /// Later rows whose results are wrong.
    wrong: Vec<&'a Row>,
}

/// Compares the last two records of each benchmark. A case is slower if its median grew by more than `tolerance` per cent.
pub(crate) fn comparisons(history: &History, tolerance: f64) -> impl Iterator<Item = Comparison<'_>> {
    history.benchmarks().filter_map(move |benchmark| {
        let mut last = history.with(benchmark);
        let later = last.next()?;
        Some(Comparison::new(benchmark, last.next(), later, tolerance))
    })
}

impl<'a> Comparison<'a> {
    fn new(benchmark: &'a str, earlier: Option<&'a Saved>, later: &'a Saved, tolerance: f64) -> Self {
        let [before, after] = [earlier.unwrap_or(later), later].map(|saved| by_key(saved, benchmark));
        let is_slower = |[before, after]: &[&Row; 2]| after.median_us > before.median_us * (1.0 + tolerance / 100.0);
        let pairs = after.iter().filter_map(|(key, &row)| Some([*before.get(key)?, row]));
        let only_in = |rows: &BTreeMap<Key<'a>, &'a Row>, others: &BTreeMap<Key<'a>, &'a Row>| {
            rows.iter().filter(|(key, _)| !others.contains_key(*key)).map(|(_, &row)| row).collect()
        };
        Comparison {
            benchmark,
            earlier,
            later,
            tolerance,
            slower: pairs.filter(is_slower).collect(),
            new: only_in(&after, &before),
            missing: only_in(&before, &after),
            wrong: after.into_values().filter(|row| !row.is_right()).collect(),
        }
    }

    /// Returns whether a case became slower, is missing, or is wrong.
    pub(crate) fn is_worse(&self) -> bool {
        !self.slower.is_empty() || !self.missing.is_empty() || !self.wrong.is_empty()
    }

    /// Returns whether only one record has the benchmark.
    pub(crate) fn is_of_one(&self) -> bool {
        self.earlier.is_none()
    }
}

fn by_key<'a>(saved: &'a Saved, benchmark: &str) -> BTreeMap<Key<'a>, &'a Row> {
    saved.record.rows_of(benchmark).map(|row| (row.key(), row)).collect()
}

/// Writes the records, and lists the cases, one per line, in columns separated by tabs.
impl fmt::Display for Comparison<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Comparison { benchmark, earlier, later, tolerance, slower, new, missing, wrong } = self;
        match earlier {
            Some(earlier) => writeln!(f, "# {benchmark}: {earlier} and {later}")?,
            None => writeln!(f, "# {benchmark}: only {later}")?,
        }
        for saved in earlier.iter().chain([later]).filter(|saved| saved.record.incomplete.contains(*benchmark)) {
            writeln!(f, "# {saved} is incomplete")?;
        }
        if earlier.is_none() {
            return list(f, "wrong", wrong);
        }
        writeln!(f, "# slower by more than {tolerance} %: {}", slower.len())?;
        for [before, after] in slower {
            let [before_us, after_us] = [before, after].map(|row| row.median_us);
            let percent = 100.0 * (after_us / before_us - 1.0);
            writeln!(f, "{}\t{before_us} us\t{after_us} us\t+{percent:.1} %", after.key().join("\t"))?;
        }
        [("new", new), ("missing", missing), ("wrong", wrong)]
            .into_iter()
            .try_for_each(|(title, rows)| list(f, title, rows))
    }
}

fn list(f: &mut fmt::Formatter<'_>, title: &str, rows: &[&Row]) -> fmt::Result {
    writeln!(f, "# {title}: {}", rows.len())?;
    rows.iter().try_for_each(|row| writeln!(f, "{}\t{} us", row.key().join("\t"), row.median_us))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::tests::history;
    use crate::record::Record;
    use crate::record::tests::record;

    /// Returns the texts of all comparisons, and whether one is worse.
    fn compared(records: &[Record], tolerance: f64) -> (String, bool) {
        let history = history(records).unwrap();
        let comparisons: Vec<_> = comparisons(&history, tolerance).collect();
        (comparisons.iter().map(Comparison::to_string).collect(), comparisons.iter().any(Comparison::is_worse))
    }

    #[test]
    fn cases_are_slower_new_or_missing() {
        let earlier = record(&[
            ("taps", "n=1", "slm fft", 100.0),
            ("taps", "n=1", "slm direct", 100.0),
            ("taps", "n=2", "slm fft", 100.0),
            ("taps", "n=3", "slm fft", 7.0),
        ]);
        let later = record(&[
            ("taps", "n=0", "slm fft", 9.0),
            ("taps", "n=1", "slm fft", 105.0),
            ("taps", "n=1", "slm direct", 50.0),
            ("taps", "n=2", "slm fft", 105.5),
        ]);
        let (text, is_worse) = compared(&[earlier, later], 5.0);
        assert!(is_worse);
        assert_eq!(
            text,
            "# taps: 0 (f9790374) and 1 (f9790374)\n\
             # slower by more than 5 %: 1\n\
             taps\tn=2\tslm fft\t100 us\t105.5 us\t+5.5 %\n\
             # new: 1\n\
             taps\tn=0\tslm fft\t9 us\n\
             # missing: 1\n\
             taps\tn=3\tslm fft\t7 us\n\
             # wrong: 0\n"
        );
    }

    #[test]
    fn slower_and_missing_cases_are_worse_and_new_ones_are_not() {
        let rows = [("taps", "n=1", "slm fft", 100.0), ("taps", "n=2", "slm fft", 100.0)];
        let (few, all) = (record(&rows[..1]), record(&rows));
        let slower = record(&[("taps", "n=1", "slm fft", 105.5)]);
        let is_worse = |records: [&Record; 2], tolerance| compared(&records.map(Record::clone), tolerance).1;
        assert!(is_worse([&few, &slower], 5.0));
        assert!(!is_worse([&few, &slower], 6.0));
        assert!(is_worse([&all, &few], 5.0));
        assert!(!is_worse([&few, &all], 5.0));
    }

    #[test]
    fn each_benchmark_has_its_own_last_two_records() {
        let life = |median_us| ("life", "n=1", "slm auto", median_us);
        let taps = |median_us| ("taps", "n=1", "slm fft", median_us);
        let records = [record(&[life(1.0), taps(1.0)]), record(&[life(2.0)]), record(&[taps(1.0)])];
        let (text, is_worse) = compared(&records, 5.0);
        assert!(is_worse);
        assert_eq!(
            text,
            "# life: 0 (f9790374) and 1 (f9790374)\n\
             # slower by more than 5 %: 1\n\
             life\tn=1\tslm auto\t1 us\t2 us\t+100.0 %\n\
             # new: 0\n# missing: 0\n# wrong: 0\n\
             # taps: 0 (f9790374) and 2 (f9790374)\n\
             # slower by more than 5 %: 0\n# new: 0\n# missing: 0\n# wrong: 0\n"
        );
    }

    #[test]
    fn incomplete_benchmarks_are_told() {
        let mut earlier = record(&[("taps", "n=1", "slm fft", 1.0)]);
        let later = earlier.clone();
        earlier.incomplete.extend(["life".to_owned(), "taps".to_owned()]);
        let (text, is_worse) = compared(&[earlier, later], 5.0);
        assert!(!is_worse);
        let heading = "# taps: 0 (f9790374) and 1 (f9790374)\n# 0 (f9790374) is incomplete\n# slower";
        assert!(text.starts_with(heading), "{text}");
    }

    #[test]
    fn a_benchmark_of_one_record_has_no_differences() {
        let history = history(&[record(&[("taps", "n=1", "slm fft", 1.0)]), record(&[])]).unwrap();
        let all: Vec<_> = comparisons(&history, 5.0).collect();
        assert!(all[0].is_of_one() && !all[0].is_worse());
        assert_eq!(all[0].to_string(), "# taps: only 0 (f9790374)\n# wrong: 0\n");
    }

    #[test]
    fn wrong_cases_are_worse() {
        let mut record = record(&[("taps", "n=1", "slm fft", 2.0)]);
        record.rows[0].verdict = "WRONG 7 differ".to_owned();
        for records in [vec![record.clone()], vec![record.clone(), record]] {
            let (text, is_worse) = compared(&records, 5.0);
            assert!(is_worse);
            assert!(text.ends_with("# wrong: 1\ntaps\tn=1\tslm fft\t2 us\n"));
        }
    }
}
