//! Parts of buffers.

use crate::cpu::allocation;
use crate::device::buffer::check_length;
use crate::device::rows::{Place, Rows};
use crate::distributed::{GpuBytes, GpuBytesMut};
use crate::{Buffer, Device, Element, Error, Result};
use std::fmt;
use std::ops::{Bound, RangeBounds};

/// Consecutive elements of a [`Buffer`], for reading.
///
/// [`Buffer::slice`] returns it, and `&Buffer` converts to it. Operations take it wherever they take a buffer.
///
/// ```
/// use slm::{Device, Filter1d};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// let sum = Filter1d::correlate(&[1, 1, 1]).prepare(&device)?;
/// let x = device.upload(&[9, 1, 2, 3, 9])?;
/// assert_eq!(sum.apply(x.slice(1..4)?)?.download()?, [3, 6, 5]);
/// # Ok(())
/// # }
/// ```
///
/// Slices are fastest if they begin at a multiple of 16 bytes. A GPU first copies others to aligned memory.
#[derive(Clone, Copy)]
pub struct BufferSlice<'a, T: Element> {
    buffer: &'a Buffer<T>,
    first: usize,
    len: usize,
}

/// Consecutive elements of a [`Buffer`], for writing.
///
/// [`Buffer::slice_mut`] returns it, and `&mut Buffer` converts to it. Operations write to it wherever they write to a buffer, and leave
/// the other elements of the buffer as they are.
///
/// ```
/// use slm::{Device, Map};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// let square = Map::square().prepare(&device)?;
/// let mut y = device.upload(&[1, 1, 1, 1])?;
/// square.apply_into(&[2, 3], &mut y.slice_mut(1..3)?)?;
/// assert_eq!(y.download()?, [1, 4, 9, 1]);
/// # Ok(())
/// # }
/// ```
///
/// As for [`BufferSlice`], a GPU uses an aligned copy if the slice does not begin at a multiple of 16 bytes.
pub struct BufferSliceMut<'a, T: Element> {
    buffer: &'a mut Buffer<T>,
    first: usize,
    len: usize,
}

/// Alignment that kernels need, in bytes. Buffers begin at multiples of it.
const ALIGNMENT: usize = 16;

/// Parts.
impl<T: Element> Buffer<T> {
    /// Returns a part of the buffer, for reading.
    ///
    /// # Errors
    ///
    /// [`Error::Range`] if the range does not lie within the buffer.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<BufferSlice<'_, T>> {
        BufferSlice::from(self).slice(range)
    }

    /// Returns a part of the buffer, for writing.
    ///
    /// # Errors
    ///
    /// [`Error::Range`] if the range does not lie within the buffer.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<BufferSliceMut<'_, T>> {
        let [first, len] = part_of(self.len(), range)?;
        Ok(BufferSliceMut { buffer: self, first, len })
    }
}

impl<'a, T: Element> From<&'a Buffer<T>> for BufferSlice<'a, T> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        BufferSlice { buffer, first: 0, len: buffer.len() }
    }
}

/// So that a `&mut Buffer` can be read without a conversion.
impl<'a, T: Element> From<&'a mut Buffer<T>> for BufferSlice<'a, T> {
    fn from(buffer: &'a mut Buffer<T>) -> Self {
        BufferSlice::from(&*buffer)
    }
}

impl<'a, T: Element> From<&'a mut Buffer<T>> for BufferSliceMut<'a, T> {
    fn from(buffer: &'a mut Buffer<T>) -> Self {
        BufferSliceMut { first: 0, len: buffer.len(), buffer }
    }
}

