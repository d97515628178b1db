//! Bar charts as SVG.
//!
//! Attributes have the colours for a light page, which every viewer understands. Browsers also read the style sheet, which
//! replaces them if the reader prefers dark pages. The bars have the colours of Okabe and Ito, which are distinct for every
//! kind of colour vision, and each kind of bar has its own panel with a name.

pub(crate) use super::scale::Growth;

use super::file::{FileError, Kind, Output};
use super::scale::Scale;
use clap::Args;
use std::fmt::Write;
use std::path::PathBuf;

/// File formats of charts.
pub(crate) static KIND: Kind = Kind { what: "a chart", extensions: &["svg"] };

/// The options of a chart.
#[derive(Debug, Args)]
pub(crate) struct ChartOptions {
    /// Output file of the chart, as an SVG; browsers show it dark if the reader prefers that
    #[arg(long, allow_hyphen_values = true)]
    svg: Option<PathBuf>,
    /// Draw the chart with a logarithmic axis
    #[arg(long, requires = "svg")]
    log: bool,
    /// Overwrite the chart if it exists
    #[arg(long, requires = "svg")]
    force: bool,
}

impl ChartOptions {
    /// Returns the output file if a chart was requested, or an error if it cannot be written.
    pub(crate) fn output(&self) -> Result<Option<Output>, FileError> {
        self.svg.as_deref().map(|path| Output::new(path, &KIND, self.force)).transpose()
    }

    /// Returns the requested growth. A logarithmic axis is labelled with powers of `base`.
    pub(crate) fn growth(&self, base: u32) -> Growth {
        if self.log { Growth::Log(base) } else { Growth::Linear }
    }
}

/// Panels with bars, one below the other, with the same axes.
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) across: Axis,
    /// Quantity and unit of the heights.
    pub(crate) up: &'static str,
    pub(crate) growth: Growth,
    pub(crate) panels: Vec<Panel>,
}

/// The horizontal axis: its quantity and unit, its ends, and its labels.
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) ends: [f64; 2],
    pub(crate) ticks: Vec<u64>,
}

pub(crate) struct Panel {
    pub(crate) name: String,
    pub(crate) color: Color,
    /// Bars in order. Bars that touch have a common outline.
    pub(crate) bars: Vec<Bar>,
    /// Positions of circles, which show measurements.
    pub(crate) measured: Vec<[f64; 2]>,
}

#[derive(Clone, Copy)]
pub(crate) struct Bar {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) height: u64,
}

/// A colour for lines, and a paler one for areas.
#[derive(Clone, Copy)]
pub(crate) enum Color {
    Grey,
    Vermillion,
    Green,
    Blue,
}

/// What has a colour of its own: its class, what the colour is for, and the light and the dark page's.
const COLORS: [(&str, &str, &str, &str); 12] = [
    ("paper", "fill", "#ffffff", "#14181c"),
    ("ink", "fill", "#1a1a1a", "#e9ecef"),
    ("axis", "stroke", "#6b7278", "#8d969e"),
    ("grid", "stroke", "#e2e5e8", "#2d343b"),
    ("line0", "stroke", "#4d4d4d", "#c3c8cd"),
    ("line1", "stroke", "#d55e00", "#f08337"),
    ("line2", "stroke", "#009e73", "#2cc79b"),
    ("line3", "stroke", "#0072b2", "#56b4e9"),
    ("area0", "fill", "#d0d2d4", "#4a5056"),
    ("area1", "fill", "#f6d3b8", "#5c3a22"),
    ("area2", "fill", "#b5e2d5", "#184c3e"),
    ("area3", "fill", "#b8d8ea", "#1f4760"),
];

