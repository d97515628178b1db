//! The elements of tensors.

use crate::device::buffer::check_size;
use crate::dlpack::DlpackError;
use crate::{Buffer2, Element, Error, Result};
use dlpark::ffi::{DLDevice, DLDeviceType};
use dlpark::{DlpackFlags, Managed, ManagedTensorBase, TensorRef};
use ndarray::{ArrayView2, ShapeBuilder};
use std::marker::PhantomData;

/// The alignment that kernels need, in bytes: that of their largest accesses.
const ALIGNMENT: u64 = 16;

/// The axes that a tensor must have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Axes {
    /// Any number, without gaps: a sequence.
    Any,
    /// Two, with a row pitch: a matrix.
    Two,
}

/// Elements of a tensor on a device, after all checks of its description: rows, each without gaps.
#[derive(Debug)]
pub(crate) struct Elements<T> {
    address: u64,
    rows: usize,
    columns: usize,
    pitch: usize,
    len: usize,
    marker: PhantomData<T>,
}

impl<T: Element> Elements<T> {
    /// Returns the elements of a tensor on `device` that a buffer can own.
    ///
    /// # Errors
    ///
    /// [`Error::Dlpack`] and [`Error::TooLarge`].
    pub(crate) fn on_device<M: ManagedTensorBase>(tensor: &Managed<M>, axes: Axes, device: DLDevice) -> Result<Self> {
        let (description, elements) = describe::<T, M>(tensor, axes)?;
        if description.device() != device {
            return Err(DlpackError::Device { expected: device, actual: description.device() }.into());
        }
        if tensor.flags().contains(DlpackFlags::READ_ONLY) {
            return Err(DlpackError::ReadOnly.into());
        }
        elements.check_alignment(ALIGNMENT)?;
        Ok(elements)
    }

    /// Returns the address of the first element, 0 if there are none.
    #[cfg_attr(not(cuda), allow(dead_code))]
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Returns the number of elements from the first to the last.
    #[cfg_attr(not(cuda), allow(dead_code))]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the rows, the columns and the row pitch.
    pub(crate) fn shape(&self) -> [usize; 3] {
        [self.rows, self.columns, self.pitch]
    }

    fn check_alignment(&self, alignment: u64) -> Result<()> {
        match self.address.is_multiple_of(alignment) {
            true => Ok(()),
            false => Err(DlpackError::Misaligned { address: self.address, alignment }.into()),
        }
    }
}

/// Returns a view on the elements of a tensor in the memory of the host.
///
/// # Errors
///
/// [`Error::Dlpack`] and [`Error::TooLarge`].
pub(crate) fn host_view<T: Element, M: ManagedTensorBase>(
    tensor: &Managed<M>,
    axes: Axes,
) -> Result<ArrayView2<'_, T>> {
    let (description, elements) = describe::<T, M>(tensor, axes)?;
    let actual = description.device();
    if ![DLDeviceType::CPU, DLDeviceType::CUDAHOST].contains(&actual.device_type) {
        return Err(DlpackError::Device { expected: DLDevice::CPU, actual }.into());
    }
    elements.check_alignment(align_of::<T>() as u64)?;
    let [rows, columns, pitch] = elements.shape();
    if elements.len == 0 {
        let empty = ArrayView2::from_shape((rows, columns), &[]);
        return Ok(empty.expect("the shape has no elements"));
    }
    let first = description.data_ptr().wrapping_byte_add(description.byte_offset() as usize).cast();
    let shape = (rows, columns).strides((pitch, 1));
    // SAFETY: `describe` has checked that the pointer is not null and that the extent can be addressed, and the alignment is
    // checked above. Every bit pattern is a valid element. Whoever made the tensor has promised that the elements are there while
    // it lives, which is borrowed, and that nobody writes them meanwhile (`host/guide/safety.md`).
    Ok(unsafe { ArrayView2::from_shape_ptr(shape, first) })
}

/// Returns the description of a tensor and its elements, which have type `T`.
fn describe<T: Element, M: ManagedTensorBase>(tensor: &Managed<M>, axes: Axes) -> Result<(TensorRef<'_>, Elements<T>)> {
    let description = tensor.validate().map_err(malformed)?;
    if !description.dtype().matches(T::DATA_TYPE) {
        return Err(DlpackError::DataType { expected: T::DATA_TYPE, actual: description.dtype() }.into());
    }
    let [rows, columns, pitch] = match axes {
        Axes::Any => sequence(&description)?,
        Axes::Two => matrix(&description)?,
    };
    let len = Buffer2::<T>::buffer_len(rows, columns, pitch)?;
    check_size::<T>(len)?;
    let address = if len == 0 { 0 } else { address(&description, len * size_of::<T>())? };
    Ok((description, Elements { address, rows, columns, pitch, len, marker: PhantomData }))
}

fn malformed(error: dlpark::tensor::Error) -> DlpackError {
    DlpackError::Malformed { reason: error.to_string() }
}

/// Returns the elements of a tensor without gaps as one row.
fn sequence(description: &TensorRef<'_>) -> Result<[usize; 3]> {
    let (shape, strides) = (description.shape(), description.strides_or_compact().map_err(malformed)?);
    let mut next = 1;
    let is_sequence = shape.iter().zip(strides.iter()).rev().all(|(count, stride)| {
        // The stride of a single element is not used.
        let fits = *count == 1 || *stride == next;
        next = next.saturating_mul(*count);
        fits
    });
    let len = description.num_elements();
    if is_sequence || len == 0 { Ok([1, len, len]) } else { Err(other_strides(shape, &strides)) }
}

/// Returns the rows, the columns and the row pitch of a tensor with two axes.
fn matrix(description: &TensorRef<'_>) -> Result<[usize; 3]> {
    let strides = description.strides_or_compact().map_err(malformed)?;
    let ([rows, columns], [row, column]) = (description.shape(), &*strides) else {
        return Err(DlpackError::Axes { expected: 2, actual: description.ndim() }.into());
    };
    let counts = [*rows, *columns].map(usize::try_from);
    let [Ok(rows), Ok(columns)] = counts else { return Err(too_large(*rows, *columns)) };
    // The stride of a single row or column is not used.
    let pitch = if rows > 1 { usize::try_from(*row).unwrap_or(0) } else { columns };
    match (rows, columns) {
        (0, _) | (_, 0) => Ok([rows, columns, columns]),
        _ if pitch >= columns && (columns == 1 || *column == 1) => Ok([rows, columns, pitch]),
        _ => Err(other_strides(description.shape(), &strides)),
    }
}

fn other_strides(shape: &[i64], strides: &[i64]) -> Error {
    DlpackError::Strides { shape: shape.to_vec(), strides: strides.to_vec() }.into()
}

fn too_large(rows: i64, columns: i64) -> Error {
    let factors = [rows, columns].map(i64::unsigned_abs);
    Error::TooLarge { what: "a matrix", factors, limit: isize::MAX as u64 }
}

/// Returns the address of the first of `bytes` bytes, which are all addressable.
fn address(description: &TensorRef<'_>, bytes: usize) -> Result<u64> {
    let data = description.data_ptr();
    if data.is_null() {
        return Err(DlpackError::NoData { elements: description.num_elements() }.into());
    }
    let (data, offset) = (data.addr() as u64, description.byte_offset());
    let fits = |address: &u64| address.checked_add(bytes as u64).is_some_and(|end| usize::try_from(end).is_ok());
    data.checked_add(offset).filter(fits).ok_or(DlpackError::Offset { address: data, offset }.into())
}
