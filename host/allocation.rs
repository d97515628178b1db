//! Host memory: an error where there is not enough of it. `vec!` and `to_vec` would end the program.

use crate::{Element, Error, Result};
use ndarray::{ArrayView, Dimension};
use rayon::prelude::*;
use std::borrow::Cow;

/// The fewest elements that are worth another thread.
const SHARE: usize = 1 << 16;

/// An empty vector with room for `len` elements.
pub(crate) fn reserved<T>(len: usize) -> Result<Vec<T>> {
    let mut data = Vec::new();
    let requested = len.saturating_mul(size_of::<T>()) as u64;
    data.try_reserve_exact(len).map_err(|_| Error::OutOfHostMemory { requested })?;
    Ok(data)
}

/// `len` times the same.
pub(crate) fn filled<T: Element>(value: T, len: usize) -> Result<Vec<T>> {
    let mut data = reserved(len)?;
    // By all cores: most of the time goes to pages that are touched for the first time.
    rayon::iter::repeat_n(value, len).with_min_len(SHARE).collect_into_vec(&mut data);
    Ok(data)
}

/// A copy.
pub(crate) fn copied<T: Element>(data: &[T]) -> Result<Vec<T>> {
    let mut copy = reserved(data.len())?;
    copy.extend_from_slice(data);
    Ok(copy)
}

/// The elements of an array row after row: themselves if they lie so, otherwise a copy.
pub(crate) fn row_after_row<T: Element, D: Dimension>(matrix: ArrayView<'_, T, D>) -> Result<Cow<'_, [T]>> {
    if let Some(data) = matrix.to_slice() {
        return Ok(Cow::Borrowed(data));
    }
    let mut copy = reserved(matrix.len())?;
    copy.extend(matrix.iter().copied());
    Ok(Cow::Owned(copy))
}
