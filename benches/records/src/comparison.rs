//! The differences of two records of one machine.

use crate::error::{Error, Result};
use crate::record::{Key, Record, Row};
use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug)]
pub(crate) struct Comparison<'a> {
    tolerance: f64,
    /// Earlier and later rows of the same cases.
    slower: Vec<[&'a Row; 2]>,
    new: Vec<&'a Row>,
    missing: Vec<&'a Row>,
    /// Later rows whose results are wrong.
    wrong: Vec<&'a Row>,
}

impl<'a> Comparison<'a> {
    /// Compares two records. A case is slower if its median grew by more than `tolerance` per cent.
    pub(crate) fn new(earlier: &'a Record, later: &'a Record, tolerance: f64) -> Result<Self> {
        let [before, after] = [earlier, later].map(|record| record.machine.name());
        if before != after {
            return Err(Error::DifferentMachines { earlier: before.to_owned(), later: after.to_owned() });
        }
        let [before, after] = [earlier, later].map(by_key);
        let is_slower = |[before, after]: &[&Row; 2]| after.median_us > before.median_us * (1.0 + tolerance / 100.0);
        let pairs = after.iter().filter_map(|(key, &row)| Some([*before.get(key)?, row]));
        let only_in = |rows: &BTreeMap<Key<'a>, &'a Row>, others: &BTreeMap<Key<'a>, &'a Row>| {
            rows.iter().filter(|(key, _)| !others.contains_key(*key)).map(|(_, &row)| row).collect()
        };
        Ok(Comparison {
            tolerance,
            slower: pairs.filter(is_slower).collect(),
            new: only_in(&after, &before),
            missing: only_in(&before, &after),
            wrong: later.rows.iter().filter(|row| !row.is_right()).collect(),
        })
    }

    /// Returns whether a case became slower or is wrong.
    pub(crate) fn is_worse(&self) -> bool {
        !self.slower.is_empty() || !self.wrong.is_empty()
    }
}

fn by_key(record: &Record) -> BTreeMap<Key<'_>, &Row> {
    record.rows.iter().map(|row| (row.key(), row)).collect()
}

/// Lists the cases, one per line, in columns separated by tabs.
impl fmt::Display for Comparison<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Comparison { tolerance, slower, new, missing, wrong } = self;
        writeln!(f, "# slower by more than {tolerance} %: {}", slower.len())?;
        for [before, after] in slower {
            let [before_us, after_us] = [before, after].map(|row| row.median_us);
            let percent = 100.0 * (after_us / before_us - 1.0);
            writeln!(f, "{}\t{before_us} us\t{after_us} us\t+{percent:.1} %", after.key().join("\t"))?;
        }
        for (title, rows) in [("new", new), ("missing", missing), ("wrong", wrong)] {
            writeln!(f, "# {title}: {}", rows.len())?;
            rows.iter().try_for_each(|row| writeln!(f, "{}\t{} us", row.key().join("\t"), row.median_us))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::record;

    #[test]
    fn cases_are_slower_new_or_missing() {
        let earlier = record(&[
            ("taps", "n=1", "slm fft", 100.0),
            ("taps", "n=1", "slm direct", 100.0),
            ("taps", "n=2", "slm fft", 100.0),
            ("taps", "n=3", "slm fft", 7.0),
        ]);
        let later = record(&[
            ("life", "n=1", "slm fft", 9.0),
            ("taps", "n=1", "slm fft", 105.0),
            ("taps", "n=1", "slm direct", 50.0),
            ("taps", "n=2", "slm fft", 105.5),
        ]);
        let comparison = Comparison::new(&earlier, &later, 5.0).unwrap();
        assert!(comparison.is_worse());
        assert_eq!(
            comparison.to_string(),
            "# slower by more than 5 %: 1\n\
             taps\tn=2\tslm fft\t100 us\t105.5 us\t+5.5 %\n\
             # new: 1\n\
             life\tn=1\tslm fft\t9 us\n\
             # missing: 1\n\
             taps\tn=3\tslm fft\t7 us\n\
             # wrong: 0\n"
        );
        let comparison = Comparison::new(&earlier, &later, 6.0).unwrap();
        assert!(!comparison.is_worse());
        assert_eq!((comparison.new.len(), comparison.missing.len()), (1, 1));
    }

    #[test]
    fn a_record_differs_in_nothing_from_itself() {
        let record = record(&[("taps", "n=1", "slm fft", 0.0), ("taps", "n=2", "slm fft", 3.0)]);
        let comparison = Comparison::new(&record, &record, 0.0).unwrap();
        assert!(!comparison.is_worse());
        assert_eq!(comparison.to_string(), "# slower by more than 0 %: 0\n# new: 0\n# missing: 0\n# wrong: 0\n");
    }

    #[test]
    fn wrong_cases_are_worse() {
        let mut record = record(&[("taps", "n=1", "slm fft", 2.0)]);
        record.rows[0].verdict = "WRONG 7 differ".to_owned();
        let comparison = Comparison::new(&record, &record, 5.0).unwrap();
        assert!(comparison.is_worse());
        assert!(comparison.to_string().ends_with("# wrong: 1\ntaps\tn=1\tslm fft\t2 us\n"));
    }

    #[test]
    fn machines_are_not_compared() {
        let earlier = record(&[]);
        let mut later = earlier.clone();
        later.machine.gpu = Some("NVIDIA H100".to_owned());
        let error = Comparison::new(&earlier, &later, 5.0).unwrap_err();
        assert_eq!(error.to_string(), "the records are of different machines: NVIDIA H200 and NVIDIA H100");
    }
}
