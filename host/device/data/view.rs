//! Buffers and matrices of a device as one type.

use super::elements::OnBuffer;
use crate::device::rows::{Place, Rows};
use crate::device::slice::{BufferSlice, BufferSliceMut};
use crate::{Buffer, Buffer2, Device, Element, Result};

/// Elements on a device that an operation reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BufferView<'a, T: Element> {
    slice: BufferSlice<'a, T>,
    axes: ViewAxes,
}

/// Matrices of one shape on a device, one below the other in a [`Buffer2`]: a batch of pictures.
///
/// [`Buffer2::planes`] returns it. Operations other than [`Filter2d`](crate::Filter2d) take it as one matrix.
#[derive(Clone, Copy, Debug)]
pub struct Planes<'a, T: Element> {
    pub(crate) matrix: &'a Buffer2<T>,
    pub(crate) count: usize,
}

/// Elements on a device that an operation writes.
#[derive(Debug)]
pub(crate) struct BufferViewMut<'a, T: Element> {
    slice: BufferSliceMut<'a, T>,
    axes: ViewAxes,
}

/// The axes of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ViewAxes {
    Row([usize; 1]),
    Matrix { shape: [usize; 2], pitch: usize },
}

impl ViewAxes {
    fn of<T: Element>(matrix: &Buffer2<T>) -> Self {
        ViewAxes::Matrix { shape: [matrix.rows(), matrix.columns()], pitch: matrix.pitch() }
    }

    /// Returns rows and columns. A buffer is one row.
    fn rows_and_columns(&self) -> [usize; 2] {
        match *self {
            ViewAxes::Row([len]) => [1, len],
            ViewAxes::Matrix { shape, .. } => shape,
        }
    }

    /// Returns the row pitch of rows with this number of elements. Those of a buffer have no gaps.
    fn pitch(&self, columns: usize) -> usize {
        match *self {
            ViewAxes::Row(_) => columns,
            ViewAxes::Matrix { pitch, .. } => pitch,
        }
    }
}

impl<'a, T: Element> From<BufferSlice<'a, T>> for BufferView<'a, T> {
    fn from(slice: BufferSlice<'a, T>) -> Self {
        BufferView { slice, axes: ViewAxes::Row([slice.len()]) }
    }
}

impl<'a, T: Element> From<&'a Buffer<T>> for BufferView<'a, T> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        BufferSlice::from(buffer).into()
    }
}

impl<'a, T: Element> From<&'a Buffer2<T>> for BufferView<'a, T> {
    fn from(matrix: &'a Buffer2<T>) -> Self {
        BufferView { slice: matrix.buffer().into(), axes: ViewAxes::of(matrix) }
    }
}

impl<'a, T: Element> From<BufferSliceMut<'a, T>> for BufferViewMut<'a, T> {
    fn from(slice: BufferSliceMut<'a, T>) -> Self {
        BufferViewMut { axes: ViewAxes::Row([slice.len()]), slice }
    }
}

impl<'a, T: Element> From<&'a mut BufferSliceMut<'_, T>> for BufferViewMut<'a, T> {
    fn from(slice: &'a mut BufferSliceMut<'_, T>) -> Self {
        slice.reborrow().into()
    }
}

impl<'a, T: Element> From<&'a mut Buffer<T>> for BufferViewMut<'a, T> {
    fn from(buffer: &'a mut Buffer<T>) -> Self {
        BufferSliceMut::from(buffer).into()
    }
}

impl<'a, T: Element> From<&'a mut Buffer2<T>> for BufferViewMut<'a, T> {
    fn from(matrix: &'a mut Buffer2<T>) -> Self {
        BufferViewMut { axes: ViewAxes::of(matrix), slice: matrix.buffer_mut().into() }
    }
}

impl<'a, T: Element> BufferView<'a, T> {
    /// Returns rows of whatever length that begin this number of elements apart.
    pub(crate) fn matrix(slice: BufferSlice<'a, T>, pitch: usize) -> Self {
        BufferView { slice, axes: ViewAxes::Matrix { shape: [slice.len().div_ceil(pitch.max(1)), pitch], pitch } }
    }

    /// Returns the elements, also those in gaps.
    pub(crate) fn slice(&self) -> BufferSlice<'a, T> {
        self.slice
    }

    /// Returns the row pitch of rows with this number of elements. Those of a buffer have no gaps.
    pub(crate) fn pitch(&self, columns: usize) -> usize {
        self.axes.pitch(columns)
    }

    /// Returns a slice that begins with the elements, without gaps: the one that is viewed, or an enqueued copy.
    pub(crate) fn gathered(&self) -> Result<OnBuffer<'a, T>> {
        let [count, len] = self.axes.rows_and_columns();
        let pitch = self.pitch(len);
        if count <= 1 || pitch == len {
            return Ok(OnBuffer::Borrowed(self.slice));
        }
        let mut copy = self.slice.device().unwritten(count * len)?;
        let (source, target) = (Place { first: self.slice.first(), pitch }, Place::at_start(len));
        copy.copy_rows(self.slice.buffer(), Rows { count, len, source, target })?;
        Ok(OnBuffer::Copied(copy))
    }

    /// Returns an error if the view belongs to another device.
    pub(crate) fn check_owner(&self, what: &'static str, device: &Device) -> Result<()> {
        device.check_owner(what, self.slice.device())
    }
}

impl<'a, T: Element> BufferViewMut<'a, T> {
    /// Returns rows of whatever length that begin this number of elements apart.
    pub(crate) fn matrix(slice: BufferSliceMut<'a, T>, pitch: usize) -> Self {
        BufferViewMut { axes: ViewAxes::Matrix { shape: [slice.len().div_ceil(pitch.max(1)), pitch], pitch }, slice }
    }

    /// Returns the elements, also those in gaps.
    pub(crate) fn into_slice(self) -> BufferSliceMut<'a, T> {
        self.slice
    }

    /// Returns the row pitch of rows with this number of elements. Those of a buffer have no gaps.
    pub(crate) fn pitch(&self, columns: usize) -> usize {
        self.axes.pitch(columns)
    }

    /// Returns an error if the view belongs to another device.
    pub(crate) fn check_owner(&self, what: &'static str, device: &Device) -> Result<()> {
        device.check_owner(what, self.slice.device())
    }
}
