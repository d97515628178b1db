//! One-dimensional filters on an emulated GPU.

use super::emulation::State;
use super::{Emulation, Memory};
use crate::backend::gpu::{Kernel, Launch, Launches};
use crate::buffer::Storage;
use crate::filter1d::{Algorithm, Bound, FilterElement, Lines, Plan, Taps};
use crate::{Device, Error, Result};
use std::sync::Arc;

/// A filter's taps on a device.
pub(crate) struct Filter1d<T: FilterElement> {
    launches: Launches<T>,
    taps: Memory<T>,
    emulation: Arc<Emulation>,
}

impl<T: FilterElement> Filter1d<T> {
    pub(crate) fn new(emulation: &Arc<Emulation>, taps: &Taps<T>, algorithm: Algorithm) -> Result<Self> {
        Ok(Filter1d {
            launches: Launches::new(taps, algorithm, emulation.limits().shared)?,
            taps: Memory::upload(emulation, &taps.taps)?,
            emulation: emulation.clone(),
        })
    }

    fn filter(&self, lines: &Lines, samples: &Memory<T>, outputs: &mut Memory<T>) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let choice = self.launches.choose(lines)?;
        let mut state = self.emulation.lock()?;
        self.launches.of(&choice, lines).try_for_each(|launch| self.launch(&mut state, &launch, samples, outputs))
    }

    fn launch(
        &self,
        state: &mut State,
        launch: &Launch<'_, T>,
        samples: &Memory<T>,
        outputs: &mut Memory<T>,
    ) -> Result<()> {
        let (input, output) = (samples.input(launch.first_sample()), outputs.in_out(launch.first_output()));
        let (shape, args) = (&launch.shape, launch.args(input, output, self.taps.input(0)));
        match launch.kernel {
            Kernel::Global => state.launch::<T::Global>(shape, args, &()),
            Kernel::Tile => state.launch::<T::Tile>(shape, args, &()),
            Kernel::RegisterRows => state.launch::<T::RegisterRows>(shape, args, launch.table()),
            Kernel::RegisterColumns => state.launch::<T::RegisterColumns>(shape, args, launch.table()),
        }
    }
}

impl<T: FilterElement> Bound<T> for Filter1d<T> {
    fn run(&self, lines: &Lines, samples: &Storage<T>, outputs: &mut Storage<T>) -> Result<()> {
        self.filter(lines, samples.emulated(), outputs.emulated_mut())
    }

    /// Some thread has to write each of the outputs.
    fn run_on_host(&self, _: &Device, lines: &Lines, samples: &[T], len: usize) -> Result<Vec<T>> {
        let samples = Memory::upload(&self.emulation, samples)?;
        let mut outputs = Memory::unwritten(&self.emulation, len)?;
        self.filter(lines, &samples, &mut outputs)?;
        match outputs.first_unwritten()? {
            None => outputs.download(),
            Some(element) => Err(Error::UnwrittenOutput { device: self.emulation.info().selection, element }),
        }
    }

    fn plan(&self, device: &Device, lines: &Lines) -> Plan {
        self.launches.plan(device, lines, |_, _| None)
    }
}
