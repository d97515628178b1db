//! An emulated device's memory.

use super::Emulation;
use crate::{Element, Error, Result, allocation};
use cuda_std::{GlobalIn, GlobalInOut, GlobalOut};
use emulator::Buffer;
use std::sync::Arc;

/// Memory for elements, freed when dropped.
pub(crate) struct Memory<T: Element> {
    emulation: Arc<Emulation>,
    buffer: Buffer<T>,
}

impl<T: Element> Memory<T> {
    /// Memory with a copy of `data`.
    pub(crate) fn upload(emulation: &Arc<Emulation>, data: &[T]) -> Result<Self> {
        let buffer = emulation.lock()?.buffer(size_of_val(data) as u64, |emulator| emulator.try_upload(data))?;
        Ok(Memory { emulation: emulation.clone(), buffer })
    }

    /// Memory of zeros. `len` elements are at most `isize::MAX` bytes.
    pub(crate) fn zeroed(emulation: &Arc<Emulation>, len: usize) -> Result<Self> {
        let mut memory = Self::unwritten(emulation, len)?;
        memory.overwrite(&allocation::filled(T::default(), len)?)?;
        Ok(memory)
    }

    /// Memory that kernels have to write before one reads it.
    pub(crate) fn unwritten(emulation: &Arc<Emulation>, len: usize) -> Result<Self> {
        let bytes = (len * size_of::<T>()) as u64;
        let buffer = emulation.lock()?.buffer(bytes, |emulator| emulator.try_allocate(len))?;
        Ok(Memory { emulation: emulation.clone(), buffer })
    }

    /// Copies `data`, of the same length, to the memory.
    pub(crate) fn overwrite(&mut self, data: &[T]) -> Result<()> {
        self.emulation.lock()?.emulator.overwrite(&self.buffer, 0, data);
        Ok(())
    }

    /// A copy.
    pub(crate) fn download(&self) -> Result<Vec<T>> {
        Ok(self.emulation.lock()?.emulator.download(&self.buffer))
    }

    /// An error unless kernels have written every element of memory that was [unwritten](Self::unwritten).
    pub(crate) fn check_written(&self) -> Result<()> {
        match self.emulation.lock()?.emulator.first_unwritten(&self.buffer) {
            None => Ok(()),
            Some(element) => Err(Error::UnwrittenOutput { device: self.emulation.info().selection, element }),
        }
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.buffer.len()
    }

    /// All elements, for a kernel to read.
    pub(crate) fn input(&self) -> GlobalIn<T> {
        self.buffer.input()
    }

    /// All elements, for a kernel to write.
    pub(crate) fn output(&mut self) -> GlobalOut<T> {
        self.buffer.output()
    }

    /// All elements, for a kernel to read and write.
    pub(crate) fn in_out(&mut self) -> GlobalInOut<T> {
        self.buffer.in_out()
    }
}

impl<T: Element> Drop for Memory<T> {
    fn drop(&mut self) {
        // What a kernel drops that the device runs is given back with the device.
        let Ok(mut state) = self.emulation.lock() else { return };
        state.emulator.free(&self.buffer);
        state.give((self.buffer.len() * size_of::<T>()) as u64);
    }
}
