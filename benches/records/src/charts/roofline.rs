//! Products per second of the crate's filters of `f32` against products per byte of samples and outputs, below two roofs: the copy moves as
//! many bytes per second as anything, and the program that multiplies alone makes as many products per second.
//!
//! Only algorithms that make all products are in the chart: boxes, outer products and transforms make fewer.

use super::axis::Axis;
use super::curve::{Curve, curves};
use super::{Chart, Record};
use crate::record::Row;

/// Beginnings of the names of the algorithms.
const DIRECT: [&str; 4] = ["slm global", "slm tile", "slm register-tiled", "slm streaming"];

pub(super) fn chart(record: &Record) -> Option<Chart> {
    let is_wanted = |row: &&Row| row.is_right() && is_filter(row) && row.case.starts_with("f32 ");
    let rows: Vec<_> = record.rows.iter().filter(is_wanted).collect();
    let greatest = |peer: &str, rate: &str| -> Option<f64> {
        let rates = rows.iter().filter(|row| row.peer == peer).filter_map(|row| row.rates.get(rate).copied());
        rates.max_by(f64::total_cmp)
    };
    let bytes = greatest("slm copy", "bytes_per_s")?;
    let products = greatest("CUDA FFMA ceiling", "multiply_adds_per_s")?;
    let mut curves = curves(rows.iter().filter_map(|row| point(row)));
    let places: Vec<f64> = curves.iter().flat_map(|curve| &curve.points).map(|point| point[0]).collect();
    let first = places.iter().copied().min_by(f64::total_cmp)?.min(1.0);
    let last = places.iter().copied().max_by(f64::total_cmp)?.max(2.0 * products / bytes);
    let corner = [products / bytes, products];
    curves.push(Curve { name: "roofs".to_owned(), points: vec![[first, first * bytes], corner, [last, products]] });
    Some(Chart {
        name: "roofline".to_owned(),
        title: format!("Filters of f32 that make all products, on {}", record.machine.name()),
        x: Axis::new("products per byte", 2),
        y: Axis::new("products per second", 10),
        curves,
    })
}

/// Returns whether the benchmark of a row has data that no cache holds.
fn is_filter(row: &Row) -> bool {
    matches!(row.benchmark.as_str(), "filter1d" | "filter2d")
}

/// Returns the algorithm, and the point, of a row that makes all products.
fn point(row: &Row) -> Option<(&str, [f64; 2])> {
    let is_direct = DIRECT.iter().any(|name| row.peer.starts_with(name));
    let [bytes, products] = ["bytes_per_s", "multiply_adds_per_s"].map(|rate| row.rates.get(rate).copied());
    let (bytes, products) = bytes.zip(products).filter(|(_, products)| is_direct && *products > 0.0)?;
    Some((&row.peer, [products / bytes, products]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::record;

    #[test]
    fn roofs_meet_where_the_copy_would_multiply_at_full_speed() {
        let mut record = record(&[
            ("filter1d", "f32 n=1024 taps=257", "CUDA FFMA ceiling", 1.0),
            ("filter1d", "f32 n=1024 taps=257", "slm copy", 1.0),
            ("filter1d", "f32 n=1024 taps=257", "slm register-tiled", 1.0),
            ("filter1d", "i32 n=1024 taps=257", "slm register-tiled", 1.0),
            ("filter2d", "f32 n=1024 Box(101)", "slm box", 1.0),
        ]);
        let rates = [[1e10, 3e13], [4e12, 0.0], [1e12, 3.2e13], [1e12, 1e13], [1e12, 1e15]];
        for (row, [bytes, products]) in record.rows.iter_mut().zip(rates) {
            row.rates.insert("bytes_per_s".to_owned(), bytes);
            row.rates.insert("multiply_adds_per_s".to_owned(), products);
        }
        let chart = chart(&record).unwrap();
        let names: Vec<_> = chart.curves.iter().map(|curve| curve.name.as_str()).collect();
        assert_eq!(names, ["slm register-tiled", "roofs"]);
        assert_eq!(chart.curves[0].points, [[32.0, 3.2e13]]);
        assert_eq!(chart.curves[1].points, [[1.0, 4e12], [7.5, 3e13], [32.0, 3e13]]);
    }

    #[test]
    fn without_a_roof_there_is_no_chart() {
        assert_eq!(chart(&record(&[("filter1d", "f32 n=1024 taps=257", "slm copy", 1.0)])), None);
    }
}
