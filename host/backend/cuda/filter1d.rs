//! One-dimensional filters on an NVIDIA GPU.

use super::kernel::{Facts, OnDemand};
use super::module::{
    FILTER1D_COLUMNS_F32, FILTER1D_COLUMNS_F64, FILTER1D_COLUMNS_I32, FILTER1D_ROWS_F32, FILTER1D_ROWS_F64,
    FILTER1D_ROWS_I32, FILTER1D_SIMPLE_F32, FILTER1D_SIMPLE_F64, FILTER1D_SIMPLE_I32,
};
use super::{Memory, Queue};
use crate::backend::gpu::{FilterKernels, Kernel, Launch, Launches, Shape};
use crate::filter1d::{Algorithm, FilterElement, Lines, Plan, Taps};
use crate::{Device, Residency, Result};
use cuda_std::image::Module;
use std::sync::Arc;

/// The compiled kernels for an element type.
pub trait FilterModules: FilterKernels {
    /// The module with the simple kernels, for both orientations.
    const SIMPLE: &'static Module;
    /// The module with the register-tiled kernel for lines along rows.
    const ROWS: &'static Module;
    /// The module with the register-tiled kernel for lines along columns.
    const COLUMNS: &'static Module;
}

macro_rules! filter_modules {
    ($($t:ty: $simple:ident $rows:ident $columns:ident;)*) => {$(
        impl FilterModules for $t {
            const SIMPLE: &'static Module = &$simple;
            const ROWS: &'static Module = &$rows;
            const COLUMNS: &'static Module = &$columns;
        }
    )*};
}
filter_modules! {
    f32: FILTER1D_SIMPLE_F32 FILTER1D_ROWS_F32 FILTER1D_COLUMNS_F32;
    f64: FILTER1D_SIMPLE_F64 FILTER1D_ROWS_F64 FILTER1D_COLUMNS_F64;
    i32: FILTER1D_SIMPLE_I32 FILTER1D_ROWS_I32 FILTER1D_COLUMNS_I32;
}

/// A filter's taps and kernels on a device.
///
/// Fields are dropped in their order: kernels before the queue, whose context their modules are in.
pub(crate) struct Filter1d<T: FilterElement> {
    launches: Launches<T>,
    global: OnDemand<T::Global>,
    tile: OnDemand<T::Tile>,
    register_rows: OnDemand<T::RegisterRows>,
    register_columns: OnDemand<T::RegisterColumns>,
    taps: Memory<T>,
    queue: Arc<Queue>,
}

impl<T: FilterElement> Filter1d<T> {
    pub(crate) fn new(queue: &Arc<Queue>, taps: &Taps<T>, algorithm: Algorithm) -> Result<Self> {
        let filter = Filter1d {
            queue: queue.clone(),
            taps: Memory::upload(queue, &taps.taps)?,
            launches: Launches::new(taps, algorithm, queue.limits().shared)?,
            global: OnDemand::new(T::SIMPLE),
            tile: OnDemand::new(T::SIMPLE),
            register_rows: OnDemand::new(T::ROWS),
            register_columns: OnDemand::new(T::COLUMNS),
        };
        let kernel = filter.launches.for_rows()?.kernel;
        filter.kernel(kernel).registers(queue)?;
        Ok(filter)
    }

    fn kernel(&self, kernel: Kernel) -> &dyn Facts {
        match kernel {
            Kernel::Global => &self.global,
            Kernel::Tile => &self.tile,
            Kernel::RegisterRows => &self.register_rows,
            Kernel::RegisterColumns => &self.register_columns,
        }
    }

    /// Enqueues the filtering of `lines` of `samples` into `outputs`.
    pub(crate) fn run(&self, lines: &Lines, samples: &Memory<T>, outputs: &mut Memory<T>) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let choice = self.launches.choose(lines)?;
        let _lock = self.queue.enqueue()?;
        self.launches.of(&choice, lines).try_for_each(|launch| self.launch(&launch, samples, outputs))
    }

    /// Enqueues one launch; the queue's lock is held.
    fn launch(&self, launch: &Launch<'_, T>, samples: &Memory<T>, outputs: &mut Memory<T>) -> Result<()> {
        // SAFETY: they are used below, on the queue that all three belong to (the callers of `run` check that), while
        // the memory of the caller is borrowed; and `self.taps` is never written.
        let (input, output, taps) = unsafe {
            (samples.window(launch.first_sample()), outputs.window_mut(launch.first_output()), self.taps.window(0))
        };
        let (queue, shape, table, args) = (&*self.queue, launch.shape, launch.table, launch.args(input, output, taps));
        // SAFETY: the windows in `args` are those above, and `run` holds the queue's lock.
        unsafe {
            match launch.kernel {
                Kernel::Global => self.global.get(queue)?.launch(queue, shape, &args, &()),
                Kernel::Tile => self.tile.get(queue)?.launch(queue, shape, &args, &()),
                Kernel::RegisterRows => self.register_rows.get(queue)?.launch(queue, shape, &args, table),
                Kernel::RegisterColumns => self.register_columns.get(queue)?.launch(queue, shape, &args, table),
            }
        }
    }

    pub(crate) fn plan(&self, device: &Device, lines: &Lines) -> Plan {
        // A plan is a forecast: where the driver does not answer, the next launch will say why.
        self.launches.plan(device, lines, |kernel, shape| self.residency(kernel, shape).ok())
    }

    fn residency(&self, kernel: Kernel, shape: Shape) -> Result<Residency> {
        let (kernel, queue) = (self.kernel(kernel), &*self.queue);
        let registers = kernel.registers(queue)?;
        let blocks = kernel.blocks_per_multiprocessor(queue, shape)?;
        let threads = f64::from(blocks * shape.block[0] * shape.block[1]);
        let occupancy = threads / f64::from(queue.limits().threads_per_multiprocessor);
        Ok(Residency { registers, blocks_per_multiprocessor: blocks, occupancy })
    }
}
