//! Kernels on an emulated GPU.

use super::emulation::Emulation;
use crate::device::launch::{LaunchShape, Residency, WindowRecord, windows_of};
use crate::{Result, backend};
use cuda_std::Entry;
use emulator::Emulator;
use std::marker::PhantomData;
use std::sync::Arc;

/// The kernel `E` on a device. It needs no image, because it is code of this program.
pub(crate) struct Kernel<E: Entry> {
    emulation: Arc<Emulation>,
    marker: PhantomData<fn(E)>,
}

impl<E: Entry> Clone for Kernel<E> {
    fn clone(&self) -> Self {
        Kernel { emulation: self.emulation.clone(), marker: PhantomData }
    }
}

impl<E: Entry> Kernel<E> {
    pub(super) fn new(emulation: &Arc<Emulation>) -> Self {
        Kernel { emulation: emulation.clone(), marker: PhantomData }
    }
}

impl<E: Entry> backend::Kernel<E> for Kernel<E> {
    fn launch(
        &self,
        shape: &LaunchShape,
        windows: &WindowRecord,
        args: &E::Args<'_>,
        constants: &E::Constants,
    ) -> Result<()> {
        let run = |emulator: &mut Emulator, launch| emulator.launch::<E>(launch, *args, *constants);
        self.emulation.launch(E::NAME, shape, windows, &windows_of::<E>(args, constants), &run)
    }

    fn residency(&self, shape: &LaunchShape) -> Result<Option<Residency>> {
        self.emulation.residency(E::NAME, shape)
    }
}