impl<'a, T: Element> BufferSlice<'a, T> {
    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the device handle that the buffer belongs to.
    #[must_use]
    pub fn device(&self) -> &'a Device {
        self.buffer.device()
    }

    /// Returns a part of the slice. Positions count from its beginning.
    ///
    /// # Errors
    ///
    /// [`Error::Range`] if the range does not lie within the slice.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<BufferSlice<'a, T>> {
        let [first, len] = part_of(self.len, range)?;
        Ok(BufferSlice { buffer: self.buffer, first: self.first + first, len })
    }

    /// Returns the elements; otherwise as [`Buffer::download`].
    ///
    /// # Errors
    ///
    /// The errors of [`Buffer::download`].
    pub fn download(&self) -> Result<Vec<T>> {
        let mut data = allocation::filled(T::default(), self.len)?;
        self.download_into(&mut data)?;
        Ok(data)
    }

    /// Copies the elements to `data`; otherwise as [`Buffer::download_into`].
    ///
    /// # Errors
    ///
    /// The errors of [`Buffer::download_into`].
    pub fn download_into(&self, data: &mut [T]) -> Result<()> {
        check_length("the slice to download into", self.len, data.len())?;
        self.buffer.download_rows(data, Rows { source: self.place(), ..Rows::whole(self.len) })
    }

    /// Returns the buffer, in which the slice begins at [`first`](Self::first).
    pub(crate) fn buffer(&self) -> &'a Buffer<T> {
        self.buffer
    }

    /// Returns the position of the first element in the buffer.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// Returns where the elements are in the memory of a CUDA device, or an error on other devices. The caller orders the accesses.
    pub(crate) fn gpu_bytes(&self) -> Result<GpuBytes<'a>> {
        let address = self.buffer.cuda_address().ok_or_else(|| no_cuda_memory(self.device()))?;
        Ok(GpuBytes::new(address + (self.first * size_of::<T>()) as u64, self.len * size_of::<T>()))
    }

    /// Returns the elements on the CPU.
    pub(crate) fn cpu(&self) -> &'a [T] {
        &self.buffer.storage().cpu()[self.first..self.first + self.len]
    }

    /// Returns whether kernels can read the slice where it is.
    pub(crate) fn is_aligned(&self) -> bool {
        is_aligned::<T>(self.first)
    }

    /// Returns a buffer with a copy of the elements, which is enqueued.
    pub(crate) fn copied(&self) -> Result<Buffer<T>> {
        let mut copy = self.device().unwritten(self.len)?;
        copy.copy_rows(self.buffer, Rows { source: self.place(), ..Rows::whole(self.len) })?;
        Ok(copy)
    }

    fn place(&self) -> Place {
        Place { first: self.first, ..Place::at_start(self.len) }
    }
}

impl<T: Element> BufferSliceMut<'_, T> {
    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the device handle that the buffer belongs to.
    #[must_use]
    pub fn device(&self) -> &Device {
        self.buffer.device()
    }

    /// Returns the same elements, for reading.
    #[must_use]
    pub fn as_slice(&self) -> BufferSlice<'_, T> {
        BufferSlice { buffer: self.buffer, first: self.first, len: self.len }
    }

    /// Returns a part of the slice. Positions count from its beginning.
    ///
    /// # Errors
    ///
    /// [`Error::Range`] if the range does not lie within the slice.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<BufferSliceMut<'_, T>> {
        let [first, len] = part_of(self.len, range)?;
        Ok(BufferSliceMut { buffer: self.buffer, first: self.first + first, len })
    }

    /// Copies `data` to the elements; otherwise as [`Buffer::upload`].
    ///
    /// # Errors
    ///
    /// The errors of [`Buffer::upload`].
    pub fn upload(&mut self, data: &[T]) -> Result<()> {
        check_length("the slice to upload", self.len, data.len())?;
        let target = self.as_slice().place();
        self.buffer.upload_rows(data, Rows { target, ..Rows::whole(self.len) })
    }

    /// Copies the elements of `source` on the device; otherwise as [`Buffer::copy_from`].
    ///
    /// # Errors
    ///
    /// The errors of [`Buffer::copy_from`].
    pub fn copy_from<'s>(&mut self, source: impl Into<BufferSlice<'s, T>>) -> Result<()> {
        let source = source.into();
        self.device().check_owner("the source", source.device())?;
        check_length("the source", self.len, source.len())?;
        let target = self.as_slice().place();
        self.buffer.copy_rows(source.buffer, Rows { source: source.place(), target, ..Rows::whole(self.len) })
    }

    /// Returns the slice again, for a shorter time.
    pub(crate) fn reborrow(&mut self) -> BufferSliceMut<'_, T> {
        BufferSliceMut { buffer: self.buffer, first: self.first, len: self.len }
    }

    /// Enqueues work that sets all elements to zero.
    pub(crate) fn clear(&mut self) -> Result<()> {
        if self.len == self.buffer.len() {
            return self.buffer.clear();
        }
        let zeros = self.device().zeroed(self.len)?;
        self.copy_from(&zeros)
    }

    pub(crate) fn first(&self) -> usize {
        self.first
    }

    pub(crate) fn is_aligned(&self) -> bool {
        is_aligned::<T>(self.first)
    }
}

