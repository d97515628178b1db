//! The kernels for units of all sizes.

use crate::device::kernel::Launch;
use crate::{Device, LaunchShape, Result};
use cuda_std::Entry;
use slm_kernels::Misaligned;
use slm_kernels::transpose::{Geometry, TransposeKernel, Visitor, Work};
use std::sync::Arc;

/// Returns the shape of a launch with this grid.
pub(super) fn shape(geometry: &Geometry, grid: [u64; 3]) -> LaunchShape {
    LaunchShape::new(grid, [geometry.threads, 1, 1]).shared_bytes(geometry.shared_bytes)
}

/// Returns the kernel on a device.
pub(super) fn load(device: &Device, kernel: TransposeKernel) -> Result<Arc<dyn for<'l> Launch<Work<'l>>>> {
    struct Load<'a>(&'a Device);

    impl Visitor for Load<'_> {
        type Output = Result<Arc<dyn for<'l> Launch<Work<'l>>>>;

        fn visit<E>(self) -> Self::Output
        where
            E: Entry<Constants = ()>,
            for<'l> E::Args<'l>: TryFrom<Work<'l>, Error = Misaligned>,
        {
            Ok(Arc::new(self.0.own_kernel::<E>()?))
        }
    }
    kernel.visit(Load(device))
}
