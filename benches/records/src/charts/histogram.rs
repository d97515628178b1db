//! Times of `Histogram` against the number of bins: uniform samples of `f32` in even bins, the case that all peers have.

use super::axis::{Axis, count};
use super::case;
use super::curve::curves;
use super::{Chart, Record};
use crate::record::Row;

pub(super) fn chart(record: &Record) -> Option<Chart> {
    let rows: Vec<_> = record.rows.iter().filter(|row| row.is_right()).filter_map(bins).collect();
    let samples = rows.iter().map(|(_, samples, _)| *samples).max()?;
    let points = rows.iter().filter(|(_, own, _)| *own == samples);
    let points = points.map(|(row, _, bins)| (row.peer.as_str(), [*bins as f64, row.median_us]));
    Some(Chart {
        name: "histogram".to_owned(),
        title: format!("Histogram of {} uniform samples, f32, on {}", count(samples), record.machine.name()),
        x: Axis::new("bins", 2),
        y: Axis::new("time (µs)", 10),
        curves: curves(points),
    })
}

/// Returns the numbers of samples and bins of a row of the chart.
fn bins(row: &Row) -> Option<(&Row, u64, u64)> {
    let is_wanted = row.benchmark == "histogram" && row.case.starts_with("even f32 ") && row.case.ends_with(" Uniform");
    is_wanted.then_some((row, case::number(&row.case, "n")?, case::number(&row.case, "bins")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::record;

    #[test]
    fn curves_are_those_of_uniform_samples_in_even_bins() {
        let record = record(&[
            ("histogram", "even f32 n=1048576 bins=1024 Uniform", "CUB HistogramEven", 70.0),
            ("histogram", "even f32 n=1048576 bins=256 Uniform", "CUB HistogramEven", 60.0),
            ("histogram", "even f32 n=1048576 bins=256 Uniform", "slm auto", 50.0),
            ("histogram", "even f32 n=1048576 bins=256 Sorted", "slm auto", 40.0),
            ("histogram", "even f64 n=1048576 bins=256 Uniform", "slm auto", 30.0),
            ("histogram", "even f32 n=1024 bins=256 Uniform", "slm auto", 20.0),
            ("histogram", "many bins even f32 n=1048576 bins=256 Uniform", "slm auto", 10.0),
        ]);
        let chart = chart(&record).unwrap();
        assert_eq!(chart.title, "Histogram of 2²⁰ uniform samples, f32, on NVIDIA H200");
        let curves: Vec<_> = chart.curves.iter().map(|curve| (curve.name.as_str(), &curve.points[..])).collect();
        assert_eq!(
            curves,
            [("slm auto", &[[256.0, 50.0]][..]), ("CUB HistogramEven", &[[256.0, 60.0], [1024.0, 70.0]][..])]
        );
    }

    #[test]
    fn a_record_without_histograms_has_no_chart() {
        assert_eq!(chart(&record(&[("taps", "even f32 n=1024 bins=256 Uniform", "slm auto", 20.0)])), None);
    }
}
