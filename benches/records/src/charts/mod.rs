//! Charts of a record, as SVG files for light and for dark pages.
//!
//! The modules of the benchmarks choose rows and make points of them, `drawing` draws any chart. A chart needs a curve of two points,
//! so a record without a benchmark's rows has none of it.

pub(crate) mod axis;
mod case;
mod curve;
mod drawing;
mod gaussians;
mod histogram;
mod legend;
mod life;
mod mark;
mod roofline;
mod taps;
mod theme;

use crate::error::{Error, Result};
use crate::record::Record;
pub(crate) use drawing::DrawingError;

use axis::Axis;
use curve::Curve;
use std::path::{Path, PathBuf};
use theme::{THEMES, Theme};

#[derive(Debug, PartialEq)]
struct Chart {
    /// Beginning of the names of its files.
    name: String,
    title: String,
    x: Axis,
    y: Axis,
    curves: Vec<Curve>,
}

/// Writes the charts of a record into a folder, and returns their paths.
pub(crate) fn save(record: &Record, folder: &Path) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder).map_err(|error| Error::Write { path: folder.to_owned(), error })?;
    let mut paths = Vec::new();
    for (name, svg) in draw(record)? {
        let path = folder.join(name);
        std::fs::write(&path, svg).map_err(|error| Error::Write { path: path.clone(), error })?;
        paths.push(path);
    }
    Ok(paths)
}

/// Returns the names and the texts of the charts of a record.
pub(crate) fn draw(record: &Record) -> Result<Vec<(String, String)>> {
    let drawn = |chart: &Chart, theme: &Theme| {
        let svg = drawing::draw(chart, theme);
        let svg = svg.map_err(|error| Error::Drawing { chart: chart.name.clone(), error })?;
        Ok((format!("{}-{}.svg", chart.name, theme.name), svg))
    };
    of(record).iter().flat_map(|chart| THEMES.iter().map(move |theme| drawn(chart, theme))).collect()
}

fn of(record: &Record) -> Vec<Chart> {
    let charts = taps::charts(record).into_iter().chain(gaussians::charts(record)).chain(histogram::chart(record));
    let charts = charts.chain(life::chart(record)).chain(roofline::chart(record));
    charts.filter(|chart| chart.curves.iter().any(|curve| curve.points.len() > 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::record;

    #[test]
    fn a_record_has_the_charts_of_its_rows() {
        let names = |rows: &[_]| of(&record(rows)).into_iter().map(|chart| chart.name).collect::<Vec<_>>();
        let taps = |taps: &'static str| ("taps", taps, "slm direct", 9.0);
        let bins = |bins: &'static str| ("histogram", bins, "slm auto", 9.0);
        assert_eq!(names(&[]), [""; 0]);
        assert_eq!(names(&[taps("f64 n=1x1024 axis=1 taps=3"), taps("f64 n=1x1024 axis=1 taps=5")]), ["taps-f64"]);
        assert_eq!(names(&[taps("f64 n=1x1024 axis=1 taps=3")]), [""; 0]);
        let rows = [bins("even f32 n=1024 bins=256 Uniform"), bins("even f32 n=1024 bins=512 Uniform")];
        assert_eq!(names(&rows), ["histogram"]);
        assert_eq!(names(&[("transpose", "1 x 2 x 3, 4 bytes", "slm auto", 9.0)]), [""; 0]);
    }
}
