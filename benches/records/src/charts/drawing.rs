//! Draws a chart: a title, the plot with two logarithmic axes, and the legend.

use super::axis::Axis;
use super::legend;
use super::mark::{Style, mark};
use super::theme::Theme;
use super::{Chart, Curve};
use plotters::chart::ChartBuilder;
use plotters::coord::Shift;
use plotters::coord::combinators::IntoLogRange;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::prelude::SVGBackend;
use plotters::series::LineSeries;
use plotters::style::{Color, IntoTextStyle};
use std::io;
use std::ops::Range;

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(crate) type DrawingError = DrawingAreaErrorKind<io::Error>;
pub(super) type DrawingResult<T> = Result<T, DrawingError>;

/// A family that every program has.
pub(super) const FONT: &str = "sans-serif";

const SIZE: (u32, u32) = (1040, 540);
const LEGEND_WIDTH: i32 = 370;
const MARGIN: u32 = 12;
/// Greatest number of labels of an axis.
const LABELS: usize = 12;

/// Returns the text of an SVG file.
pub(super) fn draw(chart: &Chart, theme: &Theme) -> DrawingResult<String> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&theme.background)?;
        let title = (FONT, 19).into_text_style(&root).color(&theme.text);
        let inner = root.margin(MARGIN, MARGIN, MARGIN, MARGIN).titled(&chart.title, title)?;
        let (plot, beside) = inner.split_horizontally(SIZE.0 as i32 - LEGEND_WIDTH);
        draw_plot(chart, theme, &plot)?;
        legend::draw(&chart.curves, theme, &beside)?;
        root.present()?;
    }
    Ok(svg)
}

fn draw_plot(chart: &Chart, theme: &Theme, area: &Area<'_>) -> DrawingResult<()> {
    let Chart { x, y, curves, .. } = chart;
    let [across, up] = [(x, 0), (y, 1)].map(|(axis, i)| range(axis, curves, i).log_scale().base(axis.base.into()));
    let mut plot = ChartBuilder::on(area)
        .margin(MARGIN)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .build_cartesian_2d(across, up)?;
    let style = |size| (FONT, size).into_text_style(area).color(&theme.text);
    plot.configure_mesh()
        .x_desc(&x.label)
        .y_desc(&y.label)
        .x_labels(LABELS)
        .y_labels(LABELS)
        .x_label_formatter(&|power| x.tick(*power))
        .y_label_formatter(&|power| y.tick(*power))
        .axis_style(theme.text)
        .bold_line_style(theme.grid)
        .light_line_style(theme.grid)
        .max_light_lines(1)
        .label_style(style(12))
        .axis_desc_style(style(14))
        .draw()?;
    for (i, curve) in curves.iter().enumerate() {
        let style = Style::of(i, theme);
        let points = || curve.points.iter().map(|&[x, y]| (x, y));
        plot.draw_series(LineSeries::new(points(), style.colour.stroke_width(2)))?;
        plot.draw_series(points().map(|point| mark(point, style)))?;
    }
    Ok(())
}

/// Returns the range of an axis that contains coordinate `i` of all points.
fn range(axis: &Axis, curves: &[Curve], i: usize) -> Range<f64> {
    let numbers = curves.iter().flat_map(|curve| &curve.points).map(|point| point[i]);
    axis.range(numbers)
}

#[cfg(test)]
mod tests {
    use super::super::curve::curves;
    use super::super::theme::THEMES;
    use super::*;

    fn chart() -> Chart {
        Chart {
            name: "life".to_owned(),
            title: "Life & others".to_owned(),
            x: Axis::new("side (cells)", 2),
            y: Axis::new("cells per second", 10),
            curves: curves([("slm auto", [64.0, 2e11]), ("slm auto", [4096.0, 3e12]), ("CUDA", [512.0, 1e12])]),
        }
    }

    fn drawn(chart: &Chart, theme: usize) -> String {
        draw(chart, &THEMES[theme]).unwrap()
    }

    #[test]
    fn a_chart_has_title_axes_and_legend() {
        let svg = drawn(&chart(), 0);
        for text in ["Life &amp; others", "side (cells)", "cells per second", "slm auto", "CUDA", "10¹²", "10¹³", "256"]
        {
            assert!(svg.contains(&format!("\n{text}\n")), "{text}");
        }
    }

    #[test]
    fn every_point_has_a_mark() {
        let circles = drawn(&chart(), 0).matches("<circle").count();
        // Three points, and two curves in the legend.
        assert_eq!(circles, 5);
    }

    #[test]
    fn the_same_chart_has_the_same_bytes() {
        assert_eq!(drawn(&chart(), 1), drawn(&chart(), 1));
    }

    #[test]
    fn themes_differ_in_colours_alone() {
        let [light, dark] = [0, 1].map(|theme| drawn(&chart(), theme));
        assert!(light.contains("#FFFFFF") && !light.contains("#0D1117"));
        assert!(dark.contains("#0D1117") && !dark.contains("#FFFFFF"));
        assert_eq!(light.lines().count(), dark.lines().count());
    }
}
