//! Pictures of any form: arrays, matrices and pictures of the crate `image`, as problems of known size.

use super::Filter2dError;
use super::window::{PictureProblem, Window};
use crate::Result;
use crate::device::data::{Axes, Form, Shape, number_of};

impl Window {
    /// Returns the problem of pictures of any form, and the axes of the results.
    pub(in crate::filter) fn problem(&self, shape: &Shape) -> Result<(PictureProblem, Axes)> {
        let (planes, picture) = self.pictures(shape)?;
        let problem = PictureProblem::new(self, planes, picture)?;
        Ok((problem, self.output_axes(shape, [problem.rows.outputs, problem.columns.outputs])))
    }

    /// Returns the number of pictures of any form, and the rows and columns of each, in pixels.
    pub(in crate::filter) fn pictures(&self, shape: &Shape) -> Result<(usize, [usize; 2])> {
        shape.check_channels("the filter", self.channels())?;
        if shape.form != Form::Array {
            let planes = shape.planes();
            return Ok((planes, self.picture_of_matrix(&shape.axes, planes)?));
        }
        let (batch, picture) = shape.axes.split_at(self.row_axis(&shape.axes)?);
        Ok((number_of(batch), [picture[0], picture[1]]))
    }

    /// Returns the axes of results for valid pictures of this shape, each with these rows and columns, in pixels.
    pub(in crate::filter) fn output_axes(&self, shape: &Shape, [rows, columns]: [usize; 2]) -> Axes {
        if shape.form != Form::Array {
            let rows = rows.saturating_mul(shape.planes());
            return Axes::from_slice(&[rows, columns.saturating_mul(self.channels())]);
        }
        let (mut axes, row_axis) = (shape.axes.clone(), shape.axes.len() - self.axes_per_picture());
        (axes[row_axis], axes[row_axis + 1]) = (rows, columns);
        axes
    }

    /// Returns the axis of an array that has the rows.
    fn row_axis(&self, axes: &[usize]) -> Result<usize> {
        let (dimensions, needed) = (axes.len(), self.axes_per_picture());
        if dimensions < needed {
            return Err(Filter2dError::Dimensions { dimensions, needed }.into());
        }
        match self.channels {
            Some(expected) if axes[dimensions - 1] != expected => {
                Err(Filter2dError::Channels { expected, actual: axes[dimensions - 1] }.into())
            }
            _ => Ok(dimensions - needed),
        }
    }

    /// Returns the axes of one picture in an array.
    fn axes_per_picture(&self) -> usize {
        2 + usize::from(self.channels.is_some())
    }

    /// Returns the rows and columns, in pixels, of each picture of a matrix. Its columns are pixels times channels, and its pictures are
    /// one below the other.
    pub(in crate::filter) fn picture_of_matrix(&self, axes: &[usize], planes: usize) -> Result<[usize; 2]> {
        let (&[rows, columns], channels) = (axes, self.channels()) else {
            return Err(Filter2dError::Dimensions { dimensions: axes.len(), needed: 2 }.into());
        };
        if !rows.is_multiple_of(planes) {
            return Err(Filter2dError::Planes { rows, planes }.into());
        }
        if !columns.is_multiple_of(channels) {
            return Err(Filter2dError::Interleaving { columns, channels }.into());
        }
        Ok([rows.checked_div(planes).unwrap_or(0), columns / channels])
    }

    /// Returns a shape of an array, or of a matrix if the filter has channels and the shape has no axis for them.
    pub(in crate::filter) fn shape_of(&self, axes: &[usize]) -> Shape {
        let is_matrix = axes.len() == 2 && self.channels.is_some();
        Shape::new(if is_matrix { Form::Matrix { planes: 1 } } else { Form::Array }, axes)
    }
}
