//! Samples on a device: a buffer or a matrix.

use crate::{Buffer, Buffer2, Device, Element, Result};

/// Samples or weights on a device: the elements of a [`Buffer`] or of a [`Buffer2`] in row-major order.
///
/// Functions accept `&Buffer` and `&Buffer2`, which convert to it. A matrix with gaps between rows is first copied on the
/// device, in stream order, to temporary memory without gaps. A GPU then reads the samples twice and writes them once, and
/// needs as much additional memory as the samples take.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a, T: Element>(Source<'a, T>);

#[derive(Clone, Copy, Debug)]
enum Source<'a, T: Element> {
    Buffer(&'a Buffer<T>),
    Matrix(&'a Buffer2<T>),
}

impl<'a, T: Element> From<&'a Buffer<T>> for Samples<'a, T> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        Samples(Source::Buffer(buffer))
    }
}

impl<'a, T: Element> From<&'a Buffer2<T>> for Samples<'a, T> {
    fn from(matrix: &'a Buffer2<T>) -> Self {
        Samples(Source::Matrix(matrix))
    }
}

/// Samples without gaps, at the beginning of a buffer.
pub(super) enum Gathered<'a, T: Element> {
    Borrowed(&'a Buffer<T>),
    Copied(Buffer<T>),
}

impl<T: Element> Gathered<'_, T> {
    pub(super) fn buffer(&self) -> &Buffer<T> {
        match self {
            Gathered::Borrowed(buffer) => buffer,
            Gathered::Copied(buffer) => buffer,
        }
    }
}

impl<'a, T: Element> Samples<'a, T> {
    /// Returns the number of samples.
    pub(super) fn len(&self) -> usize {
        match self.0 {
            Source::Buffer(buffer) => buffer.len(),
            Source::Matrix(matrix) => matrix.len(),
        }
    }

    pub(super) fn device(&self) -> &'a Device {
        match self.0 {
            Source::Buffer(buffer) => buffer.device(),
            Source::Matrix(matrix) => matrix.buffer().device(),
        }
    }

    /// Returns the rows and columns of a matrix.
    pub(super) fn shape(&self) -> Option<[usize; 2]> {
        match self.0 {
            Source::Buffer(_) => None,
            Source::Matrix(matrix) => Some([matrix.rows(), matrix.columns()]),
        }
    }

    /// Returns a buffer that begins with the samples: the original, or a copy that is enqueued.
    pub(super) fn gathered(&self) -> Result<Gathered<'a, T>> {
        Ok(match self.0 {
            Source::Buffer(buffer) => Gathered::Borrowed(buffer),
            Source::Matrix(matrix) if matrix.has_gaps() => Gathered::Copied(matrix.gathered()?),
            Source::Matrix(matrix) => Gathered::Borrowed(matrix.buffer()),
        })
    }
}
