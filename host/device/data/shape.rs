//! Lengths of axes.

use crate::device::buffer::{check_length, check_shape};
use crate::{Error, Result};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Lengths of axes, without an allocation for the usual numbers of them.
pub(crate) type Axes = SmallVec<[usize; 4]>;

/// Kinds of input that operations treat differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A slice or a buffer: one axis.
    Row,
    /// Matrices on a device, one below the other: two axes. Channels are interleaved in their rows.
    Matrix { planes: usize },
    /// An array of the host, with any number of axes.
    Array,
    /// A picture with this number of channels. Its axes are those of the matrix of its subpixels.
    #[cfg(feature = "image")]
    Picture { channels: usize },
}

/// The lengths of the axes of an input, the slowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) form: Form,
    pub(crate) axes: Axes,
}

impl Shape {
    pub(crate) fn new(form: Form, axes: &[usize]) -> Self {
        Shape { form, axes: Axes::from_slice(axes) }
    }

    /// Returns the shape of a single row.
    pub(crate) fn row(len: usize) -> Self {
        Shape::new(Form::Row, &[len])
    }

    /// Returns the lengths of the axes, where the channels of a picture are an axis of their own.
    fn with_channels(&self) -> Cow<'_, [usize]> {
        match (self.form, &*self.axes) {
            #[cfg(feature = "image")]
            (Form::Picture { channels }, &[rows, width]) => {
                Cow::Owned(vec![rows, width.checked_div(channels).unwrap_or(0), channels])
            }
            (_, axes) => Cow::Borrowed(axes),
        }
    }

    /// Returns an error if another input has another shape. A picture has the axes of its matrix or, beside arrays with three axes and
    /// other pictures, an axis of channels.
    pub(crate) fn check_same(&self, what: &'static str, other: &Self) -> Result<()> {
        match (&*self.with_channels(), &*other.with_channels()) {
            (expected, actual) if expected.len() == actual.len() => check_same(what, expected, actual),
            _ => check_same(what, &self.axes, &other.axes),
        }
    }

    /// Returns an error if another input has other lengths of axes. The elements of a slice or buffer may have any axes.
    pub(crate) fn check_pairs(&self, what: &'static str, other: &Self) -> Result<()> {
        if self.form == Form::Row || other.form == Form::Row {
            return check_same(what, &[self.len()], &[other.len()]);
        }
        self.check_same(what, other)
    }

    /// Returns the number of matrices, one below the other.
    pub(crate) fn planes(&self) -> usize {
        if let Form::Matrix { planes } = self.form { planes } else { 1 }
    }

    /// Returns the number of elements.
    pub(crate) fn len(&self) -> usize {
        number_of(&self.axes)
    }

    /// Returns the rows and columns of a matrix. Everything else is a single row.
    pub(crate) fn rows_and_columns(&self) -> [usize; 2] {
        match *self.axes {
            [rows, columns] => [rows, columns],
            _ => [1, self.len()],
        }
    }

    /// Returns the rows and columns of a picture of the crate `image`, in pixels.
    pub(crate) fn pixels(&self) -> Option<[usize; 2]> {
        match (self.form, &*self.axes) {
            #[cfg(feature = "image")]
            (Form::Picture { channels }, &[rows, width]) => Some([rows, width.checked_div(channels).unwrap_or(0)]),
            _ => None,
        }
    }

    /// Returns an error if the pixels of a picture have another number of channels than the operation.
    #[cfg(feature = "image")]
    pub(crate) fn check_channels(&self, operation: &'static str, expected: usize) -> Result<()> {
        match self.form {
            Form::Picture { channels: actual } if actual != expected => {
                Err(crate::pictures::PictureError::Channels { operation, expected, actual }.into())
            }
            _ => Ok(()),
        }
    }

    /// Without the crate `image` there are no pictures.
    #[cfg(not(feature = "image"))]
    pub(crate) fn check_channels(&self, _: &'static str, _: usize) -> Result<()> {
        Ok(())
    }
}

/// Returns the number of elements of a shape, at most `usize::MAX`.
pub(crate) fn number_of(axes: &[usize]) -> usize {
    if axes.contains(&0) { 0 } else { axes.iter().fold(1, |product, len| product.saturating_mul(*len)) }
}

/// Returns an error if the shapes differ.
pub(crate) fn check_same(what: &'static str, expected: &[usize], actual: &[usize]) -> Result<()> {
    match (expected, actual) {
        _ if expected == actual => Ok(()),
        (&[expected], &[actual]) => check_length(what, expected, actual),
        (&[rows, columns], &[actual_rows, actual_columns]) => {
            check_shape(what, [rows, columns], [actual_rows, actual_columns])
        }
        _ => Err(Error::Axes { what, expected: expected.to_vec(), actual: actual.to_vec() }),
    }
}
