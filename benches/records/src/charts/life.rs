//! Cells per second of `Life` against the side of the board.

use super::axis::Axis;
use super::curve::curves;
use super::{Chart, Record};
use crate::record::Row;

pub(super) fn chart(record: &Record) -> Option<Chart> {
    let points: Vec<_> = record.rows.iter().filter(|row| row.is_right()).filter_map(point).collect();
    (!points.is_empty()).then(|| Chart {
        name: "life".to_owned(),
        title: format!("Life on square boards, on {}", record.machine.name()),
        x: Axis::new("side of the board (cells)", 2),
        y: Axis::new("cells per second", 10),
        curves: curves(points),
    })
}

/// Returns the point of a case such as `4096 x 4096`.
fn point(row: &Row) -> Option<(&str, [f64; 2])> {
    let (rows, columns) = row.case.split_once(" x ")?;
    let rate = *row.rates.get("cells_per_s")?;
    (row.benchmark == "life" && rows == columns).then_some((&row.peer, [rows.parse().ok()?, rate]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::record;

    #[test]
    fn rates_belong_to_sides() {
        let mut record = record(&[
            ("life", "16384 x 16384", "slm auto", 9.0),
            ("life", "4096 x 4096", "slm auto", 9.0),
            ("life", "4096 x 100", "slm auto", 9.0),
            ("transpose", "4096 x 4096", "slm auto", 9.0),
            ("life", "4096 x 4096", "slm packed", 9.0),
        ]);
        for (row, rate) in record.rows.iter_mut().zip([2e13, 1e13, 3e13, 4e13]) {
            row.rates.insert("cells_per_s".to_owned(), rate);
        }
        let chart = chart(&record).unwrap();
        assert_eq!(chart.curves.len(), 1);
        assert_eq!(chart.curves[0].points, [[4096.0, 1e13], [16_384.0, 2e13]]);
        assert_eq!((chart.x.label.as_str(), chart.y.label.as_str()), ("side of the board (cells)", "cells per second"));
    }
}
