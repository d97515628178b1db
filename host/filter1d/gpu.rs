//! Filters on CUDA and emulated GPUs, by [`Kernel`](crate::Kernel) and [`Windows`].

use super::element::Number;
use super::kernels::Loaded;
use super::launches::{Launches, Memory};
use super::on_device::OnGpu;
use super::{FilterAlgorithm, Lines, Plan, Taps};
use crate::info::SharedMemory;
use crate::kernel::OnDemand;
use crate::{Buffer, Device, Result, Windows};
use slm_kernels::filter1d::Orientation;

/// A filter on a GPU.
pub(super) struct Filter1d<T: Number> {
    device: Device,
    launches: Launches<T>,
    taps: Buffer<T>,
    /// Kernel for lines along rows.
    rows: OnDemand<Loaded<T>>,
    /// Kernel for lines along columns.
    columns: OnDemand<Loaded<T>>,
}

impl<T: Number> Filter1d<T> {
    /// Returns the filter on a device with this shared memory.
    pub(super) fn new(
        device: &Device,
        shared: SharedMemory,
        taps: &Taps<T>,
        algorithm: FilterAlgorithm,
    ) -> Result<Self> {
        let launches = Launches::new(taps, algorithm, shared)?;
        let taps = device.upload(&taps.taps)?;
        let filter = Filter1d {
            device: device.clone(),
            launches,
            taps,
            rows: OnDemand::default(),
            columns: OnDemand::default(),
        };
        filter.kernel(Orientation::Rows)?;
        Ok(filter)
    }

    /// Returns the kernel for lines of this orientation, loaded on first use.
    fn kernel(&self, orientation: Orientation) -> Result<&Loaded<T>> {
        let kernel = match orientation {
            Orientation::Rows => &self.rows,
            Orientation::Columns => &self.columns,
        };
        kernel.get(|| self.launches.entry_point(orientation).load(&self.device))
    }
}

impl<T: Number> OnGpu<T> for Filter1d<T> {
    fn run(&self, lines: &Lines, samples: &Buffer<T>, outputs: &mut Buffer<T>) -> Result<()> {
        let choice = self.launches.choose(lines)?;
        let kernel = self.kernel(lines.orientation)?;
        let mut windows = Windows::new(&self.device);
        let memory =
            Memory { input: windows.input(samples), output: windows.in_out(outputs), taps: windows.input(&self.taps) };
        let _submission = self.device.submission_lock()?;
        self.launches.of(&choice, lines).try_for_each(|launch| {
            let args = launch.args(&memory);
            match kernel {
                Loaded::Simple(kernel) => kernel.launch(&windows, launch.shape, args, &()),
                Loaded::WithTable(kernel) => kernel.launch(&windows, launch.shape, args, launch.table()),
            }
        })
    }

    fn plan(&self, lines: &Lines) -> Plan {
        let residency = |shape| self.kernel(lines.orientation).and_then(|kernel| kernel.residency(shape));
        self.launches.plan(&self.device, lines, residency)
    }
}
