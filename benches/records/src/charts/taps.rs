//! Times of `Filter1d` against the number of taps, for each element type.
//!
//! The crate's curves are in the benchmark `taps`, which measures many lengths of signals; the peers are in `filter1d`, which measures one.
//! So a chart has the length that peers have, or else the greatest one.

use super::axis::{Axis, count};
use super::case;
use super::curve::{curves, is_own};
use super::{Chart, Record};
use crate::record::Row;
use std::collections::BTreeSet;

pub(super) fn charts(record: &Record) -> Vec<Chart> {
    let rows: Vec<_> = record.rows.iter().filter(|row| row.is_right()).collect();
    let types: BTreeSet<_> = rows.iter().filter_map(|row| signal(row)).map(|(element, _)| element).collect();
    types.into_iter().map(|element| chart(record, &rows, element)).collect()
}

fn chart(record: &Record, rows: &[&Row], element: &str) -> Chart {
    let of_type = |found: Option<(&str, u64)>| found.filter(|(own, _)| *own == element).map(|(_, length)| length);
    let lengths: BTreeSet<_> = rows.iter().filter_map(|row| of_type(signal(row))).collect();
    let of_peers = rows.iter().filter_map(|row| of_type(peers_signal(row))).find(|length| lengths.contains(length));
    let length = of_peers.or(lengths.last().copied());
    let own: Vec<_> = rows.iter().copied().filter(|row| of_type(signal(row)) == length).collect();
    let peers = rows.iter().filter(|row| of_type(peers_signal(row)) == length).filter_map(|row| point(row));
    let points = own.iter().filter_map(|row| point(row)).chain(level_lines(&own)).chain(peers);
    let samples = count(length.unwrap_or(0));
    Chart {
        name: format!("taps-{element}"),
        title: format!("Filter1d of {samples} samples, {element}, on {}", record.machine.name()),
        x: Axis::new("taps", 2),
        y: Axis::new("time (µs)", 10),
        curves: curves(points),
    }
}

/// Returns the element type and the number of samples of a row of `taps` with one line.
fn signal(row: &Row) -> Option<(&str, u64)> {
    let samples = case::text(&row.case, "n")?.strip_prefix("1x")?.parse().ok()?;
    (row.benchmark == "taps").then_some((row.case.split(' ').next()?, samples))
}

/// Returns the element type and the number of samples of a peer's row of `filter1d`. Copies, which compute no products, are left
/// out.
fn peers_signal(row: &Row) -> Option<(&str, u64)> {
    let is_filter = row.rates.get("multiply_adds_per_s").is_some_and(|&rate| rate > 0.0);
    let samples = case::number(&row.case, "n")?;
    let is_peers = row.benchmark == "filter1d" && is_filter && !is_own(&row.peer);
    is_peers.then_some((row.case.split(' ').next()?, samples))
}

fn point(row: &Row) -> Option<(&str, [f64; 2])> {
    Some((&row.peer, [case::number(&row.case, "taps")? as f64, row.median_us]))
}

/// Returns the ends of level lines for rows without taps: the copy, which is the lower bound for all numbers of taps.
fn level_lines<'a>(rows: &[&'a Row]) -> impl Iterator<Item = (&'a str, [f64; 2])> {
    let taps: BTreeSet<_> = rows.iter().filter_map(|row| case::number(&row.case, "taps")).collect();
    let ends = [taps.first().copied(), taps.last().copied()];
    let levels: Vec<_> = rows.iter().copied().filter(|row| case::number(&row.case, "taps").is_none()).collect();
    let points =
        move |row: &'a Row| ends.into_iter().flatten().map(|taps| (row.peer.as_str(), [taps as f64, row.median_us]));
    levels.into_iter().flat_map(points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::record;

    const OWN: [(&str, &str, &str, f64); 6] = [
        ("taps", "f32 n=1x2000000 axis=1 taps=3", "slm direct", 50.0),
        ("taps", "f32 n=1x2000000 axis=1 taps=5", "slm direct", 60.0),
        ("taps", "f32 n=1x1000000 axis=1 taps=5", "slm direct", 30.0),
        ("taps", "f32 n=1x1000000 axis=1 taps=257", "slm fft", 40.0),
        ("taps", "f32 n=1000x1000 axis=1 taps=5", "slm direct", 1.0),
        ("taps", "i32 n=1x1000 axis=1 taps=5", "slm tensor", 2.0),
    ];

    fn names(chart: &Chart) -> Vec<&str> {
        chart.curves.iter().map(|curve| curve.name.as_str()).collect()
    }

    #[test]
    fn each_type_has_a_chart_of_its_longest_signal() {
        let charts = charts(&record(&OWN));
        assert_eq!(charts.iter().map(|chart| chart.name.as_str()).collect::<Vec<_>>(), ["taps-f32", "taps-i32"]);
        assert_eq!(charts[0].title, "Filter1d of 2,000,000 samples, f32, on NVIDIA H200");
        assert_eq!(names(&charts[0]), ["slm direct"]);
        assert_eq!(charts[0].curves[0].points, [[3.0, 50.0], [5.0, 60.0]]);
        assert_eq!(charts[1].curves[0].points, [[5.0, 2.0]]);
    }

    #[test]
    fn peers_are_points_and_choose_the_length() {
        let mut rows = OWN.to_vec();
        rows.push(("filter1d", "f32 n=1000000 taps=257", "CuPy", 90.0));
        rows.push(("filter1d", "f32 n=1000000 taps=257", "slm tile", 80.0));
        rows.push(("filter1d", "f32 n=1000000 taps=257", "CUDA copy", 20.0));
        let mut record = record(&rows);
        for row in &mut record.rows {
            let rate = if row.peer.ends_with("copy") { 0.0 } else { 1e12 };
            row.rates.insert("multiply_adds_per_s".to_owned(), rate);
        }
        let chart = &charts(&record)[0];
        assert_eq!(chart.title, "Filter1d of 1,000,000 samples, f32, on NVIDIA H200");
        assert_eq!(names(chart), ["slm direct", "slm fft", "CuPy"]);
        assert_eq!(chart.curves[2].points, [[257.0, 90.0]]);
    }

    #[test]
    fn the_copy_is_a_level_line() {
        let mut rows = OWN.to_vec();
        rows.push(("taps", "f32 n=1x2000000 axis=1", "slm copy", 20.0));
        let chart = &charts(&record(&rows))[0];
        assert_eq!(names(chart), ["slm copy", "slm direct"]);
        assert_eq!(chart.curves[0].points, [[3.0, 20.0], [5.0, 20.0]]);
    }

    #[test]
    fn wrong_results_have_no_points() {
        let mut record = record(&OWN);
        record.rows[0].verdict = "WRONG at 7".to_owned();
        assert_eq!(charts(&record)[0].curves[0].points, [[5.0, 60.0]]);
    }
}