impl<'a, T: Element> BufferSliceMut<'a, T> {
    /// As [`BufferSlice::gpu_bytes`], for others to write.
    pub(crate) fn into_gpu_bytes(self) -> Result<GpuBytesMut<'a>> {
        let bytes = self.as_slice().gpu_bytes()?;
        Ok(GpuBytesMut::new(bytes.address(), bytes.len()))
    }

    /// Returns the buffer, in which the slice begins at [`first`](Self::first).
    pub(crate) fn into_buffer(self) -> &'a mut Buffer<T> {
        self.buffer
    }

    /// Returns the elements on the CPU.
    pub(crate) fn into_cpu(self) -> &'a mut [T] {
        &mut self.buffer.storage_mut().cpu_mut()[self.first..self.first + self.len]
    }
}

/// Returns the error for a device whose memory is not CUDA's.
pub(crate) fn no_cuda_memory(device: &Device) -> Error {
    Error::DeviceUnsupported { device: device.info().name.clone(), lacks: "CUDA memory" }
}

fn is_aligned<T>(first: usize) -> bool {
    // Without overflow: the element exists, so its distance from the first one fits into the address space.
    (first * size_of::<T>()).is_multiple_of(ALIGNMENT)
}

/// Returns the first element of a range and its length.
fn part_of(len: usize, range: impl RangeBounds<usize>) -> Result<[usize; 2]> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&last) => last.saturating_add(1),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    if start <= end && end <= len { Ok([start, end - start]) } else { Err(Error::Range { start, end, len }) }
}

impl<T: Element> fmt::Debug for BufferSlice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferSlice").field("first", &self.first).field("len", &self.len).finish_non_exhaustive()
    }
}

impl<T: Element> fmt::Debug for BufferSliceMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferSliceMut").field("first", &self.first).field("len", &self.len).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_within_a_sequence() {
        assert_eq!(part_of(5, ..), Ok([0, 5]));
        assert_eq!(part_of(5, 2..=4), Ok([2, 3]));
        assert_eq!(part_of(5, (Bound::Excluded(1), Bound::Unbounded)), Ok([2, 3]));
        assert_eq!(part_of(0, 0..0), Ok([0, 0]));
        let refused = |start, end| Err(Error::Range { start, end, len: 5 });
        assert_eq!(part_of(5, 2..6), refused(2, 6));
        assert_eq!(part_of(5, 6..), refused(6, 5));
        assert_eq!(part_of(5, ..=usize::MAX), refused(0, usize::MAX));
        assert_eq!(part_of(5, std::ops::Range { start: 3, end: 2 }), refused(3, 2));
    }

    #[test]
    fn alignment_of_elements() {
        let aligned = |is_aligned: fn(usize) -> bool| (0..20).filter(|&first| is_aligned(first)).collect::<Vec<_>>();
        assert_eq!(aligned(is_aligned::<u8>), [0, 16]);
        assert_eq!(aligned(is_aligned::<f32>), [0, 4, 8, 12, 16]);
        assert_eq!(aligned(is_aligned::<u64>), [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
    }
}
