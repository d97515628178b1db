//! The columns of a table, and its rows.

use crate::record::Row;
use std::collections::BTreeMap;

/// What is wrong in a line.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum LineError {
    #[error("no line `# benchmark: NAME` is before this row")]
    NoBenchmark,
    #[error("no line with the names of the columns is before this row")]
    NoColumns,
    #[error("the column {0:?} is unknown")]
    UnknownColumn(String),
    #[error("the last column is not `check`")]
    NoCheck,
    #[error("the row has {found} columns instead of {expected}")]
    ColumnCount { expected: usize, found: usize },
    #[error("{column} is {text:?}, which is not a time or rate")]
    Number { column: String, text: String },
    #[error("this case of this peer is also in {first}")]
    Repeated { first: String },
}

/// The names of the columns between `median_us` and `check`.
#[derive(Debug)]
pub(crate) struct Columns(Vec<String>);

impl Columns {
    /// Returns the columns that a comment names, or `None` for another comment.
    pub(crate) fn of(comment: &str) -> Option<Result<Self, LineError>> {
        let names = comment.strip_prefix("peer\tcase\tmedian_us\t")?;
        let mut names: Vec<_> = names.split('\t').map(str::to_owned).collect();
        if names.pop().as_deref() != Some("check") {
            return Some(Err(LineError::NoCheck));
        }
        let unknown = names.iter().find(|name| *name != "spread_us" && !name.ends_with("_per_s"));
        Some(match unknown {
            Some(name) => Err(LineError::UnknownColumn(name.clone())),
            None => Ok(Columns(names)),
        })
    }

    pub(crate) fn row(&self, benchmark: &str, line: &str) -> Result<Row, LineError> {
        let cells: Vec<_> = line.split('\t').collect();
        let expected = self.0.len() + 4;
        let [peer, case, median, numbers @ .., verdict] = &cells[..] else {
            return Err(LineError::ColumnCount { expected, found: cells.len() });
        };
        if cells.len() != expected {
            return Err(LineError::ColumnCount { expected, found: cells.len() });
        }
        let median_us = number("median_us", median)?;
        let named = self.0.iter().zip(numbers).map(|(name, text)| Ok((name.clone(), number(name, text)?)));
        let mut rates = named.collect::<Result<BTreeMap<_, _>, _>>()?;
        Ok(Row {
            benchmark: benchmark.to_owned(),
            case: (*case).to_owned(),
            peer: (*peer).to_owned(),
            median_us,
            spread_us: rates.remove("spread_us"),
            rates,
            verdict: (*verdict).to_owned(),
        })
    }
}

fn number(column: &str, text: &str) -> Result<f64, LineError> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| LineError::Number { column: column.to_owned(), text: text.to_owned() })
}
