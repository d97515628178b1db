//! Marks of points.

use super::theme::Theme;
use plotters::backend::DrawingBackend;
use plotters::element::{Circle, Cross, DynElement, IntoDynElement, TriangleMarker};
use plotters::style::{Color, RGBColor};

const RADIUS: i32 = 4;

/// How a curve is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) colour: RGBColor,
    shape: Shape,
}

/// Tells curves of the same colour apart.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Circle,
    Triangle,
    Cross,
}

impl Style {
    /// Returns the style of curve `i` of a chart.
    pub(super) fn of(i: usize, theme: &Theme) -> Self {
        const SHAPES: [Shape; 3] = [Shape::Circle, Shape::Triangle, Shape::Cross];
        let colours = theme.curves.len();
        Style { colour: theme.curves[i % colours], shape: SHAPES[i / colours % SHAPES.len()] }
    }
}

/// Returns a mark at a place of a plot or of an area.
pub(super) fn mark<DB: DrawingBackend, C: Clone + 'static>(place: C, style: Style) -> DynElement<'static, DB, C> {
    let colour = style.colour;
    match style.shape {
        Shape::Circle => Circle::new(place, RADIUS, colour.filled()).into_dyn(),
        Shape::Triangle => TriangleMarker::new(place, RADIUS + 1, colour.filled()).into_dyn(),
        Shape::Cross => Cross::new(place, RADIUS, colour.stroke_width(2)).into_dyn(),
    }
}
