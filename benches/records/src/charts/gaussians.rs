//! Times of Gaussians of pictures against the standard deviation, a chart for each type of pixels. A chart has the largest picture.

use super::axis::{Axis, count};
use super::case;
use super::curve::curves;
use super::{Chart, Record};
use crate::record::Row;
use std::collections::BTreeMap;

pub(super) fn charts(record: &Record) -> Vec<Chart> {
    let mut of_pixels: BTreeMap<String, Vec<(u64, &Row)>> = BTreeMap::new();
    for row in record.rows.iter().filter(|row| row.is_right()) {
        if let Some((pixels, side)) = picture(row) {
            of_pixels.entry(pixels).or_default().push((side, row));
        }
    }
    of_pixels.into_iter().filter_map(|(pixels, rows)| chart(record, &pixels, &rows)).collect()
}

fn chart(record: &Record, pixels: &str, rows: &[(u64, &Row)]) -> Option<Chart> {
    let largest = rows.iter().map(|(side, _)| *side).max()?;
    let points = rows.iter().filter(|(side, _)| *side == largest).filter_map(|(_, row)| point(row));
    let side = count(largest);
    Some(Chart {
        name: format!("gaussians-{pixels}"),
        title: format!("Gaussians of {side} x {side} pixels, {pixels}, on {}", record.machine.name()),
        x: Axis::new("standard deviation (pixels)", 2),
        y: Axis::new("time (µs)", 10),
        curves: curves(points),
    })
}

/// Returns the type of the pixels and the side of a picture.
fn picture(row: &Row) -> Option<(String, u64)> {
    let (element, channels) = (row.case.split(' ').next()?, case::number(&row.case, "channels")?);
    let (rows, columns) = case::text(&row.case, "n")?.split_once('x')?;
    let pixels = if channels == 1 { element.to_owned() } else { format!("{element}x{channels}") };
    (row.benchmark == "gaussians" && rows == columns).then_some((pixels, rows.parse().ok()?))
}

fn point(row: &Row) -> Option<(&str, [f64; 2])> {
    Some((&row.peer, [case::text(&row.case, "sigma")?.parse().ok()?, row.median_us]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::record;

    #[test]
    fn each_type_of_pixels_has_a_chart_of_its_largest_picture() {
        let record = record(&[
            ("gaussians", "u8 n=8192x8192 channels=3 sigma=2 taps=17", "slm bound per output", 50.0),
            ("gaussians", "u8 n=8192x8192 channels=3 sigma=128 taps=1025", "CuPy", 90.0),
            ("gaussians", "u8 n=512x512 channels=3 sigma=2 taps=17", "slm bound per output", 5.0),
            ("gaussians", "f32 n=512x512 channels=1 sigma=2 taps=17", "slm bound per output", 4.0),
            ("gaussians", "f32 n=512x512 channels=1", "slm copy", 1.0),
            ("filter2d", "f32 n=512x512 channels=1 sigma=2", "slm auto", 3.0),
        ]);
        let charts = charts(&record);
        assert_eq!(
            charts.iter().map(|chart| chart.name.as_str()).collect::<Vec<_>>(),
            ["gaussians-f32", "gaussians-u8x3"]
        );
        assert_eq!(charts[1].title, "Gaussians of 8,192 x 8,192 pixels, u8x3, on NVIDIA H200");
        let curves: Vec<_> = charts[1].curves.iter().map(|curve| (curve.name.as_str(), &curve.points[..])).collect();
        assert_eq!(curves, [("slm bound per output", &[[2.0, 50.0]][..]), ("CuPy", &[[128.0, 90.0]][..])]);
        assert_eq!(charts[0].curves.len(), 1);
    }
}
