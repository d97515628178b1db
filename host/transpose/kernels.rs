//! The kernels, whatever the size of their units.

use crate::{Device, LaunchShape, Residency, Result, Windows};
use cuda_std::{Entry, GlobalIn, GlobalOut};
use slm_kernels::transpose::{Arguments, Geometry, Kernel, Part, Visitor};
use std::sync::Arc;

/// A launch of so many blocks.
pub(super) fn shape(geometry: &Geometry, grid: [u64; 3]) -> LaunchShape {
    LaunchShape::new(grid, [geometry.threads, 1, 1]).shared_bytes(geometry.shared_bytes)
}

/// A loaded kernel, whatever the units are.
pub(super) trait Launch: Send + Sync {
    fn name(&self) -> &'static str;
    fn launch(
        &self,
        windows: &Windows<'_>,
        geometry: &Geometry,
        part: Part,
        input: GlobalIn<u8>,
        output: GlobalOut<u8>,
    ) -> Result<()>;
    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>>;
}

impl<E: Entry<Args: Arguments, Constants = ()>> Launch for crate::Kernel<E> {
    fn name(&self) -> &'static str {
        E::NAME
    }

    fn launch(
        &self,
        windows: &Windows<'_>,
        geometry: &Geometry,
        part: Part,
        input: GlobalIn<u8>,
        output: GlobalOut<u8>,
    ) -> Result<()> {
        let args = E::Args::new(geometry, part, input, output);
        self.launch_in(windows, shape(geometry, part.grid), &args, &())
    }

    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>> {
        crate::Kernel::residency(self, shape)
    }
}

/// The name of a kernel's entry point.
pub(super) fn name(kernel: Kernel) -> &'static str {
    struct Name;

    impl Visitor for Name {
        type Output = &'static str;

        fn visit<E: Entry<Args: Arguments, Constants = ()>>(self) -> &'static str {
            E::NAME
        }
    }
    kernel.visit(Name)
}

/// The kernel on a device.
pub(super) fn load(device: &Device, kernel: Kernel) -> Result<Arc<dyn Launch>> {
    struct Load<'a>(&'a Device);

    impl Visitor for Load<'_> {
        type Output = Result<Arc<dyn Launch>>;

        fn visit<E: Entry<Args: Arguments, Constants = ()>>(self) -> Self::Output {
            Ok(Arc::new(self.0.own_kernel::<E>()?))
        }
    }
    kernel.visit(Load(device))
}
