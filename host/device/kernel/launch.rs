//! Kernels without the type of their entry point, so that operations can choose among them.

use super::{Kernel, Windows};
use crate::device::launch::{LaunchShape, Residency};
use crate::{Error, Result};
use cuda_std::Entry;
use std::sync::OnceLock;

/// A loaded kernel.
pub(crate) trait Loaded: Send + Sync {
    /// Returns the name of the entry point.
    fn name(&self) -> &'static str;

    /// [`Kernel::residency`].
    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>>;
}

/// A loaded kernel with constants `C`, whose arguments are converted from an `A`. For a kernel that is stored,
/// `dyn for<'l> Launch<A<'l>>` has the windows of any launch.
pub(crate) trait Launch<A, C = ()>: Loaded {
    /// [`Kernel::launch_in`].
    fn launch(&self, windows: &Windows<'_, '_>, shape: LaunchShape, args: A, constants: &C) -> Result<()>;
}

impl<E: Entry> Loaded for Kernel<E> {
    fn name(&self) -> &'static str {
        E::NAME
    }

    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>> {
        Kernel::residency(self, shape)
    }
}

impl<'l, A, E: Entry<Args<'l>: TryFrom<A, Error: Into<Error>>>> Launch<A, E::Constants> for Kernel<E> {
    fn launch(&self, windows: &Windows<'_, '_>, shape: LaunchShape, args: A, constants: &E::Constants) -> Result<()> {
        self.launch_in(windows, shape, &args.try_into().map_err(Into::into)?, constants)
    }
}

/// A kernel with the constants of all of its launches.
pub(crate) struct WithConstants<E: Entry> {
    pub(crate) kernel: Kernel<E>,
    pub(crate) constants: E::Constants,
}

impl<E: Entry> Loaded for WithConstants<E> {
    fn name(&self) -> &'static str {
        E::NAME
    }

    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>> {
        self.kernel.residency(shape)
    }
}

impl<'l, A, E: Entry<Args<'l>: TryFrom<A, Error: Into<Error>>>> Launch<A> for WithConstants<E> {
    fn launch(&self, windows: &Windows<'_, '_>, shape: LaunchShape, args: A, (): &()) -> Result<()> {
        self.kernel.launch(windows, shape, args, &self.constants)
    }
}

/// A value that is loaded when it is first needed.
pub(crate) struct OnDemand<V>(OnceLock<V>);

impl<V> Default for OnDemand<V> {
    fn default() -> Self {
        OnDemand(OnceLock::new())
    }
}

impl<V> OnDemand<V> {
    /// Returns the value, created by `load` on first use.
    pub(crate) fn get(&self, load: impl FnOnce() -> Result<V>) -> Result<&V> {
        if let Some(value) = self.0.get() {
            return Ok(value);
        }
        let value = load()?;
        // Another thread may have been faster. Both values are equivalent.
        Ok(self.0.get_or_init(|| value))
    }
}
