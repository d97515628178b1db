//! Global memory: allocations that the emulator owns.

// Makes the windows that kernels get.
#![allow(unsafe_code)]

use super::region::Region;
use crate::race::MAX_INTERVALS;
use crate::report::Place;
use cuda_std::host::{Access, Space, Window, from_bits, to_bits};
use cuda_std::{GlobalIn, GlobalInOut, GlobalOut, Value};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Set in every address: neither a GPU nor a host has memory there, so nothing can be reached by accident.
const GLOBAL: u64 = 1 << 63;

/// Bits of an address that are the offset in its allocation.
const OFFSET_BITS: u32 = 36;

/// Size of the largest buffer, in bytes.
const MAX_BYTES: usize = 1 << OFFSET_BITS;

/// Number of buffers that the other bits of an address can identify.
pub(crate) const MOST_BUFFERS: usize = 1 << (63 - OFFSET_BITS);

/// Panic message for a buffer without a region.
const NO_BUFFER: &str = "the buffer has been freed, or is another emulator's";

/// Handle of elements in global memory, owned by the emulator that created them.
///
/// Dropping the handle does not free the memory; [`Emulator::free`](crate::Emulator::free) does.
#[derive(Debug, PartialEq, Eq)]
pub struct Buffer<T> {
    address: u64,
    len: usize,
    marker: PhantomData<fn(T) -> T>,
}

impl<T: Value> Buffer<T> {
    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether it has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns a window on all elements, for a kernel to read while nothing writes them.
    #[must_use]
    pub fn input(&self) -> GlobalIn<'_, T> {
        // SAFETY: as for `output`.
        unsafe { GlobalIn::from_raw_parts(self.address, self.len as u64) }
    }

    /// Returns a window on all elements, for a kernel to write.
    #[must_use]
    pub fn output(&self) -> GlobalOut<'_, T> {
        // SAFETY: only the emulator interprets the address, and it checks every
        // access, also that nothing writes inputs, and that a launch was given the
        // window. A device has no memory there.
        unsafe { GlobalOut::from_raw_parts(self.address, self.len as u64) }
    }

    /// Returns a window on all elements, for a kernel to read and write.
    #[must_use]
    pub fn in_out(&self) -> GlobalInOut<'_, T> {
        // SAFETY: as for `output`.
        unsafe { GlobalInOut::from_raw_parts(self.address, self.len as u64) }
    }
}

/// All allocations of an emulator.
#[derive(Debug)]
pub(crate) struct Allocations {
    /// Number of the first region.
    first: usize,
    /// By number, starting with `first`. `None` for freed regions, and for those of other emulators.
    regions: Vec<Option<Box<Region>>>,
    /// Number of intervals of all launches so far.
    pub(crate) intervals: u32,
    /// Maximum number of intervals.
    pub(crate) max_intervals: u32,
}

impl Default for Allocations {
    fn default() -> Self {
        Allocations { first: 0, regions: Vec::new(), intervals: 0, max_intervals: MAX_INTERVALS }
    }
}

/// Returns a number for a region, if there is one left. Numbers are unique in a process, so that a window on freed memory,
/// or on memory of another emulator, is found.
fn new_number() -> Option<usize> {
    static NUMBERS: AtomicUsize = AtomicUsize::new(0);
    next_number(&NUMBERS)
}

fn next_number(numbers: &AtomicUsize) -> Option<usize> {
    let next = |number| (number < MOST_BUFFERS).then_some(number + 1);
    numbers.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()
}

impl Allocations {
    /// Begins a launch. Before interval numbers run out, the record of earlier
    /// launches is cleared: everything in them is ordered before anyway.
    pub(crate) fn begin_launch(&mut self) {
        if self.intervals > self.max_intervals / 2 {
            self.intervals = 0;
            self.regions.iter_mut().flatten().for_each(|region| region.forget_accesses());
        }
    }

