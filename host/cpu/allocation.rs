//! Allocation of host memory. A failed allocation is an error, whereas `vec!` and `to_vec` would end the program.

use crate::{Element, Error, Result};
use ndarray::{ArrayView, Dimension};
use rayon::prelude::*;
use std::borrow::Cow;

/// Minimum number of elements per thread.
const SHARE: usize = 1 << 16;

/// Returns an empty vector with room for `len` elements.
pub(crate) fn reserved<T>(len: usize) -> Result<Vec<T>> {
    let mut data = Vec::new();
    let requested = len.saturating_mul(size_of::<T>()) as u64;
    data.try_reserve_exact(len).map_err(|_| Error::OutOfHostMemory { requested })?;
    Ok(data)
}

/// Empties a vector and makes room for `len` elements, in the memory that it has if that is enough.
pub(crate) fn emptied<T>(data: &mut Vec<T>, len: usize) -> Result<&mut Vec<T>> {
    data.clear();
    if data.capacity() < len {
        *data = reserved(len)?;
    }
    Ok(data)
}

/// Returns `len` copies of `value`.
pub(crate) fn filled<T: Element>(value: T, len: usize) -> Result<Vec<T>> {
    value.filled(len)
}

/// The same, compiled where it is called.
pub(crate) fn filled_here<T: Copy + Send>(value: T, len: usize) -> Result<Vec<T>> {
    let mut data = reserved(len)?;
    if len <= SHARE {
        data.resize(len, value);
        return Ok(data);
    }
    // On all cores: touching new pages takes most of the time.
    rayon::iter::repeat_n(value, len).with_min_len(SHARE).collect_into_vec(&mut data);
    Ok(data)
}

/// Returns a copy of `data`.
pub(crate) fn copied<T: Element>(data: &[T]) -> Result<Vec<T>> {
    let mut copy = reserved(data.len())?;
    copy.extend_from_slice(data);
    Ok(copy)
}

/// Returns the elements of an iterator.
pub(crate) fn collected<T>(elements: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut data = reserved(elements.len())?;
    data.extend(elements);
    Ok(data)
}

/// Adds elements.
pub(crate) fn append<T: Copy>(data: &mut Vec<T>, elements: &[T]) -> Result<()> {
    let requested = data.len().saturating_add(elements.len()).saturating_mul(size_of::<T>()) as u64;
    data.try_reserve(elements.len()).map_err(|_| Error::OutOfHostMemory { requested })?;
    data.extend_from_slice(elements);
    Ok(())
}

/// Returns the elements of an array in row-major order: borrowed if they are stored in that order, otherwise copied.
pub(crate) fn row_after_row<T: Element, D: Dimension>(matrix: ArrayView<'_, T, D>) -> Result<Cow<'_, [T]>> {
    if let Some(data) = matrix.to_slice() {
        return Ok(Cow::Borrowed(data));
    }
    let mut copy = reserved(matrix.len())?;
    for row in matrix.rows() {
        match row.to_slice() {
            Some(row) => copy.extend_from_slice(row),
            None => copy.extend(row.iter().copied()),
        }
    }
    Ok(Cow::Owned(copy))
}
