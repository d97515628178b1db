//! Global memory: allocations that the emulator owns.

// Makes the windows that kernels get.
#![allow(unsafe_code)]

use crate::region::Region;
use cuda_std::host::{from_bits, to_bits};
use cuda_std::{GlobalIn, GlobalInOut, GlobalOut, Value};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// Set in every address: no GPU and no host has memory there, so that nothing can be reached by accident.
const GLOBAL: u64 = 1 << 63;

/// Bits of an address that say where in its allocation it is.
const OFFSET_BITS: u32 = 36;

/// Elements of global memory, owned by the emulator that made it.
///
/// It is a name and no more: [`Emulator::free`](crate::Emulator::free) gives the memory back.
#[derive(Debug, PartialEq, Eq)]
pub struct Buffer<T> {
    owner: u64,
    address: u64,
    len: usize,
    marker: PhantomData<fn(T) -> T>,
}

impl<T: Value> Buffer<T> {
    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A window on all elements, for a kernel to read while nothing writes them.
    #[must_use]
    pub fn input(&self) -> GlobalIn<T> {
        self.input_from(0)
    }

    /// A window on all elements, for a kernel to write.
    #[must_use]
    pub fn output(&self) -> GlobalOut<T> {
        // SAFETY: the address means something to the emulator only, which checks every access, that nothing writes the
        // elements among it; a device has no memory there.
        unsafe { GlobalOut::from_raw_parts(self.address, self.len as u64) }
    }

    /// A window on all elements, for a kernel to read and write.
    #[must_use]
    pub fn in_out(&self) -> GlobalInOut<T> {
        self.in_out_from(0)
    }

    /// As [`input`](Self::input), of the elements from `first` on; none if there are not so many.
    #[must_use]
    pub fn input_from(&self, first: usize) -> GlobalIn<T> {
        let first = first.min(self.len);
        // SAFETY: as for `output`.
        unsafe { GlobalIn::from_raw_parts(self.address + (first * size_of::<T>()) as u64, (self.len - first) as u64) }
    }

    /// The words of 4 bytes from element `first` on: `words` of them, or those that there are.
    #[must_use]
    pub fn words_from(&self, first: usize, words: usize) -> GlobalIn<u32> {
        let first = first.min(self.len);
        let words = words.min((self.len - first) * size_of::<T>() / size_of::<u32>());
        // SAFETY: as for `output`; every bit pattern is a valid word.
        unsafe { GlobalIn::from_raw_parts(self.address + (first * size_of::<T>()) as u64, words as u64) }
    }

    /// As [`in_out`](Self::in_out), of the elements from `first` on; none if there are not so many.
    #[must_use]
    pub fn in_out_from(&self, first: usize) -> GlobalInOut<T> {
        let first = first.min(self.len);
        let (address, len) = (self.address + (first * size_of::<T>()) as u64, (self.len - first) as u64);
        // SAFETY: as for `output`.
        unsafe { GlobalInOut::from_raw_parts(address, len) }
    }
}

/// All allocations of an emulator.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Tells emulators apart.
    owner: u64,
    /// By number; the freed ones are empty. Numbers are never used again, so that a window on freed memory is noticed.
    regions: Vec<Option<Box<Region>>>,
    /// The last interval of the last launch.
    pub(crate) interval: u32,
}

impl Memory {
    pub(crate) fn new() -> Self {
        static OWNERS: AtomicU64 = AtomicU64::new(1);
        Memory { owner: OWNERS.fetch_add(1, Ordering::Relaxed), ..Memory::default() }
    }

    /// A launch begins. Before the numbers of intervals run out, all that is remembered of earlier launches is forgotten,
    /// which is in order anyway.
    pub(crate) fn begin_launch(&mut self) {
        if self.interval > u32::MAX / 2 {
            self.interval = 0;
            self.regions.iter_mut().flatten().for_each(|region| region.forget_accesses());
        }
    }

    pub(crate) fn add<T>(&mut self, region: Region, len: usize) -> Buffer<T> {
        let address = GLOBAL | (self.regions.len() as u64) << OFFSET_BITS;
        self.regions.push(Some(Box::new(region)));
        Buffer { owner: self.owner, address, len, marker: PhantomData }
    }

    pub(crate) fn free<T>(&mut self, buffer: &Buffer<T>) {
        self.check(buffer);
        self.regions[number(buffer.address)] = None;
    }

    pub(crate) fn region<T>(&self, buffer: &Buffer<T>) -> &Region {
        self.check(buffer);
        self.regions[number(buffer.address)].as_ref().expect("a buffer cannot be used after it was freed")
    }

    pub(crate) fn region_mut<T>(&mut self, buffer: &Buffer<T>) -> &mut Region {
        self.check(buffer);
        self.regions[number(buffer.address)].as_mut().expect("a buffer cannot be used after it was freed")
    }

    fn check<T>(&self, buffer: &Buffer<T>) {
        assert_eq!(buffer.owner, self.owner, "a buffer of another emulator");
    }

    /// The region that `bytes` bytes from `address` on are in, and the place of the first one.
    #[inline]
    pub(crate) fn find(&mut self, address: u64, bytes: u32) -> Option<(&mut Region, usize)> {
        let region = self.regions.get_mut(number(address))?.as_deref_mut()?;
        let first = offset(address);
        (address >= GLOBAL && first + bytes as usize <= region.bytes().len()).then_some((region, first))
    }
}

fn number(address: u64) -> usize {
    ((address & !GLOBAL) >> OFFSET_BITS) as usize
}

/// The place of an address in its allocation.
pub(crate) fn offset(address: u64) -> usize {
    (address & ((1 << OFFSET_BITS) - 1)) as usize
}

/// The elements as memory holds them.
pub(crate) fn to_bytes<T: Value>(values: &[T]) -> Vec<u8> {
    values.iter().flat_map(|value| to_bits(*value).to_le_bytes().into_iter().take(size_of::<T>())).collect()
}

/// The elements that these bytes are.
pub(crate) fn from_bytes<T: Value>(bytes: &[u8]) -> Vec<T> {
    let element = |bytes: &[u8]| {
        let mut bits = [0; 8];
        bits[..bytes.len()].copy_from_slice(bytes);
        from_bits(u64::from_le_bytes(bits))
    };
    bytes.chunks_exact(size_of::<T>()).map(element).collect()
}
