//! Host memory that a device copies fast.

use crate::backend::{Queue, cuda, emulated};
use crate::cpu::allocation;
use crate::device::Engine;
use crate::device::buffer::check_size;
use crate::{Device, Element, Result};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Elements in host memory that copies to and from a device are fast with: a slice that cannot be swapped out.
///
/// [`Device::pinned`] creates it. Use it wherever a slice is expected; `apply` returns a vector, which is not pinned. A GPU copies it
/// directly; other host memory is copied twice, through pinned memory. On the CPU and on emulated devices it is like a vector.
///
/// Pinned memory takes long to allocate, and the operating system has less memory for everything else: allocate it once, and use it
/// often.
///
/// ```
/// use slm::{Device, Map};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// let mut numbers = device.pinned(4)?;
/// numbers.copy_from_slice(&[1.0f32, 2.0, 3.0, 4.0]);
/// let squares = Map::square().prepare(&device)?.apply(&device.upload(&numbers)?)?;
/// squares.download_into(&mut numbers)?;
/// assert_eq!(*numbers, [1.0, 4.0, 9.0, 16.0]);
/// # Ok(())
/// # }
/// ```
pub struct Pinned<T: Element> {
    memory: Memory<T>,
}

enum Memory<T: Element> {
    Cpu(Vec<T>),
    Cuda(<cuda::Queue as Queue>::PinnedMemory<T>),
    Emulated(<emulated::Emulation as Queue>::PinnedMemory<T>),
}

impl Device {
    /// Returns `len` zeros in host memory that this device copies fast. Any device can copy it.
    ///
    /// # Errors
    ///
    /// * [`Error::TooLarge`](crate::Error::TooLarge) for more than `isize::MAX` bytes.
    /// * [`Error::OutOfHostMemory`](crate::Error::OutOfHostMemory).
    /// * [Failures of the device](crate::Error#failures-of-the-device).
    pub fn pinned<T: Element>(&self, len: usize) -> Result<Pinned<T>> {
        check_size::<T>(len)?;
        let memory = match self.engine() {
            Engine::Cpu => Memory::Cpu(allocation::filled(T::default(), len)?),
            Engine::Cuda(queue) => Memory::Cuda(queue.pinned(len)?),
            Engine::Emulated(queue) => Memory::Emulated(queue.pinned(len)?),
        };
        Ok(Pinned { memory })
    }
}

/// Which host memory is pinned.
impl Device {
    /// Returns whether copies of these elements are as fast as those of pinned memory.
    pub(crate) fn copies_fast<T: Element>(&self, elements: &[T]) -> bool {
        match self.engine() {
            Engine::Cpu => true,
            Engine::Cuda(queue) => queue.copies_fast(elements),
            Engine::Emulated(queue) => queue.copies_fast(elements),
        }
    }
}

impl<T: Element> Deref for Pinned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.memory {
            Memory::Cpu(data) => data,
            Memory::Cuda(memory) => memory.as_ref(),
            Memory::Emulated(memory) => memory.as_ref(),
        }
    }
}

impl<T: Element> DerefMut for Pinned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.memory {
            Memory::Cpu(data) => data,
            Memory::Cuda(memory) => memory.as_mut(),
            Memory::Emulated(memory) => memory.as_mut(),
        }
    }
}

impl<T: Element> fmt::Debug for Pinned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pinned").field("len", &self.len()).finish_non_exhaustive()
    }
}
