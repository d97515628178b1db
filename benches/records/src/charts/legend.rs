//! The legend beside the plot.

use super::curve::Curve;
use super::drawing::{Area, DrawingResult, FONT};
use super::mark::{Style, mark};
use super::theme::Theme;
use plotters::element::{PathElement, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoTextStyle, TextStyle};

const LINE_HEIGHT: i32 = 22;
const LINE_WIDTH: i32 = 28;
const GAP: i32 = 8;

/// Draws a line, a mark and a name for each curve.
pub(super) fn draw(curves: &[Curve], theme: &Theme, area: &Area<'_>) -> DrawingResult<()> {
    let text: TextStyle<'_> =
        (FONT, 13).into_text_style(area).color(&theme.text).pos(Pos::new(HPos::Left, VPos::Center));
    for (i, curve) in curves.iter().enumerate() {
        let style = Style::of(i, theme);
        let y = LINE_HEIGHT * (i as i32 + 1);
        if curve.points.len() > 1 {
            area.draw(&PathElement::new([(0, y), (LINE_WIDTH, y)], style.colour.stroke_width(2)))?;
        }
        area.draw(&mark((LINE_WIDTH / 2, y), style))?;
        area.draw(&Text::new(curve.name.as_str(), (LINE_WIDTH + GAP, y), text.clone()))?;
    }
    Ok(())
}
