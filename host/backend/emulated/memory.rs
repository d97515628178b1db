//! An emulated device's memory.

use super::emulation::Emulation;
use crate::{Element, Error, Result, allocation, backend};
use cuda_std::{GlobalIn, GlobalInOut, GlobalOut};
use emulator::Buffer;
use std::sync::Arc;

/// Memory for elements, freed when dropped.
pub(crate) struct Memory<T: Element> {
    emulation: Arc<Emulation>,
    buffer: Buffer<T>,
}

impl<T: Element> backend::Memory<T> for Memory<T> {
    type Queue = Emulation;

    fn upload(emulation: &Arc<Emulation>, data: &[T]) -> Result<Self> {
        let buffer = emulation.lock()?.buffer(size_of_val(data) as u64, |emulator| emulator.try_upload(data))?;
        Ok(Memory { emulation: emulation.clone(), buffer })
    }

    fn zeroed(emulation: &Arc<Emulation>, len: usize) -> Result<Self> {
        let mut memory = Self::unwritten(emulation, len)?;
        memory.overwrite(&allocation::filled(T::default(), len)?)?;
        Ok(memory)
    }

    fn unwritten(emulation: &Arc<Emulation>, len: usize) -> Result<Self> {
        let bytes = (len * size_of::<T>()) as u64;
        let buffer = emulation.lock()?.buffer(bytes, |emulator| emulator.try_allocate(len))?;
        Ok(Memory { emulation: emulation.clone(), buffer })
    }

    fn check_written(&self) -> Result<()> {
        match self.emulation.lock()?.emulator.first_unwritten(&self.buffer) {
            None => Ok(()),
            Some(element) => Err(Error::UnwrittenOutput { device: self.emulation.info().selection, element }),
        }
    }

    fn overwrite(&mut self, data: &[T]) -> Result<()> {
        self.emulation.lock()?.emulator.overwrite(&self.buffer, 0, data);
        Ok(())
    }

    fn download(&self, data: &mut [T]) -> Result<()> {
        data.copy_from_slice(&self.emulation.lock()?.emulator.download(&self.buffer));
        Ok(())
    }

    fn copy_from(&mut self, source: &Self) -> Result<()> {
        let mut state = self.emulation.lock()?;
        let data = state.emulator.download(&source.buffer);
        state.emulator.overwrite(&self.buffer, 0, &data);
        Ok(())
    }

    fn len(&self) -> usize {
        self.buffer.len()
    }

    fn input(&self) -> GlobalIn<T> {
        self.buffer.input()
    }

    fn output(&mut self) -> GlobalOut<T> {
        self.buffer.output()
    }

    fn in_out(&mut self) -> GlobalInOut<T> {
        self.buffer.in_out()
    }
}

impl<T: Element> Drop for Memory<T> {
    fn drop(&mut self) {
        // Memory dropped by a kernel that the device runs is freed with the device.
        let Ok(mut state) = self.emulation.lock() else { return };
        state.emulator.free(&self.buffer);
        state.give((self.buffer.len() * size_of::<T>()) as u64);
    }
}
