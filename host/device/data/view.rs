//! Buffers and matrices of a device as one type.

use super::check_same;
use super::elements::OnBuffer;
use crate::device::rows::{Place, Rows};
use crate::{Buffer, Buffer2, Device, Element, Result};

/// Elements on a device that an operation reads: those of a [`Buffer`] or of a [`Buffer2`].
///
/// Functions accept `&Buffer` and `&Buffer2`, which convert to it.
#[derive(Clone, Copy, Debug)]
pub struct BufferView<'a, T: Element> {
    buffer: &'a Buffer<T>,
    axes: Axes,
}

/// Matrices of one shape on a device, one below the other in a [`Buffer2`]: a batch of pictures.
///
/// [`Buffer2::planes`] returns it. Functions also accept `&Buffer2`, a single matrix, which converts to it.
#[derive(Clone, Copy, Debug)]
pub struct Planes<'a, T: Element> {
    pub(crate) view: BufferView<'a, T>,
    pub(crate) count: usize,
}

/// Elements on a device that an operation writes: a [`Buffer`] or a [`Buffer2`]. The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `Write` in their generic code")]
pub trait Output<T: Element>: Write<T> {}

/// Access to what is written.
pub(crate) trait Write<T: Element> {
    fn view_mut(&mut self) -> BufferViewMut<'_, T>;
}

/// Elements that an operation writes.
#[derive(Debug)]
pub(crate) struct BufferViewMut<'a, T: Element> {
    buffer: &'a mut Buffer<T>,
    axes: Axes,
}

/// The axes of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axes {
    Row([usize; 1]),
    Matrix { shape: [usize; 2], pitch: usize },
}

impl Axes {
    fn of<T: Element>(matrix: &Buffer2<T>) -> Self {
        Axes::Matrix { shape: [matrix.rows(), matrix.columns()], pitch: matrix.pitch() }
    }

    fn lengths(&self) -> &[usize] {
        match self {
            Axes::Row(len) => len,
            Axes::Matrix { shape, .. } => shape,
        }
    }

    /// Returns rows and columns. A buffer is one row.
    fn rows_and_columns(&self) -> [usize; 2] {
        match *self {
            Axes::Row([len]) => [1, len],
            Axes::Matrix { shape, .. } => shape,
        }
    }

    /// Returns the row pitch of rows with this number of elements. Those of a buffer have no gaps.
    fn pitch(&self, columns: usize) -> usize {
        match *self {
            Axes::Row(_) => columns,
            Axes::Matrix { pitch, .. } => pitch,
        }
    }
}

impl<'a, T: Element> From<&'a Buffer<T>> for BufferView<'a, T> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        BufferView { buffer, axes: Axes::Row([buffer.len()]) }
    }
}

impl<'a, T: Element> From<&'a Buffer2<T>> for BufferView<'a, T> {
    fn from(matrix: &'a Buffer2<T>) -> Self {
        BufferView { buffer: matrix.buffer(), axes: Axes::of(matrix) }
    }
}

impl<'a, T: Element, V> From<&'a V> for Planes<'a, T>
where
    &'a V: Into<BufferView<'a, T>>,
{
    fn from(matrix: &'a V) -> Self {
        Planes { view: matrix.into(), count: 1 }
    }
}

impl<T: Element> Output<T> for Buffer<T> {}

impl<T: Element> Write<T> for Buffer<T> {
    fn view_mut(&mut self) -> BufferViewMut<'_, T> {
        BufferViewMut { axes: Axes::Row([self.len()]), buffer: self }
    }
}

impl<T: Element> Output<T> for Buffer2<T> {}

impl<T: Element> Write<T> for Buffer2<T> {
    fn view_mut(&mut self) -> BufferViewMut<'_, T> {
        BufferViewMut { axes: Axes::of(self), buffer: self.buffer_mut() }
    }
}

impl<'a, T: Element> BufferView<'a, T> {
    pub(crate) fn buffer(&self) -> &'a Buffer<T> {
        self.buffer
    }

    /// Returns the lengths of the axes: one of a buffer, two of a matrix.
    pub(crate) fn axes(&self) -> &[usize] {
        self.axes.lengths()
    }

    /// Returns rows and columns. A buffer is one row.
    pub(crate) fn rows_and_columns(&self) -> [usize; 2] {
        self.axes.rows_and_columns()
    }

    /// Returns the row pitch of rows with this number of elements. Those of a buffer have no gaps.
    pub(crate) fn pitch(&self, columns: usize) -> usize {
        self.axes.pitch(columns)
    }

    /// Returns the number of elements, without gaps.
    pub(crate) fn len(&self) -> usize {
        self.axes().iter().product()
    }

    /// Returns a buffer that begins with the elements, without gaps: the one that is viewed, or an enqueued copy.
    pub(crate) fn gathered(&self) -> Result<OnBuffer<'a, T>> {
        let [count, len] = self.rows_and_columns();
        let pitch = self.pitch(len);
        if count <= 1 || pitch == len {
            return Ok(OnBuffer::Borrowed(self.buffer));
        }
        let mut copy = self.buffer.device().unwritten(self.len())?;
        let (source, target) = (Place::at_start(pitch), Place::at_start(len));
        copy.copy_rows(self.buffer, Rows { count, len, source, target })?;
        Ok(OnBuffer::Copied(copy))
    }

    /// Returns an error if the view belongs to another device.
    pub(crate) fn check_owner(&self, what: &'static str, device: &Device) -> Result<()> {
        device.check_owner(what, self.buffer.device())
    }
}

impl<'a, T: Element> BufferViewMut<'a, T> {
    pub(crate) fn into_buffer(self) -> &'a mut Buffer<T> {
        self.buffer
    }

    /// Returns the lengths of the axes: one of a buffer, two of a matrix.
    pub(crate) fn axes(&self) -> &[usize] {
        self.axes.lengths()
    }

    /// Returns the row pitch of rows with this number of elements. Those of a buffer have no gaps.
    pub(crate) fn pitch(&self, columns: usize) -> usize {
        self.axes.pitch(columns)
    }

    /// Returns an error if the view belongs to another device.
    pub(crate) fn check_owner(&self, what: &'static str, device: &Device) -> Result<()> {
        device.check_owner(what, self.buffer.device())
    }

    /// Returns an error if the axes have other lengths.
    pub(crate) fn check_axes(&self, what: &'static str, expected: &[usize]) -> Result<()> {
        check_same(what, expected, self.axes.lengths())
    }
}
