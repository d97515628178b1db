//! An emulated device's memory.

use super::clocks::Access;
use super::emulation::{Emulation, address};
use crate::cpu::allocation;
use crate::device::rows::Rows;
use crate::{Element, Error, Result, backend};
use cuda_std::{GlobalIn, GlobalInOut, GlobalOut};
use emulator::Buffer;
use std::sync::Arc;

/// Memory for elements, freed when dropped.
pub(crate) struct DeviceMemory<T: Element> {
    emulation: Arc<Emulation>,
    buffer: Buffer<T>,
}

impl<T: Element> DeviceMemory<T> {
    /// Returns all elements, as `queue` reads them.
    fn read(&self, queue: &Emulation) -> Result<Vec<T>> {
        let mut state = queue.lock()?;
        queue.access(&mut state, address(&self.buffer), Access::Read)?;
        Ok(state.emulator.download(&self.buffer))
    }

    /// Replaces rows of the elements, as `queue` writes them.
    fn write(&self, queue: &Emulation, data: &[T], rows: Rows) -> Result<()> {
        let mut state = queue.lock()?;
        queue.access(&mut state, address(&self.buffer), Access::Write)?;
        for [from, to] in rows.joined().each() {
            state.emulator.overwrite(&self.buffer, to.start, &data[from]);
        }
        Ok(())
    }
}

impl<T: Element> backend::DeviceMemory<T> for DeviceMemory<T> {
    type Queue = Emulation;

    fn upload(emulation: &Arc<Emulation>, data: &[T]) -> Result<Self> {
        let buffer = emulation.buffer(size_of_val(data) as u64, |emulator| emulator.try_upload(data))?;
        Ok(DeviceMemory { emulation: emulation.clone(), buffer })
    }

    fn zeroed(emulation: &Arc<Emulation>, len: usize) -> Result<Self> {
        let mut memory = Self::unwritten(emulation, len)?;
        memory.clear()?;
        Ok(memory)
    }

    fn unwritten(emulation: &Arc<Emulation>, len: usize) -> Result<Self> {
        let bytes = (len * size_of::<T>()) as u64;
        let buffer = emulation.buffer(bytes, |emulator| emulator.try_allocate(len))?;
        Ok(DeviceMemory { emulation: emulation.clone(), buffer })
    }

    fn check_written(&self) -> Result<()> {
        match self.emulation.lock()?.emulator.first_unwritten(&self.buffer) {
            None => Ok(()),
            Some(element) => Err(Error::UnwrittenOutput { device: self.emulation.info().selection, element }),
        }
    }

    fn overwrite_rows(&mut self, data: &[T], rows: Rows) -> Result<()> {
        self.write(&self.emulation, data, rows)
    }

    fn download_rows(&self, data: &mut [T], rows: Rows) -> Result<()> {
        rows.copy(&self.read(&self.emulation)?, data);
        Ok(())
    }

    fn copy_rows(&mut self, queue: &Emulation, source: &Self, rows: Rows) -> Result<()> {
        let data = source.read(queue)?;
        self.write(queue, &data, rows)
    }

    fn clear(&mut self) -> Result<()> {
        let len = self.buffer.len();
        self.overwrite_rows(&allocation::filled(T::default(), len)?, Rows::whole(len))
    }

    fn len(&self) -> usize {
        self.buffer.len()
    }

    fn cuda_address(&self) -> Option<u64> {
        None
    }

    fn input(&self) -> GlobalIn<'_, T> {
        self.buffer.input()
    }

    fn output(&mut self) -> GlobalOut<'_, T> {
        self.buffer.output()
    }

    fn in_out(&mut self) -> GlobalInOut<'_, T> {
        self.buffer.in_out()
    }
}

impl<T: Element> Drop for DeviceMemory<T> {
    fn drop(&mut self) {
        // Memory dropped by a kernel that the device runs is freed with the device.
        let Ok(mut state) = self.emulation.lock() else { return };
        if let Err(error) = self.emulation.access(&mut state, address(&self.buffer), Access::Write) {
            self.emulation.defer(error);
        }
        state.free(&self.buffer);
    }
}