impl Color {
    /// Returns the attributes of an area and its outline.
    fn attributes(self) -> String {
        let n = self as usize;
        let [(line, _, stroke, _), (area, _, fill, _)] = [COLORS[4 + n], COLORS[8 + n]];
        format!(r#"class="{line} {area}" stroke="{stroke}" fill="{fill}""#)
    }
}

/// Returns the attributes for a class of [`COLORS`] that is not for bars.
fn of_class(class: &str) -> String {
    let known = COLORS.iter().find(|(name, ..)| *name == class);
    known.map(|(class, what, light, _)| format!(r#"class="{class}" {what}="{light}""#)).unwrap_or_default()
}

// Pixels.
const WIDTH: f64 = 960.0;
const LEFT: f64 = 96.0;
const RIGHT: f64 = WIDTH - 28.0;
const TOP: f64 = 44.0;
/// Space above a panel, for its name.
const NAME: f64 = 44.0;
/// Space below all panels, for the labels of the axis.
const BOTTOM: f64 = 62.0;

impl Chart {
    pub(crate) fn svg(&self) -> String {
        let largest = self.panels.iter().map(Panel::largest).max().unwrap_or(0);
        let scale = Scale::new(self.growth, largest);
        let panel_height = if self.panels.len() == 1 { 320.0 } else { 170.0 };
        let end = TOP + self.panels.len() as f64 * (NAME + panel_height);
        let mut drawing = Drawing { svg: String::new(), chart: self, scale, panel_height };
        drawing.begin(end + BOTTOM);
        for (k, panel) in self.panels.iter().enumerate() {
            drawing.panel(panel, TOP + k as f64 * (NAME + panel_height) + NAME);
        }
        drawing.labels(end);
        drawing.svg.push_str("</svg>\n");
        drawing.svg
    }
}

impl Panel {
    /// Returns the largest number, rounded up.
    fn largest(&self) -> u64 {
        let heights = self.bars.iter().map(|bar| bar.height);
        heights.chain(self.measured.iter().map(|[_, y]| y.ceil() as u64)).max().unwrap_or(0)
    }
}

/// A chart that is being drawn.
struct Drawing<'a> {
    svg: String,
    chart: &'a Chart,
    scale: Scale,
    panel_height: f64,
}

impl Drawing<'_> {
    /// Begins the file: its size, its colours, its title.
    fn begin(&mut self, height: f64) {
        let title = escaped(&self.chart.title);
        let size = format!(r#"width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}""#);
        self.line(&format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="system-ui, sans-serif">"#
        ));
        self.line(&format!("<title>{title}</title>"));
        let rules = COLORS.iter().map(|(class, what, _, dark)| format!(" .{class} {{ {what}: {dark} }}"));
        let rules: String = rules.collect();
        self.line(&format!("<style>@media (prefers-color-scheme: dark) {{{rules} }}</style>"));
        self.line(&format!(r#"<rect width="{WIDTH}" height="{height}" {}/>"#, of_class("paper")));
        self.text([24.0, 34.0], "start", 18, &title);
    }

    /// Draws a panel whose plot begins at `top`: the grid, the bars before it, the axis before these.
    fn panel(&mut self, panel: &Panel, top: f64) {
        self.name(panel, top);
        let base = top + self.panel_height;
        for tick in self.scale.ticks() {
            let y = self.y(tick as f64, base);
            self.line(&format!(r#"<path d="M{LEFT} {y:.1}H{RIGHT}" {}/>"#, of_class("grid")));
            self.text([LEFT - 10.0, y + 4.5], "end", 13, &grouped(tick));
        }
        for bars in panel.bars.chunk_by(|a, b| a.right == b.left) {
            let outline = self.outline(bars, base);
            self.line(&format!(
                r#"<path d="{outline}" {} stroke-width="1.5" stroke-linejoin="round"/>"#,
                panel.color.attributes()
            ));
        }
        for &[x, y] in &panel.measured {
            self.circle([self.x(x), self.y(y, base)]);
        }
        self.line(&format!(r#"<path d="M{LEFT} {base}H{RIGHT}" {}/>"#, of_class("axis")));
    }

    /// Draws the names of a panel's bars and circles above it: the legend.
    fn name(&mut self, panel: &Panel, top: f64) {
        let y = top - 10.0;
        self.line(&format!(
            r#"<path d="M{LEFT} {}h16v12h-16z" {} stroke-width="1.5"/>"#,
            y - 10.5,
            panel.color.attributes()
        ));
        self.text([LEFT + 24.0, y], "start", 14, &escaped(&panel.name));
        if !panel.measured.is_empty() {
            self.circle([RIGHT - 82.0, y - 4.5]);
            self.text([RIGHT - 72.0, y], "start", 14, "measured");
        }
    }

    /// Draws what stands at the horizontal axis, whose panel ends at `base`, and the label of the vertical one.
    fn labels(&mut self, base: f64) {
        for &tick in &self.chart.across.ticks {
            let x = self.x(tick as f64);
            self.line(&format!(r#"<path d="M{x:.1} {base}v6" {}/>"#, of_class("axis")));
            self.text([x, base + 22.0], "middle", 13, &grouped(tick));
        }
        let middle = (LEFT + RIGHT) / 2.0;
        self.text([middle, base + 46.0], "middle", 14, &escaped(&self.chart.across.label));
        let up = if self.chart.growth == Growth::Linear { "" } else { ", logarithmic" };
        let middle = (TOP + NAME + base) / 2.0;
        self.line(&format!(
            r#"<text transform="translate(24 {middle:.1}) rotate(-90)" text-anchor="middle" font-size="14" {}>{}{up}</text>"#,
            of_class("ink"),
            escaped(self.chart.up)
        ));
    }

    fn x(&self, number: f64) -> f64 {
        let [first, last] = self.chart.across.ends;
        LEFT + (RIGHT - LEFT) * (number - first) / (last - first)
    }

    /// Returns the position of a number in the panel with this `base`.
    fn y(&self, number: f64, base: f64) -> f64 {
        base - self.panel_height * self.scale.height(number)
    }

    /// Returns the outline of bars that touch, as a path. Within one pixel it shows the highest bar.
    fn outline(&self, bars: &[Bar], base: f64) -> String {
        let mut path = format!("M{:.1} {base}", self.x(bars[0].left));
        let pixel = |bar: &Bar| self.x(bar.left).floor();
        for column in bars.chunk_by(|a, b| pixel(a) == pixel(b)) {
            let height = column.iter().map(|bar| bar.height).max().unwrap_or(0);
            let right = self.x(column[column.len() - 1].right);
            let _ = write!(path, "V{:.1}H{right:.1}", self.y(height as f64, base));
        }
        path + &format!("V{base}Z")
    }

    fn circle(&mut self, [x, y]: [f64; 2]) {
        let attributes = r##"class="paper line0" fill="#ffffff" stroke="#4d4d4d" stroke-width="1.5""##;
        self.line(&format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" {attributes}/>"#));
    }

    fn text(&mut self, [x, y]: [f64; 2], anchor: &str, size: u32, text: &str) {
        let ink = of_class("ink");
        self.line(&format!(
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" font-size="{size}" {ink}>{text}</text>"#
        ));
    }

    fn line(&mut self, line: &str) {
        self.svg.push_str(line);
        self.svg.push('\n');
    }
}

/// Returns the number with commas between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group));
    groups.collect::<Vec<_>>().join(",")
}

/// Returns the text with the special characters of SVG escaped.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
