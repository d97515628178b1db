//! GPUs: devices that launch kernels.

use crate::device::info::SharedMemory;
use crate::{Device, LaunchPlan, LaunchShape, Residency, Result};
use std::ops::Deref;

/// A device that is known to launch kernels: a CUDA device or an emulated one. [`Device::gpu`] returns it.
#[derive(Clone)]
pub(crate) struct Gpu {
    device: Device,
    /// Shared memory of the device.
    pub(crate) shared: SharedMemory,
}

impl Device {
    /// Returns the device as a GPU, or `None` for the CPU.
    pub(crate) fn gpu(&self) -> Option<Gpu> {
        Some(Gpu { device: self.clone(), shared: self.info().shared_memory? })
    }
}

impl Gpu {
    /// Returns the plan of one launch, with no bytes moved yet. `residency` is the kernel's answer for this shape.
    pub(crate) fn launch_plan(
        &self,
        kernel: &'static str,
        shape: LaunchShape,
        residency: Result<Option<Residency>>,
    ) -> LaunchPlan {
        LaunchPlan {
            kernel,
            times: 1,
            grid: shape.grid,
            block: shape.block,
            shared_bytes: shape.shared_bytes,
            shared_available: self.shared.max_per_block,
            moved_bytes: 0,
            // A plan is a forecast. If the driver does not answer, the next launch returns the reason.
            residency: residency.ok().flatten(),
        }
    }
}

impl Deref for Gpu {
    type Target = Device;

    fn deref(&self) -> &Device {
        &self.device
    }
}
