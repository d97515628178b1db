//! One-dimensional filters on an NVIDIA GPU.

use super::kernel::{Facts, OnDemand};
use super::{Memory, Queue};
use crate::backend::gpu::{FilterKernels, Kernel, Launch, Launches};
use crate::backend::modules::{
    FILTER1D_COLUMNS_F32, FILTER1D_COLUMNS_F64, FILTER1D_COLUMNS_I32, FILTER1D_ROWS_F32, FILTER1D_ROWS_F64,
    FILTER1D_ROWS_I32, FILTER1D_SIMPLE_F32, FILTER1D_SIMPLE_F64, FILTER1D_SIMPLE_I32,
};
use crate::buffer::Storage;
use crate::filter1d::{Algorithm, Bound, FilterElement, Lines, Plan, Taps};
use crate::{Device, Result};
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
            launches: Launches::new(taps, algorithm, queue.limits().launch.shared)?,
            global: OnDemand::new(T::SIMPLE),
            tile: OnDemand::new(T::SIMPLE),
            register_rows: OnDemand::new(T::ROWS),
            register_columns: OnDemand::new(T::COLUMNS),
        };
        let kernel = filter.launches.for_rows()?.kernel;
        filter.kernel(kernel).load(queue)?;
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

    /// Enqueues one launch. The queue has been entered, and the turn is taken for all of them.
    fn launch(&self, launch: &Launch<'_, T>, samples: &Memory<T>, outputs: &mut Memory<T>) -> Result<()> {
        let (input, output) = (samples.input(launch.first_sample()), outputs.in_out(launch.first_output()));
        let (queue, shape, table) = (&self.queue, &launch.shape, launch.table());
        let args = launch.args(input, output, self.taps.input(0));
        // SAFETY: all three are on memory of this queue (the callers of `run` check that), which is borrowed; `outputs` is
        // none of the others, and the taps are never written.
        unsafe {
            match launch.kernel {
                Kernel::Global => self.global.get(queue)?.enqueue(shape, &args, &()),
                Kernel::Tile => self.tile.get(queue)?.enqueue(shape, &args, &()),
                Kernel::RegisterRows => self.register_rows.get(queue)?.enqueue(shape, &args, table),
                Kernel::RegisterColumns => self.register_columns.get(queue)?.enqueue(shape, &args, table),
            }
        }
    }
}

impl<T: FilterElement> Bound<T> for Filter1d<T> {
    /// Enqueues it.
    fn run(&self, lines: &Lines, samples: &Storage<T>, outputs: &mut Storage<T>) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let (samples, outputs) = (samples.cuda(), outputs.cuda_mut());
        let choice = self.launches.choose(lines)?;
        let _turn = self.queue.enqueue()?;
        self.launches.of(&choice, lines).try_for_each(|launch| self.launch(&launch, samples, outputs))
    }

    fn plan(&self, device: &Device, lines: &Lines) -> Plan {
        // A plan is a forecast: where the driver does not answer, the next launch will say why.
        self.launches.plan(device, lines, |kernel, shape| self.kernel(kernel).residency(&self.queue, shape).ok())
    }
}