    /// Returns a buffer of `len` elements, in the region that `make` returns
    /// for its bytes; `None` if the numbers of buffers are exhausted.
    pub(crate) fn add<T>(&mut self, len: usize, make: impl FnOnce(usize) -> Region) -> Option<Buffer<T>> {
        let bytes = len.checked_mul(size_of::<T>()).filter(|bytes| *bytes <= MAX_BYTES);
        let bytes = bytes.expect("a buffer has 64 GiB at the most");
        let (number, region) = (new_number()?, make(bytes));
        if self.regions.is_empty() {
            self.first = number;
        }
        self.regions.resize_with(number - self.first, || None);
        self.regions.push(Some(Box::new(region)));
        Some(Buffer { address: GLOBAL | (number as u64) << OFFSET_BITS, len, marker: PhantomData })
    }

    pub(crate) fn free<T>(&mut self, buffer: &Buffer<T>) {
        let place = self.place(buffer.address);
        let region = self.regions.get_mut(place).and_then(Option::take);
        assert!(region.is_some(), "{NO_BUFFER}");
    }

    pub(crate) fn region<T>(&self, buffer: &Buffer<T>) -> &Region {
        self.regions.get(self.place(buffer.address)).and_then(Option::as_deref).expect(NO_BUFFER)
    }

    pub(crate) fn region_mut<T>(&mut self, buffer: &Buffer<T>) -> &mut Region {
        let place = self.place(buffer.address);
        self.regions.get_mut(place).and_then(Option::as_deref_mut).expect(NO_BUFFER)
    }

    /// Returns the index of an address in `regions`. It is out of range for an older buffer of another emulator.
    #[inline]
    fn place(&self, address: u64) -> usize {
        (((address & !GLOBAL) >> OFFSET_BITS) as usize).wrapping_sub(self.first)
    }

    /// Returns the region that contains `bytes` bytes from `address` on, and the position of the first byte.
    #[inline]
    pub(crate) fn find(&mut self, address: u64, bytes: u32) -> Option<(&mut Region, usize)> {
        self.find_bytes(address, bytes as usize)
    }

    /// Returns the region that contains a window, and the position of its first byte.
    pub(crate) fn find_window(&mut self, window: &Window) -> Option<(&mut Region, usize)> {
        self.find_bytes(window.address, usize::try_from(window.bytes).ok()?)
    }

    #[inline]
    fn find_bytes(&mut self, address: u64, bytes: usize) -> Option<(&mut Region, usize)> {
        let place = self.place(address);
        let region = self.regions.get_mut(place)?.as_deref_mut()?;
        let first = offset(address);
        // Compared without a sum, which could overflow.
        let fits = first <= region.bytes().len() && bytes <= region.bytes().len() - first;
        (address >= GLOBAL && fits).then_some((region, first))
    }
}

/// Returns the place of an access, for findings.
pub(crate) fn place(access: &Access) -> Place {
    let byte = match access.space {
        Space::Shared | Space::Constant => access.address(),
        Space::Global | Space::GlobalConstant => offset(access.address()) as u64,
    };
    Place { space: access.space, byte, index: access.index, len: access.len }
}

/// Returns the offset of an address in its allocation.
fn offset(address: u64) -> usize {
    (address & ((1 << OFFSET_BITS) - 1)) as usize
}

/// Returns the elements as bytes.
pub(crate) fn to_bytes<T: Value>(values: &[T]) -> Vec<u8> {
    let mut bytes = vec![0; size_of_val(values)];
    for (bytes, value) in bytes.chunks_exact_mut(size_of::<T>()).zip(values) {
        bytes.copy_from_slice(&to_bits(*value).to_le_bytes()[..bytes.len()]);
    }
    bytes
}

/// Returns the elements that these bytes represent.
pub(crate) fn from_bytes<T: Value>(bytes: &[u8]) -> Vec<T> {
    let element = |bytes: &[u8]| {
        let mut bits = [0; 8];
        bits[..bytes.len()].copy_from_slice(bytes);
        from_bits(u64::from_le_bytes(bits))
    };
    bytes.chunks_exact(size_of::<T>()).map(element).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffer_numbers_run_out() {
        let numbers = AtomicUsize::new(MOST_BUFFERS - 2);
        let next: Vec<_> = (0..4).map(|_| next_number(&numbers)).collect();
        assert_eq!(next, [Some(MOST_BUFFERS - 2), Some(MOST_BUFFERS - 1), None, None]);
    }
}
